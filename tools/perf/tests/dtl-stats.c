// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "debug.h"
#include "dtl-stats.h"
#include "tests.h"

static int test__dtl_split(struct test_suite *test __maybe_unused,
			   int subtest __maybe_unused)
{
	static const struct {
		u64 ticks;
		struct dtl_waits waits;		/* waiting, ready, queued */
		bool gap;
		struct dtl_span span;		/* running, unknown, waits */
		bool fits;
	} cases[] = {
		{ 0, { 0, 0, 0 }, false, { 0, 0, { 0, 0, 0 } }, true },
		{ 100, { 0, 0, 0 }, false, { 100, 0, { 0, 0, 0 } }, true },
		{ 100, { 10, 20, 30 }, false, { 40, 0, { 10, 20, 30 } }, true },
		{ 100, { 10, 20, 30 }, true, { 0, 40, { 10, 20, 30 } }, true },
		{ 60, { 10, 20, 30 }, false, { 0, 0, { 10, 20, 30 } }, true },
		{ 55, { 10, 20, 30 }, false, { 0, 0, { 5, 20, 30 } }, false },
		{ 45, { 10, 20, 30 }, false, { 0, 0, { 0, 15, 30 } }, false },
		{ 25, { 10, 20, 30 }, true, { 0, 0, { 0, 0, 25 } }, false },
		{ 1, { 0xffffffff, 0xffffffff, 0xffffffff }, false,
		  { 0, 0, { 0, 0, 1 } }, false },
		{ 1ULL << 63, { 0xffffffff, 0xffffffff, 0xffffffff }, false,
		  { (1ULL << 63) - 3 * 0xffffffffULL, 0,
		    { 0xffffffff, 0xffffffff, 0xffffffff } }, true },
	};
	struct dtl_span span;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bool fits = dtl_span__split(&span, cases[i].ticks, &cases[i].waits, cases[i].gap);

		pr_debug("case %zu\n", i);
		TEST_ASSERT_EQUAL("waits fit", fits, cases[i].fits);
		TEST_ASSERT_VAL("span", !memcmp(&span, &cases[i].span, sizeof(span)));
		TEST_ASSERT_VAL("sum", dtl_span__total(&span) == cases[i].ticks);
	}

	return TEST_OK;
}

static int test__dtl_ticks_to_ns(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const struct {
		u64 ticks;
		u32 tb_freq;
		u64 ns;
	} cases[] = {
		{ 0, 512000000, 0 },
		{ 1, 512000000, 1 },
		{ 512, 512000000, 1000 },
		{ 0x1fffffffeULL, 512000000, 16777215996ULL },
		{ 1ULL << 63, 512000000, 18014398509481984000ULL },
		{ 0xfffffffeULL, 0xffffffff, 999999999 },
		{ 7, 3, 2333333333ULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pr_debug("case %zu\n", i);
		TEST_ASSERT_VAL("ns", dtl__ticks_to_ns(cases[i].ticks, cases[i].tb_freq) ==
				      cases[i].ns);
	}

	return TEST_OK;
}

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Compare with sorted values, of every magnitude. */
static int test__dtl_percentile(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	static const unsigned int percents[] = { 1, 50, 95, 99, 100 };
	struct dtl_hist hist = { .count = 0, };
	u64 values[1000], total = 0, got, want, off;
	u32 state = 1;
	size_t i, rank;

	TEST_ASSERT_VAL("none", dtl_hist__percentile(&hist, 50) == 0);

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		state = state * 1103515245 + 12345;
		values[i] = (0x1fffffffeULL - (state >> 3)) >> (i % 34);
		total += values[i];
		TEST_ASSERT_EQUAL("add", dtl_hist__add(&hist, values[i], i), 0);
	}
	for (i = 0, rank = 0; i < ARRAY_SIZE(values); i++) {
		if (values[i] > values[rank])
			rank = i;
	}
	TEST_ASSERT_VAL("count", hist.count == ARRAY_SIZE(values));
	TEST_ASSERT_VAL("total", hist.total == total);
	TEST_ASSERT_VAL("max", hist.max == values[rank]);
	TEST_ASSERT_VAL("time of max", hist.max_time == rank);

	qsort(values, ARRAY_SIZE(values), sizeof(u64), cmp_u64);
	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		rank = DIV_ROUND_UP(ARRAY_SIZE(values) * percents[i], 100);
		want = values[rank - 1];
		got = dtl_hist__percentile(&hist, percents[i]);
		pr_debug("p%u: %llu for %llu\n", percents[i], (unsigned long long)got,
			 (unsigned long long)want);
		off = got > want ? got - want : want - got;
		TEST_ASSERT_VAL("percentile", off <= want / (2 * DTL_HIST_SUB));
	}

	dtl_hist__exit(&hist);
	TEST_ASSERT_VAL("exit", !hist.count && !hist.octaves[0]);

	return TEST_OK;
}

static struct test_case dtl_stats_tests[] = {
	TEST_CASE("Time between two dispatches", dtl_split),
	TEST_CASE("Ticks and nanoseconds", dtl_ticks_to_ns),
	TEST_CASE("Percentiles", dtl_percentile),
	{ .name = NULL, }
};

struct test_suite suite__dtl_stats = {
	.desc = "Arithmetic of perf dtl",
	.test_cases = dtl_stats_tests,
};

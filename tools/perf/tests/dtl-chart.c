// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>

#include "debug.h"
#include "dtl-chart.h"
#include "tests.h"

#define BASE	1000ULL
#define END	UINT64_MAX

/* What is drawn of a lane in one state */
static u64 drawn(const struct dtl_chart *chart, unsigned int cpu, enum dtl_state state)
{
	u64 sum = 0;
	size_t i;

	for (i = 0; i < DTL_CHART_BINS; i++)
		sum += chart->lanes[cpu].bins[i].ns[state];
	return sum;
}

static const char *no_name(const void *task __maybe_unused, char *buf __maybe_unused,
			   size_t size __maybe_unused)
{
	return "task";
}

/* All of it in one string, to be freed */
static char *svg(struct dtl_chart *chart)
{
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	if (!fp)
		return NULL;
	chart->task_name = no_name;
	dtl_chart__write(chart, fp, "title & more", "note");
	fclose(fp);
	return text;
}

/* Each of these is added to a picture of its own, and an early time before it. */
static int test__dtl_chart_spans(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const struct {
		u64 start;
		u64 end;
		u64 drawn;
	} cases[] = {
		{ BASE, BASE, 0 },
		{ BASE, BASE + 1, 1 },
		{ BASE + 255, BASE + 257, 2 },
		{ BASE, BASE + 256 * DTL_CHART_BINS, 256 * DTL_CHART_BINS },
		{ BASE, BASE + 256 * DTL_CHART_BINS + 1, 256 * DTL_CHART_BINS + 1 },
		/* From before the left edge, to before it and beyond */
		{ 10, 20, 0 },
		{ 10, BASE, 0 },
		{ 10, BASE + 7, 7 },
		/* As far as there is time */
		{ BASE, 3ULL << 62, (3ULL << 62) - BASE },
		{ BASE, END, END - BASE },
		{ END - 1, END, 1 },
		{ 0, END, END - BASE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		u64 start = cases[i].start, end = cases[i].end;
		struct dtl_chart chart;
		char *text;

		pr_debug("case %zu\n", i);
		TEST_ASSERT_EQUAL("init", dtl_chart__init(&chart, 2, BASE), 0);
		TEST_ASSERT_EQUAL("add before",
				  dtl_chart__add(&chart, 0, DTL_STATE_STOLEN, 1, 9, NULL), 0);
		TEST_ASSERT_EQUAL("add",
				  dtl_chart__add(&chart, 1, DTL_STATE_RUNNING, start, end, NULL),
				  0);
		TEST_ASSERT_VAL("total before", chart.lanes[0].total[DTL_STATE_STOLEN] == 8);
		TEST_ASSERT_VAL("nothing is drawn before the edge",
				drawn(&chart, 0, DTL_STATE_STOLEN) == 0);
		TEST_ASSERT_VAL("total",
				chart.lanes[1].total[DTL_STATE_RUNNING] == end - start);
		TEST_ASSERT_VAL("drawn",
				drawn(&chart, 1, DTL_STATE_RUNNING) == cases[i].drawn);
		TEST_ASSERT_VAL("end", chart.end == (end > BASE ? end : BASE));

		dtl_chart__void(&chart, 1, start, end);
		TEST_ASSERT_VAL("no more running", drawn(&chart, 1, DTL_STATE_RUNNING) == 0);
		TEST_ASSERT_VAL("unknown",
				drawn(&chart, 1, DTL_STATE_UNKNOWN) == cases[i].drawn);
		TEST_ASSERT_VAL("total unknown",
				chart.lanes[1].total[DTL_STATE_UNKNOWN] == end - start);

		text = svg(&chart);
		TEST_ASSERT_VAL("written", text && strstr(text, "title &amp; more") &&
				strstr(text, "CPU 1</text>") && strstr(text, "</svg>\n"));
		free(text);
		dtl_chart__exit(&chart);
	}

	return TEST_OK;
}

/* Two tasks take turns in four bins; as the bins get wider, the longer one has them. */
static int test__dtl_chart_tasks(struct test_suite *test __maybe_unused,
				 int subtest __maybe_unused)
{
	static const char * const tasks[] = { "first", "second" };
	struct dtl_chart chart;
	unsigned int i;
	u64 at = BASE;

	TEST_ASSERT_EQUAL("init", dtl_chart__init(&chart, 1, BASE), 0);
	for (i = 0; i < 8; i++) {
		u64 len = i % 2 ? 156 : 100;

		TEST_ASSERT_EQUAL("add",
				  dtl_chart__add(&chart, 0, DTL_STATE_RUNNING, at, at + len,
						 tasks[i % 2]), 0);
		at += len;
	}
	TEST_ASSERT_VAL("the longer", chart.lanes[0].bins[3].task == tasks[1]);
	TEST_ASSERT_EQUAL("lose", dtl_chart__lose(&chart, 0, 7), 0);

	TEST_ASSERT_EQUAL("add far",
			  dtl_chart__add(&chart, 0, DTL_STATE_WAITING, at,
					 BASE + 1024 * DTL_CHART_BINS, tasks[0]), 0);
	TEST_ASSERT_VAL("bins are wider", chart.bin_ns == 1024);
	TEST_ASSERT_VAL("the longer of four bins", chart.lanes[0].bins[0].task == tasks[1]);
	TEST_ASSERT_VAL("running", chart.lanes[0].bins[0].ns[DTL_STATE_RUNNING] == 1024);
	TEST_ASSERT_VAL("lost", chart.lanes[0].lost == 7);
	dtl_chart__exit(&chart);

	return TEST_OK;
}

static struct test_case dtl_chart_tests[] = {
	TEST_CASE("Times before the picture, and without end", dtl_chart_spans),
	TEST_CASE("Tasks", dtl_chart_tasks),
	{ .name = NULL, }
};

struct test_suite suite__dtl_chart = {
	.desc = "Picture of perf dtl",
	.test_cases = dtl_chart_tests,
};

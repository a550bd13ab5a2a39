// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of vpa-dtl-ring.h: what is taken from the log, and what is lost
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "vpa-dtl-ring.h"

#define N	VPA_DTL_SLOTS

static void vpa_dtl_test_desc(const char *name, char *desc)
{
	strscpy(desc, name, KUNIT_PARAM_DESC_SIZE);
}

/*
 * vpa_dtl_span(): the arithmetic, one look at the log
 */
struct span_case {
	const char *name;
	u64 seen, written, room;
	u32 spare;
	/* expected */
	u64 first, lost, left;
	u32 count;
	bool reset;
};

static const struct span_case span_cases[] = {
	{ "empty, never written", 0, 0, N, 0, .first = 0 },
	{ "empty, all seen", 1000, 1000, N, 0, .first = 1000 },
	{ "one", 0, 1, N, 0, .first = 0, .count = 1 },
	{ "one, in the last slot", N - 1, N, N, 0, .first = N - 1, .count = 1 },
	{ "full", 0, N, N, 0, .first = 0, .count = N },
	{ "full, wrapped", 40, 40 + N, N, 0, .first = 40, .count = N },
	{ "wrapped", 80, 90, N, 0, .first = 80, .count = 10 },
	{ "overrun by one", 0, N + 1, N, 0, .first = 1, .count = N, .lost = 1 },
	{ "overrun by one lap", 7, 7 + 2 * N, N, 0, .first = 7 + N, .count = N, .lost = N },
	{ "overrun by many laps", 3, 1000 * N + 5, N, 0,
	  .first = 999 * N + 5, .count = N, .lost = 999 * N + 2 },
	{ "count runs far ahead", 10, BIT_ULL(63), N, 0,
	  .first = BIT_ULL(63) - N, .count = N, .lost = BIT_ULL(63) - N - 10 },
	{ "count at its limit", U64_MAX - 2, U64_MAX, N, 0,
	  .first = U64_MAX - 2, .count = 2 },
	{ "no room", 5, 15, 0, 0, .first = 5, .left = 10 },
	{ "no room, nothing there", 5, 5, 0, 0, .first = 5 },
	{ "room for the oldest", 5, 15, 4, 0, .first = 5, .count = 4, .left = 6 },
	{ "room for exactly all", 5, 15, 10, 0, .first = 5, .count = 10 },
	{ "little room and overrun", 0, N + 20, 4, 0,
	  .first = 20, .count = 4, .lost = 20, .left = N - 4 },
	{ "room without bounds", 0, N + 20, U64_MAX, 0,
	  .first = 20, .count = N, .lost = 20 },
	{ "spare, not needed", 0, N - 3, N, 3, .first = 0, .count = N - 3 },
	{ "spare", 0, N, N, 3, .first = 3, .count = N - 3, .lost = 3 },
	{ "spare of all", 0, N, N, N, .first = N, .lost = N },
	{ "spare of more than all", 9, 9 + N, N, 127, .first = 9 + N, .lost = N },
	{ "reset to zero", 1000, 0, N, 0, .first = 0, .reset = true },
	{ "reset, written since", 1000, 10, N, 0, .first = 0, .count = 10, .reset = true },
	{ "reset, overrun since", 1000, N + 4, N, 0,
	  .first = 4, .count = N, .lost = 4, .reset = true },
};

static void span_desc(const struct span_case *c, char *desc)
{
	vpa_dtl_test_desc(c->name, desc);
}

KUNIT_ARRAY_PARAM(span, span_cases, span_desc);

static void vpa_dtl_test_span(struct kunit *test)
{
	const struct span_case *c = test->param_value;
	struct vpa_dtl_span span = vpa_dtl_span(c->seen, c->written, c->room, c->spare);

	KUNIT_EXPECT_EQ(test, span.first, c->first);
	KUNIT_EXPECT_EQ(test, span.count, c->count);
	KUNIT_EXPECT_EQ(test, span.lost, c->lost);
	KUNIT_EXPECT_EQ(test, span.reset, c->reset);
	KUNIT_EXPECT_EQ(test, span.written, c->written);
	KUNIT_EXPECT_EQ(test, vpa_dtl_left(&span), c->left);
	/* the ledger */
	KUNIT_EXPECT_EQ(test, span.lost + span.count + vpa_dtl_left(&span),
			vpa_dtl_since(c->seen, c->written));
}

/*
 * vpa_dtl_take(): a ring that is written to while it is read. The hypervisor of
 * this test numbers its entries, and writes more[i] of them after the first
 * half of the i-th copy, then as many after the second.
 */
struct take_case {
	const char *name;
	u64 seen, written, room;
	u32 more[10];
	u64 reset_to;		/* the count after the first copy, if not 0 */
	/* expected */
	u64 first, lost;
	u32 count, copied;
	int copies;
	bool reset;
};

static const struct take_case take_cases[] = {
	{ "nothing moves", 0, 50, N, { 0 },
	  .first = 0, .count = 50, .copied = 50, .copies = 1 },
	{ "nothing there", 50, 50, N, { 0 }, .first = 50 },
	{ "full, nothing moves", 0, N, N, { 0 },
	  .first = 0, .count = N, .copied = N, .copies = 1 },
	{ "moves, nothing overwritten", 0, 50, N, { 10 },
	  .first = 0, .count = 50, .copied = 50, .copies = 1 },
	{ "moves up to the first entry", 0, N - 2, N, { 1 },
	  .first = 0, .count = N - 2, .copied = N - 2, .copies = 1 },
	{ "moves over the first entry", 0, N - 1, N, { 1 },
	  .first = 2, .lost = 2, .count = N - 1, .copied = N - 1, .copies = 2 },
	{ "moves while full", 0, N, N, { 1 },
	  .first = 3, .lost = 3, .count = N - 1, .copied = N, .copies = 2 },
	{ "a whole lap and more in the copy", 0, N, N, { 2 * N },
	  .first = 4 * N + 1, .lost = 4 * N + 1, .count = N - 1, .copied = N, .copies = 2 },
	{ "moves in each copy, until spared", 0, N, N, { 1, 1, 1, 1 },
	  .first = 7, .lost = 7, .count = N - 3, .copied = N, .copies = 3 },
	{ "room for few, those overwritten", 0, N, 4, { 1 },
	  .first = 3, .lost = 3, .count = 4, .copied = 4, .copies = 2 },
	{ "faster than any copy", 0, N, N, { N, N, N, N, N, N, N, N, N, N },
	  .first = 15 * N, .lost = 15 * N, .count = 0, .copied = N, .copies = 7 },
	{ "set back in the copy", 500, 560, N, { 0 }, .reset_to = 7,
	  .first = 0, .count = 7, .copied = 60, .copies = 2, .reset = true },
	{ "set back before", 500, 3, N, { 0 },
	  .first = 0, .count = 3, .copied = 3, .copies = 1, .reset = true },
};

struct take_ring {
	const struct take_case *c;
	u64 slot[N];
	u64 written;
	int copies;
	u64 out[N];
};

static void take_write(struct take_ring *ring, u64 n)
{
	for (; n; n--) {
		ring->slot[ring->written % N] = ring->written;
		ring->written++;
	}
}

static u64 take_written(void *arg)
{
	return ((struct take_ring *)arg)->written;
}

static void take_copy(void *arg, u64 first, u32 count)
{
	struct take_ring *ring = arg;
	u32 i = 0;

	for (; i < count / 2; i++)
		ring->out[i] = ring->slot[(first + i) % N];
	take_write(ring, ring->c->more[ring->copies]);
	for (; i < count; i++)
		ring->out[i] = ring->slot[(first + i) % N];
	take_write(ring, ring->c->more[ring->copies]);

	if (!ring->copies++ && ring->c->reset_to) {
		ring->written = 0;
		take_write(ring, ring->c->reset_to);
	}
}

static void take_desc(const struct take_case *c, char *desc)
{
	vpa_dtl_test_desc(c->name, desc);
}

KUNIT_ARRAY_PARAM(take, take_cases, take_desc);

static void vpa_dtl_test_take(struct kunit *test)
{
	const struct take_case *c = test->param_value;
	struct vpa_dtl_span span;
	struct take_ring *ring;
	u32 i;

	ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);
	ring->c = c;
	take_write(ring, c->written);

	span = vpa_dtl_take(c->seen, c->room, take_written, take_copy, ring);

	KUNIT_EXPECT_EQ(test, ring->copies, c->copies);
	KUNIT_EXPECT_EQ(test, span.first, c->first);
	KUNIT_EXPECT_EQ(test, span.count, c->count);
	KUNIT_EXPECT_EQ(test, span.copied, c->copied);
	KUNIT_EXPECT_EQ(test, span.lost, c->lost);
	KUNIT_EXPECT_EQ(test, span.reset, c->reset);
	for (i = 0; i < span.count; i++)
		KUNIT_EXPECT_EQ(test, ring->out[i], span.first + i);
}

/*
 * Any hypervisor and any reader: entries come out once, in order, and the rest
 * is counted
 */
static void vpa_dtl_test_ledger(struct kunit *test)
{
	static const struct take_case walk[] = {
		{ .more = { 0 } }, { .more = { 1 } }, { .more = { 40, 3 } },
		{ .more = { 90 } }, { .more = { 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	};
	u64 seen = 0, taken = 0, lost = 0, next = 0;
	struct take_ring *ring;
	u32 seed = 1;
	int i;

	ring = kunit_kzalloc(test, sizeof(*ring), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring);

	for (i = 0; i < 20000; i++) {
		struct vpa_dtl_span span;
		u32 j;

		seed = seed * 1103515245 + 12345;
		ring->c = &walk[(seed >> 16) % ARRAY_SIZE(walk)];
		ring->copies = 0;
		take_write(ring, (seed >> 8) % (N + N / 2));

		span = vpa_dtl_take(seen, (seed >> 20) % (N + 20), take_written,
				    take_copy, ring);
		KUNIT_ASSERT_EQ(test, span.first, seen + span.lost);
		for (j = 0; j < span.count; j++) {
			KUNIT_ASSERT_GE(test, ring->out[j], next);
			KUNIT_ASSERT_EQ(test, ring->out[j], span.first + j);
			next = ring->out[j] + 1;
		}
		seen = span.first + span.count;
		taken += span.count;
		lost += span.lost;
	}
	KUNIT_EXPECT_EQ(test, taken + lost + vpa_dtl_since(seen, ring->written),
			ring->written);
	KUNIT_EXPECT_GT(test, lost, 0ULL);
}

/*
 * vpa_dtl_next_interval(), in nanoseconds
 */
struct interval_case {
	const char *name;
	u64 interval, found, shortest, longest;
	u64 next;
};

static const struct interval_case interval_cases[] = {
	{ "quiet: twice as long", 1000000, 0, 100000, 10000000, 2000000 },
	{ "quiet: no longer than asked", 8000000, 1, 100000, 10000000, 10000000 },
	{ "half full: as it is", 1000000, 42, 100000, 10000000, 1000000 },
	{ "a quarter full: twice as long", 1000000, 21, 100000, 10000000, 2000000 },
	{ "full: about half", 1000000, 84, 100000, 10000000, 500000 },
	{ "overrun tenfold", 4200000, 420, 100000, 10000000, 420000 },
	{ "no shorter than the floor", 1000000, 100000, 100000, 10000000, 100000 },
	{ "count at its limit", 1000000, U64_MAX, 100000, 10000000, 100000 },
	{ "fixed, quiet", 5000000, 0, 5000000, 5000000, 5000000 },
	{ "fixed, overrun", 5000000, 10000, 5000000, 5000000, 5000000 },
	{ "an hour", 3600000000000, 43, 100000, 3600000000000, 3516279069767 },
};

static void interval_desc(const struct interval_case *c, char *desc)
{
	vpa_dtl_test_desc(c->name, desc);
}

KUNIT_ARRAY_PARAM(interval, interval_cases, interval_desc);

static void vpa_dtl_test_interval(struct kunit *test)
{
	const struct interval_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, c->next,
			vpa_dtl_next_interval(c->interval, c->found,
					      c->shortest, c->longest));
}

/* At a steady rate the log is never more than half full, once it is known */
static void vpa_dtl_test_steady(struct kunit *test)
{
	u64 rate;	/* entries a second */

	for (rate = 1; rate <= 400000; rate = rate * 3 / 2 + 1) {
		u64 interval = 1000000;
		int i;

		for (i = 0; i < 100; i++) {
			u64 found = div64_u64(interval * rate, 1000000000);

			if (i > 20)
				KUNIT_EXPECT_LE_MSG(test, found, N / 2 + 1,
						    "at %llu a second", rate);
			interval = vpa_dtl_next_interval(interval, found, 100000,
							 1000000000);
		}
	}
}

static struct kunit_case vpa_dtl_test_cases[] = {
	KUNIT_CASE_PARAM(vpa_dtl_test_span, span_gen_params),
	KUNIT_CASE_PARAM(vpa_dtl_test_take, take_gen_params),
	KUNIT_CASE(vpa_dtl_test_ledger),
	KUNIT_CASE_PARAM(vpa_dtl_test_interval, interval_gen_params),
	KUNIT_CASE(vpa_dtl_test_steady),
	{}
};

static struct kunit_suite vpa_dtl_test_suite = {
	.name		= "vpa-dtl",
	.test_cases	= vpa_dtl_test_cases,
};

kunit_test_suite(vpa_dtl_test_suite);

MODULE_DESCRIPTION("KUnit test of the dispatch trace log's ring");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Test of the powerpc dispatch trace log decoder: bytes in, entries, times and
 * errors out.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <linux/zalloc.h>

#include "debug.h"
#include "tests.h"
#include "util/powerpc-vpadtl-decoder/powerpc-vpadtl-decoder.h"

#define FRAME		POWERPC_VPADTL_FRAME_SIZE

#define TEST_BOOT_TB	4489169655ULL
#define TEST_TB_FREQ	512000000ULL

static void put_kernel64(u64 val, u8 *p, bool big_endian)
{
	if (big_endian)
		put_unaligned_be64(val, p);
	else
		put_unaligned_le64(val, p);
}

static void put_header(u8 *frame, u64 boot_tb, u64 tb_freq, u64 magic, bool big_endian)
{
	memset(frame, 0, FRAME);
	put_kernel64(boot_tb, frame, big_endian);
	put_kernel64(tb_freq, frame + 8, big_endian);
	put_kernel64(magic, frame + 24, big_endian);
}

/* An entry that is known again by its number, in the fault address */
static void put_entry(u8 *frame, u64 timebase, u64 nr)
{
	memset(frame, 0, FRAME);
	frame[0] = 7;
	frame[1] = 4;
	put_unaligned_be32(436, frame + 4);
	put_unaligned_be64(timebase, frame + 16);
	put_unaligned_be64(nr, frame + 24);
	put_unaligned_be64(0xc00000000000b430ULL, frame + 32);
	put_unaligned_be64(0x8000000000001033ULL, frame + 40);
}

static u64 entry_nr(const u8 *frame)
{
	struct powerpc_vpadtl_entry entry;

	powerpc_vpadtl_entry__read(&entry, frame);
	return entry.fault_addr;
}

/* Times that were computed by hand (Python's integers) */
static const struct {
	u64 tb_freq;
	u64 ticks;
	u64 nsecs;
} known_times[] = {
	{ 512000000,	0,			0 },
	{ 512000000,	1,			0 },
	{ 512000000,	2,			2 },
	{ 512000000,	512000000,		1000000000 },
	{ 512000000,	2497152296ULL,		4877250578ULL },
	{ 512000000,	1ULL << 63,		18014398509481984000ULL },
	{ 1000000000,	12345678901ULL,		12345678900ULL },
	{ 500000000,	1ULL << 62,		9223372036854775808ULL },
	{ 33333333,	33333333,		999999968 },
	{ 1,		1,			0 },
	{ 1,		18,			17179869184ULL },
	{ 1ULL << 63,	1ULL << 63,		1000000000 },
	{ ~0ULL,	~0ULL,			999999999 },
};

static int test__vpadtl_known_times(struct test_suite *test __maybe_unused,
				    int subtest __maybe_unused)
{
	struct powerpc_vpadtl_clock clock;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known_times); i++) {
		u64 nsecs, tb_freq = known_times[i].tb_freq, ticks = known_times[i].ticks;

		TEST_ASSERT_VAL("clock", !powerpc_vpadtl_clock__init(&clock, 5, tb_freq));
		nsecs = powerpc_vpadtl_clock__time(&clock, ticks + 5);
		if (nsecs != known_times[i].nsecs) {
			pr_debug("%llu ticks at %llu Hz: %llu ns, not %llu\n",
				 (unsigned long long)ticks, (unsigned long long)tb_freq,
				 (unsigned long long)known_times[i].nsecs,
				 (unsigned long long)nsecs);
			return TEST_FAIL;
		}
	}

	TEST_ASSERT_VAL("no frequency", powerpc_vpadtl_clock__init(&clock, 5, 0));
	TEST_ASSERT_VAL("clock left alone", clock.tb_freq == ~0ULL);
	return TEST_OK;
}

#ifdef __SIZEOF_INT128__
/* The kernel's rule again, with the compiler's 128-bit division */
static u64 reference_time(u64 tb_freq, u64 ticks)
{
	unsigned __int128 scale = ((unsigned __int128)1000000000 << 64) / tb_freq;
	unsigned int shift = 0;

	while (scale >> 64) {
		scale >>= 1;
		shift++;
	}
	return (u64)((ticks * scale) >> 64) << shift;
}

static int test__vpadtl_times(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const u64 freqs[] = {
		1, 2, 3, 999999999, 1000000000, 1000000001, 33333333, 500000000, 512000000,
		UINT32_MAX, 1ULL << 32, (1ULL << 32) + 1, (1ULL << 63) - 1, 1ULL << 63, ~0ULL,
	};
	u64 random = 88172645463325252ULL;
	unsigned int i, bit, nr = 0;

	for (i = 0; i < ARRAY_SIZE(freqs) + 2000; i++) {
		struct powerpc_vpadtl_clock clock;
		u64 tb_freq = i < ARRAY_SIZE(freqs) ? freqs[i] : random >> (random & 63);

		if (!tb_freq)
			tb_freq = 1;
		TEST_ASSERT_VAL("clock", !powerpc_vpadtl_clock__init(&clock, 0, tb_freq));

		for (bit = 0; bit < 64; bit++) {
			u64 ticks[] = { 1ULL << bit, (1ULL << bit) - 1, random >> bit, -random };
			unsigned int j;

			for (j = 0; j < ARRAY_SIZE(ticks); j++, nr++) {
				u64 nsecs = powerpc_vpadtl_clock__time(&clock, ticks[j]);

				if (nsecs != reference_time(tb_freq, ticks[j])) {
					pr_debug("%llu ticks at %llu Hz: not %llu ns\n",
						 (unsigned long long)ticks[j],
						 (unsigned long long)tb_freq,
						 (unsigned long long)nsecs);
					return TEST_FAIL;
				}
			}
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
		}
	}
	pr_debug("%u times equal\n", nr);
	return TEST_OK;
}
#else
static int test__vpadtl_times(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	pr_debug("No 128-bit integers to compare with\n");
	return TEST_SKIP;
}
#endif

static int test__vpadtl_fields(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	char buf[POWERPC_VPADTL_REASON_MAX], expected[POWERPC_VPADTL_REASON_MAX];
	struct powerpc_vpadtl_entry entry;
	u8 frame[FRAME + 1];
	unsigned int i;

	for (i = 0; i < FRAME; i++)
		frame[i + 1] = 0x81 + i;
	powerpc_vpadtl_entry__read(&entry, frame + 1);

	TEST_ASSERT_VAL("dispatch_reason", entry.dispatch_reason == 0x81);
	TEST_ASSERT_VAL("preempt_reason", entry.preempt_reason == 0x82);
	TEST_ASSERT_VAL("processor_id", entry.processor_id == 0x8384);
	TEST_ASSERT_VAL("enqueue_to_dispatch", entry.enqueue_to_dispatch_time == 0x85868788);
	TEST_ASSERT_VAL("ready_to_enqueue", entry.ready_to_enqueue_time == 0x898a8b8c);
	TEST_ASSERT_VAL("waiting_to_ready", entry.waiting_to_ready_time == 0x8d8e8f90);
	TEST_ASSERT_VAL("timebase", entry.timebase == 0x9192939495969798ULL);
	TEST_ASSERT_VAL("fault_addr", entry.fault_addr == 0x999a9b9c9d9e9fa0ULL);
	TEST_ASSERT_VAL("srr0", entry.srr0 == 0xa1a2a3a4a5a6a7a8ULL);
	TEST_ASSERT_VAL("srr1", entry.srr1 == 0xa9aaabacadaeafb0ULL);
	TEST_ASSERT_VAL("stolen", powerpc_vpadtl_entry__stolen(&entry) ==
				  0x85868788ULL + 0x898a8b8cULL);

	TEST_ASSERT_VAL("dispatch 0", !strcmp(powerpc_vpadtl__dispatch_reason(0, buf),
					      "external_interrupt"));
	TEST_ASSERT_VAL("dispatch 7", !strcmp(powerpc_vpadtl__dispatch_reason(7, buf),
					      "time_slice"));
	TEST_ASSERT_VAL("dispatch 10", !strcmp(powerpc_vpadtl__dispatch_reason(10, buf),
					       "priv_doorbell"));
	TEST_ASSERT_VAL("preempt 0", !strcmp(powerpc_vpadtl__preempt_reason(0, buf), "unused"));
	TEST_ASSERT_VAL("preempt 2", !strcmp(powerpc_vpadtl__preempt_reason(2, buf), "H_CEDE"));
	TEST_ASSERT_VAL("preempt 9", !strcmp(powerpc_vpadtl__preempt_reason(9, buf),
					     "HDEC_adjunct"));

	for (i = 0; i < 256; i++) {
		scnprintf(expected, sizeof(expected), "unknown(%u)", i);
		TEST_ASSERT_VAL("dispatch name",
				!strcmp(powerpc_vpadtl__dispatch_reason(i, buf), expected) ==
				(i > 10));
		TEST_ASSERT_VAL("preempt name",
				!strcmp(powerpc_vpadtl__preempt_reason(i, buf), expected) ==
				(i > 9));
	}

	/* An auxtrace error event has room for 64 bytes */
	for (i = 1; i < POWERPC_VPADTL_ERR_MAX; i++)
		TEST_ASSERT_VAL("error text",
				strlen(powerpc_vpadtl__strerror(i)) < 64 &&
				strcmp(powerpc_vpadtl__strerror(i),
				       powerpc_vpadtl__strerror(POWERPC_VPADTL_ERR_MAX)));
	return TEST_OK;
}

static int test__vpadtl_text(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const u8 codes[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99, 255 };
	static const u32 times[] = { 0, 9, 10, 99, 4294967295U };
	char text[POWERPC_VPADTL_TEXT_MAX], expected[2 * POWERPC_VPADTL_TEXT_MAX];
	char dispatch[POWERPC_VPADTL_REASON_MAX], preempt[POWERPC_VPADTL_REASON_MAX];
	struct powerpc_vpadtl_entry entry;
	unsigned int i, nr;
	int len;

	for (i = 0; i < ARRAY_SIZE(codes) * ARRAY_SIZE(codes) * ARRAY_SIZE(times); i++) {
		nr = i % ARRAY_SIZE(times);
		entry = (struct powerpc_vpadtl_entry){
			.dispatch_reason = codes[i / ARRAY_SIZE(times) % ARRAY_SIZE(codes)],
			.preempt_reason = codes[i / ARRAY_SIZE(times) / ARRAY_SIZE(codes)],
			.processor_id = times[nr],
			.enqueue_to_dispatch_time = times[nr],
			.ready_to_enqueue_time = times[nr],
			.waiting_to_ready_time = times[nr],
			.timebase = times[nr] * 4294967297ULL,
		};

		len = scnprintf(expected, sizeof(expected),
				"dispatch_reason:%s, preempt_reason:%s, enqueue_to_dispatch_time:%u, ready_to_enqueue_time:%u, waiting_to_ready_time:%u",
				powerpc_vpadtl__dispatch_reason(entry.dispatch_reason, dispatch),
				powerpc_vpadtl__preempt_reason(entry.preempt_reason, preempt),
				entry.enqueue_to_dispatch_time, entry.ready_to_enqueue_time,
				entry.waiting_to_ready_time);
		TEST_ASSERT_EQUAL("length of reasons and times",
				  powerpc_vpadtl_entry__text_reasons_times(&entry, text), len);
		TEST_ASSERT_VAL("reasons and times", !strcmp(text, expected));

		len = scnprintf(expected, sizeof(expected),
				"timebase: %" PRIu64 " %s, processor_id: %u",
				entry.timebase, text, entry.processor_id);
		TEST_ASSERT_VAL("room for the text", len < POWERPC_VPADTL_TEXT_MAX);
		TEST_ASSERT_EQUAL("length of the text",
				  powerpc_vpadtl_entry__text(&entry, text), len);
		TEST_ASSERT_VAL("text", !strcmp(text, expected));
	}

	return TEST_OK;
}

/*
 * A stream as a script, and what must come of it. All is done with header
 * frames of either byte order.
 */
enum op {
	OP_DONE,
	OP_MAGIC,	/* header frame, frames run on through laps */
	OP_PLAIN,	/* header frame of the layout with laps */
	OP_NO_FREQ,	/* header frame with magic and a frequency of zero */
	OP_ENTRY,	/* arg entries */
	OP_OLD,		/* arg entries from before the boot timebase */
	OP_ZEROS,	/* arg bytes of zero */
	OP_ONES,	/* arg bytes of 0xff */
	OP_FEED,	/* what there is so far is one buffer */
	OP_HOLE,	/* arg bytes are missing, between buffers */
	OP_BACK,	/* the stream offset goes back by arg, between buffers */
};

#define ERR(e)		POWERPC_VPADTL_ERROR, POWERPC_VPADTL_ERR_##e
#define ENTRIES(n)	POWERPC_VPADTL_ENTRY, n
#define HEADER		POWERPC_VPADTL_HEADER, 0

struct stream_test {
	const char *name;
	u64 start;
	bool contiguous;	/* is preset */
	bool clock;		/* is preset */
	struct {
		enum op op;
		unsigned int arg;
	} ops[24];
	struct {
		enum powerpc_vpadtl_item item;
		unsigned int arg;	/* entries in a row, or error */
		u64 offset;		/* of an error */
		u64 size;
	} found[24];
};

static const struct stream_test stream_tests[] = {
	{
		.name = "empty",
		.ops = { { OP_FEED, 0 } },
	}, {
		.name = "header only",
		.ops = { { OP_MAGIC, 0 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 } },
	}, {
		.name = "entries in two buffers",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 3 }, { OP_FEED, 0 }, { OP_ENTRY, 200 },
			 { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(203), 0, 0 } },
	}, {
		.name = "a page's end is no lap's end where frames run on",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 84 }, { OP_ZEROS, 16 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(84), 0, 0 },
			   { ERR(PARTIAL), 4080, 16 } },
	}, {
		.name = "second header frame",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 1 }, { OP_MAGIC, 0 }, { OP_ENTRY, 2 },
			 { OP_FEED, 0 }, { OP_MAGIC, 0 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(1), 0, 0 }, { HEADER, 0, 0 },
			   { ENTRIES(2), 0, 0 }, { HEADER, 0, 0 } },
	}, {
		.name = "no clock, then one",
		.ops = { { OP_ENTRY, 3 }, { OP_PLAIN, 0 }, { OP_ENTRY, 2 }, { OP_FEED, 0 } },
		.found = { { ERR(NO_CLOCK), 0, 3 * FRAME }, { HEADER, 0, 0 },
			   { ENTRIES(2), 0, 0 } },
	}, {
		.name = "preset clock",
		.clock = true,
		.start = 48 * 1000,
		.ops = { { OP_ENTRY, 3 }, { OP_FEED, 0 } },
		.found = { { ENTRIES(3), 0, 0 } },
	}, {
		.name = "frequency of zero keeps the clock",
		.ops = { { OP_MAGIC, 0 }, { OP_NO_FREQ, 0 }, { OP_ENTRY, 1 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ERR(HEADER), 48, 48 }, { ENTRIES(1), 0, 0 } },
	}, {
		.name = "frequency of zero and no clock",
		.ops = { { OP_NO_FREQ, 0 }, { OP_ENTRY, 2 }, { OP_FEED, 0 } },
		.found = { { ERR(HEADER), 0, 48 }, { ERR(NO_CLOCK), 48, 96 } },
	}, {
		.name = "frames of zeros",
		.ops = { { OP_PLAIN, 0 }, { OP_ENTRY, 1 }, { OP_ZEROS, 96 }, { OP_ENTRY, 1 },
			 { OP_ZEROS, 48 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(1), 0, 0 }, { ERR(HEADER), 96, 96 },
			   { ENTRIES(1), 0, 0 }, { ERR(HEADER), 240, 48 } },
	}, {
		.name = "zeros as second frame",
		.ops = { { OP_MAGIC, 0 }, { OP_ZEROS, 48 }, { OP_ENTRY, 1 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ERR(HEADER), 48, 48 }, { ENTRIES(1), 0, 0 } },
	}, {
		.name = "header without magic where frames run on",
		.ops = { { OP_MAGIC, 0 }, { OP_PLAIN, 0 }, { OP_ENTRY, 1 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ERR(HEADER), 48, 48 }, { ENTRIES(1), 0, 0 } },
	}, {
		.name = "before boot",
		.ops = { { OP_MAGIC, 0 }, { OP_OLD, 2 }, { OP_ENTRY, 1 }, { OP_FEED, 0 },
			 { OP_OLD, 1 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ERR(TIMEBASE), 48, 96 }, { ENTRIES(1), 0, 0 },
			   { ERR(TIMEBASE), 192, 48 } },
	}, {
		.name = "hole of whole frames",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 2 }, { OP_FEED, 0 }, { OP_HOLE, 480 },
			 { OP_ENTRY, 2 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(2), 0, 0 }, { ERR(LOST), 144, 480 },
			   { ENTRIES(2), 0, 0 } },
	}, {
		.name = "hole that ends inside a frame",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 2 }, { OP_FEED, 0 }, { OP_HOLE, 490 },
			 { OP_ONES, 38 }, { OP_ENTRY, 2 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(2), 0, 0 }, { ERR(LOST), 144, 490 },
			   { ERR(PARTIAL), 634, 38 }, { ENTRIES(2), 0, 0 } },
	}, {
		.name = "pieces smaller than what is left of a frame",
		.contiguous = true,
		.clock = true,
		.start = 10,
		.ops = { { OP_ONES, 8 }, { OP_FEED, 0 }, { OP_ONES, 30 }, { OP_ENTRY, 1 },
			 { OP_FEED, 0 } },
		.found = { { ERR(PARTIAL), 10, 8 }, { ERR(PARTIAL), 18, 30 },
			   { ENTRIES(1), 0, 0 } },
	}, {
		.name = "offset goes back",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 3 }, { OP_FEED, 0 }, { OP_BACK, 96 },
			 { OP_ENTRY, 2 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(3), 0, 0 }, { ERR(BACK), 96, 96 },
			   { ENTRIES(2), 0, 0 } },
	}, {
		.name = "cut at the end of the stream",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 1 }, { OP_ONES, 47 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(1), 0, 0 }, { ERR(PARTIAL), 96, 47 } },
	}, {
		.name = "cut before a hole",
		.ops = { { OP_MAGIC, 0 }, { OP_ENTRY, 1 }, { OP_ONES, 20 }, { OP_FEED, 0 },
			 { OP_HOLE, 28 }, { OP_ENTRY, 1 }, { OP_FEED, 0 } },
		.found = { { HEADER, 0, 0 }, { ENTRIES(1), 0, 0 }, { ERR(PARTIAL), 96, 20 },
			   { ERR(LOST), 116, 28 }, { ENTRIES(1), 0, 0 } },
	}, {
		.name = "one byte",
		.ops = { { OP_ONES, 1 }, { OP_FEED, 0 } },
		.found = { { ERR(PARTIAL), 0, 1 } },
	}, {
		.name = "end of the offsets",
		.clock = true,
		.start = ~0ULL - 47,
		.contiguous = true,
		.ops = { { OP_ONES, 32 }, { OP_ENTRY, 1 }, { OP_FEED, 0 } },
		/* 2^64 is 16 more than a multiple of 48 */
		.found = { { ERR(PARTIAL), ~0ULL - 47, 32 }, { ENTRIES(1), 0, 0 } },
	},
};

struct stream_state {
	u8 buf[FRAME * 256];
	size_t size;
	u64 offset;
	u64 nr;			/* of the next entry that is written */
	u64 found_nr;		/* of the next that is to be found */
	unsigned int i;		/* in what is to be found */
	unsigned int run;	/* entries of a row found so far */
};

static bool stream_found(const struct stream_test *t, struct stream_state *s,
			 const struct powerpc_vpadtl_decoder *d, enum powerpc_vpadtl_item item)
{
	while (t->found[s->i].item == POWERPC_VPADTL_ENTRY && s->run == t->found[s->i].arg) {
		s->run = 0;
		s->i++;
	}

	if (item != t->found[s->i].item) {
		pr_debug("%s: item %u is %d, not %d (error %d)\n", t->name, s->i, item,
			 t->found[s->i].item, d->error);
		return false;
	}

	switch (item) {
	case POWERPC_VPADTL_ENTRY:
		if (entry_nr(d->frame) != s->found_nr++) {
			pr_debug("%s: not the entry\n", t->name);
			return false;
		}
		s->run++;
		break;
	case POWERPC_VPADTL_ERROR:
		if (d->error == POWERPC_VPADTL_ERR_NO_CLOCK ||
		    d->error == POWERPC_VPADTL_ERR_TIMEBASE)
			s->found_nr += d->error_size / FRAME;
		if (d->error != t->found[s->i].arg || d->offset != t->found[s->i].offset ||
		    d->error_size != t->found[s->i].size) {
			pr_debug("%s: item %u: error %d at %#llx, %llu bytes\n", t->name, s->i,
				 d->error, (unsigned long long)d->offset,
				 (unsigned long long)d->error_size);
			return false;
		}
		s->i++;
		break;
	case POWERPC_VPADTL_HEADER:
		if (d->clock.boot_tb != TEST_BOOT_TB || d->clock.tb_freq != TEST_TB_FREQ) {
			pr_debug("%s: not the clock\n", t->name);
			return false;
		}
		s->i++;
		break;
	case POWERPC_VPADTL_END:
	default:
		break;
	}

	return true;
}

static bool stream_run(const struct stream_test *t, bool big_endian)
{
	struct powerpc_vpadtl_decoder d;
	struct stream_state s = { .offset = t->start };
	enum powerpc_vpadtl_item item;
	unsigned int i, n;

	powerpc_vpadtl_decoder__init(&d, big_endian);
	d.contiguous = t->contiguous;
	if (t->clock)
		powerpc_vpadtl_clock__init(&d.clock, TEST_BOOT_TB, TEST_TB_FREQ);

	for (i = 0; i < ARRAY_SIZE(t->ops); i++) {
		unsigned int arg = t->ops[i].arg;

		switch (t->ops[i].op) {
		case OP_MAGIC:
			put_header(s.buf + s.size, TEST_BOOT_TB, TEST_TB_FREQ,
				   POWERPC_VPADTL_MAGIC, big_endian);
			s.size += FRAME;
			break;
		case OP_PLAIN:
			/* What follows the zero means nothing in this one */
			put_header(s.buf + s.size, TEST_BOOT_TB, TEST_TB_FREQ, 0x1234, big_endian);
			s.size += FRAME;
			break;
		case OP_NO_FREQ:
			put_header(s.buf + s.size, TEST_BOOT_TB, 0, POWERPC_VPADTL_MAGIC,
				   big_endian);
			s.size += FRAME;
			break;
		case OP_ENTRY:
		case OP_OLD:
			for (n = 0; n < arg; n++, s.nr++, s.size += FRAME)
				put_entry(s.buf + s.size, t->ops[i].op == OP_OLD ?
					  TEST_BOOT_TB - 1 : TEST_BOOT_TB + s.nr, s.nr);
			break;
		case OP_ZEROS:
		case OP_ONES:
			memset(s.buf + s.size, t->ops[i].op == OP_ONES ? 0xff : 0, arg);
			s.size += arg;
			break;
		case OP_FEED:
			powerpc_vpadtl_decoder__feed(&d, s.buf, s.size, s.offset);
			while ((item = powerpc_vpadtl_decoder__next(&d)) != POWERPC_VPADTL_END) {
				if (!stream_found(t, &s, &d, item))
					return false;
			}
			s.offset += s.size;
			s.size = 0;
			break;
		case OP_HOLE:
			s.offset += arg;
			break;
		case OP_BACK:
			s.offset -= arg;
			break;
		case OP_DONE:
		default:
			break;
		}
	}

	powerpc_vpadtl_decoder__finish(&d);
	while ((item = powerpc_vpadtl_decoder__next(&d)) != POWERPC_VPADTL_END) {
		if (!stream_found(t, &s, &d, item))
			return false;
	}
	return stream_found(t, &s, &d, POWERPC_VPADTL_END);
}

static int test__vpadtl_streams(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	unsigned int i;
	int ret = TEST_OK;

	for (i = 0; i < ARRAY_SIZE(stream_tests); i++) {
		if (!stream_run(&stream_tests[i], false) || !stream_run(&stream_tests[i], true))
			ret = TEST_FAIL;
	}
	return ret;
}

/* A stream as a driver writes it: @lap is 0 where frames run on */
struct written {
	u8 *data;
	size_t size;
	size_t lap;
	unsigned int nr;
};

static void write_frame(struct written *w, const u8 *frame)
{
	size_t left = w->lap ? w->lap - w->size % w->lap : FRAME;

	/* What is never written, in an AUX area that the kernel gave zeroed */
	if (left < FRAME) {
		memset(w->data + w->size, 0, left);
		w->size += left;
	}
	memcpy(w->data + w->size, frame, FRAME);
	w->size += FRAME;
}

static int write_stream(struct written *w, size_t lap, size_t size, bool big_endian)
{
	u8 frame[FRAME];

	*w = (struct written){ .lap = lap, .data = malloc(size + 2 * FRAME) };
	if (!w->data)
		return -1;

	put_header(frame, TEST_BOOT_TB, TEST_TB_FREQ, lap ? 0 : POWERPC_VPADTL_MAGIC, big_endian);
	write_frame(w, frame);
	while (w->size < size) {
		put_entry(frame, TEST_BOOT_TB + 1000 + w->nr * 37, w->nr);
		write_frame(w, frame);
		w->nr++;
	}
	return 0;
}

/* Decode [@from, @to) in pieces; count entries and check that they are in a row. */
static bool read_stream(const struct written *w, struct powerpc_vpadtl_decoder *d, size_t from,
			size_t to, size_t piece, unsigned int *nr, unsigned int *errors)
{
	enum powerpc_vpadtl_item item;
	u64 next = 0;
	bool any = false;

	*nr = *errors = 0;
	while (from < to) {
		size_t size = min(piece, to - from);

		powerpc_vpadtl_decoder__feed(d, w->data + from, size, from);
		while ((item = powerpc_vpadtl_decoder__next(d)) != POWERPC_VPADTL_END) {
			if (item == POWERPC_VPADTL_ERROR)
				++*errors;
			if (item != POWERPC_VPADTL_ENTRY)
				continue;
			if (any && entry_nr(d->frame) != next)
				return false;
			next = entry_nr(d->frame) + 1;
			any = true;
			++*nr;
		}
		from += size;
	}
	powerpc_vpadtl_decoder__finish(d);
	while (powerpc_vpadtl_decoder__next(d) != POWERPC_VPADTL_END)
		++*errors;
	/* All to the last */
	return !any || next == w->nr;
}

static int test__vpadtl_laps(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct powerpc_vpadtl_decoder d;
	unsigned int nr, errors;
	struct written w;
	size_t lap, from;
	bool good = true;

	for (lap = 4096; lap <= 2 * 1024 * 1024 && good; lap *= 2) {
		/* Sizes that a poll can have: up to 85 frames, and more as perf reads them */
		const size_t pieces[] = { FRAME, 85 * FRAME, 1000 * FRAME, lap / FRAME * FRAME };
		unsigned int i;

		for (i = 0; i < ARRAY_SIZE(pieces) && good; i++) {
			bool big_endian = i & 1;

			TEST_ASSERT_VAL("memory", !write_stream(&w, lap, 5 * lap / 2, big_endian));

			/* In one piece, which no AUX area of this size gave, too */
			powerpc_vpadtl_decoder__init(&d, big_endian);
			good = read_stream(&w, &d, 0, w.size, i ? pieces[i] : w.size, &nr, &errors);
			good = good && nr == w.nr && !errors;
			if (!good)
				pr_debug("lap %zu, pieces of %zu: %u of %u entries, %u errors\n",
					 lap, pieces[i], nr, w.nr, errors);

			/* Without its beginning, from any lap on and any place in it */
			for (from = lap / 2; from < 2 * lap && good; from += lap / 2 + lap / 8) {
				size_t start = from - from % lap % FRAME;
				size_t gone = (start / lap) * (lap / FRAME) +
					      start % lap / FRAME - 1;

				powerpc_vpadtl_decoder__init(&d, big_endian);
				powerpc_vpadtl_clock__init(&d.clock, TEST_BOOT_TB, TEST_TB_FREQ);
				good = read_stream(&w, &d, start, w.size, 100 * FRAME, &nr,
						   &errors);
				good = good && nr == w.nr - gone && !errors;
				if (!good)
					pr_debug("lap %zu, from %zu: %u entries, not %zu, %u errors\n",
						 lap, start, nr, w.nr - gone, errors);
			}
			free(w.data);
		}
	}
	return good ? TEST_OK : TEST_FAIL;
}

/* Pieces that end anywhere in a frame give the same as whole frames. */
static int test__vpadtl_pieces(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const size_t laps[] = { 0, 4096, 8192 };
	struct powerpc_vpadtl_decoder d;
	unsigned int i, nr, errors;
	struct written w;
	bool good = true;
	size_t piece;

	for (i = 0; i < ARRAY_SIZE(laps); i++) {
		TEST_ASSERT_VAL("memory", !write_stream(&w, laps[i], 20000, false));

		for (piece = 1; piece <= 200 && good; piece++) {
			powerpc_vpadtl_decoder__init(&d, false);
			good = read_stream(&w, &d, 0, w.size, piece, &nr, &errors);
			good = good && nr == w.nr && !errors;
			if (!good)
				pr_debug("lap %zu, pieces of %zu: %u of %u entries, %u errors\n",
					 laps[i], piece, nr, w.nr, errors);
		}
		free(w.data);
	}
	return good ? TEST_OK : TEST_FAIL;
}

/* Whatever the bytes are: it ends, and says no more than there can be. */
static int test__vpadtl_damage(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct powerpc_vpadtl_decoder d;
	u64 random = 88172645463325252ULL;
	unsigned int round;
	struct written w;

	for (round = 0; round < 2000; round++) {
		unsigned int i, items = 0, most;
		size_t size;
		u8 *copy;

		TEST_ASSERT_VAL("memory", !write_stream(&w, round & 1 ? 4096 : 0, 9000, false));
		for (i = 0; i < 20; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			w.data[random % w.size] = i & 1 ? 0 : random >> 56;
		}

		/* In memory of its own, so that a sanitizer sees a byte too far */
		size = w.size - random % 100;
		copy = memdup(w.data, size);
		TEST_ASSERT_VAL("memory", copy);

		powerpc_vpadtl_decoder__init(&d, false);
		powerpc_vpadtl_decoder__feed(&d, copy, size, random >> 20);
		most = size / FRAME + 3;
		while (powerpc_vpadtl_decoder__next(&d) != POWERPC_VPADTL_END) {
			if (items++ > most)
				break;
		}
		free(copy);
		free(w.data);
		TEST_ASSERT_VAL("an end", items <= most);
	}
	return TEST_OK;
}

static struct test_case vpadtl_decoder_tests[] = {
	TEST_CASE("Fields and names", vpadtl_fields),
	TEST_CASE("Text", vpadtl_text),
	TEST_CASE("Known times", vpadtl_known_times),
	TEST_CASE("Times against 128-bit arithmetic", vpadtl_times),
	TEST_CASE("Streams and errors", vpadtl_streams),
	TEST_CASE("AUX laps", vpadtl_laps),
	TEST_CASE("Pieces of frames", vpadtl_pieces),
	TEST_CASE("Damage", vpadtl_damage),
	{ .name = NULL, }
};

struct test_suite suite__vpadtl_decoder = {
	.desc = "PowerPC dispatch trace log decoder",
	.test_cases = vpadtl_decoder_tests,
};

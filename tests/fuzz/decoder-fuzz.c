// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes into the pure vpa_dtl decoder.
 *
 * The first bytes of an input say how it is fed: byte order, layout, clock, and
 * the pieces that it is cut into, with jumps of the stream offset.  Beside what
 * the sanitizers see, these hold for every input:
 *
 * - the decoder stops: at most one call a frame and a few for each piece;
 * - no byte is told of twice: entries, headers and errors together are no longer
 *   than what was fed;
 * - where frames are contiguous, none is passed over in silence: they are exactly
 *   as long, and cutting the stream into other pieces changes no entry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#include "powerpc-vpadtl-decoder.h"

#define CONTROL_SIZE	8
#define PIECES_MAX	64

struct control {
	__u8 flags;
	__u8 jumps;		/* a piece in so many jumps, 0: none */
	__u8 piece_log2;	/* size of the pieces */
	__u8 freq_log2;
	__u32 seed;
};

enum {
	BIG_ENDIAN_KERNEL = 1,
	CONTIGUOUS = 2,
	PRESET_CLOCK = 4,
	TAKE_PLAIN = 8,
};

struct totals {
	u64 fed, told, entries, hash;
};

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "decoder-fuzz: %s\n", what);
	abort();
}

static u32 next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void mix(u64 *hash, u64 v)
{
	*hash = (*hash ^ v) * 0x100000001b3ULL;
}

static void count_entry(const u8 *frame, u64 time, struct totals *t)
{
	struct powerpc_vpadtl_entry e;
	char text[POWERPC_VPADTL_TEXT_MAX];

	powerpc_vpadtl_entry__read(&e, frame);
	check(e.timebase != 0, "an entry with timebase 0");
	check(powerpc_vpadtl_entry__text(&e, text) < (int)sizeof(text), "the text is too long");
	mix(&t->hash, e.timebase);
	mix(&t->hash, e.srr0);
	mix(&t->hash, time);
	t->entries++;
	t->told += POWERPC_VPADTL_FRAME_SIZE;
}

/* As perf does, who knows the limit of its window */
static void take_plain(struct powerpc_vpadtl_decoder *d, size_t limit, struct totals *t)
{
	const u8 *frame;
	size_t nr = powerpc_vpadtl_decoder__plain(d, &frame), i;
	u64 time = 0;

	for (i = 0; i < nr && i < limit; i++, frame += POWERPC_VPADTL_FRAME_SIZE) {
		if (!powerpc_vpadtl_clock__entry_time(&d->clock, frame, &time))
			break;
		count_entry(frame, time, t);
	}
	if (i)
		powerpc_vpadtl_decoder__take(d, i, time);
}

static void count(struct powerpc_vpadtl_decoder *d, enum powerpc_vpadtl_item item,
		  struct totals *t)
{
	switch (item) {
	case POWERPC_VPADTL_ENTRY:
		count_entry(d->frame, d->time, t);
		break;
	case POWERPC_VPADTL_HEADER:
		check(d->clock.tb_freq != 0, "a clock of frequency 0");
		t->told += POWERPC_VPADTL_FRAME_SIZE;
		break;
	case POWERPC_VPADTL_ERROR:
		check(strlen(powerpc_vpadtl__strerror(d->error)) < 64,
		      "the text of an error is too long");
		check(d->error_size != 0, "an error about no bytes");
		if (d->error != POWERPC_VPADTL_ERR_LOST &&
		    d->error != POWERPC_VPADTL_ERR_BACK)
			t->told += d->error_size;
		break;
	case POWERPC_VPADTL_END:
		break;
	}
}

static void drain(struct powerpc_vpadtl_decoder *d, const struct control *c, size_t size,
		  struct totals *t)
{
	size_t limit = size / POWERPC_VPADTL_FRAME_SIZE + 8;
	enum powerpc_vpadtl_item item;

	while ((item = powerpc_vpadtl_decoder__next(d)) != POWERPC_VPADTL_END) {
		check(limit-- != 0, "no end of calls");
		count(d, item, t);
		if (c->flags & TAKE_PLAIN)
			take_plain(d, c->seed % 5, t);
	}
}

static struct totals run(const struct control *c, const u8 *data, size_t size,
			 unsigned int piece_max, int jumps)
{
	struct powerpc_vpadtl_decoder d;
	struct totals t = { .fed = size };
	u32 rng = c->seed;
	u64 offset = 0;

	powerpc_vpadtl_decoder__init(&d, c->flags & BIG_ENDIAN_KERNEL);
	d.contiguous = c->flags & CONTIGUOUS;
	if (c->flags & PRESET_CLOCK)
		powerpc_vpadtl_clock__init(&d.clock, rng, 1ULL << c->freq_log2 % 64);

	while (size) {
		size_t n = 1 + next_random(&rng) % piece_max;
		u8 *piece;

		if (n > size)
			n = size;
		if (jumps && next_random(&rng) % jumps == 0)
			offset += (s64)(next_random(&rng) % 0x4000) - 0x1000;

		/* Of its own, so that the sanitizers see its end */
		piece = malloc(n);
		memcpy(piece, data, n);
		powerpc_vpadtl_decoder__feed(&d, piece, n, offset);
		drain(&d, c, n, &t);
		free(piece);

		data += n;
		size -= n;
		offset += n;
	}
	powerpc_vpadtl_decoder__finish(&d);
	drain(&d, c, 0, &t);
	return t;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct control c;
	struct totals cut, whole;

	_Static_assert(sizeof(c) == CONTROL_SIZE, "struct control is read from the input");
	if (size < CONTROL_SIZE)
		return 0;
	memcpy(&c, data, CONTROL_SIZE);
	data += CONTROL_SIZE;
	size -= CONTROL_SIZE;

	cut = run(&c, data, size, 1u << c.piece_log2 % 13, c.jumps);
	check(cut.told <= cut.fed, "more was told of than was fed");
	if (!(c.flags & CONTIGUOUS))
		return 0;

	check(cut.told == cut.fed, "bytes were passed over in silence");
	if (c.jumps)
		return 0;
	whole = run(&c, data, size, 1u << 20, 0);
	check(cut.entries == whole.entries && cut.hash == whole.hash,
	      "the pieces change the entries");
	return 0;
}

#ifdef REPLAY
int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		u8 *data = NULL;
		size_t size = 0, n;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		do {
			data = realloc(data, size + 65536);
			check(data != NULL, "no memory");
			n = fread(data + size, 1, 65536, f);
			size += n;
		} while (n);
		fclose(f);
		fprintf(stderr, "%s\n", argv[i]);
		LLVMFuzzerTestOneInput(data, size);
		free(data);
	}
	printf("%d inputs\n", argc - 1);
	return argc > 1 ? 0 : 1;
}
#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Damage to a finished file, from a seed: what disks, networks and enemies do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "dtlgen.h"

#define AUXTRACE_RECORD_SIZE	48

/* Types of records, include/uapi/linux/perf_event.h and tools/lib/perf */
#define PERF_RECORD_LOST		2
#define PERF_RECORD_SWITCH_CPU_WIDE	15
#define PERF_RECORD_FINISHED_ROUND	68
#define PERF_RECORD_AUXTRACE		71
#define PERF_RECORD_FINISHED_INIT	82
#define NR_TYPES			128

#define PIPE_HEADER_SIZE		16

struct victim {
	const struct spec *s;
	const struct written *w;
	u8 *p;
	u64 size;
	u64 end;	/* of the file afterwards */
	u64 rng;
};

static u64 below(struct victim *v, u64 n)
{
	return n ? rng_next(&v->rng) % n : 0;
}

static void put(struct victim *v, u64 at, u64 value, int bytes)
{
	int i;

	for (i = 0; i < bytes; i++)
		if (at + i < v->size)
			v->p[at + (v->s->big ? bytes - 1 - i : i)] = value >> (8 * i);
}

static u64 get(struct victim *v, u64 at, int bytes)
{
	u64 value = 0;
	int i;

	for (i = 0; i < bytes && at + i < v->size; i++)
		value |= (u64)v->p[at + (v->s->big ? bytes - 1 - i : i)] << (8 * i);
	return value;
}

/* One AUXTRACE record of the file, 0 if there is none */
static u64 some_auxtrace(struct victim *v)
{
	return v->w->nr_auxtrace ? v->w->auxtrace[below(v, v->w->nr_auxtrace)] : 0;
}

static void flip_bit(struct victim *v, u64 from, u64 size)
{
	u64 bit = below(v, size * 8);

	if (size)
		v->p[from + bit / 8] ^= 1 << bit % 8;
}

static void flip_any(struct victim *v)
{
	flip_bit(v, 0, v->size);
}

static void flip_head(struct victim *v)
{
	flip_bit(v, 0, v->w->data_offset + 512 < v->size ?
		       v->w->data_offset + 512 : v->size);
}

static void flip_aux(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		flip_bit(v, at + AUXTRACE_RECORD_SIZE, get(v, at + 8, 8));
}

static void flip_auxtrace(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		flip_bit(v, at, AUXTRACE_RECORD_SIZE);
}

static void wrong_aux_size(struct victim *v)
{
	static const u64 sizes[] = { 0, 1, 47, 49, 1ULL << 31, 1ULL << 63, -1ULL };
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 8, sizes[below(v, 7)], 8);
}

static void wrong_aux_offset(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 16, rng_next(&v->rng) >> below(v, 64), 8);
}

static void wrong_aux_cpu(struct victim *v)
{
	static const u32 cpus[] = { -1U, 0x7fffffff, 4096, 100000, 0x80000000 };
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 40, cpus[below(v, 5)], 4);
}

/* A record becomes that of another CPU, or of another's queue: of 0 and 1, say. */
static void other_cpu(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 40, get(v, at + 40, 4) ^ 1, 4);
}

static void other_idx(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 32, get(v, at + 32, 4) ^ 1, 4);
}

static void no_cpu(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 40, get(v, at + 40, 4) ^ 1024, 4);
}

/* The size of all records and their data, in the file's header */
static void wrong_data_size(struct victim *v)
{
	const u64 sizes[] = {
		-1ULL, -200ULL, -v->w->data_offset + 8, 1ULL << 63, v->w->data_size + 1, 1,
	};

	put(v, 48, sizes[below(v, ARRAY_SIZE(sizes))], 8);
}

static void wrong_aux_idx(struct victim *v)
{
	static const u32 idx[] = { -1U, 0x7fffffff, 4096, 1000000 };
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 32, idx[below(v, 4)], 4);
}

/* Where a frame lies, 0: there is none */
static u64 some_frame(struct victim *v)
{
	u64 at = some_auxtrace(v), n;

	if (!at)
		return 0;
	n = get(v, at + 8, 8) / FRAME_SIZE;
	if (!n)
		return 0;
	return at + AUXTRACE_RECORD_SIZE + below(v, n) * FRAME_SIZE;
}

static void frame_header(struct victim *v)
{
	u64 at = some_frame(v);

	if (at)
		put(v, at + 16, 0, 8);
}

static void frame_zero(struct victim *v)
{
	u64 at = some_frame(v);

	if (at)
		memset(v->p + at, 0, FRAME_SIZE);
}

static void frame_ahead(struct victim *v)
{
	u64 at = some_frame(v);

	if (at)
		v->p[at + 17] ^= 1;	/* its bit 48: big-endian */
}

static void info_short(struct victim *v)
{
	put(v, v->w->info_offset + 6, 8 * below(v, 6), 2);
}

static void info_type(struct victim *v)
{
	put(v, v->w->info_offset + 8, rng_next(&v->rng) >> 32, 4);
}

static void wrong_index(struct victim *v)
{
	if (!v->w->index_offset)
		return;
	put(v, v->w->index_offset + 8 * below(v, 1 + 2 * v->w->nr_auxtrace),
	    rng_next(&v->rng) >> below(v, 64), 8);
}

/* The index ends early: what it does not list is still in the file. */
static void short_index(struct victim *v)
{
	if (v->w->index_offset)
		put(v, v->w->index_offset, below(v, v->w->nr_auxtrace), 8);
}

/* An entry of the index is another's, so one record is listed twice and one is not. */
static void double_index(struct victim *v)
{
	u64 from, to, n = v->w->nr_auxtrace;

	if (!v->w->index_offset || n < 2)
		return;
	from = below(v, n);
	to = (from + 1 + below(v, n - 1)) % n;
	memcpy(v->p + v->w->index_offset + 8 + 16 * to,
	       v->p + v->w->index_offset + 8 + 16 * from, 16);
}

/* The record after that at @at, 0 if that is the last */
static u64 next_record(struct victim *v, u64 at)
{
	u64 next = at + get(v, at + 6, 2);

	if (get(v, at, 4) == PERF_RECORD_AUXTRACE)
		next += get(v, at + 8, 8);
	return next <= at || next >= v->w->data_offset + v->w->data_size ? 0 : next;
}

/* The length of a record: walk a random way into the data to find one. */
static void wrong_length(struct victim *v)
{
	u64 at = v->w->data_offset, next;
	u64 steps = below(v, 200);

	while (steps--) {
		next = next_record(v, at);
		if (!next)
			break;
		at = next;
	}
	put(v, at + 6, rng_next(&v->rng) >> below(v, 16), 2);
}

/* One record of that type in the file, 0 if there is none */
static u64 some_record(struct victim *v, u32 type)
{
	u64 at, n = 0;

	for (at = v->w->data_offset; at; at = next_record(v, at))
		n += get(v, at, 4) == type;
	if (!n)
		return 0;
	n = below(v, n);
	for (at = v->w->data_offset; at; at = next_record(v, at)) {
		if (get(v, at, 4) == type && !n--)
			return at;
	}
	return 0;
}

static u64 some_switch(struct victim *v)
{
	return some_record(v, PERF_RECORD_SWITCH_CPU_WIDE);
}

/* Behind a record are its task, time, id, CPU and identifier, in that order. */
static void wrong_id(struct victim *v)
{
	u64 at = some_switch(v), end = at + get(v, at + 6, 2);

	if (at)
		put(v, end - 8, get(v, end - 8, 8) ^ 1 << 16, 8);
}

static void wrong_time(struct victim *v)
{
	u64 at = some_switch(v), end = at + get(v, at + 6, 2);

	if (at)
		put(v, end - 24, get(v, end - 24, 8) ^ 1ULL << 40, 8);
}

/* A record reaches to the start of a later one. */
static void swallow_records(struct victim *v, u64 at)
{
	u64 next, end = 0;

	if (!at)
		return;
	for (next = next_record(v, at); next && next - at < 1 << 16; next = next_record(v, next))
		end = next;
	if (end)
		put(v, at + 6, end - at, 2);
}

static void swallow_by_switch(struct victim *v)
{
	swallow_records(v, some_switch(v));
}

static void swallow_by_round(struct victim *v)
{
	swallow_records(v, some_record(v, PERF_RECORD_FINISHED_ROUND));
}

/* Two switches are lost: a record tells so instead, and one that says nothing. */
static void lost_switches(struct victim *v)
{
	u64 at = some_switch(v), size, next, i;

	if (!at)
		return;
	size = get(v, at + 6, 2);
	next = at + size;
	if (get(v, next, 4) != PERF_RECORD_SWITCH_CPU_WIDE)
		return;
	/* What is behind the second goes behind the loss, which has 8 bytes more */
	for (i = 0; i < size - 16; i++)
		v->p[at + 24 + i] = v->p[next + 16 + i];
	put(v, at, PERF_RECORD_LOST, 4);
	put(v, at + 4, 0, 2);
	put(v, at + 6, size + 8, 2);
	put(v, at + 8, get(v, at + size, 8), 8);
	put(v, at + 16, 2, 8);
	put(v, next + 8, PERF_RECORD_FINISHED_INIT, 4);
	put(v, next + 12, 0, 2);
	put(v, next + 14, size - 8, 2);
}

/* Where records begin: those of a pipe, right behind its header */
static u64 first_record(struct victim *v)
{
	return v->s->pipe ? PIPE_HEADER_SIZE : v->w->data_offset;
}

/* A record of a type that is as likely as any other in the file */
static u64 any_record(struct victim *v)
{
	u32 count[NR_TYPES] = { }, type, n = 0;
	u64 at;

	for (at = first_record(v); at; at = next_record(v, at)) {
		type = get(v, at, 4);
		n += type < NR_TYPES && !count[type]++;
	}
	if (!n)
		return 0;
	n = below(v, n);
	for (type = 0; !count[type] || n--; type++)
		;
	n = below(v, count[type]);
	for (at = first_record(v); at; at = next_record(v, at))
		if (get(v, at, 4) == type && !n--)
			return at;
	return 0;
}

/* The size of all records, in the file's header, ends between two of them. */
static void data_ends(struct victim *v)
{
	u64 at = any_record(v);

	if (!v->s->pipe && at > v->w->data_offset)
		put(v, 48, at - v->w->data_offset, 8);
}

/* Types end below 1 << 7: what is above stands for all that are unknown. */
static void wrong_type(struct victim *v)
{
	u64 at = any_record(v);

	if (at)
		put(v, at, get(v, at, 4) ^ 1 << below(v, 8), 4);
}

/* A record ends before its contents do; what is left is one that says nothing. */
static void short_record(struct victim *v)
{
	u64 at = any_record(v), size = at ? get(v, at + 6, 2) : 0, left;

	if (size < 16)
		return;
	left = 8 * (1 + below(v, size / 8 - 1));
	put(v, at + 6, size - left, 2);
	at += size - left;
	if (get(v, at - (size - left), 4) == PERF_RECORD_AUXTRACE)
		return;	/* its data follow */
	put(v, at, PERF_RECORD_FINISHED_INIT, 4);
	put(v, at + 4, 0, 2);
	put(v, at + 6, left, 2);
}

/* The length of an AUXTRACE record itself */
static void wrong_auxtrace_length(struct victim *v)
{
	static const u16 lengths[] = { 50, 56, 0x8030, 40 };
	u64 at = some_auxtrace(v);

	if (at)
		put(v, at + 6, lengths[below(v, 4)], 2);
}

/* The clock that a stream begins with: the timebase at boot, or its frequency */
static void wrong_clock(struct victim *v)
{
	u64 at = v->w->nr_auxtrace ? v->w->auxtrace[0] + AUXTRACE_RECORD_SIZE : 0;

	if (at)
		flip_bit(v, at + 8 * below(v, 2) + (v->s->big ? 4 : 2), 2);
}

static void end_before_data(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		v->end = at;
}

static void end_behind_data(struct victim *v)
{
	u64 at = some_auxtrace(v);

	if (at)
		v->end = at + AUXTRACE_RECORD_SIZE + get(v, at + 8, 8);
}

static const struct {
	const char *name;
	void (*hit)(struct victim *v);
	const char *what;
} modes[] = {
	{ "flip", flip_any, "a bit anywhere in the file" },
	{ "flip-head", flip_head, "a bit of the file's header, attributes or first records" },
	{ "flip-aux", flip_aux, "a bit of the AUX data" },
	{ "flip-auxtrace", flip_auxtrace, "a bit of an AUXTRACE record" },
	{ "aux-size", wrong_aux_size, "the size in an AUXTRACE record" },
	{ "aux-offset", wrong_aux_offset, "the stream offset in an AUXTRACE record" },
	{ "aux-cpu", wrong_aux_cpu, "the CPU in an AUXTRACE record" },
	{ "aux-idx", wrong_aux_idx, "the queue in an AUXTRACE record" },
	{ "other-cpu", other_cpu, "an AUXTRACE record is of another CPU" },
	{ "other-idx", other_idx, "an AUXTRACE record is of another's queue" },
	{ "no-cpu", no_cpu, "an AUXTRACE record is of a CPU that has no other" },
	{ "data-size", wrong_data_size, "the size of all records in the file's header" },
	{ "frame-header", frame_header, "an entry gets timebase 0, as a header has" },
	{ "frame-zero", frame_zero, "an entry is all zeros" },
	{ "frame-ahead", frame_ahead, "an entry is of a time far ahead" },
	{ "info-short", info_short, "AUXTRACE_INFO is shorter than its contents" },
	{ "info-type", info_type, "AUXTRACE_INFO is of another type" },
	{ "index", wrong_index, "the index of AUX buffers" },
	{ "index-short", short_index, "the index of AUX buffers ends early" },
	{ "index-double", double_index, "the index lists a buffer twice, another not at all" },
	{ "data-ends", data_ends, "the size of all records ends before the last" },
	{ "length", wrong_length, "the length of a record" },
	{ "short", short_record, "a record is shorter than what it holds" },
	{ "type", wrong_type, "a bit of the type of a record" },
	{ "aux-length", wrong_auxtrace_length, "the length of an AUXTRACE record" },
	{ "record-id", wrong_id, "the identifier of a context switch record" },
	{ "record-time", wrong_time, "a context switch record is of a time far ahead" },
	{ "swallow", swallow_by_switch, "a context switch record reaches to the start of a later one" },
	{ "swallow-round", swallow_by_round, "the record that ends a round does" },
	{ "lost-switches", lost_switches, "a record tells that two switches are lost" },
	{ "clock", wrong_clock, "the clock in the first header frame" },
	{ "end-before", end_before_data, "the file ends before an AUXTRACE record" },
	{ "end-behind", end_behind_data, "the file ends behind the data of an AUXTRACE record" },
	{ "truncate", NULL, "the file ends early" },
};

#define NR_MODES ARRAY_SIZE(modes)

void damage_help(FILE *f)
{
	size_t i;

	for (i = 0; i < NR_MODES; i++)
		fprintf(f, "      %-14s %s\n", modes[i].name, modes[i].what);
}

/**
 * damage_file - damage a file that write_perf_data() wrote
 * @s: its description
 * @path: its name
 * @w: what the writer told of it
 * @mode: a name of the table above, or that and ":" and how many times
 * @seed: where the damage lies follows from it
 *
 * Returns 0, or a negative error number; -EINVAL for an unknown mode.
 */
int damage_file(const struct spec *s, const char *path, const struct written *w,
		const char *mode, u64 seed)
{
	struct victim v = { .s = s, .w = w, .size = w->file_size,
			    .end = w->file_size, .rng = seed };
	size_t len = strcspn(mode, ":"), i;
	u64 times = mode[len] ? strtoull(mode + len + 1, NULL, 0) : 1;
	int fd, err = 0;

	for (i = 0; i < NR_MODES; i++)
		if (strlen(modes[i].name) == len && !memcmp(modes[i].name, mode, len))
			break;
	if (i == NR_MODES)
		return -EINVAL;
	if (!modes[i].hit)
		return truncate(path, below(&v, v.size)) ? -errno : 0;

	fd = open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	v.p = mmap(NULL, v.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (v.p == MAP_FAILED) {
		err = -errno;
	} else {
		while (times--)
			modes[i].hit(&v);
		munmap(v.p, v.size);
		if (v.end < v.size && ftruncate(fd, v.end))
			err = -errno;
	}
	close(fd);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The perf.data file: what perf record writes, in either byte order.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt,
 * include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "dtlgen.h"

enum {
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_AUX = 11,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH_CPU_WIDE = 15,
	RECORD_HEADER_ATTR = 64,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_HEADER_FEATURE = 80,
	RECORD_FINISHED_INIT = 82,
};

enum {
	MISC_KERNEL = 1,
	MISC_USER = 2,
	MISC_COMM_EXEC = 1 << 13,
	MISC_SWITCH_OUT = 1 << 13,
};

enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_IDENTIFIER = 1 << 16,
};

/* bits of struct perf_event_attr after read_format */
enum {
	ATTR_DISABLED = 0,
	ATTR_INHERIT = 1,
	ATTR_MMAP = 8,
	ATTR_COMM = 9,
	ATTR_TASK = 13,
	ATTR_SAMPLE_ID_ALL = 18,
	ATTR_EXCLUDE_GUEST = 20,
	ATTR_MMAP2 = 23,
	ATTR_COMM_EXEC = 24,
	ATTR_CONTEXT_SWITCH = 26,
};

enum {
	HEADER_HOSTNAME = 3,
	HEADER_OSRELEASE = 4,
	HEADER_VERSION = 5,
	HEADER_ARCH = 6,
	HEADER_NRCPUS = 7,
	HEADER_CMDLINE = 11,
	HEADER_EVENT_DESC = 12,
	HEADER_CPU_TOPOLOGY = 13,
	HEADER_AUXTRACE = 18,
	HEADER_LAST = 32,
};

#define AUXTRACE_TYPE_VPA_DTL	7
#define AUX_FLAG_TRUNCATED	1
#define MAGIC_FRAME		0x56504144544c0001ULL
#define INFO_CONTIGUOUS		1
#define FILE_HEADER_SIZE	104
#define THREADS_PER_CORE	8

/* The events of the file, in the order of their attributes */
enum { EV_DTL, EV_DUMMY, EV_CLOCK, NR_EVENTS };

struct event_desc {
	const char *name;
	u32 type;
	u64 config, period, sample_type, bits;
};

static const struct event_desc events[NR_EVENTS] = {
	[EV_DTL] = {
		"vpa_dtl/dtl_all/", 8, 7, 1000000,
		SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU,
		1 << ATTR_DISABLED | 1 << ATTR_INHERIT | 1 << ATTR_SAMPLE_ID_ALL,
	},
	[EV_DUMMY] = {
		"dummy:u", 1, 9, 1,
		SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU,
		1 << ATTR_INHERIT | 1 << ATTR_SAMPLE_ID_ALL | 1 << ATTR_MMAP |
		1 << ATTR_COMM | 1 << ATTR_TASK | 1 << ATTR_EXCLUDE_GUEST |
		1 << ATTR_MMAP2 | 1 << ATTR_COMM_EXEC | 1 << ATTR_CONTEXT_SWITCH,
	},
	[EV_CLOCK] = {
		"cpu-clock", 1, 0, 1000000,
		SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU |
		SAMPLE_PERIOD,
		1 << ATTR_DISABLED | 1 << ATTR_INHERIT | 1 << ATTR_SAMPLE_ID_ALL,
	},
};

/* A growing array of bytes in the file's byte order */
struct buf {
	u8 *p;
	size_t len, cap;
	bool big;
};

static void *grow(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		fprintf(stderr, "dtlgen: no memory for %zu bytes\n", size);
		exit(1);
	}
	return p;
}

static u8 *room(struct buf *b, size_t n)
{
	if (b->len + n > b->cap) {
		b->cap = (b->len + n) * 2;
		b->p = grow(b->p, b->cap);
	}
	b->len += n;
	return b->p + b->len - n;
}

static void store(u8 *p, u64 v, int size, bool big)
{
	int i;

	for (i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = v >> (8 * i);
}

static void put16(struct buf *b, u16 v)
{
	store(room(b, 2), v, 2, b->big);
}

static void put32(struct buf *b, u32 v)
{
	store(room(b, 4), v, 4, b->big);
}

static void put64(struct buf *b, u64 v)
{
	store(room(b, 8), v, 8, b->big);
}

static void put_zeros(struct buf *b, size_t n)
{
	memset(room(b, n), 0, n);
}

/* Zero-terminated, padded to a multiple of @align */
static void put_string(struct buf *b, const char *s, size_t align)
{
	size_t len = strlen(s) + 1, size = (len + align - 1) / align * align;

	memcpy(room(b, len), s, len);
	put_zeros(b, size - len);
}

/* A feature string: its padded length first */
static void put_feature_string(struct buf *b, const char *s)
{
	put32(b, (strlen(s) + 1 + 63) / 64 * 64);
	put_string(b, s, 64);
}

static size_t begin_record(struct buf *b, u32 type, u16 misc)
{
	size_t at = b->len;

	put32(b, type);
	put16(b, misc);
	put16(b, 0);
	return at;
}

static void end_record(struct buf *b, size_t at)
{
	store(b->p + at + 6, b->len - at, 2, b->big);
}

static u64 event_id(const struct spec *s, int ev, u32 cpu)
{
	return 1 + (u64)ev * s->cpus + cpu;
}

/* What sample_id_all appends to each record but samples */
static void put_sample_id(struct buf *b, const struct spec *s, int ev, u32 cpu,
			  int task, u64 time)
{
	put32(b, task_pid(cpu, task));
	put32(b, task_tid(cpu, task));
	put64(b, time);
	put32(b, cpu);
	put32(b, 0);
	put64(b, event_id(s, ev, cpu));
}

static void put_attr(struct buf *b, const struct spec *s, int ev)
{
	const struct event_desc *d = &events[ev];
	u64 set = d->bits & ~(s->no_switches ? 1ULL << ATTR_CONTEXT_SWITCH : 0);
	size_t at = b->len;
	u8 *bits;
	int i;

	put32(b, d->type);
	put32(b, s->attr_size);
	put64(b, d->config);
	put64(b, d->period);
	put64(b, d->sample_type);
	put64(b, 4);	/* read_format: PERF_FORMAT_ID */
	bits = room(b, 8);
	memset(bits, 0, 8);
	for (i = 0; i < 64; i++)
		if (set >> i & 1)
			bits[i / 8] |= b->big ? 0x80 >> i % 8 : 1 << i % 8;
	put_zeros(b, s->attr_size - (b->len - at));
}

static void put_comm(struct buf *b, const struct spec *s, u32 cpu, int task,
		     int as, u64 time)
{
	size_t at = begin_record(b, RECORD_COMM, task & 1 ? MISC_COMM_EXEC : 0);
	char comm[16];

	task_comm(cpu, task, comm, sizeof(comm));
	put32(b, task_pid(cpu, task));
	put32(b, task_tid(cpu, task));
	put_string(b, comm, 8);
	put_sample_id(b, s, EV_DUMMY, cpu, as, time);
	end_record(b, at);
}

/* RECORD_FORK or RECORD_EXIT */
static void put_task(struct buf *b, const struct spec *s, u32 type, u32 cpu, int task,
		     u64 time)
{
	size_t at = begin_record(b, type, 0);
	int pid = task_pid(cpu, task), tid = task_tid(cpu, task);

	put32(b, pid);
	put32(b, pid == tid ? 1 : pid);
	put32(b, tid);
	put32(b, pid == tid ? 1 : pid);
	put64(b, time);
	put_sample_id(b, s, EV_DUMMY, cpu, task, time);
	end_record(b, at);
}

static void put_mmap2(struct buf *b, const struct spec *s, u32 cpu, int task,
		      u64 time)
{
	size_t at = begin_record(b, RECORD_MMAP2, MISC_USER);

	put32(b, task_pid(cpu, task));
	put32(b, task_tid(cpu, task));
	put64(b, BURNER_START);
	put64(b, BURNER_LEN);
	put64(b, 0);
	put32(b, 0xfd);
	put32(b, 0);
	put64(b, 4711);
	put64(b, 0);
	put32(b, 5);	/* PROT_READ | PROT_EXEC */
	put32(b, 2);	/* MAP_PRIVATE */
	put_string(b, BURNER_DSO, 8);
	put_sample_id(b, s, EV_DUMMY, cpu, task, time);
	end_record(b, at);
}

static void put_switch(struct buf *b, const struct spec *s, u32 cpu,
		       const struct item *it)
{
	size_t at = begin_record(b, RECORD_SWITCH_CPU_WIDE,
				 it->kind == ITEM_SWITCH_OUT ? MISC_SWITCH_OUT : 0);

	put32(b, task_pid(cpu, it->other));
	put32(b, task_tid(cpu, it->other));
	put_sample_id(b, s, EV_DUMMY, cpu, it->task, it->time);
	end_record(b, at);
}

static void put_sample(struct buf *b, const struct spec *s, u32 cpu,
		       const struct item *it)
{
	size_t at = begin_record(b, RECORD_SAMPLE,
				 it->ip >> 63 ? MISC_KERNEL : MISC_USER);
	int task = it->task < 0 ? 0 : it->task;

	put64(b, event_id(s, EV_CLOCK, cpu));
	put64(b, it->ip);
	put32(b, task_pid(cpu, task));
	put32(b, task_tid(cpu, task));
	put64(b, it->time);
	put32(b, cpu);
	put32(b, 0);
	put64(b, events[EV_CLOCK].period);
	end_record(b, at);
}

static void put_lost(struct buf *b, const struct spec *s, u32 cpu,
		     const struct item *it)
{
	size_t at = begin_record(b, RECORD_LOST_SAMPLES, 0);

	put64(b, it->lost);
	put_sample_id(b, s, EV_DTL, cpu, it->task, it->time);
	end_record(b, at);
}

static void put_aux(struct buf *b, const struct spec *s, u32 cpu, u64 offset,
		    u64 size, u64 flags, int task, u64 time)
{
	size_t at = begin_record(b, RECORD_AUX, 0);

	put64(b, offset);
	put64(b, size);
	put64(b, flags);
	put_sample_id(b, s, EV_DTL, cpu, task, time);
	end_record(b, at);
}

/* Log entries are big-endian whatever the file is. */
static void put_entry(struct buf *aux, const struct entry *e)
{
	u8 *p = room(aux, FRAME_SIZE);

	p[0] = e->dispatch_reason;
	p[1] = e->preempt_reason;
	store(p + 2, e->processor_id, 2, true);
	store(p + 4, e->enqueue_to_dispatch_time, 4, true);
	store(p + 8, e->ready_to_enqueue_time, 4, true);
	store(p + 12, e->waiting_to_ready_time, 4, true);
	store(p + 16, e->timebase, 8, true);
	store(p + 24, e->fault_addr, 8, true);
	store(p + 32, e->srr0, 8, true);
	store(p + 40, e->srr1, 8, true);
}

static void put_header_frame(struct buf *aux, const struct spec *s, u64 boot_tb,
			     u64 *rng)
{
	put64(aux, boot_tb);
	put64(aux, s->freq);
	put64(aux, 0);
	if (s->layout == LAYOUT_OURS) {
		put64(aux, MAGIC_FRAME);
		put64(aux, 0);
		put64(aux, 0);
	} else {
		/* whatever was on the stack */
		put64(aux, rng_next(rng));
		put64(aux, rng_next(rng));
		put64(aux, rng_next(rng));
	}
}

/* What the writer keeps of one CPU */
struct writer_cpu {
	struct cpu_state state;
	struct item ahead;	/* read, belongs to a later round */
	bool has_ahead;
	struct buf aux;		/* AUX bytes made and not yet written */
	u64 aux_head;		/* stream offset of the end of @aux */
	u64 aux_recorded;	/* stream offset up to which AUX records tell */
	u64 nr_buffers;
};

struct writer {
	const struct spec *s;
	FILE *f;
	u64 offset;		/* in the file */
	struct written *w;
	struct writer_cpu *cpus;
	struct buf rec;
	u64 cap_auxtrace;
	u64 rng;		/* garbage in header frames */
};

static void flush(struct writer *wr, struct buf *b)
{
	fwrite(b->p, 1, b->len, wr->f);
	wr->offset += b->len;
	b->len = 0;
}

static void drop_range(struct written *w, u32 cpu, u64 from, u64 to)
{
	u32 n = w->nr_dropped[cpu]++;

	if (!(n & (n - 1)))
		w->dropped[cpu] = grow(w->dropped[cpu],
				       (n ? n * 2 : 1) * sizeof(struct dropped));
	w->dropped[cpu][n] = (struct dropped){ from, to };
}

/* One AUXTRACE record with the first @size bytes that wait, or their loss */
static void write_auxtrace(struct writer *wr, u32 cpu, size_t size)
{
	struct writer_cpu *c = &wr->cpus[cpu];
	const struct spec *s = wr->s;
	struct written *w = wr->w;
	u64 from = c->aux_head - c->aux.len;
	size_t at;

	c->nr_buffers++;
	if ((cpu < s->missing_first && c->nr_buffers == 1) ||
	    (s->hole_every && c->nr_buffers % s->hole_every == 0)) {
		drop_range(w, cpu, from, from + size);
	} else {
		if (w->nr_auxtrace == wr->cap_auxtrace) {
			wr->cap_auxtrace = wr->cap_auxtrace ? wr->cap_auxtrace * 2 : 64;
			w->auxtrace = grow(w->auxtrace,
					   wr->cap_auxtrace * sizeof(u64));
		}
		w->auxtrace[w->nr_auxtrace++] = wr->offset + wr->rec.len;
		at = begin_record(&wr->rec, RECORD_AUXTRACE, 0);
		put64(&wr->rec, size);
		put64(&wr->rec, from);
		put64(&wr->rec, 0);
		put32(&wr->rec, cpu);	/* idx */
		put32(&wr->rec, -1);	/* tid */
		put32(&wr->rec, cpu);
		put32(&wr->rec, 0);
		end_record(&wr->rec, at);
		flush(wr, &wr->rec);
		fwrite(c->aux.p, 1, size, wr->f);
		wr->offset += size;
	}
	memmove(c->aux.p, c->aux.p + size, c->aux.len - size);
	c->aux.len -= size;
}

static void add_frame(struct writer *wr, struct writer_cpu *c,
		      const struct item *it)
{
	u64 at = aux_frame_offset(wr->s, c->aux_head);

	put_zeros(&c->aux, at - c->aux_head);
	if (it->kind == ITEM_HEADER)
		put_header_frame(&c->aux, wr->s, it->boot_tb, &wr->rng);
	else
		put_entry(&c->aux, &it->e);
	c->aux_head = at + FRAME_SIZE;
}

static void add_item(struct writer *wr, u32 cpu, const struct item *it,
		     u64 *aux_flags)
{
	const struct spec *s = wr->s;
	struct writer_cpu *c = &wr->cpus[cpu];
	struct buf *b = &wr->rec;

	switch (it->kind) {
	case ITEM_HEADER:
	case ITEM_ENTRY:
		add_frame(wr, c, it);
		break;
	case ITEM_FORK:
		put_task(b, s, RECORD_FORK, cpu, it->task, it->time);
		break;
	case ITEM_EXIT:
		put_task(b, s, RECORD_EXIT, cpu, it->task, it->time);
		break;
	case ITEM_COMM:
		put_comm(b, s, cpu, it->task, it->task, it->time);
		if (it->task & 1)
			put_mmap2(b, s, cpu, it->task, it->time);
		break;
	case ITEM_SWITCH_OUT:
	case ITEM_SWITCH_IN:
		put_switch(b, s, cpu, it);
		break;
	case ITEM_SAMPLE:
		put_sample(b, s, cpu, it);
		break;
	case ITEM_LOST:
		put_lost(b, s, cpu, it);
		if (it->lost_noroom)
			*aux_flags |= AUX_FLAG_TRUNCATED;
		break;
	}
}

/* All of one CPU up to the grid point @until; true while there is more */
static bool write_cpu_round(struct writer *wr, u32 cpu, u64 until)
{
	const struct spec *s = wr->s;
	struct writer_cpu *c = &wr->cpus[cpu];
	u64 aux_flags = 0;
	bool more = true;

	for (;;) {
		if (!c->has_ahead) {
			more = cpu_next(&c->state, &c->ahead);
			if (!more)
				break;
			c->has_ahead = true;
		}
		if (c->ahead.point >= until)
			break;
		add_item(wr, cpu, &c->ahead, &aux_flags);
		c->has_ahead = false;
	}
	if (!s->no_aux_records && (c->aux_head != c->aux_recorded || aux_flags)) {
		put_aux(&wr->rec, s, cpu, c->aux_recorded,
			c->aux_head - c->aux_recorded, aux_flags, c->state.task,
			point_time(s, until - s->cpus + cpu, 12));
		c->aux_recorded = c->aux_head;
	}
	flush(wr, &wr->rec);
	while (s->cut && c->aux.len >= s->chunk)
		write_auxtrace(wr, cpu, s->chunk);
	if (c->aux.len && (!s->cut || !more))
		write_auxtrace(wr, cpu, c->aux.len);
	return more;
}

static void write_rounds(struct writer *wr)
{
	const struct spec *s = wr->s;
	u64 step = points_per_entry(s) * (s->chunk / FRAME_SIZE + 1), until = 0;
	bool more = true;
	u32 cpu;

	while (more) {
		more = false;
		until += step;
		for (cpu = 0; cpu < s->cpus; cpu++)
			more |= write_cpu_round(wr, cpu, until);
		end_record(&wr->rec,
			   begin_record(&wr->rec, RECORD_FINISHED_ROUND, 0));
		flush(wr, &wr->rec);
	}
}

/* The index from sample ids to CPUs: as many records as it takes */
static void put_id_index(struct buf *b, const struct spec *s)
{
	u64 nr = (u64)NR_EVENTS * s->cpus, i, n, at;

	for (i = 0; i < nr; i += n) {
		n = nr - i < 1024 ? nr - i : 1024;
		at = begin_record(b, RECORD_ID_INDEX, 0);
		put64(b, n);
		for (u64 j = i; j < i + n; j++) {
			put64(b, event_id(s, j / s->cpus, j % s->cpus));
			put64(b, j % s->cpus);
			put64(b, j % s->cpus);
			put64(b, -1);
		}
		end_record(b, at);
	}
}

/* What perf record synthesizes before it starts */
static void write_preamble(struct writer *wr)
{
	const struct spec *s = wr->s;
	struct buf *b = &wr->rec;
	const u64 priv[] = { vpa_dtl_pmu_type, s->boot_tb, s->freq,
			     s->layout == LAYOUT_OURS ? INFO_CONTIGUOUS : 0 };
	size_t at;
	u32 i;

	put_id_index(b, s);
	wr->w->info_offset = wr->offset + b->len;
	at = begin_record(b, RECORD_AUXTRACE_INFO, 0);
	put32(b, AUXTRACE_TYPE_VPA_DTL);
	put32(b, 0);
	for (i = 0; i < s->info; i++)
		put64(b, s->info == 1 ? 0 : priv[i]);
	end_record(b, at);

	end_record(b, begin_record(b, RECORD_FINISHED_INIT, 0));
	flush(wr, b);
}

/* Which CPUs are of one socket, which of one core, then core and socket of each */
static void put_topology(struct buf *b, const struct spec *s)
{
	char list[32];
	u32 cpu;

	put32(b, 1);
	snprintf(list, sizeof(list), s->cpus > 1 ? "0-%u" : "0", s->cpus - 1);
	put_feature_string(b, list);

	put32(b, (s->cpus + THREADS_PER_CORE - 1) / THREADS_PER_CORE);
	for (cpu = 0; cpu < s->cpus; cpu += THREADS_PER_CORE) {
		u32 last = cpu + THREADS_PER_CORE - 1;

		if (last >= s->cpus)
			last = s->cpus - 1;
		snprintf(list, sizeof(list), last > cpu ? "%u-%u" : "%u", cpu, last);
		put_feature_string(b, list);
	}
	for (cpu = 0; cpu < s->cpus; cpu++) {
		put32(b, cpu / THREADS_PER_CORE * THREADS_PER_CORE);
		put32(b, 0);
	}
}

static void put_feature(struct buf *b, const struct writer *wr, int feature)
{
	const struct spec *s = wr->s;
	u64 i;
	int ev;

	switch (feature) {
	case HEADER_HOSTNAME:
		put_feature_string(b, "dtlgen");
		break;
	case HEADER_OSRELEASE:
	case HEADER_VERSION:
		put_feature_string(b, "6.12.0");
		break;
	case HEADER_ARCH:
		put_feature_string(b, s->big ? "ppc64" : "ppc64le");
		break;
	case HEADER_NRCPUS:
		put32(b, s->cpus);
		put32(b, s->cpus);
		break;
	case HEADER_CMDLINE:
		put32(b, 1);
		put_feature_string(b, "dtlgen");
		break;
	case HEADER_EVENT_DESC:
		put32(b, NR_EVENTS);
		put32(b, s->attr_size);
		for (ev = 0; ev < NR_EVENTS; ev++) {
			put_attr(b, s, ev);
			put32(b, s->cpus);
			put_feature_string(b, events[ev].name);
			for (i = 0; i < s->cpus; i++)
				put64(b, event_id(s, ev, i));
		}
		break;
	case HEADER_CPU_TOPOLOGY:
		put_topology(b, s);
		break;
	case HEADER_AUXTRACE:
		put64(b, wr->w->nr_auxtrace);
		for (i = 0; i < wr->w->nr_auxtrace; i++) {
			put64(b, wr->w->auxtrace[i]);
			put64(b, 48);	/* size of the record without its data */
		}
		break;
	}
}

static const int features[] = {
	HEADER_HOSTNAME, HEADER_OSRELEASE, HEADER_VERSION, HEADER_ARCH,
	HEADER_NRCPUS, HEADER_CMDLINE, HEADER_EVENT_DESC, HEADER_CPU_TOPOLOGY,
	HEADER_AUXTRACE,
};

#define NR_FEATURES ARRAY_SIZE(features)

static void write_features(struct writer *wr, u64 *bitmap)
{
	const struct spec *s = wr->s;
	struct buf body = { .big = s->big };
	u64 size[NR_FEATURES], pos;
	size_t i, n = 0;

	*bitmap = 0;
	for (i = 0; i < NR_FEATURES; i++) {
		size_t before = body.len;

		if (features[i] == HEADER_AUXTRACE && s->no_index)
			continue;
		put_feature(&body, wr, features[i]);
		size[n++] = body.len - before;
		*bitmap |= 1ULL << features[i];
	}
	pos = wr->offset + n * 16;
	for (i = 0; i < n; i++) {
		put64(&wr->rec, pos);
		put64(&wr->rec, size[i]);
		pos += size[i];
	}
	if (!s->no_index)
		wr->w->index_offset = pos - size[n - 1];
	flush(wr, &wr->rec);
	flush(wr, &body);
	free(body.p);
}

static void put_file_header(struct buf *b, const struct spec *s,
			    const struct written *w, u64 attrs_offset,
			    u64 features_bitmap)
{
	put64(b, 0x32454c4946524550ULL);	/* "PERFILE2" */
	put64(b, FILE_HEADER_SIZE);
	put64(b, s->attr_size + 16);
	put64(b, attrs_offset);
	put64(b, NR_EVENTS * (s->attr_size + 16));
	put64(b, w->data_offset);
	put64(b, w->data_size);
	put64(b, 0);	/* event_types */
	put64(b, 0);
	put64(b, features_bitmap);
	put_zeros(b, 24);
}

/* Everything before the data: the header's sizes are filled in at the end. */
static u64 write_file_start(struct writer *wr)
{
	const struct spec *s = wr->s;
	struct buf *b = &wr->rec;
	u64 ids, attrs;
	int ev;
	u32 i;

	put_zeros(b, FILE_HEADER_SIZE);
	ids = b->len;
	for (ev = 0; ev < NR_EVENTS; ev++)
		for (i = 0; i < s->cpus; i++)
			put64(b, event_id(s, ev, i));
	attrs = b->len;
	for (ev = 0; ev < NR_EVENTS; ev++) {
		put_attr(b, s, ev);
		put64(b, ids + ev * s->cpus * 8);
		put64(b, s->cpus * 8);
	}
	flush(wr, b);
	return attrs;
}

/* A pipe has its header as records, for there is no way back. */
static void write_pipe_start(struct writer *wr)
{
	const struct spec *s = wr->s;
	struct buf *b = &wr->rec;
	size_t at, i;
	int ev;
	u32 cpu;

	put64(b, 0x32454c4946524550ULL);
	put64(b, 16);
	for (ev = 0; ev < NR_EVENTS; ev++) {
		at = begin_record(b, RECORD_HEADER_ATTR, 0);
		put_attr(b, s, ev);
		for (cpu = 0; cpu < s->cpus; cpu++)
			put64(b, event_id(s, ev, cpu));
		end_record(b, at);
	}
	for (i = 0; i < NR_FEATURES; i++) {
		if (features[i] == HEADER_AUXTRACE)
			continue;
		at = begin_record(b, RECORD_HEADER_FEATURE, 0);
		put64(b, features[i]);
		put_feature(b, wr, features[i]);
		end_record(b, at);
	}
	at = begin_record(b, RECORD_HEADER_FEATURE, 0);
	put64(b, HEADER_LAST);
	end_record(b, at);
	flush(wr, b);
}

/**
 * write_perf_data - write the file that @s describes
 * @s: the description, checked
 * @path: name of the file, overwritten
 * @w: what the oracle and damage need to know of it
 *
 * Returns 0, or a negative error number.
 */
int write_perf_data(const struct spec *s, const char *path, struct written *w)
{
	struct writer wr = { .s = s, .w = w, .rec.big = s->big,
			     .rng = s->seed ^ 0x6a7262676521ULL };
	u64 attrs = 0, bitmap = 0;
	u32 cpu;
	int err = 0;

	wr.f = fopen(path, "w");
	if (!wr.f)
		return -errno;
	setvbuf(wr.f, NULL, _IOFBF, 1 << 20);
	wr.cpus = calloc(s->cpus, sizeof(*wr.cpus));
	if (!wr.cpus)
		return -ENOMEM;
	for (cpu = 0; cpu < s->cpus; cpu++) {
		cpu_init(&wr.cpus[cpu].state, s, cpu);
		wr.cpus[cpu].aux.big = s->big;
	}

	if (s->pipe)
		write_pipe_start(&wr);
	else
		attrs = write_file_start(&wr);
	w->data_offset = wr.offset;
	write_preamble(&wr);
	write_rounds(&wr);
	w->data_size = wr.offset - w->data_offset;
	if (!s->pipe) {
		write_features(&wr, &bitmap);
		put_file_header(&wr.rec, s, w, attrs, bitmap);
		if (fseek(wr.f, 0, SEEK_SET))
			err = -errno;
		fwrite(wr.rec.p, 1, wr.rec.len, wr.f);
	}
	w->file_size = wr.offset;
	if (ferror(wr.f) | fclose(wr.f))
		err = -EIO;

	for (cpu = 0; cpu < s->cpus; cpu++)
		free(wr.cpus[cpu].aux.p);
	free(wr.cpus);
	free(wr.rec.p);
	return err;
}

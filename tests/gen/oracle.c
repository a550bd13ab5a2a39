// SPDX-License-Identifier: GPL-2.0
/*
 * The true contents of a file: what perf must show of it.
 *
 * Two sequences of each CPU are read beside each other: the log entries that
 * reached the file, and the ordinary records.  Everything comes in the order of
 * its time, entries of the log that stand a bit too late in it too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "dtlgen.h"

struct task_sums {
	u64 entries, stolen, waiting;
};

/* What is known of one CPU at the end */
struct ledger {
	u64 entries, missing, undatable, lost, lost_records, headers, backward;
	u64 stolen, ready, enqueue, waiting;
	u64 first_ns, last_ns;
	struct entry first, last;
	struct task_sums task[MAX_TASKS + 1];	/* [0]: unknown */
	u64 dispatch[256], preempt[256];
};

#define AHEAD	512	/* entries among which those of one CPU are sorted */

struct timed_entry {
	u64 time;
	struct entry e;
};

/* One of the two sequences of a CPU */
struct source {
	u32 cpu;
	struct cpu_state state;
	struct item item;	/* records: the next one */
	struct entry entry;	/* entries: the next one */
	u64 time;		/* its time, the key of the heap */
	struct timed_entry *ahead;	/* entries in order, in a row ... */
	u32 first, end;			/* ... from this one up to that */
	u64 aux_head;
	u32 next_dropped;
	u64 last_read;		/* time of the entry read last */
	bool has_clock;		/* boot_tb is known from what is in the file */
	u64 boot_tb;
};

struct heap {
	struct source **v;
	u32 nr;
};

struct oracle {
	const struct spec *s;
	const struct written *w;
	FILE *script;
	struct ledger *ledgers;
	int *current;		/* task by CPU, -1: not known */
	u32 *known;		/* by CPU: a bit a task whose COMM went by */
	struct heap entries, records;
};

static const char * const dispatch_names[] = {
	"external_interrupt", "firmware_internal_event", "H_PROD",
	"decrementer_interrupt", "system_reset", "firmware_internal_event",
	"conferred_cycles", "time_slice", "virtual_memory_page_fault",
	"expropriated_adjunct", "priv_doorbell",
};

static const char * const preempt_names[] = {
	"unused", "firmware_internal_event", "H_CEDE", "H_CONFER", "time_slice",
	"migration_hibernation_page_fault", "virtual_memory_page_fault",
	"H_CONFER_ADJUNCT", "hcall_adjunct", "HDEC_adjunct",
};

#define NAME_WIDTH	16	/* of "vpa_dtl/dtl_all/", the longest event name */

static void print_reason(FILE *f, const char * const *names, size_t nr, u8 code)
{
	if (code < nr)
		fputs(names[code], f);
	else
		fprintf(f, "unknown(%u)", code);
}

static void print_start(struct oracle *o, u32 cpu, int task, u64 time)
{
	char comm[32];

	if (task > 0 && !(o->known[cpu] & 1u << task))
		snprintf(comm, sizeof(comm), ":%d", task_tid(cpu, task));
	else
		task_comm(cpu, task, comm, sizeof(comm));
	fprintf(o->script, "%16s %7d [%03u] %5" PRIu64 ".%09" PRIu64 ": ", comm,
		task_tid(cpu, task), cpu, time / NSEC_PER_SEC, time % NSEC_PER_SEC);
}

/* The only mapping is that of the burners, and nothing has symbols. */
static void print_ip(struct oracle *o, u32 cpu, int task, u64 ip, bool user)
{
	bool mapped = user && task > 0 && ip >= BURNER_START &&
		      ip < BURNER_START + BURNER_LEN;

	fprintf(o->script, " %16" PRIx64 " [unknown] (%s)\n", ip,
		mapped ? BURNER_DSO : "[unknown]");
}

static void print_entry(struct oracle *o, u32 cpu, const struct entry *e, u64 ns)
{
	int task = o->current[cpu];

	print_start(o, cpu, task, ns);
	fprintf(o->script, "%*s:  timebase: %" PRIu64 " dispatch_reason:",
		NAME_WIDTH, "vpa-dtl", e->timebase);
	print_reason(o->script, dispatch_names,
		     ARRAY_SIZE(dispatch_names),
		     e->dispatch_reason);
	fputs(", preempt_reason:", o->script);
	print_reason(o->script, preempt_names,
		     ARRAY_SIZE(preempt_names),
		     e->preempt_reason);
	fprintf(o->script, ", enqueue_to_dispatch_time:%u, ready_to_enqueue_time:%u, waiting_to_ready_time:%u, processor_id: %u",
		e->enqueue_to_dispatch_time, e->ready_to_enqueue_time,
		e->waiting_to_ready_time, e->processor_id);
	print_ip(o, cpu, task, e->srr0, e->srr1 & MSR_PR);
}

static void print_sample(struct oracle *o, u32 cpu, const struct item *it, int task)
{
	print_start(o, cpu, task, it->time);
	fprintf(o->script, "%10u %*s: ", 1000000, NAME_WIDTH, "cpu-clock");
	print_ip(o, cpu, task, it->ip, !(it->ip >> 63));
}

static void do_entry(struct oracle *o, const struct source *src)
{
	const struct entry *e = &src->entry;
	struct ledger *l = &o->ledgers[src->cpu];
	u64 stolen = (u64)e->ready_to_enqueue_time + e->enqueue_to_dispatch_time;
	struct task_sums *t = &l->task[o->current[src->cpu] + 1];

	if (!l->entries++) {
		l->first = *e;
		l->first_ns = src->time;
	}
	l->last = *e;
	l->last_ns = src->time;
	l->stolen += stolen;
	l->ready += e->ready_to_enqueue_time;
	l->enqueue += e->enqueue_to_dispatch_time;
	l->waiting += e->waiting_to_ready_time;
	l->dispatch[e->dispatch_reason]++;
	l->preempt[e->preempt_reason]++;
	t->entries++;
	t->stolen += stolen;
	t->waiting += e->waiting_to_ready_time;
	if (o->script)
		print_entry(o, src->cpu, e, src->time);
}

static void do_record(struct oracle *o, const struct source *src)
{
	const struct item *it = &src->item;
	u32 cpu = src->cpu;
	int task;

	switch (it->kind) {
	case ITEM_COMM:
		o->known[cpu] |= 1u << it->task;
		break;
	case ITEM_SWITCH_OUT:
		o->current[cpu] = it->other;
		break;
	case ITEM_SWITCH_IN:
		o->current[cpu] = it->task;
		break;
	case ITEM_LOST:
		o->ledgers[cpu].lost += it->lost;
		o->ledgers[cpu].lost_records++;
		break;
	case ITEM_SAMPLE:
		/* It tells of the running task, until the switch that would be seen. */
		task = it->task < 0 ? 0 : it->task;
		if (!o->s->no_switches)
			o->current[cpu] = task;
		if (o->script)
			print_sample(o, cpu, it, task);
		break;
	default:
		break;
	}
}

/* Are these bytes of the CPU's stream all in the file? */
static bool in_file(const struct written *w, struct source *src, u64 from, u64 to)
{
	const struct dropped *d = w->dropped[src->cpu];
	u32 nr = w->nr_dropped[src->cpu];

	while (src->next_dropped < nr && d[src->next_dropped].to <= from)
		src->next_dropped++;
	return src->next_dropped == nr || d[src->next_dropped].from >= to;
}

/* Reads the next log entry that is in the file and can be dated */
static bool read_entry(struct oracle *o, struct source *src,
		       struct timed_entry *t)
{
	struct ledger *l = &o->ledgers[src->cpu];

	while (cpu_next(&src->state, &src->item)) {
		bool entry = src->item.kind == ITEM_ENTRY;
		u64 at;

		if (!entry && src->item.kind != ITEM_HEADER)
			continue;
		at = aux_frame_offset(o->s, src->aux_head);
		src->aux_head = at + FRAME_SIZE;
		if (!in_file(o->w, src, at, at + FRAME_SIZE)) {
			l->missing += entry;
			continue;
		}
		if (!entry) {
			l->headers++;
			src->has_clock = o->s->freq;
			src->boot_tb = src->item.boot_tb;
			continue;
		}
		if (!src->has_clock || src->item.e.timebase < src->boot_tb) {
			l->undatable++;
			continue;
		}
		t->e = src->item.e;
		t->time = tb_to_ns(t->e.timebase - src->boot_tb, o->s->freq);
		l->backward += t->time < src->last_read;
		src->last_read = t->time;
		return true;
	}
	return false;
}

/* Moves on to the earliest of the entries ahead */
static bool next_entry(struct oracle *o, struct source *src)
{
	struct timed_entry t, *v = src->ahead;
	u32 i;

	if (!v) {
		v = malloc(2 * AHEAD * sizeof(*v));
		if (!v)
			exit(1);
		src->ahead = v;
	}
	if (src->first == AHEAD) {
		memmove(v, v + AHEAD, (src->end - AHEAD) * sizeof(*v));
		src->end -= AHEAD;
		src->first = 0;
	}
	while (src->end - src->first < AHEAD && read_entry(o, src, &t)) {
		/* Of equal times the one that was read first is the earlier. */
		for (i = src->end++; i > src->first && v[i - 1].time > t.time; i--)
			v[i] = v[i - 1];
		v[i] = t;
	}
	if (src->first == src->end) {
		free(v);
		return false;
	}
	src->entry = v[src->first].e;
	src->time = v[src->first++].time;
	return true;
}

static bool next_record(struct oracle *o, struct source *src)
{
	while (cpu_next(&src->state, &src->item)) {
		if (src->item.kind == ITEM_ENTRY || src->item.kind == ITEM_HEADER)
			continue;
		src->time = src->item.time;
		return true;
	}
	return false;
}

static bool before(const struct source *a, const struct source *b)
{
	return a->time != b->time ? a->time < b->time : a->cpu < b->cpu;
}

static void sift_down(struct heap *h, u32 i)
{
	for (;;) {
		u32 child = 2 * i + 1;
		struct source *tmp;

		if (child >= h->nr)
			return;
		if (child + 1 < h->nr && before(h->v[child + 1], h->v[child]))
			child++;
		if (!before(h->v[child], h->v[i]))
			return;
		tmp = h->v[i];
		h->v[i] = h->v[child];
		h->v[child] = tmp;
		i = child;
	}
}

typedef bool (*next_fn)(struct oracle *o, struct source *src);

/*
 * The clock is the partition's: the header frame of any CPU tells it for those
 * that have lost theirs, and so does AUXTRACE_INFO.
 */
static bool clock_in_file(const struct spec *s)
{
	return s->freq && (s->info == 4 ||
			   (!s->no_header && s->missing_first < s->cpus));
}

static int heap_init(struct heap *h, struct oracle *o, next_fn next)
{
	u32 cpu, i;

	h->v = calloc(o->s->cpus, sizeof(*h->v));
	if (!h->v)
		return -1;
	for (cpu = 0; cpu < o->s->cpus; cpu++) {
		struct source *src = calloc(1, sizeof(*src));

		if (!src)
			return -1;
		src->cpu = cpu;
		src->has_clock = clock_in_file(o->s);
		src->boot_tb = o->s->boot_tb;
		cpu_init(&src->state, o->s, cpu);
		if (next(o, src))
			h->v[h->nr++] = src;
		else
			free(src);
	}
	for (i = h->nr; i--; )
		sift_down(h, i);
	return 0;
}

static void heap_advance(struct heap *h, struct oracle *o, next_fn next)
{
	if (!next(o, h->v[0])) {
		free(h->v[0]);
		h->v[0] = h->v[--h->nr];
	}
	sift_down(h, 0);
}

static void print_codes(FILE *f, const char *name, const u64 *count)
{
	const char *sep = "";
	int i;

	fprintf(f, "\"%s\": {", name);
	for (i = 0; i < 256; i++) {
		if (count[i]) {
			fprintf(f, "%s\"%d\": %" PRIu64, sep, i, count[i]);
			sep = ", ";
		}
	}
	fputs("}", f);
}

static void print_tasks(FILE *f, u32 cpu, const struct ledger *l)
{
	const char *sep = "";
	int i;

	fputs("\"tasks\": [", f);
	for (i = 0; i <= MAX_TASKS; i++) {
		const struct task_sums *t = &l->task[i];
		char comm[32];

		if (!t->entries)
			continue;
		task_comm(cpu, i - 1, comm, sizeof(comm));
		fprintf(f, "%s{\"pid\": %d, \"tid\": %d, \"comm\": \"%s\", \"entries\": %" PRIu64
			", \"stolen_ticks\": %" PRIu64 ", \"waiting_ticks\": %" PRIu64 "}",
			sep, task_pid(cpu, i - 1), task_tid(cpu, i - 1), comm,
			t->entries, t->stolen, t->waiting);
		sep = ", ";
	}
	fputs("]", f);
}

/* Sums in ticks: they are exact, and whoever shows ns converts them. */
static void print_ledger(const struct oracle *o, FILE *f)
{
	u64 frames = 0;
	u32 cpu;

	for (cpu = 0; cpu < o->s->cpus; cpu++)
		frames += o->ledgers[cpu].headers + o->ledgers[cpu].entries +
			  o->ledgers[cpu].undatable;
	fprintf(f, "{\"tb_freq\": %" PRIu64 ", \"boot_tb\": %" PRIu64
		",\n \"frames\": %" PRIu64 ",\n \"cpus\": [\n",
		o->s->freq, o->s->boot_tb, frames);
	for (cpu = 0; cpu < o->s->cpus; cpu++) {
		const struct ledger *l = &o->ledgers[cpu];

		fprintf(f, "%s{\"cpu\": %u, \"entries\": %" PRIu64 ", \"headers\": %" PRIu64
			", \"lost\": %" PRIu64 ", \"lost_records\": %" PRIu64
			", \"missing\": %" PRIu64 ", \"undatable\": %" PRIu64
			", \"backward\": %" PRIu64
			",\n \"stolen_ticks\": %" PRIu64 ", \"ready_to_enqueue_ticks\": %" PRIu64
			", \"enqueue_to_dispatch_ticks\": %" PRIu64 ", \"waiting_ticks\": %" PRIu64,
			cpu ? ",\n" : "", cpu, l->entries, l->headers, l->lost,
			l->lost_records, l->missing, l->undatable, l->backward,
			l->stolen, l->ready, l->enqueue, l->waiting);
		if (l->entries)
			fprintf(f, ",\n \"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
				", \"first_tb\": %" PRIu64 ", \"last_tb\": %" PRIu64
				", \"first_stolen_ticks\": %" PRIu64
				", \"first_waiting_ticks\": %u",
				l->first_ns, l->last_ns, l->first.timebase,
				l->last.timebase,
				(u64)l->first.ready_to_enqueue_time +
				l->first.enqueue_to_dispatch_time,
				l->first.waiting_to_ready_time);
		fputs(",\n ", f);
		print_codes(f, "dispatch", l->dispatch);
		fputs(", ", f);
		print_codes(f, "preempt", l->preempt);
		fputs(",\n ", f);
		print_tasks(f, cpu, l);
		fputs("}", f);
	}
	fputs("\n]}\n", f);
}

/**
 * write_oracle - write what perf must come to
 * @s: the description of the file
 * @w: which parts of it the writer left out
 * @script: for the text of perf script --ns, or NULL
 * @ledger: for the sums of each CPU as JSON, or NULL
 *
 * Returns 0, or -1 without memory.
 */
int write_oracle(const struct spec *s, const struct written *w, FILE *script,
		 FILE *ledger)
{
	struct oracle o = { .s = s, .w = w, .script = script };
	u32 cpu;

	o.ledgers = calloc(s->cpus, sizeof(*o.ledgers));
	o.current = malloc(s->cpus * sizeof(*o.current));
	o.known = calloc(s->cpus, sizeof(*o.known));
	if (!o.ledgers || !o.current || !o.known ||
	    heap_init(&o.entries, &o, next_entry) ||
	    heap_init(&o.records, &o, next_record))
		return -1;
	for (cpu = 0; cpu < s->cpus; cpu++)
		o.current[cpu] = -1;

	while (o.entries.nr || o.records.nr) {
		if (o.entries.nr && (!o.records.nr || o.entries.v[0]->time <=
				     o.records.v[0]->time)) {
			do_entry(&o, o.entries.v[0]);
			heap_advance(&o.entries, &o, next_entry);
		} else {
			do_record(&o, o.records.v[0]);
			heap_advance(&o.records, &o, next_record);
		}
	}
	if (ledger)
		print_ledger(&o, ledger);

	free(o.entries.v);
	free(o.records.v);
	free(o.ledgers);
	free(o.current);
	free(o.known);
	return 0;
}

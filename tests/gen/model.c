// SPDX-License-Identifier: GPL-2.0
/*
 * What happens on each CPU, from the description and the seed alone.
 *
 * Time is a grid: all that happens stands on a point, and no two CPUs share
 * points.  A point is so many ticks wide that the kernel's clock tells all of
 * them apart at any frequency, so that the order of everything in the file is
 * known and no two times are equal.
 */
#include <string.h>
#include "dtlgen.h"

#define EVENT_UNITS	16	/* clock units between two points */

const u16 vpa_dtl_pmu_type = 8;

void spec_defaults(struct spec *s)
{
	memset(s, 0, sizeof(*s));
	s->seed = 1;
	s->cpus = 2;
	s->entries = 100;
	s->aux_size = 128 * 1024;
	s->info = 4;
	s->freq = 512000000;
	s->boot_tb = 0x10b934af7ULL;
	s->start_ns = 10 * NSEC_PER_SEC;
	s->gap_ns = 100000;
	s->tasks = 4;
	s->places = 64;
	s->attr_size = 136;
}

const char *spec_check(const struct spec *s)
{
	if (!s->cpus || s->cpus > MAX_CPUS)
		return "number of CPUs out of range";
	if (s->aux_size < 4096 || (s->aux_size & (s->aux_size - 1)))
		return "the AUX area is a power of two of at least 4096 bytes";
	if (s->chunk < 64 || s->chunk % 8)
		return "a chunk is at least 64 bytes and a multiple of 8";
	if (s->info != 0 && s->info != 1 && s->info != 4)
		return "AUXTRACE_INFO holds 0, 1 or 4 numbers";
	if (!s->tasks || s->tasks > MAX_TASKS)
		return "number of tasks out of range";
	if (!s->places || s->places > BURNER_LEN / 4)
		return "number of places out of range";
	if (s->attr_size != 128 && s->attr_size != 136)
		return "attributes have 128 or 136 bytes";
	return NULL;
}

/* splitmix64 */
u64 rng_next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* true once in @every times; never for 0 */
static bool chance(u64 *rng, u32 every)
{
	return every && rng_next(rng) % every == 0;
}

struct clock {
	u64 scale;
	unsigned int shift;
};

/*
 * The kernel's conversion is a 64.64 fixed point number, 10^9 / frequency,
 * of which it keeps the 64 highest bits; the bits that no longer fit are
 * dropped before the multiplication.
 */
static struct clock clock_of(u64 freq)
{
	struct clock c = { 0, 0 };
	unsigned __int128 scale;

	if (!freq)
		return c;
	scale = ((unsigned __int128)NSEC_PER_SEC << 64) / freq;
	while (scale >> 64) {
		scale >>= 1;
		c.shift++;
	}
	c.scale = scale;
	return c;
}

/* Ticks since boot to ns, as sched_clock() of powerpc rounds them */
u64 tb_to_ns(u64 ticks, u64 freq)
{
	static struct clock c;
	static u64 of_freq;

	if (!c.scale || of_freq != freq) {
		c = clock_of(freq);
		of_freq = freq;
	}
	return (u64)(((unsigned __int128)ticks * c.scale) >> 64) << c.shift;
}

/* ns that the clock advances by at least */
static u64 clock_unit(const struct spec *s)
{
	return 1ULL << clock_of(s->freq).shift;
}

static u64 point_ticks(const struct spec *s)
{
	unsigned __int128 ticks = (unsigned __int128)EVENT_UNITS *
				  clock_unit(s) * s->freq;

	return ticks / NSEC_PER_SEC + 1;
}

static u64 first_ticks(const struct spec *s)
{
	unsigned __int128 ticks = (unsigned __int128)s->start_ns * s->freq /
				  NSEC_PER_SEC;

	return ticks >> 62 ? 1ULL << 62 : (u64)ticks;
}

/* The kernel's time of a point, and @offset (below 16) clock units later */
u64 point_time(const struct spec *s, u64 point, u32 offset)
{
	static const struct spec *of;
	static u64 first, width, unit;

	if (of != s) {
		of = s;
		first = first_ticks(s);
		width = point_ticks(s);
		unit = clock_unit(s);
	}
	if (!s->freq)
		return s->start_ns + point * EVENT_UNITS + offset;
	return tb_to_ns(first + point * width, s->freq) + offset * unit;
}

static u64 point_tb(const struct spec *s, u64 point)
{
	static const struct spec *of;
	static u64 first, width;

	if (of != s) {
		of = s;
		first = first_ticks(s);
		width = point_ticks(s);
	}
	return s->boot_tb + first + point * width;
}

/* Mean distance, in points, of two entries of a CPU, over the CPUs' number */
static u64 mean_step(const struct spec *s)
{
	u64 point_ns = EVENT_UNITS * clock_unit(s);
	u64 step = s->gap_ns / point_ns / s->cpus;

	return step ? step : 1;
}

u64 points_per_entry(const struct spec *s)
{
	return mean_step(s) * s->cpus;
}

bool cpu_is_empty(const struct spec *s, u32 cpu)
{
	return s->empty_every && (cpu + 1) % s->empty_every == 0;
}

/* Task 0 is swapper; tasks go in pairs, the second a thread of the first. */
int task_tid(u32 cpu, int task)
{
	return task <= 0 ? task : (int)(1000 + cpu * MAX_TASKS + task);
}

int task_pid(u32 cpu, int task)
{
	return task <= 0 ? task : task_tid(cpu, task - !(task & 1));
}

void task_comm(u32 cpu, int task, char *comm, size_t size)
{
	if (task < 0)
		snprintf(comm, size, ":-1");
	else if (!task)
		snprintf(comm, size, "swapper");
	else
		snprintf(comm, size, "%s-%u.%d",
			 task & 1 ? "burner" : "helper", cpu, task);
}

/* Where the next frame goes: mainline starts anew at each lap of the area. */
u64 aux_frame_offset(const struct spec *s, u64 head)
{
	u64 left = s->aux_size - head % s->aux_size;

	if (s->layout == LAYOUT_MAINLINE && left < FRAME_SIZE)
		return head + left;
	return head;
}

static struct item *put(struct cpu_state *c, enum item_kind kind, u32 offset)
{
	struct item *it = &c->queue[c->tail++];

	memset(it, 0, sizeof(*it));
	it->kind = kind;
	it->point = c->point;
	it->task = c->task;
	it->boot_tb = c->boot_tb;
	it->time = point_time(c->s, c->point, offset);
	return it;
}

/* Goes on by @mean steps on average; each CPU stays on points of its own. */
static void advance(struct cpu_state *c)
{
	u64 mean = mean_step(c->s);

	c->point += (1 + rng_next(&c->rng) % (2 * mean - 1)) * c->s->cpus;
}

void cpu_init(struct cpu_state *c, const struct spec *s, u32 cpu)
{
	memset(c, 0, sizeof(*c));
	c->s = s;
	c->cpu = cpu;
	c->rng = s->seed * 0x100000001b3ULL + cpu;
	c->point = cpu;
	c->left = cpu_is_empty(s, cpu) ? 0 : s->entries;
	c->boot_tb = s->boot_tb;
	c->prev_tb = point_tb(s, cpu);
	c->task = -1;
	c->proc = cpu;
	if (!s->no_header)
		put(c, ITEM_HEADER, 0);
}

static void make_switch(struct cpu_state *c)
{
	const struct spec *s = c->s;
	int next = rng_next(&c->rng) % s->tasks;
	int prev = c->task;
	struct item *it;

	if (next == prev)
		next = (next + 1) % s->tasks;
	if (next == prev)
		return;
	if (next && !(c->forked & 1u << next)) {
		/* The leader of a group comes first. */
		int leader = next - !(next & 1);

		if (!(c->forked & 1u << leader)) {
			put(c, ITEM_FORK, 2)->task = leader;
			put(c, ITEM_COMM, 3)->task = leader;
			c->forked |= 1u << leader;
		}
		if (leader != next) {
			put(c, ITEM_FORK, 4)->task = next;
			put(c, ITEM_COMM, 5)->task = next;
			c->forked |= 1u << next;
		}
	}
	if (prev >= 0) {
		it = put(c, ITEM_SWITCH_OUT, 6);
		it->task = prev;
		it->other = next;
	}
	it = put(c, ITEM_SWITCH_IN, 7);
	it->task = next;
	it->other = prev < 0 ? 0 : prev;
	c->task = next;
}

struct kind {
	u8 preempt;
	u8 dispatch[4];
};

/* What stops a processor, and what runs it again */
static const struct kind kinds[] = {
	{ 2, { 3, 0, 2, 10 } },		/* ceded: an interrupt, a prod, a doorbell */
	{ 3, { 6, 6, 6, 2 } },		/* conferred */
	{ 4, { 7, 7, 7, 7 } },		/* time slice */
	{ 6, { 8, 8, 8, 8 } },		/* page fault */
};

static const u32 limits[] = { 0, 1, 0x7fffffff, 0x80000000, 0xffffffff };

static u32 clamp32(u64 v)
{
	return v > 0xffffffff ? 0xffffffff : v;
}

static void make_entry(struct cpu_state *c)
{
	const struct spec *s = c->s;
	struct item *it = put(c, ITEM_ENTRY, 0);
	struct entry *e = &it->e;
	u64 tb = point_tb(s, c->point), gap = tb - c->prev_tb;
	u64 r = rng_next(&c->rng), n = c->done;
	unsigned int kind = r & 3;
	u64 wait = gap / 4 * ((r >> 2) & 3);

	c->prev_tb = tb;
	e->preempt_reason = kinds[kind].preempt;
	e->dispatch_reason = kinds[kind].dispatch[(r >> 4) & 3];
	switch (kind) {
	case 2:
		e->enqueue_to_dispatch_time = clamp32(wait);
		break;
	case 1:
		e->ready_to_enqueue_time = clamp32(wait / 8);
		e->enqueue_to_dispatch_time = clamp32(wait / 8 * 3);
		e->waiting_to_ready_time = clamp32(wait / 2);
		break;
	default:
		e->waiting_to_ready_time = clamp32(wait / 4 * 3);
		e->ready_to_enqueue_time = clamp32(wait / 64);
		e->enqueue_to_dispatch_time = clamp32(wait / 16);
		break;
	}
	if (kind == 3)
		e->fault_addr = 0x2000000000ULL + (r & 0xffff000);
	if (s->reasons == REASONS_WALK) {
		e->dispatch_reason = n;
		e->preempt_reason = (n >> 8) ^ n * 7;
	}
	if (s->reasons == REASONS_ZERO) {
		e->dispatch_reason = 0;
		e->preempt_reason = 0;
	}
	if (s->waits == WAITS_ZERO) {
		e->enqueue_to_dispatch_time = 0;
		e->ready_to_enqueue_time = 0;
		e->waiting_to_ready_time = 0;
	}
	if (s->waits == WAITS_LIMITS) {
		e->enqueue_to_dispatch_time = limits[n % 5];
		e->ready_to_enqueue_time = limits[n / 5 % 5];
		e->waiting_to_ready_time = limits[n / 25 % 5];
	}
	if (((r >> 6) & 7) == 0)
		c->proc = (r >> 9) % (s->cpus + 3);
	e->processor_id = c->proc;
	e->timebase = tb;
	if (chance(&c->rng, s->back_every))
		e->timebase -= (1 + ((r >> 20) & 7)) * points_per_entry(s) *
			       point_ticks(s);
	if (c->task > 0 && (r >> 32 & 3)) {
		e->srr0 = BURNER_START + (r >> 40) % s->places * (BURNER_LEN / s->places & ~3ULL);
		e->srr1 = 0x800000000280f033ULL | MSR_PR;
	} else {
		e->srr0 = 0xc000000000000000ULL + (r >> 40) % s->places * 0x1040;
		e->srr1 = 0x8000000002803033ULL;
	}
	if (s->big)
		e->srr1 &= ~1ULL;	/* LE */
}

static void make_step(struct cpu_state *c)
{
	const struct spec *s = c->s;

	advance(c);
	if (chance(&c->rng, s->switch_every)) {
		make_switch(c);
		c->point += s->cpus;
	}
	if (s->headers_every && c->done && c->done % s->headers_every == 0) {
		c->boot_tb += s->header_shift;
		put(c, ITEM_HEADER, 0);
	}
	make_entry(c);
	c->done++;
	c->left--;
	if (c->task > 0 && chance(&c->rng, s->exit_every))
		put(c, ITEM_EXIT, 10);
	if (chance(&c->rng, s->sample_every)) {
		struct item *it = put(c, ITEM_SAMPLE, 8);

		it->ip = c->task > 0 ? BURNER_START + (rng_next(&c->rng) & 0xffffc) :
				       0xc000000000000000ULL + (rng_next(&c->rng) & 0xffffffc);
	}
	if (chance(&c->rng, s->lose_every)) {
		struct item *it = put(c, ITEM_LOST, 9);

		it->lost = 1 + rng_next(&c->rng) % 200;
		it->lost_noroom = s->lose == LOSE_NOROOM ||
				  (s->lose == LOSE_BOTH && (it->lost & 1));
		c->point += it->lost * s->cpus;
	}
}

/* The next item of the CPU; false at its end */
bool cpu_next(struct cpu_state *c, struct item *item)
{
	if (c->head == c->tail) {
		if (!c->left)
			return false;
		c->head = 0;
		c->tail = 0;
		make_step(c);
	}
	*item = c->queue[c->head++];
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC dispatch trace log (vpa_dtl) support: the hypervisor's log entries
 * become samples of the synthesized event vpa-dtl.
 *
 * Each CPU has a queue of AUX buffers. A queue decodes a window of entries
 * ahead, in which they are put in the order of time; a heap merges the queues,
 * up to the time of the event that perf is about to process.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>
#include <linux/zalloc.h>

#include <internal/lib.h>

#include "auxtrace.h"
#include "color.h"
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "machine.h"
#include "perf.h"
#include "powerpc-vpadtl.h"
#include "powerpc-vpadtl-decoder/powerpc-vpadtl-decoder.h"
#include "sample.h"
#include "session.h"
#include "symbol_conf.h"
#include "thread.h"
#include "tool.h"
#include "util.h"
#include "util/synthetic-events.h"

#ifdef HAVE_LIBTRACEEVENT
#include <traceevent/event-parse.h>
#endif

/*
 * Entries that are always decoded ahead on each CPU: more than one poll of the
 * driver can take from the hypervisor's buffer (85), which is what can be out of
 * order, as one that was overwritten while it was copied.
 */
#define VPADTL_AHEAD	128
/* Room for them and for as many again, so as not to decode one by one */
#define VPADTL_WINDOW	(2 * VPADTL_AHEAD)

/*
 * How much later an entry may be than the record that tells of it, in nanoseconds:
 * timebases of processors may differ, though never by that much.
 */
#define VPADTL_TIME_MARGIN	1000000

/* Bytes to be read of a mapped file before its pages are let go of */
#define VPADTL_READ_MAX	(2 << 20)

struct vpadtl_task {
	pid_t	pid;
	pid_t	tid;
};

/* Where the data of an AUXTRACE record is in the file */
struct vpadtl_data {
	u64	offset;
	u64	size;
};

/* What records say of the stream of a CPU */
struct vpadtl_stream {
	u64	told_start;	/* of PERF_RECORD_AUX, ... */
	u64	told_end;
	u64	told_time;	/* ... the latest of which is of that time; 0: none */
	u64	got_start;	/* of PERF_RECORD_AUXTRACE */
	u64	got_end;	/* 0: none */
};

struct powerpc_vpadtl {
	struct auxtrace			auxtrace;
	struct auxtrace_queues		queues;
	struct auxtrace_heap		heap;
	struct itrace_synth_opts	synth_opts;
	struct perf_session		*session;
	struct machine			*machine;
	u32				pmu_type;	/* 0: not known */
	bool				big_endian;	/* who recorded */
	bool				contiguous;	/* see the decoder */
	u64				*indexed;	/* queued: where their data is */
	size_t				nr_indexed;
	size_t				next_indexed;	/* not yet come by */
	bool				index_is_bad;
	struct vpadtl_data		passed;		/* latest that came by */
	u64				read_start;	/* in the mapped file, ... */
	u64				read_end;
	u64				read_size;	/* ... since pages were let go of */
	u64				let_go_start;	/* the time before */
	bool				switches_asked;	/* for the two below */
	bool				has_switches;
	struct evsel			*switch_evsel;	/* sched:sched_switch */
	bool				overwrites;	/* not all of the log is meant to be there */
	u32				data_round;	/* rounds that had ended before the latest data */
	u32				last_round;	/* rounds, when the latest was seen to end, ... */
	u32				round_records;	/* ... and records that were read by then */
	struct powerpc_vpadtl_clock	clock;		/* where a stream has none */

	u64				sample_type;
	/* What is done with a sample: perf_session__deliver_synth_event() or below */
	int				(*deliver)(struct perf_session *session,
						   union perf_event *event,
						   struct perf_sample *sample);
	u64				skip;		/* entries not to deliver */
	u64				mode;		/* see vpadtl__set_mode() */
	struct perf_sample		sample;		/* fields that stay set up */
	union perf_event		event;		/* of the sample */

	bool				tasks_lost;	/* not known from now on */
	struct vpadtl_task		tasks[MAX_NR_CPUS]; /* what runs, ... */
	u64				since[MAX_NR_CPUS]; /* ... after that time */
	u16				queue_of[MAX_NR_CPUS]; /* from 1; 0: not known */
	u16				cpu_of[MAX_NR_CPUS]; /* a queue is, from 1 */
	struct vpadtl_stream		streams[MAX_NR_CPUS];
};

/* An entry in a window */
struct vpadtl_slot {
	u64				time;
	struct perf_synth_powerpc_vpadtl raw;
};

struct vpadtl_queue {
	struct powerpc_vpadtl		*vpa;
	unsigned int			queue_nr;
	unsigned int			cpu;
	struct auxtrace_buffer		*buffer;	/* fed to the decoder */
	struct powerpc_vpadtl_decoder	decoder;
	u64				last_time;	/* latest that left the window */
	u64				newest;		/* latest put in the window */
	u64				tb_freq;	/* of all entries in the window, ... */
	u32				raw_tb_freq;	/* ... for the samples' raw data */
	unsigned int			nr_before;	/* put before the last one since it came */
	struct vpadtl_slot		*next;		/* in the window, by time */
	struct vpadtl_slot		*end;
	struct vpadtl_slot		window[VPADTL_WINDOW];
};

static int vpadtl__error(struct powerpc_vpadtl *vpa, enum powerpc_vpadtl_error error, int cpu,
			 u64 offset, u64 size, u64 time)
{
	union perf_event event;

	pr_debug("vpa_dtl: cpu %d: stream offset %#"PRIx64", %"PRIu64" bytes: %s\n",
		 cpu, offset, size, powerpc_vpadtl__strerror(error));

	/* No record of the file, or none that is sound, has it in its dump */
	if (dump_trace) {
		color_fprintf(stdout, PERF_COLOR_BLUE,
			      ". ... VPA DTL data of CPU %d, stream offset %#"PRIx64": %"PRIu64" bytes: %s\n",
			      cpu, offset, size, powerpc_vpadtl__strerror(error));
		return 0;
	}

	if (!vpa->synth_opts.errors ||
	    (error == POWERPC_VPADTL_ERR_LOST &&
	     vpa->synth_opts.error_minus_flags & AUXTRACE_ERR_FLG_DATA_LOST))
		return 0;

	auxtrace_synth_error(&event.auxtrace_error, PERF_AUXTRACE_ERROR_ITRACE, error, cpu, -1, -1,
			     0, powerpc_vpadtl__strerror(error), time);
	return perf_session__deliver_synth_event(vpa->session, &event, NULL);
}

static int vpadtl_queue__error(struct vpadtl_queue *q)
{
	const struct powerpc_vpadtl_decoder *d = &q->decoder;

	return vpadtl__error(q->vpa, d->error, q->cpu, d->offset, d->error_size, d->time);
}

static inline u64 vpadtl__usecs(u32 ticks, u64 tb_freq)
{
	return ticks * 1000000ULL / tb_freq;
}

/*
 * @mode: of srr1, the bits PR and HV. Mostly it is that of the sample before, so
 * this is kept out of the loop that delivers, and of its registers.
 */
static noinline void vpadtl__set_mode(struct powerpc_vpadtl *vpa, u64 mode)
{
	u16 cpumode = PERF_RECORD_MISC_KERNEL;

	/* The hypervisor's own state is no place in this kernel or its processes */
	if (mode & POWERPC_VPADTL_MSR_PR)
		cpumode = PERF_RECORD_MISC_USER;
	else if (mode & POWERPC_VPADTL_MSR_HV)
		cpumode = PERF_RECORD_MISC_HYPERVISOR;

	vpa->mode = mode;
	vpa->sample.cpumode = cpumode;
	vpa->sample.misc = cpumode;
	vpa->event.header.misc = cpumode;
}

/* perf inject writes the event as it is: the sample has to be in it */
static int vpadtl__deliver_inject(struct perf_session *session, union perf_event *event,
				  struct perf_sample *sample)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);
	int err;

	event->header.size = perf_event__sample_event_size(sample, vpa->sample_type, 0);
	err = perf_event__synthesize_sample(event, vpa->sample_type, 0, sample);
	if (err)
		return err;

	return perf_session__deliver_synth_event(session, event, sample);
}

static int vpadtl__deliver_skip(struct perf_session *session, union perf_event *event,
				struct perf_sample *sample);

static void vpadtl__set_deliver(struct powerpc_vpadtl *vpa)
{
	if (vpa->skip)
		vpa->deliver = vpadtl__deliver_skip;
	else if (vpa->synth_opts.inject)
		vpa->deliver = vpadtl__deliver_inject;
	else
		vpa->deliver = perf_session__deliver_synth_event;
}

static int vpadtl__deliver_skip(struct perf_session *session,
				union perf_event *event __maybe_unused,
				struct perf_sample *sample __maybe_unused)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);

	vpa->skip--;
	vpadtl__set_deliver(vpa);
	return 0;
}

static inline int vpadtl_queue__deliver(struct powerpc_vpadtl *vpa, struct vpadtl_queue *q,
					struct vpadtl_slot *slot)
{
	struct perf_sample *sample = &vpa->sample;
	struct powerpc_vpadtl_entry entry;
	u64 mode, stolen, ready, waiting;

	powerpc_vpadtl_entry__read(&entry, slot->raw.entry);

	sample->ip = entry.srr0;
	sample->time = slot->time;
	sample->raw_data = perf_synth__raw_data(&slot->raw);

	stolen = powerpc_vpadtl_entry__stolen(&entry);
	ready = vpadtl__usecs(entry.ready_to_enqueue_time, q->tb_freq);
	waiting = vpadtl__usecs(entry.waiting_to_ready_time, q->tb_freq);
	/* Seldom more than a sample has room for: 32, 16 and 16 bits */
	if (unlikely((stolen >> 16 | ready | waiting) > UINT16_MAX)) {
		stolen = min_t(u64, stolen, UINT32_MAX);
		ready = min_t(u64, ready, UINT16_MAX);
		waiting = min_t(u64, waiting, UINT16_MAX);
	}
	sample->weight = stolen;
	sample->ins_lat = ready;
	sample->p_stage_cyc = waiting;

	mode = entry.srr1 & (POWERPC_VPADTL_MSR_PR | POWERPC_VPADTL_MSR_HV);
	if (unlikely(mode != vpa->mode))
		vpadtl__set_mode(vpa, mode);

	return vpa->deliver(vpa->session, &vpa->event, sample);
}

static inline void vpadtl_slot__set(struct vpadtl_slot *slot, u64 time, const u8 *frame,
				    u32 raw_tb_freq)
{
	slot->time = time;
	memcpy(slot->raw.entry, frame, sizeof(slot->raw.entry));
	slot->raw.tb_freq = raw_tb_freq;
}

/*
 * Put an entry in the window, which has room, at its place before others. One that
 * is of a time far ahead would stay the last for ever: it is told when more were put
 * before it than one poll can take.
 */
static int vpadtl_queue__insert(struct vpadtl_queue *q, u64 time, const u8 *frame)
{
	struct vpadtl_slot *slot;
	int err;

	for (slot = q->end++; slot > q->next && slot[-1].time > time; slot--)
		*slot = slot[-1];
	vpadtl_slot__set(slot, time, frame, q->raw_tb_freq);

	if (time < q->last_time) {
		err = vpadtl__error(q->vpa, POWERPC_VPADTL_ERR_ORDER, q->cpu, q->decoder.offset,
				    0, time);
		if (err)
			return err;
	}

	if (slot == q->end - 1)
		q->nr_before = 0;
	else if (++q->nr_before == VPADTL_AHEAD)
		return vpadtl__error(q->vpa, POWERPC_VPADTL_ERR_ORDER, q->cpu, q->decoder.offset,
				     0, q->end[-1].time);
	return 0;
}

static void vpadtl_queue__set_freq(struct vpadtl_queue *q, u64 tb_freq)
{
	q->tb_freq = tb_freq;
	put_unaligned_be32(tb_freq <= UINT32_MAX ? tb_freq : 0, &q->raw_tb_freq);
}

/* Where the records and their data end in the file, which is as far as it is mapped */
static u64 vpadtl__data_end(const struct perf_session *session)
{
	return session->header.data_offset + perf_session__data_size(session);
}

/*
 * A file that is mapped whole would stay in memory as far as it has been read:
 * let go of pages, now and then. Whoever needs one again gets it from the file.
 * That is not so of records that were swapped in place, which only a small file's
 * are: perf maps others of the other byte order in pieces.
 */
static void vpadtl__let_go(struct powerpc_vpadtl *vpa, u64 offset, u64 size)
{
	struct perf_session *session = vpa->session;
	u64 data_end = vpadtl__data_end(session), start, end;

	if (!session->one_mmap || session->header.needs_swap || !size || offset > data_end)
		return;

	start = offset - session->one_mmap_offset;
	end = start + min(size, data_end - offset);

	vpa->read_start = min(vpa->read_start, start);
	vpa->read_end = max(vpa->read_end, end);
	vpa->read_size += end - start;
	if (vpa->read_size < VPADTL_READ_MAX)
		return;

	/* To read a page maps others around it, also those let go of before */
	start = round_down(min(vpa->let_go_start, vpa->read_start), page_size);
	end = vpa->read_end;
	vpa->let_go_start = vpa->read_start;
	vpa->read_start = ~0ULL;
	vpa->read_end = 0;
	vpa->read_size = 0;

	madvise(session->one_mmap_addr + start, end - start, MADV_DONTNEED);
}

/*
 * perf comes by an AUXTRACE record, and with it the kernel maps pages around, also
 * those of the data before it: let go of them.
 */
static void vpadtl__pass(struct powerpc_vpadtl *vpa, u64 data_offset, u64 size)
{
	vpadtl__let_go(vpa, vpa->passed.offset, vpa->passed.size);
	vpa->passed.offset = data_offset;
	vpa->passed.size = size;
}

static void vpadtl__free_buffer(struct powerpc_vpadtl *vpa, struct auxtrace_buffer *buffer)
{
	vpadtl__let_go(vpa, buffer->data_offset, buffer->size);
	list_del_init(&buffer->list);
	auxtrace_buffer__free(buffer);
}

/* Let go of the buffer that is decoded and feed the next. 0: there is none. */
static int vpadtl_queue__next_buffer(struct vpadtl_queue *q)
{
	struct powerpc_vpadtl *vpa = q->vpa;
	struct auxtrace_queue *queue = &vpa->queues.queue_array[q->queue_nr];

	if (q->buffer)
		vpadtl__free_buffer(vpa, q->buffer);

	q->buffer = auxtrace_buffer__next(queue, NULL);
	if (!q->buffer)
		return 0;

	if (!auxtrace_buffer__get_data(q->buffer, perf_data__fd(vpa->session->data)))
		return -ENOMEM;

	if (!q->decoder.clock.tb_freq)
		q->decoder.clock = vpa->clock;
	powerpc_vpadtl_decoder__feed(&q->decoder, q->buffer->data, q->buffer->size,
				     q->buffer->offset);
	return 1;
}

/* Append entries to the window as long as nothing is special about them. */
static void vpadtl_queue__append(struct vpadtl_queue *q)
{
	/* In registers: who writes to a slot might write to a queue, to the compiler */
	const struct powerpc_vpadtl_clock clock = q->decoder.clock;
	const u32 raw_tb_freq = q->raw_tb_freq;
	struct vpadtl_slot *slot = q->end;
	u64 newest = q->newest, time;
	struct vpadtl_slot *end;
	const u8 *frame;
	size_t nr;

	nr = min(powerpc_vpadtl_decoder__plain(&q->decoder, &frame),
		 (size_t)(&q->window[VPADTL_WINDOW] - slot));
	for (end = slot + nr; slot < end; slot++) {
		if (unlikely(!powerpc_vpadtl_clock__entry_time(&clock, frame, &time) ||
			     time < newest))
			break;
		newest = time;
		vpadtl_slot__set(slot, time, frame, raw_tb_freq);
		frame += POWERPC_VPADTL_FRAME_SIZE;
	}

	nr = slot - q->end;
	if (!nr)
		return;
	q->nr_before = 0;
	q->newest = newest;
	q->end = slot;
	powerpc_vpadtl_decoder__take(&q->decoder, nr, newest);
}

/* All CPUs have one clock: a header frame before the first entry says no other. */
static int vpadtl_queue__header(struct vpadtl_queue *q)
{
	const struct powerpc_vpadtl_decoder *d = &q->decoder;
	struct powerpc_vpadtl_clock *clock = &q->vpa->clock;

	if (!clock->tb_freq)
		*clock = d->clock;
	if (q->newest || (clock->tb_freq == d->clock.tb_freq && clock->boot_tb == d->clock.boot_tb))
		return 0;

	return vpadtl__error(q->vpa, POWERPC_VPADTL_ERR_HEADER, q->cpu, d->offset,
			     POWERPC_VPADTL_FRAME_SIZE, 0);
}

/* Decode as long as there is data and room in the window. */
static int vpadtl_queue__decode(struct vpadtl_queue *q)
{
	int ret = 0;

	/* What is left moves to the start of the window */
	if (q->next > q->window) {
		q->last_time = max(q->last_time, q->next[-1].time);
		memmove(q->window, q->next, (void *)q->end - (void *)q->next);
		q->end -= q->next - q->window;
		q->next = q->window;
	}

	while (q->end < &q->window[VPADTL_WINDOW]) {
		/* With another frequency, when the entries before are delivered */
		if (unlikely(q->tb_freq != q->decoder.clock.tb_freq)) {
			if (q->next < q->end)
				return 0;
			vpadtl_queue__set_freq(q, q->decoder.clock.tb_freq);
		}

		switch (powerpc_vpadtl_decoder__next(&q->decoder)) {
		case POWERPC_VPADTL_ENTRY:
			q->newest = max(q->newest, q->decoder.time);
			ret = vpadtl_queue__insert(q, q->decoder.time, q->decoder.frame);
			vpadtl_queue__append(q);
			break;
		case POWERPC_VPADTL_HEADER:
			ret = vpadtl_queue__header(q);
			break;
		case POWERPC_VPADTL_ERROR:
			ret = vpadtl_queue__error(q);
			break;
		case POWERPC_VPADTL_END:
		default:
			ret = vpadtl_queue__next_buffer(q);
			if (!ret)
				return 0;
			break;
		}
		if (ret < 0)
			return ret;
	}

	return 0;
}

/* Entries of @q come next. No event is processed before they are delivered. */
static inline void vpadtl_queue__begin(struct powerpc_vpadtl *vpa, const struct vpadtl_queue *q)
{
	vpa->sample.cpu = q->cpu;
	vpa->sample.pid = vpa->tasks[q->cpu].pid;
	vpa->sample.tid = vpa->tasks[q->cpu].tid;
}

/*
 * Fill the window. An entry from before the task that runs comes late: who ran then is
 * no longer known, nor is there anything left to wait for. Those of @q come next still.
 */
static int vpadtl_queue__fill(struct vpadtl_queue *q)
{
	struct powerpc_vpadtl *vpa = q->vpa;
	u64 since = vpa->since[q->cpu];
	int err;

	do {
		err = vpadtl_queue__decode(q);
		if (err || q->next == q->end || q->next->time > since)
			return err;

		vpa->sample.pid = -1;
		vpa->sample.tid = -1;
		vpa->sample.cpu = q->cpu;
		for (; q->next < q->end && q->next->time <= since; q->next++) {
			err = vpadtl_queue__deliver(vpa, q, q->next);
			if (err)
				return err;
		}
		vpadtl_queue__begin(vpa, q);
	} while (q->end - q->next <= VPADTL_AHEAD);

	return 0;
}

/* Take out of the heap the queue whose entry is the first, if that is not after @limit. */
static struct vpadtl_queue *vpadtl__pop_queue(struct powerpc_vpadtl *vpa, u64 limit)
{
	struct auxtrace_heap *heap = &vpa->heap;
	struct vpadtl_queue *q;

	if (!heap->heap_cnt || heap->heap_array[0].ordinal > limit)
		return NULL;

	q = vpa->queues.queue_array[heap->heap_array[0].queue_nr].priv;
	auxtrace_heap__pop(heap);
	return q;
}

/* Put a queue in the heap if it has entries. */
static int vpadtl__push_queue(struct powerpc_vpadtl *vpa, struct vpadtl_queue *q)
{
	if (!q || q->next == q->end)
		return 0;

	return auxtrace_heap__add(&vpa->heap, q->queue_nr, q->next->time);
}

/*
 * Deliver the entries of one or two queues, which are not in the heap, up to @limit
 * or to the end of one of them, and put them where their next entry will be seen.
 */
static noinline int vpadtl__merge(struct powerpc_vpadtl *vpa, struct vpadtl_queue *q,
				  struct vpadtl_queue *other, u64 limit)
{
	u64 until = other ? min(other->next->time, limit) : limit;
	struct vpadtl_queue *last;
	struct vpadtl_slot *slot;
	int err;

	vpadtl_queue__begin(vpa, q);
	while (1) {
		if (unlikely(q->end - q->next <= VPADTL_AHEAD)) {
			err = vpadtl_queue__fill(q);
			if (err)
				return err;
			if (q->next == q->end)
				break;
		}

		slot = q->next;
		if (slot->time <= until) {
			err = vpadtl_queue__deliver(vpa, q, slot);
			if (err)
				return err;
			q->next = slot + 1;
			continue;
		}

		if (until == limit)
			break;

		last = q;
		q = other;
		other = last;
		until = min(slot->time, limit);
		vpadtl_queue__begin(vpa, q);
	}

	err = vpadtl__push_queue(vpa, q);
	return err ? err : vpadtl__push_queue(vpa, other);
}

/*
 * There is new data for a queue. An entry of a time far ahead may be all that waits in
 * its window: what is new then comes before it, and the queue gets another place in
 * the heap.
 */
static int vpadtl_queue__wake(struct vpadtl_queue *q)
{
	bool waits = q->next < q->end;
	u64 time = waits ? q->next->time : 0;
	struct powerpc_vpadtl *vpa = q->vpa;
	unsigned int i;
	int err;

	/* It is seen to before these are delivered */
	if (q->end - q->next > VPADTL_AHEAD)
		return 0;

	err = vpadtl_queue__fill(q);
	if (err)
		return err;
	if (!waits)
		return vpadtl__push_queue(vpa, q);
	if (q->next->time == time)
		return 0;

	/* Seldom, so it is enough that a heap can be made anew */
	vpa->heap.heap_cnt = 0;
	for (i = 0; i < vpa->queues.nr_queues && !err; i++)
		err = vpadtl__push_queue(vpa, vpa->queues.queue_array[i].priv);
	return err;
}

/*
 * Deliver the entries of all queues up to @limit. That time is included: the
 * hypervisor writes an entry before anything else can happen on the processor.
 */
static int vpadtl__process_queues(struct powerpc_vpadtl *vpa, u64 limit)
{
	struct auxtrace_heap *heap = &vpa->heap;
	struct vpadtl_queue *q, *other;
	int err;

	/* Two queues at a time, which then take turns without the heap */
	while ((q = vpadtl__pop_queue(vpa, limit))) {
		other = vpadtl__pop_queue(vpa, limit);
		err = vpadtl__merge(vpa, q, other, heap->heap_cnt ?
				    min(heap->heap_array[0].ordinal, limit) : limit);
		if (err)
			return err;
	}

	return 0;
}

static struct vpadtl_queue *vpadtl__queue(struct powerpc_vpadtl *vpa, unsigned int queue_nr)
{
	struct auxtrace_queue *queue = &vpa->queues.queue_array[queue_nr];
	struct vpadtl_queue *q = queue->priv;

	if (q)
		return q;

	q = zalloc(sizeof(*q));
	if (!q)
		return NULL;

	q->vpa = vpa;
	q->queue_nr = queue_nr;
	q->cpu = queue->cpu;
	q->next = q->window;
	q->end = q->window;
	powerpc_vpadtl_decoder__init(&q->decoder, vpa->big_endian);
	q->decoder.contiguous = vpa->contiguous;
	queue->priv = q;
	return q;
}

/*
 * Has an event been opened on that CPU, with that queue? All events of a CPU have one
 * buffer and that the number of the queue, so any will do: a single damaged entry in the
 * index of ids does not have sound data refused. Without that index all that is known is
 * how many CPUs there are.
 */
static bool vpadtl__is_known_pair(struct powerpc_vpadtl *vpa, u32 queue_nr, u32 cpu)
{
	struct evlist *evlist = vpa->session->evlist;
	int nr_cpus = vpa->session->header.env.nr_cpus_avail;
	struct perf_sample_id *sid;
	struct evsel *evsel;
	u32 i;

	if (!evlist->stats.nr_events[PERF_RECORD_ID_INDEX])
		return nr_cpus <= 0 || cpu < (u32)nr_cpus;

	evlist__for_each_entry(evlist, evsel) {
		/* One that is made here is of no CPU */
		if (evsel->core.attr.type == PERF_TYPE_SYNTH)
			continue;
		for (i = 0; i < evsel->core.ids; i++) {
			sid = evlist__id2sid(evlist, evsel->core.id[i]);
			if (sid && sid->idx == (int)queue_nr && sid->cpu.cpu == (int)cpu)
				return true;
		}
	}

	return false;
}

/* Each CPU has an AUX area and that a queue, which all its records name; none is without. */
static bool vpadtl__is_queue_of(struct powerpc_vpadtl *vpa, u32 queue_nr, u32 cpu)
{
	if (queue_nr >= MAX_NR_CPUS || cpu >= MAX_NR_CPUS)
		return false;

	if (!vpa->queue_of[cpu] && !vpa->cpu_of[queue_nr]) {
		if (!vpadtl__is_known_pair(vpa, queue_nr, cpu))
			return false;
		vpa->queue_of[cpu] = queue_nr + 1;
		vpa->cpu_of[queue_nr] = cpu + 1;
	}
	return vpa->queue_of[cpu] == queue_nr + 1 && vpa->cpu_of[queue_nr] == cpu + 1;
}

/* Also what a cut file has only the start of: the rest is told as lost there. */
static void vpadtl__got_data(struct powerpc_vpadtl *vpa,
			     const struct perf_record_auxtrace *auxtrace)
{
	struct vpadtl_stream *stream = &vpa->streams[auxtrace->cpu];
	u64 end = auxtrace->offset + auxtrace->size;

	if (!auxtrace->size || end < auxtrace->offset)
		return;
	if (!stream->got_end || auxtrace->offset < stream->got_start)
		stream->got_start = auxtrace->offset;
	stream->got_end = max(stream->got_end, end);
}

/*
 * Queue the data of an AUXTRACE record, of which nothing is trusted. @buffer is
 * NULL afterwards where there is no data that could be.
 */
static int vpadtl__queue_event(struct powerpc_vpadtl *vpa,
			       const struct perf_record_auxtrace *auxtrace,
			       u64 data_offset, struct auxtrace_buffer **buffer)
{
	struct perf_data *data = vpa->session->data;
	union perf_event ev = { .auxtrace = { .size = 0, }, };
	u64 left;
	int err;

	*buffer = NULL;

	if (auxtrace->header.size != sizeof(*auxtrace)) {
		if (auxtrace->header.size > sizeof(*auxtrace) && perf_data__is_pipe(data))
			perf_session__skip_data(vpa->session, auxtrace->size);
		return vpadtl__error(vpa, POWERPC_VPADTL_ERR_RECORD, -1, 0, 0, 0);
	}

	ev.auxtrace = *auxtrace;

	if (!vpadtl__is_queue_of(vpa, ev.auxtrace.idx, ev.auxtrace.cpu)) {
		if (perf_data__is_pipe(data))
			perf_session__skip_data(vpa->session, ev.auxtrace.size);
		return vpadtl__error(vpa, POWERPC_VPADTL_ERR_RECORD, -1, ev.auxtrace.offset,
				     ev.auxtrace.size, 0);
	}

	vpadtl__got_data(vpa, &ev.auxtrace);

	if (!perf_data__is_pipe(data)) {
		left = vpadtl__data_end(vpa->session);
		left -= min(left, data_offset);
		if (ev.auxtrace.size > left) {
			err = vpadtl__error(vpa, POWERPC_VPADTL_ERR_LOST, ev.auxtrace.cpu,
					    ev.auxtrace.offset + left, ev.auxtrace.size - left, 0);
			if (err)
				return err;
			ev.auxtrace.size = left;
		}
	}

	if (!ev.auxtrace.size)
		return 0;

	err = auxtrace_queues__add_event(&vpa->queues, vpa->session, &ev, data_offset, buffer);
	if (err || !*buffer || (*buffer)->size == ev.auxtrace.size)
		return err;

	/* Only a pipe gives less than it was asked for */
	return vpadtl__error(vpa, POWERPC_VPADTL_ERR_LOST, ev.auxtrace.cpu,
			     ev.auxtrace.offset + (*buffer)->size,
			     ev.auxtrace.size - (*buffer)->size, 0);
}

/* A record that the index of the file lists */
struct vpadtl_record {
	struct perf_record_auxtrace	auxtrace;
	u64				data_offset;
};

/* Whose a queue is most of its records say: one that is damaged must not take it. */
static int vpadtl__pair_queues(struct powerpc_vpadtl *vpa, const struct vpadtl_record *records,
			       size_t nr)
{
	struct {
		u32 cpu;
		size_t votes;	/* more than against it */
	} *of, *queue;
	u32 idx, cpu;
	size_t i;

	of = calloc(MAX_NR_CPUS, sizeof(*of));
	if (!of)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		idx = records[i].auxtrace.idx;
		cpu = records[i].auxtrace.cpu;
		if (idx >= MAX_NR_CPUS || cpu >= MAX_NR_CPUS)
			continue;

		queue = &of[idx];
		if (!(queue->votes && queue->cpu == cpu) &&
		    !vpadtl__is_known_pair(vpa, idx, cpu))
			continue;
		if (!queue->votes)
			queue->cpu = cpu;
		queue->votes += queue->cpu == cpu ? 1 : -1;
	}

	for (idx = 0; idx < MAX_NR_CPUS; idx++) {
		if (!of[idx].votes)
			continue;
		cpu = of[idx].cpu;
		vpa->cpu_of[idx] = cpu + 1;
		if (!vpa->queue_of[cpu] || of[vpa->queue_of[cpu] - 1].votes < of[idx].votes)
			vpa->queue_of[cpu] = idx + 1;
	}

	free(of);
	return 0;
}

/*
 * Queue all that the index of the file lists, so that entries which reached the
 * file late can still be merged by their time. What a damaged index does not
 * list, or not in the order of the file, is queued when it comes by.
 */
static int vpadtl__queue_index(struct powerpc_vpadtl *vpa)
{
	struct perf_session *session = vpa->session;
	u64 start = session->header.data_offset;
	u64 end = vpadtl__data_end(session);
	char buf[PERF_SAMPLE_MAX_SIZE];
	struct vpadtl_record *records;
	struct auxtrace_buffer *buffer;
	struct auxtrace_index_entry *entry;
	struct auxtrace_index *index;
	union perf_event *event;
	size_t i, nr = 0;
	int err = 0;

	list_for_each_entry(index, &session->auxtrace_index, list)
		nr += index->nr;
	if (!nr)
		return 0;

	vpa->indexed = calloc(nr, sizeof(*vpa->indexed));
	records = malloc(nr * sizeof(*records));
	if (!vpa->indexed || !records) {
		err = -ENOMEM;
		goto out;
	}

	nr = 0;
	list_for_each_entry(index, &session->auxtrace_index, list) {
		for (i = 0; i < index->nr; i++) {
			u64 offset;

			entry = &index->entries[i];
			offset = entry->file_offset;
			if (offset < start || offset > end ||
			    end - offset < sizeof(event->auxtrace) ||
			    perf_session__peek_event(session, offset, buf, sizeof(buf), &event,
						     NULL) ||
			    event->header.type != PERF_RECORD_AUXTRACE ||
			    event->header.size != entry->sz ||
			    event->header.size != sizeof(event->auxtrace)) {
				err = vpadtl__error(vpa, POWERPC_VPADTL_ERR_RECORD, -1, 0, 0, 0);
				if (err)
					goto out;
				continue;
			}

			offset += event->header.size;
			records[nr].auxtrace = event->auxtrace;
			records[nr++].data_offset = offset;
			start = offset;
			/* It was the mapped file that was looked at */
			vpadtl__let_go(vpa, offset, event->auxtrace.size);
		}
	}

	err = vpadtl__pair_queues(vpa, records, nr);
	/* A dump shows the data of a record where it comes by */
	if (dump_trace)
		goto out;
	for (i = 0; i < nr && !err; i++) {
		vpa->indexed[vpa->nr_indexed++] = records[i].data_offset;
		/* The data of one does not reach into the next */
		if (i + 1 < nr && records[i].auxtrace.size > records[i + 1].data_offset -
		    records[i + 1].auxtrace.header.size - records[i].data_offset) {
			err = vpadtl__error(vpa, POWERPC_VPADTL_ERR_RECORD, -1,
					    records[i].auxtrace.offset,
					    records[i].auxtrace.size, 0);
			continue;
		}
		err = vpadtl__queue_event(vpa, &records[i].auxtrace, records[i].data_offset,
					  &buffer);
	}
out:
	free(records);
	return err;
}

/*
 * A stream whose beginning is gone has no header frame; all CPUs have the same
 * clock, so take it from any stream.
 */
static int vpadtl__find_clock(struct powerpc_vpadtl *vpa)
{
	int fd = perf_data__fd(vpa->session->data);
	struct powerpc_vpadtl_decoder decoder;
	struct auxtrace_buffer *buffer;
	unsigned int i;

	for (i = 0; i < vpa->queues.nr_queues && !vpa->clock.tb_freq; i++) {
		buffer = auxtrace_buffer__next(&vpa->queues.queue_array[i], NULL);
		if (!buffer)
			continue;
		if (!auxtrace_buffer__get_data(buffer, fd))
			return -ENOMEM;
		powerpc_vpadtl_decoder__init(&decoder, vpa->big_endian);
		powerpc_vpadtl_decoder__feed(&decoder, buffer->data, buffer->size, buffer->offset);
		if (powerpc_vpadtl_decoder__next(&decoder) == POWERPC_VPADTL_HEADER)
			vpa->clock = decoder.clock;
		auxtrace_buffer__put_data(buffer);
	}

	return 0;
}

static int vpadtl__schedule_queues(struct powerpc_vpadtl *vpa)
{
	struct vpadtl_queue *q;
	unsigned int i;
	int err;

	for (i = 0; i < vpa->queues.nr_queues; i++) {
		if (list_empty(&vpa->queues.queue_array[i].head))
			continue;
		q = vpadtl__queue(vpa, i);
		if (!q)
			return -ENOMEM;
		err = vpadtl_queue__wake(q);
		if (err)
			return err;
	}

	return 0;
}

/* @since: no entry up to then is of the task */
static void vpadtl__set_task(struct powerpc_vpadtl *vpa, u32 cpu, pid_t pid, pid_t tid, u64 since)
{
	if (cpu >= MAX_NR_CPUS)
		return;

	vpa->tasks[cpu] = (struct vpadtl_task){ .pid = pid, .tid = tid };
	vpa->since[cpu] = since;
}

/*
 * Of records that cannot be read, some are of a time before those that were read and
 * wait for their turn: from here on nobody knows who runs.
 */
static void vpadtl__lose_tasks(struct powerpc_vpadtl *vpa)
{
	unsigned int i;

	if (vpa->tasks_lost)
		return;
	vpa->tasks_lost = true;
	for (i = 0; i < ARRAY_SIZE(vpa->tasks); i++)
		vpadtl__set_task(vpa, i, -1, -1, 0);
}

static void vpadtl__process_switch(struct powerpc_vpadtl *vpa, const union perf_event *event,
				   const struct perf_sample *sample)
{
	pid_t pid = sample->pid, tid = sample->tid;

	/* Whatever the attributes say */
	vpa->has_switches = true;

	if (event->header.misc & PERF_RECORD_MISC_SWITCH_OUT) {
		bool wide = event->header.type == PERF_RECORD_SWITCH_CPU_WIDE;

		pid = wide ? (pid_t)event->context_switch.next_prev_pid : -1;
		tid = wide ? (pid_t)event->context_switch.next_prev_tid : -1;
	}

	vpadtl__set_task(vpa, sample->cpu, pid, tid, sample->time);
}

/* Is there a sample of each of the tracepoint's events? */
static bool vpadtl__samples_all(const struct perf_event_attr *attr)
{
	return !attr->freq && !attr->exclude_kernel &&
	       (attr->sample_period == 1 || attr->sample_type & PERF_SAMPLE_PERIOD);
}

/*
 * Are all context switches recorded? If not, a task that was seen once would be told
 * of all entries to come. Not asked sooner: in a pipe the names of events come after
 * their attributes.
 */
static bool vpadtl__has_switches(struct powerpc_vpadtl *vpa)
{
	struct evsel *evsel;

	if (vpa->switches_asked)
		return vpa->has_switches;

	evlist__for_each_entry(vpa->session->evlist, evsel) {
		if (evsel->core.attr.type == PERF_TYPE_TRACEPOINT &&
		    evsel__name_is(evsel, "sched:sched_switch")) {
			vpa->switch_evsel = evsel;
			if (vpadtl__samples_all(&evsel->core.attr))
				vpa->has_switches = true;
		}
		if (evsel->core.attr.context_switch)
			vpa->has_switches = true;
	}
	vpa->switches_asked = true;

	return vpa->has_switches;
}

#ifdef HAVE_LIBTRACEEVENT
static bool vpadtl__overlaps(const struct tep_format_field *next,
			     const struct tep_format_field *field)
{
	for (; field; field = field->next) {
		if (field != next && field->offset < next->offset + next->size &&
		    next->offset < field->offset + field->size)
			return true;
	}
	return false;
}

/*
 * The task that a sched_switch sample says is next, or -1: the format in a damaged file
 * may have its number elsewhere, of another size, or in the bytes of another field.
 */
static pid_t vpadtl__next_tid(struct evsel *evsel, struct perf_sample *sample)
{
	const struct tep_format_field *next = evsel__field(evsel, "next_pid");

	if (!next || next->size != sizeof(pid_t) || next->flags & TEP_FIELD_IS_DYNAMIC ||
	    !evsel__rawptr(evsel, sample, "next_pid"))
		return -1;

	if (vpadtl__overlaps(next, evsel->tp_format->format.common_fields) ||
	    vpadtl__overlaps(next, evsel->tp_format->format.fields))
		return -1;

	return evsel__intval(evsel, sample, "next_pid");
}
#endif

/* What a sched_switch sample says is next; any other sample is of what runs. */
static void vpadtl__process_sample(struct powerpc_vpadtl *vpa, struct perf_sample *sample)
{
	const struct evsel *evsel = evlist__id2evsel(vpa->session->evlist, sample->id);
	pid_t pid = sample->pid, tid = sample->tid;

	/* That event may be there more than once */
	if (vpa->switch_evsel && evsel && evsel->core.attr.type == PERF_TYPE_TRACEPOINT &&
	    evsel->core.attr.config == vpa->switch_evsel->core.attr.config) {
		pid = -1;
		tid = -1;
#ifdef HAVE_LIBTRACEEVENT
		tid = vpadtl__next_tid(vpa->switch_evsel, sample);
		if (tid != -1) {
			struct thread *thread;

			thread = machine__findnew_thread(vpa->machine, -1, tid);
			if (thread)
				pid = thread__pid(thread);
			thread__put(thread);
		}
#endif
	} else if (tid == -1) {
		return;
	}

	vpadtl__set_task(vpa, sample->cpu, pid, tid, sample->time);
}

/* Records of kinds that perf record does not write by itself at the end, out of rounds */
static u32 vpadtl__nr_records(const struct powerpc_vpadtl *vpa)
{
	const u32 *nr = vpa->session->evlist->stats.nr_events;

	return nr[PERF_RECORD_AUX] + nr[PERF_RECORD_SWITCH] + nr[PERF_RECORD_SWITCH_CPU_WIDE] +
	       nr[PERF_RECORD_EXIT];
}

/* Most rounds that end have perf process events, of the round before. */
static void vpadtl__see_round(struct powerpc_vpadtl *vpa)
{
	u32 round = vpa->session->evlist->stats.nr_events[PERF_RECORD_FINISHED_ROUND];

	if (round == vpa->last_round)
		return;
	vpa->last_round = round;
	vpa->round_records = vpadtl__nr_records(vpa);
}

/* The driver has put data in a CPU's AUX area. */
static void vpadtl__process_aux(struct powerpc_vpadtl *vpa, const struct perf_record_aux *aux,
				const struct perf_sample *sample)
{
	struct evlist *evlist = vpa->session->evlist;
	u64 start, end;
	struct vpadtl_stream *stream;
	struct perf_sample_id *sid;
	u32 cpu = sample->cpu;

	if (aux->header.size < sizeof(*aux))
		return;
	start = aux->aux_offset;
	end = start + aux->aux_size;
	if (aux->flags & PERF_AUX_FLAG_OVERWRITE)
		vpa->overwrites = true;

	/* The CPU of the event, whichever wrote the record */
	sid = evlist__id2sid(evlist, sample->id);
	if (sid && evlist->stats.nr_events[PERF_RECORD_ID_INDEX])
		cpu = sid->cpu.cpu;
	if (cpu >= MAX_NR_CPUS || end < start)
		return;

	stream = &vpa->streams[cpu];
	if (!stream->told_time || start < stream->told_start)
		stream->told_start = start;
	stream->told_end = max(stream->told_end, end);
	stream->told_time = max(stream->told_time, sample->time);
}

static int powerpc_vpadtl_process_event(struct perf_session *session, union perf_event *event,
					struct perf_sample *sample, const struct perf_tool *tool)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);
	int err;

	if (dump_trace)
		return 0;

	if (!tool->ordered_events) {
		pr_err("vpa_dtl requires ordered events\n");
		return -EINVAL;
	}

	if (!sample->time || sample->time == (u64)-1)
		return 0;

	vpadtl__see_round(vpa);
	if (event->header.type == PERF_RECORD_AUX)
		vpadtl__process_aux(vpa, &event->aux, sample);

	if (session->data_cut)
		vpadtl__lose_tasks(vpa);

	err = vpadtl__process_queues(vpa, sample->time);
	if (err || vpa->tasks_lost)
		return err;

	switch (event->header.type) {
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		vpadtl__process_switch(vpa, event, sample);
		break;
	case PERF_RECORD_LOST:
		vpadtl__set_task(vpa, sample->cpu, -1, -1, sample->time);
		break;
	case PERF_RECORD_ITRACE_START:
		if (vpadtl__has_switches(vpa))
			vpadtl__set_task(vpa, sample->cpu, event->itrace_start.pid,
					 event->itrace_start.tid, sample->time);
		break;
	case PERF_RECORD_SAMPLE:
		if (vpadtl__has_switches(vpa))
			vpadtl__process_sample(vpa, sample);
		break;
	default:
		break;
	}

	return 0;
}

static void vpadtl__dump_frame(const struct powerpc_vpadtl_decoder *d, const char *sign, u64 pos)
{
	struct powerpc_vpadtl_entry entry;
	char text[POWERPC_VPADTL_TEXT_MAX];

	powerpc_vpadtl_entry__read(&entry, d->frame);
	powerpc_vpadtl_entry__text_reasons_times(&entry, text);
	color_fprintf(stdout, PERF_COLOR_BLUE, ".  %s%08"PRIx64":  %s\n", sign, pos, text);
}

/* Frames are laid out as one stream, which the queue's decoder follows. */
static void vpadtl__dump(struct vpadtl_queue *q, const struct auxtrace_buffer *buffer)
{
	struct powerpc_vpadtl_decoder *d = &q->decoder, ahead;
	enum powerpc_vpadtl_item item;
	size_t nr = 0;

	/* No time is shown, so no entry is without a clock */
	powerpc_vpadtl_clock__init(&d->clock, 0, 1);
	powerpc_vpadtl_decoder__feed(d, buffer->data, buffer->size, buffer->offset);

	ahead = *d;
	while ((item = powerpc_vpadtl_decoder__next(&ahead)) != POWERPC_VPADTL_END) {
		nr += item == POWERPC_VPADTL_ENTRY;
		if (item == POWERPC_VPADTL_HEADER)
			powerpc_vpadtl_clock__init(&ahead.clock, 0, 1);
	}

	color_fprintf(stdout, PERF_COLOR_BLUE,
		      ".\n. ... VPA DTL data: size %zu bytes, %zu entries\n", buffer->size, nr);

	while ((item = powerpc_vpadtl_decoder__next(d)) != POWERPC_VPADTL_END) {
		/* What began in the buffer before has a negative position in this one */
		bool before = d->offset < (u64)buffer->offset;
		u64 pos = before ? buffer->offset - d->offset : d->offset - buffer->offset;
		const char *sign = before ? "-" : "";

		switch (item) {
		case POWERPC_VPADTL_ENTRY:
			vpadtl__dump_frame(d, sign, pos);
			break;
		case POWERPC_VPADTL_HEADER:
			color_fprintf(stdout, PERF_COLOR_BLUE,
				      ".  %s%08"PRIx64":  boot_tb: %"PRIu64", tb_freq: %"PRIu64"\n",
				      sign, pos, d->clock.boot_tb, d->clock.tb_freq);
			powerpc_vpadtl_clock__init(&d->clock, 0, 1);
			break;
		case POWERPC_VPADTL_ERROR:
			color_fprintf(stdout, PERF_COLOR_BLUE,
				      ".  %s%08"PRIx64":  %"PRIu64" bytes: %s\n",
				      sign, pos, d->error_size, powerpc_vpadtl__strerror(d->error));
			break;
		case POWERPC_VPADTL_END:
		default:
			break;
		}
	}
}

/* What the end of a stream leaves over is in none of its records. */
static void vpadtl__dump_end(struct vpadtl_queue *q)
{
	while (powerpc_vpadtl_decoder__next(&q->decoder) == POWERPC_VPADTL_ERROR)
		vpadtl_queue__error(q);
}

/* The index and the records do not agree: told once. */
static int vpadtl__bad_index(struct powerpc_vpadtl *vpa)
{
	if (vpa->index_is_bad)
		return 0;
	vpa->index_is_bad = true;

	return vpadtl__error(vpa, POWERPC_VPADTL_ERR_RECORD, -1, 0, 0, 0);
}

/* Has the data at @data_offset been queued by the index? */
static int vpadtl__is_indexed(struct powerpc_vpadtl *vpa, u64 data_offset)
{
	size_t i = vpa->next_indexed;
	bool bad, listed;
	int err;

	while (i < vpa->nr_indexed && vpa->indexed[i] < data_offset)
		i++;

	listed = i < vpa->nr_indexed && vpa->indexed[i] == data_offset;
	bad = vpa->nr_indexed && (!listed || i > vpa->next_indexed);
	/* perf did not come by what is listed: nor by the records around it */
	if (i > vpa->next_indexed)
		vpa->session->data_cut = true;
	vpa->next_indexed = listed ? i + 1 : i;

	if (bad) {
		err = vpadtl__bad_index(vpa);
		if (err)
			return err;
	}

	return listed;
}

static int powerpc_vpadtl_process_auxtrace_event(struct perf_session *session,
						 union perf_event *event,
						 const struct perf_tool *tool __maybe_unused)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);
	int fd = perf_data__fd(session->data);
	struct auxtrace_buffer *buffer;
	struct vpadtl_queue *q;
	off_t data_offset = 0;
	int err;

	vpa->data_round = session->evlist->stats.nr_events[PERF_RECORD_FINISHED_ROUND];

	if (!perf_data__is_pipe(session->data)) {
		data_offset = lseek(fd, 0, SEEK_CUR);
		if (data_offset == -1)
			return -errno;
		if (event->header.size >= sizeof(event->auxtrace))
			vpadtl__pass(vpa, data_offset, event->auxtrace.size);
		err = vpadtl__is_indexed(vpa, data_offset);
		/* perf passes over records with the data of one that reaches too far */
		if (event->header.size >= sizeof(event->auxtrace) &&
		    vpa->next_indexed < vpa->nr_indexed &&
		    event->auxtrace.size > vpa->indexed[vpa->next_indexed] - data_offset)
			session->data_cut = true;
		if (err)
			return min(err, 0);
	}

	err = vpadtl__queue_event(vpa, &event->auxtrace, data_offset, &buffer);
	if (err || !buffer)
		return err;

	q = vpadtl__queue(vpa, event->auxtrace.idx);
	if (!q)
		return -ENOMEM;

	if (!dump_trace)
		return vpadtl_queue__wake(q);

	if (!auxtrace_buffer__get_data(buffer, fd))
		return -ENOMEM;
	vpadtl__dump(q, buffer);
	vpadtl__free_buffer(vpa, buffer);
	return 0;
}

/*
 * perf record ends each round of records and the data that it reads with them, so where
 * some are behind the last such end, the rest has been cut off, though between two
 * records. Snapshots are in no round.
 */
static bool vpadtl__is_round_cut(const struct powerpc_vpadtl *vpa)
{
	const u32 *nr_events = vpa->session->evlist->stats.nr_events;
	u32 round = nr_events[PERF_RECORD_FINISHED_ROUND];

	/* A snapshot at the end comes behind the last round; no record may tell of it */
	if (!round || vpa->overwrites || !nr_events[PERF_RECORD_AUX])
		return false;
	return vpa->data_round == round ||
	       (vpa->last_round == round && vpa->round_records != vpadtl__nr_records(vpa));
}

/*
 * At the end all data is there that PERF_RECORD_AUX told of, and no other. A file of
 * --switch-output but the first begins in the middle of a stream, and what a record
 * tells of may be in the file before.
 */
static int vpadtl__check_stream(struct powerpc_vpadtl *vpa, u32 cpu)
{
	struct vpadtl_stream *stream = &vpa->streams[cpu];
	int err;

	if (!stream->told_time)
		return 0;

	if (!stream->told_start && stream->got_end && stream->got_start) {
		err = vpadtl__error(vpa, POWERPC_VPADTL_ERR_LOST, cpu, 0, stream->got_start, 0);
		if (err)
			return err;
	}

	if (stream->got_end > stream->told_end) {
		/* Nor are the context switches there that happened meanwhile */
		vpadtl__set_task(vpa, cpu, -1, -1, 0);
	} else if (stream->got_end < stream->told_end &&
		   (stream->got_end || !stream->told_start)) {
		vpadtl__lose_tasks(vpa);
		return vpadtl__error(vpa, POWERPC_VPADTL_ERR_LOST, cpu, stream->got_end,
				     stream->told_end - stream->got_end, stream->told_time);
	}
	return 0;
}

static int vpadtl__check_streams(struct powerpc_vpadtl *vpa)
{
	unsigned int cpu;
	int err = 0;

	if (vpa->overwrites)
		return 0;
	for (cpu = 0; cpu < MAX_NR_CPUS && !err; cpu++)
		err = vpadtl__check_stream(vpa, cpu);
	return err;
}

/* No entry of the CPU is later than that. 0: not known */
static u64 vpadtl__latest(struct powerpc_vpadtl *vpa, u32 cpu)
{
	const struct vpadtl_stream *stream = &vpa->streams[cpu];

	if (vpa->overwrites || !stream->told_time || stream->got_end > stream->told_end ||
	    stream->told_time > ~0ULL - VPADTL_TIME_MARGIN)
		return 0;
	return stream->told_time + VPADTL_TIME_MARGIN;
}

/*
 * Deliver all but entries that are later than the record which tells of them: one whose
 * time is damaged. It is told of each CPU, once. Where few entries follow, nothing else
 * shows it.
 */
static int vpadtl__process_sound(struct powerpc_vpadtl *vpa)
{
	u64 latest, limit = 0;
	struct vpadtl_queue *q;
	unsigned int i;
	int err;

	for (i = 0; i < vpa->queues.nr_queues; i++) {
		q = vpa->queues.queue_array[i].priv;
		if (q)
			limit = max(limit, vpadtl__latest(vpa, q->cpu));
	}

	err = vpadtl__process_queues(vpa, limit);

	for (i = 0; i < vpa->queues.nr_queues && !err; i++) {
		q = vpa->queues.queue_array[i].priv;
		if (!q || q->next == q->end)
			continue;
		latest = vpadtl__latest(vpa, q->cpu);
		if (latest && q->next->time > latest)
			err = vpadtl__error(vpa, POWERPC_VPADTL_ERR_ORDER, q->cpu,
					    q->decoder.offset, 0, q->next->time);
	}
	return err;
}

static int powerpc_vpadtl_flush(struct perf_session *session, const struct perf_tool *tool)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);
	struct vpadtl_queue *q;
	unsigned int i;
	int err;

	/* Interrupted: what was not read is not missing, nor wanted */
	if (session_done())
		return 0;

	if (!dump_trace) {
		if (!tool->ordered_events)
			return -EINVAL;

		if (vpa->next_indexed < vpa->nr_indexed) {
			err = vpadtl__bad_index(vpa);
			if (err)
				return err;
			session->data_cut = true;
		}
		if (!session->data_cut && vpadtl__is_round_cut(vpa)) {
			pr_warning("WARNING: the data end before the last round of records does\n");
			session->data_cut = true;
		}
		if (session->data_cut)
			vpadtl__lose_tasks(vpa);

		if (session->itrace_synth_opts && !session->itrace_synth_opts->dont_decode) {
			err = vpadtl__check_streams(vpa);
			if (!err)
				err = vpadtl__process_sound(vpa);
			if (err)
				return err;
		}

		err = vpadtl__process_queues(vpa, ~0ULL);
		if (err)
			return err;
	}

	for (i = 0; i < vpa->queues.nr_queues; i++) {
		q = vpa->queues.queue_array[i].priv;
		if (!q)
			continue;
		powerpc_vpadtl_decoder__finish(&q->decoder);
		if (dump_trace) {
			vpadtl__dump_end(q);
			continue;
		}
		err = vpadtl_queue__fill(q);
		if (err)
			return err;
	}

	return 0;
}

static void powerpc_vpadtl_free_events(struct perf_session *session)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);
	struct auxtrace_queues *queues = &vpa->queues;
	unsigned int i;

	for (i = 0; i < queues->nr_queues; i++)
		zfree(&queues->queue_array[i].priv);
	auxtrace_queues__free(queues);
	zfree(&vpa->indexed);
	vpa->nr_indexed = 0;
}

static void powerpc_vpadtl_free(struct perf_session *session)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);

	auxtrace_heap__free(&vpa->heap);
	powerpc_vpadtl_free_events(session);
	session->auxtrace = NULL;
	free(vpa);
}

static bool powerpc_vpadtl_evsel_is_auxtrace(struct perf_session *session, struct evsel *evsel)
{
	struct powerpc_vpadtl *vpa = container_of(session->auxtrace, struct powerpc_vpadtl,
						  auxtrace);

	/* Some recorders do not tell the type, which is no event's default of 0 */
	if (vpa->pmu_type)
		return evsel->core.attr.type == vpa->pmu_type;
	return evsel->name && strstarts(evsel->name, POWERPC_VPADTL_PMU_NAME "/");
}

static const char * const powerpc_vpadtl_info_fmts[] = {
	[POWERPC_VPADTL_PMU_TYPE]	= "  PMU Type           %"PRIu64"\n",
	[POWERPC_VPADTL_BOOT_TB]	= "  Boot Timebase      %"PRIu64"\n",
	[POWERPC_VPADTL_TB_FREQ]	= "  Timebase Frequency %"PRIu64"\n",
	[POWERPC_VPADTL_FLAGS]		= "  Flags              %#"PRIx64"\n",
};

static struct evsel *vpadtl__evsel(struct powerpc_vpadtl *vpa)
{
	struct evlist *evlist = vpa->session->evlist;
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (powerpc_vpadtl_evsel_is_auxtrace(vpa->session, evsel))
			return evsel;
	}

	/* Recording puts the AUX event in front */
	return list_empty(&evlist->core.entries) ? NULL : evlist__first(evlist);
}

/* Name the synthesized event, here and for who reads what perf inject makes. */
static int vpadtl__set_event_name(struct powerpc_vpadtl *vpa, u64 id, const char *name)
{
	struct evsel *evsel = evlist__id2evsel(vpa->session->evlist, id);
	size_t size = PERF_ALIGN(offsetof(struct perf_record_event_update, name) +
				 strlen(name) + 1, sizeof(u64));
	union perf_event *event;
	int err;

	if (evsel) {
		zfree(&evsel->name);
		evsel->name = strdup(name);
	}

	if (!vpa->synth_opts.inject)
		return 0;

	event = zalloc(size);
	if (!event)
		return -ENOMEM;

	event->event_update.header.type = PERF_RECORD_EVENT_UPDATE;
	event->event_update.header.size = size;
	event->event_update.type = PERF_EVENT_UPDATE__NAME;
	event->event_update.id = id;
	memcpy(event->event_update.name, name, strlen(name) + 1);
	err = perf_session__deliver_synth_event(vpa->session, event, NULL);
	free(event);
	return err;
}

static bool vpadtl__other_clock(struct evlist *evlist)
{
	struct evsel *evsel;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.attr.use_clockid)
			return true;
	}

	return false;
}

static int vpadtl__synth_events(struct powerpc_vpadtl *vpa)
{
	struct perf_session *session = vpa->session;
	struct evsel *evsel = vpadtl__evsel(vpa);
	struct perf_event_attr attr = {
		.size		= sizeof(attr),
		.type		= PERF_TYPE_SYNTH,
		.config		= PERF_SYNTH_POWERPC_VPA_DTL,
		.sample_period	= 1,
	};
	u64 id;
	int err;

	if (!evsel) {
		pr_debug("There are no selected events with vpa_dtl data\n");
		return 0;
	}

	attr.sample_type = evsel->core.attr.sample_type & PERF_SAMPLE_MASK;
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |
			    PERF_SAMPLE_WEIGHT_STRUCT;
	attr.exclude_user = evsel->core.attr.exclude_user;
	attr.exclude_kernel = evsel->core.attr.exclude_kernel;
	attr.exclude_hv = evsel->core.attr.exclude_hv;
	attr.exclude_host = evsel->core.attr.exclude_host;
	attr.exclude_guest = evsel->core.attr.exclude_guest;
	attr.sample_id_all = evsel->core.attr.sample_id_all;
	attr.read_format = evsel->core.attr.read_format;

	/* As other AUX area events do */
	id = (evsel->core.ids ? evsel->core.id[0] : 0) + 1000000000;
	if (!id)
		id = 1;

	err = perf_session__deliver_synth_attr_event(session, &attr, id);
	if (err)
		return err;
	err = vpadtl__set_event_name(vpa, id, "vpa-dtl");
	if (err)
		return err;

	vpa->skip = vpa->synth_opts.initial_skip;
	vpadtl__set_deliver(vpa);
	vpa->sample_type = attr.sample_type;
	vpa->sample.id = id;
	vpa->sample.stream_id = id;
	vpa->sample.period = 1;
	vpa->sample.raw_size = perf_synth__raw_size(struct perf_synth_powerpc_vpadtl);
	vpa->event.header.type = PERF_RECORD_SAMPLE;
	vpa->event.header.size = sizeof(struct perf_event_header);
	return 0;
}

int powerpc_vpadtl_process_auxtrace_info(union perf_event *event, struct perf_session *session)
{
	struct perf_record_auxtrace_info *auxtrace_info = &event->auxtrace_info;
	u64 priv[POWERPC_VPADTL_AUXTRACE_PRIV_MAX] = { 0, };
	struct powerpc_vpadtl *vpa;
	size_t i, nr;
	int err;

	if (auxtrace_info->header.size < sizeof(struct perf_record_auxtrace_info))
		return -EINVAL;
	nr = (auxtrace_info->header.size - sizeof(struct perf_record_auxtrace_info)) / sizeof(u64);
	nr = min(nr, ARRAY_SIZE(priv));

	for (i = 0; i < nr; i++) {
		priv[i] = auxtrace_info->priv[i];
		if (dump_trace)
			fprintf(stdout, powerpc_vpadtl_info_fmts[i], priv[i]);
	}

	vpa = zalloc(sizeof(*vpa));
	if (!vpa)
		return -ENOMEM;

	err = auxtrace_queues__init(&vpa->queues);
	if (err)
		goto err_free;

	/* A task that has exited still runs until it is switched out */
	symbol_conf.keep_exited_threads = true;

	vpa->session = session;
	vpa->machine = &session->machines.host;
	vpa->pmu_type = priv[POWERPC_VPADTL_PMU_TYPE];
	vpa->big_endian = host_is_bigendian() ^ session->header.needs_swap;
	/* A file that is cut does not tell: that is not this machine's then */
	if (!session->header.env.arch)
		session->header.env.arch = strdup(vpa->big_endian ? "ppc64" : "ppc64le");
	vpa->contiguous = priv[POWERPC_VPADTL_FLAGS] & POWERPC_VPADTL_FLAG_CONTIGUOUS;
	/* Where it fails, the clock stays unknown */
	powerpc_vpadtl_clock__init(&vpa->clock, priv[POWERPC_VPADTL_BOOT_TB],
				   priv[POWERPC_VPADTL_TB_FREQ]);
	vpa->skip = ~0ULL;
	vpadtl__set_deliver(vpa);
	vpa->mode = ~0ULL;
	vpa->read_start = ~0ULL;
	for (i = 0; i < ARRAY_SIZE(vpa->tasks); i++)
		vpadtl__set_task(vpa, i, -1, -1, 0);

	vpa->auxtrace.process_event = powerpc_vpadtl_process_event;
	vpa->auxtrace.process_auxtrace_event = powerpc_vpadtl_process_auxtrace_event;
	vpa->auxtrace.flush_events = powerpc_vpadtl_flush;
	vpa->auxtrace.free_events = powerpc_vpadtl_free_events;
	vpa->auxtrace.free = powerpc_vpadtl_free;
	vpa->auxtrace.evsel_is_auxtrace = powerpc_vpadtl_evsel_is_auxtrace;
	session->auxtrace = &vpa->auxtrace;

	if (dump_trace) {
		err = vpadtl__queue_index(vpa);
		if (err)
			goto err_free_events;
		return 0;
	}

	if (session->itrace_synth_opts && session->itrace_synth_opts->set)
		vpa->synth_opts = *session->itrace_synth_opts;
	else
		itrace_synth_opts__set_default(&vpa->synth_opts, false);

	if (!session->itrace_synth_opts || session->itrace_synth_opts->dont_decode)
		return 0;

	/* The time of an entry is known in perf's own clock alone */
	if (vpadtl__other_clock(session->evlist)) {
		pr_err("vpa_dtl data cannot be decoded: it was recorded with another clock (-k/--clockid)\n"
		       "Use --no-itrace to see the other events\n");
		err = -EINVAL;
		goto err_free_events;
	}

	if (vpa->synth_opts.other_events || vpa->synth_opts.initial_skip) {
		err = vpadtl__synth_events(vpa);
		if (err)
			goto err_free_events;
	}

	err = vpadtl__queue_index(vpa);
	if (!err)
		err = vpadtl__find_clock(vpa);
	if (!err)
		err = vpadtl__schedule_queues(vpa);
	if (err)
		goto err_free_events;

	return 0;

err_free_events:
	powerpc_vpadtl_free(session);
	return err;
err_free:
	free(vpa);
	return err;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arithmetic of perf dtl: what the time between two dispatches was spent on, and
 * distributions of waiting times in bounded memory.
 *
 * Times are timebase ticks of the partition, host byte order.
 */
#ifndef __PERF_UTIL_DTL_STATS_H
#define __PERF_UTIL_DTL_STATS_H

#include <errno.h>
#include <stdbool.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

/**
 * struct dtl_waits - The waits of a log entry, or sums of them.
 * @waiting: from stopping to ready: the wait was the virtual processor's own wish
 *           (cede, confer), or a page fault's
 * @ready: from ready to the run queue
 * @queued: on the run queue
 *
 * @ready and @queued together are stolen time, as the kernel accounts it.
 */
struct dtl_waits {
	u64	waiting;
	u64	ready;
	u64	queued;
};

/**
 * dtl_waits__stolen - Time that others had, though this virtual processor was
 *                     ready.
 * @waits: of an entry, or sums
 *
 * Return: ticks.
 */
static inline u64 dtl_waits__stolen(const struct dtl_waits *waits)
{
	return waits->ready + waits->queued;
}

/**
 * struct dtl_span - What a span of time was spent on; the sum of all is the span.
 * @running: dispatched
 * @unknown: entries of this time are lost: it may have run, or not
 * @in: waits, as far as they lie in the span
 */
struct dtl_span {
	u64			running;
	u64			unknown;
	struct dtl_waits	in;
};

/* Buckets of a power of two: a value is known to half a bucket, 1/64 */
#define DTL_HIST_SUB_BITS	5
#define DTL_HIST_SUB		BIT(DTL_HIST_SUB_BITS)

/* The sum of two times of 32 bits has 33 bits */
#define DTL_HIST_OCTAVES	(33 - DTL_HIST_SUB_BITS + 1)

/**
 * struct dtl_hist - A distribution of times.
 * @count: number of values
 * @total: their sum
 * @max: the greatest
 * @max_time: when the first of the greatest was, as dtl_hist__add() was told
 * @octaves: counts, allocated where there are some: of the values below
 *           DTL_HIST_SUB, then of each power of two in DTL_HIST_SUB parts
 */
struct dtl_hist {
	u64	count;
	u64	total;
	u64	max;
	u64	max_time;
	u64	*octaves[DTL_HIST_OCTAVES];
};

u64 dtl_span__total(const struct dtl_span *span);

u64 dtl__ticks_to_ns(u64 ticks, u32 tb_freq);

int dtl_hist__alloc(struct dtl_hist *hist, unsigned int octave);
u64 dtl_hist__percentile(const struct dtl_hist *hist, unsigned int percent);
void dtl_hist__exit(struct dtl_hist *hist);

/* These are called for each entry. */

/**
 * dtl_span__split - Tell what the time from one dispatch to the next was spent on.
 * @span: the answer
 * @ticks: from the dispatch of the earlier entry to that of the later
 * @waits: of the later entry
 * @gap: entries between the two are lost
 *
 * An entry's waits end at its dispatch, in the order waiting, ready, queued; what
 * remains before them is time dispatched. With a gap it is not known what it is.
 *
 * Return: true; false where the waits are longer than the span: they are then
 *         cut at its start.
 */
static inline bool dtl_span__split(struct dtl_span *span, u64 ticks,
				   const struct dtl_waits *waits, bool gap)
{
	u64 sum = waits->waiting + dtl_waits__stolen(waits);
	bool fits = sum <= ticks;
	u64 left = fits ? ticks - sum : 0;

	span->in = *waits;
	if (unlikely(!fits)) {
		span->in.queued = min(waits->queued, ticks);
		span->in.ready = min(waits->ready, ticks - span->in.queued);
		span->in.waiting = ticks - dtl_waits__stolen(&span->in);
	}
	span->running = gap ? 0 : left;
	span->unknown = gap ? left : 0;
	return fits;
}

/**
 * dtl_hist__add - Count a value.
 * @hist: distribution, zeroed before the first value
 * @value: ticks, less than 2^33
 * @time: when it was, in any unit
 *
 * Return: 0, or -ENOMEM.
 */
static inline int dtl_hist__add(struct dtl_hist *hist, u64 value, u64 time)
{
	unsigned int octave = 0;
	u64 sub = value;

	if (value >= DTL_HIST_SUB) {
		octave = 63 - __builtin_clzll(value) - DTL_HIST_SUB_BITS + 1;
		sub = (value >> (octave - 1)) - DTL_HIST_SUB;
	}

	if (unlikely(!hist->octaves[octave]) && dtl_hist__alloc(hist, octave))
		return -ENOMEM;

	hist->octaves[octave][sub]++;
	if (unlikely(value > hist->max || !hist->count)) {
		hist->max = value;
		hist->max_time = time;
	}
	hist->count++;
	hist->total += value;
	return 0;
}

#endif

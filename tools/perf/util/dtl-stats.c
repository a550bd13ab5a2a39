// SPDX-License-Identifier: GPL-2.0
/*
 * Arithmetic of perf dtl: see dtl-stats.h.
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "dtl-stats.h"

/**
 * dtl_span__total - The length of a span.
 * @span: one span, or sums
 *
 * Return: ticks.
 */
u64 dtl_span__total(const struct dtl_span *span)
{
	return span->running + span->unknown + span->in.waiting + dtl_waits__stolen(&span->in);
}

/**
 * dtl__ticks_to_ns - Convert a duration.
 * @ticks: timebase ticks
 * @tb_freq: ticks per second, not zero
 *
 * Return: nanoseconds, rounded down.
 */
u64 dtl__ticks_to_ns(u64 ticks, u32 tb_freq)
{
	return ticks / tb_freq * NSEC_PER_SEC + ticks % tb_freq * NSEC_PER_SEC / tb_freq;
}

/**
 * dtl_hist__alloc - Make room for counts.
 * @hist: distribution
 * @octave: of the values to be counted, of which there is none yet
 *
 * Return: 0, or -ENOMEM.
 */
int dtl_hist__alloc(struct dtl_hist *hist, unsigned int octave)
{
	hist->octaves[octave] = calloc(DTL_HIST_SUB, sizeof(u64));
	return hist->octaves[octave] ? 0 : -ENOMEM;
}

/**
 * dtl_hist__percentile - The value that so many percent of all do not exceed.
 * @hist: distribution
 * @percent: 1 to 100
 *
 * Return: that value of rank ceil(count * percent / 100), or one that is not more
 *         than 1/64 of it away. 0 where there are no values.
 */
u64 dtl_hist__percentile(const struct dtl_hist *hist, unsigned int percent)
{
	u64 rank = hist->count / 100 * percent + DIV_ROUND_UP(hist->count % 100 * percent, 100);
	unsigned int octave, sub;
	u64 value = 0;

	for (octave = 0; octave < DTL_HIST_OCTAVES; octave++) {
		if (!hist->octaves[octave])
			continue;
		for (sub = 0; sub < DTL_HIST_SUB; sub++) {
			if (hist->octaves[octave][sub] < rank) {
				rank -= hist->octaves[octave][sub];
				continue;
			}
			value = sub;
			if (octave) {
				/* The middle of the bucket */
				value = (u64)(DTL_HIST_SUB + sub) << (octave - 1);
				value += 1ULL << (octave - 1) >> 1;
			}
			return min(value, hist->max);
		}
	}

	return 0;
}

/**
 * dtl_hist__exit - Free what a distribution holds.
 * @hist: distribution, zeroed afterwards
 */
void dtl_hist__exit(struct dtl_hist *hist)
{
	unsigned int octave;

	for (octave = 0; octave < DTL_HIST_OCTAVES; octave++)
		free(hist->octaves[octave]);
	*hist = (struct dtl_hist){ .count = 0, };
}

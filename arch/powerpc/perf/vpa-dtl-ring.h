/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can be taken out of the hypervisor's dispatch trace log, and what is lost
 *
 * The log of a virtual processor is a ring of VPA_DTL_SLOTS entries, and a count
 * of all that were ever written to it: entry n stands in slot n mod
 * VPA_DTL_SLOTS. The hypervisor does not know how far anyone has read; it
 * overwrites the oldest entry. But the count never stops, so a reader that keeps
 * the count up to which it has read always knows how many it missed.
 *
 * The hypervisor writes while the virtual processor is not dispatched: first the
 * entry, then the count, both before the processor runs on. Code that reads the
 * log of the processor that it runs on, with interrupts off, therefore sees an
 * entry and its count appear as one, between two of its own instructions. As
 * long as the count does not move while entries are copied, each of the last
 * VPA_DTL_SLOTS entries is whole; when it does, the processor was preempted in
 * between, and the oldest of what was copied may be a newer entry, or half of
 * one.
 *
 * Nothing here touches the log or perf, so that a test can reach all of it.
 */
#ifndef _POWERPC_PERF_VPA_DTL_RING_H
#define _POWERPC_PERF_VPA_DTL_RING_H

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Entries of a log: as many of 48 bytes as its 4096 bytes hold */
#define VPA_DTL_SLOTS	85

/**
 * struct vpa_dtl_span - a run of entries that are taken, and what was lost
 * @first: number of the first entry taken
 * @written: the log's count that this follows from
 * @lost: entries before @first that nobody has read, overwritten by now
 * @count: entries taken; fewer than @written - @first where room is short
 * @copied: the most entries that were copied at once, in an attempt that was
 *	given up for a smaller one; at least @count
 * @reset: the count was set back since the last look: @lost knows only of
 *	entries that were written after that
 */
struct vpa_dtl_span {
	u64	first;
	u64	written;
	u64	lost;
	u32	count;
	u32	copied;
	bool	reset;
};

/**
 * vpa_dtl_since - entries between two readings of a log's count
 * @then: the earlier reading
 * @now: the later one; below @then if the count was set back to 0 since
 *
 * Return: the number of entries, as far as the count can tell.
 */
static inline u64 vpa_dtl_since(u64 then, u64 now)
{
	return now >= then ? now - then : now;
}

/**
 * vpa_dtl_span - the oldest entries that can be taken now
 * @seen: the count up to which entries were taken or called lost before
 * @written: the log's count
 * @room: how many entries there is room for
 * @spare: of the oldest entries, how many to give up for the sake of those
 *	that the hypervisor may write before they are copied
 *
 * Return: the span, of which @copied is not set.
 */
static inline struct vpa_dtl_span vpa_dtl_span(u64 seen, u64 written, u64 room,
					       u32 spare)
{
	u32 keep = VPA_DTL_SLOTS - min_t(u32, spare, VPA_DTL_SLOTS);
	struct vpa_dtl_span span = { .first = seen, .written = written };
	u64 pending;

	if (unlikely(written < seen)) {
		span.first = 0;
		span.reset = true;
	}

	pending = written - span.first;
	if (unlikely(pending > keep)) {
		span.lost = pending - keep;
		span.first += span.lost;
		pending = keep;
	}
	span.count = min(pending, room);

	return span;
}

/**
 * vpa_dtl_intact - whether what was copied is what the span says
 * @span: what was copied
 * @written: the log's count after that
 *
 * Return: false if the first entry, at least, may have been overwritten.
 */
static inline bool vpa_dtl_intact(const struct vpa_dtl_span *span, u64 written)
{
	/* a count set back is below first, and the difference huge */
	return !span->count || written - span->first <= VPA_DTL_SLOTS;
}

/**
 * vpa_dtl_left - what a span left in the log
 * @span: what was taken
 *
 * Return: the number of entries there was no room for.
 */
static inline u64 vpa_dtl_left(const struct vpa_dtl_span *span)
{
	return span->written - span->first - span->count;
}

/**
 * vpa_dtl_take - copy the entries that are certain
 * @seen: the count up to which entries were taken or called lost before
 * @room: how many entries there is room for
 * @written: gives the log's count
 * @copy: copies entries to where there is room, over what it copied before
 * @arg: handed to both
 *
 * Each attempt after the first gives up more of the oldest entries, so that a
 * hypervisor which writes as fast as we copy cannot keep us here: the eighth
 * attempt takes nothing.
 *
 * The caller runs on the log's processor with interrupts off.
 *
 * Return: what the last attempt copied, which may be nothing.
 */
static __always_inline struct vpa_dtl_span
vpa_dtl_take(u64 seen, u64 room, u64 (*written)(void *arg),
	     void (*copy)(void *arg, u64 first, u32 count), void *arg)
{
	struct vpa_dtl_span span;
	u64 now = written(arg);
	u32 copied = 0;
	u32 spare = 0;

	for (;;) {
		span = vpa_dtl_span(seen, now, room, spare);
		copied = max(copied, span.count);
		if (span.count)
			copy(arg, span.first, span.count);
		/*
		 * The copy comes before the second look at the count. Nothing
		 * but the compiler can turn them around: who writes the count
		 * has this processor stopped.
		 */
		barrier();
		now = written(arg);
		if (likely(vpa_dtl_intact(&span, now)))
			break;
		spare = 2 * spare + 1;
	}
	span.copied = copied;

	return span;
}

/**
 * vpa_dtl_next_interval - when to look at the log again
 * @interval: nanoseconds between the last two looks
 * @found: entries that were written in it
 * @shortest: nanoseconds, not 0
 * @longest: nanoseconds, at least @shortest, at most 2^57
 *
 * At the rate just seen, the log is half full then. After a quiet interval the
 * next is twice as long.
 *
 * Return: nanoseconds, from @shortest to @longest.
 */
static inline u64 vpa_dtl_next_interval(u64 interval, u64 found, u64 shortest,
					u64 longest)
{
	const u32 half = VPA_DTL_SLOTS / 2;

	if (found <= half / 2)
		interval *= 2;
	else
		interval = div64_u64(interval * half, found);

	return clamp(interval, shortest, longest);
}

#endif /* _POWERPC_PERF_VPA_DTL_RING_H */

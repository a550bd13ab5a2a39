/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PowerPC dispatch trace log (vpa_dtl) decoder: from the bytes of an AUX area
 * stream to log entries and their times.
 *
 * Pure: no perf types, no allocation, no I/O, and no state but what the caller
 * holds. One decoder serves one stream, that is one CPU.
 */
#ifndef INCLUDE__POWERPC_VPADTL_DECODER_H__
#define INCLUDE__POWERPC_VPADTL_DECODER_H__

#include <stdbool.h>
#include <stddef.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/* Bytes of a frame: a log entry as the hypervisor wrote it, or a header */
#define POWERPC_VPADTL_FRAME_SIZE	48

/* Offset in an entry of its timebase, which is zero in a header frame */
#define POWERPC_VPADTL_ENTRY_TIMEBASE	16

/* In a header frame: "VPADTL", version 1: frames run on through AUX laps */
#define POWERPC_VPADTL_MAGIC		0x56504144544c0001ULL

/* Room for a reason's name, or "unknown(255)" */
#define POWERPC_VPADTL_REASON_MAX	32

/* Room for the text of an entry */
#define POWERPC_VPADTL_TEXT_MAX		256

/* Machine state register: problem (user) state, hypervisor state */
#define POWERPC_VPADTL_MSR_PR		BIT_ULL(14)
#define POWERPC_VPADTL_MSR_HV		BIT_ULL(60)

/**
 * struct powerpc_vpadtl_entry - A log entry in host byte order (PAPR, "Dispatch
 *                               Trace Log Buffer").
 * @dispatch_reason: code of why the virtual processor runs again
 * @preempt_reason: code of why it had stopped
 * @processor_id: index of the physical processor it was dispatched on
 * @enqueue_to_dispatch_time: timebase ticks on the run queue
 * @ready_to_enqueue_time: timebase ticks from ready to the run queue
 * @waiting_to_ready_time: timebase ticks from stopping to ready
 * @timebase: the partition's timebase at dispatch
 * @fault_addr: fault address, where a page fault stopped it
 * @srr0: address of the next instruction
 * @srr1: machine state register
 */
struct powerpc_vpadtl_entry {
	u8	dispatch_reason;
	u8	preempt_reason;
	u16	processor_id;
	u32	enqueue_to_dispatch_time;
	u32	ready_to_enqueue_time;
	u32	waiting_to_ready_time;
	u64	timebase;
	u64	fault_addr;
	u64	srr0;
	u64	srr1;
};

/**
 * powerpc_vpadtl_entry__read - Get the fields of a log entry.
 * @entry: the fields, in host byte order
 * @frame: 48 bytes as the hypervisor wrote them, at any alignment
 */
static inline void powerpc_vpadtl_entry__read(struct powerpc_vpadtl_entry *entry,
					      const void *frame)
{
	const u8 *p = frame;

	entry->dispatch_reason = p[0];
	entry->preempt_reason = p[1];
	entry->processor_id = get_unaligned_be16(p + 2);
	entry->enqueue_to_dispatch_time = get_unaligned_be32(p + 4);
	entry->ready_to_enqueue_time = get_unaligned_be32(p + 8);
	entry->waiting_to_ready_time = get_unaligned_be32(p + 12);
	entry->timebase = get_unaligned_be64(p + 16);
	entry->fault_addr = get_unaligned_be64(p + 24);
	entry->srr0 = get_unaligned_be64(p + 32);
	entry->srr1 = get_unaligned_be64(p + 40);
}

/**
 * powerpc_vpadtl_entry__stolen - Time that others had, though this virtual
 *                                processor was ready.
 * @entry: a log entry
 *
 * Return: timebase ticks, as the kernel's stolen time accounting sums them.
 */
static inline u64 powerpc_vpadtl_entry__stolen(const struct powerpc_vpadtl_entry *entry)
{
	return (u64)entry->ready_to_enqueue_time + entry->enqueue_to_dispatch_time;
}

/**
 * struct powerpc_vpadtl_clock - How timebase ticks become perf's time: the
 *                               arithmetic of the kernel's sched_clock().
 * @boot_tb: timebase at which the kernel's clock was zero
 * @first_tb: the lowest that an entry can have: @boot_tb, but zero is a header's
 * @tb_freq: timebase ticks per second, zero: no clock is known
 * @scale: nanoseconds per tick, as a binary fraction of 64 bits ...
 * @shift: ... to be shifted left by this
 */
struct powerpc_vpadtl_clock {
	u64		boot_tb;
	u64		first_tb;
	u64		tb_freq;
	u64		scale;
	unsigned int	shift;
};

/* The high 64 bits of a product */
static inline u64 powerpc_vpadtl__mulhdu(u64 a, u64 b)
{
#ifdef __SIZEOF_INT128__
	return ((unsigned __int128)a * b) >> 64;
#else
	u64 a_lo = (u32)a, a_hi = a >> 32, b_lo = (u32)b, b_hi = b >> 32;
	u64 mid1 = a_hi * b_lo + ((a_lo * b_lo) >> 32);
	u64 mid2 = a_lo * b_hi + (u32)mid1;

	return a_hi * b_hi + (mid1 >> 32) + (mid2 >> 32);
#endif
}

/**
 * powerpc_vpadtl_clock__time - Time of a timebase.
 * @clock: a clock that powerpc_vpadtl_clock__init() set up
 * @tb: timebase in ticks, not less than the clock's @boot_tb
 *
 * Return: nanoseconds, to the bit what the kernel's sched_clock() gives.
 */
static inline u64 powerpc_vpadtl_clock__time(const struct powerpc_vpadtl_clock *clock, u64 tb)
{
	return powerpc_vpadtl__mulhdu(tb - clock->boot_tb, clock->scale) << clock->shift;
}

/**
 * powerpc_vpadtl_clock__entry_time - Time of an entry.
 * @clock: a clock that powerpc_vpadtl_clock__init() set up
 * @frame: 48 bytes as the hypervisor wrote them, at any alignment
 * @time: becomes nanoseconds of the kernel's sched_clock()
 *
 * Return: whether there is a time: not so for a header frame, nor for a timebase
 *         from before the kernel's clock started.
 */
static inline bool powerpc_vpadtl_clock__entry_time(const struct powerpc_vpadtl_clock *clock,
						    const u8 *frame, u64 *time)
{
	u64 tb = get_unaligned_be64(frame + POWERPC_VPADTL_ENTRY_TIMEBASE);

	if (unlikely(tb < clock->first_tb))
		return false;

	*time = powerpc_vpadtl_clock__time(clock, tb);
	return true;
}

/**
 * enum powerpc_vpadtl_error - What can be wrong with a stream.
 * @POWERPC_VPADTL_ERR_LOST: stream offsets jump forward, bytes are missing
 * @POWERPC_VPADTL_ERR_BACK: stream offsets go back; the data is decoded
 * @POWERPC_VPADTL_ERR_PARTIAL: bytes that are not a whole frame
 * @POWERPC_VPADTL_ERR_HEADER: a header frame without a usable frequency, or an
 *                             entry whose timebase is zero
 * @POWERPC_VPADTL_ERR_NO_CLOCK: an entry before any clock is known
 * @POWERPC_VPADTL_ERR_TIMEBASE: an entry from before the kernel's clock started
 * @POWERPC_VPADTL_ERR_ORDER: for the caller: an entry that came too late to be
 *                            put in the order of time
 * @POWERPC_VPADTL_ERR_RECORD: for the caller: a record that cannot be what it
 *                             says, so there is no stream that it could belong to
 */
enum powerpc_vpadtl_error {
	POWERPC_VPADTL_ERR_LOST = 1,
	POWERPC_VPADTL_ERR_BACK,
	POWERPC_VPADTL_ERR_PARTIAL,
	POWERPC_VPADTL_ERR_HEADER,
	POWERPC_VPADTL_ERR_NO_CLOCK,
	POWERPC_VPADTL_ERR_TIMEBASE,
	POWERPC_VPADTL_ERR_ORDER,
	POWERPC_VPADTL_ERR_RECORD,
	/* private: their number */
	POWERPC_VPADTL_ERR_MAX
};

/**
 * enum powerpc_vpadtl_item - What powerpc_vpadtl_decoder__next() found.
 * @POWERPC_VPADTL_END: nothing more in the data that was fed
 * @POWERPC_VPADTL_ENTRY: a log entry
 * @POWERPC_VPADTL_HEADER: a header frame, whose clock now applies
 * @POWERPC_VPADTL_ERROR: see &enum powerpc_vpadtl_error
 */
enum powerpc_vpadtl_item {
	POWERPC_VPADTL_END,
	POWERPC_VPADTL_ENTRY,
	POWERPC_VPADTL_HEADER,
	POWERPC_VPADTL_ERROR,
};

/**
 * struct powerpc_vpadtl_decoder - The state of one stream.
 * @clock: in force; the caller may preset it with powerpc_vpadtl_clock__init()
 * @contiguous: frames run on through AUX laps: every frame starts at a multiple
 *              of its size. Otherwise each lap of the AUX area starts with a
 *              frame and the odd bytes at its end are none. The caller may
 *              preset it; a header frame with the magic number sets it.
 * @frame: the frame found, valid until the next call (entry, header, and errors
 *         about a frame; else NULL)
 * @offset: stream offset of what was found
 * @time: of the entry found, in nanoseconds of the kernel's sched_clock()
 * @error: the error found
 * @error_size: bytes that the error is about
 *
 * The rest is the decoder's own.
 */
struct powerpc_vpadtl_decoder {
	struct powerpc_vpadtl_clock	clock;
	bool				contiguous;

	const u8			*frame;
	u64				offset;
	u64				time;
	enum powerpc_vpadtl_error	error;
	u64				error_size;

	/* private: */
	bool				big_endian;	/* header frames */
	bool				started;	/* something was fed */
	bool				pending;	/* see decode_pending() */
	bool				resync;		/* find the next frame start ... */
	unsigned int			skip;		/* ... which is so far away */
	u64				lap_min;	/* AUX area size, ... */
	u64				lap_max;	/* ... as far as known */
	u64				last_tb;	/* of the last entry, or 0 */
	const u8			*data;		/* what was fed ... */
	size_t				size;
	size_t				pos;		/* ... and how far we are */
	size_t				plain_size;	/* up to here: whole frames of
							 * a contiguous stream with
							 * a clock, nothing pending
							 */
	u64				data_offset;	/* stream offset of data */
	u64				jump;		/* pending LOST or BACK, bytes */
	bool				jump_back;
	size_t				dropped;	/* pending PARTIAL, bytes */
	u64				dropped_offset;
	unsigned int			carry_size;	/* start of a frame ... */
	u64				carry_offset;	/* ... whose rest may come */
	u8				carry[POWERPC_VPADTL_FRAME_SIZE];
};

int powerpc_vpadtl_clock__init(struct powerpc_vpadtl_clock *clock, u64 boot_tb, u64 tb_freq);

void powerpc_vpadtl_decoder__init(struct powerpc_vpadtl_decoder *d, bool big_endian);
void powerpc_vpadtl_decoder__feed(struct powerpc_vpadtl_decoder *d, const void *data,
				  size_t size, u64 offset);
void powerpc_vpadtl_decoder__finish(struct powerpc_vpadtl_decoder *d);
enum powerpc_vpadtl_item powerpc_vpadtl_decoder__next_item(struct powerpc_vpadtl_decoder *d);

/**
 * powerpc_vpadtl_decoder__next - Find the next item in what was fed.
 * @d: decoder
 *
 * An error ends nothing: go on until POWERPC_VPADTL_END. Each call but the last
 * consumes something, so the calls are at most as many as the frames fed and
 * three for each feed. Frames in a row that have the same fault make one error.
 *
 * Return: what was found; see &struct powerpc_vpadtl_decoder for its particulars.
 */
static inline enum powerpc_vpadtl_item
powerpc_vpadtl_decoder__next(struct powerpc_vpadtl_decoder *d)
{
	if (d->pos + POWERPC_VPADTL_FRAME_SIZE <= d->plain_size) {
		const u8 *frame = d->data + d->pos;

		if (likely(powerpc_vpadtl_clock__entry_time(&d->clock, frame, &d->time))) {
			d->frame = frame;
			d->offset = d->data_offset + d->pos;
			d->pos += POWERPC_VPADTL_FRAME_SIZE;
			return POWERPC_VPADTL_ENTRY;
		}
	}

	return powerpc_vpadtl_decoder__next_item(d);
}

/**
 * powerpc_vpadtl_decoder__plain - Find frames that can be taken without the decoder.
 * @d: decoder
 * @frames: becomes the first of them
 *
 * From the first of them, those are entries for which
 * powerpc_vpadtl_clock__entry_time() tells a time. How many of these were taken
 * is to be told with powerpc_vpadtl_decoder__take().
 *
 * Return: how many there are, often none.
 */
static inline size_t powerpc_vpadtl_decoder__plain(const struct powerpc_vpadtl_decoder *d,
						   const u8 **frames)
{
	*frames = d->data + d->pos;
	return d->pos < d->plain_size ? (d->plain_size - d->pos) / POWERPC_VPADTL_FRAME_SIZE : 0;
}

/**
 * powerpc_vpadtl_decoder__take - Go on after entries that were taken.
 * @d: decoder
 * @nr: of the frames that powerpc_vpadtl_decoder__plain() found, not zero
 * @time: of the last of them
 */
static inline void powerpc_vpadtl_decoder__take(struct powerpc_vpadtl_decoder *d, size_t nr,
						u64 time)
{
	d->pos += nr * POWERPC_VPADTL_FRAME_SIZE;
	d->offset = d->data_offset + d->pos - POWERPC_VPADTL_FRAME_SIZE;
	d->time = time;
}

const char *powerpc_vpadtl__dispatch_reason(u8 code, char *buf);
const char *powerpc_vpadtl__preempt_reason(u8 code, char *buf);
int powerpc_vpadtl_entry__text_reasons_times(const struct powerpc_vpadtl_entry *entry, char *buf);
int powerpc_vpadtl_entry__text(const struct powerpc_vpadtl_entry *entry, char *buf);
const char *powerpc_vpadtl__strerror(enum powerpc_vpadtl_error error);

#endif

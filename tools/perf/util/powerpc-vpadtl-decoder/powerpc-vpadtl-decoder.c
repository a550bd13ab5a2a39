// SPDX-License-Identifier: GPL-2.0
/*
 * PowerPC dispatch trace log (vpa_dtl) decoder
 *
 * A stream is the sequence of bytes that went through the AUX area of one CPU;
 * the stream offset of a byte is its number. It consists of frames of 48 bytes,
 * which do not divide the size of an AUX area. Two layouts are known:
 *
 * - contiguous: frames run on through the wraps of the AUX area, so every frame
 *   starts at a stream offset that is a multiple of 48. A header frame with the
 *   magic number tells so.
 *
 * - laps: each lap of the AUX area starts with a frame, and the bytes that are
 *   left at its end (16 or 32, for a power of two of pages) are never written.
 *   The size of the AUX area is not in the file. It is a power of two, and at
 *   the end of a lap there are zeros where the next frame would start, so it
 *   shows at the first wrap: lap_min and lap_max close in on it.
 *
 * A header frame has zero where an entry has its timebase.
 */
#include <stdio.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/unaligned.h>

#include "powerpc-vpadtl-decoder.h"

#define FRAME_SIZE	POWERPC_VPADTL_FRAME_SIZE

/* No AUX area is smaller, nor does a lap end elsewhere than at a page's end */
#define LAP_UNIT	4096
#define LAP_UNKNOWN	(~0ULL)

#define ENTRY_TIMEBASE	POWERPC_VPADTL_ENTRY_TIMEBASE

/* Offsets in a header frame, whose 64-bit words are in the kernel's byte order */
#define HEADER_BOOT_TB	0
#define HEADER_TB_FREQ	8
#define HEADER_MAGIC	24

#define NSECS_PER_SEC	1000000000ULL

/**
 * powerpc_vpadtl_clock__init - Set up the conversion of timebase to time.
 * @clock: to be set up; left alone on error
 * @boot_tb: timebase at which the kernel's clock was zero, in ticks
 * @tb_freq: timebase frequency in ticks per second
 *
 * Does what the kernel's time_init() does (arch/powerpc/kernel/time.c): 10^9 *
 * 2^64 / @tb_freq, shifted right until it fits 64 bits.
 *
 * Return: 0, or -1 where @tb_freq is zero.
 */
int powerpc_vpadtl_clock__init(struct powerpc_vpadtl_clock *clock, u64 boot_tb, u64 tb_freq)
{
	unsigned int shift = 0;
	u64 high, low = 0, rem;
	int i;

	if (!tb_freq)
		return -1;

	high = NSECS_PER_SEC / tb_freq;
	rem = NSECS_PER_SEC % tb_freq;

	/* The low 64 bits of the quotient, by long division */
	for (i = 0; i < 64; i++) {
		bool carry = rem >> 63;

		rem <<= 1;
		low <<= 1;
		if (carry || rem >= tb_freq) {
			rem -= tb_freq;
			low |= 1;
		}
	}

	for (; high; shift++) {
		low = (low >> 1) | (high << 63);
		high >>= 1;
	}

	clock->boot_tb = boot_tb;
	clock->first_tb = max_t(u64, boot_tb, 1);
	clock->tb_freq = tb_freq;
	clock->scale = low;
	clock->shift = shift;
	return 0;
}

/* PAPR has two codes of one name */
static const char * const dispatch_reasons[] = {
	[0]	= "external_interrupt",
	[1]	= "firmware_internal_event",
	[2]	= "H_PROD",
	[3]	= "decrementer_interrupt",
	[4]	= "system_reset",
	[5]	= "firmware_internal_event",
	[6]	= "conferred_cycles",
	[7]	= "time_slice",
	[8]	= "virtual_memory_page_fault",
	[9]	= "expropriated_adjunct",
	[10]	= "priv_doorbell",
};

static const char * const preempt_reasons[] = {
	[0]	= "unused",
	[1]	= "firmware_internal_event",
	[2]	= "H_CEDE",
	[3]	= "H_CONFER",
	[4]	= "time_slice",
	[5]	= "migration_hibernation_page_fault",
	[6]	= "virtual_memory_page_fault",
	[7]	= "H_CONFER_ADJUNCT",
	[8]	= "hcall_adjunct",
	[9]	= "HDEC_adjunct",
};

static const char *reason(const char * const *names, size_t nr, u8 code, char *buf)
{
	if (code < nr)
		return names[code];

	snprintf(buf, POWERPC_VPADTL_REASON_MAX, "unknown(%u)", code);
	return buf;
}

/**
 * powerpc_vpadtl__dispatch_reason - Name of a dispatch reason.
 * @code: of a log entry
 * @buf: POWERPC_VPADTL_REASON_MAX bytes, used where the code has no name
 *
 * Return: the name, or "unknown(CODE)".
 */
const char *powerpc_vpadtl__dispatch_reason(u8 code, char *buf)
{
	return reason(dispatch_reasons, ARRAY_SIZE(dispatch_reasons), code, buf);
}

/**
 * powerpc_vpadtl__preempt_reason - Name of a preempt reason.
 * @code: of a log entry
 * @buf: POWERPC_VPADTL_REASON_MAX bytes, used where the code has no name
 *
 * Return: the name, or "unknown(CODE)".
 */
const char *powerpc_vpadtl__preempt_reason(u8 code, char *buf)
{
	return reason(preempt_reasons, ARRAY_SIZE(preempt_reasons), code, buf);
}

static char *put_decimal(char *p, u64 n)
{
	char digits[20];
	int i = 0;

	do {
		digits[i++] = '0' + n % 10;
		n /= 10;
	} while (n);
	while (i)
		*p++ = digits[--i];

	return p;
}

static char *put_reasons_times(char *p, const struct powerpc_vpadtl_entry *entry)
{
	char name[POWERPC_VPADTL_REASON_MAX];

	p = stpcpy(p, "dispatch_reason:");
	p = stpcpy(p, powerpc_vpadtl__dispatch_reason(entry->dispatch_reason, name));
	p = stpcpy(p, ", preempt_reason:");
	p = stpcpy(p, powerpc_vpadtl__preempt_reason(entry->preempt_reason, name));
	p = stpcpy(p, ", enqueue_to_dispatch_time:");
	p = put_decimal(p, entry->enqueue_to_dispatch_time);
	p = stpcpy(p, ", ready_to_enqueue_time:");
	p = put_decimal(p, entry->ready_to_enqueue_time);
	p = stpcpy(p, ", waiting_to_ready_time:");
	return put_decimal(p, entry->waiting_to_ready_time);
}

/**
 * powerpc_vpadtl_entry__text_reasons_times - Text of an entry's reasons and times.
 * @entry: a log entry
 * @buf: POWERPC_VPADTL_TEXT_MAX bytes, which get the text and a NUL
 *
 * printf() would take longer than all else that is done for an entry.
 *
 * Return: the length of the text.
 */
int powerpc_vpadtl_entry__text_reasons_times(const struct powerpc_vpadtl_entry *entry, char *buf)
{
	char *p = put_reasons_times(buf, entry);

	*p = '\0';
	return p - buf;
}

/**
 * powerpc_vpadtl_entry__text - Text of an entry.
 * @entry: a log entry
 * @buf: POWERPC_VPADTL_TEXT_MAX bytes, which get the text and a NUL
 *
 * Return: the length of the text.
 */
int powerpc_vpadtl_entry__text(const struct powerpc_vpadtl_entry *entry, char *buf)
{
	char *p = stpcpy(buf, "timebase: ");

	p = put_decimal(p, entry->timebase);
	*p++ = ' ';
	p = put_reasons_times(p, entry);
	p = stpcpy(p, ", processor_id: ");
	p = put_decimal(p, entry->processor_id);
	*p = '\0';
	return p - buf;
}

/**
 * powerpc_vpadtl__strerror - What an error means, for messages.
 * @error: as powerpc_vpadtl_decoder__next() left it
 *
 * Return: a text of less than 64 bytes, the room of an auxtrace error.
 */
const char *powerpc_vpadtl__strerror(enum powerpc_vpadtl_error error)
{
	switch (error) {
	case POWERPC_VPADTL_ERR_LOST:
		return "Trace data is missing";
	case POWERPC_VPADTL_ERR_BACK:
		return "Stream offset goes back";
	case POWERPC_VPADTL_ERR_PARTIAL:
		return "Bytes that are no whole frame";
	case POWERPC_VPADTL_ERR_HEADER:
		return "Bad header frame or zero timebase";
	case POWERPC_VPADTL_ERR_NO_CLOCK:
		return "Entries without a clock";
	case POWERPC_VPADTL_ERR_TIMEBASE:
		return "Timebase from before boot";
	case POWERPC_VPADTL_ERR_ORDER:
		return "Entry out of time order";
	case POWERPC_VPADTL_ERR_RECORD:
		return "Damaged AUXTRACE record or index";
	case POWERPC_VPADTL_ERR_MAX:
	default:
		return "Unknown error";
	}
}

/**
 * powerpc_vpadtl_decoder__init - Start a stream.
 * @d: decoder
 * @big_endian: the byte order of the kernel that recorded, for header frames
 *
 * The caller may then preset @d->clock and @d->contiguous.
 */
void powerpc_vpadtl_decoder__init(struct powerpc_vpadtl_decoder *d, bool big_endian)
{
	memset(d, 0, sizeof(*d));
	d->big_endian = big_endian;
	d->lap_min = LAP_UNIT;
	d->lap_max = LAP_UNKNOWN;
}

/* What was carried over will not be completed */
static void drop_carry(struct powerpc_vpadtl_decoder *d)
{
	d->dropped = d->carry_size;
	d->dropped_offset = d->carry_offset;
	d->carry_size = 0;
}

/**
 * powerpc_vpadtl_decoder__feed - Give the next piece of the stream.
 * @d: decoder, of which powerpc_vpadtl_decoder__next() has returned
 *     POWERPC_VPADTL_END, or that is new
 * @data: bytes of the stream, at any alignment, that stay where they are until
 *        powerpc_vpadtl_decoder__next() returns POWERPC_VPADTL_END
 * @size: number of bytes
 * @offset: stream offset of the first
 */
void powerpc_vpadtl_decoder__feed(struct powerpc_vpadtl_decoder *d, const void *data,
				  size_t size, u64 offset)
{
	u64 expected = d->data_offset + d->size;

	if (!d->started || offset != expected) {
		drop_carry(d);
		if (d->started) {
			d->jump_back = offset < expected;
			d->jump = d->jump_back ? expected - offset : offset - expected;
		}
		d->resync = true;
	}

	d->started = true;
	d->data = data;
	d->size = size;
	d->pos = 0;
	d->data_offset = offset;
	d->pending = d->resync || d->skip || d->carry_size || d->dropped;
	d->plain_size = 0;
}

/**
 * powerpc_vpadtl_decoder__finish - End the stream.
 * @d: decoder, of which powerpc_vpadtl_decoder__next() has returned
 *     POWERPC_VPADTL_END
 *
 * powerpc_vpadtl_decoder__next() then tells of a last frame that is not whole.
 */
void powerpc_vpadtl_decoder__finish(struct powerpc_vpadtl_decoder *d)
{
	drop_carry(d);
	d->pending = d->dropped;
	d->plain_size = 0;
}

static enum powerpc_vpadtl_item decode_error(struct powerpc_vpadtl_decoder *d,
					     enum powerpc_vpadtl_error error,
					     u64 offset, u64 size)
{
	d->error = error;
	d->offset = offset;
	d->error_size = size;
	return POWERPC_VPADTL_ERROR;
}

static u64 header_word(const struct powerpc_vpadtl_decoder *d, const u8 *frame,
		       unsigned int offset)
{
	return d->big_endian ? get_unaligned_be64(frame + offset) :
			       get_unaligned_le64(frame + offset);
}

static enum powerpc_vpadtl_item decode_header(struct powerpc_vpadtl_decoder *d, const u8 *frame,
					      u64 offset)
{
	bool magic = header_word(d, frame, HEADER_MAGIC) == POWERPC_VPADTL_MAGIC;

	/* Who writes the magic, always does */
	if ((d->contiguous && !magic) ||
	    powerpc_vpadtl_clock__init(&d->clock, header_word(d, frame, HEADER_BOOT_TB),
				       header_word(d, frame, HEADER_TB_FREQ)))
		return decode_error(d, POWERPC_VPADTL_ERR_HEADER, offset, FRAME_SIZE);

	d->contiguous = magic;
	return POWERPC_VPADTL_HEADER;
}

static enum powerpc_vpadtl_item decode_frame(struct powerpc_vpadtl_decoder *d, const u8 *frame,
					     u64 offset)
{
	u64 tb = get_unaligned_be64(frame + ENTRY_TIMEBASE);

	d->frame = frame;
	d->offset = offset;
	if (unlikely(!tb))
		return decode_header(d, frame, offset);
	if (unlikely(!d->clock.tb_freq))
		return decode_error(d, POWERPC_VPADTL_ERR_NO_CLOCK, offset, FRAME_SIZE);
	if (unlikely(tb < d->clock.boot_tb))
		return decode_error(d, POWERPC_VPADTL_ERR_TIMEBASE, offset, FRAME_SIZE);

	d->last_tb = tb;
	d->time = powerpc_vpadtl_clock__time(&d->clock, tb);
	return POWERPC_VPADTL_ENTRY;
}

/* Bytes from @offset to the next place where a lap can end */
static unsigned int lap_rest(u64 offset)
{
	return -offset & (LAP_UNIT - 1);
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/*
 * The size of the AUX area may be such that the @odd bytes at @p end a lap. Is
 * that so, or does a frame start here? @p has @size bytes; where @whole, that is
 * up to the end of what was fed, which is where a frame ends, too.
 */
static bool lap_ends_here(const struct powerpc_vpadtl_decoder *d, const u8 *p, size_t size,
			  unsigned int odd, bool whole)
{
	u64 tb_lap = 0, tb_on = 0;
	unsigned int i;

	for (i = 0; i < odd; i++) {
		if (p[i])
			return false;
	}

	/* No frequency and no timebase: that could only be a frame of zeros */
	for (; odd >= ENTRY_TIMEBASE + sizeof(u64) && i < min_t(size_t, size, FRAME_SIZE); i++) {
		if (p[i])
			return true;
	}

	/* The next timebase of either reading */
	if (size >= odd + ENTRY_TIMEBASE + sizeof(u64))
		tb_lap = get_unaligned_be64(p + odd + ENTRY_TIMEBASE);
	if (size >= ENTRY_TIMEBASE + sizeof(u64))
		tb_on = get_unaligned_be64(p + ENTRY_TIMEBASE);
	if (!tb_on && size >= FRAME_SIZE + ENTRY_TIMEBASE + sizeof(u64))
		tb_on = get_unaligned_be64(p + FRAME_SIZE + ENTRY_TIMEBASE);

	if (tb_lap && tb_on && d->last_tb)
		return distance(tb_lap, d->last_tb) < distance(tb_on, d->last_tb);
	if (!whole || (tb_lap && d->last_tb))
		return !tb_on;
	return size % FRAME_SIZE == odd;
}

/* Does a lap end @odd bytes on from @offset, at the bytes at @p? */
static bool lap_ends(struct powerpc_vpadtl_decoder *d, const u8 *p, size_t size, u64 offset,
		     unsigned int odd, bool whole)
{
	u64 end = offset + odd;
	u64 align = end ? end & -end : 1ULL << 63;

	if (align < d->lap_min)
		return false;
	if (align >= d->lap_max)
		return true;
	/* A frame that was cut will be looked at when it is complete */
	if (odd % 16 || (size < FRAME_SIZE && size != odd))
		return false;
	if (lap_ends_here(d, p, size, odd, whole)) {
		d->lap_max = align;
		return true;
	}
	d->lap_min = align < 1ULL << 63 ? align << 1 : align;
	return false;
}

/* Bytes from @offset to the next frame start, as far as that is known */
static unsigned int frame_rest(const struct powerpc_vpadtl_decoder *d, u64 offset)
{
	unsigned int rest;

	if (!d->contiguous) {
		if (d->lap_max == LAP_UNKNOWN)
			return 0;
		offset &= d->lap_max - 1;
		/* The odd bytes at the end of a lap are dealt with as such */
		if (offset + FRAME_SIZE > d->lap_max)
			return 0;
	}
	rest = offset % FRAME_SIZE;
	return rest ? FRAME_SIZE - rest : 0;
}

/* A frame that started in the piece before: complete it */
static enum powerpc_vpadtl_item decode_carry(struct powerpc_vpadtl_decoder *d)
{
	while (1) {
		unsigned int odd;
		size_t more = min((size_t)FRAME_SIZE - d->carry_size, d->size - d->pos);

		memcpy(d->carry + d->carry_size, d->data + d->pos, more);
		d->carry_size += more;
		d->pos += more;
		if (d->carry_size < FRAME_SIZE)
			return POWERPC_VPADTL_END;

		odd = lap_rest(d->carry_offset);
		if (d->contiguous || !odd || odd >= FRAME_SIZE ||
		    !lap_ends(d, d->carry, FRAME_SIZE, d->carry_offset, odd, false))
			break;

		/* It starts after the end of the lap */
		d->carry_size -= odd;
		d->carry_offset += odd;
		memmove(d->carry, d->carry + odd, d->carry_size);
	}

	d->carry_size = 0;
	return decode_frame(d, d->carry, d->carry_offset);
}

/* What is to be done before the data itself. POWERPC_VPADTL_END: nothing more. */
static enum powerpc_vpadtl_item decode_pending(struct powerpc_vpadtl_decoder *d)
{
	enum powerpc_vpadtl_item item;
	u64 n;

	if (d->dropped) {
		n = d->dropped;
		d->dropped = 0;
		return decode_error(d, POWERPC_VPADTL_ERR_PARTIAL, d->dropped_offset, n);
	}

	if (d->jump) {
		n = d->jump;
		d->jump = 0;
		if (d->jump_back)
			return decode_error(d, POWERPC_VPADTL_ERR_BACK, d->data_offset, n);
		return decode_error(d, POWERPC_VPADTL_ERR_LOST, d->data_offset - n, n);
	}

	if (d->resync) {
		d->resync = false;
		d->skip = frame_rest(d, d->data_offset);
	}

	n = min((size_t)d->skip, d->size - d->pos);
	if (n) {
		u64 offset = d->data_offset + d->pos;

		d->skip -= n;
		d->pos += n;
		return decode_error(d, POWERPC_VPADTL_ERR_PARTIAL, offset, n);
	}

	if (d->carry_size) {
		item = decode_carry(d);
		if (item != POWERPC_VPADTL_END)
			return item;
	}

	d->pending = false;
	return POWERPC_VPADTL_END;
}

static enum powerpc_vpadtl_item decode_step(struct powerpc_vpadtl_decoder *d)
{
	const u8 *frame;
	size_t rest;
	u64 offset;

	d->frame = NULL;
	if (unlikely(d->pending)) {
		enum powerpc_vpadtl_item item = decode_pending(d);

		if (item != POWERPC_VPADTL_END)
			return item;
	}

	rest = d->size - d->pos;
	if (!rest)
		return POWERPC_VPADTL_END;
	frame = d->data + d->pos;
	offset = d->data_offset + d->pos;

	if (!d->contiguous) {
		unsigned int odd = lap_rest(offset);

		if (odd && odd < FRAME_SIZE && lap_ends(d, frame, rest, offset, odd, true)) {
			if (odd > rest)
				odd = rest;
			d->pos += odd;
			frame += odd;
			offset += odd;
			rest -= odd;
		}
	}

	if (unlikely(rest < FRAME_SIZE)) {
		memcpy(d->carry, frame, rest);
		d->carry_size = rest;
		d->carry_offset = offset;
		d->pos = d->size;
		return POWERPC_VPADTL_END;
	}

	d->pos += FRAME_SIZE;
	return decode_frame(d, frame, offset);
}

/* An error of a frame: the frames after it that have the same are one with it */
static void join_errors(struct powerpc_vpadtl_decoder *d)
{
	struct powerpc_vpadtl_decoder first = *d, last = *d;
	u64 size = d->error_size;

	while (decode_step(d) == POWERPC_VPADTL_ERROR && d->frame &&
	       d->error == first.error && d->offset == first.offset + size) {
		size += FRAME_SIZE;
		last = *d;
	}

	*d = last;
	d->frame = first.frame;
	d->offset = first.offset;
	d->error_size = size;
}

/**
 * powerpc_vpadtl_decoder__next_item - powerpc_vpadtl_decoder__next() where it is
 *                                     not plain.
 * @d: decoder
 *
 * Return: what was found.
 */
enum powerpc_vpadtl_item powerpc_vpadtl_decoder__next_item(struct powerpc_vpadtl_decoder *d)
{
	enum powerpc_vpadtl_item item = decode_step(d);

	if (unlikely(item == POWERPC_VPADTL_ERROR) && d->frame)
		join_errors(d);

	d->plain_size = d->contiguous && !d->pending && d->clock.tb_freq ? d->size : 0;
	return item;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event of the vpa_dtl PMU on one CPU, and the ledger of what it gave us
 */
#ifndef _SELFTESTS_POWERPC_DTL_H
#define _SELFTESTS_POWERPC_DTL_H

#include "utils.h"

#define DTL_CEDE	0x1
#define DTL_PREEMPT	0x2
#define DTL_FAULT	0x4
#define DTL_ALL		0x7
#define DTL_FIXED	0x100

#define DTL_MAGIC	0x56504144544c0001ULL
#define DTL_FRAME	48

struct dtl_event {
	int fd;
	struct perf_event_mmap_page *page;
	size_t data_size;
	char *aux;
	size_t aux_size;

	/* what was read so far */
	u64 headers;		/* frames that are one of ours */
	u64 entries;		/* frames that the hypervisor wrote */
	u64 backwards;		/* entries older than the one before */
	u64 others;		/* entries of a kind that was not asked for */
	u64 last_tb;
	u64 lost;		/* entries, in LOST_SAMPLES records */
	u64 truncated;		/* AUX records with that flag */
	u64 stream;		/* bytes of the AUX stream read */
	unsigned char frame[DTL_FRAME];
};

/* The PMU's type, or -1 */
int dtl_type(void);

/* Open a disabled event, which samples if period (ns) is not 0: 0 or -errno */
int dtl_open(struct dtl_event *ev, int cpu, u64 config, u64 period);
/* The same with polls a second instead */
int dtl_open_freq(struct dtl_event *ev, int cpu, u64 config, u64 freq);
int dtl_map(struct dtl_event *ev, int data_pages, int aux_pages, bool overwrite);
void dtl_close(struct dtl_event *ev);
void dtl_enable(struct dtl_event *ev);
void dtl_disable(struct dtl_event *ev);

/* Read all that is in the AUX area, in the data area, in both */
void dtl_read_aux(struct dtl_event *ev, u64 config);
void dtl_read_records(struct dtl_event *ev);
void dtl_read(struct dtl_event *ev, u64 config);

/* The event's count, and the entries lost that no record tells */
u64 dtl_count(struct dtl_event *ev, u64 *lost);

/* Whether all that the hypervisor wrote was given to us or counted as lost */
bool dtl_balanced(struct dtl_event *ev);

/*
 * Sleep until the event counts n more entries, as each sleep stops the CPU that
 * we run on; give up at last. The number of entries that it became.
 */
u64 dtl_dispatch(struct dtl_event *ev, u64 n);

/*
 * The same until the AUX area's head has come to a stream offset in bytes: where
 * most of what the hypervisor writes comes in bursts and is lost, no number of
 * entries fills the area. Whether it came there.
 */
bool dtl_fill(struct dtl_event *ev, u64 head);

/* Sleep n times, whatever is logged */
void dtl_sleep(int n);

#endif /* _SELFTESTS_POWERPC_DTL_H */

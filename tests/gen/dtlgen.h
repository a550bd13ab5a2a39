/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dtlgen - perf.data files with a dispatch trace log, and their true contents
 *
 * One description (struct spec) and one seed give, per CPU, one sequence of
 * items: log entries, header frames, and the ordinary records beside them.
 * The writer turns the sequences into a perf.data file, the oracle into the
 * text and the sums that perf must come to.  Neither knows perf's decoder.
 */
#ifndef DTLGEN_H
#define DTLGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define FRAME_SIZE	48
#define NSEC_PER_SEC	((u64)1000000000)
#define MAX_CPUS	4096
#define MAX_TASKS	16

enum layout { LAYOUT_OURS, LAYOUT_MAINLINE };
enum reasons { REASONS_KINDS, REASONS_WALK, REASONS_ZERO };
enum waits { WAITS_NORMAL, WAITS_LIMITS, WAITS_ZERO };
enum lose { LOSE_OVERWRITTEN, LOSE_NOROOM, LOSE_BOTH };

/**
 * struct spec - the description of one file
 * @seed: everything random follows from it
 * @big: byte order of the file and of the kernel that recorded it
 * @layout: how frames lie in the AUX area
 * @cpus: number of CPUs that have the event
 * @empty_every: CPUs whose number + 1 is a multiple of it log nothing (0: none)
 * @entries: entries logged by each other CPU, the lost ones not counted
 * @aux_size: size of the AUX area, bytes
 * @chunk: bytes of an AUX area that are read at once; also where buffers end
 * @cut: buffers end at every @chunk bytes, though a frame straddle the cut
 * @info: number of u64s of private data in AUXTRACE_INFO: 0, 1 or 4
 * @freq: timebase ticks a second
 * @boot_tb: timebase at boot
 * @start_ns: time between boot and the first entry (shorter if it overflows)
 * @gap_ns: mean time between two entries of a CPU
 * @reasons: which reason codes
 * @waits: which waiting times
 * @tasks: tasks of each CPU, swapper included
 * @places: addresses at which a task or the kernel can be stopped
 * @switch_every: an entry in so many follows a context switch (0: no records)
 * @exit_every: after an entry in so many the task exits, and runs on
 * @sample_every: an entry in so many is followed by a sample of another event
 * @lose_every: an entry in so many is followed by a loss (0: none)
 * @lose: what the losses are due to
 * @headers_every: a header frame again after so many entries (0: first only)
 * @header_shift: ticks by which each further header moves the boot timebase
 * @no_header: no header frame at all
 * @back_every: an entry in so many is stamped some entries earlier
 * @missing_first: the first buffer of so many CPUs is not in the file
 * @hole_every: a buffer in so many of each CPU is not in the file (0: none)
 * @no_switches: attributes do not ask for context switches, so there are none
 * @no_index: no index of AUX buffers in the file's header
 * @no_aux_records: no PERF_RECORD_AUX
 * @pipe: as perf record writes it to a pipe
 * @attr_size: size of struct perf_event_attr in the file
 */
struct spec {
	u64 seed;
	bool big;
	enum layout layout;
	u32 cpus;
	u32 empty_every;
	u64 entries;
	u64 aux_size;
	u64 chunk;
	bool cut;
	u32 info;
	u64 freq;
	u64 boot_tb;
	u64 start_ns;
	u64 gap_ns;
	enum reasons reasons;
	enum waits waits;
	u32 tasks;
	u32 places;
	u32 switch_every;
	u32 exit_every;
	u32 sample_every;
	u32 lose_every;
	enum lose lose;
	u64 headers_every;
	u64 header_shift;
	bool no_header;
	u32 back_every;
	u32 missing_first;
	u32 hole_every;
	bool no_switches;
	bool no_index;
	bool no_aux_records;
	bool pipe;
	u32 attr_size;
};

enum item_kind {
	ITEM_HEADER,
	ITEM_ENTRY,
	ITEM_FORK,
	ITEM_COMM,
	ITEM_SWITCH_OUT,
	ITEM_SWITCH_IN,
	ITEM_EXIT,
	ITEM_SAMPLE,
	ITEM_LOST,
};

/* One entry of the log, host byte order; the fields are those of PAPR. */
struct entry {
	u8 dispatch_reason;
	u8 preempt_reason;
	u16 processor_id;
	u32 enqueue_to_dispatch_time;
	u32 ready_to_enqueue_time;
	u32 waiting_to_ready_time;
	u64 timebase;
	u64 fault_addr;
	u64 srr0;
	u64 srr1;
};

/**
 * struct item - one thing that happens on one CPU
 * @kind: what it is
 * @point: when, in points of the time grid; never goes back within a CPU
 * @time: ns as the kernel's clock gives it; of an entry: see entry_time()
 * @task: index of the task that the item is about, of this CPU
 * @other: the other task of a switch
 * @boot_tb: ITEM_HEADER: the boot timebase in it
 * @lost: ITEM_LOST: number of entries
 * @lost_noroom: ITEM_LOST: for want of room in the AUX area
 * @e: ITEM_ENTRY
 * @ip: ITEM_SAMPLE
 */
struct item {
	enum item_kind kind;
	u64 point;
	u64 time;
	int task;
	int other;
	u64 boot_tb;
	u64 lost;
	bool lost_noroom;
	struct entry e;
	u64 ip;
};

/* Where one CPU's sequence stands; filled by cpu_init() */
struct cpu_state {
	const struct spec *s;
	u32 cpu;
	u64 rng;
	u64 point;
	u64 left;		/* entries still to come */
	u64 done;		/* entries so far */
	u64 boot_tb;
	u64 prev_tb;
	int task;		/* running now */
	u32 forked;		/* bit a task: FORK and COMM are out */
	u16 proc;
	struct item queue[12];
	unsigned int head, tail;
};

/* A range of a CPU's AUX stream whose bytes are not in the file */
struct dropped {
	u64 from, to;
};

/* What the writer decided, for the oracle and for damage */
struct written {
	struct dropped *dropped[MAX_CPUS];
	u32 nr_dropped[MAX_CPUS];
	u64 *auxtrace;		/* file offsets of AUXTRACE records */
	u64 nr_auxtrace;
	u64 data_offset, data_size, file_size;
	u64 info_offset;	/* of the AUXTRACE_INFO record */
	u64 index_offset;	/* of the HEADER_AUXTRACE section, 0: none */
};

/* model.c */
extern const u16 vpa_dtl_pmu_type;
void spec_defaults(struct spec *s);
const char *spec_check(const struct spec *s);
bool cpu_is_empty(const struct spec *s, u32 cpu);
void cpu_init(struct cpu_state *c, const struct spec *s, u32 cpu);
bool cpu_next(struct cpu_state *c, struct item *item);
u64 tb_to_ns(u64 ticks, u64 freq);
u64 point_time(const struct spec *s, u64 point, u32 offset);
u64 points_per_entry(const struct spec *s);
int task_tid(u32 cpu, int task);
int task_pid(u32 cpu, int task);
void task_comm(u32 cpu, int task, char *comm, size_t size);
u64 rng_next(u64 *state);
u64 aux_frame_offset(const struct spec *s, u64 head);

#define BURNER_START	0x10000000ULL
#define BURNER_LEN	0x00100000ULL
#define BURNER_DSO	"/opt/dtl/burner"
#define MSR_PR		0x4000ULL

/* perfdata.c */
int write_perf_data(const struct spec *s, const char *path, struct written *w);

/* oracle.c */
int write_oracle(const struct spec *s, const struct written *w, FILE *script,
		 FILE *ledger);

/* damage.c */
int damage_file(const struct spec *s, const char *path, const struct written *w,
		const char *mode, u64 seed);
void damage_help(FILE *f);

#endif

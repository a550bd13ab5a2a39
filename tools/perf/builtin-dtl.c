// SPDX-License-Identifier: GPL-2.0
/*
 * perf dtl: what the hypervisor did with the time of the virtual processors,
 * from a recording of the powerpc dispatch trace log (vpa_dtl).
 *
 * One pass in the order of time: each log entry closes the time since the entry
 * before on its CPU, of which its waits are the end. Every subcommand is a
 * struct dtl_command that gets these and prints at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/unaligned.h>
#include <linux/zalloc.h>
#include <perf/cpumap.h>
#include <subcmd/pager.h>
#include <subcmd/parse-options.h>

#include "builtin.h"
#include "perf.h"
#include "ui/progress.h"
#include "util/addr_location.h"
#include "util/auxtrace.h"
#include "util/color.h"
#include "util/comm.h"
#include "util/data.h"
#include "util/debug.h"
#include "util/dso.h"
#include "util/dtl-chart.h"
#include "util/dtl-output.h"
#include "util/dtl-stats.h"
#include "util/event.h"
#include "util/evlist.h"
#include "util/evsel.h"
#include "util/hashmap.h"
#include "util/header.h"
#include "util/machine.h"
#include "util/map.h"
#include "util/powerpc-vpadtl.h"
#include "util/powerpc-vpadtl-decoder/powerpc-vpadtl-decoder.h"
#include "util/session.h"
#include "util/symbol.h"
#include "util/thread.h"
#include "util/time-utils.h"
#include "util/tool.h"
#include "util/util.h"

#define NR_REASONS	256
#define NR_WORST	10
#define NR_TOP_TASKS	5

/* Of perf dtl interval: 48 MiB, and lines of some hundred megabytes */
#define MAX_INTERVALS	BIT(20)

/* Gaps of a CPU that are known before the entries around them come */
#define MAX_GAPS	8

/* Version of the JSON output: see Documentation/perf-dtl.schema.json */
#define JSON_VERSION	1

/**
 * struct dtl_entry - A log entry and the time it closes.
 * @raw: as the hypervisor wrote it
 * @waits: its waits, in ticks
 * @time: of its dispatch, in ns
 * @prev_time: of the dispatch before on its CPU, in ns; valid with @follows
 * @prev_processor: physical processor of that; valid with @follows
 * @follows: there is a dispatch before
 * @gap: entries between the two are lost
 * @span: what the time between the two was spent on, in ticks; zero without
 *        @follows
 * @thread: who waited, NULL: not known
 * @cpumode: of where it stopped
 */
struct dtl_entry {
	struct powerpc_vpadtl_entry	raw;
	struct dtl_waits		waits;
	u64				time;
	u64				prev_time;
	u16				prev_processor;
	bool				follows;
	bool				gap;
	struct dtl_span			span;
	struct thread			*thread;
	u8				cpumode;
};

struct dtl_group;

/* Entries are lost somewhere from @from to @to, in ns. */
struct dtl_gap {
	u64	from;
	u64	to;
};

/**
 * struct dtl_cpu - What is known of a CPU.
 * @cpu: its number
 * @seen: there was an entry; the next four are of the last
 * @prev_tb: its timebase
 * @prev_time: its time
 * @prev_processor: its physical processor
 * @range: the range of --time that it was in
 * @gaps_ahead: entries are lost somewhere in each of these times, which are not
 *              past yet ...
 * @nr_gaps_ahead: ... and their number
 * @truncated: there was no room for entries, and it is not told yet for how many
 * @lost_told: a loss was told since the log was last read
 * @read: the log was read since the last entry
 * @read_time: when it was read last
 * @at_read: the entry whose time spans the reading before the last entry
 * @at_read_valid: @at_read is an entry, which was counted
 * @thread: cache of who runs, valid while @thread_gen is that of struct perf_dtl,
 *          which is never 0
 * @thread_pid: of @thread
 * @thread_tid: of @thread
 * @thread_gen: see @thread
 * @group: cache of the group of the last task, NULL: none
 * @entries: number of entries that were counted
 * @first_time: of the first
 * @last_time: of the last
 * @span: sums of what the times between them were spent on, in ticks
 * @logged: sums of their waits, in ticks
 * @max_stolen: the longest stolen time, in ticks ...
 * @max_time: ... and when it ended
 * @lost: entries lost
 * @lost_at_end: of these, told when all is read
 * @gaps: times between entries in which some are lost
 * @errors: faults in the trace data
 * @inconsistent: entries whose waits are longer than the time since the one
 *                before, or that come before it
 * @same: dispatches on the same physical processor as before
 * @changed: dispatches on another
 * @processors: perf dtl dispersion: bit map of the physical processors
 */
struct dtl_cpu {
	int			cpu;
	bool			seen;
	u64			prev_tb;
	u64			prev_time;
	u16			prev_processor;
	int			range;
	struct dtl_gap		gaps_ahead[MAX_GAPS];
	unsigned int		nr_gaps_ahead;
	bool			truncated;
	bool			lost_told;
	bool			read;
	u64			read_time;
	struct dtl_entry	at_read;
	bool			at_read_valid;
	struct thread		*thread;
	pid_t			thread_pid;
	pid_t			thread_tid;
	u64			thread_gen;
	struct dtl_group	*group;
	u64			entries;
	u64			first_time;
	u64			last_time;
	struct dtl_span		span;
	struct dtl_waits	logged;
	u64			max_stolen;
	u64			max_time;
	u64			lost;
	u64			lost_at_end;
	u64			gaps;
	u64			errors;
	u64			inconsistent;
	u64			same;
	u64			changed;
	unsigned long		*processors;
};

/* The waits whose distribution perf dtl latency shows */
enum dtl_part {
	DTL_PART_STOLEN,
	DTL_PART_READY,
	DTL_PART_QUEUED,
	DTL_PART_MAX,
};

/**
 * struct dtl_group - Entries that have something in common.
 * @thread: of all, NULL: not known
 * @map: of all; NULL: not known
 * @sym: of all; NULL: not known
 * @cpumode: perf dtl latency --by function: of the first, and of all with neither
 * @code: CPU, physical processor, or preempt reason << 8 | dispatch reason
 * @count: number of entries
 * @logged: sums of their waits, in ticks
 * @hist: perf dtl latency: the distributions of their waits
 */
struct dtl_group {
	struct thread		*thread;
	struct map		*map;
	struct symbol		*sym;
	u8			cpumode;
	u32			code;
	u64			count;
	struct dtl_waits	logged;
	struct dtl_hist		hist[];
};

/* One of the worst waits */
struct dtl_worst {
	u64			stolen;
	u64			time;
	int			cpu;
	struct dtl_waits	waits;
	u16			processor;
	u8			preempt_reason;
	u8			dispatch_reason;
	struct thread		*thread;
	char			*place;
};

/* A line of perf dtl interval, in ns */
struct dtl_interval {
	u64	ns[DTL_STATE_MAX];
	u64	entries;
	u64	lost;
};

/* Counts of a preempt reason's waits by their power of two, in ns */
struct dtl_log2 {
	u64	waiting[65];
	u64	part[DTL_PART_MAX][65];
};

struct perf_dtl;

/**
 * struct dtl_command - A subcommand that reads a recording.
 * @name: its name
 * @options: of its command line
 * @parse: look at the values of its own options
 * @streams: it prints while it reads
 * @start: before the first event
 * @entry: an entry that was counted
 * @void_span: the entries before that entry are lost, as is known only now: what
 *             @entry was told as running is not known
 * @lost: entries were lost on a CPU, NULL: not known which; 0 of them: a number
 *        that is not known; at time 0: not known when
 * @error: there is a fault in the trace data of a CPU
 * @print: after the last event
 */
struct dtl_command {
	const char	*name;
	const struct option *options;
	int		(*parse)(struct perf_dtl *dtl);
	bool		streams;
	int		(*start)(struct perf_dtl *dtl);
	int		(*entry)(struct perf_dtl *dtl, struct dtl_cpu *cpu,
				 const struct dtl_entry *entry);
	void		(*void_span)(struct perf_dtl *dtl, struct dtl_cpu *cpu,
				     const struct dtl_entry *entry);
	int		(*lost)(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time, u64 nr,
				const struct dtl_entry *voided);
	int		(*error)(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time,
				 const char *msg);
	int		(*print)(struct perf_dtl *dtl);
};

struct perf_dtl {
	struct perf_tool		tool;
	struct perf_session		*session;
	const struct dtl_command	*command;
	struct dtl_output		out;

	/* Options */
	const char			*cpu_list;
	const char			*time_str;
	const char			*reason_list;
	const char			*by_str;
	const char			*sort_str;
	const char			*every_str;
	const char			*output_name;
	unsigned int			limit;
	bool				json;
	bool				force;
	bool				summary;
	bool				with_summary;

	/* What is selected */
	DECLARE_BITMAP(cpu_bitmap, MAX_NR_CPUS);
	struct perf_time_interval	*ranges;
	int				range_size;
	int				range_num;
	bool				preempt_reasons[NR_REASONS];
	bool				dispatch_reasons[NR_REASONS];

	/* The recording */
	u32				tb_freq;	/* ticks per second, 0: no entry yet */
	u64				base;		/* time of the first entry or loss */
	u64				thread_gen;	/* changes with the threads */
	struct dtl_cpu			*cpus[MAX_NR_CPUS];
	bool				has_id_index;	/* of sample identifiers */
	u64				lost_elsewhere;	/* entries, on a CPU not known */
	u64				lost_at_end;	/* of these, told when all is read */
	u64				errors_elsewhere;
	u64				missing_bytes;	/* of a file that is cut */
	u64				truncated;	/* times without room */
	u64				other_lost;	/* records of other kinds */
	u64				bad_entries;	/* that are none, or of another clock */
	u64				without_task;	/* entries */

	/* Of subcommands */
	struct hashmap			*groups;
	const struct dtl_by		*by;
	const struct dtl_sort		*sort;
	struct dtl_worst		worst[NR_WORST];	/* the worst first */
	unsigned int			nr_worst;
	struct dtl_log2			*log2[NR_REASONS];
	u64				every_ns;
	struct dtl_interval		*intervals;
	u64				nr_intervals;
	u64				alloc_intervals;
	struct dtl_chart		chart;
	bool				streaming;	/* perf dtl timehist: the table is open */
};

/* Does it print while it reads, when it is not known yet what is lost? */
static bool dtl__streams(const struct perf_dtl *dtl)
{
	return dtl->command->streams && !dtl->summary;
}

static u64 dtl__ns(const struct perf_dtl *dtl, u64 ticks)
{
	return dtl->tb_freq ? dtl__ticks_to_ns(ticks, dtl->tb_freq) : 0;
}

/* Hundredths of a percent, to the nearest */
static u64 percent(u64 part, u64 whole)
{
	return whole ? (u64)((double)part * 10000 / whole + 0.5) : 0;
}

static struct dtl_cpu *dtl__cpu(struct perf_dtl *dtl, unsigned int cpu)
{
	if (!dtl->cpus[cpu]) {
		dtl->cpus[cpu] = zalloc(sizeof(*dtl->cpus[cpu]));
		if (dtl->cpus[cpu])
			dtl->cpus[cpu]->cpu = cpu;
	}
	return dtl->cpus[cpu];
}

static bool dtl__skips_cpu(const struct perf_dtl *dtl, unsigned int cpu)
{
	return dtl->cpu_list && !test_bit(cpu, dtl->cpu_bitmap);
}

/* The number of the range of --time that has @time, -1: none has */
static int dtl__range(const struct perf_dtl *dtl, u64 time)
{
	int i;

	if (!dtl->range_num)
		return 0;

	for (i = 0; i < dtl->range_num; i++) {
		if (!perf_time__skip_sample(&dtl->ranges[i], time))
			return i;
	}
	return -1;
}

static const char *thread_comm(struct thread *thread)
{
	return thread ? thread__comm_str(thread) : NULL;
}

static struct dtl_value thread_pid_value(struct thread *thread)
{
	return dtl_num_if(thread && thread__pid(thread) != -1, thread ? thread__pid(thread) : 0);
}

static struct dtl_value thread_tid_value(struct thread *thread)
{
	return dtl_num_if(thread, thread ? thread__tid(thread) : 0);
}

/* As perf sched shows tasks; NULL where it is not known */
static const char *thread_label(struct thread *thread, char *buf, size_t size)
{
	if (!thread)
		return NULL;
	if (!thread__tid(thread))
		snprintf(buf, size, "%s", thread__comm_str(thread));
	else
		snprintf(buf, size, "%s:%d", thread__comm_str(thread), thread__tid(thread));
	return buf;
}

/* From here on: groups */

static size_t ptr_hash(long key, void *ctx __maybe_unused)
{
	return key;
}

static bool ptr_equal(long a, long b, void *ctx __maybe_unused)
{
	return a == b;
}

static int dtl__init_groups(struct perf_dtl *dtl)
{
	dtl->groups = hashmap__new(ptr_hash, ptr_equal, NULL);
	if (IS_ERR(dtl->groups)) {
		dtl->groups = NULL;
		return -ENOMEM;
	}
	return 0;
}

static struct dtl_group *dtl__group(struct perf_dtl *dtl, long key, unsigned int nr_hist)
{
	struct dtl_group *group;

	if (hashmap__find(dtl->groups, key, &group))
		return group;

	group = zalloc(sizeof(*group) + nr_hist * sizeof(group->hist[0]));
	if (group && hashmap__add(dtl->groups, key, group))
		zfree(&group);
	return group;
}

static void dtl_group__add(struct dtl_group *group, const struct dtl_entry *entry)
{
	group->count++;
	group->logged.waiting += entry->waits.waiting;
	group->logged.ready += entry->waits.ready;
	group->logged.queued += entry->waits.queued;
}

/* Out of line, that dtl__task_group() is short */
static noinline struct dtl_group *dtl__find_task_group(struct perf_dtl *dtl, struct dtl_cpu *cpu,
						       const struct dtl_entry *entry,
						       unsigned int nr_hist)
{
	long key = entry->thread ? (long)RC_CHK_ACCESS(entry->thread) : 0;
	struct dtl_group *group;

	group = dtl__group(dtl, key, nr_hist);
	if (group && !group->thread && entry->thread)
		group->thread = thread__get(entry->thread);
	cpu->group = group;
	return group;
}

static struct dtl_group *dtl__task_group(struct perf_dtl *dtl, struct dtl_cpu *cpu,
					 const struct dtl_entry *entry, unsigned int nr_hist)
{
	struct dtl_group *group = cpu->group;

	if (likely(group && RC_CHK_EQUAL(group->thread, entry->thread)))
		return group;
	return dtl__find_task_group(dtl, cpu, entry, nr_hist);
}

static void dtl__exit_groups(struct perf_dtl *dtl, unsigned int nr_hist)
{
	struct hashmap_entry *pos;
	unsigned int i;
	size_t bkt;

	if (!dtl->groups)
		return;

	hashmap__for_each_entry(dtl->groups, pos, bkt) {
		struct dtl_group *group = pos->pvalue;

		for (i = 0; i < nr_hist; i++)
			dtl_hist__exit(&group->hist[i]);
		thread__put(group->thread);
		map__put(group->map);
		free(group);
	}
	hashmap__free(dtl->groups);
	dtl->groups = NULL;
}

/* All groups, in an array to be freed */
static struct dtl_group **dtl__list_groups(struct perf_dtl *dtl, size_t *nr)
{
	struct dtl_group **list = calloc(hashmap__size(dtl->groups) + 1, sizeof(*list));
	struct hashmap_entry *pos;
	size_t bkt;

	*nr = 0;
	if (!list)
		return NULL;
	hashmap__for_each_entry(dtl->groups, pos, bkt)
		list[(*nr)++] = pos->pvalue;
	return list;
}

/* From here on: what all subcommands show of the recording */

struct dtl_totals {
	u64			nr_cpus;
	u64			entries;
	u64			lost;
	u64			gaps;
	u64			errors;
	u64			inconsistent;
	u64			first_time;
	u64			last_time;
	u64			max_stolen;
	u64			max_time;
	struct dtl_span		span;
	struct dtl_waits	logged;
};

static void dtl__totals(const struct perf_dtl *dtl, struct dtl_totals *totals)
{
	unsigned int i;

	*totals = (struct dtl_totals){
		.lost	= dtl->lost_elsewhere,
		.errors	= dtl->errors_elsewhere,
	};

	for (i = 0; i < MAX_NR_CPUS; i++) {
		const struct dtl_cpu *cpu = dtl->cpus[i];

		if (!cpu)
			continue;
		totals->lost += cpu->lost;
		totals->gaps += cpu->gaps;
		totals->errors += cpu->errors;
		totals->inconsistent += cpu->inconsistent;
		if (!cpu->entries)
			continue;
		if (!totals->entries || cpu->first_time < totals->first_time)
			totals->first_time = cpu->first_time;
		if (!totals->entries || cpu->last_time > totals->last_time)
			totals->last_time = cpu->last_time;
		if (cpu->max_stolen > totals->max_stolen) {
			totals->max_stolen = cpu->max_stolen;
			totals->max_time = cpu->max_time;
		}
		totals->nr_cpus++;
		totals->entries += cpu->entries;
		totals->span.running += cpu->span.running;
		totals->span.unknown += cpu->span.unknown;
		totals->span.in.waiting += cpu->span.in.waiting;
		totals->span.in.ready += cpu->span.in.ready;
		totals->span.in.queued += cpu->span.in.queued;
		totals->logged.waiting += cpu->logged.waiting;
		totals->logged.ready += cpu->logged.ready;
		totals->logged.queued += cpu->logged.queued;
	}
}

static const struct dtl_column version_column = { "schema_version", NULL, DTL_NUMBER, 0 };
static const struct dtl_column command_column = { "command", NULL, DTL_STRING, 0 };
static const struct dtl_column conclusion_column = { "conclusion", NULL, DTL_STRING, 0 };
static const struct dtl_column by_column = { "by", NULL, DTL_STRING, 0 };
static const struct dtl_column every_column = { "every_ns", NULL, DTL_DURATION, 0 };
static const struct dtl_column omitted_column = { "groups_omitted", NULL, DTL_NUMBER, 0 };

static bool dtl__is_cut(const struct perf_dtl *dtl)
{
	return dtl->missing_bytes || dtl->session->data_cut;
}

static const struct dtl_column recording_columns[] = {
	{ "tb_freq_hz", NULL, DTL_NUMBER, 0 },
	{ "cpus", NULL, DTL_NUMBER, 0 },
	{ "entries", NULL, DTL_NUMBER, 0 },
	{ "first_ns", NULL, DTL_TIME, 0 },
	{ "last_ns", NULL, DTL_TIME, 0 },
	{ "stolen_ticks", NULL, DTL_NUMBER, 0 },
	{ "waiting_ticks", NULL, DTL_NUMBER, 0 },
	{ "lost_entries", NULL, DTL_NUMBER, 0 },
	{ "gaps", NULL, DTL_NUMBER, 0 },
	{ "truncated", NULL, DTL_NUMBER, 0 },
	{ "trace_errors", NULL, DTL_NUMBER, 0 },
	{ "missing_bytes", NULL, DTL_NUMBER, 0 },
	{ "bad_entries", NULL, DTL_NUMBER, 0 },
	{ "inconsistent_entries", NULL, DTL_NUMBER, 0 },
	{ "entries_without_task", NULL, DTL_NUMBER, 0 },
	{ "other_records_lost", NULL, DTL_NUMBER, 0 },
	{ "records_out_of_order", NULL, DTL_NUMBER, 0 },
};

static void dtl__print_recording(struct perf_dtl *dtl)
{
	struct dtl_value values[ARRAY_SIZE(recording_columns)];
	struct dtl_totals t;
	unsigned int i = 0;

	dtl__totals(dtl, &t);
	values[i++] = dtl_num_if(dtl->tb_freq, dtl->tb_freq);
	values[i++] = dtl_num(t.nr_cpus);
	values[i++] = dtl_num(t.entries);
	values[i++] = dtl_num_if(t.entries, t.first_time);
	values[i++] = dtl_num_if(t.entries, t.last_time);
	values[i++] = dtl_num(dtl_waits__stolen(&t.logged));
	values[i++] = dtl_num(t.logged.waiting);
	values[i++] = dtl_num(t.lost);
	values[i++] = dtl_num(t.gaps);
	values[i++] = dtl_num(dtl->truncated);
	values[i++] = dtl_num(t.errors);
	values[i++] = dtl->missing_bytes || !dtl->session->data_cut ?
		      dtl_num(dtl->missing_bytes) : dtl_none();
	values[i++] = dtl_num(dtl->bad_entries);
	values[i++] = dtl_num(t.inconsistent);
	values[i++] = dtl_num(dtl->without_task);
	values[i++] = dtl_num(dtl->other_lost);
	values[i++] = dtl_num(dtl->session->ordered_events.nr_unordered_events);
	dtl_output__object(&dtl->out, "recording", recording_columns,
			   ARRAY_SIZE(recording_columns), values);
}

__printf(2, 3)
static void dtl_warn(FILE *fp, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (fp == stdout)
		color_vfprintf(fp, PERF_COLOR_RED, fmt, args);
	else
		vfprintf(fp, fmt, args);
	va_end(args);
	fputc('\n', fp);
}

/* What a person must know before the numbers; the table of CSV has no room for it. */
static void dtl__print_notes(struct perf_dtl *dtl)
{
	u32 unordered = dtl->session->ordered_events.nr_unordered_events;
	FILE *fp = dtl->out.format == DTL_FORMAT_CSV ? stderr : stdout;
	struct dtl_totals t;

	/* It has the recording */
	if (dtl->out.format == DTL_FORMAT_JSON)
		return;

	dtl__totals(dtl, &t);
	if (t.lost || dtl->truncated)
		dtl_warn(fp, "Lost: %" PRIu64 " entries%s; %" PRIu64
			 " gaps, whose time is unknown rather than running",
			 t.lost, dtl->truncated ? ", for want of room also" : "", t.gaps);
	if (t.errors)
		dtl_warn(fp, "Damaged: %" PRIu64
			 " faults in the trace data, so entries are missing (perf script --itrace=e)",
			 t.errors);
	if (dtl->missing_bytes)
		dtl_warn(fp, "Cut: the last %" PRIu64
			 " bytes of the file are missing, with all they held",
			 dtl->missing_bytes);
	else if (dtl->session->data_cut)
		dtl_warn(fp, "Cut: the data end within a record, and what came after is missing");
	if (dtl->bad_entries)
		dtl_warn(fp, "Left out: %" PRIu64
			 " samples that are no entries, or have another timebase frequency",
			 dtl->bad_entries);
	if (t.inconsistent)
		dtl_warn(fp, "Inconsistent: %" PRIu64
			 " entries wait longer than since the one before; shares have less of them",
			 t.inconsistent);
	if (t.entries && dtl->without_task == t.entries)
		dtl_warn(fp, "No tasks: none is known for these entries (perf dtl record records what runs)");
	else if (dtl->without_task)
		dtl_warn(fp, "No task is known for %" PRIu64 " of %" PRIu64 " entries",
			 dtl->without_task, t.entries);
	if (dtl->other_lost || unordered)
		dtl_warn(fp, "Tasks may be wrong: %" PRIu64
			 " other records are lost, %u were out of order",
			 dtl->other_lost, unordered);
	if (!t.entries)
		fprintf(fp, "No entries: %s\n", t.errors || dtl__is_cut(dtl) ?
			"the file is damaged" :
			dtl->cpu_list || dtl->time_str || dtl->reason_list ||
			symbol_conf.comm_list_str || symbol_conf.pid_list_str ?
			"none is selected" : t.lost || dtl->truncated || dtl->bad_entries ?
			"what was logged is lost or left out" :
			"no virtual processor was dispatched anew");
}

static void dtl__begin_output(struct perf_dtl *dtl)
{
	dtl_output__begin(&dtl->out);
	dtl_output__member(&dtl->out, &version_column, dtl_num(JSON_VERSION));
	dtl_output__member(&dtl->out, &command_column, dtl_text(dtl->command->name));
	if (dtl__streams(dtl))
		return;
	dtl__print_recording(dtl);
	dtl__print_notes(dtl);
}

static void dtl__end_output(struct perf_dtl *dtl)
{
	/* What is lost is known only now */
	if (dtl__streams(dtl)) {
		dtl__print_recording(dtl);
		dtl__print_notes(dtl);
	}
	dtl_output__end(&dtl->out);
}

static void title(const struct perf_dtl *dtl, const char *text)
{
	if (dtl->out.format == DTL_FORMAT_TEXT)
		printf("\n%s\n", text);
}

static const struct dtl_column cpu_columns[] = {
	{ "cpu",			"CPU",		DTL_NUMBER,	 4 },
	{ "entries",			"entries",	DTL_NUMBER,	 9 },
	{ "first_ns",			NULL,		DTL_TIME,	 0 },
	{ "last_ns",			NULL,		DTL_TIME,	 0 },
	{ "span_ns",			"span ms",	DTL_DURATION,	11 },
	{ "running_percent",		"run %",	DTL_PERCENT,	 6 },
	{ "stolen_percent",		"stolen %",	DTL_HOT_PERCENT, 8 },
	{ "waiting_percent",		"wait %",	DTL_PERCENT,	 6 },
	{ "unknown_percent",		"gap %",	DTL_PERCENT,	 6 },
	{ "running_ns",			NULL,		DTL_DURATION,	 0 },
	{ "stolen_ns",			"stolen ms",	DTL_DURATION,	11 },
	{ "ready_to_enqueue_ns",	NULL,		DTL_DURATION,	 0 },
	{ "enqueue_to_dispatch_ns",	NULL,		DTL_DURATION,	 0 },
	{ "waiting_ns",			NULL,		DTL_DURATION,	 0 },
	{ "unknown_ns",			NULL,		DTL_DURATION,	 0 },
	{ "stolen_logged_ns",		NULL,		DTL_DURATION,	 0 },
	{ "waiting_logged_ns",		NULL,		DTL_DURATION,	 0 },
	{ "max_stolen_ns",		"max ms",	DTL_DURATION,	10 },
	{ "max_stolen_time_ns",		"max at s",	DTL_TIME,	14 },
	{ "lost_entries",		"lost",		DTL_NUMBER,	 6 },
	{ "gaps",			NULL,		DTL_NUMBER,	 0 },
	{ "trace_errors",		NULL,		DTL_NUMBER,	 0 },
	{ "inconsistent_entries",	NULL,		DTL_NUMBER,	 0 },
};

/*
 * In ns, so that the parts are the whole: what rounding leaves goes to the
 * running time, or to the unknown where there is no other.
 */
static void dtl__span_ns(const struct perf_dtl *dtl, const struct dtl_span *span,
			 struct dtl_span *ns)
{
	u64 left = dtl__ns(dtl, dtl_span__total(span));

	ns->in.waiting = dtl__ns(dtl, span->in.waiting);
	ns->in.ready = dtl__ns(dtl, span->in.ready);
	ns->in.queued = dtl__ns(dtl, span->in.queued);
	left -= ns->in.waiting + dtl_waits__stolen(&ns->in);
	ns->unknown = span->running ? dtl__ns(dtl, span->unknown) : left;
	ns->running = left - ns->unknown;
}

/* The totals of one CPU are a row, and those of all */
static void cpu_values(const struct perf_dtl *dtl, const struct dtl_totals *t,
		       struct dtl_value cpu, struct dtl_value *values)
{
	struct dtl_span ns;
	u64 stolen, total;
	unsigned int i = 0;

	dtl__span_ns(dtl, &t->span, &ns);
	stolen = dtl_waits__stolen(&ns.in);
	total = dtl_span__total(&ns);

	values[i++] = cpu;
	values[i++] = dtl_num(t->entries);
	values[i++] = dtl_num_if(t->entries, t->first_time);
	values[i++] = dtl_num_if(t->entries, t->last_time);
	values[i++] = dtl_num(total);
	values[i++] = dtl_num_if(total, percent(ns.running, total));
	values[i++] = dtl_num_if(total, percent(stolen, total));
	values[i++] = dtl_num_if(total, percent(ns.in.waiting, total));
	values[i++] = dtl_num_if(total, percent(ns.unknown, total));
	values[i++] = dtl_num(ns.running);
	values[i++] = dtl_num(stolen);
	values[i++] = dtl_num(ns.in.ready);
	values[i++] = dtl_num(ns.in.queued);
	values[i++] = dtl_num(ns.in.waiting);
	values[i++] = dtl_num(ns.unknown);
	values[i++] = dtl_num(dtl__ns(dtl, dtl_waits__stolen(&t->logged)));
	values[i++] = dtl_num(dtl__ns(dtl, t->logged.waiting));
	values[i++] = dtl_num(dtl__ns(dtl, t->max_stolen));
	values[i++] = dtl_num_if(t->max_stolen, t->max_time);
	values[i++] = dtl_num(t->lost);
	values[i++] = dtl_num(t->gaps);
	values[i++] = dtl_num(t->errors);
	values[i++] = dtl_num(t->inconsistent);
}

static void dtl__print_cpus(struct perf_dtl *dtl)
{
	struct dtl_value values[ARRAY_SIZE(cpu_columns)];
	struct dtl_totals totals;
	unsigned int i;

	dtl_output__table(&dtl->out, "cpus", cpu_columns, ARRAY_SIZE(cpu_columns));
	for (i = 0; i < MAX_NR_CPUS; i++) {
		const struct dtl_cpu *cpu = dtl->cpus[i];

		if (!cpu)
			continue;

		totals = (struct dtl_totals){
			.entries	= cpu->entries,
			.lost		= cpu->lost,
			.gaps		= cpu->gaps,
			.errors		= cpu->errors,
			.inconsistent	= cpu->inconsistent,
			.first_time	= cpu->first_time,
			.last_time	= cpu->last_time,
			.max_stolen	= cpu->max_stolen,
			.max_time	= cpu->max_time,
			.span		= cpu->span,
			.logged		= cpu->logged,
		};
		cpu_values(dtl, &totals, dtl_num(i), values);
		dtl_output__row(&dtl->out, values);
	}

	dtl__totals(dtl, &totals);
	cpu_values(dtl, &totals, dtl_none(), values);
	if (dtl->out.format == DTL_FORMAT_TEXT && totals.nr_cpus > 1)
		dtl_output__row(&dtl->out, values);
	dtl_output__table_end(&dtl->out);
	dtl_output__object(&dtl->out, "total", cpu_columns, ARRAY_SIZE(cpu_columns), values);
}

/* From here on: places */

/* Where an entry's virtual processor stopped; al is to be exited */
static void dtl__find_place(struct perf_dtl *dtl, const struct dtl_entry *entry,
			    struct addr_location *al)
{
	struct machine *machine = &dtl->session->machines.host;
	struct thread *thread = thread__get(entry->thread);

	/* The kernel is the same for all */
	if (!thread && entry->cpumode == PERF_RECORD_MISC_KERNEL)
		thread = machine__findnew_thread(machine, 0, 0);

	addr_location__init(al);
	if (thread)
		thread__find_symbol(thread, entry->cpumode, entry->raw.srr0, al);
	thread__put(thread);
}

static char *dtl__place(struct perf_dtl *dtl, const struct dtl_entry *entry)
{
	struct addr_location al;
	char *place;
	int ret;

	dtl__find_place(dtl, entry, &al);
	if (al.sym)
		ret = asprintf(&place, "%s+%#" PRIx64, al.sym->name, al.addr - al.sym->start);
	else
		ret = asprintf(&place, "%#" PRIx64, entry->raw.srr0);
	addr_location__exit(&al);
	return ret < 0 ? NULL : place;
}

/* From here on: perf dtl report */

/* Keep the worst, of equals the first. */
static int report__worst(struct perf_dtl *dtl, const struct dtl_cpu *cpu,
			 const struct dtl_entry *entry, u64 stolen)
{
	struct dtl_worst *worst = dtl->worst;
	unsigned int i = dtl->nr_worst;

	if (i == NR_WORST) {
		i--;
		thread__put(worst[i].thread);
		zfree(&worst[i].place);
	} else {
		dtl->nr_worst++;
	}
	for (; i && worst[i - 1].stolen < stolen; i--)
		worst[i] = worst[i - 1];

	worst[i] = (struct dtl_worst){
		.stolen			= stolen,
		.time			= entry->time,
		.cpu			= cpu->cpu,
		.waits			= entry->waits,
		.processor		= entry->raw.processor_id,
		.preempt_reason		= entry->raw.preempt_reason,
		.dispatch_reason	= entry->raw.dispatch_reason,
		.thread			= thread__get(entry->thread),
		.place			= dtl__place(dtl, entry),
	};
	return worst[i].place ? 0 : -ENOMEM;
}

static int report__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu, const struct dtl_entry *entry)
{
	struct dtl_group *group = dtl__task_group(dtl, cpu, entry, 0);
	u64 stolen = dtl_waits__stolen(&entry->waits);

	if (!group)
		return -ENOMEM;
	dtl_group__add(group, entry);

	if (stolen && (dtl->nr_worst < NR_WORST || stolen > dtl->worst[NR_WORST - 1].stolen))
		return report__worst(dtl, cpu, entry, stolen);
	return 0;
}

static const struct dtl_column task_columns[] = {
	{ "comm",			NULL,		DTL_STRING,	  0 },
	{ "pid",			NULL,		DTL_NUMBER,	  0 },
	{ "tid",			NULL,		DTL_NUMBER,	  0 },
	{ NULL,				"task",		DTL_STRING,	-24 },
	{ "entries",			"entries",	DTL_NUMBER,	  9 },
	{ "stolen_ns",			"stolen ms",	DTL_DURATION,	 11 },
	{ "ready_to_enqueue_ns",	"ready ms",	DTL_DURATION,	 11 },
	{ "enqueue_to_dispatch_ns",	"queued ms",	DTL_DURATION,	 11 },
	{ "waiting_ns",			"wait ms",	DTL_DURATION,	 11 },
	{ "stolen_share_percent",	"of stolen %",	DTL_PERCENT,	 11 },
};

static int cmp_num(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/* What is not known comes last. */
static int cmp_name(const char *a, const char *b)
{
	if (!a || !b)
		return !a - !b;
	return strcmp(a, b);
}

static int cmp_thread(struct thread *a, struct thread *b)
{
	if (!a || !b)
		return !a - !b;
	return cmp_num(thread__tid(a), thread__tid(b)) ?: cmp_num(thread__pid(a), thread__pid(b)) ?:
	       cmp_name(thread__comm_str(a), thread__comm_str(b));
}

/* Most stolen first; the order of equals must not depend on addresses. */
static int cmp_group_stolen(const void *va, const void *vb)
{
	const struct dtl_group *a = *(const struct dtl_group **)va;
	const struct dtl_group *b = *(const struct dtl_group **)vb;
	u64 sa = dtl_waits__stolen(&a->logged), sb = dtl_waits__stolen(&b->logged);

	return cmp_num(sb, sa) ?: cmp_num(b->count, a->count) ?: cmp_thread(a->thread, b->thread);
}

static void dtl__print_tasks(struct perf_dtl *dtl, struct dtl_group **list, size_t nr,
			     size_t limit)
{
	struct dtl_value values[ARRAY_SIZE(task_columns)];
	struct dtl_totals totals;
	char buf[64];
	size_t n;

	dtl__totals(dtl, &totals);
	dtl_output__table(&dtl->out, "tasks", task_columns, ARRAY_SIZE(task_columns));
	for (n = 0; n < nr && n < limit; n++) {
		struct dtl_group *group = list[n];
		u64 stolen = dtl_waits__stolen(&group->logged);
		unsigned int i = 0;

		values[i++] = dtl_text(thread_comm(group->thread));
		values[i++] = thread_pid_value(group->thread);
		values[i++] = thread_tid_value(group->thread);
		values[i++] = dtl_text(thread_label(group->thread, buf, sizeof(buf)) ?:
				       "[unknown]");
		values[i++] = dtl_num(group->count);
		values[i++] = dtl_num(dtl__ns(dtl, stolen));
		values[i++] = dtl_num(dtl__ns(dtl, group->logged.ready));
		values[i++] = dtl_num(dtl__ns(dtl, group->logged.queued));
		values[i++] = dtl_num(dtl__ns(dtl, group->logged.waiting));
		values[i++] = dtl_num_if(dtl_waits__stolen(&totals.logged),
					 percent(stolen, dtl_waits__stolen(&totals.logged)));
		dtl_output__row(&dtl->out, values);
	}
	dtl_output__table_end(&dtl->out);
}

static const struct dtl_column worst_columns[] = {
	{ "stolen_ns",			"stolen ms",	DTL_DURATION,	 10 },
	{ "ready_to_enqueue_ns",	NULL,		DTL_DURATION,	  0 },
	{ "enqueue_to_dispatch_ns",	NULL,		DTL_DURATION,	  0 },
	{ "waiting_ns",			NULL,		DTL_DURATION,	  0 },
	{ "time_ns",			"until s",	DTL_TIME,	 14 },
	{ "cpu",			"CPU",		DTL_NUMBER,	  4 },
	{ "processor",			NULL,		DTL_NUMBER,	  0 },
	{ "comm",			NULL,		DTL_STRING,	  0 },
	{ "pid",			NULL,		DTL_NUMBER,	  0 },
	{ "tid",			NULL,		DTL_NUMBER,	  0 },
	{ NULL,				"task",		DTL_STRING,	-22 },
	{ "preempt_reason",		"stopped by",	DTL_STRING,	-25 },
	{ "dispatch_reason",		NULL,		DTL_STRING,	  0 },
	{ "place",			"at",		DTL_STRING,	 -1 },
};

static void report__print_worst(struct perf_dtl *dtl)
{
	char preempt[POWERPC_VPADTL_REASON_MAX], dispatch[POWERPC_VPADTL_REASON_MAX], buf[64];
	struct dtl_value values[ARRAY_SIZE(worst_columns)];
	unsigned int n, i;

	dtl_output__table(&dtl->out, "worst", worst_columns, ARRAY_SIZE(worst_columns));
	for (n = 0; n < dtl->nr_worst; n++) {
		const struct dtl_worst *worst = &dtl->worst[n];

		i = 0;
		values[i++] = dtl_num(dtl__ns(dtl, worst->stolen));
		values[i++] = dtl_num(dtl__ns(dtl, worst->waits.ready));
		values[i++] = dtl_num(dtl__ns(dtl, worst->waits.queued));
		values[i++] = dtl_num(dtl__ns(dtl, worst->waits.waiting));
		values[i++] = dtl_num(worst->time);
		values[i++] = dtl_num(worst->cpu);
		values[i++] = dtl_num(worst->processor);
		values[i++] = dtl_text(thread_comm(worst->thread));
		values[i++] = thread_pid_value(worst->thread);
		values[i++] = thread_tid_value(worst->thread);
		values[i++] = dtl_text(thread_label(worst->thread, buf, sizeof(buf)) ?:
				       "[unknown]");
		values[i++] = dtl_text(powerpc_vpadtl__preempt_reason(worst->preempt_reason,
								      preempt));
		values[i++] = dtl_text(powerpc_vpadtl__dispatch_reason(worst->dispatch_reason,
								       dispatch));
		values[i++] = dtl_text(worst->place);
		dtl_output__row(&dtl->out, values);
	}
	dtl_output__table_end(&dtl->out);
}

static const char *ms(u64 ns, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRIu64 ".%03" PRIu64 " ms", ns / NSEC_PER_MSEC,
		 ns % NSEC_PER_MSEC / NSEC_PER_USEC);
	return buf;
}

/* One sentence that says what to look at */
static void report__conclusion(struct perf_dtl *dtl, struct dtl_group *task, char *buf,
			       size_t size)
{
	const struct dtl_cpu *cpu = NULL;
	struct dtl_totals totals;
	u64 stolen, span;
	const char *name;
	char label[64], part[32], whole[32];
	bool incomplete;
	unsigned int i;
	size_t len;

	for (i = 0; i < MAX_NR_CPUS; i++) {
		if (dtl->cpus[i] &&
		    (!cpu || dtl_waits__stolen(&dtl->cpus[i]->span.in) >
			     dtl_waits__stolen(&cpu->span.in)))
			cpu = dtl->cpus[i];
	}

	dtl__totals(dtl, &totals);
	incomplete = totals.lost || totals.errors || dtl__is_cut(dtl);
	if (!totals.entries) {
		snprintf(buf, size, "Nothing can be said without entries.");
		return;
	}
	if (!dtl_waits__stolen(&totals.logged)) {
		snprintf(buf, size,
			 "No time was stolen%s: every virtual processor was dispatched as soon as it was ready.",
			 incomplete ? " as far as is known" : "");
		return;
	}
	if (!dtl_waits__stolen(&cpu->span.in)) {
		snprintf(buf, size,
			 "Time was stolen only before the first entries, of which no share can be given.");
		return;
	}

	span = dtl__ns(dtl, dtl_span__total(&cpu->span));
	stolen = dtl__ns(dtl, dtl_waits__stolen(&cpu->span.in));
	len = scnprintf(buf, size,
			"%sCPU %d waited most for a core: %s of %s (%.1f%%) were stolen",
			incomplete ? "As far as is known, " : "", cpu->cpu,
			ms(stolen, part, sizeof(part)), ms(span, whole, sizeof(whole)),
			span ? 100.0 * stolen / span : 0.0);

	name = thread_label(task->thread, label, sizeof(label));
	stolen = dtl__ns(dtl, dtl_waits__stolen(&task->logged));
	if (name)
		len += scnprintf(buf + len, size - len, "; of all tasks, %s lost most: %s", name,
				 ms(stolen, part, sizeof(part)));
	scnprintf(buf + len, size - len, ".");
}

static int report__print(struct perf_dtl *dtl)
{
	struct dtl_group **list;
	char buf[512];
	size_t nr;

	list = dtl__list_groups(dtl, &nr);
	if (!list)
		return -ENOMEM;
	qsort(list, nr, sizeof(*list), cmp_group_stolen);

	report__conclusion(dtl, nr ? list[0] : NULL, buf, sizeof(buf));
	if (dtl->out.format == DTL_FORMAT_TEXT)
		color_fprintf(stdout, PERF_COLOR_BOLD, "%s\n", buf);
	dtl_output__member(&dtl->out, &conclusion_column, dtl_text(buf));

	title(dtl, "Virtual processors, from their first to their last dispatch:");
	dtl__print_cpus(dtl);
	if (dtl->out.format != DTL_FORMAT_CSV) {
		title(dtl, "Tasks that lost most:");
		dtl__print_tasks(dtl, list, nr,
				 dtl->out.format == DTL_FORMAT_TEXT ? NR_TOP_TASKS : nr);
		title(dtl, "Worst waits:");
		report__print_worst(dtl);
	}
	free(list);
	return 0;
}

/* From here on: perf dtl latency */

#define MAX_BY_COLUMNS	5

struct dtl_by {
	const char			*name;
	struct dtl_group		*(*find)(struct perf_dtl *dtl, struct dtl_cpu *cpu,
						 const struct dtl_entry *entry);
	const struct dtl_column		*columns;
	unsigned int			nr_columns;
	void				(*values)(struct perf_dtl *dtl,
						  const struct dtl_group *group,
						  struct dtl_value *values, char *buf,
						  size_t size);
};

static struct dtl_group *dtl__code_group(struct perf_dtl *dtl, u32 code)
{
	struct dtl_group *group = dtl__group(dtl, code, DTL_PART_MAX);

	if (group)
		group->code = code;
	return group;
}

static struct dtl_group *by_cpu__find(struct perf_dtl *dtl, struct dtl_cpu *cpu,
				      const struct dtl_entry *entry __maybe_unused)
{
	return dtl__code_group(dtl, cpu->cpu);
}

static struct dtl_group *by_task__find(struct perf_dtl *dtl, struct dtl_cpu *cpu,
				       const struct dtl_entry *entry)
{
	return dtl__task_group(dtl, cpu, entry, DTL_PART_MAX);
}

static struct dtl_group *by_function__find(struct perf_dtl *dtl,
					   struct dtl_cpu *cpu __maybe_unused,
					   const struct dtl_entry *entry)
{
	struct dtl_group *group;
	struct addr_location al;
	long key = entry->cpumode;
	struct dso *dso;

	dtl__find_place(dtl, entry, &al);
	dso = al.map ? map__dso(al.map) : NULL;
	if (al.sym)
		key = (long)al.sym;
	else if (dso)
		key = (long)RC_CHK_ACCESS(dso);

	group = dtl__group(dtl, key, DTL_PART_MAX);
	if (group && !group->map) {
		/* It keeps the symbol and the DSO */
		group->map = map__get(al.map);
		group->sym = al.sym;
		group->cpumode = entry->cpumode;
	}
	addr_location__exit(&al);
	return group;
}

static struct dtl_group *by_reason__find(struct perf_dtl *dtl, struct dtl_cpu *cpu __maybe_unused,
					 const struct dtl_entry *entry)
{
	return dtl__code_group(dtl, entry->raw.preempt_reason << 8 | entry->raw.dispatch_reason);
}

static struct dtl_group *by_processor__find(struct perf_dtl *dtl,
					    struct dtl_cpu *cpu __maybe_unused,
					    const struct dtl_entry *entry)
{
	return dtl__code_group(dtl, entry->raw.processor_id);
}

static void by_cpu__values(struct perf_dtl *dtl, const struct dtl_group *group,
			   struct dtl_value *values, char *buf __maybe_unused,
			   size_t size __maybe_unused)
{
	values[0] = dtl_num(group->code);
	values[1] = dtl_num(dtl->cpus[group->code]->lost);
}

static void by_task__values(struct perf_dtl *dtl __maybe_unused, const struct dtl_group *group,
			    struct dtl_value *values, char *buf, size_t size)
{
	values[0] = dtl_text(thread_comm(group->thread));
	values[1] = thread_pid_value(group->thread);
	values[2] = thread_tid_value(group->thread);
	values[3] = dtl_text(thread_label(group->thread, buf, size) ?: "[unknown]");
}

static const char *dtl_group__dso_name(const struct dtl_group *group)
{
	return group->map ? dso__name(map__dso(group->map)) : NULL;
}

static const char *cpumode_name(u8 cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_USER:
		return "user";
	case PERF_RECORD_MISC_HYPERVISOR:
		return "hypervisor";
	default:
		return "kernel";
	}
}

static void by_function__values(struct perf_dtl *dtl __maybe_unused,
				const struct dtl_group *group, struct dtl_value *values,
				char *buf, size_t size)
{
	const char *dso = dtl_group__dso_name(group);

	values[0] = dtl_text(group->sym ? group->sym->name : NULL);
	values[1] = dtl_text(dso);
	values[2] = dtl_text(cpumode_name(group->cpumode));
	if (group->sym)
		snprintf(buf, size, "%s", group->sym->name);
	else
		snprintf(buf, size, "[unknown] (%s)", dso ?: cpumode_name(group->cpumode));
	values[3] = dtl_text(buf);
}

static void by_reason__values(struct perf_dtl *dtl __maybe_unused, const struct dtl_group *group,
			      struct dtl_value *values, char *buf, size_t size)
{
	const char *preempt, *dispatch;
	char *second = buf + POWERPC_VPADTL_REASON_MAX;
	char *both = second + POWERPC_VPADTL_REASON_MAX;

	preempt = powerpc_vpadtl__preempt_reason(group->code >> 8, buf);
	dispatch = powerpc_vpadtl__dispatch_reason(group->code & 0xff, second);
	snprintf(both, size - (both - buf), "%s > %s", preempt, dispatch);
	values[0] = dtl_text(preempt);
	values[1] = dtl_num(group->code >> 8);
	values[2] = dtl_text(dispatch);
	values[3] = dtl_num(group->code & 0xff);
	values[4] = dtl_text(both);
}

static void by_processor__values(struct perf_dtl *dtl __maybe_unused,
				 const struct dtl_group *group, struct dtl_value *values,
				 char *buf __maybe_unused, size_t size __maybe_unused)
{
	values[0] = dtl_num(group->code);
}

static const struct dtl_column by_cpu_columns[] = {
	{ "cpu",		"CPU",		DTL_NUMBER,	  4 },
	{ "lost_entries",	"lost",		DTL_NUMBER,	  6 },
};

static const struct dtl_column by_task_columns[] = {
	{ "comm",		NULL,		DTL_STRING,	  0 },
	{ "pid",		NULL,		DTL_NUMBER,	  0 },
	{ "tid",		NULL,		DTL_NUMBER,	  0 },
	{ NULL,			"task",		DTL_STRING,	-24 },
};

static const struct dtl_column by_function_columns[] = {
	{ "function",		NULL,		DTL_STRING,	  0 },
	{ "dso",		NULL,		DTL_STRING,	  0 },
	{ "mode",		NULL,		DTL_STRING,	  0 },
	{ NULL,			"function",	DTL_STRING,	-32 },
};

static const struct dtl_column by_reason_columns[] = {
	{ "preempt_reason",	NULL,		DTL_STRING,	  0 },
	{ "preempt_code",	NULL,		DTL_NUMBER,	  0 },
	{ "dispatch_reason",	NULL,		DTL_STRING,	  0 },
	{ "dispatch_code",	NULL,		DTL_NUMBER,	  0 },
	{ NULL,			"stopped by > dispatched by", DTL_STRING, -32 },
};

static const struct dtl_column by_processor_columns[] = {
	{ "processor",		"processor",	DTL_NUMBER,	  9 },
};

static const struct dtl_by dtl_bys[] = {
	{ "cpu", by_cpu__find, by_cpu_columns, ARRAY_SIZE(by_cpu_columns), by_cpu__values },
	{ "task", by_task__find, by_task_columns, ARRAY_SIZE(by_task_columns), by_task__values },
	{ "function", by_function__find, by_function_columns, ARRAY_SIZE(by_function_columns),
	  by_function__values },
	{ "reason", by_reason__find, by_reason_columns, ARRAY_SIZE(by_reason_columns),
	  by_reason__values },
	{ "processor", by_processor__find, by_processor_columns, ARRAY_SIZE(by_processor_columns),
	  by_processor__values },
};

struct dtl_sort {
	const char	*name;
	u64		(*value)(const struct dtl_group *group);
};

static u64 sort_count(const struct dtl_group *group)
{
	return group->count;
}

static u64 sort_total(const struct dtl_group *group)
{
	return group->hist[DTL_PART_STOLEN].total;
}

static u64 sort_avg(const struct dtl_group *group)
{
	return group->hist[DTL_PART_STOLEN].total / group->count;
}

static u64 sort_p50(const struct dtl_group *group)
{
	return dtl_hist__percentile(&group->hist[DTL_PART_STOLEN], 50);
}

static u64 sort_p95(const struct dtl_group *group)
{
	return dtl_hist__percentile(&group->hist[DTL_PART_STOLEN], 95);
}

static u64 sort_p99(const struct dtl_group *group)
{
	return dtl_hist__percentile(&group->hist[DTL_PART_STOLEN], 99);
}

static u64 sort_max(const struct dtl_group *group)
{
	return group->hist[DTL_PART_STOLEN].max;
}

static const struct dtl_sort dtl_sorts[] = {
	{ "total", sort_total },
	{ "count", sort_count },
	{ "avg", sort_avg },
	{ "p50", sort_p50 },
	{ "p95", sort_p95 },
	{ "p99", sort_p99 },
	{ "max", sort_max },
};

static int latency__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu, const struct dtl_entry *entry)
{
	struct dtl_group *group = dtl->by->find(dtl, cpu, entry);
	int err;

	if (!group)
		return -ENOMEM;

	dtl_group__add(group, entry);
	err = dtl_hist__add(&group->hist[DTL_PART_STOLEN], dtl_waits__stolen(&entry->waits),
			    entry->time);
	if (!err)
		err = dtl_hist__add(&group->hist[DTL_PART_READY], entry->waits.ready, entry->time);
	if (!err)
		err = dtl_hist__add(&group->hist[DTL_PART_QUEUED], entry->waits.queued,
				    entry->time);
	return err;
}

/* The greatest first; of equals, all that tells groups apart gives the order. */
static const struct dtl_sort *cmp_sort;

static int cmp_group(const void *va, const void *vb)
{
	const struct dtl_group *a = *(const struct dtl_group **)va;
	const struct dtl_group *b = *(const struct dtl_group **)vb;
	int cmp;

	cmp = cmp_num(cmp_sort->value(b), cmp_sort->value(a)) ?: cmp_num(a->code, b->code) ?:
	      cmp_name(a->sym ? a->sym->name : NULL, b->sym ? b->sym->name : NULL) ?:
	      cmp_name(dtl_group__dso_name(a), dtl_group__dso_name(b)) ?:
	      cmp_num(a->cpumode, b->cpumode);
	if (!cmp && a->sym && b->sym)
		cmp = cmp_num(a->sym->start, b->sym->start);
	return cmp ?: cmp_thread(a->thread, b->thread);
}

static const struct dtl_column latency_columns[] = {
	{ "count", NULL, DTL_NUMBER, 0 },
	{ "stolen_total_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_avg_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_p50_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_p95_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_p99_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_max_ns", NULL, DTL_DURATION, 0 },
	{ "stolen_max_time_ns", NULL, DTL_TIME, 0 },
	{ "ready_to_enqueue_total_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_avg_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_p50_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_p95_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_p99_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_max_ns", NULL, DTL_DURATION, 0 },
	{ "ready_to_enqueue_max_time_ns", NULL, DTL_TIME, 0 },
	{ "enqueue_to_dispatch_total_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_avg_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_p50_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_p95_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_p99_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_max_ns", NULL, DTL_DURATION, 0 },
	{ "enqueue_to_dispatch_max_time_ns", NULL, DTL_TIME, 0 },
	/* For people, a part is a line */
	{ NULL,			"count",	DTL_NUMBER,	 9 },
	{ NULL,			"time",		DTL_STRING,	-6 },
	{ NULL,			"total ms",	DTL_DURATION,	12 },
	{ NULL,			"avg ms",	DTL_DURATION,	10 },
	{ NULL,			"p50 ms",	DTL_DURATION,	10 },
	{ NULL,			"p95 ms",	DTL_DURATION,	10 },
	{ NULL,			"p99 ms",	DTL_DURATION,	10 },
	{ NULL,			"max ms",	DTL_DURATION,	10 },
	{ NULL,			"max at s",	DTL_TIME,	14 },
};

static const char * const part_names[DTL_PART_MAX] = { "stolen", "ready", "queued" };

static void hist_values(const struct perf_dtl *dtl, const struct dtl_hist *hist,
			struct dtl_value *values)
{
	values[0] = dtl_num(dtl__ns(dtl, hist->total));
	values[1] = dtl_num(dtl__ns(dtl, hist->total) / hist->count);
	values[2] = dtl_num(dtl__ns(dtl, dtl_hist__percentile(hist, 50)));
	values[3] = dtl_num(dtl__ns(dtl, dtl_hist__percentile(hist, 95)));
	values[4] = dtl_num(dtl__ns(dtl, dtl_hist__percentile(hist, 99)));
	values[5] = dtl_num(dtl__ns(dtl, hist->max));
	values[6] = dtl_num(hist->max_time);
}

static int latency__print(struct perf_dtl *dtl)
{
	unsigned int nr_columns = dtl->by->nr_columns + ARRAY_SIZE(latency_columns);
	struct dtl_column columns[MAX_BY_COLUMNS + ARRAY_SIZE(latency_columns)];
	struct dtl_value values[MAX_BY_COLUMNS + ARRAY_SIZE(latency_columns)];
	struct dtl_group **list;
	size_t nr, limit, n;
	char buf[256];
	unsigned int i, part;

	list = dtl__list_groups(dtl, &nr);
	if (!list)
		return -ENOMEM;
	cmp_sort = dtl->sort;
	qsort(list, nr, sizeof(*list), cmp_group);
	limit = dtl->limit && dtl->limit < nr ? dtl->limit : nr;

	for (i = 0; i < nr_columns; i++)
		columns[i] = i < dtl->by->nr_columns ? dtl->by->columns[i] :
						       latency_columns[i - dtl->by->nr_columns];

	dtl_output__member(&dtl->out, &by_column, dtl_text(dtl->by->name));
	dtl_output__member(&dtl->out, &omitted_column, dtl_num(nr - limit));
	dtl_output__table(&dtl->out, "groups", columns, nr_columns);
	for (n = 0; n < limit; n++) {
		const struct dtl_group *group = list[n];

		dtl->by->values(dtl, group, values, buf, sizeof(buf));
		i = dtl->by->nr_columns;
		values[i++] = dtl_num(group->count);
		for (part = 0; part < DTL_PART_MAX; part++, i += 7)
			hist_values(dtl, &group->hist[part], &values[i]);

		values[i++] = dtl_num(group->count);
		if (dtl->out.format != DTL_FORMAT_TEXT) {
			dtl_output__row(&dtl->out, values);
			continue;
		}
		for (part = 0; part < DTL_PART_MAX; part++) {
			values[i] = dtl_text(part_names[part]);
			hist_values(dtl, &group->hist[part], &values[i + 1]);
			dtl_output__row(&dtl->out, values);
		}
	}
	dtl_output__table_end(&dtl->out);
	if (limit < nr && dtl->out.format == DTL_FORMAT_TEXT)
		printf("  and %zu more (--limit)\n", nr - limit);
	free(list);
	return 0;
}

/* From here on: perf dtl hist */

static int hist__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu __maybe_unused,
		       const struct dtl_entry *entry)
{
	struct dtl_log2 **log2 = &dtl->log2[entry->raw.preempt_reason];
	u64 stolen = dtl__ns(dtl, dtl_waits__stolen(&entry->waits));

	if (!*log2)
		*log2 = zalloc(sizeof(**log2));
	if (!*log2)
		return -ENOMEM;

	(*log2)->waiting[fls64(dtl__ns(dtl, entry->waits.waiting))]++;
	(*log2)->part[DTL_PART_STOLEN][fls64(stolen)]++;
	(*log2)->part[DTL_PART_READY][fls64(dtl__ns(dtl, entry->waits.ready))]++;
	(*log2)->part[DTL_PART_QUEUED][fls64(dtl__ns(dtl, entry->waits.queued))]++;
	return 0;
}

static const struct dtl_column hist_columns[] = {
	{ "preempt_reason",		"stopped by",	DTL_STRING,	-25 },
	{ "from_ns",			NULL,		DTL_DURATION,	  0 },
	{ "below_ns",			NULL,		DTL_DURATION,	  0 },
	{ NULL,				"from",		DTL_STRING,	  9 },
	{ NULL,				"below",	DTL_STRING,	  9 },
	{ "waiting_to_ready",		"wait",		DTL_NUMBER,	  9 },
	{ "ready_to_enqueue",		"ready",	DTL_NUMBER,	  9 },
	{ "enqueue_to_dispatch",	"queued",	DTL_NUMBER,	  9 },
	{ "stolen",			"stolen",	DTL_NUMBER,	  9 },
	{ NULL,				"",		DTL_STRING,	 -1 },
};

/* Of the times of two buckets, three digits tell which is which. */
static const char *short_ns(u64 ns, char *buf, size_t size)
{
	if (ns < NSEC_PER_USEC)
		snprintf(buf, size, "%" PRIu64 " ns", ns);
	else if (ns < NSEC_PER_MSEC)
		snprintf(buf, size, "%.3g us", (double)ns / NSEC_PER_USEC);
	else if (ns < NSEC_PER_SEC)
		snprintf(buf, size, "%.3g ms", (double)ns / NSEC_PER_MSEC);
	else
		snprintf(buf, size, "%.3g s", (double)ns / NSEC_PER_SEC);
	return buf;
}

static int hist__print(struct perf_dtl *dtl)
{
	static const char bar[] = "########################################";
	struct dtl_value values[ARRAY_SIZE(hist_columns)];
	char buf[POWERPC_VPADTL_REASON_MAX], from[16], below[16];
	unsigned int code, bucket, first, last, i;

	dtl_output__table(&dtl->out, "buckets", hist_columns, ARRAY_SIZE(hist_columns));
	for (code = 0; code < NR_REASONS; code++) {
		const struct dtl_log2 *log2 = dtl->log2[code];
		u64 most = 1;

		if (!log2)
			continue;

		first = 64;
		last = 0;
		for (bucket = 0; bucket < 65; bucket++) {
			if (!log2->waiting[bucket] && !log2->part[DTL_PART_STOLEN][bucket] &&
			    !log2->part[DTL_PART_READY][bucket] &&
			    !log2->part[DTL_PART_QUEUED][bucket])
				continue;
			first = min(first, bucket);
			last = bucket;
			most = max(most, log2->part[DTL_PART_STOLEN][bucket]);
		}

		for (bucket = first; bucket <= last; bucket++) {
			i = 0;
			values[i++] = dtl_text(powerpc_vpadtl__preempt_reason(code, buf));
			values[i++] = dtl_num(bucket ? 1ULL << (bucket - 1) : 0);
			values[i++] = dtl_num_if(bucket < 64, bucket < 64 ? 1ULL << bucket : 0);
			values[i] = dtl_text(short_ns(values[i - 2].num, from, sizeof(from)));
			i++;
			values[i] = values[i - 2].known ?
				    dtl_text(short_ns(values[i - 2].num, below, sizeof(below))) :
				    dtl_none();
			i++;
			values[i++] = dtl_num(log2->waiting[bucket]);
			values[i++] = dtl_num(log2->part[DTL_PART_READY][bucket]);
			values[i++] = dtl_num(log2->part[DTL_PART_QUEUED][bucket]);
			values[i++] = dtl_num(log2->part[DTL_PART_STOLEN][bucket]);
			values[i++] = dtl_text(bar + sizeof(bar) - 1 -
					       log2->part[DTL_PART_STOLEN][bucket] *
					       (sizeof(bar) - 1) / most);
			dtl_output__row(&dtl->out, values);
		}
	}
	dtl_output__table_end(&dtl->out);
	return 0;
}

/* From here on: perf dtl timehist */

static const struct dtl_column timehist_columns[] = {
	{ "time_ns",			"time s",	DTL_TIME,	 14 },
	{ "cpu",			"CPU",		DTL_NUMBER,	  4 },
	{ "event",			NULL,		DTL_STRING,	  0 },
	{ "comm",			NULL,		DTL_STRING,	  0 },
	{ "pid",			NULL,		DTL_NUMBER,	  0 },
	{ "tid",			NULL,		DTL_NUMBER,	  0 },
	{ NULL,				"task",		DTL_STRING,	-22 },
	{ "running_ns",			"ran ms",	DTL_DURATION,	 10 },
	{ "waiting_ns",			"wait ms",	DTL_DURATION,	 10 },
	{ "ready_to_enqueue_ns",	"ready ms",	DTL_DURATION,	 10 },
	{ "enqueue_to_dispatch_ns",	"queued ms",	DTL_DURATION,	 10 },
	{ "stolen_ns",			NULL,		DTL_DURATION,	  0 },
	{ "processor_before",		"from",		DTL_NUMBER,	  5 },
	{ "processor",			"to",		DTL_NUMBER,	  5 },
	{ "preempt_reason",		"stopped by",	DTL_STRING,	-25 },
	{ "dispatch_reason",		NULL,		DTL_STRING,	  0 },
	{ "lost_entries",		NULL,		DTL_NUMBER,	  0 },
	{ "unknown_until_ns",		NULL,		DTL_TIME,	  0 },
	{ "message",			"dispatched by", DTL_STRING,	 -1 },
};

/* Not before there is a row, or all was read without one: else there is no result. */
static void timehist__begin(struct perf_dtl *dtl)
{
	if (dtl->streaming)
		return;

	dtl->streaming = true;
	setup_pager();
	dtl__begin_output(dtl);
	dtl_output__table(&dtl->out, "entries", timehist_columns, ARRAY_SIZE(timehist_columns));
}

static void timehist__row(struct perf_dtl *dtl, const struct dtl_value *values)
{
	timehist__begin(dtl);
	dtl_output__row(&dtl->out, values);
}

static int timehist__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			   const struct dtl_entry *entry)
{
	char preempt[POWERPC_VPADTL_REASON_MAX], dispatch[POWERPC_VPADTL_REASON_MAX], buf[64];
	struct dtl_value values[ARRAY_SIZE(timehist_columns)];
	u64 ready = dtl__ns(dtl, entry->waits.ready), queued = dtl__ns(dtl, entry->waits.queued);
	struct dtl_group *group;
	const char *why;
	unsigned int i = 0;

	if (dtl->summary || dtl->with_summary) {
		group = dtl__task_group(dtl, cpu, entry, 0);
		if (!group)
			return -ENOMEM;
		dtl_group__add(group, entry);
		if (dtl->summary)
			return 0;
	}

	why = powerpc_vpadtl__dispatch_reason(entry->raw.dispatch_reason, dispatch);
	values[i++] = dtl_num(entry->time);
	values[i++] = dtl_num(cpu->cpu);
	values[i++] = dtl_text("dispatch");
	values[i++] = dtl_text(thread_comm(entry->thread));
	values[i++] = thread_pid_value(entry->thread);
	values[i++] = thread_tid_value(entry->thread);
	values[i++] = dtl_text(thread_label(entry->thread, buf, sizeof(buf)) ?: "[unknown]");
	values[i++] = dtl_num_if(entry->follows && !entry->gap, dtl__ns(dtl, entry->span.running));
	values[i++] = dtl_num(dtl__ns(dtl, entry->waits.waiting));
	values[i++] = dtl_num(ready);
	values[i++] = dtl_num(queued);
	values[i++] = dtl_num(ready + queued);
	values[i++] = dtl_num_if(entry->follows && !entry->gap, entry->prev_processor);
	values[i++] = dtl_num(entry->raw.processor_id);
	values[i++] = dtl_text(powerpc_vpadtl__preempt_reason(entry->raw.preempt_reason, preempt));
	values[i++] = dtl_text(why);
	values[i++] = dtl_none();
	values[i++] = dtl_none();
	/* For people, why it was dispatched */
	values[i++] = dtl->out.format == DTL_FORMAT_TEXT ? dtl_text(why) : dtl_none();
	timehist__row(dtl, values);
	return 0;
}

static void timehist__event(struct perf_dtl *dtl, int cpu, u64 time, const char *event,
			    struct dtl_value lost, struct dtl_value unknown_until, const char *msg)
{
	struct dtl_value values[ARRAY_SIZE(timehist_columns)] = { { .known = false, }, };

	values[0] = dtl_num_if(time, time);
	values[1] = dtl_num_if(cpu >= 0, cpu);
	values[2] = dtl_text(event);
	values[ARRAY_SIZE(values) - 3] = lost;
	values[ARRAY_SIZE(values) - 2] = unknown_until;
	values[ARRAY_SIZE(values) - 1] = dtl_text(msg);
	timehist__row(dtl, values);
}

static int timehist__lost(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time, u64 nr,
			  const struct dtl_entry *voided)
{
	char buf[128];
	size_t len;

	if (dtl->summary)
		return 0;

	if (nr)
		len = scnprintf(buf, sizeof(buf), "%" PRIu64 " entries lost", nr);
	else
		len = scnprintf(buf, sizeof(buf), "entries are being lost for want of room");
	if (!time)
		scnprintf(buf + len, sizeof(buf) - len, ", as was told at the end");
	else if (voided)
		scnprintf(buf + len, sizeof(buf) - len, "; what ran until %.6f is not known",
			  (double)voided->time / NSEC_PER_SEC);
	timehist__event(dtl, cpu ? cpu->cpu : -1, time, "lost", dtl_num_if(nr, nr),
			dtl_num_if(voided, voided ? voided->time : 0), buf);
	return 0;
}

static int timehist__error(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time, const char *msg)
{
	if (!dtl->summary)
		timehist__event(dtl, cpu ? cpu->cpu : -1, time, "error", dtl_none(), dtl_none(),
				msg);
	return 0;
}

static int timehist__print(struct perf_dtl *dtl)
{
	struct dtl_group **list;
	size_t nr;

	if (!dtl->summary) {
		timehist__begin(dtl);
		dtl_output__table_end(&dtl->out);
		dtl->streaming = false;
	}
	if (!dtl->summary && !dtl->with_summary)
		return 0;

	list = dtl__list_groups(dtl, &nr);
	if (!list)
		return -ENOMEM;
	qsort(list, nr, sizeof(*list), cmp_group_stolen);
	title(dtl, "Virtual processors, from their first to their last dispatch:");
	dtl__print_cpus(dtl);
	if (dtl->out.format != DTL_FORMAT_CSV) {
		title(dtl, "Tasks:");
		dtl__print_tasks(dtl, list, nr, nr);
	}
	free(list);
	return 0;
}

/* From here on: perf dtl dispersion */

static int dispersion__entry(struct perf_dtl *dtl __maybe_unused, struct dtl_cpu *cpu,
			     const struct dtl_entry *entry)
{
	if (!cpu->processors) {
		cpu->processors = bitmap_zalloc(UINT16_MAX + 1);
		if (!cpu->processors)
			return -ENOMEM;
	}
	__set_bit(entry->raw.processor_id, cpu->processors);

	if (entry->follows && !entry->gap) {
		if (entry->raw.processor_id == entry->prev_processor)
			cpu->same++;
		else
			cpu->changed++;
	}
	return 0;
}

static void dispersion__void(struct perf_dtl *dtl __maybe_unused, struct dtl_cpu *cpu,
			     const struct dtl_entry *entry)
{
	if (entry->raw.processor_id == entry->prev_processor)
		cpu->same--;
	else
		cpu->changed--;
}

static const struct dtl_column dispersion_columns[] = {
	{ "cpu",		"CPU",		DTL_NUMBER,	 4 },
	{ "entries",		"dispatches",	DTL_NUMBER,	11 },
	{ "same_processor",	"same",		DTL_NUMBER,	10 },
	{ "changed_processor",	"changed",	DTL_NUMBER,	10 },
	{ "unknown",		"unknown",	DTL_NUMBER,	10 },
	{ "same_percent",	"same %",	DTL_PERCENT,	 7 },
	{ "changed_percent",	"changed %",	DTL_PERCENT,	 9 },
	{ "processors",		"processors",	DTL_NUMBER,	10 },
	{ "lost_entries",	"lost",		DTL_NUMBER,	 6 },
};

static int dispersion__print(struct perf_dtl *dtl)
{
	struct dtl_value values[ARRAY_SIZE(dispersion_columns)];
	unsigned int cpu_nr, i;

	dtl_output__table(&dtl->out, "cpus", dispersion_columns, ARRAY_SIZE(dispersion_columns));
	for (cpu_nr = 0; cpu_nr < MAX_NR_CPUS; cpu_nr++) {
		const struct dtl_cpu *cpu = dtl->cpus[cpu_nr];
		u64 known;

		if (!cpu)
			continue;

		known = cpu->same + cpu->changed;
		i = 0;
		values[i++] = dtl_num(cpu_nr);
		values[i++] = dtl_num(cpu->entries);
		values[i++] = dtl_num(cpu->same);
		values[i++] = dtl_num(cpu->changed);
		values[i++] = dtl_num(cpu->entries - known);
		values[i++] = dtl_num_if(known, percent(cpu->same, known));
		values[i++] = dtl_num_if(known, percent(cpu->changed, known));
		values[i++] = dtl_num(cpu->processors ?
				      bitmap_weight(cpu->processors, UINT16_MAX + 1) : 0);
		values[i++] = dtl_num(cpu->lost);
		dtl_output__row(&dtl->out, values);
	}
	dtl_output__table_end(&dtl->out);
	return 0;
}

/* From here on: where in time the states lie, for intervals and the chart */

typedef int (*dtl_spread_fn)(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			     const struct dtl_entry *entry, enum dtl_state state, u64 start,
			     u64 end);

/* The end, in ns, of the time before the waits of an entry */
static u64 dtl__run_end(const struct perf_dtl *dtl, const struct dtl_entry *entry)
{
	u64 waits = dtl__ns(dtl, entry->span.in.waiting + dtl_waits__stolen(&entry->span.in));

	return entry->time - min(waits, entry->time - entry->prev_time);
}

static int dtl__spread(struct perf_dtl *dtl, struct dtl_cpu *cpu, const struct dtl_entry *entry,
		       dtl_spread_fn fn)
{
	u64 run_end, stolen, wait_end;
	int err;

	if (!entry->follows || entry->time <= entry->prev_time)
		return 0;

	run_end = dtl__run_end(dtl, entry);
	stolen = dtl__ns(dtl, dtl_waits__stolen(&entry->span.in));
	wait_end = entry->time - min(stolen, entry->time - run_end);

	err = fn(dtl, cpu, entry, entry->gap ? DTL_STATE_UNKNOWN : DTL_STATE_RUNNING,
		 entry->prev_time, run_end);
	if (!err)
		err = fn(dtl, cpu, entry, DTL_STATE_WAITING, run_end, wait_end);
	if (!err)
		err = fn(dtl, cpu, entry, DTL_STATE_STOLEN, wait_end, entry->time);
	return err;
}

/* From here on: perf dtl interval */

static struct dtl_interval *dtl__interval(struct perf_dtl *dtl, u64 time)
{
	struct dtl_interval *intervals;
	u64 nr, alloc;

	nr = time < dtl->base ? 0 : (time - dtl->base) / dtl->every_ns;
	if (nr >= MAX_INTERVALS) {
		pr_err("More than %lu intervals: use a larger --every or a --time\n",
		       MAX_INTERVALS);
		return NULL;
	}

	if (nr >= dtl->alloc_intervals) {
		alloc = max(nr + 1, 2 * dtl->alloc_intervals);
		alloc = min_t(u64, alloc, MAX_INTERVALS);
		intervals = realloc(dtl->intervals, alloc * sizeof(*intervals));
		if (!intervals)
			return NULL;
		memset(intervals + dtl->alloc_intervals, 0,
		       (alloc - dtl->alloc_intervals) * sizeof(*intervals));
		dtl->intervals = intervals;
		dtl->alloc_intervals = alloc;
	}
	dtl->nr_intervals = max(dtl->nr_intervals, nr + 1);
	return &dtl->intervals[nr];
}

/* A time is in one state, and no more in another; DTL_STATE_MAX: it was in none */
static int dtl__add_time(struct perf_dtl *dtl, enum dtl_state state, enum dtl_state before,
			 u64 start, u64 end)
{
	struct dtl_interval *interval;
	u64 left, ns;

	for (; start < end; start += ns) {
		interval = dtl__interval(dtl, start);
		if (!interval)
			return -ENOMEM;

		/* What is before the base is in the first interval */
		if (start < dtl->base)
			left = dtl->base - start;
		else
			left = dtl->every_ns - (start - dtl->base) % dtl->every_ns;
		ns = min(end - start, left);
		interval->ns[state] += ns;
		if (before != DTL_STATE_MAX)
			interval->ns[before] -= ns;
	}
	return 0;
}

static int interval__spread(struct perf_dtl *dtl, struct dtl_cpu *cpu __maybe_unused,
			    const struct dtl_entry *entry __maybe_unused, enum dtl_state state,
			    u64 start, u64 end)
{
	return dtl__add_time(dtl, state, DTL_STATE_MAX, start, end);
}

static int interval__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			   const struct dtl_entry *entry)
{
	struct dtl_interval *interval = dtl__interval(dtl, entry->time);

	if (!interval)
		return -ENOMEM;
	interval->entries++;
	return dtl__spread(dtl, cpu, entry, interval__spread);
}

static void interval__void(struct perf_dtl *dtl, struct dtl_cpu *cpu __maybe_unused,
			   const struct dtl_entry *entry)
{
	/* These intervals are there: their time was added as running */
	if (entry->time > entry->prev_time)
		dtl__add_time(dtl, DTL_STATE_UNKNOWN, DTL_STATE_RUNNING, entry->prev_time,
			      dtl__run_end(dtl, entry));
}

static int interval__lost(struct perf_dtl *dtl, struct dtl_cpu *cpu __maybe_unused, u64 time,
			  u64 nr, const struct dtl_entry *voided __maybe_unused)
{
	struct dtl_interval *interval;

	/* What is told at the end, or after --time, is in the last that there is */
	if ((!time || dtl__range(dtl, time) < 0) && dtl->nr_intervals)
		interval = &dtl->intervals[dtl->nr_intervals - 1];
	else
		interval = dtl__interval(dtl, time ?: dtl->base);
	if (!interval)
		return -ENOMEM;
	interval->lost += nr;
	return 0;
}

static const struct dtl_column interval_columns[] = {
	{ "start_ns",		"from s",	DTL_TIME,	14 },
	{ "entries",		"entries",	DTL_NUMBER,	 9 },
	{ "span_ns",		"CPU ms",	DTL_DURATION,	11 },
	{ "running_ns",		NULL,		DTL_DURATION,	 0 },
	{ "stolen_ns",		"stolen ms",	DTL_DURATION,	11 },
	{ "waiting_ns",		NULL,		DTL_DURATION,	 0 },
	{ "unknown_ns",		NULL,		DTL_DURATION,	 0 },
	{ "running_percent",	"run %",	DTL_PERCENT,	 6 },
	{ "stolen_percent",	"stolen %",	DTL_HOT_PERCENT, 8 },
	{ "waiting_percent",	"wait %",	DTL_PERCENT,	 6 },
	{ "unknown_percent",	"gap %",	DTL_PERCENT,	 6 },
	{ "lost_entries",	"lost",		DTL_NUMBER,	 6 },
};

static int interval__print(struct perf_dtl *dtl)
{
	struct dtl_value values[ARRAY_SIZE(interval_columns)];
	unsigned int i, state;
	u64 nr;

	dtl_output__member(&dtl->out, &every_column, dtl_num(dtl->every_ns));
	dtl_output__table(&dtl->out, "intervals", interval_columns, ARRAY_SIZE(interval_columns));
	for (nr = 0; nr < dtl->nr_intervals; nr++) {
		const struct dtl_interval *interval = &dtl->intervals[nr];
		const u64 *ns = interval->ns;
		u64 span = 0;

		for (state = 0; state < DTL_STATE_MAX; state++)
			span += ns[state];
		if (!span && !interval->entries && !interval->lost)
			continue;
		i = 0;
		values[i++] = dtl_num(dtl->base + nr * dtl->every_ns);
		values[i++] = dtl_num(interval->entries);
		values[i++] = dtl_num(span);
		values[i++] = dtl_num(ns[DTL_STATE_RUNNING]);
		values[i++] = dtl_num(ns[DTL_STATE_STOLEN]);
		values[i++] = dtl_num(ns[DTL_STATE_WAITING]);
		values[i++] = dtl_num(ns[DTL_STATE_UNKNOWN]);
		values[i++] = dtl_num_if(span, percent(ns[DTL_STATE_RUNNING], span));
		values[i++] = dtl_num_if(span, percent(ns[DTL_STATE_STOLEN], span));
		values[i++] = dtl_num_if(span, percent(ns[DTL_STATE_WAITING], span));
		values[i++] = dtl_num_if(span, percent(ns[DTL_STATE_UNKNOWN], span));
		values[i++] = dtl_num(interval->lost);
		dtl_output__row(&dtl->out, values);
	}
	dtl_output__table_end(&dtl->out);
	return 0;
}

/* From here on: perf dtl timechart */

static const char *chart_task_name(const void *task, char *buf, size_t size)
{
	const struct dtl_group *group = task;

	return thread_label(group->thread, buf, size);
}

static int timechart__init(struct perf_dtl *dtl)
{
	if (dtl->chart.lanes)
		return 0;
	dtl->chart.task_name = chart_task_name;
	return dtl_chart__init(&dtl->chart, MAX_NR_CPUS, dtl->base);
}

static int timechart__spread(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			     const struct dtl_entry *entry, enum dtl_state state, u64 start,
			     u64 end)
{
	struct dtl_group *group = NULL;

	if (entry->thread) {
		group = dtl__task_group(dtl, cpu, entry, 0);
		if (!group)
			return -ENOMEM;
	}
	return dtl_chart__add(&dtl->chart, cpu->cpu, state, start, end, group);
}

static int timechart__entry(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			    const struct dtl_entry *entry)
{
	int err = timechart__init(dtl);

	/* A lane also for a CPU of one entry */
	if (!err)
		err = dtl_chart__lose(&dtl->chart, cpu->cpu, 0);
	if (!err)
		err = dtl__spread(dtl, cpu, entry, timechart__spread);
	return err;
}

static void timechart__void(struct perf_dtl *dtl, struct dtl_cpu *cpu,
			    const struct dtl_entry *entry)
{
	if (entry->time > entry->prev_time)
		dtl_chart__void(&dtl->chart, cpu->cpu, entry->prev_time, dtl__run_end(dtl, entry));
}

static int timechart__lost(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time __maybe_unused,
			   u64 nr, const struct dtl_entry *voided __maybe_unused)
{
	int err = timechart__init(dtl);

	if (!err && cpu)
		err = dtl_chart__lose(&dtl->chart, cpu->cpu, nr);
	return err;
}

static int timechart__print(struct perf_dtl *dtl)
{
	char heading[192], note[192];
	struct dtl_totals totals;
	struct stat in, out;
	u64 span;
	FILE *fp;
	int err;

	dtl__totals(dtl, &totals);
	if (!totals.entries) {
		pr_err("Nothing to draw, %s is not written\n", dtl->output_name);
		return -ENODATA;
	}

	span = totals.last_time - totals.first_time;
	snprintf(heading, sizeof(heading),
		 "Dispatches of %" PRIu64 " virtual processors, %.6f s from %.6f s on",
		 totals.nr_cpus, (double)span / NSEC_PER_SEC,
		 (double)totals.first_time / NSEC_PER_SEC);
	snprintf(note, sizeof(note), "%" PRIu64 " entries, %" PRIu64 " lost, %" PRIu64 " faults",
		 totals.entries, totals.lost, totals.errors);

	if (!fstat(perf_data__fd(dtl->session->data), &in) && !stat(dtl->output_name, &out) &&
	    in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
		pr_err("%s: is the recording, which is not overwritten\n", dtl->output_name);
		return -EINVAL;
	}

	fp = fopen(dtl->output_name, "w");
	if (!fp) {
		err = -errno;
		pr_err("%s: %m\n", dtl->output_name);
		return err;
	}
	dtl_chart__write(&dtl->chart, fp, heading, note);
	err = ferror(fp);
	if (fclose(fp) || err) {
		pr_err("%s: could not be written\n", dtl->output_name);
		return -EIO;
	}
	printf("%s: %" PRIu64 " virtual processors\n", dtl->output_name, totals.nr_cpus);
	return 0;
}

/* From here on: the events of a recording */

/* What spans a part of the time from @from to @to is a gap. */
static void dtl_cpu__add_gap(struct dtl_cpu *cpu, u64 from, u64 to)
{
	struct dtl_gap *last;

	if (cpu->nr_gaps_ahead < MAX_GAPS) {
		cpu->gaps_ahead[cpu->nr_gaps_ahead++] = (struct dtl_gap){ from, to, };
		return;
	}

	/* One that holds both is not wrong, only longer */
	last = &cpu->gaps_ahead[MAX_GAPS - 1];
	last->from = min(last->from, from);
	last->to = max(last->to, to);
}

/* Is there a gap between the entry before and one at @time? */
static bool dtl_cpu__has_gap(struct dtl_cpu *cpu, u64 time)
{
	bool gap = cpu->truncated;
	unsigned int i, nr = 0;

	for (i = 0; i < cpu->nr_gaps_ahead; i++) {
		struct dtl_gap *ahead = &cpu->gaps_ahead[i];

		if (cpu->prev_time > ahead->to)
			continue;
		gap |= time > ahead->from;
		cpu->gaps_ahead[nr++] = *ahead;
	}
	cpu->nr_gaps_ahead = nr;
	return gap;
}

/*
 * Is a part of the time within --time in which the entries were lost: since the
 * log of a CPU, NULL: not known, was last read, until @time, when that is told?
 * Without a time, it can be.
 */
static bool dtl__selects_loss(const struct perf_dtl *dtl, const struct dtl_cpu *cpu, u64 time)
{
	u64 from = cpu && cpu->read_time ? min(cpu->read_time, time) : time;
	int i;

	if (!dtl->range_num || !time)
		return true;

	for (i = 0; i < dtl->range_num; i++) {
		const struct perf_time_interval *range = &dtl->ranges[i];

		/* An end of 0 is none */
		if (time >= range->start && (!range->end || from <= range->end))
			return true;
	}
	return false;
}

/* Count entries that are lost on a CPU, NULL: not known; see struct dtl_command. */
static int dtl__tell_loss(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time, u64 nr,
			  const struct dtl_entry *voided)
{
	if (!dtl__selects_loss(dtl, cpu, time))
		return 0;

	if (!dtl->base)
		dtl->base = time;
	if (cpu)
		cpu->lost += nr;
	else
		dtl->lost_elsewhere += nr;
	return dtl->command->lost ? dtl->command->lost(dtl, cpu, time, nr, voided) : 0;
}

/* A number of entries are lost that were logged since the log was last read, or are to come. */
static int dtl__lose(struct perf_dtl *dtl, struct dtl_cpu *cpu, u64 time, u64 nr)
{
	struct dtl_entry voided = { .time = 0, };
	bool voids = cpu->at_read_valid;
	int err;

	if (voids) {
		voided = cpu->at_read;
		cpu->span.running -= voided.span.running;
		cpu->span.unknown += voided.span.running;
		cpu->gaps++;
		cpu->at_read_valid = false;
		if (dtl->command->void_span)
			dtl->command->void_span(dtl, cpu, &voided);
	}

	err = dtl__tell_loss(dtl, cpu, time, nr, voids ? &voided : NULL);

	dtl_cpu__add_gap(cpu, time, time);
	cpu->truncated = false;
	cpu->lost_told = true;
	cpu->read = true;
	cpu->read_time = time;
	return err;
}

/*
 * The number that perf record reads of each event when it ends is of entries that
 * no record could tell. The record of it says by its identifier which CPU it is
 * of; an older perf wrote 0 for the CPU. It comes before events that are older,
 * and is told after all.
 */
static int dtl__lose_at_end(struct perf_dtl *dtl, u64 id, u64 nr)
{
	struct perf_sample_id *sid = evlist__id2sid(dtl->session->evlist, id);
	struct dtl_cpu *cpu;

	/* Without the index, nobody has set it */
	if (!sid || !dtl->has_id_index || (unsigned int)sid->cpu.cpu >= MAX_NR_CPUS) {
		dtl->lost_at_end += nr;
		return 0;
	}
	if (dtl__skips_cpu(dtl, sid->cpu.cpu))
		return 0;

	cpu = dtl__cpu(dtl, sid->cpu.cpu);
	if (!cpu)
		return -ENOMEM;
	cpu->lost_at_end += nr;
	return 0;
}

static int dtl__tell_at_end(struct perf_dtl *dtl)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < MAX_NR_CPUS && !err; i++) {
		struct dtl_cpu *cpu = dtl->cpus[i];

		if (cpu && cpu->lost_at_end)
			err = dtl__tell_loss(dtl, cpu, 0, cpu->lost_at_end, NULL);
	}
	if (!err && dtl->lost_at_end)
		err = dtl__tell_loss(dtl, NULL, 0, dtl->lost_at_end, NULL);
	return err;
}

static bool is_vpa_dtl_evsel(struct perf_session *session, struct evsel *evsel)
{
	return evsel && (auxtrace__evsel_is_auxtrace(session, evsel) ||
			 strstarts(evsel__name(evsel), POWERPC_VPADTL_PMU_NAME "/"));
}

static int process_lost_samples(const struct perf_tool *tool, union perf_event *event,
				struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct perf_dtl *dtl = container_of(tool, struct perf_dtl, tool);
	struct evsel *evsel = evlist__id2evsel(dtl->session->evlist, sample->id);
	struct dtl_cpu *cpu;

	/* What a filter drops is not lost */
	if (event->header.misc & PERF_RECORD_MISC_LOST_SAMPLES_BPF)
		return 0;

	if (!is_vpa_dtl_evsel(dtl->session, evsel)) {
		dtl->other_lost += event->lost_samples.lost;
		return 0;
	}

	if (!sample->time)
		return dtl__lose_at_end(dtl, sample->id, event->lost_samples.lost);

	if (sample->cpu >= MAX_NR_CPUS) {
		unsigned int i;

		for (i = 0; i < MAX_NR_CPUS; i++) {
			if (dtl->cpus[i])
				dtl_cpu__add_gap(dtl->cpus[i], 0, sample->time);
		}
		return dtl__tell_loss(dtl, NULL, sample->time, event->lost_samples.lost, NULL);
	}
	if (dtl__skips_cpu(dtl, sample->cpu))
		return 0;

	cpu = dtl__cpu(dtl, sample->cpu);
	if (!cpu)
		return -ENOMEM;
	return dtl__lose(dtl, cpu, sample->time, event->lost_samples.lost);
}

/* Other records that are lost: switches may be among them. */
static int process_lost(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample __maybe_unused,
			struct machine *machine __maybe_unused)
{
	struct perf_dtl *dtl = container_of(tool, struct perf_dtl, tool);

	dtl->other_lost += event->lost.lost;
	return 0;
}

/* The log was read. */
static int process_aux(const struct perf_tool *tool, union perf_event *event,
		       struct perf_sample *sample, struct machine *machine __maybe_unused)
{
	struct perf_dtl *dtl = container_of(tool, struct perf_dtl, tool);
	struct dtl_cpu *cpu;
	int err = 0;

	if (sample->cpu >= MAX_NR_CPUS || dtl__skips_cpu(dtl, sample->cpu))
		return 0;

	cpu = dtl__cpu(dtl, sample->cpu);
	if (!cpu)
		return -ENOMEM;

	if (event->aux.flags & PERF_AUX_FLAG_TRUNCATED) {
		dtl->truncated += dtl__selects_loss(dtl, cpu, sample->time);
		if (!cpu->lost_told) {
			err = dtl__tell_loss(dtl, cpu, sample->time, 0, NULL);
			dtl_cpu__add_gap(cpu, cpu->read_time, sample->time);
			cpu->truncated = true;
		}
	}

	cpu->lost_told = false;
	cpu->at_read_valid = false;
	cpu->read = true;
	cpu->read_time = sample->time;
	return err;
}

static int process_auxtrace_error(struct perf_session *session, union perf_event *event)
{
	struct perf_dtl *dtl = container_of(session->tool, struct perf_dtl, tool);
	const struct perf_record_auxtrace_error *error = &event->auxtrace_error;
	int len = event->header.size - offsetof(struct perf_record_auxtrace_error, msg);
	struct dtl_cpu *cpu = NULL;
	char msg[sizeof(error->msg)];
	u64 time;

	if (len < 0) {
		dtl->errors_elsewhere++;
		return dtl->command->error ?
		       dtl->command->error(dtl, NULL, 0, "A record of a fault that is cut") : 0;
	}

	time = error->fmt ? error->time : 0;
	if (error->cpu < MAX_NR_CPUS) {
		if (dtl__skips_cpu(dtl, error->cpu))
			return 0;
		cpu = dtl__cpu(dtl, error->cpu);
		if (!cpu)
			return -ENOMEM;
		cpu->errors++;
		/* What it is about follows the entry of that time */
		if (error->code != POWERPC_VPADTL_ERR_ORDER)
			dtl_cpu__add_gap(cpu, time, time);
	} else {
		dtl->errors_elsewhere++;
	}

	scnprintf(msg, sizeof(msg), "%.*s", min(len, (int)sizeof(msg) - 1), error->msg);
	return dtl->command->error ? dtl->command->error(dtl, cpu, time, msg) : 0;
}

/* In a pipe; the one after the last marks the end. */
static int process_feature(struct perf_session *session, union perf_event *event)
{
	if (event->feat.feat_id < HEADER_LAST_FEATURE)
		return perf_event__process_feature(session, event);
	return 0;
}

static int process_id_index(struct perf_session *session, union perf_event *event)
{
	container_of(session->tool, struct perf_dtl, tool)->has_id_index = true;
	return perf_event__process_id_index(session, event);
}

static int process_comm(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	container_of(tool, struct perf_dtl, tool)->thread_gen++;
	return perf_event__process_comm(tool, event, sample, machine);
}

static int process_fork(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	container_of(tool, struct perf_dtl, tool)->thread_gen++;
	return perf_event__process_fork(tool, event, sample, machine);
}

static int process_exit(const struct perf_tool *tool, union perf_event *event,
			struct perf_sample *sample, struct machine *machine)
{
	container_of(tool, struct perf_dtl, tool)->thread_gen++;
	return perf_event__process_exit(tool, event, sample, machine);
}

/* Who runs on a CPU; NULL: not known */
static struct thread *dtl_cpu__thread(struct perf_dtl *dtl, struct dtl_cpu *cpu,
				      const struct perf_sample *sample, struct machine *machine)
{
	pid_t pid = sample->pid, tid = sample->tid;

	if (cpu->thread_gen == dtl->thread_gen && cpu->thread_pid == pid &&
	    cpu->thread_tid == tid)
		return cpu->thread;

	thread__put(cpu->thread);
	cpu->thread = tid == -1 ? NULL : machine__findnew_thread(machine, pid, tid);
	cpu->thread_pid = pid;
	cpu->thread_tid = tid;
	cpu->thread_gen = dtl->thread_gen;
	return cpu->thread;
}

static bool dtl__selects(const struct perf_dtl *dtl, const struct dtl_entry *entry)
{
	if (dtl->reason_list && !dtl->preempt_reasons[entry->raw.preempt_reason] &&
	    !dtl->dispatch_reasons[entry->raw.dispatch_reason])
		return false;

	if (!symbol_conf.comm_list && !symbol_conf.pid_list)
		return true;
	return entry->thread && !thread__is_filtered(entry->thread);
}

static int dtl__count(struct perf_dtl *dtl, struct dtl_cpu *cpu, const struct dtl_entry *entry,
		      bool consistent)
{
	u64 stolen = dtl_waits__stolen(&entry->waits);

	if (!cpu->entries++)
		cpu->first_time = entry->time;
	cpu->last_time = max(cpu->last_time, entry->time);
	cpu->span.running += entry->span.running;
	cpu->span.unknown += entry->span.unknown;
	cpu->span.in.waiting += entry->span.in.waiting;
	cpu->span.in.ready += entry->span.in.ready;
	cpu->span.in.queued += entry->span.in.queued;
	cpu->logged.waiting += entry->waits.waiting;
	cpu->logged.ready += entry->waits.ready;
	cpu->logged.queued += entry->waits.queued;
	cpu->gaps += entry->gap;
	cpu->inconsistent += !consistent;
	if (stolen > cpu->max_stolen) {
		cpu->max_stolen = stolen;
		cpu->max_time = entry->time;
	}
	dtl->without_task += !entry->thread;

	return dtl->command->entry(dtl, cpu, entry);
}

static int process_entry(struct perf_dtl *dtl, const struct perf_sample *sample,
			 struct machine *machine)
{
	struct dtl_entry entry;
	struct dtl_cpu *cpu;
	bool consistent = true, selected;
	u32 tb_freq;
	u64 ticks;
	int range;

	if (sample->cpu >= MAX_NR_CPUS ||
	    sample->raw_size < POWERPC_VPADTL_FRAME_SIZE + sizeof(tb_freq)) {
		dtl->bad_entries++;
		return 0;
	}
	if (dtl__skips_cpu(dtl, sample->cpu))
		return 0;

	tb_freq = get_unaligned_be32(sample->raw_data + POWERPC_VPADTL_FRAME_SIZE);
	if (!dtl->tb_freq)
		dtl->tb_freq = tb_freq;

	cpu = dtl__cpu(dtl, sample->cpu);
	if (!cpu)
		return -ENOMEM;

	if (!tb_freq || tb_freq != dtl->tb_freq) {
		dtl->bad_entries++;
		/* Of its waits the time before it tells nothing */
		dtl_cpu__add_gap(cpu, sample->time, sample->time);
		return 0;
	}

	range = dtl__range(dtl, sample->time);
	if (range >= 0 && !dtl->base)
		dtl->base = sample->time;

	powerpc_vpadtl_entry__read(&entry.raw, sample->raw_data);
	entry.waits.waiting = entry.raw.waiting_to_ready_time;
	entry.waits.ready = entry.raw.ready_to_enqueue_time;
	entry.waits.queued = entry.raw.enqueue_to_dispatch_time;
	entry.time = sample->time;
	entry.cpumode = sample->cpumode;
	entry.follows = cpu->seen && cpu->range == range;
	entry.prev_time = cpu->prev_time;
	entry.prev_processor = cpu->prev_processor;
	entry.gap = false;
	if (entry.follows) {
		/* One that comes late closes no time */
		consistent = entry.raw.timebase >= cpu->prev_tb;
		ticks = consistent ? entry.raw.timebase - cpu->prev_tb : 0;
		entry.gap = dtl_cpu__has_gap(cpu, entry.time);
		consistent &= dtl_span__split(&entry.span, ticks, &entry.waits, entry.gap);
	} else {
		entry.span = (struct dtl_span){ .running = 0, };
	}

	if (!cpu->seen || entry.raw.timebase >= cpu->prev_tb) {
		cpu->prev_tb = entry.raw.timebase;
		cpu->prev_time = entry.time;
	}
	cpu->prev_processor = entry.raw.processor_id;
	cpu->seen = true;
	cpu->range = range;

	entry.thread = dtl_cpu__thread(dtl, cpu, sample, machine);
	selected = range >= 0 && dtl__selects(dtl, &entry);

	if (cpu->read) {
		cpu->read = false;
		cpu->at_read_valid = selected && entry.follows && !entry.gap;
		if (cpu->at_read_valid) {
			cpu->at_read = entry;
			cpu->at_read.thread = NULL;
		}
	}

	return selected ? dtl__count(dtl, cpu, &entry, consistent) : 0;
}

static int process_sample(const struct perf_tool *tool, union perf_event *event __maybe_unused,
			  struct perf_sample *sample, struct evsel *evsel,
			  struct machine *machine)
{
	struct perf_dtl *dtl = container_of(tool, struct perf_dtl, tool);

	if (evsel->core.attr.type != PERF_TYPE_SYNTH ||
	    evsel->core.attr.config != PERF_SYNTH_POWERPC_VPA_DTL)
		return 0;

	return process_entry(dtl, sample, machine);
}

/* From here on: reading a recording */

static void progress__update(struct ui_progress *p)
{
	static const char bar[] = "==============================";
	int len = sizeof(bar) - 1;

	fprintf(stderr, "\r%s [%-*.*s] %3" PRIu64 "%%", p->title, len,
		(int)(min(p->curr, p->total) * len / p->total), bar,
		min(p->curr, p->total) * 100 / p->total);
}

static void progress__finish(void)
{
	fprintf(stderr, "\r\033[K");
}

/* For files that take a while */
#define PROGRESS_MIN_SIZE	(64ULL << 20)

static struct ui_progress_ops progress_ops = {
	.update	= progress__update,
	.finish	= progress__finish,
};

static int dtl__check_options(struct perf_dtl *dtl)
{
	struct perf_session *session = dtl->session;

	if (dtl->time_str &&
	    perf_time__parse_for_ranges(dtl->time_str, session, &dtl->ranges, &dtl->range_size,
					&dtl->range_num))
		return -EINVAL;
	return 0;
}

static bool dtl__has_log(const struct perf_dtl *dtl)
{
	struct evsel *evsel;

	evlist__for_each_entry(dtl->session->evlist, evsel) {
		if (evsel->core.attr.type == PERF_TYPE_SYNTH &&
		    evsel->core.attr.config == PERF_SYNTH_POWERPC_VPA_DTL)
			return true;
	}
	return false;
}

static void dtl__exit(struct perf_dtl *dtl)
{
	unsigned int i;

	dtl__exit_groups(dtl, dtl->by ? DTL_PART_MAX : 0);
	dtl_chart__exit(&dtl->chart);
	for (i = 0; i < dtl->nr_worst; i++) {
		thread__put(dtl->worst[i].thread);
		zfree(&dtl->worst[i].place);
	}
	for (i = 0; i < MAX_NR_CPUS; i++) {
		if (!dtl->cpus[i])
			continue;
		thread__put(dtl->cpus[i]->thread);
		bitmap_free(dtl->cpus[i]->processors);
		zfree(&dtl->cpus[i]);
	}
	for (i = 0; i < NR_REASONS; i++)
		zfree(&dtl->log2[i]);
	zfree(&dtl->intervals);
	zfree(&dtl->ranges);
}

static int dtl__run(struct perf_dtl *dtl)
{
	struct perf_data data = {
		.path	= input_name,
		.mode	= PERF_DATA_MODE_READ,
		.force	= dtl->force,
	};
	struct itrace_synth_opts synth_opts = { .set = false, };
	int err;

	dtl->session = perf_session__new(&data, &dtl->tool);
	if (IS_ERR(dtl->session))
		return PTR_ERR(dtl->session);

	dtl->session->itrace_synth_opts = &synth_opts;
	if (!data.is_pipe)
		dtl->missing_bytes = dtl->session->header.data_size -
				     perf_session__data_size(dtl->session);

	err = symbol__init(&dtl->session->header.env);
	if (!err)
		err = dtl__check_options(dtl);
	if (!err)
		err = perf_session__register_idle_thread(dtl->session);
	if (err < 0)
		goto out_delete;

	if (!data.is_pipe && perf_data__size(&data) >= PROGRESS_MIN_SIZE && isatty(STDERR_FILENO) &&
	    !dtl__streams(dtl))
		ui_progress__ops = &progress_ops;

	err = dtl->command->start ? dtl->command->start(dtl) : 0;
	if (!err)
		err = perf_session__process_events(dtl->session);
	if (!err)
		err = dtl__tell_at_end(dtl);
	if (err) {
		pr_err("%s: could not be read to its end, so there are no results\n",
		       data.path ?: "perf.data");
		goto out_delete;
	}
	if (!dtl__has_log(dtl)) {
		pr_err("%s has no dispatch trace log. Record one with: perf dtl record\n",
		       data.path ?: "perf.data");
		err = -ENODATA;
		goto out_delete;
	}

	if (dtl__streams(dtl)) {
		err = dtl->command->print(dtl);
		dtl__end_output(dtl);
	} else {
		setup_pager();
		dtl__begin_output(dtl);
		err = dtl->command->print(dtl);
		dtl__end_output(dtl);
	}

out_delete:
	/* Rows were shown: no half of a JSON object */
	if (err && dtl->streaming) {
		dtl_output__table_end(&dtl->out);
		dtl__end_output(dtl);
	}
	dtl__exit(dtl);
	perf_session__delete(dtl->session);
	return err;
}

/* From here on: options */

static void print_reasons(const char *(*name_of)(u8 code, char *buf))
{
	char buf[POWERPC_VPADTL_REASON_MAX], buf2[POWERPC_VPADTL_REASON_MAX];
	int code, first;

	for (code = 0; code < NR_REASONS; code++) {
		const char *name = name_of(code, buf);

		if (strstarts(name, "unknown("))
			continue;
		/* PAPR has two codes of one name */
		for (first = 0; strcmp(name, name_of(first, buf2)); first++)
			;
		if (first == code)
			pr_err(" %s", name);
	}
}

static int parse_reasons(struct perf_dtl *dtl)
{
	char *list = strdup(dtl->reason_list), *tok, *tmp;
	char buf[POWERPC_VPADTL_REASON_MAX];
	int code, err = 0;

	if (!list)
		return -ENOMEM;

	for (tok = strtok_r(list, ", ", &tmp); tok; tok = strtok_r(NULL, ", ", &tmp)) {
		bool found = false;

		for (code = 0; code < NR_REASONS; code++) {
			if (!strcasecmp(tok, powerpc_vpadtl__preempt_reason(code, buf))) {
				dtl->preempt_reasons[code] = true;
				found = true;
			}
			if (!strcasecmp(tok, powerpc_vpadtl__dispatch_reason(code, buf))) {
				dtl->dispatch_reasons[code] = true;
				found = true;
			}
		}
		if (found)
			continue;

		pr_err("No reason is called %s. A virtual processor stops for:", tok);
		print_reasons(powerpc_vpadtl__preempt_reason);
		pr_err("; is dispatched for:");
		print_reasons(powerpc_vpadtl__dispatch_reason);
		pr_err("; each of both can be unknown(CODE)\n");
		err = -EINVAL;
		break;
	}

	free(list);
	return err;
}

/* By the list alone: in a pipe it is not known yet how many CPUs there are. */
static int parse_cpus(struct perf_dtl *dtl)
{
	struct perf_cpu_map *map = perf_cpu_map__new(dtl->cpu_list);
	struct perf_cpu cpu;
	int i, err = 0;

	/* What is no list, or an empty one, has the CPU -1 */
	perf_cpu_map__for_each_cpu(cpu, i, map) {
		if (cpu.cpu < 0 || cpu.cpu >= MAX_NR_CPUS) {
			pr_err("--cpu is a list of CPUs below %d, such as 0,2-4, not %s\n",
			       MAX_NR_CPUS, dtl->cpu_list);
			err = -EINVAL;
			break;
		}
		__set_bit(cpu.cpu, dtl->cpu_bitmap);
	}

	perf_cpu_map__put(map);
	return err;
}

static int latency__parse(struct perf_dtl *dtl)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dtl_bys); i++) {
		if (!strcmp(dtl->by_str, dtl_bys[i].name))
			dtl->by = &dtl_bys[i];
	}
	for (i = 0; i < ARRAY_SIZE(dtl_sorts); i++) {
		if (!strcmp(dtl->sort_str, dtl_sorts[i].name))
			dtl->sort = &dtl_sorts[i];
	}

	if (!dtl->by)
		pr_err("--by is cpu, task, function, reason or processor, not %s\n", dtl->by_str);
	else if (!dtl->sort)
		pr_err("--sort is total, count, avg, p50, p95, p99 or max, not %s\n",
		       dtl->sort_str);
	return dtl->by && dtl->sort ? 0 : -EINVAL;
}

static int interval__parse(struct perf_dtl *dtl)
{
	static const struct {
		const char *name;
		u64 ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", NSEC_PER_USEC },
		{ "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC },
	};
	unsigned long long number;
	char *end;
	size_t i;

	errno = 0;
	number = strtoull(dtl->every_str, &end, 10);
	if (errno || end == dtl->every_str || *dtl->every_str == '-')
		number = 0;
	for (i = 0; number && i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name) || number > UINT64_MAX / units[i].ns / 2)
			continue;
		dtl->every_ns = number * units[i].ns;
		return 0;
	}

	pr_err("--every is a number with ns, us, ms or s, such as 100ms, not %s\n",
	       dtl->every_str);
	return -EINVAL;
}

static bool dtl__can_read(const char *file)
{
	if (!file || !access(file, R_OK))
		return true;

	pr_err("%s: %m\n", file);
	return false;
}

static int dtl__parse(struct perf_dtl *dtl, bool csv)
{
	int err = 0;

	/* The defaults, also where an option was taken back, as by --no-by */
	dtl->by_str = dtl->by_str ?: "task";
	dtl->sort_str = dtl->sort_str ?: "total";
	dtl->every_str = dtl->every_str ?: "100ms";
	dtl->output_name = dtl->output_name ?: "output.svg";

	if (dtl->json && csv) {
		pr_err("Either -x or --json\n");
		return -EINVAL;
	}
	if (csv && !*dtl->out.separator) {
		pr_err("-x needs a separator\n");
		return -EINVAL;
	}
	if (dtl->json)
		dtl->out.format = DTL_FORMAT_JSON;
	else if (csv)
		dtl->out.format = DTL_FORMAT_CSV;

	if (csv && dtl->with_summary) {
		pr_err("A summary and the entries are two tables, and -x shows one\n");
		return -EINVAL;
	}
	if (!dtl__can_read(symbol_conf.vmlinux_name) || !dtl__can_read(symbol_conf.kallsyms_name))
		return -EINVAL;
	if (dtl->cpu_list)
		err = parse_cpus(dtl);
	if (!err && dtl->reason_list)
		err = parse_reasons(dtl);
	if (!err && dtl->command->parse)
		err = dtl->command->parse(dtl);
	return err;
}

static int cmd_dtl_record(int argc, const char **argv)
{
	static const char * const record_args[] = {
		"record", "-a", "-e", "vpa_dtl/dtl_all/", "--switch-events",
	};
	static const char * const sched_args[] = { "-e", "sched:*" };
	static const char * const usage[] = {
		"perf dtl record [--sched] [<perf record options>] [<command>]",
		NULL
	};
	bool sched = false;
	const struct option options[] = {
	OPT_BOOLEAN(0, "sched", &sched, "record the scheduler's tracepoints, too"),
	OPT_END()
	};
	int i, nr_ours, nr_left, nr = 0;
	const char **rec_argv;

	/* What follows the first that is no option can be of the command */
	for (nr_ours = 1; nr_ours < argc; nr_ours++) {
		if (*argv[nr_ours] != '-' || !strcmp(argv[nr_ours], "--"))
			break;
	}
	nr_left = parse_options(nr_ours, argv, options, usage, PARSE_OPT_KEEP_UNKNOWN);

	rec_argv = calloc(ARRAY_SIZE(record_args) + ARRAY_SIZE(sched_args) + argc + 1,
			  sizeof(*rec_argv));
	if (!rec_argv)
		return -ENOMEM;

	for (i = 0; i < (int)ARRAY_SIZE(record_args); i++)
		rec_argv[nr++] = record_args[i];
	for (i = 0; sched && i < (int)ARRAY_SIZE(sched_args); i++)
		rec_argv[nr++] = sched_args[i];
	for (i = 0; i < nr_left; i++)
		rec_argv[nr++] = argv[i];
	for (i = nr_ours; i < argc; i++)
		rec_argv[nr++] = argv[i];

	i = cmd_record(nr, rec_argv);
	free(rec_argv);
	return i;
}

static struct perf_dtl perf_dtl = {
	/* Not that of a struct dtl_cpu that has no thread yet */
	.thread_gen	= 1,
};

static const struct option dtl_options[] = {
	OPT_STRING('i', "input", &input_name, "file", "input file name"),
	OPT_INCR('v', "verbose", &verbose, "be more verbose"),
	OPT_BOOLEAN('f', "force", &perf_dtl.force, "don't complain, do it"),
	OPT_END()
};

static const struct option common_options[] = {
	OPT_STRING('C', "cpu", &perf_dtl.cpu_list, "cpu", "list of CPUs"),
	OPT_STRING(0, "time", &perf_dtl.time_str, "str", "time span (start,stop)"),
	OPT_STRING(0, "comm", &symbol_conf.comm_list_str, "comm[,comm...]",
		   "only entries of these commands"),
	OPT_STRING(0, "pid", &symbol_conf.pid_list_str, "pid[,pid...]",
		   "only entries of these processes"),
	OPT_STRING(0, "reason", &perf_dtl.reason_list, "reason[,reason...]",
		   "only entries with one of these preempt or dispatch reasons"),
	OPT_STRING('k', "vmlinux", &symbol_conf.vmlinux_name, "file", "vmlinux pathname"),
	OPT_STRING(0, "kallsyms", &symbol_conf.kallsyms_name, "file", "kallsyms pathname"),
	OPT_STRING(0, "symfs", &symbol_conf.symfs, "directory",
		   "look for files with symbols relative to this directory"),
	OPT_PARENT(dtl_options)
};

static const struct option output_options[] = {
	OPT_STRING('x', "field-separator", &perf_dtl.out.separator, "separator",
		   "print CSV with this separator"),
	OPT_BOOLEAN(0, "json", &perf_dtl.json, "print JSON"),
	OPT_PARENT(common_options)
};

static const struct option latency_options[] = {
	OPT_STRING(0, "by", &perf_dtl.by_str, "key",
		   "one group each cpu, task (default), function, reason or processor"),
	OPT_STRING('s', "sort", &perf_dtl.sort_str, "key",
		   "sort by total (default), count, avg, p50, p95, p99 or max of the stolen time"),
	OPT_UINTEGER('l', "limit", &perf_dtl.limit, "show only so many groups"),
	OPT_PARENT(output_options)
};

static const struct option timehist_options[] = {
	OPT_BOOLEAN('s', "summary", &perf_dtl.summary, "show only a summary"),
	OPT_BOOLEAN('S', "with-summary", &perf_dtl.with_summary, "show the entries and a summary"),
	OPT_PARENT(output_options)
};

static const struct option interval_options[] = {
	OPT_STRING(0, "every", &perf_dtl.every_str, "time",
		   "length of an interval, such as 100ms (default)"),
	OPT_PARENT(output_options)
};

static const struct option timechart_options[] = {
	OPT_STRING('o', "output", &perf_dtl.output_name, "file", "output file name (output.svg)"),
	OPT_PARENT(common_options)
};

static const struct dtl_command dtl_commands[] = {
	{
		.name		= "report",
		.options	= output_options,
		.start		= dtl__init_groups,
		.entry		= report__entry,
		.print		= report__print,
	},
	{
		.name		= "latency",
		.options	= latency_options,
		.parse		= latency__parse,
		.start		= dtl__init_groups,
		.entry		= latency__entry,
		.print		= latency__print,
	},
	{
		.name		= "hist",
		.options	= output_options,
		.entry		= hist__entry,
		.print		= hist__print,
	},
	{
		.name		= "timehist",
		.options	= timehist_options,
		.streams	= true,
		.start		= dtl__init_groups,
		.entry		= timehist__entry,
		.lost		= timehist__lost,
		.error		= timehist__error,
		.print		= timehist__print,
	},
	{
		.name		= "dispersion",
		.options	= output_options,
		.entry		= dispersion__entry,
		.void_span	= dispersion__void,
		.print		= dispersion__print,
	},
	{
		.name		= "interval",
		.options	= interval_options,
		.parse		= interval__parse,
		.entry		= interval__entry,
		.void_span	= interval__void,
		.lost		= interval__lost,
		.print		= interval__print,
	},
	{
		.name		= "timechart",
		.options	= timechart_options,
		.start		= dtl__init_groups,
		.entry		= timechart__entry,
		.void_span	= timechart__void,
		.lost		= timechart__lost,
		.print		= timechart__print,
	},
};

int cmd_dtl(int argc, const char **argv)
{
	const char *dtl_usage[2] = { NULL, };
	const char *dtl_subcommands[ARRAY_SIZE(dtl_commands) + 2] = { "record" };
	struct perf_dtl *dtl = &perf_dtl;
	struct perf_tool *tool = &dtl->tool;
	char usage_str[64];
	const char * const usage[] = { usage_str, NULL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dtl_commands); i++)
		dtl_subcommands[i + 1] = dtl_commands[i].name;

	argc = parse_options_subcommand(argc, argv, dtl_options, dtl_subcommands, dtl_usage,
					PARSE_OPT_STOP_AT_NON_OPTION);
	if (!argc)
		usage_with_options(dtl_usage, dtl_options);

	if (!strcmp(argv[0], "record"))
		return cmd_dtl_record(argc, argv);

	for (i = 0; i < ARRAY_SIZE(dtl_commands); i++) {
		if (!strcmp(argv[0], dtl_commands[i].name))
			dtl->command = &dtl_commands[i];
	}
	if (!dtl->command)
		usage_with_options(dtl_usage, dtl_options);

	snprintf(usage_str, sizeof(usage_str), "perf dtl %s [<options>]", dtl->command->name);
	argc = parse_options(argc, argv, dtl->command->options, usage, 0);
	if (argc)
		usage_with_options(usage, dtl->command->options);
	if (dtl__parse(dtl, dtl->out.separator))
		return -1;

	/* A task that has exited still runs until it is switched out */
	symbol_conf.keep_exited_threads = true;

	perf_tool__init(tool, /*ordered_events=*/true);
	tool->sample		= process_sample;
	tool->lost		= process_lost;
	tool->lost_samples	= process_lost_samples;
	tool->aux		= process_aux;
	tool->auxtrace_info	= perf_event__process_auxtrace_info;
	tool->auxtrace		= perf_event__process_auxtrace;
	tool->auxtrace_error	= process_auxtrace_error;
	tool->comm		= process_comm;
	tool->fork		= process_fork;
	tool->exit		= process_exit;
	tool->mmap		= perf_event__process_mmap;
	tool->mmap2		= perf_event__process_mmap2;
	tool->namespaces	= perf_event__process_namespaces;
	tool->ksymbol		= perf_event__process_ksymbol;
	tool->attr		= perf_event__process_attr;
	tool->event_update	= perf_event__process_event_update;
#ifdef HAVE_LIBTRACEEVENT
	tool->tracing_data	= perf_event__process_tracing_data;
#endif
	tool->build_id		= perf_event__process_build_id;
	tool->id_index		= process_id_index;
	tool->feature		= process_feature;
	tool->ordering_requires_timestamps = true;
	/* What is lost is told as part of the output */
	tool->no_warn		= true;

	return dtl__run(dtl) ? -1 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * AUX area recording on powerpc: the dispatch trace log (vpa_dtl)
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/time64.h>
#include <linux/types.h>
#include <linux/zalloc.h>

#include <internal/lib.h> // page_size
#include "../../../util/auxtrace.h"
#include "../../../util/debug.h"
#include "../../../util/event.h"
#include "../../../util/evlist.h"
#include "../../../util/evsel.h"
#include "../../../util/perf_api_probe.h"
#include "../../../util/pmu.h"
#include "../../../util/pmus.h"
#include "../../../util/powerpc-vpadtl.h"
#include "../../../util/powerpc-vpadtl-decoder/powerpc-vpadtl-decoder.h"
#include "../../../util/record.h"
#include "../../../util/session.h"
#include "../../../util/target.h"

#define KiB(x) ((x) * 1024UL)
#define MiB(x) ((x) * 1024UL * 1024)

/* Nanoseconds between polls of the log where the user names none */
#define VPADTL_DEFAULT_PERIOD	NSEC_PER_MSEC

struct powerpc_vpadtl_recording {
	struct auxtrace_record	itr;
	struct perf_pmu		*pmu;
	struct evsel		*evsel;		/* the only one of @pmu, after the options */
	bool			contiguous;	/* frames are at multiples of their size */
};

static size_t powerpc_vpadtl_info_priv_size(struct auxtrace_record *itr __maybe_unused,
					    struct evlist *evlist __maybe_unused)
{
	return POWERPC_VPADTL_AUXTRACE_PRIV_SIZE;
}

static int powerpc_vpadtl_info_fill(struct auxtrace_record *itr, struct perf_session *session,
				    struct perf_record_auxtrace_info *auxtrace_info,
				    size_t priv_size)
{
	struct powerpc_vpadtl_recording *dtlr =
			container_of(itr, struct powerpc_vpadtl_recording, itr);
	unsigned long long boot_tb = 0, tb_freq = 0;

	if (priv_size != POWERPC_VPADTL_AUXTRACE_PRIV_SIZE)
		return -EINVAL;

	if (!session->evlist->core.nr_mmaps)
		return -EINVAL;

	auxtrace_info->type = PERF_AUXTRACE_VPA_DTL;
	auxtrace_info->priv[POWERPC_VPADTL_PMU_TYPE] = dtlr->pmu->type;

	/* A driver without these starts each stream with them, but leaves gaps in it */
	if (perf_pmu__scan_file(dtlr->pmu, "caps/boot_tb", "%llu", &boot_tb) == 1 &&
	    perf_pmu__scan_file(dtlr->pmu, "caps/tb_freq", "%llu", &tb_freq) == 1) {
		auxtrace_info->priv[POWERPC_VPADTL_BOOT_TB] = boot_tb;
		auxtrace_info->priv[POWERPC_VPADTL_TB_FREQ] = tb_freq;
		auxtrace_info->priv[POWERPC_VPADTL_FLAGS] = POWERPC_VPADTL_FLAG_CONTIGUOUS;
	}

	return 0;
}

static int powerpc_vpadtl_mmap_pages(struct powerpc_vpadtl_recording *dtlr,
				     struct record_opts *opts)
{
	bool privileged = perf_event_paranoid_check(-1);
	size_t sz;

	/*
	 * With data areas that are written backwards nobody reads the AUX area.
	 * What is meant is to keep the newest: a snapshot at the end does.
	 */
	if (opts->overwrite) {
		opts->overwrite = false;
		opts->auxtrace_snapshot_mode = true;
		opts->auxtrace_snapshot_on_exit = true;
	}
	/* The AUX area's data is not understood before PERF_RECORD_AUXTRACE_INFO */
	opts->tail_synthesize = false;

	/* There is an AUX area for each CPU, and there can be a thousand */
	if (!opts->auxtrace_mmap_pages && !opts->auxtrace_snapshot_size)
		opts->auxtrace_mmap_pages = (privileged ? MiB(1) : KiB(128)) / page_size;

	if (!opts->auxtrace_mmap_pages) {
		sz = DIV_ROUND_UP(opts->auxtrace_snapshot_size, page_size);
		opts->auxtrace_mmap_pages = roundup_pow_of_two(sz);
	}

	if (!privileged && opts->mmap_pages == UINT_MAX)
		opts->mmap_pages = KiB(256) / page_size;

	sz = opts->auxtrace_mmap_pages * (size_t)page_size;
	if (!is_power_of_2(sz)) {
		pr_err("Invalid mmap size for vpa_dtl: must be a power of 2\n");
		return -EINVAL;
	}

	if (!opts->auxtrace_snapshot_mode)
		return 0;

	if (!opts->auxtrace_snapshot_size)
		opts->auxtrace_snapshot_size = sz;

	if (opts->auxtrace_snapshot_size > sz) {
		pr_err("Snapshot size %zu must not be greater than AUX area tracing mmap size %zu\n",
		       opts->auxtrace_snapshot_size, sz);
		return -EINVAL;
	}

	/* Whole frames, at least one */
	if (dtlr->contiguous) {
		sz = max_t(size_t, opts->auxtrace_snapshot_size, POWERPC_VPADTL_FRAME_SIZE);
		opts->auxtrace_snapshot_size = sz - sz % POWERPC_VPADTL_FRAME_SIZE;
	}

	return 0;
}

static int powerpc_vpadtl_setup_evsel(struct evsel *evsel, struct record_opts *opts)
{
	struct perf_event_attr *attr = &evsel->core.attr;

	/* Entries carry the timebase, which makes no other clock than sched_clock() */
	if (opts->use_clockid) {
		pr_err("vpa_dtl entries have the time of perf's own clock: -k/--clockid cannot be used with them\n");
		return -EINVAL;
	}

	if (!target__has_cpu(&opts->target)) {
		pr_err("vpa_dtl traces processors, not tasks: use -a or -C\n");
		return -EINVAL;
	}

	if (opts->auxtrace_sample_mode) {
		pr_err("AUX area sampling is not supported by vpa_dtl\n");
		return -EINVAL;
	}

	/*
	 * perf's own default, which the driver refuses as it does any exclude_ bit.
	 * Before perf drops that, it takes newer features for missing, for all
	 * events, and PERF_FORMAT_LOST is one. What the user asks for stays.
	 */
	if (!evsel->exclude_GH) {
		attr->exclude_guest = 0;
		attr->exclude_host = 0;
	}

	attr->freq = 0;
	if (!attr->sample_period)
		attr->sample_period = VPADTL_DEFAULT_PERIOD;
	if (!opts->auxtrace_snapshot_mode)
		attr->aux_watermark = min(opts->auxtrace_mmap_pages * (u64)page_size / 4,
					  (u64)UINT_MAX);
	evsel->needs_auxtrace_mmap = true;
	opts->full_auxtrace = true;

	/* PERF_RECORD_AUX and what else tells of this event is put in order by these */
	evsel__set_sample_bit(evsel, CPU);
	evsel__set_sample_bit(evsel, TIME);
	return 0;
}

static int powerpc_vpadtl_recording_options(struct auxtrace_record *itr, struct evlist *evlist,
					    struct record_opts *opts)
{
	struct powerpc_vpadtl_recording *dtlr =
			container_of(itr, struct powerpc_vpadtl_recording, itr);
	struct evsel *evsel, *dtl_evsel = NULL, *tracking_evsel;
	int err;

	evlist__for_each_entry(evlist, evsel) {
		if (evsel->core.attr.type != dtlr->pmu->type)
			continue;
		if (dtl_evsel) {
			pr_err("There may be only one vpa_dtl event: dtl_all has the entries of all the others\n");
			return -EINVAL;
		}
		dtl_evsel = evsel;
	}

	if (!dtl_evsel)
		return 0;

	/* The AUX area is mapped through the first event, and a group stays together */
	if (!evsel__is_group_leader(dtl_evsel)) {
		pr_err("vpa_dtl can only be the first event of a group\n");
		return -EINVAL;
	}

	err = powerpc_vpadtl_mmap_pages(dtlr, opts);
	if (!err)
		err = powerpc_vpadtl_setup_evsel(dtl_evsel, opts);
	if (err)
		return err;

	dtlr->evsel = dtl_evsel;

	evlist__to_front(evlist, dtl_evsel);

	/* Which task an entry is about is known from context switches */
	if (!record_opts__no_switch_events(opts) && perf_can_record_switch_events())
		opts->record_switch_events = true;

	/* Tasks come from other CPUs, so what they map must be known from there */
	tracking_evsel = evlist__add_aux_dummy(evlist, !!opts->target.cpu_list);
	if (!tracking_evsel)
		return -ENOMEM;

	evlist__set_tracking_event(evlist, tracking_evsel);
	tracking_evsel->immediate = true;
	evsel__set_sample_bit(tracking_evsel, CPU);
	evsel__set_sample_bit(tracking_evsel, TIME);
	return 0;
}

static int powerpc_vpadtl_parse_snapshot_options(struct auxtrace_record *itr __maybe_unused,
						 struct record_opts *opts, const char *str)
{
	unsigned long long size = 0;
	char *endptr;

	if (str) {
		size = strtoull(str, &endptr, 0);
		if (*endptr || size > SIZE_MAX) {
			pr_err("The size of a snapshot is a number of bytes, not %s\n", str);
			return -1;
		}
	}

	opts->auxtrace_snapshot_mode = true;
	opts->auxtrace_snapshot_size = size;
	return 0;
}

static int powerpc_vpadtl_snapshot_start(struct auxtrace_record *itr)
{
	struct powerpc_vpadtl_recording *dtlr =
			container_of(itr, struct powerpc_vpadtl_recording, itr);

	return dtlr->evsel ? evsel__disable(dtlr->evsel) : -EINVAL;
}

static int powerpc_vpadtl_snapshot_finish(struct auxtrace_record *itr)
{
	struct powerpc_vpadtl_recording *dtlr =
			container_of(itr, struct powerpc_vpadtl_recording, itr);

	return dtlr->evsel ? evsel__enable(dtlr->evsel) : -EINVAL;
}

/*
 * The head counts all bytes ever written, so it tells how much of what was not
 * read yet is still there. The first frame of that may be there only in part.
 */
static int powerpc_vpadtl_find_snapshot(struct auxtrace_record *itr, int idx __maybe_unused,
					struct auxtrace_mmap *mm,
					unsigned char *data __maybe_unused, u64 *head, u64 *old)
{
	struct powerpc_vpadtl_recording *dtlr =
			container_of(itr, struct powerpc_vpadtl_recording, itr);

	if (*head - *old > mm->len) {
		*old = *head - mm->len;
		if (dtlr->contiguous)
			*old = roundup(*old, POWERPC_VPADTL_FRAME_SIZE);
	}

	return 0;
}

static u64 powerpc_vpadtl_reference(struct auxtrace_record *itr __maybe_unused)
{
	return 0;
}

static void powerpc_vpadtl_recording_free(struct auxtrace_record *itr)
{
	free(container_of(itr, struct powerpc_vpadtl_recording, itr));
}

struct auxtrace_record *auxtrace_record__init(struct evlist *evlist, int *err)
{
	struct perf_pmu *pmu = perf_pmus__find(POWERPC_VPADTL_PMU_NAME);
	struct powerpc_vpadtl_recording *dtlr;
	struct evsel *evsel;
	bool found = false;

	*err = 0;

	evlist__for_each_entry(evlist, evsel) {
		if (pmu && evsel->core.attr.type == pmu->type)
			found = true;
	}
	if (!found)
		return NULL;

	dtlr = zalloc(sizeof(*dtlr));
	if (!dtlr) {
		*err = -ENOMEM;
		return NULL;
	}

	dtlr->pmu = pmu;
	dtlr->contiguous = perf_pmu__file_exists(pmu, "caps/boot_tb");
	dtlr->itr.recording_options = powerpc_vpadtl_recording_options;
	dtlr->itr.info_priv_size = powerpc_vpadtl_info_priv_size;
	dtlr->itr.info_fill = powerpc_vpadtl_info_fill;
	dtlr->itr.free = powerpc_vpadtl_recording_free;
	dtlr->itr.parse_snapshot_options = powerpc_vpadtl_parse_snapshot_options;
	dtlr->itr.snapshot_start = powerpc_vpadtl_snapshot_start;
	dtlr->itr.snapshot_finish = powerpc_vpadtl_snapshot_finish;
	dtlr->itr.find_snapshot = powerpc_vpadtl_find_snapshot;
	dtlr->itr.reference = powerpc_vpadtl_reference;
	dtlr->itr.read_finish = auxtrace_record__read_finish;
	return &dtlr->itr;
}

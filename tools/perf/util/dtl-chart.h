/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The picture of perf dtl: a lane for each virtual processor.
 */
#ifndef __PERF_UTIL_DTL_CHART_H
#define __PERF_UTIL_DTL_CHART_H

#include <stdio.h>
#include <linux/types.h>

/* What the time of a virtual processor goes to */
enum dtl_state {
	DTL_STATE_RUNNING,
	DTL_STATE_STOLEN,
	DTL_STATE_WAITING,
	DTL_STATE_UNKNOWN,
	DTL_STATE_MAX,
};

/* Columns of the picture, a power of two */
#define DTL_CHART_BINS	2048

/**
 * struct dtl_bin - What is in a column of a lane.
 * @ns: time of each state
 * @task: who had most of it, NULL: not known
 * @weight: of @task over all others
 */
struct dtl_bin {
	u64		ns[DTL_STATE_MAX];
	const void	*task;
	u64		weight;
};

/**
 * struct dtl_lane - A virtual processor.
 * @bins: DTL_CHART_BINS of them
 * @total: sums of each state
 * @lost: entries lost
 */
struct dtl_lane {
	struct dtl_bin	*bins;
	u64		total[DTL_STATE_MAX];
	u64		lost;
};

/**
 * struct dtl_chart - All lanes, over a span of time that is not known before.
 * @base: time of the left edge
 * @end: the latest time seen, not before @base
 * @bin_ns: width of a bin; doubles each time the bins do not reach
 * @lanes: by CPU
 * @nr_lanes: size of @lanes
 * @task_name: name of a task, of what dtl_chart__add() was told
 */
struct dtl_chart {
	u64		base;
	u64		end;
	u64		bin_ns;
	struct dtl_lane	*lanes;
	unsigned int	nr_lanes;
	const char	*(*task_name)(const void *task, char *buf, size_t size);
};

int dtl_chart__init(struct dtl_chart *chart, unsigned int nr_lanes, u64 base);
void dtl_chart__exit(struct dtl_chart *chart);
int dtl_chart__add(struct dtl_chart *chart, unsigned int cpu, enum dtl_state state, u64 start,
		   u64 end, const void *task);
void dtl_chart__void(struct dtl_chart *chart, unsigned int cpu, u64 start, u64 end);
int dtl_chart__lose(struct dtl_chart *chart, unsigned int cpu, u64 entries);
void dtl_chart__write(struct dtl_chart *chart, FILE *fp, const char *title, const char *note);

#endif

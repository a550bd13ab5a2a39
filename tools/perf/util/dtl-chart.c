// SPDX-License-Identifier: GPL-2.0
/*
 * The picture of perf dtl: see dtl-chart.h.
 *
 * svghelper draws a box for each event at a scale that is known before; here
 * there are millions of events in one pass. So each lane is a row of bins, and
 * where time goes past the last, pairs of bins become one. A bin shows the share
 * of each state, which is one of them only when the recording is short.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "dtl-chart.h"

#define FIRST_BIN_NS	256

/* The picture, in pixels */
#define PLOT_WIDTH	1200
#define LEFT		76
#define RIGHT		170
#define STOLEN_END	84	/* of PLOT_WIDTH on: the shares ... */
#define LOST_END	158	/* ... and the counts at the right */
#define TOP		84
#define BOTTOM		12
#define FONT_SIZE	11
#define CHAR_WIDTH	6.7	/* of a monospaced font of that size, and some more */
#define STEPS		2	/* of height, in a pixel */
#define MAX_COLUMNS	1024	/* none is narrower than a pixel */
#define MANY_LANES	32	/* more than these are drawn coarser */

static const struct {
	const char *name;
	const char *color;
} states[DTL_STATE_MAX] = {
	[DTL_STATE_RUNNING]	= { "running",	"#a6d8a8" },
	[DTL_STATE_STOLEN]	= { "stolen",	"#f0604d" },
	[DTL_STATE_WAITING]	= { "ceded",	"#dfe3ea" },
	[DTL_STATE_UNKNOWN]	= { "gap",	"#b79ae0" },
};

/* From the bottom of a lane to its top: stolen time stands on the ground. */
static const enum dtl_state stack[DTL_STATE_MAX] = {
	DTL_STATE_STOLEN, DTL_STATE_RUNNING, DTL_STATE_WAITING, DTL_STATE_UNKNOWN,
};

/**
 * dtl_chart__init - Make an empty picture.
 * @chart: picture; @task_name is to be set
 * @nr_lanes: more than any CPU's number
 * @base: time in ns of its left edge
 *
 * Return: 0, or -ENOMEM.
 */
int dtl_chart__init(struct dtl_chart *chart, unsigned int nr_lanes, u64 base)
{
	chart->base = base;
	chart->end = base;
	chart->bin_ns = FIRST_BIN_NS;
	chart->lanes = calloc(nr_lanes, sizeof(*chart->lanes));
	if (!chart->lanes)
		return -ENOMEM;
	chart->nr_lanes = nr_lanes;
	return 0;
}

/**
 * dtl_chart__exit - Free what a picture holds.
 * @chart: picture
 */
void dtl_chart__exit(struct dtl_chart *chart)
{
	unsigned int i;

	for (i = 0; i < chart->nr_lanes; i++)
		free(chart->lanes[i].bins);
	zfree(&chart->lanes);
	chart->nr_lanes = 0;
}

/* The task of most of the time of two, as far as a majority vote tells */
static void bin__vote(struct dtl_bin *bin, const void *task, u64 weight)
{
	if (bin->task == task) {
		bin->weight += weight;
	} else if (bin->weight >= weight) {
		bin->weight -= weight;
	} else {
		bin->task = task;
		bin->weight = weight - bin->weight;
	}
}

/* Pairs of bins become one. */
static void dtl_chart__fold(struct dtl_chart *chart)
{
	unsigned int i, j, s;

	for (i = 0; i < chart->nr_lanes; i++) {
		struct dtl_bin *bins = chart->lanes[i].bins;

		if (!bins)
			continue;
		for (j = 0; j < DTL_CHART_BINS / 2; j++) {
			struct dtl_bin bin = bins[2 * j];

			for (s = 0; s < DTL_STATE_MAX; s++)
				bin.ns[s] += bins[2 * j + 1].ns[s];
			bin__vote(&bin, bins[2 * j + 1].task, bins[2 * j + 1].weight);
			bins[j] = bin;
		}
		memset(bins + j, 0, j * sizeof(*bins));
	}
	chart->bin_ns *= 2;
}

static struct dtl_lane *dtl_chart__lane(struct dtl_chart *chart, unsigned int cpu)
{
	struct dtl_lane *lane = &chart->lanes[cpu];

	if (!lane->bins)
		lane->bins = calloc(DTL_CHART_BINS, sizeof(*lane->bins));
	return lane->bins ? lane : NULL;
}

/* From the picture's left edge on: what is before it is at the edge. */
static u64 dtl_chart__offset(const struct dtl_chart *chart, u64 time)
{
	return time > chart->base ? time - chart->base : 0;
}

/* The end of what of the time from @start to @end is in the bin of @start */
static u64 dtl_chart__bin_end(const struct dtl_chart *chart, u64 start, u64 end)
{
	return start + min(end - start, chart->bin_ns - start % chart->bin_ns);
}

/**
 * dtl_chart__add - Add a time in one state.
 * @chart: picture
 * @cpu: less than its number of lanes
 * @state: state
 * @start: in ns
 * @end: in ns, not before @start
 * @task: who runs or waits, for the picture's task_name(); NULL: not known
 *
 * What is before the picture's base counts in the lane's shares, and is not drawn.
 *
 * Return: 0, or -ENOMEM.
 */
int dtl_chart__add(struct dtl_chart *chart, unsigned int cpu, enum dtl_state state, u64 start,
		   u64 end, const void *task)
{
	struct dtl_lane *lane = dtl_chart__lane(chart, cpu);
	u64 bin, until;

	if (!lane)
		return -ENOMEM;

	lane->total[state] += end - start;
	chart->end = max(chart->end, end);
	start = dtl_chart__offset(chart, start);
	end = dtl_chart__offset(chart, end);
	while (end && (end - 1) / chart->bin_ns >= DTL_CHART_BINS)
		dtl_chart__fold(chart);

	for (; start < end; start = until) {
		bin = start / chart->bin_ns;
		until = dtl_chart__bin_end(chart, start, end);
		lane->bins[bin].ns[state] += until - start;
		bin__vote(&lane->bins[bin], task, until - start);
	}
	return 0;
}

/**
 * dtl_chart__void - It is not known what was added as running.
 * @chart: picture
 * @cpu: as it was added
 * @start: as it was added
 * @end: as it was added
 */
void dtl_chart__void(struct dtl_chart *chart, unsigned int cpu, u64 start, u64 end)
{
	struct dtl_lane *lane = &chart->lanes[cpu];
	u64 bin, until;

	lane->total[DTL_STATE_RUNNING] -= end - start;
	lane->total[DTL_STATE_UNKNOWN] += end - start;
	start = dtl_chart__offset(chart, start);
	end = dtl_chart__offset(chart, end);
	for (; start < end; start = until) {
		bin = start / chart->bin_ns;
		until = dtl_chart__bin_end(chart, start, end);
		lane->bins[bin].ns[DTL_STATE_RUNNING] -= until - start;
		lane->bins[bin].ns[DTL_STATE_UNKNOWN] += until - start;
	}
}

/**
 * dtl_chart__lose - Count entries that are lost.
 * @chart: picture
 * @cpu: less than its number of lanes
 * @entries: their number
 *
 * Return: 0, or -ENOMEM.
 */
int dtl_chart__lose(struct dtl_chart *chart, unsigned int cpu, u64 entries)
{
	struct dtl_lane *lane = dtl_chart__lane(chart, cpu);

	if (!lane)
		return -ENOMEM;
	lane->lost += entries;
	return 0;
}

/* Bins that the time drawn fills; the last of them perhaps in part */
static u64 dtl_chart__columns(const struct dtl_chart *chart)
{
	u64 span = chart->end - chart->base;

	/* Not DIV_ROUND_UP(): the span can be near 2^64 */
	return span / chart->bin_ns + !!(span % chart->bin_ns);
}

static double time_to_x(const struct dtl_chart *chart, u64 ns)
{
	u64 span = max(chart->end - chart->base, (u64)1);

	return LEFT + (double)PLOT_WIDTH * ns / span;
}

static void write_escaped(FILE *fp, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", fp);
			break;
		case '<':
			fputs("&lt;", fp);
			break;
		case '>':
			fputs("&gt;", fp);
			break;
		case '"':
			fputs("&quot;", fp);
			break;
		default:
			/* Anything else would not be XML for sure */
			fputc(*s >= 0x20 && *s < 0x7f ? *s : '?', fp);
			break;
		}
	}
}

static void write_text(FILE *fp, double x, double y, const char *anchor, const char *text)
{
	fprintf(fp, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	write_escaped(fp, text);
	fputs("</text>\n", fp);
}

/* Steps of 1, 2 or 5 times a power of ten, of which some ten fit */
static u64 grid_step(u64 span)
{
	u64 step = 1;

	while (span / step > 10) {
		if (span / (step * 2) <= 10)
			return step * 2;
		if (span / (step * 5) <= 10)
			return step * 5;
		step *= 10;
	}
	return step;
}

static void write_grid(const struct dtl_chart *chart, FILE *fp, double bottom)
{
	static const struct {
		u64 ns;
		const char *name;
	} units[] = {
		{ NSEC_PER_SEC, "s" }, { NSEC_PER_MSEC, "ms" }, { NSEC_PER_USEC, "us" },
		{ 1, "ns" },
	};
	u64 span = max(chart->end - chart->base, (u64)1), step = grid_step(span), i;
	size_t unit = 0;
	char buf[32];

	while (units[unit].ns > step)
		unit++;

	for (i = 0; i <= span / step; i++) {
		u64 t = i * step;
		double x = time_to_x(chart, t);

		fprintf(fp, "<path class=\"grid\" d=\"M%.1f %d V%.1f\"/>\n", x, TOP - 6, bottom);
		snprintf(buf, sizeof(buf), "%" PRIu64 " %s", t / units[unit].ns, units[unit].name);
		write_text(fp, x, TOP - 10, "middle", buf);
	}
}

/* The length of a bin, in ns */
static u64 bin_width(const struct dtl_chart *chart, u64 bin)
{
	return min(chart->bin_ns, chart->end - chart->base - bin * chart->bin_ns);
}

/* The height of the lowest states of a bin in STEPS of a pixel */
static unsigned int bin_height(const struct dtl_chart *chart, const struct dtl_lane *lane, u64 bin,
			       unsigned int nr_states, int height)
{
	u64 width = bin_width(chart, bin), ns = 0;
	unsigned int i;

	for (i = 0; i < nr_states; i++)
		ns += lane->bins[bin].ns[stack[i]];
	return (min(ns, width) * height * STEPS + width / 2) / width;
}

/*
 * One state of a lane and what is below it, as an area from the ground up; the
 * states below are drawn over it. Runs of equal height are one step.
 */
static void write_area(const struct dtl_chart *chart, FILE *fp, const struct dtl_lane *lane,
		       unsigned int level, int height)
{
	u64 nr = dtl_chart__columns(chart), bin, first = 0;
	int now = 0, next;

	fprintf(fp, "<path fill=\"%s\" d=\"M0 0", states[stack[level]].color);
	for (bin = 0; bin < nr; bin++) {
		next = bin_height(chart, lane, bin, level + 1, height);
		if (next == now)
			continue;
		if (bin > first)
			fprintf(fp, "h%" PRIu64, bin - first);
		fprintf(fp, "v%d", next - now);
		now = next;
		first = bin;
	}
	if (now)
		fprintf(fp, "H%.6g", (double)(chart->end - chart->base) / chart->bin_ns);
	fputs("V0z\"/>\n", fp);
}

/* Gaps stand on top of all else. One is seen, be it ever so short. */
static void write_gaps(const struct dtl_chart *chart, FILE *fp, const struct dtl_lane *lane,
		       int height)
{
	u64 nr = dtl_chart__columns(chart), bin;
	bool any = false;

	for (bin = 0; bin < nr; bin++) {
		int low, high;

		if (!lane->bins[bin].ns[DTL_STATE_UNKNOWN])
			continue;
		low = bin_height(chart, lane, bin, DTL_STATE_MAX - 1, height);
		high = bin_height(chart, lane, bin, DTL_STATE_MAX, height);
		low = min(low, max(0, high - height * STEPS / 2));
		if (!any)
			fprintf(fp, "<path fill=\"%s\" d=\"", states[DTL_STATE_UNKNOWN].color);
		any = true;
		fprintf(fp, "M%" PRIu64 " %dV%dh%.6gV%dz", bin, low, high,
			1.0 * bin_width(chart, bin) / chart->bin_ns, low);
	}
	if (any)
		fputs("\"/>\n", fp);
}

/* The states of a lane; one column is a bin there, and one up a STEPS-th of a pixel. */
static void write_states(const struct dtl_chart *chart, FILE *fp, const struct dtl_lane *lane,
			 double y, int height)
{
	unsigned int level = DTL_STATE_MAX - 1;

	fprintf(fp, "<g transform=\"translate(%d %.1f) scale(%.6g %.6g)\">\n", LEFT, y + height,
		time_to_x(chart, chart->bin_ns) - LEFT, -1.0 / STEPS);
	while (level--)
		write_area(chart, fp, lane, level, height);
	write_gaps(chart, fp, lane, height);
	fputs("</g>\n", fp);
}

/* Names of tasks, where one has a run of bins that has room for it */
static void write_tasks(const struct dtl_chart *chart, FILE *fp, const struct dtl_lane *lane,
			double y)
{
	u64 nr = dtl_chart__columns(chart), bin, first = 0;
	const char *name;
	double x, width;
	char buf[64];

	for (bin = 1; bin <= nr; bin++) {
		if (bin < nr && lane->bins[bin].task == lane->bins[first].task)
			continue;
		if (lane->bins[first].task) {
			x = time_to_x(chart, first * chart->bin_ns);
			width = time_to_x(chart, min(bin * chart->bin_ns,
						     chart->end - chart->base)) - x;
			name = chart->task_name(lane->bins[first].task, buf, sizeof(buf));
			if (strlen(name) * CHAR_WIDTH + 6 <= width)
				write_text(fp, x + width / 2, y, "middle", name);
		}
		first = bin;
	}
}

static void write_legend(FILE *fp, double x, double y)
{
	unsigned int s;

	for (s = 0; s < DTL_STATE_MAX; s++) {
		fprintf(fp,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
			x, y - 10, states[s].color);
		write_text(fp, x + 17, y, "start", states[s].name);
		x += 17 + strlen(states[s].name) * CHAR_WIDTH + 18;
	}
}

static int lane_height(unsigned int nr)
{
	if (nr <= 4)
		return 40;
	return nr <= MANY_LANES ? 24 : 14;
}

/**
 * dtl_chart__write - Write a picture as SVG.
 * @chart: picture
 * @fp: file
 * @title: first line
 * @note: second line, such as what was lost
 *
 * Columns narrower than a pixel become one, and of many lanes such of two; the
 * shares at the right do not change by that. A lane takes 20 kB at most.
 * Whether it was written is for the caller to see from @fp.
 */
void dtl_chart__write(struct dtl_chart *chart, FILE *fp, const char *title, const char *note)
{
	unsigned int cpu, state, nr = 0;
	double y = TOP, bottom;
	char buf[64];
	int height;

	for (cpu = 0; cpu < chart->nr_lanes; cpu++)
		nr += !!chart->lanes[cpu].bins;
	while (dtl_chart__columns(chart) > (nr <= MANY_LANES ? MAX_COLUMNS : MAX_COLUMNS / 2))
		dtl_chart__fold(chart);
	height = lane_height(nr);
	bottom = TOP + nr * (height + 3);

	fprintf(fp, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%.0f\">\n"
		"<style>text { font: %dpx monospace; fill: #222; stroke: #fff; stroke-width: 2px; stroke-opacity: 0.6; paint-order: stroke; } .grid { stroke: #c4c4c4; stroke-width: 0.5; fill: none; } .title { font-size: 14px; font-weight: bold; }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + PLOT_WIDTH + RIGHT, bottom + BOTTOM, FONT_SIZE);
	fprintf(fp, "<text class=\"title\" x=\"%d\" y=\"20\">", LEFT);
	write_escaped(fp, title);
	fputs("</text>\n", fp);
	write_text(fp, LEFT, 38, "start", note);
	write_legend(fp, LEFT, 58);
	write_text(fp, LEFT + PLOT_WIDTH + STOLEN_END, TOP - 10, "end", "stolen");
	write_text(fp, LEFT + PLOT_WIDTH + LOST_END, TOP - 10, "end", "lost");
	write_grid(chart, fp, bottom);

	for (cpu = 0; cpu < chart->nr_lanes; cpu++) {
		const struct dtl_lane *lane = &chart->lanes[cpu];
		double text_y = y + height / 2.0 + FONT_SIZE * 0.36;
		u64 total = 0;

		if (!lane->bins)
			continue;

		for (state = 0; state < DTL_STATE_MAX; state++)
			total += lane->total[state];
		write_states(chart, fp, lane, y, height);
		snprintf(buf, sizeof(buf), "CPU %u", cpu);
		write_text(fp, LEFT - 6, text_y, "end", buf);
		if (total)
			snprintf(buf, sizeof(buf), "%5.1f %%",
				 100.0 * lane->total[DTL_STATE_STOLEN] / total);
		else
			snprintf(buf, sizeof(buf), "    -");
		write_text(fp, LEFT + PLOT_WIDTH + STOLEN_END, text_y, "end", buf);
		snprintf(buf, sizeof(buf), "%" PRIu64, lane->lost);
		write_text(fp, LEFT + PLOT_WIDTH + LOST_END, text_y, "end", buf);
		write_tasks(chart, fp, lane, text_y);
		y += height + 3;
	}

	fputs("</svg>\n", fp);
}

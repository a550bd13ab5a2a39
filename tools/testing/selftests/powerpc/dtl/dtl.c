// SPDX-License-Identifier: GPL-2.0
/*
 * An event of the vpa_dtl PMU on one CPU, and the ledger of what it gave us
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dtl.h"

int dtl_type(void)
{
	unsigned long type;

	if (read_ulong("/sys/bus/event_source/devices/vpa_dtl/type", &type, 10))
		return -1;

	return type;
}

static int open_event(struct dtl_event *ev, int cpu, u64 config, u64 period,
		      bool freq)
{
	struct perf_event_attr attr = {
		.type		= dtl_type(),
		.size		= sizeof(attr),
		.config		= config,
		.sample_period	= period,
		.sample_type	= PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.read_format	= PERF_FORMAT_LOST,
		.sample_id_all	= 1,
		.disabled	= 1,
		.freq		= freq,
	};

	memset(ev, 0, sizeof(*ev));
	ev->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return ev->fd < 0 ? -errno : 0;
}

int dtl_open(struct dtl_event *ev, int cpu, u64 config, u64 period)
{
	return open_event(ev, cpu, config, period, false);
}

int dtl_open_freq(struct dtl_event *ev, int cpu, u64 config, u64 freq)
{
	return open_event(ev, cpu, config, freq, true);
}

int dtl_map(struct dtl_event *ev, int data_pages, int aux_pages, bool overwrite)
{
	size_t page = sysconf(_SC_PAGESIZE);

	ev->data_size = data_pages * page;
	ev->page = mmap(NULL, page + ev->data_size, PROT_READ | PROT_WRITE,
			MAP_SHARED, ev->fd, 0);
	if (ev->page == MAP_FAILED)
		return -errno;

	ev->aux_size = aux_pages * page;
	ev->page->aux_offset = page + ev->data_size;
	ev->page->aux_size = ev->aux_size;
	ev->aux = mmap(NULL, ev->aux_size,
		       overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
		       MAP_SHARED, ev->fd, ev->page->aux_offset);
	if (ev->aux == MAP_FAILED)
		return -errno;

	return 0;
}

void dtl_close(struct dtl_event *ev)
{
	if (ev->aux)
		munmap(ev->aux, ev->aux_size);
	if (ev->page)
		munmap(ev->page, sysconf(_SC_PAGESIZE) + ev->data_size);
	close(ev->fd);
}

void dtl_enable(struct dtl_event *ev)
{
	FAIL_IF_EXIT(ioctl(ev->fd, PERF_EVENT_IOC_ENABLE, 0));
}

void dtl_disable(struct dtl_event *ev)
{
	FAIL_IF_EXIT(ioctl(ev->fd, PERF_EVENT_IOC_DISABLE, 0));
}

static u64 get64(const unsigned char *frame, int offset)
{
	u64 v;

	memcpy(&v, frame + offset, sizeof(v));
	return v;
}

static u64 kind(int preempt_reason)
{
	switch (preempt_reason) {
	case 2: case 3: case 7:
		return DTL_CEDE;
	case 5: case 6:
		return DTL_FAULT;
	default:
		return DTL_PREEMPT;
	}
}

static void read_frame(struct dtl_event *ev, u64 config)
{
	u64 tb = be64toh(get64(ev->frame, 16));

	if (!tb) {
		FAIL_IF_EXIT(get64(ev->frame, 24) != DTL_MAGIC);
		FAIL_IF_EXIT(get64(ev->frame, 32) || get64(ev->frame, 40));
		FAIL_IF_EXIT(!get64(ev->frame, 0) || !get64(ev->frame, 8));
		ev->headers++;
		return;
	}
	FAIL_IF_EXIT_MSG(!ev->headers, "an entry before the first header");
	ev->entries++;
	if (tb < ev->last_tb)
		ev->backwards++;
	ev->last_tb = tb;
	if (!(kind(ev->frame[1]) & config))
		ev->others++;
}

void dtl_read_records(struct dtl_event *ev)
{
	char *data = (char *)ev->page + sysconf(_SC_PAGESIZE);
	u64 head = __atomic_load_n(&ev->page->data_head, __ATOMIC_ACQUIRE);
	u64 tail = ev->page->data_tail;

	while (tail < head) {
		union {
			struct perf_event_header header;
			char bytes[1024];
			u64 words[128];
		} rec;
		unsigned int i;

		/* headers are aligned to 8 bytes, and never straddle the end */
		memcpy(&rec.header, data + tail % ev->data_size, sizeof(rec.header));
		FAIL_IF_EXIT(rec.header.size < sizeof(rec.header) ||
			     rec.header.size > sizeof(rec));
		for (i = 0; i < rec.header.size; i++)
			rec.bytes[i] = data[(tail + i) % ev->data_size];
		tail += rec.header.size;

		if (rec.header.type == PERF_RECORD_LOST_SAMPLES)
			ev->lost += rec.words[1];
		else if (rec.header.type == PERF_RECORD_AUX &&
			 rec.words[3] & PERF_AUX_FLAG_TRUNCATED)
			ev->truncated++;
	}
	__atomic_store_n(&ev->page->data_tail, tail, __ATOMIC_RELEASE);
}

void dtl_read_aux(struct dtl_event *ev, u64 config)
{
	u64 head = __atomic_load_n(&ev->page->aux_head, __ATOMIC_ACQUIRE);

	for (; ev->stream < head; ev->stream++) {
		ev->frame[ev->stream % DTL_FRAME] = ev->aux[ev->stream % ev->aux_size];
		if (ev->stream % DTL_FRAME == DTL_FRAME - 1)
			read_frame(ev, config);
	}
	FAIL_IF_EXIT_MSG(head % DTL_FRAME, "half a frame");
	__atomic_store_n(&ev->page->aux_tail, head, __ATOMIC_RELEASE);
}

void dtl_read(struct dtl_event *ev, u64 config)
{
	dtl_read_aux(ev, config);
	dtl_read_records(ev);
}

u64 dtl_count(struct dtl_event *ev, u64 *lost)
{
	struct {
		u64 count;
		u64 lost;
	} values;

	FAIL_IF_EXIT(read(ev->fd, &values, sizeof(values)) != sizeof(values));
	if (lost)
		*lost = values.lost;

	return values.count;
}

bool dtl_balanced(struct dtl_event *ev)
{
	u64 untold, count = dtl_count(ev, &untold);

	printf("written %llu: %llu entries, %llu lost, %llu untold; %llu headers, %llu truncated\n",
	       count, ev->entries, ev->lost, untold, ev->headers, ev->truncated);

	return count == ev->entries + ev->lost + untold;
}

void dtl_sleep(int n)
{
	while (n--)
		usleep(200);
}

u64 dtl_dispatch(struct dtl_event *ev, u64 n)
{
	u64 from = dtl_count(ev, NULL);
	u64 now = from;
	u64 i;

	/* a slow machine has a short sleep over before it gets to stop */
	for (i = 0; now - from < n && i < 20 * n; i++) {
		usleep(i < n ? 200 : 2000);
		now = dtl_count(ev, NULL);
	}

	return now - from;
}

bool dtl_fill(struct dtl_event *ev, u64 head)
{
	int i;

	for (i = 0; i < 10000; i++) {
		if (__atomic_load_n(&ev->page->aux_head, __ATOMIC_ACQUIRE) >= head)
			return true;
		dtl_dispatch(ev, 10);
	}

	return false;
}

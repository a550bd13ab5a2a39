// SPDX-License-Identifier: GPL-2.0
/*
 * The vpa_dtl PMU, as a program that opens its events sees it
 *
 * Each test takes the CPU that it runs on. Where the hypervisor registers a log
 * but never writes one (QEMU without the dispatch trace log), those that need
 * entries skip.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dtl.h"

#define MS	1000000ULL
#define SEC	(1000 * MS)

static int cpu;
static bool native;	/* the kernel accounts stolen time from the log */
static u64 other_mask;	/* of an event that counts, and not DTL_ALL */

/* The accounting has preemptions in the log: no count is without them */
static bool accounts_from_log(void)
{
	struct dtl_event ev;
	int rc = dtl_open(&ev, cpu, DTL_FAULT, 0);

	if (!rc)
		dtl_close(&ev);

	return rc == -EOPNOTSUPP;
}

static bool hypervisor_writes(void)
{
	struct dtl_event ev;
	u64 count;

	FAIL_IF_EXIT(dtl_open(&ev, cpu, DTL_ALL, 0));
	dtl_enable(&ev);
	count = dtl_dispatch(&ev, 20);
	dtl_disable(&ev);
	dtl_close(&ev);

	return count;
}

/* Linux KVM logs each dispatch, whatever kinds the mask asks for */
static bool mask_is_ignored(void)
{
	char type[16] = "";

	return !read_file("/proc/device-tree/hypervisor/compatible", type,
			  sizeof(type) - 1, NULL) && !strcmp(type, "linux,kvm");
}

/* Where the stream of a full AUX area ends: no frame has room behind it */
static u64 full(struct dtl_event *ev)
{
	return ev->page->aux_tail + ev->aux_size - DTL_FRAME + 1;
}

/* An event that has nothing to say, of a group or alone (-1) */
static int open_dummy(int group)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_DUMMY,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, group, 0);

	FAIL_IF_EXIT(fd < 0);

	return fd;
}

/* A new event of its group has the event taken off its CPU and put back */
static void restart(struct dtl_event *ev)
{
	close(open_dummy(ev->fd));
}

/* Every refusal is one errno */
static int test_refusals(void)
{
	static const u64 bad[] = { 0, 8, 0xff, 0x100, 0x108, 0x200, 0x207, 1ULL << 63 | 7 };
	struct perf_event_attr attr = {
		.type		= dtl_type(),
		.size		= sizeof(attr),
		.config		= DTL_ALL,
		.sample_period	= SEC,
		.disabled	= 1,
	};
	const char *paranoid = "/proc/sys/kernel/perf_event_paranoid";
	struct dtl_event ev, second;
	int leader, sibling, status;
	long level;
	unsigned int i;
	u64 mask;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		FAIL_IF(dtl_open(&ev, cpu, bad[i], SEC) != -EINVAL);
	for (mask = 1; mask <= 7; mask++) {
		FAIL_IF(dtl_open(&ev, cpu, mask, SEC));
		dtl_close(&ev);
		FAIL_IF(dtl_open(&ev, cpu, mask | DTL_FIXED, SEC));
		dtl_close(&ev);
	}

#define REFUSED(pid, cpu, error) do {						\
	FAIL_IF(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0) != -1);	\
	FAIL_IF(errno != (error));						\
} while (0)
	REFUSED(0, -1, EINVAL);		/* a task, anywhere */
	REFUSED(0, cpu, EINVAL);	/* a task, on a CPU */
	attr.exclude_kernel = 1;
	REFUSED(-1, cpu, EINVAL);
	attr.exclude_kernel = 0;
	attr.precise_ip = 1;
	REFUSED(-1, cpu, EOPNOTSUPP);
	attr.precise_ip = 0;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	REFUSED(-1, cpu, EOPNOTSUPP);
	attr.sample_type = 0;
	attr.branch_sample_type = 0;

	/* One that samples has the CPU to itself … */
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC));
	FAIL_IF(dtl_open(&second, cpu, DTL_ALL, SEC) != -EBUSY);
	FAIL_IF(dtl_open(&second, cpu, DTL_ALL, 0) != -EBUSY);
	dtl_close(&ev);
	/* … those that count share it. */
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, 0));
	FAIL_IF(dtl_open(&second, cpu, other_mask, 0));
	dtl_close(&second);
	FAIL_IF(dtl_open(&second, cpu, DTL_ALL, SEC) != -EBUSY);
	dtl_close(&ev);

	/* A group is on together, so it has one mask */
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, 0));
	attr.sample_period = 0;
	attr.config = DTL_CEDE;
	FAIL_IF(syscall(SYS_perf_event_open, &attr, -1, cpu, ev.fd, 0) != -1);
	FAIL_IF(errno != EINVAL);
	attr.config = DTL_ALL;
	sibling = syscall(SYS_perf_event_open, &attr, -1, cpu, ev.fd, 0);
	FAIL_IF(sibling < 0);
	close(sibling);
	dtl_close(&ev);

	/* … also behind a leader of another PMU */
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	leader = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	FAIL_IF(leader < 0);
	attr.type = dtl_type();
	attr.config = DTL_ALL;
	sibling = syscall(SYS_perf_event_open, &attr, -1, cpu, leader, 0);
	FAIL_IF(sibling < 0);
	attr.config = DTL_FAULT;
	FAIL_IF(syscall(SYS_perf_event_open, &attr, -1, cpu, leader, 0) != -1);
	FAIL_IF(errno != EINVAL);
	close(sibling);
	close(leader);

	/* whatever perf_event_paranoid allows everybody */
	FAIL_IF(read_long(paranoid, &level, 10));
	FAIL_IF(write_long(paranoid, -1, 10));
	pid = fork();
	FAIL_IF(pid < 0);
	if (!pid) {
		FAIL_IF_EXIT(setresuid(65534, 65534, 65534));
		FAIL_IF_EXIT(dtl_open(&ev, cpu, DTL_ALL, SEC) != -EACCES);
		FAIL_IF_EXIT(dtl_open(&ev, cpu, DTL_ALL, 0) != -EACCES);
		_exit(0);
	}
	FAIL_IF(waitpid(pid, &status, 0) != pid);
	FAIL_IF(write_long(paranoid, level, 10));
	FAIL_IF(status);

	return 0;
}

/* More polls a second than there are nanoseconds: it samples nevertheless */
static int test_freq(void)
{
	const char *limit = "/proc/sys/kernel/perf_event_max_sample_rate";
	struct dtl_event ev;
	unsigned long rate;
	int rc;

	FAIL_IF(read_ulong(limit, &rate, 10));
	FAIL_IF(write_ulong(limit, 2 * SEC, 10));
	rc = dtl_open_freq(&ev, cpu, DTL_ALL, 3 * SEC / 2);
	FAIL_IF(write_ulong(limit, rate, 10));
	FAIL_IF(rc);
	FAIL_IF(dtl_map(&ev, 8, 8, false));
	dtl_enable(&ev);
	dtl_sleep(20);
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.headers != 1);
	dtl_close(&ev);

	return 0;
}

/* What is logged in less than a period is there when the event stops */
static int test_short(void)
{
	struct dtl_event ev;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL | DTL_FIXED, 3600 * SEC));
	FAIL_IF(dtl_map(&ev, 8, 8, false));
	dtl_enable(&ev);
	dtl_dispatch(&ev, 10);
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.entries < 10 || ev.backwards || ev.headers != 1);
	/* Linux KVM may log more than fits before anyone looks */
	FAIL_IF(ev.lost && !mask_is_ignored());
	dtl_close(&ev);

	return 0;
}

/* Nothing gets lost between a stop and a start, however often */
static int test_enable(void)
{
	struct dtl_event ev;
	int i;

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, 10 * MS));
	FAIL_IF(dtl_map(&ev, 8, 8, false));
	for (i = 0; i < 500; i++) {
		dtl_enable(&ev);
		dtl_sleep(i % 4);
		dtl_disable(&ev);
		dtl_read(&ev, DTL_ALL);
	}
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.headers != 500 || ev.backwards);
	dtl_close(&ev);

	return 0;
}

/* An AUX area of many laps */
static int test_laps(void)
{
	struct dtl_event ev;
	int i;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS));
	FAIL_IF(dtl_map(&ev, 8, 1, false));
	dtl_enable(&ev);
	for (i = 0; ev.stream < 3 * ev.aux_size && i < 1000; i++) {
		dtl_dispatch(&ev, 10);
		dtl_read(&ev, DTL_ALL);
	}
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.stream < 3 * ev.aux_size || ev.backwards);
	dtl_close(&ev);

	return 0;
}

/* Nobody reads for a while: what finds no room is counted, and it goes on */
static int test_full(void)
{
	struct dtl_event ev;
	u64 entries;
	int i;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS));
	FAIL_IF(dtl_map(&ev, 8, 1, false));
	dtl_enable(&ev);
	FAIL_IF(!dtl_fill(&ev, full(&ev)));
	dtl_dispatch(&ev, 400);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!ev.truncated);
	entries = ev.entries;
	/* an event that was to be disabled would be so from here on */
	restart(&ev);
	for (i = 0; ev.entries < entries + 300 && i < 1000; i++) {
		dtl_dispatch(&ev, 5);
		dtl_read(&ev, DTL_ALL);
	}
	FAIL_IF_MSG(ev.entries < entries + 300, "it did not go on");
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(!ev.lost || ev.backwards);
	dtl_close(&ev);

	return 0;
}

/* No room in the data area either: the count tells what no record can */
static int test_data_full(void)
{
	struct dtl_event ev;
	u64 head, untold;
	int i;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS / 10));
	FAIL_IF(dtl_map(&ev, 1, 1, false));
	dtl_enable(&ev);
	/* each piece of AUX data brings a record, and those are not read */
	for (i = 0; i < 10000; i++) {
		head = ev.page->data_head;
		dtl_dispatch(&ev, 5);
		dtl_read_aux(&ev, DTL_ALL);
		if (head && head == ev.page->data_head)
			break;
	}
	FAIL_IF(ev.page->data_head < ev.data_size - 100);
	dtl_dispatch(&ev, sysconf(_SC_PAGESIZE) / DTL_FRAME + 400);
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	dtl_count(&ev, &untold);
	FAIL_IF(!untold);

	/* and again, now that there is room */
	dtl_enable(&ev);
	dtl_dispatch(&ev, 10);
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.backwards);
	dtl_close(&ev);

	return 0;
}

/* A new period while there is no room is no end */
static int test_period(void)
{
	static const u64 periods[] = { 1, MS, 1ULL << 62 };
	u64 zero = 0, too_long = 1ULL << 63;
	struct dtl_event ev;
	unsigned int i;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS));
	FAIL_IF(dtl_map(&ev, 8, 1, false));
	dtl_enable(&ev);
	FAIL_IF(!ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &zero) || errno != EINVAL);
	FAIL_IF(!ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &too_long) || errno != EINVAL);
	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		/* no room for a frame */
		FAIL_IF(!dtl_fill(&ev, full(&ev)));
		FAIL_IF(dtl_dispatch(&ev, 100) < 100);
		FAIL_IF(ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &periods[i]));
		FAIL_IF(dtl_dispatch(&ev, 20) < 20);
		/* no room for a byte, of which frames alone leave some */
		__atomic_store_n(&ev.page->aux_tail,
				 ev.page->aux_head + 1 - ev.aux_size, __ATOMIC_RELEASE);
		FAIL_IF(ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &periods[i]));
		FAIL_IF(dtl_dispatch(&ev, 20) < 20);
		dtl_read(&ev, DTL_ALL);
		FAIL_IF(ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &periods[i]));
		FAIL_IF(dtl_dispatch(&ev, 20) < 20);
	}
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(!ev.truncated || ev.backwards);
	dtl_close(&ev);

	return 0;
}

/* Each kind of event logs its kind, and the ones that count agree */
static int test_kinds(void)
{
	struct dtl_event ev;
	u64 mask;

	SKIP_IF(!hypervisor_writes());
	SKIP_IF_MSG(mask_is_ignored(), "the hypervisor logs all kinds");
	SKIP_IF_MSG(native, "the accounting has preemptions logged");
	for (mask = 1; mask <= 7; mask++) {
		FAIL_IF(dtl_open(&ev, cpu, mask, MS));
		FAIL_IF(dtl_map(&ev, 8, 8, false));
		dtl_enable(&ev);
		if (mask & DTL_CEDE)
			dtl_dispatch(&ev, 50);
		else
			dtl_sleep(50);
		dtl_disable(&ev);
		dtl_read(&ev, mask);
		FAIL_IF(!dtl_balanced(&ev));
		FAIL_IF(ev.others);
		FAIL_IF(mask & DTL_CEDE && ev.entries < 50);
		dtl_close(&ev);
	}

	return 0;
}

/* Events that count share the log, or take turns where their kinds differ */
static int test_counting(void)
{
	struct dtl_event all, same, other;
	u64 before;

	SKIP_IF(!hypervisor_writes());
	SKIP_IF_MSG(mask_is_ignored(), "the hypervisor logs all kinds");
	FAIL_IF(dtl_open(&all, cpu, DTL_ALL, 0));
	FAIL_IF(dtl_open(&same, cpu, DTL_ALL, 0));
	FAIL_IF(dtl_open(&other, cpu, other_mask, 0));
	dtl_enable(&all);
	dtl_dispatch(&all, 50);
	before = dtl_count(&all, NULL);
	FAIL_IF(before < 50);
	dtl_enable(&same);
	dtl_dispatch(&same, 50);
	dtl_disable(&all);
	FAIL_IF(dtl_dispatch(&same, 50) < 50);
	dtl_disable(&same);
	printf("all %llu, later %llu\n", dtl_count(&all, NULL), dtl_count(&same, NULL));
	FAIL_IF(dtl_count(&all, NULL) < 100 || dtl_count(&same, NULL) < 100);

	/* a count stands while the event is off */
	before = dtl_count(&all, NULL);
	dtl_sleep(20);
	FAIL_IF(dtl_count(&all, NULL) != before);

	dtl_enable(&other);
	dtl_sleep(50);
	dtl_disable(&other);
	FAIL_IF(!native && dtl_count(&other, NULL));

	/* both are on, and neither counts what the other asked for */
	dtl_enable(&all);
	dtl_enable(&other);
	FAIL_IF(dtl_dispatch(&all, 50) < 50);
	dtl_disable(&other);
	dtl_disable(&all);
	FAIL_IF(!native && dtl_count(&other, NULL));

	dtl_close(&all);
	dtl_close(&same);
	dtl_close(&other);

	return 0;
}

/* An event that counts goes on when its page is mapped and unmapped */
static int test_counting_mapped(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct dtl_event ev;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, 0));
	dtl_enable(&ev);
	ev.data_size = page;
	ev.page = mmap(NULL, page + ev.data_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED, ev.fd, 0);
	FAIL_IF(ev.page == MAP_FAILED);
	FAIL_IF(dtl_dispatch(&ev, 20) < 20);

	/* it has no use for an AUX area */
	ev.page->aux_offset = page + ev.data_size;
	ev.page->aux_size = page;
	FAIL_IF(mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ev.fd,
		     ev.page->aux_offset) != MAP_FAILED);
	FAIL_IF(dtl_dispatch(&ev, 20) < 20);

	FAIL_IF(munmap(ev.page, page + ev.data_size));
	ev.page = NULL;
	FAIL_IF(dtl_dispatch(&ev, 20) < 20);
	dtl_close(&ev);

	return 0;
}

/* The newest wins, in whole frames */
static int test_overwrite(void)
{
	struct dtl_event ev;
	u64 head;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS));
	FAIL_IF(dtl_map(&ev, 8, 1, true));
	dtl_enable(&ev);
	FAIL_IF(!dtl_fill(&ev, 2 * ev.aux_size));
	dtl_disable(&ev);
	head = ev.page->aux_head;
	FAIL_IF(head % DTL_FRAME);
	/* from the first whole frame that is still there */
	ev.stream = (head - ev.aux_size + DTL_FRAME - 1) / DTL_FRAME * DTL_FRAME;
	for (; ev.stream < head; ev.stream++) {
		ev.frame[ev.stream % DTL_FRAME] = ev.aux[ev.stream % ev.aux_size];
		if (ev.stream % DTL_FRAME == DTL_FRAME - 1) {
			u64 tb = be64toh(*(u64 *)(ev.frame + 16));

			/* headers fill up what a copy went over and gave up */
			if (!tb) {
				ev.headers++;
				continue;
			}
			FAIL_IF(tb < ev.last_tb);
			ev.last_tb = tb;
			ev.entries++;
		}
	}
	FAIL_IF(ev.entries + ev.headers != ev.aux_size / DTL_FRAME);
	FAIL_IF(ev.entries < ev.headers);
	dtl_close(&ev);

	return 0;
}

/* The other users of the log and we keep each other off, both ways */
static int test_owner(void)
{
	const char *stats = "/proc/powerpc/vcpudispatch_stats";
	char debugfs[80];
	struct dtl_event ev, second;
	int fd;

	snprintf(debugfs, sizeof(debugfs), "/sys/kernel/debug/powerpc/dtl/cpu-%d", cpu);
	SKIP_IF_MSG(access(debugfs, R_OK), "no debugfs file of the log");
	SKIP_IF_MSG(access(stats, W_OK), "no vcpudispatch_stats");

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC));
	FAIL_IF(open(debugfs, O_RDONLY) != -1 || errno != EBUSY);
	FAIL_IF(write_file(stats, "1", 1) != -EBUSY);
	dtl_close(&ev);

	fd = open(debugfs, O_RDONLY);
	FAIL_IF(fd < 0);
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC) != -EBUSY);
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, 0) != -EBUSY);
	close(fd);

	FAIL_IF(write_file(stats, "1", 1));
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC) != -EBUSY);
	FAIL_IF(write_file(stats, "0", 1));

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC));
	FAIL_IF(dtl_open(&second, cpu, DTL_ALL, SEC) != -EBUSY);
	dtl_close(&ev);

	return 0;
}

/* A reader that lies about how far it has read harms its own data, no more */
static int test_hostile_tail(void)
{
	bool writes = hypervisor_writes();
	struct dtl_event ev;
	unsigned int i;
	u64 count;

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS / 10));
	FAIL_IF(dtl_map(&ev, 1, 1, false));
	dtl_enable(&ev);
	for (i = 0; i < 2000; i++) {
		__atomic_store_n(&ev.page->aux_tail, i * 2654435761U, __ATOMIC_RELEASE);
		if (i % 8 == 0)
			dtl_sleep(1);
	}
	/* the value that leaves exactly no room: it waits, and stays on */
	__atomic_store_n(&ev.page->aux_tail, ev.page->aux_head + 1 - ev.aux_size,
			 __ATOMIC_RELEASE);
	dtl_sleep(100);
	if (writes) {
		count = dtl_count(&ev, NULL);
		dtl_dispatch(&ev, 20);
		FAIL_IF(dtl_count(&ev, NULL) < count + 20);
		/* and with room again it is on after a restart */
		ev.page->aux_tail = ev.page->aux_head;
		restart(&ev);
		count = dtl_count(&ev, NULL);
		dtl_dispatch(&ev, 20);
		FAIL_IF(dtl_count(&ev, NULL) < count + 20);
	}
	dtl_disable(&ev);
	dtl_close(&ev);

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, SEC));
	FAIL_IF(dtl_map(&ev, 1, 1, false));
	dtl_enable(&ev);
	dtl_sleep(5);
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev) || ev.headers != 1);
	dtl_close(&ev);

	return 0;
}

/* The AUX area goes away under a running event, and the event with its areas */
static int test_unmap(void)
{
	bool writes = hypervisor_writes();
	struct dtl_event ev;
	u64 count;
	int i;

	for (i = 0; i < 20; i++) {
		FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS / 10));
		/* not mapped: nothing to write to, and nothing happens */
		dtl_enable(&ev);
		dtl_sleep(2);
		dtl_disable(&ev);
		FAIL_IF(dtl_count(&ev, NULL));
		FAIL_IF(dtl_map(&ev, 1, 1, false));
		dtl_enable(&ev);
		dtl_dispatch(&ev, 5);
		FAIL_IF(munmap(ev.aux, ev.aux_size));
		ev.aux = NULL;
		/* stopped by that, with all that it had counted */
		count = dtl_count(&ev, NULL);
		FAIL_IF(writes && count < 5);
		dtl_sleep(5);
		FAIL_IF(dtl_count(&ev, NULL) != count);
		if (i % 2)
			dtl_disable(&ev);
		dtl_close(&ev);
	}

	return 0;
}

static bool map_aux(struct dtl_event *ev)
{
	ev->aux = mmap(NULL, ev->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		       ev->fd, ev->page->aux_offset);
	return ev->aux != MAP_FAILED;
}

static bool unmap_aux(struct dtl_event *ev)
{
	int rc = munmap(ev->aux, ev->aux_size);

	ev->aux = NULL;
	return !rc;
}

/* Linux KVM polls for a while before a dispatch ends: not each sleep is one */
static bool dispatched(struct dtl_event *ev, u64 n)
{
	u64 done = 0;
	int i;

	for (i = 0; done < n && i < 50; i++)
		done += dtl_dispatch(ev, n - done);

	return done >= n;
}

/*
 * Without an AUX area an event is off until there is one. Where it is on all the
 * same, all is lost, and told as that: there is no AUX record to flag.
 */
static int test_no_aux(void)
{
	const u64 period = 3600 * SEC;	/* nothing is taken between start and stop */
	struct dtl_event ev;
	u64 taken;

	SKIP_IF(!hypervisor_writes());
	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL | DTL_FIXED, period));
	FAIL_IF(dtl_map(&ev, 8, 8, false));
	FAIL_IF(!unmap_aux(&ev));
	dtl_enable(&ev);
	dtl_sleep(20);
	dtl_read_records(&ev);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(dtl_count(&ev, NULL) || ev.truncated);

	/* it comes on by itself, and stops when the area goes away */
	FAIL_IF(!map_aux(&ev));
	FAIL_IF(!dispatched(&ev, 1));
	dtl_read_aux(&ev, DTL_ALL);
	/* Linux KVM logs the end of the call that hands it the log */
	taken = ev.entries;
	FAIL_IF(!dispatched(&ev, 20));
	dtl_read_aux(&ev, DTL_ALL);
	FAIL_IF(ev.headers != 1 || ev.entries != taken);
	FAIL_IF(!unmap_aux(&ev));
	dtl_read_records(&ev);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.lost < 20 || ev.truncated);

	/* more than the hypervisor's log holds */
	FAIL_IF(ioctl(ev.fd, PERF_EVENT_IOC_PERIOD, &period));
	FAIL_IF(!dispatched(&ev, 200));
	dtl_disable(&ev);
	dtl_read_records(&ev);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.lost < 220 || ev.truncated || ev.entries != taken);

	/* and with an area again it records */
	FAIL_IF(!map_aux(&ev));
	dtl_enable(&ev);
	FAIL_IF(!dispatched(&ev, 20));
	dtl_disable(&ev);
	dtl_read(&ev, DTL_ALL);
	FAIL_IF(!dtl_balanced(&ev));
	FAIL_IF(ev.headers != 2 || ev.entries < taken + 20 || ev.truncated);
	dtl_close(&ev);

	return 0;
}

/* How often the driver is held as a module; 0 where it is built in */
static unsigned long holders(void)
{
	unsigned long n;

	return read_ulong("/sys/module/vpa_dtl/refcnt", &n, 10) ? 0 : n;
}

/*
 * Another event has its records in the same areas and maps them: they are there
 * after the event that they are of, and the driver, which frees one, is as well.
 */
static int test_outlived(void)
{
	bool module = !access("/sys/module/vpa_dtl/refcnt", F_OK);
	unsigned long idle = holders();
	struct dtl_event ev, other;

	FAIL_IF(dtl_open(&ev, cpu, DTL_ALL, MS));
	FAIL_IF(dtl_map(&ev, 1, 1, false));
	memset(&other, 0, sizeof(other));
	other.fd = open_dummy(-1);
	FAIL_IF(ioctl(other.fd, PERF_EVENT_IOC_SET_OUTPUT, ev.fd));
	FAIL_IF(dtl_map(&other, 1, 1, false));
	dtl_enable(&ev);
	dtl_dispatch(&ev, 5);
	dtl_close(&ev);

	FAIL_IF(module && holders() != idle + 1);
	dtl_read_aux(&other, DTL_ALL);
	FAIL_IF(other.headers != 1);
	dtl_close(&other);
	FAIL_IF(holders() != idle);

	return 0;
}

static int run(int (*test)(void), const char *name)
{
	test_harness_set_timeout(300);
	return test_harness(test, name);
}

static int can_run(void)
{
	SKIP_IF_MSG(dtl_type() < 0, "no vpa_dtl PMU");
	SKIP_IF_MSG(geteuid(), "not root");
	return 0;
}

int main(void)
{
	int rc = 0;

	if (dtl_type() < 0 || geteuid())
		return test_harness(can_run, "vpa_dtl");

	cpu = bind_to_cpu(BIND_CPU_ANY);
	if (cpu < 0)
		return 1;
	native = accounts_from_log();
	other_mask = native ? DTL_PREEMPT : DTL_FAULT;

	rc |= run(test_refusals, "vpa_dtl_refusals");
	rc |= run(test_freq, "vpa_dtl_freq");
	rc |= run(test_short, "vpa_dtl_short");
	rc |= run(test_enable, "vpa_dtl_enable");
	rc |= run(test_laps, "vpa_dtl_laps");
	rc |= run(test_full, "vpa_dtl_full");
	rc |= run(test_data_full, "vpa_dtl_data_full");
	rc |= run(test_period, "vpa_dtl_period");
	rc |= run(test_kinds, "vpa_dtl_kinds");
	rc |= run(test_counting, "vpa_dtl_counting");
	rc |= run(test_counting_mapped, "vpa_dtl_counting_mapped");
	rc |= run(test_overwrite, "vpa_dtl_overwrite");
	rc |= run(test_owner, "vpa_dtl_owner");
	rc |= run(test_hostile_tail, "vpa_dtl_hostile_tail");
	rc |= run(test_unmap, "vpa_dtl_unmap");
	rc |= run(test_no_aux, "vpa_dtl_no_aux");
	rc |= run(test_outlived, "vpa_dtl_outlived");

	return rc;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * enable-hotplug leader: open an event of CPU 1, take that away and bring it back,
 * and open an event into the group of the first.
 *
 * enable-hotplug back: open an event of CPU 1, take that away and bring it back,
 * enable the event, take the CPU away again and close the event.
 *
 * enable-hotplug SECONDS: for each of CPUs 1 to 3 a thread that opens an event,
 * enables it again and again for a while, and closes it, whether the CPU is
 * there or not. Each record, one a context switch, wakes the event's readers.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t end;

static int open_event(int cpu, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(attr),
		.disabled = 1, .context_switch = 1, .watermark = 1, .wakeup_watermark = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

static int online(char c)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	int ok = write(fd, &c, 1) == 1;

	close(fd);
	return ok;
}

static int enable_when_back(void)
{
	int fd = open_event(1, -1);
	void *p = mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED || !online('0') || !online('1') ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || !online('0')) {
		perror("enable-hotplug back");
		return 1;
	}
	munmap(p, 2 * sysconf(_SC_PAGESIZE));
	close(fd);
	return !online('1');
}

/* The leader is in no context and has no group: nothing would keep the two together. */
static int open_when_back(void)
{
	int leader = open_event(1, -1), fd;

	if (leader < 0 || !online('0') || !online('1')) {
		perror("enable-hotplug leader");
		return 1;
	}
	fd = open_event(1, leader);
	if (fd < 0 && errno == ENODEV)
		return 0;
	perror("an event whose leader was removed");
	return 1;
}

static void *enable(void *arg)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *p;
	uintptr_t opened = 0;

	while (time(NULL) < end) {
		int fd = open_event((int)(uintptr_t)arg, -1);

		if (fd < 0) {
			usleep(1000);
			continue;
		}
		p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p != MAP_FAILED) {
			opened++;
			for (time_t t = time(NULL); time(NULL) <= t + 1; usleep(500)) {
				for (int i = 0; i < 50; i++)
					ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
				p->data_tail = p->data_head;
			}
			munmap(p, 2 * page);
		}
		close(fd);
	}
	return (void *)opened;
}

int main(int argc, char **argv)
{
	pthread_t thread[3];
	void *opened;

	if (argc > 1 && !strcmp(argv[1], "back"))
		return enable_when_back();
	if (argc > 1 && !strcmp(argv[1], "leader"))
		return open_when_back();

	end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 30);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, enable, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], &opened);
		printf("CPU %d: %zu events\n", i + 1, (size_t)opened);
		if (!opened)
			return 1;
	}
	return 0;
}

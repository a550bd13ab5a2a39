// SPDX-License-Identifier: GPL-2.0
/*
 * Give an event of CPU 1 that is on a new period while the hypervisor refuses its
 * log. That stops the event and starts it again, which fails.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(void)
{
	struct perf_event_attr attr = {
		.config = 7, .size = sizeof(attr), .sample_period = 1000000, .disabled = 1,
	};
	FILE *f = fopen("/sys/bus/event_source/devices/vpa_dtl/type", "r");

	if (!f || fscanf(f, "%u", &attr.type) != 1)
		return -1;
	fclose(f);
	return syscall(SYS_perf_event_open, &attr, -1, 1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t count(int fd)
{
	uint64_t n = 0;

	if (read(fd, &n, sizeof(n)) != sizeof(n))
		perror("read");
	return n;
}

/* The count, when the hypervisor has had time to write */
static uint64_t later(int fd, const char *when)
{
	uint64_t n;

	usleep(200000);
	n = count(fd);
	printf("%s: %llu\n", when, (unsigned long long)n);
	return n;
}

int main(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *p;
	void *aux;
	uint64_t n, ns = 2000000;
	int fd = open_event();

	p = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || p == MAP_FAILED)
		return 1;
	p->aux_offset = 9 * page;
	p->aux_size = 8 * page;
	aux = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 9 * page);
	if (aux == MAP_FAILED)
		return 1;

	if (system("hv script cpu=1,count=50,burst=10") || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return 1;
	n = later(fd, "on");
	if (n != 50)
		return 1;
	if (system("hv script cpu=1,burst=10,refuse=register") || ioctl(fd, PERF_EVENT_IOC_PERIOD, &ns))
		return 1;
	n = later(fd, "a new period");
	if (n < 50 || later(fd, "and later") != n)
		return 1;
	/* the hypervisor is not asked again until the event was closed */
	if (system("hv script cpu=1,burst=10") || ioctl(fd, PERF_EVENT_IOC_PERIOD, &ns) ||
	    later(fd, "another new period") != n)
		return 1;
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ||
	    later(fd, "enabled again") != n)
		return 1;
	munmap(aux, 8 * page);
	munmap(p, 9 * page);
	close(fd);

	/* the CPU's log is free for another */
	fd = open_event();
	return fd < 0 || system("hv script ''");
}

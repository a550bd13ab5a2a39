// SPDX-License-Identifier: GPL-2.0
/*
 * peakmem COMMAND...: run a command and tell the memory that it needed.
 *
 * A reader of big files maps them, and mapped pages of a file count into the
 * resident size though they cost nothing and can go at any time.  What a program
 * really needs is its anonymous memory; the kernel keeps no high-water mark of
 * that, so RssAnon is sampled each millisecond.  The line on stderr:
 *
 *   anon_kb=PEAK rss_kb=PEAK samples=N status=EXIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rss_anon_kb(pid_t pid)
{
	char path[32], line[128];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	const struct timespec wait = { .tv_nsec = 1000000 };
	long peak = 0, samples = 0;
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: peakmem COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0) {
		perror("fork");
		return 1;
	}
	while (!wait4(pid, &status, WNOHANG, &usage)) {
		long kb = rss_anon_kb(pid);

		if (kb > peak)
			peak = kb;
		samples++;
		nanosleep(&wait, NULL);
	}
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	fprintf(stderr, "anon_kb=%ld rss_kb=%ld samples=%ld status=%d\n", peak,
		usage.ru_maxrss, samples, status);
	return status;
}

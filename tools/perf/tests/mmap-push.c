// SPDX-License-Identifier: GPL-2.0
/*
 * perf_mmap__push() while the kernel writes: each byte is handed on, once. A thread
 * plays the kernel and writes numbers that count up.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <asm/barrier.h>
#include <internal/lib.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include "debug.h"
#include "tests.h"
#include "util/mmap.h"

#define NR_NUMBERS	(500 * 1000ULL)

struct numbers {
	struct mmap	map;
	u64		next;	/* number to be handed on */
	u64		wrong;	/* numbers that were others */
	bool		stop;	/* nobody reads any more */
};

static void *write_numbers(void *arg)
{
	struct numbers *numbers = arg;
	struct perf_event_mmap_page *page = numbers->map.core.base;
	u64 size = numbers->map.core.mask + 1;
	u64 *data = numbers->map.core.base + page_size;
	u64 number;

	for (number = 0; number < NR_NUMBERS; number++) {
		u64 head = number * sizeof(u64);

		while (head - READ_ONCE(page->data_tail) == size) {
			if (READ_ONCE(numbers->stop))
				return NULL;
			sched_yield();
		}
		data[head % size / sizeof(u64)] = number;
		/* The number is there before it is announced, as in the kernel */
		smp_store_release(&page->data_head, head + sizeof(u64));
	}

	return NULL;
}

static int take_numbers(struct mmap *map, void *to __maybe_unused, void *buf, size_t size)
{
	struct numbers *numbers = container_of(map, struct numbers, map);
	u64 *number = buf;

	for (; size >= sizeof(u64); size -= sizeof(u64), number++, numbers->next++) {
		if (*number == numbers->next)
			continue;
		numbers->wrong++;
		numbers->next = *number;
	}

	return 0;
}

static int test__mmap_push(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct numbers numbers = {
		.map.core = {
			.mask	= 4 * page_size - 1,
			.flush	= 1,
			.refcnt	= REFCOUNT_INIT(2),	/* 1 is unmapped when it is empty */
		},
	};
	pthread_t kernel;
	int rc;

	numbers.map.core.base = aligned_alloc(page_size, 5 * page_size);
	TEST_ASSERT_VAL("memory", numbers.map.core.base);
	memset(numbers.map.core.base, 0, page_size);

	rc = pthread_create(&kernel, NULL, write_numbers, &numbers);
	TEST_ASSERT_EQUAL("thread", rc, 0);
	do {
		rc = perf_mmap__push(&numbers.map, NULL, take_numbers);
	} while (rc >= 0 && numbers.next < NR_NUMBERS);
	/* It would wait for room for ever after an error */
	WRITE_ONCE(numbers.stop, true);
	pthread_join(kernel, NULL);

	/* What was written after the last look, were it handed on again */
	if (!rc)
		rc = perf_mmap__push(&numbers.map, NULL, take_numbers);
	free(numbers.map.core.base);

	TEST_ASSERT_EQUAL("nothing is left", rc, 1);
	pr_debug("%llu numbers were not the next\n", (unsigned long long)numbers.wrong);
	TEST_ASSERT_VAL("each number once", !numbers.wrong);

	return TEST_OK;
}

DEFINE_SUITE("Read a ring buffer while it is written", mmap_push);

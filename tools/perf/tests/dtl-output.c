// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/kernel.h>

#include "color.h"
#include "debug.h"
#include "dtl-output.h"
#include "tests.h"

static const struct dtl_column columns[] = {
	{ "time_ns",	"time s",	DTL_TIME,	14 },
	{ "comm",	NULL,		DTL_STRING,	 0 },
	{ NULL,		"task",		DTL_STRING,	-8 },
	{ "wait_ns",	"wait ms",	DTL_DURATION,	10 },
	{ "percent",	"%",		DTL_PERCENT,	 6 },
	{ "place",	"at",		DTL_STRING,	-1 },
};

static const struct dtl_column count_column = { "count", NULL, DTL_NUMBER, 0 };

static void print_all(struct dtl_output *out)
{
	const struct dtl_value rows[][ARRAY_SIZE(columns)] = {
		{ dtl_num(1234567890123), dtl_text("a,\"b\""), dtl_text("a:1"), dtl_num(1500),
		  dtl_num(1205), dtl_text("f+0x4") },
		/* A name that is no UTF-8, control characters, a number that is not known */
		{ dtl_num(0), dtl_text("\xff\xc3\xa4\x01"), dtl_text("x\ny"), dtl_none(),
		  dtl_none(), dtl_none() },
	};
	size_t i;

	dtl_output__begin(out);
	dtl_output__member(out, &count_column, dtl_num(2));
	dtl_output__table(out, "rows", columns, ARRAY_SIZE(columns));
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		dtl_output__row(out, rows[i]);
	dtl_output__table_end(out);
	dtl_output__object(out, "first", columns, ARRAY_SIZE(columns), rows[0]);
	dtl_output__end(out);
}

/* What goes to the standard output, which is a file meanwhile */
static bool print_to(char *buf, size_t size, struct dtl_output *out)
{
	FILE *fp = tmpfile();
	int saved = dup(STDOUT_FILENO), color = perf_use_color_default;
	size_t len = 0;

	if (fp && saved >= 0) {
		fflush(stdout);
		dup2(fileno(fp), STDOUT_FILENO);
		perf_use_color_default = 0;
		print_all(out);
		perf_use_color_default = color;
		fflush(stdout);
		dup2(saved, STDOUT_FILENO);
		rewind(fp);
		len = fread(buf, 1, size - 1, fp);
	}
	buf[len] = '\0';
	if (saved >= 0)
		close(saved);
	if (fp)
		fclose(fp);
	return len;
}

static int test__dtl_formats(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct {
		struct dtl_output out;
		const char *want;
	} cases[] = {
		{
			{ .format = DTL_FORMAT_CSV, .separator = ",", },
			"time_ns,comm,wait_ns,percent,place\n"
			"1234567890123,\"a,\"\"b\"\"\",1500,12.05,f+0x4\n"
			"0,\xff\xc3\xa4\x01,,,\n"
		},
		{
			/* A separator that is not in the texts: only quotes are quoted */
			{ .format = DTL_FORMAT_CSV, .separator = "::", },
			"time_ns::comm::wait_ns::percent::place\n"
			"1234567890123::\"a,\"\"b\"\"\"::1500::12.05::f+0x4\n"
			"0::\xff\xc3\xa4\x01::::::\n"
		},
		{
			{ .format = DTL_FORMAT_JSON, },
			"{\n \"count\": 2,\n \"rows\": [\n"
			"  {\"time_ns\": 1234567890123, \"comm\": \"a,\\\"b\\\"\", \"wait_ns\": 1500, \"percent\": 12.05, \"place\": \"f+0x4\"},\n"
			"  {\"time_ns\": 0, \"comm\": \"\\ufffd\xc3\xa4\\u0001\", \"wait_ns\": null, \"percent\": null, \"place\": null}\n"
			" ],\n"
			" \"first\": {\"time_ns\": 1234567890123, \"comm\": \"a,\\\"b\\\"\", \"wait_ns\": 1500, \"percent\": 12.05, \"place\": \"f+0x4\"}\n"
			"}\n"
		},
		{
			{ .format = DTL_FORMAT_TEXT, },
			"          time s  task         wait ms       %  at\n"
			"     1234.567890  a:1            0.001   12.05  f+0x4\n"
			"        0.000000  x?y                -       -  -\n"
		},
	};
	char buf[2048];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct dtl_output out = cases[i].out;

		TEST_ASSERT_VAL("printed", print_to(buf, sizeof(buf), &out));
		pr_debug("case %zu:\n%s", i, buf);
		TEST_ASSERT_VAL("as it should be", !strcmp(buf, cases[i].want));
	}

	return TEST_OK;
}

static struct test_case dtl_output_tests[] = {
	TEST_CASE("Text, CSV and JSON", dtl_formats),
	{ .name = NULL, }
};

struct test_suite suite__dtl_output = {
	.desc = "Tables of perf dtl",
	.test_cases = dtl_output_tests,
};

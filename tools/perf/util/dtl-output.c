// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of perf dtl: see dtl-output.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <subcmd/pager.h>

#include "color.h"
#include "dtl-output.h"
#include "term.h"

/* Room for any value but a text */
#define VALUE_MAX	40

/* Bytes of the UTF-8 character at @s, 0 where there is none */
static size_t utf8_len(const char *s)
{
	const u8 *p = (const u8 *)s;
	size_t i, len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] < 0xe0)
		len = 2;
	else if (p[0] >= 0xe0 && p[0] < 0xf0)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] < 0xf5)
		len = 4;
	else
		return 0;

	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}

	/* Overlong forms, surrogates, and what is past the last plane */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

static void json_string(const char *s)
{
	size_t len;

	putchar('"');
	while (*s) {
		len = utf8_len(s);
		if (!len) {
			/* Not a character: say so */
			fputs("\\ufffd", stdout);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((u8)*s < 0x20 || *s == 0x7f)
			printf("\\u%04x", *s);
		else
			fwrite(s, len, 1, stdout);
		s += len;
	}
	putchar('"');
}

static void csv_string(const struct dtl_output *out, const char *s)
{
	if (!strstr(s, out->separator) && !strpbrk(s, "\"\r\n")) {
		fputs(s, stdout);
		return;
	}

	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

/* A value as programs get it */
static void plain_value(const struct dtl_output *out, const struct dtl_column *column,
			const struct dtl_value *value)
{
	bool json = out->format == DTL_FORMAT_JSON;

	if (!value->known) {
		if (json)
			fputs("null", stdout);
		return;
	}

	switch (column->type) {
	case DTL_STRING:
		if (json)
			json_string(value->text);
		else
			csv_string(out, value->text);
		break;
	case DTL_PERCENT:
	case DTL_HOT_PERCENT:
		printf("%" PRIu64 ".%02" PRIu64, value->num / 100, value->num % 100);
		break;
	case DTL_NUMBER:
	case DTL_DURATION:
	case DTL_TIME:
	default:
		printf("%" PRIu64, value->num);
		break;
	}
}

/* A value as people get it; control characters of a task's name stay out. */
static void text_value(char *buf, size_t size, const struct dtl_column *column,
		       const struct dtl_value *value)
{
	char *p;

	if (!value->known) {
		snprintf(buf, size, "-");
		return;
	}

	switch (column->type) {
	case DTL_STRING:
		snprintf(buf, size, "%s", value->text);
		for (p = buf; *p; p++) {
			if (iscntrl(*p))
				*p = '?';
		}
		break;
	case DTL_PERCENT:
	case DTL_HOT_PERCENT:
		snprintf(buf, size, "%" PRIu64 ".%02" PRIu64, value->num / 100, value->num % 100);
		break;
	case DTL_DURATION:
		snprintf(buf, size, "%" PRIu64 ".%03" PRIu64, value->num / NSEC_PER_MSEC,
			 value->num % NSEC_PER_MSEC / NSEC_PER_USEC);
		break;
	case DTL_TIME:
		snprintf(buf, size, "%" PRIu64 ".%06" PRIu64, value->num / NSEC_PER_SEC,
			 value->num % NSEC_PER_SEC / NSEC_PER_USEC);
		break;
	case DTL_NUMBER:
	default:
		snprintf(buf, size, "%" PRIu64, value->num);
		break;
	}
}

static void json_object(const struct dtl_output *out, const struct dtl_column *columns,
			unsigned int nr, const struct dtl_value *values)
{
	const char *sep = "";
	unsigned int i;

	putchar('{');
	for (i = 0; i < nr; i++) {
		if (!columns[i].name)
			continue;
		printf("%s\"%s\": ", sep, columns[i].name);
		plain_value(out, &columns[i], &values[i]);
		sep = ", ";
	}
	putchar('}');
}

static void json_name(struct dtl_output *out, const char *name)
{
	printf("%s \"%s\": ", out->json_fields++ ? ",\n" : "", name);
}

/**
 * dtl_output__begin - Start the output.
 * @out: its format is set
 */
void dtl_output__begin(struct dtl_output *out)
{
	if (out->format == DTL_FORMAT_JSON)
		printf("{\n");
}

/**
 * dtl_output__end - End the output.
 * @out: no table is open
 */
void dtl_output__end(struct dtl_output *out)
{
	if (out->format == DTL_FORMAT_JSON)
		printf("\n}\n");
}

/**
 * dtl_output__member - A value that is in no table; nothing but in JSON.
 * @out: no table is open
 * @column: its name and type
 * @value: value
 */
void dtl_output__member(struct dtl_output *out, const struct dtl_column *column,
			struct dtl_value value)
{
	if (out->format != DTL_FORMAT_JSON)
		return;
	json_name(out, column->name);
	plain_value(out, column, &value);
}

/**
 * dtl_output__object - A row that is in no table; nothing but in JSON.
 * @out: no table is open
 * @name: of the object
 * @columns: its members
 * @nr: their number
 * @values: as many values
 */
void dtl_output__object(struct dtl_output *out, const char *name,
			const struct dtl_column *columns, unsigned int nr,
			const struct dtl_value *values)
{
	if (out->format != DTL_FORMAT_JSON)
		return;
	json_name(out, name);
	json_object(out, columns, nr, values);
}

static bool is_last_text(const struct dtl_output *out, unsigned int i)
{
	for (i++; i < out->nr_columns; i++) {
		if (out->columns[i].title)
			return false;
	}
	return true;
}

/**
 * dtl_output__table - Start a table.
 * @out: no table is open
 * @name: of the array, in JSON
 * @columns: they stay where they are until the table ends
 * @nr: their number
 *
 * In CSV there can be one table only.
 */
void dtl_output__table(struct dtl_output *out, const char *name,
		       const struct dtl_column *columns, unsigned int nr)
{
	const char *sep = "";
	struct winsize ws;
	unsigned int i;

	out->columns = columns;
	out->nr_columns = nr;
	out->rows = 0;
	out->room = 0;

	switch (out->format) {
	case DTL_FORMAT_JSON:
		json_name(out, name);
		putchar('[');
		break;
	case DTL_FORMAT_CSV:
		for (i = 0; i < nr; i++) {
			if (!columns[i].name)
				continue;
			printf("%s%s", sep, columns[i].name);
			sep = out->separator;
		}
		putchar('\n');
		break;
	case DTL_FORMAT_TEXT:
	default:
		if (isatty(STDOUT_FILENO) || pager_in_use()) {
			get_term_dimensions(&ws);
			out->room = ws.ws_col;
		}
		for (i = 0; i < nr; i++) {
			if (!columns[i].title)
				continue;
			if (is_last_text(out, i) && columns[i].width < 0)
				color_fprintf(stdout, PERF_COLOR_BOLD, "  %s", columns[i].title);
			else
				color_fprintf(stdout, PERF_COLOR_BOLD, "  %*s", columns[i].width,
					      columns[i].title);
		}
		putchar('\n');
		break;
	}
}

static void text_row(const struct dtl_output *out, const struct dtl_value *values)
{
	const char *color;
	char buf[512];
	int len = 0, room;
	unsigned int i;

	for (i = 0; i < out->nr_columns; i++) {
		const struct dtl_column *column = &out->columns[i];

		if (!column->title)
			continue;

		text_value(buf, sizeof(buf), column, &values[i]);
		if (is_last_text(out, i) && column->width < 0) {
			room = out->room - len - 2;
			if (room >= 8 && room < (int)sizeof(buf))
				buf[room] = '\0';
			printf("  %s", buf);
			break;
		}

		color = PERF_COLOR_NORMAL;
		if (column->type == DTL_HOT_PERCENT && values[i].known)
			color = get_percent_color(values[i].num / 100.0);
		fputs("  ", stdout);
		color_fprintf(stdout, color, "%*s", column->width, buf);
		len += 2 + max_t(int, strlen(buf), abs(column->width));
	}
	putchar('\n');
}

/**
 * dtl_output__row - A row of the table that is open.
 * @out: a table is open
 * @values: as many as the table has columns
 */
void dtl_output__row(struct dtl_output *out, const struct dtl_value *values)
{
	const char *sep = "";
	unsigned int i;

	switch (out->format) {
	case DTL_FORMAT_JSON:
		fputs(out->rows ? ",\n  " : "\n  ", stdout);
		json_object(out, out->columns, out->nr_columns, values);
		break;
	case DTL_FORMAT_CSV:
		for (i = 0; i < out->nr_columns; i++) {
			if (!out->columns[i].name)
				continue;
			fputs(sep, stdout);
			plain_value(out, &out->columns[i], &values[i]);
			sep = out->separator;
		}
		putchar('\n');
		break;
	case DTL_FORMAT_TEXT:
	default:
		text_row(out, values);
		break;
	}
	out->rows++;
}

/**
 * dtl_output__table_end - End the table that is open.
 * @out: a table is open
 */
void dtl_output__table_end(struct dtl_output *out)
{
	if (out->format == DTL_FORMAT_JSON)
		fputs(out->rows ? "\n ]" : "]", stdout);
	out->columns = NULL;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of perf dtl: the same rows as text, CSV or JSON.
 */
#ifndef __PERF_UTIL_DTL_OUTPUT_H
#define __PERF_UTIL_DTL_OUTPUT_H

#include <linux/types.h>

enum dtl_format {
	DTL_FORMAT_TEXT,
	DTL_FORMAT_CSV,
	DTL_FORMAT_JSON,
};

/**
 * enum dtl_type - What a value is; CSV and JSON have times in ns.
 * @DTL_STRING: a text
 * @DTL_NUMBER: a number
 * @DTL_DURATION: nanoseconds; as text, milliseconds
 * @DTL_TIME: a point in time in nanoseconds; as text, seconds
 * @DTL_PERCENT: hundredths of a percent
 * @DTL_HOT_PERCENT: the same, coloured when much
 */
enum dtl_type {
	DTL_STRING,
	DTL_NUMBER,
	DTL_DURATION,
	DTL_TIME,
	DTL_PERCENT,
	DTL_HOT_PERCENT,
};

/**
 * struct dtl_column - A column of a table.
 * @name: in CSV and JSON; NULL: not there
 * @title: in text; NULL: not there
 * @type: of its values
 * @width: in text, at least; less than 0: to the left. A last column to the left
 *         is cut where the terminal ends.
 */
struct dtl_column {
	const char	*name;
	const char	*title;
	enum dtl_type	type;
	int		width;
};

/**
 * struct dtl_value - A value of a row.
 * @known: else null in JSON, empty in CSV, a dash in text
 * @text: DTL_STRING
 * @num: all others
 */
struct dtl_value {
	bool		known;
	const char	*text;
	u64		num;
};

/**
 * struct dtl_output - Where tables go.
 * @format: of all tables
 * @separator: of CSV columns
 * @json_fields: JSON: members of the object written so far
 * @rows: JSON: of the table that is open
 * @columns: of the table that is open ...
 * @nr_columns: ... and their number
 * @room: text: columns of the terminal when it was opened, 0: no end
 */
struct dtl_output {
	enum dtl_format			format;
	const char			*separator;
	unsigned int			json_fields;
	u64				rows;
	const struct dtl_column		*columns;
	unsigned int			nr_columns;
	int				room;
};

static inline struct dtl_value dtl_text(const char *text)
{
	return (struct dtl_value){ .known = text, .text = text, };
}

static inline struct dtl_value dtl_num(u64 num)
{
	return (struct dtl_value){ .known = true, .num = num, };
}

static inline struct dtl_value dtl_num_if(bool known, u64 num)
{
	return (struct dtl_value){ .known = known, .num = num, };
}

static inline struct dtl_value dtl_none(void)
{
	return (struct dtl_value){ .known = false, };
}

void dtl_output__begin(struct dtl_output *out);
void dtl_output__end(struct dtl_output *out);

void dtl_output__member(struct dtl_output *out, const struct dtl_column *column,
			struct dtl_value value);
void dtl_output__object(struct dtl_output *out, const char *name,
			const struct dtl_column *columns, unsigned int nr,
			const struct dtl_value *values);

void dtl_output__table(struct dtl_output *out, const char *name,
		       const struct dtl_column *columns, unsigned int nr);
void dtl_output__row(struct dtl_output *out, const struct dtl_value *values);
void dtl_output__table_end(struct dtl_output *out);

#endif

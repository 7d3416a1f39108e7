/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - numbers of several runs as JSON and as cells: what the pages of comparing,
 * scaling and forecasting have in common. */
#ifndef ROAST_REPORT_VALUES_H
#define ROAST_REPORT_VALUES_H

#include "report/blocks.h"
#include "roast/compare.h"
#include "roast/json_write.h"

/* Writes to a buffer. */
struct roast_json roast__json_to(struct roast_buf *buf);

void roast__json_named_text(struct roast_json *json, const char *key,
                            struct roast_str text);
void roast__json_named_count(struct roast_json *json, const char *key, uint64_t count);
/* What is no number is null. */
void roast__json_named_number(struct roast_json *json, const char *key, double value);
void roast__json_named_estimate(struct roast_json *json, const char *key,
                                const struct roast_estimate *estimate);
/* "format" and "writer", the first keys of everything that programs read. */
void roast__json_format(struct roast_json *json, const char *format);

/* A ratio in percent: +9.3. No change is 0, never -0. */
double roast__percent_more(double ratio);

/* "+9.3 %", "x 12"; "-" for what is no number. */
void roast__grid_put_change(struct roast_grid *grid, double ratio);

/* A line of our own words, cut to the page. */
void roast__put_line(struct roast_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

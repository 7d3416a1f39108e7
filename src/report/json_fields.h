/* SPDX-License-Identifier: BSD-3-Clause */
/* json_fields.h - keys with values, for all reports in JSON. */
#ifndef ROAST_REPORT_JSON_FIELDS_H
#define ROAST_REPORT_JSON_FIELDS_H

#include "report/layout.h"
#include "roast/compare.h"
#include "roast/json_write.h"

/* Opens the object of a report: "format" and "writer" are its first keys. */
struct roast_json roast__json_begin(struct roast_buf *buf, const char *format);
/* Closes it and ends the page. */
int roast__json_finish(struct roast_page *out, struct roast_json *json,
                       struct roast_buf *buf, roast_error *err);

void roast__json_named_text(struct roast_json *json, const char *key,
                            struct roast_str text);
void roast__json_named_count(struct roast_json *json, const char *key, uint64_t count);
/* NaN and infinity are null. */
void roast__json_named_number(struct roast_json *json, const char *key, double value);
void roast__json_named_estimate(struct roast_json *json, const char *key,
                                const struct roast_estimate *estimate);
/* The caller closes it. */
void roast__json_named_object(struct roast_json *json, const char *key);

#endif

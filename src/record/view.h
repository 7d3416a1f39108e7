/* SPDX-License-Identifier: BSD-3-Clause */
/* view.h - views of a record; its packed parts are read once for all views. */
#ifndef ROAST_RECORD_VIEW_H
#define ROAST_RECORD_VIEW_H

#include "roast/view.h"

/* What several views are computed from. */
struct roast_record_parts {
    bool ladder_known, access_known, facts_known;
    struct roast_ladder ladder;
    struct roast_access access;
    struct roast_file_facts facts;
};

/* Reads the parts that rec has. A broken part remains unknown, and the first failure is
 * returned. */
int roast__record_parts_read(struct roast_record_parts *parts, const roast_record *rec,
                             roast_error *err);

/* The value of one view of rec; NULL when it is absent. Borrows rec. */
struct roast_value roast__view_value(const struct roast_view *view,
                                     const roast_record *rec,
                                     const struct roast_record_parts *parts);

/* ---- values --------------------------------------------------------------------- */

static inline struct roast_value roast__text(struct roast_str str)
{
    return (struct roast_value){.type = ROAST_VALUE_TEXT, .str = str};
}

static inline struct roast_value roast__text_of(const char *str)
{
    return roast__text(roast_str_of(str));
}

static inline struct roast_value roast__count(uint64_t number)
{
    return (struct roast_value){.type = ROAST_VALUE_COUNT, .count = number};
}

static inline struct roast_value roast__number(double value)
{
    return (struct roast_value){.type = ROAST_VALUE_DOUBLE, .number = value};
}

static inline struct roast_value roast__seconds(uint64_t ns)
{
    return roast__number(roast_seconds(ns));
}

#endif

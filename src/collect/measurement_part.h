/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_part.h - a value of a document that is being read, and numbers in it.
 *
 * The rules are those of hand-made records in Python: a value of the wrong type is
 * absent, and a truth is a number. */
#ifndef ROAST_COLLECT_MEASUREMENT_PART_H
#define ROAST_COLLECT_MEASUREMENT_PART_H

#include "collect/json_walk.h"
#include "collect/measurement_texts.h"

/* A value that is being read. */
struct roast_part {
    struct roast_json_reader *in;
    const struct roast_json_token *value; /* its first token */
    struct roast_texts *texts;
    roast_error *err;
};

/* json_walk.h on a part. */
static inline int roast__part_entry(const struct roast_part *part,
                                    struct roast_str *key,
                                    struct roast_json_token *value)
{
    return roast__json_entry(part->in, key, value, part->err);
}

static inline int roast__part_item(const struct roast_part *part,
                                   struct roast_json_token *value)
{
    return roast__json_item(part->in, value, part->err);
}

static inline int roast__part_skip(const struct roast_part *part,
                                   const struct roast_json_token *value)
{
    return roast__json_skip(part->in, value, part->err);
}

/* A finite number; false for anything else. */
bool roast__value_number(const struct roast_json_token *value, double *number);

/* number x scale, rounded; 0 if it is negative or too large. */
uint64_t roast__whole_of(double number, double scale);

#endif

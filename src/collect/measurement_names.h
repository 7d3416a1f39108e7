/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_names.h - names that come again and again, by number. */
#ifndef ROAST_COLLECT_MEASUREMENT_NAMES_H
#define ROAST_COLLECT_MEASUREMENT_NAMES_H

#include "collect/measurement_part.h"

/* Zeroed = empty and valid. */
struct roast_name_set {
    struct roast_texts texts;
    struct roast_buf names; /* of struct roast_kept */
    struct roast_buf slots; /* of uint32_t: number + 1 by hash */
    size_t guess;           /* names mostly come in the order of the last time */
};

/* The number of a name, added when it is new; -1: out of memory. */
int64_t roast__name_set_number(struct roast_name_set *set, struct roast_str name);

/* Borrowed until the next is added. */
struct roast_str roast__name_set_get(const struct roast_name_set *set, size_t number);
size_t roast__name_set_count(const struct roast_name_set *set);
void roast__name_set_release(struct roast_name_set *set);

#endif

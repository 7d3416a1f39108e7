/* SPDX-License-Identifier: BSD-3-Clause */
/* section_help.h - the sections of a decoded record, found by name and parent. */
#ifndef ROAST_TESTS_PROBE_SECTION_HELP_H
#define ROAST_TESTS_PROBE_SECTION_HELP_H

#include "probe/attempt_help.h"

struct sections {
    size_t count;
    struct roast_section all[ROAST_SECTION_MAX_NODES];
};

/* Names borrow the record. */
static inline void read_sections(struct sections *out, const roast_record *rec)
{
    struct roast_str blob = rec->values[ROAST_FIELD_sections].str;

    out->count = 0;
    if (!roast_record_has(rec, ROAST_FIELD_sections))
        return;
    int64_t got = roast_sections_read(out->all, COUNT_OF(out->all), blob, NULL);
    assert_true(got > 0 && got <= ROAST_SECTION_MAX_NODES);
    out->count = (size_t)got;
}

static inline int32_t section_index(const struct sections *in, int32_t parent,
                                    const char *name)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->all[i].parent == parent && str_is(in->all[i].name, name))
            return (int32_t)i;
    }
    return -1;
}

/* The section at a path such as {"jets", "clean", NULL}; fails if there is none. */
static inline const struct roast_section *section_at(const struct sections *in,
                                                     const char *const *path)
{
    int32_t at = -1;

    for (; *path; path++) {
        at = section_index(in, at, *path);
        if (at < 0)
            fail_msg("no section %s", *path);
    }
    return &in->all[at];
}

#define SECTION(sections, ...) \
    section_at((sections), (const char *const[]){__VA_ARGS__, NULL})

#endif

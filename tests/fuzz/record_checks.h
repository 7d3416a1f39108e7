/* SPDX-License-Identifier: BSD-3-Clause */
/* record_checks.h - reads the ladder, branches, endpoints and file of any record. */
#ifndef ROAST_TESTS_FUZZ_RECORD_CHECKS_H
#define ROAST_TESTS_FUZZ_RECORD_CHECKS_H

#include "branch_checks.h"

static inline void read_endpoints(struct roast_str blob)
{
    struct roast_endpoint all[ROOM];
    int64_t got = roast_endpoints_read(all, ROOM, blob, NULL);

    PROMISE(got >= 0 || got == ROAST_BAD_DATA);
    PROMISE(got < 0 || (uint64_t)got <= blob.size_bytes);
    for (int64_t i = 0; i < got && i < ROOM; i++) {
        struct roast_str name = roast_endpoint_of(all[i].name);
        touch(name);
        PROMISE(name.size_bytes > 0);
    }
}

static inline void read_ladder(struct roast_str blob)
{
    char out[ROAST_LADDER_BOUND_BYTES];
    struct roast_ladder ladder, back;
    struct roast_split split;

    if (roast_ladder_read(&ladder, blob, NULL) < 0) {
        PROMISE(ladder.present == 0);
        return;
    }
    int64_t size = roast_ladder_write(out, sizeof(out), &ladder, NULL);
    PROMISE(size >= 0);
    PROMISE(roast_ladder_read(&back, (struct roast_str){out, (size_t)size}, NULL) == 0);
    PROMISE(back.present == ladder.present);
    if (roast_ladder_split(&split, 1000, ladder.values[ROAST_ITEM_form], &ladder))
        PROMISE(split.on_cpu_ns + split.runqueue_ns + split.fetch_wait_ns +
                    split.blocked_ns ==
                1000);
}

static inline void check_parts(const roast_record *rec)
{
    const union roast_field_value *v = rec->values;
    struct roast_file_facts facts;

    if (roast_record_has(rec, ROAST_FIELD_ladder))
        read_ladder(v[ROAST_FIELD_ladder].str);
    if (roast_record_has(rec, ROAST_FIELD_branches))
        read_branches(v[ROAST_FIELD_branches].str);
    if (roast_record_has(rec, ROAST_FIELD_file_branches))
        read_branches(v[ROAST_FIELD_file_branches].str);
    if (roast_record_has(rec, ROAST_FIELD_endpoints))
        read_endpoints(v[ROAST_FIELD_endpoints].str);
    if (roast_record_has(rec, ROAST_FIELD_file_facts) &&
        roast_file_facts_read(&facts, v[ROAST_FIELD_file_facts].str, NULL) == 0)
        PROMISE(facts.kind < ROAST_FILE_KIND_COUNT && facts.codec < ROAST_CODEC_COUNT);
}

#endif

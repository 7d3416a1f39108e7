/* SPDX-License-Identifier: BSD-3-Clause */
/* record_checks.h - shared by fuzz targets: PROMISE, and readers of the blobs of a record
 * that check what they read. */
#ifndef ROAST_TESTS_FUZZ_RECORD_CHECKS_H
#define ROAST_TESTS_FUZZ_RECORD_CHECKS_H

#include <stdlib.h>

#include "record/values.h"
#include "roast/ladder.h"

/* abort() and not assert(): the fuzz build is an optimised one. */
#define PROMISE(condition) \
    do { \
        if (!(condition)) \
            abort(); \
    } while (0)

static inline void copy_token(roast_values *copy, const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_NULL:
        roast_values_put_null(copy);
        break;
    case ROAST_VALUE_FALSE:
    case ROAST_VALUE_TRUE:
        roast_values_put_bool(copy, value->type == ROAST_VALUE_TRUE);
        break;
    case ROAST_VALUE_INT:
        roast_values_put_int(copy, value->integer);
        break;
    case ROAST_VALUE_DOUBLE:
        roast_values_put_double(copy, value->number);
        break;
    case ROAST_VALUE_TEXT:
        roast_values_put_text(copy, value->str);
        break;
    case ROAST_VALUE_BYTES:
        roast_values_put_bytes(copy, value->str);
        break;
    case ROAST_VALUE_LIST:
        roast_values_put_list(copy, value->count);
        break;
    case ROAST_VALUE_DICT:
        roast_values_put_dict(copy, value->count);
        break;
    case ROAST_VALUE_COUNT:
        PROMISE(false); /* in memory only */
    }
}

/* Writes a blob that was checked again, token by token. A list or dict is only counted:
 * what is left to read at each depth. */
static inline void copy_values(roast_values *copy, struct roast_str blob)
{
    uint64_t left[ROAST_VALUE_MAX_DEPTH + 1] = {0};
    bool keyed[ROAST_VALUE_MAX_DEPTH + 1] = {true};
    struct roast_value value;
    struct roast_str key;
    size_t depth = 0;

    while (depth > 0 || blob.size_bytes > 0) {
        if (depth > 0 && left[depth]-- == 0) {
            depth--;
            continue;
        }
        if (keyed[depth]) {
            PROMISE(roast_value_next_key(&key, &blob, NULL) == 1);
            roast_values_put_key(copy, key);
        }
        PROMISE(roast_value_next(&value, &blob, NULL) == 1);
        copy_token(copy, &value);
        if (value.type != ROAST_VALUE_LIST && value.type != ROAST_VALUE_DICT)
            continue;
        PROMISE(depth < ROAST_VALUE_MAX_DEPTH);
        left[++depth] = value.count;
        keyed[depth] = value.type == ROAST_VALUE_DICT;
    }
}

enum { ROOM = 64 };

/* Reads every byte, for the sanitizers to see. */
static inline void touch(struct roast_str str)
{
    static volatile unsigned char sum;

    for (size_t i = 0; i < str.size_bytes; i++)
        sum = (unsigned char)(sum + (unsigned char)str.data[i]);
}

/* The sizes are those that the bound promises, and what was written is read again. */
static inline void write_branches_again(const struct roast_branch *all, size_t count)
{
    struct roast_branch back[ROOM];
    size_t bound = ROAST_BRANCH_BOUND_BYTES;

    for (size_t i = 0; i < count; i++)
        bound += ROAST_BRANCH_BOUND_BYTES + all[i].name.size_bytes;
    char *out = malloc(bound);
    PROMISE(out);
    int64_t size = roast_branches_write(out, bound, all, count, NULL);
    PROMISE(size > 0);
    PROMISE(roast_branches_read(back, ROOM, (struct roast_str){out, (size_t)size},
                                NULL) == (int64_t)count);
    for (size_t i = 0; i < count; i++)
        PROMISE(back[i].flags == all[i].flags && back[i].ns == all[i].ns &&
                back[i].sizes_known == all[i].sizes_known);
    free(out);
}

static inline void read_branches(struct roast_str blob)
{
    struct roast_branch all[ROOM];
    struct roast_access access;
    int64_t got = roast_branches_read(all, ROOM, blob, NULL);
    size_t count = got > ROOM ? ROOM : (size_t)got;

    PROMISE(got >= 0 || got == ROAST_BAD_DATA);
    PROMISE(got < 0 || (uint64_t)got <= blob.size_bytes);
    PROMISE((roast_access_read(&access, blob, NULL) == ROAST_OK) == (got >= 0));
    PROMISE(access.sized_branches <= access.branches);
    if (got < 0)
        return;
    PROMISE(access.branches + access.offset_branches <= (uint64_t)got);
    for (size_t i = 0; i < count; i++)
        touch(all[i].name);
    write_branches_again(all, count);
}

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

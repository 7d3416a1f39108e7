/* SPDX-License-Identifier: BSD-3-Clause */
/* visit_parts.c - passes the packed parts of a record to a sink: sections, ladder,
 * branches, endpoints and the file.
 *
 *     timing, memory, bytes       {name: seconds, MiB, bytes}, summed over the chunk
 *     sections, memory_sections   one entry per (parent, name), in order of first use
 *     ladder, split               {slice: seconds}; each adds up to the attempt
 *     accessed_branches           names, sorted; offset_branches the same */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "record/visit.h"

/* ---- sections -------------------------------------------------------------------- */

struct sections {
    struct roast_section *all; /* owned */
    size_t count;
};

static struct sections read_sections(struct roast_visit *v)
{
    struct sections s = {NULL, 0};
    struct roast_str blob = roast__blob_of(v, ROAST_FIELD_sections);
    roast_error err = {0};

    if (!blob.data)
        return s;
    s.all = roast__alloc(ROAST_SECTION_MAX_NODES * sizeof(*s.all));
    if (!s.all) {
        roast__visit_no_memory(v, "sections of a record");
        return s;
    }
    int64_t got = roast_sections_read(s.all, ROAST_SECTION_MAX_NODES, blob, &err);
    if (got < 0)
        roast__visit_fail(v, (int)got, &err);
    else
        s.count = got < ROAST_SECTION_MAX_NODES ? (size_t)got : ROAST_SECTION_MAX_NODES;
    return s;
}

/* A section inside one of the same name and kind is already in the sum of that one. */
static bool is_nested_in_itself(const struct sections *s,
                                const struct roast_section *one)
{
    for (int32_t k = one->parent; k >= 0; k = s->all[k].parent) {
        if (s->all[k].kinds == one->kinds && roast__same_str(s->all[k].name, one->name))
            return true;
    }
    return false;
}

/* One of {name: seconds}, {name: MiB}, {name: bytes}. */
struct sum {
    const char *part;
    unsigned kinds;
};

static struct roast_value sum_of(const struct sections *s, const struct sum *sum,
                                 size_t first)
{
    double total = 0;
    uint64_t bytes = 0;

    for (size_t i = first; i < s->count; i++) {
        const struct roast_section *one = &s->all[i];
        if (!(one->kinds & sum->kinds) ||
            !roast__same_str(one->name, s->all[first].name) ||
            is_nested_in_itself(s, one))
            continue;
        bytes += one->bytes;
        total += sum->kinds & ROAST_SECTION_MEMORY ? roast_mib(one->memory_delta_bytes)
                                                   : roast_seconds(one->total_ns);
    }
    return sum->kinds & ROAST_SECTION_BYTES ? roast__count(bytes)
                                            : roast__number(total);
}

static void visit_sum(struct roast_visit *v, const struct sections *s,
                      const struct sum *sum)
{
    roast__part_open(v, sum->part);
    for (size_t i = 0; i < s->count; i++) {
        bool is_first =
            s->all[i].kinds & sum->kinds && !is_nested_in_itself(s, &s->all[i]);
        for (size_t k = 0; k < i && is_first; k++)
            is_first = !(s->all[k].kinds & sum->kinds) ||
                       !roast__same_str(s->all[k].name, s->all[i].name) ||
                       is_nested_in_itself(s, &s->all[k]);
        if (!is_first)
            continue;
        struct roast_value value = sum_of(s, sum, i);
        roast__part_key(v, s->all[i].name);
        v->sink->value(v->sink->context, &value);
    }
    roast__part_close(v);
}

static void visit_section(struct roast_visit *v, const struct sections *s,
                          const struct roast_section *one, bool with_memory)
{
    roast__open(v, ROAST_MAP);
    roast__put(v, "section_name", roast__text(one->name));
    if (with_memory) {
        roast__put(v, "memory_start_gb",
                   roast__number(roast_gb((int64_t)one->memory_start_bytes)));
        roast__put(v, "memory_end_gb",
                   roast__number(roast_gb((int64_t)one->memory_end_bytes)));
        roast__put(v, "memory_delta_gb",
                   roast__number(roast_gb(one->memory_delta_bytes)));
    }
    if (with_memory && one->kinds & ROAST_SECTION_PEAK)
        roast__put(v, "memory_peak_gb",
                   roast__number(roast_gb((int64_t)one->memory_peak_bytes)));
    roast__put(v, "time_delta", roast__seconds(one->total_ns));
    roast__put(v, "count", roast__count(one->count));
    if (!with_memory)
        roast__put(v, "self_time", roast__seconds(one->self_ns));
    roast__put(v, "depth", roast__count(one->depth));
    roast__put(v, "parent",
               one->parent >= 0 ? roast__text(s->all[one->parent].name)
                                : (struct roast_value){.type = ROAST_VALUE_NULL});
    roast__close(v, ROAST_MAP);
}

static void visit_section_list(struct roast_visit *v, const struct sections *s,
                               const char *key, unsigned kinds)
{
    roast__put_key(v, key);
    roast__open(v, ROAST_LIST);
    for (size_t i = 0; i < s->count; i++) {
        if (s->all[i].kinds & kinds)
            visit_section(v, s, &s->all[i], kinds & ROAST_SECTION_MEMORY);
    }
    roast__close(v, ROAST_LIST);
}

/* [name, start, duration] of the first passes, in seconds. An interval of a section that
 * does not exist is left out. */
static void visit_intervals(struct roast_visit *v, const struct sections *s)
{
    struct roast_interval all[ROAST_SECTION_MAX_INTERVALS];
    roast_error err = {0};
    int64_t got = roast_intervals_read(all, ROAST_SECTION_MAX_INTERVALS,
                                       roast__blob_of(v, ROAST_FIELD_intervals), &err);

    if (got < 0)
        roast__visit_fail(v, (int)got, &err);
    roast__put_key(v, "intervals");
    roast__open(v, ROAST_LIST);
    for (int64_t i = 0; i < got && i < ROAST_SECTION_MAX_INTERVALS; i++) {
        if (all[i].section >= s->count)
            continue;
        const struct roast_value item[] = {roast__text(s->all[all[i].section].name),
                                           roast__seconds(all[i].start_ns),
                                           roast__seconds(all[i].duration_ns)};
        roast__open(v, ROAST_LIST);
        for (size_t k = 0; k < 3; k++)
            v->sink->value(v->sink->context, &item[k]);
        roast__close(v, ROAST_LIST);
    }
    roast__close(v, ROAST_LIST);
}

void roast__visit_sections(struct roast_visit *v)
{
    static const struct sum sums[] = {
        {"timing", ROAST_SECTION_TIME | ROAST_SECTION_CALL},
        {"memory", ROAST_SECTION_MEMORY},
        {"bytes", ROAST_SECTION_BYTES},
    };
    struct sections s = read_sections(v);

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        visit_sum(v, &s, &sums[i]);
    visit_section_list(v, &s, "sections", ROAST_SECTION_TIME | ROAST_SECTION_CALL);
    visit_section_list(v, &s, "memory_sections", ROAST_SECTION_MEMORY);
    if (roast__has(v, ROAST_FIELD_sections) && roast__has(v, ROAST_FIELD_intervals))
        visit_intervals(v, &s);
    roast__free(s.all);
}

/* ---- ladder ---------------------------------------------------------------------- */

/* Seconds by slice, and the second split; each adds up to the attempt. */
void roast__visit_ladder(struct roast_visit *v, const struct roast_ladder *ladder)
{
    const union roast_field_value *values = v->rec->values;
    struct roast_split split;

    roast__part_open(v, "ladder");
    for (int i = 0; i < ROAST_SLICE_COUNT; i++) {
        enum roast_ladder_item slice = (enum roast_ladder_item)i;
        if (roast_ladder_has(ladder, slice))
            roast__part_put(v, roast_ladder_info(slice)->name,
                            roast__seconds(ladder->values[i]));
    }
    roast__part_close(v);
    if (!roast__has(v, ROAST_FIELD_task_ns) ||
        !roast__has(v, ROAST_FIELD_task_cpu_ns) ||
        !roast_ladder_split(&split, values[ROAST_FIELD_task_ns].u64,
                            values[ROAST_FIELD_task_cpu_ns].u64, ladder))
        return;
    roast__part_open(v, "split");
    roast__part_put(v, "on_cpu", roast__seconds(split.on_cpu_ns));
    roast__part_put(v, "runqueue", roast__seconds(split.runqueue_ns));
    if (split.fetch_known)
        roast__part_put(v, "fetch_wait", roast__seconds(split.fetch_wait_ns));
    roast__part_put(v, "blocked", roast__seconds(split.blocked_ns));
    roast__part_close(v);
}

/* ---- branches, endpoints and files ----------------------------------------------- */

/* All rows of a blob, owned; NULL after a failure, which is recorded. */
static void *read_rows(struct roast_visit *v, enum roast_field field, size_t *row_count)
{
    bool are_endpoints = field == ROAST_FIELD_endpoints;
    struct roast_str blob = roast__blob_of(v, field);
    roast_error err = {0};
    int64_t got = are_endpoints ? roast_endpoints_read(NULL, 0, blob, &err)
                                : roast_branches_read(NULL, 0, blob, &err);

    if (got < 0) {
        roast__visit_fail(v, (int)got, &err);
        return NULL;
    }
    *row_count = (size_t)got;
    void *rows =
        roast__alloc((*row_count + 1) * (are_endpoints ? sizeof(struct roast_endpoint)
                                                       : sizeof(struct roast_branch)));
    if (!rows)
        roast__visit_no_memory(v, "branches or endpoints of a record");
    else if (are_endpoints)
        (void)roast_endpoints_read(rows, *row_count, blob, NULL);
    else
        (void)roast_branches_read(rows, *row_count, blob, NULL);
    return rows;
}

static int by_name(const void *a, const void *b)
{
    const struct roast_str *left = &((const struct roast_branch *)a)->name;
    const struct roast_str *right = &((const struct roast_branch *)b)->name;
    size_t both =
        left->size_bytes < right->size_bytes ? left->size_bytes : right->size_bytes;
    int order = memcmp(left->data, right->data, both);

    if (order != 0)
        return order;
    return (left->size_bytes > right->size_bytes) -
           (left->size_bytes < right->size_bytes);
}

static void visit_names(struct roast_visit *v, const char *key,
                        const struct roast_branch *all, size_t branch_count,
                        bool (*is_wanted)(const struct roast_branch *branch))
{
    roast__put_key(v, key);
    roast__open(v, ROAST_LIST);
    for (size_t i = 0; i < branch_count; i++) {
        const struct roast_value name = roast__text(all[i].name);
        if (is_wanted(&all[i]))
            v->sink->value(v->sink->context, &name);
    }
    roast__close(v, ROAST_LIST);
}

void roast__visit_branches(struct roast_visit *v)
{
    size_t branch_count = 0;
    struct roast_branch *all = read_rows(v, ROAST_FIELD_branches, &branch_count);

    if (!all)
        return;
    roast__part_open(v, "branches");
    for (size_t i = 0; i < branch_count; i++) {
        roast__part_key(v, all[i].name);
        roast__open(v, ROAST_MAP);
        roast__put(v, "bytes", roast__count(all[i].bytes));
        roast__put(v, "uncompressed_bytes", roast__count(all[i].uncompressed_bytes));
        roast__put(v, "seconds", roast__seconds(all[i].ns));
        roast__put(v, "reads", roast__count(all[i].reads));
        roast__close(v, ROAST_MAP);
    }
    roast__part_close(v);
    qsort(all, branch_count, sizeof(*all), by_name);
    visit_names(v, "accessed_branches", all, branch_count, roast_branch_is_accessed);
    visit_names(v, "offset_branches", all, branch_count, roast_branch_is_offsets_only);
    roast__free(all);
}

void roast__visit_endpoints(struct roast_visit *v)
{
    size_t endpoint_count = 0;
    struct roast_endpoint *all = read_rows(v, ROAST_FIELD_endpoints, &endpoint_count);

    if (!all)
        return;
    roast__part_open(v, "endpoints");
    for (size_t i = 0; i < endpoint_count; i++) {
        roast__part_key(v, all[i].name);
        roast__open(v, ROAST_MAP);
        roast__put(v, "requests", roast__count(all[i].requests));
        roast__put(v, "ranges", roast__count(all[i].ranges));
        roast__put(v, "bytes", roast__count(all[i].bytes));
        roast__put(v, "wait", roast__seconds(all[i].wait_ns));
        roast__put(v, "errors", roast__count(all[i].errors));
        if (all[i].seeks > 0) /* else of a record without it */
            roast__put(v, "seeks", roast__count(all[i].seeks));
        roast__close(v, ROAST_MAP);
    }
    roast__part_close(v);
    roast__free(all);
}

static void visit_branch_bytes(struct roast_visit *v)
{
    size_t branch_count = 0;
    struct roast_branch *all = read_rows(v, ROAST_FIELD_file_branches, &branch_count);

    if (!all)
        return;
    roast__part_key(v, roast_str_of("branch_bytes"));
    roast__open(v, ROAST_MAP);
    for (size_t i = 0; i < branch_count; i++) {
        const struct roast_value bytes = roast__count(all[i].file_bytes);
        if (!all[i].sizes_known)
            continue;
        v->sink->key(v->sink->context, all[i].name);
        v->sink->value(v->sink->context, &bytes);
    }
    roast__close(v, ROAST_MAP);
    roast__free(all);
}

void roast__visit_file(struct roast_visit *v, const struct roast_file_facts *facts)
{
    const char *kind = roast_file_kind_name(facts->kind);
    const char *codec = roast_codec_name(facts->codec);
    double ratio = roast_file_ratio(facts);
    double factor = roast_file_factor(facts);

    roast__part_open(v, "file_metadata");
    if (roast__has(v, ROAST_FIELD_file))
        roast__part_put(v, "filename",
                        roast__text(roast__blob_of(v, ROAST_FIELD_file)));
    if (kind)
        roast__part_put(v, "kind", roast__text_of(kind));
    if (codec)
        roast__part_put(v, "codec", roast__text_of(codec));
    if (facts->sizes_known) {
        roast__part_put(v, "compressed_bytes", roast__count(facts->compressed_bytes));
        roast__part_put(v, "uncompressed_bytes",
                        roast__count(facts->uncompressed_bytes));
        roast__part_put(v, "total_tree_bytes", roast__count(facts->compressed_bytes));
    }
    if (!isnan(ratio))
        roast__part_put(v, "compression_ratio", roast__number(ratio));
    if (!isnan(factor))
        roast__part_put(v, "compression_factor", roast__number(factor));
    roast__part_put(v, "total_branches", roast__count(facts->branches));
    roast__part_put(v, "num_entries", roast__count(facts->entries));
    if (roast__has(v, ROAST_FIELD_file_branches))
        visit_branch_bytes(v);
    roast__part_close(v);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - the sections of all chunks, summed up by name.
 *
 * A section inside one of its own name adds to its passes and its own time, but not
 * again to the total: those seconds are in the outer one already. */
#include "record/sections.h"
#include "analyze/formulas.h"
#include "analyze/name_table.h"
#include "analyze/record_iter.h"
#include "base/array.h"
#include "base/mem.h"

enum { MOST_ANCESTORS = 256 }; /* more than the probe ever nests */

/* One name. */
struct named {
    uint64_t count;
    bool time_known; /* track_memory of 0.1.2 took none */
    double total_ns;
    double self_ns;
    double memory_bytes;
    bool memory_known;
    double bytes;
    bool bytes_known;
    uint64_t chunks;
    double max_ns; /* of one chunk */
    struct roast_quantiles per_chunk_ns;
    double chunk_ns; /* of the chunk that is read now */
    bool in_chunk;
};

struct sections {
    struct roast_name_table names;
    struct named *named; /* owned; by number */
    size_t cap;
    struct roast_section *tree; /* owned; of the chunk that is read now */
    size_t tree_cap;
    uint32_t *number;  /* owned; per section of the tree: its name */
    double process_ns; /* of all chunks that have sections */
    bool failed;
};

/* ---- names ----------------------------------------------------------------------- */

/* The number of a name, added when it is new; -1: out of memory. */
static int64_t number_of(struct sections *sections, struct roast_str name)
{
    size_t known = sections->names.count;
    struct roast_name_key key = {name, 0};
    struct named *named =
        roast__array_room(sections->named, &sections->cap, known, sizeof(named[0]));

    if (!named)
        return -1;
    sections->named = named;
    int64_t number = roast__name_number(&sections->names, key, ROAST_NO_GUESS);
    if (number == (int64_t)known)
        named[number] = (struct named){0};
    return number;
}

/* ---- the tree of one chunk ------------------------------------------------------- */

static bool make_room(struct sections *sections, size_t count)
{
    if (count <= sections->tree_cap)
        return true;
    roast__free(sections->tree);
    roast__free(sections->number);
    sections->tree = roast__alloc(count * sizeof(sections->tree[0]));
    sections->number = roast__alloc(count * sizeof(sections->number[0]));
    bool got = sections->tree && sections->number;
    sections->tree_cap = got ? count : 0;
    return got;
}

static bool inside_its_name(const struct sections *sections, size_t i)
{
    int32_t parent = sections->tree[i].parent;

    for (int up = 0; parent >= 0 && up < MOST_ANCESTORS; up++) {
        if (sections->number[parent] == sections->number[i])
            return true;
        parent = sections->tree[parent].parent;
    }
    return false;
}

static void add_section(struct sections *sections, size_t i)
{
    const struct roast_section *section = &sections->tree[i];
    struct named *named = &sections->named[sections->number[i]];

    named->count = roast__sat_count(named->count, section->count);
    named->self_ns += (double)section->self_ns;
    named->time_known |= roast__section_has_time(section);
    named->in_chunk = true;
    if (inside_its_name(sections, i))
        return;
    named->chunk_ns += (double)section->total_ns;
    if (section->kinds & ROAST_SECTION_MEMORY) {
        named->memory_known = true;
        named->memory_bytes += (double)section->memory_delta_bytes;
    }
    if (section->kinds & ROAST_SECTION_BYTES) {
        named->bytes_known = true;
        named->bytes += (double)section->bytes;
    }
}

/* A name is done with a chunk: its seconds there are one value. */
static void end_chunk(struct sections *sections, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct named *named = &sections->named[sections->number[i]];
        if (!named->in_chunk)
            continue;
        roast__quantiles_add(&named->per_chunk_ns, &named->chunk_ns, 1);
        sections->failed |= named->per_chunk_ns.failed;
        named->total_ns += named->chunk_ns;
        named->max_ns = fmax(named->max_ns, named->chunk_ns);
        named->chunks++;
        named->chunk_ns = 0;
        named->in_chunk = false;
    }
}

static void add_tree(struct sections *sections, struct roast_str blob)
{
    int64_t count = roast_sections_read(NULL, 0, blob, NULL);

    if (count <= 0)
        return; /* damaged, or none */
    if (!make_room(sections, (size_t)count)) {
        sections->failed = true;
        return;
    }
    (void)roast_sections_read(sections->tree, (size_t)count, blob, NULL);
    for (size_t i = 0; i < (size_t)count; i++) {
        int64_t number = number_of(sections, sections->tree[i].name);
        if (number < 0) {
            sections->failed = true;
            return;
        }
        sections->number[i] = (uint32_t)number;
    }
    for (size_t i = 0; i < (size_t)count; i++)
        add_section(sections, i);
    end_chunk(sections, (size_t)count);
}

/* ---- all ------------------------------------------------------------------------- */

void roast__summarize_sections(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_section_totals);
    struct sections sections = {0};

    const struct roast_column *duration =
        &ctx->run->attempts.columns[ROAST_COLUMN_duration_ns];
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(sections), .roles = ROAST_ROLES_COUNT};
    while (!sections.failed && roast__record_iter_next(&iter)) {
        sections.process_ns += (double)roast__column_get(duration, iter.row, 0);
        add_tree(&sections, iter.rec.values[ROAST_FIELD_sections].str);
    }
    ctx->summary->failed |= sections.failed;
    for (size_t i = 0; i < sections.names.count; i++) {
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_section_totals_name,
                         sections.names.keys[i].name);
        roast__fill_count(table, ROAST_COL_section_totals_count,
                          sections.named[i].count);
        if (sections.named[i].time_known) {
            double p99_ns = roast__quantiles_get(&sections.named[i].per_chunk_ns, 0.99);
            roast__fill_number(table, ROAST_COL_section_totals_total,
                               sections.named[i].total_ns / 1e9);
            roast__fill_number(table, ROAST_COL_section_totals_self,
                               sections.named[i].self_ns / 1e9);
            roast__fill_number(table, ROAST_COL_section_totals_mean,
                               sections.named[i].total_ns /
                                   (double)sections.named[i].count / 1e9);
            roast__fill_number(table, ROAST_COL_section_totals_max,
                               sections.named[i].max_ns / 1e9);
            roast__fill_number(table, ROAST_COL_section_totals_p99,
                               fmin(p99_ns, sections.named[i].max_ns) / 1e9);
            roast__fill_number(table, ROAST_COL_section_totals_share,
                               sections.named[i].total_ns / sections.process_ns);
        }
        if (sections.named[i].memory_known)
            roast__fill_number(table, ROAST_COL_section_totals_memory_delta_mb,
                               sections.named[i].memory_bytes / (1024.0 * 1024.0));
        if (sections.named[i].bytes_known)
            roast__fill_sum(table, ROAST_COL_section_totals_bytes,
                            sections.named[i].bytes);
        roast__fill_count(table, ROAST_COL_section_totals_chunks,
                          sections.named[i].chunks);
        roast__quantiles_release(&sections.named[i].per_chunk_ns);
    }
    roast__name_table_release(&sections.names);
    roast__free(sections.named);
    roast__free(sections.tree);
    roast__free(sections.number);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* sections.c - the sections of all chunks, summed by name.
 *
 * A section nested in one of the same name adds to its count and self time, but not to
 * the total, which already has these seconds from the outer one. */
#include "analyze/formulas.h"
#include "analyze/key_table.h"
#include "analyze/record_iter.h"
#include "base/array.h"

enum { MOST_ANCESTORS = 256 }; /* more than the probe ever nests */

/* The sections of one name. */
struct section_sums {
    uint64_t count;
    bool time_known; /* track_memory of 0.1.2 measured no time */
    double total_ns;
    double self_ns;
    double memory_bytes;
    bool memory_known;
    uint64_t peak_bytes; /* 0: not known */
    double bytes;
    bool bytes_known;
    uint64_t chunks;
    double max_ns; /* of one chunk */
    struct roast_quantiles per_chunk_ns;
    double chunk_ns; /* of the current chunk */
    bool in_chunk;
};

static bool is_nested_in_itself(const struct roast_section_list *list, size_t i)
{
    int32_t parent = list->all[i].parent;

    for (int up = 0; parent >= 0 && up < MOST_ANCESTORS; up++) {
        if (list->numbers[parent] == list->numbers[i])
            return true;
        parent = list->all[parent].parent;
    }
    return false;
}

static void add_section(struct section_sums *sums, const struct roast_section *section,
                        bool is_outermost)
{
    sums->count = roast__sat_count(sums->count, section->count);
    sums->self_ns += (double)section->self_ns;
    sums->time_known |= roast__section_has_time(section);
    sums->in_chunk = true;
    if (section->memory_peak_bytes > sums->peak_bytes)
        sums->peak_bytes = section->memory_peak_bytes;
    if (!is_outermost)
        return;
    sums->chunk_ns += (double)section->total_ns;
    if (section->kinds & ROAST_SECTION_MEMORY) {
        sums->memory_known = true;
        sums->memory_bytes += (double)section->memory_delta_bytes;
    }
    if (section->kinds & ROAST_SECTION_BYTES) {
        sums->bytes_known = true;
        sums->bytes += (double)section->bytes;
    }
}

/* Adds the seconds of a chunk as one value, at its end. */
static void end_chunk(struct section_sums *sums)
{
    if (!sums->in_chunk)
        return; /* another section of this name has done it */
    roast__quantiles_add(&sums->per_chunk_ns, sums->chunk_ns);
    sums->total_ns += sums->chunk_ns;
    sums->max_ns = fmax(sums->max_ns, sums->chunk_ns);
    sums->chunks++;
    sums->chunk_ns = 0;
    sums->in_chunk = false;
}

/* False when out of memory. */
static bool add_chunk(struct roast_key_table *names, struct roast_section_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        int64_t number = roast__key_number(
            names, (struct roast_key){.name = list->all[i].name}, ROAST_NO_HINT);
        if (number < 0)
            return false;
        list->numbers[i] = (uint32_t)number;
    }
    struct section_sums *sums = names->values;
    bool failed = false;
    for (size_t i = 0; i < list->count; i++)
        add_section(&sums[list->numbers[i]], &list->all[i],
                    !is_nested_in_itself(list, i));
    for (size_t i = 0; i < list->count; i++) {
        end_chunk(&sums[list->numbers[i]]);
        failed |= sums[list->numbers[i]].per_chunk_ns.failed;
    }
    return !failed;
}

static void put_name(roast_table *table, struct roast_str name,
                     struct section_sums *sums, double process_ns)
{
    roast__table_row(table);
    roast__fill_text(table, ROAST_COL_section_totals_name, name);
    roast__fill_count(table, ROAST_COL_section_totals_count, sums->count);
    if (sums->time_known) {
        double p99_ns = roast__quantiles_get(&sums->per_chunk_ns, 0.99);
        roast__fill_number(table, ROAST_COL_section_totals_total, sums->total_ns / 1e9);
        roast__fill_number(table, ROAST_COL_section_totals_self, sums->self_ns / 1e9);
        roast__fill_number(table, ROAST_COL_section_totals_mean,
                           sums->total_ns / (double)sums->count / 1e9);
        roast__fill_number(table, ROAST_COL_section_totals_max, sums->max_ns / 1e9);
        roast__fill_number(table, ROAST_COL_section_totals_p99,
                           fmin(p99_ns, sums->max_ns) / 1e9);
        roast__fill_number(table, ROAST_COL_section_totals_share,
                           sums->total_ns / process_ns);
    }
    if (sums->memory_known)
        roast__fill_number(table, ROAST_COL_section_totals_memory_delta_mb,
                           sums->memory_bytes / (1024.0 * 1024.0));
    if (sums->peak_bytes > 0)
        roast__fill_number(table, ROAST_COL_section_totals_memory_peak_mb,
                           (double)sums->peak_bytes / (1024.0 * 1024.0));
    if (sums->bytes_known)
        roast__fill_sum(table, ROAST_COL_section_totals_bytes, sums->bytes);
    roast__fill_count(table, ROAST_COL_section_totals_chunks, sums->chunks);
}

void roast__summarize_sections(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_section_totals);
    const struct roast_column *duration =
        &ctx->run->attempts.columns[ROAST_COLUMN_duration_ns];
    struct roast_key_table names = {.value_bytes = sizeof(struct section_sums)};
    struct roast_section_list list = {0};
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(sections), .roles = ROAST_ROLES_COUNT};
    double process_ns = 0; /* of all chunks with sections */
    bool done = true;

    while (done && roast__record_iter_next(&iter)) {
        process_ns += (double)roast__column_get(duration, iter.row, 0);
        done = roast__record_sections(&list, &iter.rec) && add_chunk(&names, &list);
    }
    ctx->summary->failed |= !done;
    for (size_t i = 0; i < names.count; i++) {
        struct section_sums *sums = (struct section_sums *)names.values + i;
        put_name(table, names.keys[i].name, sums, process_ns);
        roast__quantiles_release(&sums->per_chunk_ns);
    }
    roast__key_table_release(&names);
    roast__section_list_release(&list);
}

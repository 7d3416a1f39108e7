/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - what each branch cost, over all chunks and files.
 *
 * Bytes are those requested from storage. What no chunk that read a branch could count
 * is absent, not 0. */
#include <stdlib.h>

#include "aggregate/formulas.h"
#include "aggregate/name_table.h"
#include "aggregate/walk.h"
#include "base/mem.h"
#include "store/array.h"

static const char *const columns[] = {
    "branch", "bytes",    "uncompressed_bytes", "seconds",   "reads",
    "chunks", "accessed", "offsets_only",       "preloaded",
};

/* One branch. */
struct cost {
    struct roast_str name; /* borrows the run */
    unsigned flags;
    bool preloadable; /* somebody looked at it in a file that allows bulk reads */
    bool known;       /* seconds and reads */
    bool bytes_known;
    bool unpacked_known; /* uncompressed bytes */
    uint64_t chunks;
    double bytes;
    double uncompressed_bytes;
    double ns;
    double reads;
};

struct costs {
    struct roast_name_table names;
    struct cost *all; /* owned; by number of the name, until they are sorted */
    size_t cap;
    bool known; /* some record says what it read */
    bool failed;
};

/* ---- sums ------------------------------------------------------------------------ */

/* The number of a name, added when it is new; -1: out of memory. */
static int64_t number_of(struct costs *costs, struct roast_str name, int64_t guess)
{
    size_t known = costs->names.count;
    struct cost *all =
        roast__array_room(costs->all, &costs->cap, known, sizeof(all[0]));

    if (!all)
        return -1;
    costs->all = all;
    int64_t number =
        roast__name_number(&costs->names, (struct roast_name_key){name, 0}, guess);
    if (number == (int64_t)known)
        all[number] = (struct cost){.name = name};
    return number;
}

/* What the zeros of a record mean; without these they mean that nobody looked. */
struct told {
    bool all;         /* no read is none */
    bool bytes;       /* and a read of no bytes is one */
    bool preloadable; /* coffea can read it in bulk: not from parquet */
};

static void add_branch(struct cost *cost, const struct roast_branch *branch,
                       struct told told)
{
    bool not_read = told.all && branch->reads == 0; /* a cache had it */
    bool told_bytes = told.bytes || not_read;

    cost->flags |= branch->flags;
    cost->preloadable |=
        told.preloadable && (roast_flags_say_accessed(branch->flags) ||
                             roast_flags_say_offsets_only(branch->flags));
    cost->known |= told.all || branch->reads > 0 || branch->ns > 0;
    cost->bytes_known |= told_bytes || branch->bytes > 0;
    cost->unpacked_known |= told_bytes || branch->uncompressed_bytes > 0;
    cost->chunks++;
    cost->bytes += (double)branch->bytes;
    cost->uncompressed_bytes += (double)branch->uncompressed_bytes;
    cost->ns += (double)branch->ns;
    cost->reads += (double)branch->reads;
}

static bool is_preloadable(const struct roast_walk *walk)
{
    struct roast_file_facts facts;

    return !roast__walk_facts(walk, &facts) || facts.kind != ROAST_FILE_PARQUET;
}

static void read_all(struct costs *costs, const struct roast_study *study)
{
    struct roast_walk walk = {
        .study = study, .fields = ROAST_FIELDS_OF_READS, .roles = ROAST_ROLES_COUNT};
    struct roast_branch_list list = {0};

    while (!costs->failed && roast__walk_next(&walk)) {
        struct told told = {roast__walk_looked_into(&walk),
                            roast__walk_knows_bytes(&walk), is_preloadable(&walk)};
        int64_t number = ROAST_NO_GUESS;
        if (!roast__walk_branches(&walk, &list))
            continue;
        costs->known = true;
        for (size_t i = 0; i < list.count && !costs->failed; i++) {
            number = number_of(costs, list.all[i].name, number + 1);
            if (number < 0)
                costs->failed = true;
            else
                add_branch(&costs->all[number], &list.all[i], told);
        }
    }
    roast__free(list.all);
}

/* ---- tables ---------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    const struct cost *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    if (left->ns != right->ns)
        return left->ns > right->ns ? -1 : 1;
    return roast__compare_names(left->name, right->name);
}

static int by_name(const void *a, const void *b)
{
    return roast__compare_names(((const struct cost *)a)->name,
                                ((const struct cost *)b)->name);
}

static void put_cost(const struct roast_study *study, size_t table,
                     const struct cost *cost)
{
    struct roast_cell *row = roast__table_row(study->summary, table);

    row[0] = roast__cell_text(study->summary, cost->name);
    if (cost->bytes_known)
        row[1] = roast__cell_sum(cost->bytes);
    if (cost->unpacked_known)
        row[2] = roast__cell_sum(cost->uncompressed_bytes);
    if (cost->known) {
        row[3] = roast__cell_number(cost->ns / 1e9);
        row[4] = roast__cell_sum(cost->reads);
    }
    row[5] = roast__cell_count(cost->chunks);
    row[6] = roast__cell_bool(roast_flags_say_accessed(cost->flags));
    row[7] = roast__cell_bool(roast_flags_say_offsets_only(cost->flags));
    row[8] = roast__cell_bool(cost->flags & ROAST_BRANCH_PRELOADED);
}

/* Everything that somebody looked at: read in bulk it would cover the run. */
static void put_preload(const struct roast_study *study, const struct costs *costs)
{
    static const char *const names[] = {"branch"};
    size_t table =
        roast__table_open(study->summary, "preload", ROAST_TABLE_VALUES, names, 1);
    bool any = false;

    for (size_t i = 0; i < costs->names.count; i++) {
        if (!costs->all[i].preloadable)
            continue;
        *roast__table_row(study->summary, table) =
            roast__cell_text(study->summary, costs->all[i].name);
        any = true;
    }
    if (!any && costs->names.count > 0)
        roast__summary_miss(study->summary, "preload",
                            "coffea reads nothing in bulk from parquet files");
}

static void put_all(const struct roast_study *study, struct costs *costs)
{
    size_t count = costs->names.count, accessed = 0;
    size_t table = roast__table_open(study->summary, "branch_costs", ROAST_TABLE_KEYED,
                                     columns, sizeof(columns) / sizeof(columns[0]));

    if (count > 0)
        qsort(costs->all, count, sizeof(costs->all[0]), by_bytes);
    for (size_t i = 0; i < count; i++) {
        put_cost(study, table, &costs->all[i]);
        accessed += roast_flags_say_accessed(costs->all[i].flags);
    }
    if (count > 0)
        qsort(costs->all, count, sizeof(costs->all[0]), by_name);
    put_preload(study, costs);
    if (costs->known)
        roast__study_set(study, ROAST_METRIC_total_branches_read, (double)accessed);
}

void roast__study_branches(const struct roast_study *study)
{
    struct costs costs = {0};

    read_all(&costs, study);
    study->summary->failed |= costs.failed;
    put_all(study, &costs);
    roast__name_table_release(&costs.names);
    roast__free(costs.all);
}

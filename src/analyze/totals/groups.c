/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - the tables per dataset and per file, and the common part of such tables.
 *
 * totals.c has sums per source and per process; here those with the same key are
 * joined. */
#include "analyze/totals/groups.h"

#include "analyze/formulas.h"
#include "base/mem.h"

/* ---- shared columns -------------------------------------------------------------- */

enum {
#define SHARED(name, upper) \
    upper = ROAST_COL_datasets_##name - ROAST_COL_datasets_num_chunks
    SHARED(num_chunks, NUM_CHUNKS),
    SHARED(num_attempts, NUM_ATTEMPTS),
    SHARED(failures, FAILURES),
    SHARED(total_duration, TOTAL_DURATION),
    SHARED(mean_duration, MEAN_DURATION),
    SHARED(min_duration, MIN_DURATION),
    SHARED(max_duration, MAX_DURATION),
    SHARED(total_events, TOTAL_EVENTS),
    SHARED(mean_events_per_chunk, MEAN_EVENTS_PER_CHUNK),
    SHARED(total_bytes, TOTAL_BYTES),
    SHARED(cpu_seconds, CPU_SECONDS),
    SHARED(events_per_second, EVENTS_PER_SECOND),
#undef SHARED
};

void roast__fill_group(roast_table *table, int first, const struct roast_group *group)
{
    double timed = (double)(group->chunks - group->without[ROAST_DURATION_NS]);
    double counted = (double)(group->chunks - group->without[ROAST_EVENTS]);
    double with_cpu = (double)(group->chunks - group->without[ROAST_CPU_NS]);
    bool bytes = group->chunks > 0 && group->without[ROAST_BYTES] == 0;
    bool both =
        group->without[ROAST_DURATION_NS] == 0 && group->without[ROAST_EVENTS] == 0;

    roast__fill_count(table, first + NUM_CHUNKS, (uint64_t)group->chunks + group->bare);
    roast__fill_count(table, first + NUM_ATTEMPTS, roast__group_attempts(group));
    roast__fill_count(table, first + FAILURES, group->failures);
    roast__fill_number(table, first + TOTAL_DURATION,
                       timed > 0 ? group->sums[ROAST_DURATION_NS] / 1e9 : NAN);
    roast__fill_number(table, first + MEAN_DURATION,
                       group->sums[ROAST_DURATION_NS] / timed / 1e9);
    roast__fill_number(table, first + MIN_DURATION, group->shortest_ns / 1e9);
    roast__fill_number(table, first + MAX_DURATION, group->longest_ns / 1e9);
    double events = group->sums[ROAST_EVENTS] + group->bare_events;
    if (counted > 0 || group->bare > group->bare_unknown)
        roast__fill_sum(table, first + TOTAL_EVENTS, events);
    roast__fill_number(table, first + MEAN_EVENTS_PER_CHUNK,
                       group->sums[ROAST_EVENTS] / counted);
    if (bytes)
        roast__fill_sum(table, first + TOTAL_BYTES, group->sums[ROAST_BYTES]);
    roast__fill_number(table, first + CPU_SECONDS,
                       with_cpu > 0 ? group->sums[ROAST_CPU_NS] / 1e9 : NAN);
    roast__fill_number(table, first + EVENTS_PER_SECOND,
                       both ? group->sums[ROAST_EVENTS] /
                                  (group->sums[ROAST_DURATION_NS] / 1e9)
                            : NAN);
}

/* ---- keys ------------------------------------------------------------------------ */

bool roast__keys_join(struct roast_keys *keys, const struct roast_group *items,
                      size_t count, roast_key_of *key_of, const void *context)
{
    struct roast_key_table table = {.keys = NULL};

    keys->key_of = roast__alloc(count * sizeof(keys->key_of[0]));
    keys->first_item = roast__alloc(count * sizeof(keys->first_item[0]));
    keys->groups = roast__alloc(count * sizeof(keys->groups[0]));
    bool done = keys->key_of && keys->first_item && keys->groups;
    for (size_t i = 0; done && i < count; i++) {
        keys->key_of[i] = -1;
        if (roast__group_attempts(&items[i]) == 0)
            continue;
        int64_t key = roast__key_number(&table, key_of(context, i), ROAST_NO_HINT);
        done = key >= 0;
        if (!done)
            break;
        if ((size_t)key == keys->count) {
            roast__group_init(&keys->groups[key]);
            keys->first_item[key] = (int32_t)i;
        }
        keys->count = table.count;
        keys->key_of[i] = (int32_t)key;
        roast__group_add(&keys->groups[key], &items[i]);
    }
    roast__key_table_release(&table);
    return done;
}

void roast__keys_release(struct roast_keys *keys)
{
    roast__free(keys->key_of);
    roast__free(keys->first_item);
    roast__free(keys->groups);
    *keys = (struct roast_keys){0};
}

bool roast__join_sources(struct roast_keys *keys,
                         const struct roast_summary_context *ctx, roast_key_of *key_of)
{
    return roast__keys_join(keys, ctx->totals->of_source,
                            ctx->run->attempts.source_count + 1, key_of,
                            &ctx->run->attempts);
}

/* ---- datasets and files ---------------------------------------------------------- */

const struct roast_source *roast__source_item(const struct roast_attempts *attempts,
                                              size_t item)
{
    static const struct roast_source none = {
        .dataset = ROAST_NO_STRING, .file = ROAST_NO_STRING, .tree = ROAST_NO_STRING};

    return item > 0 ? &attempts->sources[item - 1] : &none;
}

static struct roast_key key_of_dataset(const void *attempts, size_t item)
{
    return (struct roast_key){
        .a = (uint32_t)roast__source_item(attempts, item)->dataset};
}

struct roast_key roast__key_of_file(const void *attempts, size_t item)
{
    return (struct roast_key){.a = (uint32_t)roast__source_item(attempts, item)->file};
}

struct roast_key roast__key_of_dataset_file(const void *attempts, size_t item)
{
    const struct roast_source *source = roast__source_item(attempts, item);

    return (struct roast_key){.a = (uint32_t)source->dataset,
                              .b = (uint32_t)source->file};
}

static struct roast_str name_of(const struct roast_summary_context *ctx, int32_t name,
                                const char *unknown)
{
    return name == ROAST_NO_STRING ? roast_str_of(unknown)
                                   : roast__context_text(ctx, name);
}

static void put_datasets(const struct roast_summary_context *ctx,
                         const struct roast_keys *keys)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_datasets);

    for (size_t i = 0; i < keys->count; i++) {
        int32_t name =
            roast__source_item(&ctx->run->attempts, (size_t)keys->first_item[i])
                ->dataset;
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_datasets_dataset,
                         name_of(ctx, name, "unknown")); /* as in 0.1.2 */
        roast__fill_group(table, ROAST_COL_datasets_num_chunks, &keys->groups[i]);
        if (keys->groups[i].chunks > 0 && keys->groups[i].without[ROAST_OUTPUT] == 0)
            roast__fill_sum(table, ROAST_COL_datasets_output_bytes,
                            keys->groups[i].sums[ROAST_OUTPUT]);
    }
}

static void put_files(const struct roast_summary_context *ctx,
                      const struct roast_keys *keys)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_per_file);
    bool *shared = roast__alloc(keys->count * sizeof(shared[0]));

    ctx->summary->failed |= !shared;
    /* A file of two datasets has no dataset of its own: it is absent. */
    for (size_t i = 0; shared && i <= attempts->source_count; i++) {
        int32_t key = keys->key_of[i];
        if (key >= 0 &&
            roast__source_item(attempts, i)->dataset !=
                roast__source_item(attempts, (size_t)keys->first_item[key])->dataset)
            shared[key] = true;
    }
    for (size_t i = 0; shared && i < keys->count; i++) {
        const struct roast_source *first =
            roast__source_item(attempts, (size_t)keys->first_item[i]);
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_per_file_file,
                         name_of(ctx, first->file, "(unknown)"));
        roast__fill_group(table, ROAST_COL_per_file_num_chunks, &keys->groups[i]);
        if (!shared[i])
            roast__fill_text(table, ROAST_COL_per_file_dataset,
                             roast__context_text(ctx, first->dataset));
    }
    roast__free(shared);
}

void roast__summarize_groups(const struct roast_summary_context *ctx)
{
    struct roast_keys datasets = {0}, files = {0};

    if (roast__join_sources(&datasets, ctx, key_of_dataset) &&
        roast__join_sources(&files, ctx, roast__key_of_file)) {
        put_datasets(ctx, &datasets);
        put_files(ctx, &files);
    } else {
        ctx->summary->failed = true;
    }
    roast__keys_release(&datasets);
    roast__keys_release(&files);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - the tables per dataset and per file, and what all such tables share.
 *
 * totals.c summed up every file and every process; here those with the same name are
 * put together. */
#include "analyze/totals/groups.h"

#include "analyze/formulas.h"
#include "base/hash_table.h"
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

struct joining {
    struct roast_keys *keys;
    const struct roast_key_rule *rule;
    struct roast_hash_table slots; /* owned; numbers of keys */
};

static uint64_t hash_key(const void *table, uint32_t key)
{
    const struct joining *joining = table;
    size_t item = (size_t)joining->keys->first_item[key];

    return joining->rule->hash(joining->rule->context, item);
}

/* The number of an item's key, added when it is new; -1: out of memory. */
static int32_t key_for(struct joining *joining, size_t item)
{
    const struct roast_key_rule *rule = joining->rule;
    struct roast_keys *keys = joining->keys;
    struct roast_hash_table *slots = &joining->slots;

    if (!roast__hash_room(slots, keys->count, hash_key, joining))
        return -1;
    uint64_t hash = rule->hash(rule->context, item);
    for (size_t at = roast__hash_first(slots, hash); roast__hash_holds(slots, at);
         at = roast__hash_next(slots, at)) {
        uint32_t key = roast__hash_item(slots, at);
        if (rule->same(rule->context, (size_t)keys->first_item[key], item))
            return (int32_t)key;
    }
    roast__hash_put(slots, hash, (uint32_t)keys->count);
    keys->first_item[keys->count] = (int32_t)item;
    roast__group_init(&keys->groups[keys->count]);
    return (int32_t)keys->count++;
}

bool roast__keys_join(struct roast_keys *keys, const struct roast_group *items,
                      size_t count, const struct roast_key_rule *rule)
{
    struct joining joining = {.keys = keys, .rule = rule};

    keys->key_of = roast__alloc(count * sizeof(keys->key_of[0]));
    keys->first_item = roast__alloc(count * sizeof(keys->first_item[0]));
    keys->groups = roast__alloc(count * sizeof(keys->groups[0]));
    bool done = keys->key_of && keys->first_item && keys->groups;
    for (size_t i = 0; done && i < count; i++) {
        keys->key_of[i] = -1;
        if (roast__group_attempts(&items[i]) == 0)
            continue;
        keys->key_of[i] = key_for(&joining, i);
        done = keys->key_of[i] >= 0;
        if (done)
            roast__group_add(&keys->groups[keys->key_of[i]], &items[i]);
    }
    roast__hash_release(&joining.slots);
    return done;
}

void roast__keys_release(struct roast_keys *keys)
{
    roast__free(keys->key_of);
    roast__free(keys->first_item);
    roast__free(keys->groups);
    *keys = (struct roast_keys){0};
}

/* ---- datasets and files ---------------------------------------------------------- */

/* Item 0 stands for all rows without a source, the others are source + 1. */
static int32_t dataset_of(const struct roast_attempts *attempts, size_t item)
{
    return item > 0 ? attempts->sources[item - 1].dataset : ROAST_NO_STRING;
}

static int32_t file_of(const struct roast_attempts *attempts, size_t item)
{
    return item > 0 ? attempts->sources[item - 1].file : ROAST_NO_STRING;
}

static bool same_dataset(const void *context, size_t a, size_t b)
{
    return dataset_of(context, a) == dataset_of(context, b);
}

static uint64_t hash_dataset(const void *context, size_t item)
{
    return roast__hash_number((uint32_t)dataset_of(context, item));
}

static bool same_file(const void *context, size_t a, size_t b)
{
    return file_of(context, a) == file_of(context, b);
}

static uint64_t hash_file(const void *context, size_t item)
{
    return roast__hash_number((uint32_t)file_of(context, item));
}

struct roast_key_rule roast__by_file(const struct roast_attempts *attempts)
{
    return (struct roast_key_rule){attempts, same_file, hash_file};
}

static struct roast_str name_of(const struct roast_summary_context *ctx, int32_t name)
{
    return name == ROAST_NO_STRING ? roast_str_of("(unknown)")
                                   : roast__context_text(ctx, name);
}

static void put_datasets(const struct roast_summary_context *ctx,
                         const struct roast_keys *keys)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_datasets);

    for (size_t i = 0; i < keys->count; i++) {
        int32_t name = dataset_of(&ctx->run->attempts, (size_t)keys->first_item[i]);
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_datasets_dataset, name_of(ctx, name));
        roast__fill_group(table, ROAST_COL_datasets_num_chunks, &keys->groups[i]);
    }
}

static void put_files(const struct roast_summary_context *ctx,
                      const struct roast_keys *keys)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_per_file);
    bool *shared = roast__alloc(keys->count * sizeof(shared[0]));

    if (shared) {
        /* A file that two datasets share has no one dataset: it is unknown. */
        for (size_t i = 0; i <= attempts->source_count; i++) {
            int32_t key = keys->key_of[i];
            if (key >= 0 && dataset_of(attempts, i) !=
                                dataset_of(attempts, (size_t)keys->first_item[key]))
                shared[key] = true;
        }
    } else
        ctx->summary->failed = true;
    for (size_t i = 0; shared && i < keys->count; i++) {
        size_t first = (size_t)keys->first_item[i];
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_per_file_file,
                         name_of(ctx, file_of(attempts, first)));
        roast__fill_group(table, ROAST_COL_per_file_num_chunks, &keys->groups[i]);
        if (!shared[i])
            roast__fill_text(table, ROAST_COL_per_file_dataset,
                             roast__context_text(ctx, dataset_of(attempts, first)));
    }
    roast__free(shared);
}

static void put_sources(const struct roast_summary_context *ctx,
                        const struct roast_key_rule *rule,
                        void put(const struct roast_summary_context *,
                                 const struct roast_keys *))
{
    struct roast_keys keys = {0};

    if (roast__keys_join(&keys, ctx->totals->of_source,
                         ctx->run->attempts.source_count + 1, rule))
        put(ctx, &keys);
    else
        ctx->summary->failed = true;
    roast__keys_release(&keys);
}

void roast__summarize_groups(const struct roast_summary_context *ctx)
{
    const struct roast_attempts *attempts = &ctx->run->attempts;
    const struct roast_key_rule by_dataset = {attempts, same_dataset, hash_dataset};
    const struct roast_key_rule by_file = roast__by_file(attempts);

    put_sources(ctx, &by_dataset, put_datasets);
    put_sources(ctx, &by_file, put_files);
}

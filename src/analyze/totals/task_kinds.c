/* SPDX-License-Identifier: BSD-3-Clause */
/* task_kinds.c - what each task that a scheduler saw was for.
 *
 * Names alone are ambiguous: the prefix of a processor is the name of its class, or with
 * compression off that of coffea's wrapper, which also counts entries of files. So
 * a prefix is the processor's if an attempt of the run was a task of it. Under a name
 * of coffea both may stand: there only the keys that have attempts are chunks. To ask a
 * file in vain leaves an attempt too, but not at a chunk. */
#include "analyze/totals/task_kinds.h"

#include <string.h>

#include "analyze/roles.h"
#include "base/mem.h"
#include "base/str.h"

/* What coffea sends under names of its own. */
static const struct {
    const char *prefix;
    enum roast_task_kind kind;
} coffeas[] = {
    {"automatic_retries", ROAST_KIND_preprocess},
    {"get_metadata", ROAST_KIND_preprocess},
    {"reduce", ROAST_KIND_reduce},
    {"lambda", ROAST_KIND_broadcast},
};

static enum roast_task_kind kind_of_name(struct roast_str prefix)
{
    for (size_t i = 0; i < sizeof(coffeas) / sizeof(coffeas[0]); i++) {
        if (roast__str_is(prefix, coffeas[i].prefix))
            return coffeas[i].kind;
    }
    return ROAST_KIND_other;
}

/* ---- tasks that were attempts ---------------------------------------------------- */

enum { NOT_ASKED = ROAST_KIND_COUNT, LISTED_FIRST = 4 };

/* For nearly all tasks the prefix is enough. For the others it matters whether they were
 * attempts: those are few, so they are the ones to be hashed. */
struct looking {
    const struct roast_run *run;
    unsigned char *of_prefix;       /* owned; the kind, by the number of its text */
    struct roast_hash_table listed; /* owned; the first task of a key on a worker */
    size_t listed_count;
    bool *was_attempt; /* owned; of those that are in the slots */
};

/* Hashes of two keys may be equal; seldom on the same worker. */
static uint64_t hash_pair(uint64_t key_hash, int32_t worker)
{
    return roast__hash_number(key_hash ^ (uint64_t)(uint32_t)worker << 32);
}

static uint64_t hash_of(const void *table, uint32_t task)
{
    const struct roast_tasks *tasks = table;
    return hash_pair(tasks->key_hash[task], tasks->worker[task]);
}

enum { NO_TASK = -1 };

/* The task of a key on a worker that stands in the slots, or NO_TASK. */
static int64_t find_listed(const struct looking *looking, uint64_t key_hash,
                           int32_t worker)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    const struct roast_hash_table *slots = &looking->listed;

    if (looking->listed_count == 0)
        return NO_TASK;
    for (size_t at = roast__hash_first(slots, hash_pair(key_hash, worker));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t task = roast__hash_item(slots, at);
        if (tasks->key_hash[task] == key_hash && tasks->worker[task] == worker)
            return task;
    }
    return NO_TASK;
}

/* False when out of memory. */
static bool list_task(struct looking *looking, size_t task)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;

    if (find_listed(looking, tasks->key_hash[task], tasks->worker[task]) != NO_TASK)
        return true;
    if (!roast__hash_room(&looking->listed, looking->listed_count++, hash_of, tasks))
        return false;
    roast__hash_put(&looking->listed, hash_of(tasks, (uint32_t)task), (uint32_t)task);
    return true;
}

static void answer(struct looking *looking)
{
    const struct roast_attempts *attempts = &looking->run->attempts;
    const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];

    if (keys->known == 0 || looking->listed_count == 0)
        return;
    for (size_t row = 0; row < attempts->count; row++) {
        if (!roast__column_has(keys, row))
            continue;
        int64_t task = find_listed(looking, (uint64_t)keys->values[row],
                                   attempts->processes[attempts->process[row]].worker);
        if (task != NO_TASK && !roast__is_file_try(looking->run, row))
            looking->was_attempt[task] = true;
    }
}

static bool was_attempt(const struct looking *looking, size_t task)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    int64_t listed = find_listed(looking, tasks->key_hash[task], tasks->worker[task]);

    return listed != NO_TASK && looking->was_attempt[listed];
}

/* ---- kinds ----------------------------------------------------------------------- */

static bool is_ours(const struct roast_tasks *tasks, size_t task)
{
    return (tasks->end[task] & ROAST_TASK_OURS) != 0;
}

/* Whether an attempt that was a task of it would make a prefix the processor's. */
static bool may_be_processors(const struct looking *looking, int32_t prefix)
{
    return prefix >= 0 && looking->of_prefix[prefix] == ROAST_KIND_other;
}

/* All whose prefix is not enough, and the first ones of prefixes that may be the
 * processor's: nearly always one of them was an attempt. False when out of memory. */
static bool list_first(struct looking *looking)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    const struct roast_string_table *strings = &looking->run->strings;
    unsigned char *listed = roast__alloc(strings->count);
    bool done = listed != NULL;

    for (size_t i = 0; done && i < tasks->count; i++) {
        int32_t prefix = tasks->prefix[i];
        if (!is_ours(tasks, i))
            continue;
        if (prefix >= 0 && looking->of_prefix[prefix] == NOT_ASKED)
            looking->of_prefix[prefix] =
                (unsigned char)kind_of_name(roast__strings_get(strings, prefix));
        if (!may_be_processors(looking, prefix))
            done = list_task(looking, i);
        else if (listed[prefix] < LISTED_FIRST) {
            listed[prefix]++;
            done = list_task(looking, i);
        }
    }
    roast__free(listed);
    return done;
}

static void find_processors(struct looking *looking)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;

    for (size_t i = 0; i < tasks->count; i++) {
        if (is_ours(tasks, i) && may_be_processors(looking, tasks->prefix[i]) &&
            was_attempt(looking, i))
            looking->of_prefix[tasks->prefix[i]] = ROAST_KIND_chunk;
    }
}

static enum roast_task_kind kind_of(const struct looking *looking, size_t task)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    int32_t prefix = tasks->prefix[task];

    if (!is_ours(tasks, task))
        return ROAST_KIND_foreign;
    enum roast_task_kind kind = prefix < 0
                                    ? ROAST_KIND_other
                                    : (enum roast_task_kind)looking->of_prefix[prefix];
    return kind != ROAST_KIND_chunk && was_attempt(looking, task) ? ROAST_KIND_chunk
                                                                  : kind;
}

/* False when out of memory. */
static bool look(struct looking *looking)
{
    size_t strings = looking->run->strings.count;

    looking->of_prefix = roast__alloc(strings);
    looking->was_attempt =
        roast__alloc(looking->run->scheduler.tasks.count * sizeof(bool));
    if (!looking->of_prefix || !looking->was_attempt)
        return false;
    memset(looking->of_prefix, NOT_ASKED, strings);
    if (!list_first(looking))
        return false;
    answer(looking);
    find_processors(looking);
    /* All tasks of prefixes of which none was found. False when out of memory. */
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    size_t before = looking->listed_count;
    for (size_t i = 0; i < tasks->count; i++) {
        if (is_ours(tasks, i) && may_be_processors(looking, tasks->prefix[i]) &&
            !list_task(looking, i))
            return false;
    }
    if (looking->listed_count > before) {
        answer(looking);
        find_processors(looking);
    }
    return true;
}

unsigned char *roast__task_kinds(const struct roast_run *run)
{
    struct looking looking = {.run = run};
    size_t count = run->scheduler.tasks.count;
    unsigned char *kinds = look(&looking) ? roast__alloc(count) : NULL;

    for (size_t i = 0; kinds && i < count; i++)
        kinds[i] = (unsigned char)kind_of(&looking, i);
    roast__free(looking.of_prefix);
    roast__free(looking.was_attempt);
    roast__hash_release(&looking.listed);
    return kinds;
}

bool roast__has_scheduled(const struct roast_tasks *tasks)
{
    size_t i = 0;

    while (i < tasks->count && tasks->worker[i] < 0)
        i++;
    return i < tasks->count;
}

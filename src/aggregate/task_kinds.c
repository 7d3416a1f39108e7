/* SPDX-License-Identifier: BSD-3-Clause */
/* task_kinds.c - what each task that a scheduler saw was for.
 *
 * Names alone do not tell: the prefix of a processor is the name of its class, or with
 * compression off that of coffea's wrapper, which also asks files for their entries. So
 * a prefix is the processor's if an attempt of the run was a task of it. Under a name
 * of coffea both may stand: there only the keys that have attempts are chunks. To ask a
 * file in vain leaves an attempt too, but not at a chunk. */
#include "aggregate/task_kinds.h"

#include <string.h>

#include "aggregate/roles.h"
#include "base/mem.h"

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
        struct roast_str name = roast_str_of(coffeas[i].prefix);
        if (prefix.size_bytes == name.size_bytes &&
            memcmp(prefix.data, name.data, name.size_bytes) == 0)
            return coffeas[i].kind;
    }
    return ROAST_KIND_other;
}

/* ---- attempts by key ------------------------------------------------------------- */

/* What is asked of every task. */
struct looking {
    const struct roast_run *run;
    struct roast_slots attempts; /* owned; the first row of a key on a worker */
};

/* Hashes of two keys may be equal; seldom on the same worker. */
static uint64_t hash_pair(int64_t key_hash, int32_t worker)
{
    return roast__slots_mix((uint64_t)key_hash ^ (uint64_t)(uint32_t)worker << 32);
}

static int64_t key_at(const struct roast_run *run, size_t row)
{
    return run->attempts.columns[ROAST_COLUMN_key_hash].values[row];
}

static int32_t worker_at(const struct roast_run *run, size_t row)
{
    return run->attempts.processes[run->attempts.process[row]].worker;
}

static uint64_t hash_of(const void *table, uint32_t row)
{
    const struct roast_run *run = table;
    return hash_pair(key_at(run, row), worker_at(run, row));
}

static bool has_attempt(const struct looking *looking, int64_t key_hash, int32_t worker)
{
    const struct roast_slots *slots = &looking->attempts;

    for (size_t at = roast__slots_first(slots, hash_pair(key_hash, worker));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        uint32_t row = roast__slots_item(slots, at);
        if (key_at(looking->run, row) == key_hash &&
            worker_at(looking->run, row) == worker)
            return true;
    }
    return false;
}

/* False when out of memory. */
static bool put_attempts(struct looking *looking)
{
    const struct roast_run *run = looking->run;
    const struct roast_column *keys = &run->attempts.columns[ROAST_COLUMN_key_hash];
    size_t used = 0;

    for (size_t row = 0; keys->values && row < run->attempts.count; row++) {
        if (!roast__column_has(keys, row) || roast__is_file_try(run, row) ||
            has_attempt(looking, keys->values[row], worker_at(run, row)))
            continue;
        if (!roast__slots_room(&looking->attempts, used++, hash_of, run))
            return false;
        roast__slots_put(&looking->attempts, hash_of(run, (uint32_t)row),
                         (uint32_t)row);
    }
    return true;
}

static bool was_attempt(const struct looking *looking, size_t task)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;

    return has_attempt(looking, tasks->key_hash[task], tasks->worker[task]);
}

/* ---- kinds ----------------------------------------------------------------------- */

enum { NOT_ASKED = ROAST_KIND_COUNT };

/* The kind of every prefix by the number of its text; NULL when out of memory. */
static unsigned char *kinds_of_prefixes(const struct looking *looking)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    const struct roast_strings *strings = &looking->run->strings;
    unsigned char *kinds = roast__alloc(strings->count);

    if (!kinds)
        return NULL;
    memset(kinds, NOT_ASKED, strings->count);
    for (size_t i = 0; i < tasks->count; i++) {
        int32_t prefix = tasks->prefix[i];
        if (prefix < 0 || !(tasks->end[i] & ROAST_TASK_OURS))
            continue;
        if (kinds[prefix] == NOT_ASKED)
            kinds[prefix] =
                (unsigned char)kind_of_name(roast__strings_get(strings, prefix));
        if (kinds[prefix] == ROAST_KIND_other && was_attempt(looking, i))
            kinds[prefix] = ROAST_KIND_chunk;
    }
    return kinds;
}

static enum roast_task_kind kind_of(const struct looking *looking, size_t task,
                                    const unsigned char *of_prefix)
{
    const struct roast_tasks *tasks = &looking->run->scheduler.tasks;
    int32_t prefix = tasks->prefix[task];

    if (!(tasks->end[task] & ROAST_TASK_OURS))
        return ROAST_KIND_foreign;
    enum roast_task_kind kind =
        prefix < 0 ? ROAST_KIND_other : (enum roast_task_kind)of_prefix[prefix];
    return kind != ROAST_KIND_chunk && was_attempt(looking, task) ? ROAST_KIND_chunk
                                                                  : kind;
}

unsigned char *roast__task_kinds(const struct roast_run *run)
{
    struct looking looking = {.run = run};
    size_t count = run->scheduler.tasks.count;
    unsigned char *of_prefix = NULL;
    unsigned char *kinds = roast__alloc(count);

    if (kinds && put_attempts(&looking))
        of_prefix = kinds_of_prefixes(&looking);
    if (!of_prefix) {
        roast__free(kinds);
        kinds = NULL;
    }
    for (size_t i = 0; kinds && i < count; i++)
        kinds[i] = (unsigned char)kind_of(&looking, i, of_prefix);
    roast__free(of_prefix);
    roast__slots_release(&looking.attempts);
    return kinds;
}

bool roast__has_scheduled(const struct roast_tasks *tasks)
{
    size_t i = 0;

    while (i < tasks->count && tasks->worker[i] < 0)
        i++;
    return i < tasks->count;
}

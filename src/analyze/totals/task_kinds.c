/* SPDX-License-Identifier: BSD-3-Clause */
/* task_kinds.c - the purpose of each task that a scheduler ran.
 *
 * Names alone are ambiguous: the prefix of a processor's tasks is the name of its class,
 * or without compression that of coffea's wrapper, which preprocessing uses too. So a
 * prefix is the processor's if one of its tasks was an attempt at a chunk. Under coffea's
 * own names only the tasks that were attempts are chunks. coffea sends the processor as
 * the result of a lambda, just before the first chunk of a call; users map lambdas, too. */
#include "analyze/totals/task_kinds.h"

#include "analyze/calls.h"
#include "analyze/roles.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "base/str.h"

static enum roast_task_kind kind_of_prefix(struct roast_str prefix)
{
    static const struct {
        const char *prefix;
        enum roast_task_kind kind;
    } names[] = {
        {"automatic_retries", ROAST_KIND_preprocess},
        {"get_metadata", ROAST_KIND_preprocess},
        {"reduce", ROAST_KIND_reduce},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (roast__str_is(prefix, names[i].prefix))
            return names[i].kind;
    }
    return ROAST_KIND_other;
}

/* ---- tasks that were attempts ---------------------------------------------------- */

static int32_t worker_of(const struct roast_attempts *attempts, size_t row)
{
    return attempts->processes[attempts->process[row]].worker;
}

/* The hash of a key may not be unique, but rarely repeats on one worker. */
static uint64_t hash_task(uint64_t key_hash, int32_t worker)
{
    return roast__hash_number(key_hash ^ (uint64_t)(uint32_t)worker << 32);
}

static uint64_t hash_attempt(const void *context, uint32_t row)
{
    const struct roast_attempts *attempts = context;
    const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];

    return hash_task((uint64_t)keys->values[row], worker_of(attempts, row));
}

static bool find_attempt(const struct roast_hash_table *rows,
                         const struct roast_attempts *attempts, uint64_t key_hash,
                         int32_t worker)
{
    const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];

    for (size_t at = roast__hash_first(rows, hash_task(key_hash, worker));
         roast__hash_holds(rows, at); at = roast__hash_next(rows, at)) {
        uint32_t row = roast__hash_item(rows, at);
        if ((uint64_t)keys->values[row] == key_hash &&
            worker_of(attempts, row) == worker)
            return true;
    }
    return false;
}

/* The attempts at chunks by task key and worker; false when out of memory. */
static bool index_attempts(struct roast_hash_table *rows, const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *keys = &attempts->columns[ROAST_COLUMN_key_hash];
    size_t count = 0;

    for (uint32_t row = 0; keys->known > 0 && row < attempts->count; row++) {
        if (!roast__column_has(keys, row) || roast__is_preprocess_failure(run, row))
            continue;
        if (!roast__hash_room(rows, count, hash_attempt, attempts))
            return false;
        if (find_attempt(rows, attempts, (uint64_t)keys->values[row],
                         worker_of(attempts, row)))
            continue;
        roast__hash_put(rows, hash_attempt(attempts, row), row);
        count++;
    }
    return true;
}

/* ---- the processor is sent ------------------------------------------------------- */

/* The last lambda that was assigned before the first chunk of a call. */
struct sending {
    int64_t first_chunk_ns;
    int64_t assigned_ns;
    uint32_t key_hash;
    bool found;
};

/* The call in which a task was assigned; NULL: in none. */
static struct sending *sending_of(struct sending *all, const struct roast_calls *calls,
                                  int64_t assigned_ns)
{
    size_t begun = roast__count_until(
        &calls->calls[0].begin_ns, sizeof(calls->calls[0]), calls->count, assigned_ns);

    return begun > 0 && assigned_ns <= calls->calls[begun - 1].end_ns ? &all[begun - 1]
                                                                      : NULL;
}

static void note_task(struct sending *sending, const struct roast_tasks *tasks,
                      size_t i)
{
    if (tasks->assigned_ns[i] > sending->first_chunk_ns ||
        tasks->assigned_ns[i] < sending->assigned_ns)
        return;
    sending->found = true;
    sending->assigned_ns = tasks->assigned_ns[i];
    sending->key_hash = tasks->key_hash[i];
}

/* A lambda that ran again, because its worker died, has the same key. False when out of
 * memory. */
static bool find_broadcasts(unsigned char *kinds, const struct roast_run *run)
{
    enum { FIRST_CHUNKS, LAMBDAS, KINDS, PASSES };
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    int32_t lambda = roast__strings_find(&run->strings, roast_str_of("lambda"));
    struct roast_calls calls = {0};

    if (lambda == ROAST_NO_STRING || roast__calls_count(run) == 0)
        return true;
    struct sending *all = NULL;
    if (roast__calls_find(&calls, run))
        all = roast__alloc(calls.count * sizeof(all[0]));
    for (size_t i = 0; all && i < calls.count; i++)
        all[i].first_chunk_ns = INT64_MAX;
    for (int pass = 0; all && pass < PASSES; pass++) {
        for (size_t i = 0; i < tasks->count; i++) {
            struct sending *own = sending_of(all, &calls, tasks->assigned_ns[i]);
            bool is_lambda = kinds[i] == ROAST_KIND_other && tasks->prefix[i] == lambda;
            if (!own || tasks->worker[i] < 0)
                continue;
            if (pass == FIRST_CHUNKS && kinds[i] == ROAST_KIND_chunk &&
                tasks->assigned_ns[i] < own->first_chunk_ns)
                own->first_chunk_ns = tasks->assigned_ns[i];
            if (pass == LAMBDAS && is_lambda)
                note_task(own, tasks, i);
            if (pass == KINDS && is_lambda && own->found &&
                own->key_hash == tasks->key_hash[i])
                kinds[i] = ROAST_KIND_broadcast;
        }
    }
    bool done = all != NULL;
    roast__free(all);
    roast__calls_release(&calls);
    return done;
}

/* ---- kinds ----------------------------------------------------------------------- */

unsigned char *roast__task_kinds(const struct roast_run *run)
{
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    struct roast_hash_table rows = {0};
    bool *is_processor = roast__alloc(run->strings.count * sizeof(bool)); /* prefix */
    unsigned char *kinds = roast__alloc(tasks->count);
    bool done = is_processor && kinds && index_attempts(&rows, run);

    for (size_t i = 0; done && i < tasks->count; i++) {
        int32_t prefix = tasks->prefix[i];
        kinds[i] = ROAST_KIND_foreign;
        if (!(tasks->end[i] & ROAST_TASK_OURS))
            continue;
        kinds[i] = prefix < 0 ? ROAST_KIND_other
                              : (unsigned char)kind_of_prefix(
                                    roast__strings_get(&run->strings, prefix));
        if (!find_attempt(&rows, &run->attempts, tasks->key_hash[i], tasks->worker[i]))
            continue;
        if (prefix >= 0 && kinds[i] == ROAST_KIND_other)
            is_processor[prefix] = true;
        kinds[i] = ROAST_KIND_chunk;
    }
    for (size_t i = 0; done && i < tasks->count; i++) {
        if (kinds[i] == ROAST_KIND_other && tasks->prefix[i] >= 0 &&
            is_processor[tasks->prefix[i]])
            kinds[i] = ROAST_KIND_chunk;
    }
    done = done && find_broadcasts(kinds, run);
    roast__hash_release(&rows);
    roast__free(is_processor);
    if (!done) {
        roast__free(kinds);
        return NULL;
    }
    return kinds;
}

bool roast__has_scheduled(const struct roast_tasks *tasks)
{
    size_t i = 0;

    while (i < tasks->count && tasks->worker[i] < 0)
        i++;
    return i < tasks->count;
}

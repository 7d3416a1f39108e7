/* SPDX-License-Identifier: BSD-3-Clause */
/* attempts.c - the rows of attempts and the processes that ran them.
 *
 * Columns have as much room as there are rows, so that code that reads a column need
 * not check its size. */
#include "run/attempts.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "run/processes.h"

enum { SMALLEST_CAP = 64, MOST_ROWS = INT32_MAX };

/* Consecutive attempts of a process get adjacent slots: their frames arrive one after
 * the other, and the slots are still in the cache. */
static uint64_t hash_row(int32_t process, uint32_t sequence)
{
    enum { NEIGHBOURS = 8 };
    uint64_t block = (uint64_t)(uint32_t)process << 32 | sequence / NEIGHBOURS;

    return roast__hash_number(block) * NEIGHBOURS + sequence % NEIGHBOURS;
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return hash_row(roast__process_of(attempts, item), attempts->sequence[item]);
}

int64_t roast__attempts_find(const struct roast_attempts *attempts, int32_t process,
                             uint32_t sequence)
{
    const struct roast_hash_table *slots = &attempts->slots;

    for (size_t at = roast__hash_first(slots, hash_row(process, sequence));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t row = roast__hash_item(slots, at);
        if (attempts->sequence[row] == sequence &&
            roast__process_of(attempts, row) == process)
            return row;
    }
    return -1;
}

/* When one array fails to grow, those before it are larger than `cap`, which is
 * fine. */
static bool grow(struct roast_attempts *attempts, size_t cap)
{
    if (attempts->count >= MOST_ROWS ||
        !roast__array_resize(&attempts->process, cap, sizeof(*attempts->process)) ||
        !roast__array_resize(&attempts->sequence, cap, sizeof(*attempts->sequence)) ||
        !roast__array_resize(&attempts->source, cap, sizeof(*attempts->source)) ||
        !roast__array_resize(&attempts->status, cap, sizeof(*attempts->status)) ||
        !roast__array_resize(&attempts->parts, cap, sizeof(*attempts->parts)) ||
        !roast__array_resize(&attempts->cold_fields, cap,
                             sizeof(*attempts->cold_fields)))
        return false;
    for (size_t i = 0; i < ROAST_COLUMN_COUNT; i++) {
        if (!roast__column_grow(&attempts->columns[i], cap))
            return false;
    }
    attempts->cap = cap;
    return true;
}

bool roast__attempts_room(struct roast_attempts *attempts)
{
    size_t cap = attempts->cap > 0 ? attempts->cap * 2 : SMALLEST_CAP;

    if (attempts->count == attempts->cap && !grow(attempts, cap))
        return false;
    return roast__hash_room(&attempts->slots, attempts->count, hash_of, attempts);
}

size_t roast__attempts_append(struct roast_attempts *attempts, int32_t process,
                              uint32_t sequence, bool findable)
{
    size_t row = attempts->count++;

    attempts->process[row] = process;
    attempts->sequence[row] = sequence;
    attempts->source[row] = ROAST_NO_SOURCE;
    attempts->status[row] = 0;
    attempts->parts[row] = 0;
    attempts->cold_fields[row] = 0;
    if (findable)
        roast__hash_put(&attempts->slots, hash_of(attempts, (uint32_t)row),
                        (uint32_t)row);
    return row;
}

void roast__attempts_release(struct roast_attempts *attempts)
{
    roast__free(attempts->process);
    roast__free(attempts->sequence);
    roast__free(attempts->source);
    roast__free(attempts->status);
    roast__free(attempts->parts);
    roast__free(attempts->cold_fields);
    for (size_t i = 0; i < ROAST_COLUMN_COUNT; i++)
        roast__column_release(&attempts->columns[i]);
    roast__buf_release(&attempts->packed);
    roast__hash_release(&attempts->slots);
    roast__free(attempts->sources);
    roast__hash_release(&attempts->source_slots);
    roast__free(attempts->processes);
    roast__hash_release(&attempts->process_slots);
    roast__hash_release(&attempts->process_id_slots);
    memset(attempts, 0, sizeof(*attempts));
}

/* ---- processes ------------------------------------------------------------------- */

static uint64_t hash_pair(int32_t run, uint64_t id)
{
    return roast__hash_number(roast__hash_number(id) + (uint32_t)run);
}

static uint64_t hash_worker(int32_t first_entry, int32_t worker)
{
    return roast__hash_number((uint64_t)(uint32_t)first_entry << 32 | (uint32_t)worker);
}

/* The first entry of a process is found by run and id, others by their worker. */
static uint64_t hash_of_process(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    const struct roast_worker_process *process = &attempts->processes[item];

    return (uint32_t)process->process_entry == item
               ? hash_pair(process->run, process->id)
               : hash_worker(process->process_entry, process->worker);
}

static uint64_t hash_id_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return roast__hash_number(attempts->processes[item].id);
}

static int32_t find_process(const struct roast_attempts *attempts, int32_t run,
                            uint64_t id)
{
    const struct roast_hash_table *slots = &attempts->process_slots;

    for (size_t at = roast__hash_first(slots, hash_pair(run, id));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t index = roast__hash_item(slots, at);
        const struct roast_worker_process *process = &attempts->processes[index];
        if (process->id == id && process->run == run)
            return process->process_entry;
    }
    return -1;
}

static int32_t find_worker(const struct roast_attempts *attempts, int32_t first_entry,
                           int32_t worker)
{
    const struct roast_hash_table *slots = &attempts->process_slots;

    if (attempts->processes[first_entry].worker == worker)
        return first_entry;
    for (size_t at = roast__hash_first(slots, hash_worker(first_entry, worker));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t index = roast__hash_item(slots, at);
        if (attempts->processes[index].process_entry == first_entry &&
            attempts->processes[index].worker == worker)
            return (int32_t)index;
    }
    return -1;
}

/* The first entry of a process, whatever its run; -1: none. */
static int32_t find_first(const struct roast_attempts *attempts, uint64_t id)
{
    const struct roast_hash_table *slots = &attempts->process_id_slots;

    for (size_t at = roast__hash_first(slots, roast__hash_number(id));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t index = roast__hash_item(slots, at);
        if (attempts->processes[index].id == id)
            return (int32_t)index;
    }
    return -1;
}

static bool process_room(struct roast_attempts *attempts)
{
    struct roast_worker_process *processes =
        roast__array_room(attempts->processes, &attempts->process_cap,
                          attempts->process_count, sizeof(*processes));

    if (!processes)
        return false;
    attempts->processes = processes;
    return attempts->process_count < INT32_MAX;
}

/* Adds a new entry; -1 when out of memory. `first_entry` is negative for the
 * first entry of a process. */
static int32_t append_process(struct roast_attempts *attempts,
                              const struct roast_worker_process *process,
                              int32_t first_entry)
{
    bool is_first = find_first(attempts, process->id) < 0;

    size_t used = attempts->process_count;
    if (!process_room(attempts) ||
        !roast__hash_room(&attempts->process_slots, used, hash_of_process, attempts) ||
        !roast__hash_room(&attempts->process_id_slots, used, hash_id_of, attempts))
        return -1;
    uint32_t index = (uint32_t)attempts->process_count++;
    attempts->processes[index] = *process;
    attempts->processes[index].process_entry =
        first_entry < 0 ? (int32_t)index : first_entry;
    roast__hash_put(&attempts->process_slots, hash_of_process(attempts, index), index);
    if (is_first)
        roast__hash_put(&attempts->process_id_slots, hash_id_of(attempts, index),
                        index);
    return (int32_t)index;
}

/* Facts of a process hold for all its runs. */
int32_t roast__processes_get(struct roast_attempts *attempts, int32_t run, uint64_t id)
{
    struct roast_worker_process fresh = {
        .host = ROAST_NO_STRING, .worker = ROAST_NO_STRING, .id = id};
    int32_t index = find_process(attempts, run, id);

    if (index >= 0)
        return index;
    int32_t first = find_first(attempts, id);
    if (first >= 0)
        fresh = attempts->processes[first];
    fresh.run = run;
    return append_process(attempts, &fresh, -1);
}

int32_t roast__processes_worker(struct roast_attempts *attempts, int32_t first_entry,
                                int32_t worker)
{
    struct roast_worker_process entry = attempts->processes[first_entry];

    if (entry.worker == ROAST_NO_STRING)
        attempts->processes[first_entry].worker = worker;
    int32_t known = find_worker(attempts, first_entry, worker);
    if (known >= 0)
        return known;
    entry.worker = worker;
    return append_process(attempts, &entry, first_entry);
}

void roast__processes_share(struct roast_attempts *attempts)
{
    for (size_t i = 0; i < attempts->process_count; i++) {
        struct roast_worker_process *process = &attempts->processes[i];
        int32_t worker = process->worker;
        *process = attempts->processes[process->process_entry];
        process->worker = worker;
    }
}

int32_t roast__processes_handmade(struct roast_attempts *attempts)
{
    if (attempts->handmade_process > 0)
        return attempts->handmade_process - 1;
    if (!process_room(attempts))
        return -1;
    size_t index = attempts->process_count++;
    attempts->processes[index] = (struct roast_worker_process){
        .run = ROAST_NO_STRING,
        .host = ROAST_NO_STRING,
        .worker = ROAST_NO_STRING,
        .process_entry = (int32_t)index,
    };
    attempts->handmade_process = (int32_t)index + 1;
    return (int32_t)index;
}

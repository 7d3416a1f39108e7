/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.c - the processes that ran attempts, each once per run id. */
#include "run/processes.h"

#include "base/array.h"
#include "run/attempts.h"

static uint64_t hash_pair(int32_t run, uint64_t id)
{
    return roast__hash_number(roast__hash_number(id) + (uint32_t)run);
}

static uint64_t hash_worker(int32_t first_entry, int32_t worker)
{
    return roast__hash_number((uint64_t)(uint32_t)first_entry << 32 | (uint32_t)worker);
}

/* The first entry of a process is found by run and id, others by their worker. */
static uint64_t hash_of(const void *table, uint32_t item)
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

static int32_t find(const struct roast_attempts *attempts, int32_t run, uint64_t id)
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

/* The first entry of a process, whatever its run; -1: there is none. */
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

static bool room(struct roast_attempts *attempts)
{
    struct roast_worker_process *processes =
        roast__array_room(attempts->processes, &attempts->process_cap,
                          attempts->process_count, sizeof(*processes));

    if (!processes)
        return false;
    attempts->processes = processes;
    return attempts->process_count < INT32_MAX;
}

static bool slots_room(struct roast_attempts *attempts)
{
    size_t used = attempts->process_count;

    return roast__hash_room(&attempts->process_slots, used, hash_of, attempts) &&
           roast__hash_room(&attempts->process_id_slots, used, hash_id_of, attempts);
}

/* Adds an entry that is not there; -1 when out of memory. `first_entry` is negative for the
 * first entry of a process. */
static int32_t append(struct roast_attempts *attempts,
                      const struct roast_worker_process *process, int32_t first_entry)
{
    bool is_first = find_first(attempts, process->id) < 0;

    if (!room(attempts) || !slots_room(attempts))
        return -1;
    uint32_t index = (uint32_t)attempts->process_count++;
    attempts->processes[index] = *process;
    attempts->processes[index].process_entry =
        first_entry < 0 ? (int32_t)index : first_entry;
    roast__hash_put(&attempts->process_slots, hash_of(attempts, index), index);
    if (is_first)
        roast__hash_put(&attempts->process_id_slots, hash_id_of(attempts, index),
                        index);
    return (int32_t)index;
}

/* What is known of a process holds for all its runs. */
int32_t roast__processes_get(struct roast_attempts *attempts, int32_t run, uint64_t id)
{
    struct roast_worker_process fresh = {
        .host = ROAST_NO_STRING, .worker = ROAST_NO_STRING, .id = id};
    int32_t index = find(attempts, run, id);

    if (index >= 0)
        return index;
    int32_t first = find_first(attempts, id);
    if (first >= 0)
        fresh = attempts->processes[first];
    fresh.run = run;
    return append(attempts, &fresh, -1);
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
    return append(attempts, &entry, first_entry);
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
    if (!room(attempts))
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

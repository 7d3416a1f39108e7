/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.c - the processes that ran attempts, each once per run id. */
#include "run/processes.h"

#include "run/array.h"
#include "run/attempts.h"
#include "run/restore.h"

static uint64_t hash_pair(int32_t run, uint64_t id)
{
    return roast__slots_mix(roast__slots_mix(id) + (uint32_t)run);
}

static uint64_t hash_seat(int32_t home, int32_t worker)
{
    return roast__slots_mix((uint64_t)(uint32_t)home << 32 | (uint32_t)worker);
}

/* Homes are found by run and id, others by their worker. */
static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    const struct roast_worker_process *process = &attempts->processes[item];

    return (uint32_t)process->home == item ? hash_pair(process->run, process->id)
                                           : hash_seat(process->home, process->worker);
}

static uint64_t hash_id_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return roast__slots_mix(attempts->processes[item].id);
}

static int32_t find(const struct roast_attempts *attempts, int32_t run, uint64_t id)
{
    const struct roast_slots *slots = &attempts->process_slots;

    for (size_t at = roast__slots_first(slots, hash_pair(run, id));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        uint32_t index = roast__slots_item(slots, at);
        const struct roast_worker_process *process = &attempts->processes[index];
        if (process->id == id && process->run == run)
            return process->home;
    }
    return -1;
}

static int32_t find_seat(const struct roast_attempts *attempts, int32_t home,
                         int32_t worker)
{
    const struct roast_slots *slots = &attempts->process_slots;

    if (attempts->processes[home].worker == worker)
        return home;
    for (size_t at = roast__slots_first(slots, hash_seat(home, worker));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        uint32_t index = roast__slots_item(slots, at);
        if (attempts->processes[index].home == home &&
            attempts->processes[index].worker == worker)
            return (int32_t)index;
    }
    return -1;
}

/* The first entry of a process, whatever its run; -1: there is none. */
static int32_t find_first(const struct roast_attempts *attempts, uint64_t id)
{
    const struct roast_slots *slots = &attempts->process_id_slots;

    for (size_t at = roast__slots_first(slots, roast__slots_mix(id));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        uint32_t index = roast__slots_item(slots, at);
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

    return roast__slots_room(&attempts->process_slots, used, hash_of, attempts) &&
           roast__slots_room(&attempts->process_id_slots, used, hash_id_of, attempts);
}

bool roast__processes_append(struct roast_attempts *attempts,
                             const struct roast_worker_process *process)
{
    bool handmade = process->run == ROAST_NO_STRING;
    int32_t home = handmade ? -1 : find(attempts, process->run, process->id);
    bool is_new =
        !handmade && (home < 0 || find_seat(attempts, home, process->worker) < 0);
    bool is_first = !handmade && find_first(attempts, process->id) < 0;

    if (!room(attempts) || !slots_room(attempts))
        return false;
    uint32_t index = (uint32_t)attempts->process_count++;
    attempts->processes[index] = *process;
    attempts->processes[index].home = home < 0 ? (int32_t)index : home;
    if (is_new)
        roast__slots_put(&attempts->process_slots, hash_of(attempts, index), index);
    if (is_first)
        roast__slots_put(&attempts->process_id_slots, hash_id_of(attempts, index),
                         index);
    return true;
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
    return roast__processes_append(attempts, &fresh)
               ? (int32_t)attempts->process_count - 1
               : -1;
}

int32_t roast__processes_seat(struct roast_attempts *attempts, int32_t home,
                              int32_t worker)
{
    struct roast_worker_process seat = attempts->processes[home];

    if (seat.worker == ROAST_NO_STRING)
        attempts->processes[home].worker = worker;
    int32_t known = find_seat(attempts, home, worker);
    if (known >= 0)
        return known;
    seat.worker = worker;
    return roast__processes_append(attempts, &seat)
               ? (int32_t)attempts->process_count - 1
               : -1;
}

void roast__processes_share(struct roast_attempts *attempts)
{
    for (size_t i = 0; i < attempts->process_count; i++) {
        struct roast_worker_process *process = &attempts->processes[i];
        int32_t worker = process->worker;
        *process = attempts->processes[process->home];
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
        .home = (int32_t)index,
    };
    attempts->handmade_process = (int32_t)index + 1;
    return (int32_t)index;
}

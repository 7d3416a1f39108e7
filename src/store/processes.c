/* SPDX-License-Identifier: BSD-3-Clause */
/* processes.c - the processes that ran attempts, each once per run id. */
#include "store/processes.h"

#include "store/array.h"
#include "store/attempts.h"

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_attempts *attempts = table;
    return roast__slots_mix(attempts->processes[item].id);
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

int32_t roast__processes_get(struct roast_attempts *attempts, int32_t run, uint64_t id)
{
    const struct roast_slots *slots = &attempts->process_slots;
    struct roast_worker_process fresh = {
        .host = ROAST_NO_STRING, .worker = ROAST_NO_STRING, .id = id};

    for (size_t at = roast__slots_first(slots, roast__slots_mix(id));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        int32_t index = (int32_t)roast__slots_item(slots, at);
        const struct roast_worker_process *process = &attempts->processes[index];
        if (process->id == id && process->run == run)
            return index;
        if (process->id == id)
            fresh = *process; /* the same process for another run */
    }
    if (!room(attempts) ||
        !roast__slots_room(&attempts->process_slots, attempts->process_count, hash_of,
                           attempts))
        return -1;
    int32_t index = (int32_t)attempts->process_count++;
    fresh.run = run;
    attempts->processes[index] = fresh;
    roast__slots_put(&attempts->process_slots, roast__slots_mix(id), (uint32_t)index);
    return index;
}

int32_t roast__processes_handmade(struct roast_attempts *attempts)
{
    if (attempts->handmade_process > 0)
        return attempts->handmade_process - 1;
    if (!room(attempts))
        return -1;
    size_t index = attempts->process_count++;
    attempts->processes[index] = (struct roast_worker_process){
        .run = ROAST_NO_STRING, .host = ROAST_NO_STRING, .worker = ROAST_NO_STRING};
    attempts->handmade_process = (int32_t)index + 1;
    return (int32_t)index;
}

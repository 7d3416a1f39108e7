/* SPDX-License-Identifier: BSD-3-Clause */
/* offsets.c - clocks of other hosts, put onto the timeline.
 *
 * Columns hold times of the timeline. An offset may be told, or told better, long after
 * the attempts it is for, and the host of a process may be learned late; so each process
 * knows which offset its rows have in them, and before anybody reads them they get the
 * difference to the one that holds now. A million rows take 10 ms, and only where an
 * offset moved.
 *
 * A scheduler knows the host of a worker by its address, a record by its name; both are
 * joined by the worker. */
#include "base/array.h"
#include "run/apply.h"
#include "run/clean.h"
#include "run/journal_write.h"

#include "base/mem.h"

/* ---- the list -------------------------------------------------------------------- */

static uint64_t hash_host(int32_t host)
{
    return roast__hash_number((uint32_t)host);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_offsets *offsets = table;
    return hash_host(offsets->items[item].host);
}

static struct roast_host_offset *find(const struct roast_offsets *offsets, int32_t host)
{
    const struct roast_hash_table *slots = &offsets->slots;

    for (size_t at = roast__hash_first(slots, hash_host(host));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_host_offset *item = &offsets->items[roast__hash_item(slots, at)];
        if (item->host == host)
            return item;
    }
    return NULL;
}

bool roast__offsets_put(struct roast_offsets *offsets, int32_t host, int64_t offset_ns)
{
    struct roast_host_offset *known = find(offsets, host);

    if (known) {
        known->offset_ns = offset_ns;
        return true;
    }
    struct roast_host_offset *items = roast__array_room(offsets->items, &offsets->cap,
                                                        offsets->count, sizeof(*items));
    if (items)
        offsets->items = items;
    if (!items || offsets->count >= ROAST_MOST_HOSTS ||
        !roast__hash_room(&offsets->slots, offsets->count, hash_of, offsets))
        return false;
    uint32_t number = (uint32_t)offsets->count++;
    items[number] = (struct roast_host_offset){.host = host, .offset_ns = offset_ns};
    roast__hash_put(&offsets->slots, hash_host(host), number);
    return true;
}

void roast__offsets_release(struct roast_offsets *offsets)
{
    roast__free(offsets->items);
    roast__hash_release(&offsets->slots);
    *offsets = (struct roast_offsets){.items = NULL};
}

/* ---- telling --------------------------------------------------------------------- */

/* The lock is held. */
static int put(struct roast_run *run, struct roast_str host, int64_t offset_ns,
               roast_error *err)
{
    struct roast_offsets *offsets = &run->scheduler.offsets;
    int32_t number = roast__strings_put(&run->strings, host);
    const struct roast_host_offset *known = number >= 0 ? find(offsets, number) : NULL;

    if (known && known->offset_ns == offset_ns)
        return ROAST_OK;
    if (!known && offsets->count >= ROAST_MOST_HOSTS) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_trimmed);
        return ROAST_OK;
    }
    if (number < 0 || !roast__offsets_put(offsets, number, offset_ns))
        return roast_error_set(err, ROAST_NO_MEMORY, "the clock of host %zu",
                               offsets->count);
    roast__journal_write_offset(run->journal, host, offset_ns);
    return ROAST_OK;
}

int roast__run_put_offset(struct roast_run *run, struct roast_str clean,
                          int64_t offset_ns, roast_error *err)
{
    if (!clean.data)
        return ROAST_OK;
    roast__run_lock(run);
    int status = put(run, clean, offset_ns, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_set_offset(roast_run *run, struct roast_str host, int64_t offset_ns,
                         roast_error *err)
{
    char room[ROAST_NAME_BYTES];

    return roast__run_put_offset(run, roast__clean(room, sizeof(room), host), offset_ns,
                                 err);
}

/* ---- using ----------------------------------------------------------------------- */

static struct roast_host_offset *offset_of(const struct roast_run *run,
                                           const struct roast_worker_process *process)
{
    const struct roast_scheduler_view *view = &run->scheduler;
    const struct roast_worker_session *session =
        process->worker != ROAST_NO_STRING
            ? roast__latest_session(&view->sessions, process->worker)
            : NULL;
    struct roast_host_offset *found =
        session ? find(&view->offsets, session->host) : NULL;

    return found ? found : find(&view->offsets, process->host);
}

/* A host is the client's as soon as one of its processes is seen to share the clock. */
static void find_clients_host(const struct roast_run *run)
{
    struct roast_host_offset *offset = find(&run->scheduler.offsets, run->host);

    if (offset)
        offset->is_clients = true;
    for (size_t i = 0; i < run->attempts.process_count; i++) {
        const struct roast_worker_process *process = &run->attempts.processes[i];
        offset = process->shares_clock ? offset_of(run, process) : NULL;
        if (offset)
            offset->is_clients = true;
    }
}

/* ---- hosts by the names that processes have for them ------------------------------ */

/* Schedulers know hosts by address, processes by name. One process that is known to a
 * scheduler tells which is which for all others of its host. */
struct neighbours {
    const struct roast_run *run;
    struct roast_hash_table slots; /* owned; by host: a process that has an offset */
};

static uint64_t hash_neighbour(const void *table, uint32_t item)
{
    const struct roast_run *run = table;
    return hash_host(run->attempts.processes[item].host);
}

static const struct roast_worker_process *find_neighbour(
    const struct neighbours *neighbours, int32_t host)
{
    const struct roast_hash_table *slots = &neighbours->slots;
    const struct roast_worker_process *processes = neighbours->run->attempts.processes;

    for (size_t at = roast__hash_first(slots, hash_host(host));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        uint32_t item = roast__hash_item(slots, at);
        if (processes[item].host == host)
            return &processes[item];
    }
    return NULL;
}

/* Without memory there are fewer of them, until the next time. */
static void find_neighbours(struct neighbours *neighbours)
{
    const struct roast_attempts *attempts = &neighbours->run->attempts;
    size_t used = 0;

    for (uint32_t i = 0; i < attempts->process_count; i++) {
        const struct roast_worker_process *process = &attempts->processes[i];
        if (process->host == ROAST_NO_STRING || !offset_of(neighbours->run, process) ||
            find_neighbour(neighbours, process->host))
            continue;
        if (!roast__hash_room(&neighbours->slots, used++, hash_neighbour,
                              neighbours->run))
            return;
        roast__hash_put(&neighbours->slots, hash_host(process->host), i);
    }
}

static const struct roast_host_offset *offset_by_any_name(
    const struct neighbours *neighbours, const struct roast_worker_process *process)
{
    const struct roast_host_offset *offset = offset_of(neighbours->run, process);
    const struct roast_worker_process *neighbour =
        offset || process->host == ROAST_NO_STRING
            ? NULL
            : find_neighbour(neighbours, process->host);

    return neighbour ? offset_of(neighbours->run, neighbour) : offset;
}

/* ---- moving ---------------------------------------------------------------------- */

/* Whether the rows of any process have to move. */
static bool find_moves(struct roast_run *run)
{
    struct neighbours neighbours = {.run = run};
    bool any = false;

    find_neighbours(&neighbours);

    for (size_t i = 0; i < run->attempts.process_count; i++) {
        struct roast_worker_process *process = &run->attempts.processes[i];
        const struct roast_host_offset *offset =
            offset_by_any_name(&neighbours, process);
        bool counts = offset && !offset->is_clients && !process->shares_clock;
        process->move_ns = 0; /* of one whose clock nobody knows any more, as in a file
                                 that lost it, rows are right as they are */
        if (offset)
            process->move_ns =
                roast__wrap_sub(counts ? offset->offset_ns : 0, process->offset_ns);
        any = any || process->move_ns != 0;
    }
    roast__hash_release(&neighbours.slots);
    return any;
}

static void move_column(struct roast_attempts *attempts,
                        enum roast_attempt_column which)
{
    struct roast_column *column = &attempts->columns[which];

    for (size_t row = 0; column->values && row < attempts->count; row++) {
        int64_t move_ns = attempts->processes[roast__process_of(attempts, row)].move_ns;
        if (move_ns != 0 && roast__column_has(column, row))
            column->values[row] = roast__wrap_add(column->values[row], move_ns);
    }
}

static void settle_clocks(struct roast_run *run)
{
    struct roast_attempts *attempts = &run->attempts;

    if (run->scheduler.offsets.count == 0)
        return;
    find_clients_host(run);
    if (!find_moves(run))
        return;
    move_column(attempts, ROAST_COLUMN_start_ns);
    move_column(attempts, ROAST_COLUMN_task_start_ns);
    for (size_t i = 0; i < attempts->process_count; i++) {
        struct roast_worker_process *process = &attempts->processes[i];
        process->offset_ns = roast__wrap_add(process->offset_ns, process->move_ns);
        process->move_ns = 0;
    }
}

void roast__run_resolve_pending(struct roast_run *run)
{
    roast__sources_resolve(&run->attempts, &run->names);
    settle_clocks(run);
    roast__processes_share(&run->attempts);
}

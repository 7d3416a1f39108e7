/* SPDX-License-Identifier: BSD-3-Clause */
/* worker_sessions.c - workers of a cluster that joined and left, and the clocks of
 * their hosts.
 *
 * Offers follow from sessions: every join and every leave is a step at its time, and
 * all later steps change by as much, so that the sums are exact even where events
 * arrive out of order. Steps at the same time are one offer: a cluster of ten thousand
 * workers that existed before the run is a single one.
 *
 * Columns hold times of the timeline. An offset may arrive or change long after the
 * attempts it applies to, and the host of a process may be learned late. Each process
 * therefore stores the offset that its rows contain, and before rows are read they get
 * the difference to the current one. A million rows take 10 ms, and only where an
 * offset changed.
 *
 * A scheduler knows the host of a worker by its address, a record by its name; the
 * worker joins the two. */
#include "run/worker_sessions.h"

#include "base/array.h"
#include "base/mem.h"
#include "run/journal/write.h"
#include "run/put.h"

/* ---- the list -------------------------------------------------------------------- */

static uint64_t hash_worker(int32_t worker)
{
    return roast__hash_number((uint32_t)worker);
}

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_worker_sessions *sessions = table;
    return hash_worker(sessions->items[item].worker);
}

static struct roast_worker_session *find_first(
    const struct roast_worker_sessions *sessions, int32_t worker)
{
    const struct roast_hash_table *slots = &sessions->slots;

    for (size_t at = roast__hash_first(slots, hash_worker(worker));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_worker_session *session =
            &sessions->items[roast__hash_item(slots, at)];
        if (session->worker == worker)
            return session;
    }
    return NULL;
}

struct roast_worker_session *roast__latest_session(
    const struct roast_worker_sessions *sessions, int32_t worker)
{
    const struct roast_worker_session *first = find_first(sessions, worker);

    return first ? &sessions->items[first->latest] : NULL;
}

bool roast__sessions_append(struct roast_worker_sessions *sessions,
                            const struct roast_worker_session *session)
{
    struct roast_worker_session *items = roast__array_room(
        sessions->items, &sessions->cap, sessions->count, sizeof(*items));

    if (items)
        sessions->items = items;
    if (!items || sessions->count >= ROAST_MOST_SESSIONS ||
        !roast__hash_room(&sessions->slots, sessions->count, hash_of, sessions))
        return false;
    uint32_t number = (uint32_t)sessions->count++;
    items[number] = *session;
    items[number].latest = number;
    struct roast_worker_session *first = find_first(sessions, session->worker);
    if (first)
        first->latest = number;
    else
        roast__hash_put(&sessions->slots, hash_worker(session->worker), number);
    return true;
}

void roast__sessions_release(struct roast_worker_sessions *sessions)
{
    roast__free(sessions->items);
    roast__hash_release(&sessions->slots);
    *sessions = (struct roast_worker_sessions){.items = NULL};
}

/* ---- offers ---------------------------------------------------------------------- */

/* A session needs up to three: at the start of the run, the end of another session, its
 * own. */
static bool room_for_steps(struct roast_run *run)
{
    enum { MAX_STEPS = 3 };

    if (run->offer_cap - run->offer_count >= MAX_STEPS)
        return true;
    struct roast_offer *offers = roast__array_room(run->offers, &run->offer_cap,
                                                   run->offer_cap, sizeof(*offers));
    if (offers)
        run->offers = offers;
    return offers != NULL;
}

/* The offer at a time; a new one is a copy of the one before it. */
static size_t offer_at(struct roast_run *run, int64_t time_ns)
{
    struct roast_offer *offers = run->offers;
    size_t next = run->offer_count; /* all from here on are later */

    while (next > 0 && offers[next - 1].time_ns > time_ns)
        next--;
    if (next > 0 && offers[next - 1].time_ns == time_ns)
        return next - 1;
    struct roast_offer step = {.time_ns = time_ns};
    if (next > 0) {
        step.workers = offers[next - 1].workers;
        step.threads = offers[next - 1].threads;
    }
    memmove(offers + next + 1, offers + next,
            (run->offer_count - next) * sizeof(*offers));
    offers[next] = step;
    run->offer_count++;
    return next;
}

static uint64_t take_away(uint64_t from, uint64_t count)
{
    return from > count ? from - count : 0;
}

enum direction { JOIN, LEAVE };

/* Cannot fail: memory is reserved. Before the first worker joined there was none. */
static void step(struct roast_run *run, int64_t time_ns, uint64_t threads,
                 enum direction direction)
{
    if (run->offer_count == 0 && time_ns > run->start_ns)
        run->offers[run->offer_count++] = (struct roast_offer){run->start_ns, 0, 0};
    for (size_t i = offer_at(run, time_ns); i < run->offer_count; i++) {
        struct roast_offer *offer = &run->offers[i];
        if (direction == JOIN) {
            offer->workers = roast__sat_count(offer->workers, 1);
            offer->threads = roast__sat_count(offer->threads, threads);
        } else {
            offer->workers = take_away(offer->workers, 1);
            offer->threads = take_away(offer->threads, threads);
        }
    }
}

/* ---- joining --------------------------------------------------------------------- */

static bool is_present(const struct roast_worker_session *session)
{
    return session && session->left_ns == 0;
}

/* A worker may be reported twice: by the list of workers and by its join. */
static bool is_known_already(const struct roast_worker_session *latest,
                             const struct roast_worker_session *session)
{
    return is_present(latest) && latest->pid == session->pid &&
           (session->pid != 0 || latest->joined_ns == session->joined_ns);
}

/* The offer and the session end at the same time; left_ns 0 would mean still
 * present. */
static void end_session(struct roast_run *run, struct roast_worker_session *session,
                        int64_t left_ns)
{
    if (left_ns < session->joined_ns)
        left_ns = session->joined_ns;
    session->left_ns = left_ns != 0 ? left_ns : 1;
    step(run, left_ns, session->threads, LEAVE);
}

static bool session_of_member(struct roast_worker_session *session,
                              struct roast_run *run, const struct roast_member *member)
{
    *session = (struct roast_worker_session){
        .worker = roast__strings_put(&run->strings, member->worker),
        .name = roast__strings_put(&run->strings, member->name),
        .host = roast__strings_put(&run->strings, member->host),
        .reason = ROAST_NO_STRING,
        .joined_ns =
            member->joined_ns > run->start_ns ? member->joined_ns : run->start_ns,
        .pid = member->pid,
        .threads = member->threads,
        .memory_limit_bytes = member->memory_limit_bytes,
    };
    return session->worker != ROAST_STRING_NO_MEMORY &&
           session->name != ROAST_STRING_NO_MEMORY &&
           session->host != ROAST_STRING_NO_MEMORY;
}

/* The lock is held. */
static int join(struct roast_run *run, const struct roast_member *member,
                roast_error *err)
{
    struct roast_worker_sessions *sessions = &run->scheduler.sessions;
    struct roast_worker_session session;

    if (!member->worker.data || sessions->count >= ROAST_MOST_SESSIONS) {
        roast__lose_and_write(run, member->worker.data
                                       ? ROAST_RUN_LOSS_scheduler_over_limit
                                       : ROAST_RUN_LOSS_scheduler_unread);
        return ROAST_OK;
    }
    if (!session_of_member(&session, run, member) || !room_for_steps(run))
        return roast_error_set(err, ROAST_NO_MEMORY, "session %zu", sessions->count);
    struct roast_worker_session *before =
        roast__latest_session(sessions, session.worker);
    if (is_known_already(before, &session))
        return ROAST_OK;
    size_t had = before ? (size_t)(before - sessions->items) : SIZE_MAX;
    if (!roast__sessions_append(sessions, &session))
        return roast_error_set(err, ROAST_NO_MEMORY, "session %zu", sessions->count);
    if (had != SIZE_MAX && is_present(&sessions->items[had]))
        end_session(run, &sessions->items[had],
                    session.joined_ns); /* its leave was not reported */
    step(run, session.joined_ns, session.threads, JOIN);
    roast__journal_write_member(run->journal, member);
    return ROAST_OK;
}

int roast__run_put_member(struct roast_run *run, const struct roast_member *clean,
                          roast_error *err)
{
    roast__run_lock(run);
    int status = join(run, clean, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_add_member(roast_run *run, const struct roast_member *member,
                         roast_error *err)
{
    char worker[ROAST_NAME_BYTES];
    char name[ROAST_NAME_BYTES];
    char host[ROAST_NAME_BYTES];
    struct roast_member clean = *member;

    clean.worker = roast__clean(worker, sizeof(worker), member->worker);
    clean.name = roast__clean(name, sizeof(name), member->name);
    clean.host = roast__clean(host, sizeof(host), member->host);
    return roast__run_put_member(run, &clean, err);
}

/* ---- leaving --------------------------------------------------------------------- */

/* The lock is held. */
static int leave(struct roast_run *run, const struct roast_departure *departure,
                 roast_error *err)
{
    struct roast_worker_sessions *sessions = &run->scheduler.sessions;
    int32_t worker = roast__strings_find(&run->strings, departure->worker);
    struct roast_worker_session *session =
        worker >= 0 ? roast__latest_session(sessions, worker) : NULL;

    if (!is_present(session)) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_unread);
        return ROAST_OK;
    }
    int32_t reason = roast__strings_put(&run->strings, departure->reason);
    if (reason == ROAST_STRING_NO_MEMORY || !room_for_steps(run))
        return roast_error_set(err, ROAST_NO_MEMORY, "the end of a session");
    session->reason = reason;
    session->expected = departure->expected;
    end_session(run, session, departure->left_ns);
    roast__journal_write_departure(run->journal, departure);
    return ROAST_OK;
}

int roast__run_put_departure(struct roast_run *run, const struct roast_departure *clean,
                             roast_error *err)
{
    roast__run_lock(run);
    int status = leave(run, clean, err);
    roast__run_unlock(run);
    return status;
}

int roast_run_member_left(roast_run *run, const struct roast_departure *departure,
                          roast_error *err)
{
    char worker[ROAST_NAME_BYTES];
    char reason[ROAST_REASON_BYTES];
    struct roast_departure clean = *departure;

    clean.worker = roast__clean(worker, sizeof(worker), departure->worker);
    clean.reason = roast__clean(reason, sizeof(reason), departure->reason);
    return roast__run_put_departure(run, &clean, err);
}

/* ---- clocks of hosts ------------------------------------------------------------- */

/* ---- the list -------------------------------------------------------------------- */

static uint64_t hash_host(int32_t host)
{
    return roast__hash_number((uint32_t)host);
}

static uint64_t hash_of_offset(const void *table, uint32_t item)
{
    const struct roast_clock_offsets *offsets = table;
    return hash_host(offsets->items[item].host);
}

static struct roast_host_offset *find_offset(const struct roast_clock_offsets *offsets,
                                             int32_t host)
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

void roast__clock_offsets_release(struct roast_clock_offsets *offsets)
{
    roast__free(offsets->items);
    roast__hash_release(&offsets->slots);
    *offsets = (struct roast_clock_offsets){.items = NULL};
}

/* The lock is held. */
static int put_offset(struct roast_run *run, struct roast_str host, int64_t offset_ns,
                      roast_error *err)
{
    struct roast_clock_offsets *offsets = &run->scheduler.clock_offsets;
    int32_t number = roast__strings_put(&run->strings, host);
    struct roast_host_offset *known = number >= 0 ? find_offset(offsets, number) : NULL;

    if (known && known->offset_ns == offset_ns)
        return ROAST_OK;
    if (!known && offsets->count >= ROAST_MOST_HOSTS) {
        roast__lose_and_write(run, ROAST_RUN_LOSS_scheduler_over_limit);
        return ROAST_OK;
    }
    if (known) {
        known->offset_ns = offset_ns;
    } else {
        struct roast_host_offset *items = roast__array_room(
            offsets->items, &offsets->cap, offsets->count, sizeof(*items));
        if (items)
            offsets->items = items;
        if (!items || number < 0 ||
            !roast__hash_room(&offsets->slots, offsets->count, hash_of_offset, offsets))
            return roast_error_set(err, ROAST_NO_MEMORY, "the clock of host %zu",
                                   offsets->count);
        items[offsets->count] =
            (struct roast_host_offset){.host = number, .offset_ns = offset_ns};
        roast__hash_put(&offsets->slots, hash_host(number), (uint32_t)offsets->count++);
    }
    roast__journal_write_offset(run->journal, host, offset_ns);
    return ROAST_OK;
}

int roast__run_put_offset(struct roast_run *run, struct roast_str clean,
                          int64_t offset_ns, roast_error *err)
{
    if (!clean.data)
        return ROAST_OK;
    roast__run_lock(run);
    int status = put_offset(run, clean, offset_ns, err);
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

static struct roast_host_offset *offset_of(const struct roast_run *run,
                                           const struct roast_worker_process *process)
{
    const struct roast_scheduler_view *view = &run->scheduler;
    const struct roast_worker_session *session =
        process->worker != ROAST_NO_STRING
            ? roast__latest_session(&view->sessions, process->worker)
            : NULL;
    struct roast_host_offset *found =
        session ? find_offset(&view->clock_offsets, session->host) : NULL;

    return found ? found : find_offset(&view->clock_offsets, process->host);
}

/* A host is the client's if any of its processes shares the clock. */
static void find_clients_host(const struct roast_run *run)
{
    struct roast_host_offset *offset =
        find_offset(&run->scheduler.clock_offsets, run->host);

    if (offset)
        offset->is_clients = true;
    for (size_t i = 0; i < run->attempts.process_count; i++) {
        const struct roast_worker_process *process = &run->attempts.processes[i];
        offset = process->shares_clock ? offset_of(run, process) : NULL;
        if (offset)
            offset->is_clients = true;
    }
}

/* ---- hosts by the names that processes have for them ----------------------------- */

/* Schedulers know hosts by address, processes by name. One process that is known to a
 * scheduler identifies the host for all others there. */
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

/* When out of memory some are missing until the next call. */
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

/* ---- moving rows ----------------------------------------------------------------- */

/* Sets move_ns of all processes; false: no row has to move. */
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
        process->move_ns = 0; /* rows without a known offset are not changed */
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

void roast__clock_offsets_apply(struct roast_run *run)
{
    struct roast_attempts *attempts = &run->attempts;

    if (run->scheduler.clock_offsets.count == 0)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* apply_kinds.c - makes the change of one journal entry, by its kind.
 *
 * Samples are entries one by one, or all of a worker at once as they are packed in
 * memory (samples.c). */
#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/journal/apply_entry.h"
#include "run/put.h"
#include "run/series.h"

/* ---- the run --------------------------------------------------------------------- */

/* A new host makes the run check every worker process again. */
static int set_host(struct roast_apply_entry *entry, struct roast_str host)
{
    roast_run *run = entry->apply->run;
    struct roast_str now = roast__strings_get(&run->strings, run->host);

    if (now.data && host.data && roast__str_equal(now, host))
        return ROAST_OK;
    if (roast__entry_too_costly(entry))
        return ROAST_BAD_DATA;
    return roast_run_set_host(run, host, entry->err);
}

static int apply_start(struct roast_apply_entry *entry)
{
    struct roast_apply *apply = entry->apply;
    int64_t mono_ns = roast__cursor_signed(&entry->in);
    int64_t epoch_ns = roast__cursor_signed(&entry->in);
    struct roast_str host = roast__entry_text(entry);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    int status = ROAST_OK;
    if (!apply->run)
        status = roast__apply_start(apply, mono_ns, epoch_ns, entry->err);
    if (status == ROAST_OK && host.data)
        status = set_host(entry, host);
    return status;
}

static int apply_finish(struct roast_apply_entry *entry)
{
    int64_t mono_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    roast_run_finish(entry->apply->run, mono_ns);
    return ROAST_OK;
}

static int apply_host(struct roast_apply_entry *entry)
{
    struct roast_str host = roast__entry_text(entry);

    return entry->in.failed ? ROAST_BAD_DATA : set_host(entry, host);
}

static int apply_accept(struct roast_apply_entry *entry)
{
    struct roast_str id = roast__entry_bytes(entry);

    if (id.size_bytes != ROAST_RUN_ID_BYTES || roast__entry_too_costly(entry))
        return ROAST_BAD_DATA;
    return roast_run_accept(entry->apply->run, (const unsigned char *)id.data,
                            entry->err);
}

/* What uses a text has it rewritten for that use; ids of names are found by the name. */
static bool keep_original(struct roast_rewrite *rewrite, bool is_name,
                          struct roast_str text)
{
    int32_t number = is_name ? roast__strings_put(&rewrite->announced, text) : 0;

    return !is_name || (number >= 0 &&
                        roast__names_add(&rewrite->names, &rewrite->announced, number));
}

static int apply_text(struct roast_apply_entry *entry)
{
    roast_run *run = entry->apply->run;
    bool is_name = roast__cursor_varint(&entry->in) != 0;
    struct roast_str text = roast__entry_bytes(entry);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    if (entry->apply->rewrite)
        return keep_original(entry->apply->rewrite, is_name, text)
                   ? ROAST_OK
                   : roast_error_set(entry->err, ROAST_NO_MEMORY, "a text");
    if (is_name)
        return roast__run_put_name(run, text, entry->err);
    if (roast__strings_put(&run->strings, text) < 0)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a text");
    return ROAST_OK;
}

static int apply_offer(struct roast_apply_entry *entry)
{
    int64_t time_ns = roast__entry_time(entry);
    uint64_t workers = roast__cursor_varint(&entry->in);
    uint64_t threads = roast__cursor_varint(&entry->in);

    if (entry->in.failed || roast__entry_too_late(entry, time_ns))
        return ROAST_BAD_DATA;
    return roast_run_offer(entry->apply->run, time_ns, workers, threads, entry->err);
}

static int apply_count(struct roast_apply_entry *entry)
{
    int64_t time_ns = roast__entry_time(entry);
    uint64_t workers = roast__cursor_varint(&entry->in);

    if (entry->in.failed || roast__entry_too_late(entry, time_ns))
        return ROAST_BAD_DATA;
    return roast_run_add_count(entry->apply->run, time_ns, workers, entry->err);
}

static int apply_fact(struct roast_apply_entry *entry)
{
    double value = roast__entry_double(entry);

    if (entry->in.failed || !isfinite(value))
        return ROAST_BAD_DATA;
    struct roast_str name = roast__entry_bytes(entry);
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (roast__str_is(name, roast_fact_name((enum roast_fact)i))) {
            roast_run_set_fact(entry->apply->run, (enum roast_fact)i, value);
            return ROAST_OK;
        }
    }
    return ROAST_BAD_DATA;
}

static int apply_loss(struct roast_apply_entry *entry)
{
    uint64_t count = roast__cursor_varint(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    struct roast_str name = roast__entry_bytes(entry);
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        if (roast__str_is(name, roast_run_loss_name((enum roast_run_loss)i))) {
            roast_run_lose(entry->apply->run, (enum roast_run_loss)i, count);
            return ROAST_OK;
        }
    }
    return ROAST_BAD_DATA;
}

static int apply_mark(struct roast_apply_entry *entry)
{
    uint64_t mark = roast__cursor_varint(&entry->in);
    int64_t mono_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed || mark < ROAST_MARK_RUN_BEGIN || mark >= ROAST_MARK_LAST ||
        roast__entry_too_late(entry, mono_ns))
        return ROAST_BAD_DATA;
    return roast_run_mark(entry->apply->run, (enum roast_mark)mark, mono_ns,
                          entry->err);
}

/* The run searches all its notes for each: few notes may be set very often. */
static int apply_note(struct roast_apply_entry *entry)
{
    enum { MOST_SEARCHED_NOTES = 1 << 28 };
    uint64_t *searched = &entry->apply->costly[entry->kind];
    struct roast_str group = roast__entry_text(entry);
    struct roast_str name = roast__entry_text(entry);
    struct roast_str text = roast__entry_text(entry);

    if (!entry->in.failed && !name.data && entry->apply->rewrite)
        return ROAST_OK; /* it is left out */
    if (entry->in.failed || !name.data ||
        (*searched += entry->apply->run->notes.count) > MOST_SEARCHED_NOTES)
        return ROAST_BAD_DATA;
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        enum roast_note_group known = (enum roast_note_group)i;
        if (roast__str_is(group, roast_note_group_name(known)))
            return roast__run_put_note(entry->apply->run, known, name, text,
                                       entry->err);
    }
    return ROAST_BAD_DATA;
}

static int apply_first_error(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_str text =
        roast_str_cut(roast__entry_rewrite(entry, roast__entry_bytes(entry)),
                      sizeof(run->first_error) - 1);

    memset(run->first_error, 0, sizeof(run->first_error));
    if (text.size_bytes > 0)
        memcpy(run->first_error, text.data, text.size_bytes);
    return ROAST_OK;
}

static int apply_head_end(struct roast_apply_entry *entry)
{
    entry->apply->head_done = true;
    return ROAST_OK;
}

static int apply_complete(struct roast_apply_entry *entry)
{
    entry->apply->complete = true;
    return ROAST_OK;
}

static int apply_dropped(struct roast_apply_entry *entry)
{
    uint64_t count = roast__cursor_varint(&entry->in);
    uint64_t *dropped = &entry->apply->dropped;

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    *dropped = roast__sat_count(*dropped, count);
    roast_run_lose(entry->apply->run, ROAST_RUN_LOSS_live_dropped, count);
    return ROAST_OK;
}

/* ---- samples --------------------------------------------------------------------- */

/* Skips the values of series of a later version. */
static void read_steps(struct roast_apply_entry *entry, struct roast_tick *tick)
{
    uint64_t mask = roast__cursor_varint(&entry->in);

    for (uint64_t left = mask; left && !entry->in.failed; left &= left - 1) {
        int series = __builtin_ctzll(left);
        int64_t steps = roast__cursor_signed(&entry->in);
        if (series >= ROAST_SERIES_COUNT)
            continue;
        tick->steps[series] = steps;
        tick->present |= UINT32_C(1) << series;
    }
}

static int apply_sample(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_announced_text worker;
    struct roast_tick tick = {0};
    int found = roast__entry_reference(entry, &worker);

    if (found <= 0)
        return found < 0 ? found : ROAST_BAD_DATA;
    int32_t name = roast__entry_string(entry, &worker);
    if (name < 0)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "the name of a worker");
    tick.time_us =
        roast__wrap_add(roast__cursor_signed(&entry->in), run->start_ns / 1000);
    read_steps(entry, &tick);
    if (entry->in.failed || tick.time_us > INT64_MAX / 1000 ||
        tick.time_us < INT64_MIN / 1000)
        return ROAST_BAD_DATA;
    return roast__run_put_tick(run, name, &tick, entry->err);
}

static int apply_use(struct roast_apply_entry *entry)
{
    struct roast_process_use use = {.pid = roast__cursor_varint(&entry->in)};

    use.started_ticks = roast__cursor_varint(&entry->in);
    uint64_t flags = roast__cursor_varint(&entry->in);
    use.ended = flags & 1;
    use.io_known = flags & 2;
    use.time_ns = roast__entry_time(entry);
    use.parent_pid = roast__cursor_varint(&entry->in);
    use.cpu_ns = roast__cursor_varint(&entry->in);
    use.reaped_cpu_ns = roast__cursor_varint(&entry->in);
    use.rss_bytes = roast__cursor_varint(&entry->in);
    use.threads = roast__cursor_varint(&entry->in);
    if (use.io_known) {
        use.read_bytes = roast__cursor_varint(&entry->in);
        use.write_bytes = roast__cursor_varint(&entry->in);
    }
    if (entry->in.failed)
        return ROAST_BAD_DATA;
    return roast_run_add_use(entry->apply->run, &use, entry->err);
}

/* ---- all samples of a worker ----------------------------------------------------- */

/* Copies the next size and bytes of the entry; false when out of memory. */
static bool read_stream(struct roast_apply_entry *entry, struct roast_buf *out)
{
    uint64_t size = roast__cursor_varint(&entry->in);
    const unsigned char *bytes = roast__cursor_bytes(&entry->in, size);

    if (!bytes || size == 0)
        return true;
    out->data = roast__realloc(NULL, (size_t)size); /* exactly as much as needed */
    if (!out->data)
        return false;
    memcpy(out->data, bytes, (size_t)size);
    out->size_bytes = out->cap_bytes = (size_t)size;
    return true;
}

/* Series of a later version come last. */
static bool read_streams(struct roast_apply_entry *entry,
                         struct roast_worker_samples *worker)
{
    bool ok = read_stream(entry, &worker->times);
    uint64_t mask = roast__cursor_varint(&entry->in);

    for (int i = 0; ok && i < ROAST_SERIES_COUNT && !entry->in.failed; i++) {
        if (!((mask >> i) & 1))
            continue;
        struct roast_packed_series *series =
            roast__samples_series(worker, (enum roast_series)i);
        ok = series && read_stream(entry, &series->changes);
    }
    return ok;
}

static int apply_series(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_worker_samples state = {.series = NULL};
    uint64_t *const numbers[] = {
        &state.stride,          &state.skipped,         &state.pid,
        &state.parent_pid,      &state.started_ticks,   &state.last_cpu_ns,
        &state.last_read_bytes, &state.last_write_bytes};
    struct roast_str name = roast__entry_text(entry);
    int status = ROAST_OK;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = roast__cursor_varint(&entry->in);
    state.last_io_known = roast__cursor_varint(&entry->in) != 0;
    state.last_use_ns = roast__entry_time(entry);
    if (entry->in.failed || !name.data)
        return ROAST_BAD_DATA;
    state.name = roast__strings_put(&run->strings, name);
    bool ok = state.name >= 0 && read_streams(entry, &state);
    struct roast_samples *samples = roast__run_samples(run, state.has);
    if (ok && (entry->in.failed || roast__samples_find(samples, state.name) ||
               !roast__samples_restore(&state)))
        status = ROAST_BAD_DATA;
    struct roast_worker_samples *worker =
        ok && status == ROAST_OK ? roast__samples_worker(samples, state.name) : NULL;
    if (worker) {
        *worker = state;
        return ROAST_OK;
    }
    roast__samples_drop(&state);
    return status < 0 ? status
                      : roast_error_set(entry->err, ROAST_NO_MEMORY,
                                        "the samples of a worker");
}

/* ---- workers that join and leave ------------------------------------------------- */

/* Joins and leaves both move later offers, so they share one limit. */
static bool is_too_late(struct roast_apply_entry *entry, int64_t time_ns)
{
    entry->kind = ROAST_ENTRY_member;
    return roast__entry_too_late(entry, time_ns);
}

static int apply_member(struct roast_apply_entry *entry)
{
    struct roast_member member = {.joined_ns = roast__entry_time(entry)};

    member.pid = roast__cursor_varint(&entry->in);
    member.threads = roast__cursor_varint(&entry->in);
    member.memory_limit_bytes = roast__cursor_varint(&entry->in);
    member.worker = roast__entry_text(entry);
    member.name = roast__entry_text(entry);
    member.host = roast__entry_text(entry);
    if (entry->in.failed || !member.worker.data || is_too_late(entry, member.joined_ns))
        return ROAST_BAD_DATA;
    return roast__run_put_member(entry->apply->run, &member, entry->err);
}

static int apply_departure(struct roast_apply_entry *entry)
{
    struct roast_departure departure = {.left_ns = roast__entry_time(entry)};

    departure.expected = roast__cursor_varint(&entry->in) != 0;
    departure.worker = roast__entry_text(entry);
    departure.reason = roast__entry_text(entry);
    if (entry->in.failed || !departure.worker.data ||
        is_too_late(entry, departure.left_ns))
        return ROAST_BAD_DATA;
    return roast__run_put_departure(entry->apply->run, &departure, entry->err);
}

/* The offers of the worker have their own entries. */
static int apply_session(struct roast_apply_entry *entry)
{
    struct roast_run *run = entry->apply->run;
    struct roast_string_table *strings = &run->strings;
    uint64_t flags = roast__cursor_varint(&entry->in);
    struct roast_worker_session session = {.joined_ns = roast__entry_time(entry),
                                           .expected = flags & ROAST_SESSION_EXPECTED};

    if (flags & ROAST_SESSION_LEFT)
        session.left_ns =
            roast__wrap_add(session.joined_ns, roast__cursor_signed(&entry->in));
    session.pid = roast__cursor_varint(&entry->in);
    session.threads = roast__cursor_varint(&entry->in);
    session.memory_limit_bytes = roast__cursor_varint(&entry->in);
    struct roast_str worker = roast__entry_text(entry);
    struct roast_str name = roast__entry_text(entry);
    struct roast_str host = roast__entry_text(entry);
    struct roast_str reason = roast__entry_text(entry);
    if (entry->in.failed || !worker.data ||
        run->scheduler.sessions.count >= ROAST_MOST_SESSIONS)
        return ROAST_BAD_DATA;
    session.worker = roast__strings_put(strings, worker);
    session.name = roast__strings_put(strings, name);
    session.host = roast__strings_put(strings, host);
    session.reason = roast__strings_put(strings, reason);
    if (session.worker < 0 || session.name == ROAST_STRING_NO_MEMORY ||
        session.host == ROAST_STRING_NO_MEMORY ||
        session.reason == ROAST_STRING_NO_MEMORY ||
        !roast__sessions_append(&run->scheduler.sessions, &session))
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a worker session");
    return ROAST_OK;
}

static int apply_offset(struct roast_apply_entry *entry)
{
    int64_t offset_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    struct roast_str host = roast__entry_rewrite(entry, roast__entry_bytes(entry));
    return roast__run_put_offset(entry->apply->run, host, offset_ns, entry->err);
}

/* ---- tasks ----------------------------------------------------------------------- */

static int apply_task(struct roast_apply_entry *entry)
{
    struct roast_task task = {.key_hash = 0};
    const struct roast_string_table *strings = &entry->apply->run->strings;
    struct roast_announced_text prefix = {.id = ROAST_NO_STRING};
    struct roast_announced_text worker = {.id = ROAST_NO_STRING};
    int found = roast__entry_reference(entry, &prefix);

    if (found >= 0)
        found = roast__entry_reference(entry, &worker);
    if (found < 0)
        return found;
    task.key_hash = (uint32_t)roast__cursor_varint(&entry->in);
    uint64_t end = roast__cursor_varint(&entry->in);
    task.ours = end & 1;
    task.end = end >> 1 < ROAST_TASK_END_LAST ? (enum roast_task_end)(end >> 1) : 0;
    task.assigned_ns = roast__entry_time(entry);
    task.start_ns = roast__wrap_add(task.assigned_ns, roast__cursor_signed(&entry->in));
    task.stop_ns = roast__wrap_add(task.start_ns, roast__cursor_signed(&entry->in));
    if (entry->in.failed || !roast_task_end_name((unsigned)task.end))
        return ROAST_BAD_DATA;
    int32_t prefix_id = roast__entry_string(entry, &prefix);
    int32_t worker_id = roast__entry_string(entry, &worker);
    if (prefix_id == ROAST_STRING_NO_MEMORY || worker_id == ROAST_STRING_NO_MEMORY)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "the names of a task");
    task.prefix = roast__strings_get(strings, prefix_id);
    task.worker = roast__strings_get(strings, worker_id);
    return roast__run_put_task(entry->apply->run, &task, entry->err);
}

/* ---- sums ------------------------------------------------------------------------ */

static int apply_activity(struct roast_apply_entry *entry)
{
    struct roast_activity activity = {.value = roast__entry_double(entry)};

    activity.context = roast__entry_text(entry);
    activity.prefix = roast__entry_text(entry);
    activity.activity = roast__entry_text(entry);
    activity.unit = roast__entry_text(entry);
    if (entry->in.failed || !isfinite(activity.value))
        return ROAST_BAD_DATA;
    return roast__run_put_activity(entry->apply->run, &activity, entry->err);
}

static int apply_hot_line(struct roast_apply_entry *entry)
{
    struct roast_hot_line line = {.line = roast__cursor_varint(&entry->in)};

    line.seconds = roast__entry_double(entry);
    line.self_seconds = roast__entry_double(entry);
    line.file = roast__entry_text(entry);
    line.function = roast__entry_text(entry);
    line.text = roast__entry_text(entry);
    if (entry->in.failed || !isfinite(line.seconds) || !isfinite(line.self_seconds))
        return ROAST_BAD_DATA;
    return roast__run_put_hot_line(entry->apply->run, &line, entry->err);
}

/* ---- dispatch -------------------------------------------------------------------- */

/* Part and whole are handled by apply.c, and are never nested. */
static int (*const readers[ROAST_ENTRY_END])(struct roast_apply_entry *entry) = {
    [ROAST_ENTRY_start] = apply_start,
    [ROAST_ENTRY_finish] = apply_finish,
    [ROAST_ENTRY_host] = apply_host,
    [ROAST_ENTRY_accept] = apply_accept,
    [ROAST_ENTRY_record] = roast__apply_record,
    [ROAST_ENTRY_text] = apply_text,
    [ROAST_ENTRY_sample] = apply_sample,
    [ROAST_ENTRY_use] = apply_use,
    [ROAST_ENTRY_offer] = apply_offer,
    [ROAST_ENTRY_count] = apply_count,
    [ROAST_ENTRY_fact] = apply_fact,
    [ROAST_ENTRY_loss] = apply_loss,
    [ROAST_ENTRY_mark] = apply_mark,
    [ROAST_ENTRY_note] = apply_note,
    [ROAST_ENTRY_dropped] = apply_dropped,
    [ROAST_ENTRY_member] = apply_member,
    [ROAST_ENTRY_departure] = apply_departure,
    [ROAST_ENTRY_task] = apply_task,
    [ROAST_ENTRY_offset] = apply_offset,
    [ROAST_ENTRY_activity] = apply_activity,
    [ROAST_ENTRY_hot_line] = apply_hot_line,
    [ROAST_ENTRY_series] = apply_series,
    [ROAST_ENTRY_session] = apply_session,
    [ROAST_ENTRY_first_error] = apply_first_error,
    [ROAST_ENTRY_head_end] = apply_head_end,
    [ROAST_ENTRY_complete] = apply_complete,
};

int roast__apply_kind(struct roast_apply_entry *entry, uint64_t kind)
{
    struct roast_apply *apply = entry->apply;

    if (kind >= ROAST_ENTRY_END || !readers[kind] ||
        (!apply->run && kind != ROAST_ENTRY_start))
        return ROAST_BAD_DATA;
    if (apply->notes_only && kind != ROAST_ENTRY_note && kind != ROAST_ENTRY_start &&
        kind != ROAST_ENTRY_finish)
        return ROAST_OK;
    entry->kind = (enum roast_entry)kind;
    return readers[kind](entry);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* journal_apply_tasks.c - what a scheduler saw, out of a journal. */
#include <math.h>

#include "base/array.h"
#include "run/journal_apply.h"
#include "run/put.h"

/* ---- workers that join and leave ------------------------------------------------- */

/* Both move what is offered later: an out-of-order entry costs what others cost. */
static bool is_too_late(struct roast_apply_entry *entry, int64_t time_ns)
{
    entry->kind = ROAST_ENTRY_member;
    return roast__entry_too_late(entry, time_ns);
}

int roast__apply_member(struct roast_apply_entry *entry)
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

int roast__apply_departure(struct roast_apply_entry *entry)
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

/* What the worker offered is in entries of its own. */
int roast__apply_session(struct roast_apply_entry *entry)
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

int roast__apply_offset(struct roast_apply_entry *entry)
{
    int64_t offset_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    return roast__run_put_offset(entry->apply->run, roast__entry_bytes(entry),
                                 offset_ns, entry->err);
}

/* ---- tasks ----------------------------------------------------------------------- */

int roast__apply_task(struct roast_apply_entry *entry)
{
    struct roast_task task = {.key_hash = 0};
    struct roast_known_text prefix = {.id = ROAST_NO_STRING};
    struct roast_known_text worker = {.id = ROAST_NO_STRING};
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
    task.prefix = roast__strings_get(&entry->apply->run->strings, prefix.id);
    task.worker = roast__strings_get(&entry->apply->run->strings, worker.id);
    return roast__run_put_task(entry->apply->run, &task, entry->err);
}

/* ---- sums ------------------------------------------------------------------------ */

int roast__apply_activity(struct roast_apply_entry *entry)
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

int roast__apply_hot_line(struct roast_apply_entry *entry)
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

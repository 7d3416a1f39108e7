/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c - makes the changes that the entries of a live file tell, once more.
 *
 * An entry that cannot be understood is left out and counted; its neighbours do not
 * depend on it. Frames are taken as if the user gave them: that they belong to the run
 * was found out when they came, and must not hang on another entry that may be lost. */
#include "file/live/replay.h"

#include <math.h>

#include "base/mem.h"
#include "file/live/entry.h"
#include "run/replay.h"

/* The run searches or moves others for each of these. More than any run has. */
enum { MOST_COSTLY = 16384 };

static struct roast_str text_of(struct roast_live_entry *entry, uint64_t size_bytes)
{
    const unsigned char *bytes = roast__cursor_bytes(&entry->in, size_bytes);

    return (struct roast_str){(const char *)bytes, bytes ? (size_t)size_bytes : 0};
}

/* Files of strangers must not take for ever. */
static bool is_too_costly(struct roast_live_entry *entry)
{
    return ++entry->replay->costly[entry->kind] > MOST_COSTLY;
}

bool roast__entry_too_late(struct roast_live_entry *entry, int64_t time_ns)
{
    int64_t *latest_ns = &entry->replay->latest_ns[entry->kind];

    if (time_ns >= *latest_ns) {
        *latest_ns = time_ns;
        return false;
    }
    return is_too_costly(entry);
}

/* ---- the kinds; BAD_DATA is an entry to leave out ------------------------ */

/* Of a host that is another one every worker process is looked at again. */
static int set_host(struct roast_live_entry *entry, struct roast_str host)
{
    roast_run *run = entry->replay->run;
    struct roast_str now = roast__strings_get(&run->strings, run->host);

    if (now.data && host.data && now.size_bytes == host.size_bytes &&
        memcmp(now.data, host.data, host.size_bytes) == 0)
        return ROAST_OK;
    if (is_too_costly(entry))
        return ROAST_BAD_DATA;
    return roast_run_set_host(run, host, entry->err);
}

static int read_start(struct roast_live_entry *entry)
{
    struct roast_replay *replay = entry->replay;
    int64_t mono_ns = roast__cursor_signed(&entry->in);
    int64_t epoch_ns = roast__cursor_signed(&entry->in);
    uint64_t has_host = roast__cursor_varint(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    int status = ROAST_OK;
    if (!replay->run)
        status = roast__replay_start(replay, mono_ns, epoch_ns, entry->err);
    if (status == ROAST_OK && has_host)
        status = set_host(entry, roast__entry_rest(entry));
    return status;
}

static int read_finish(struct roast_live_entry *entry)
{
    int64_t mono_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    roast_run_finish(entry->replay->run, mono_ns);
    return ROAST_OK;
}

static int read_host(struct roast_live_entry *entry)
{
    struct roast_str host = roast__entry_rest(entry);

    if (host.size_bytes == 0)
        host.data = NULL;
    return set_host(entry, host);
}

static int read_accept(struct roast_live_entry *entry)
{
    struct roast_str id = roast__entry_rest(entry);

    if (id.size_bytes != ROAST_RUN_ID_BYTES || is_too_costly(entry))
        return ROAST_BAD_DATA;
    return roast_run_accept(entry->replay->run, (const unsigned char *)id.data,
                            entry->err);
}

static int read_frame(struct roast_live_entry *entry)
{
    (void)roast__cursor_varint(&entry->in); /* from whom it came */
    if (entry->in.failed)
        return ROAST_BAD_DATA;
    return roast_run_add_frames(entry->replay->run, roast__entry_rest(entry),
                                ROAST_FROM_USER, NULL, entry->err);
}

static int read_name(struct roast_live_entry *entry)
{
    return roast__run_put_name(entry->replay->run, roast__entry_rest(entry),
                               entry->err);
}

static int read_offer(struct roast_live_entry *entry)
{
    int64_t time_ns = roast__entry_time(entry);
    uint64_t workers = roast__cursor_varint(&entry->in);
    uint64_t threads = roast__cursor_varint(&entry->in);

    if (entry->in.failed || roast__entry_too_late(entry, time_ns))
        return ROAST_BAD_DATA;
    return roast_run_offer(entry->replay->run, time_ns, workers, threads, entry->err);
}

static int read_count(struct roast_live_entry *entry)
{
    int64_t time_ns = roast__entry_time(entry);
    uint64_t workers = roast__cursor_varint(&entry->in);

    if (entry->in.failed || roast__entry_too_late(entry, time_ns))
        return ROAST_BAD_DATA;
    return roast_run_add_count(entry->replay->run, time_ns, workers, entry->err);
}

static bool is_called(struct roast_str text, const char *name)
{
    return text.size_bytes == strlen(name) &&
           memcmp(text.data, name, text.size_bytes) == 0;
}

static int read_fact(struct roast_live_entry *entry)
{
    uint64_t bits = roast__cursor_varint(&entry->in);
    double value;

    memcpy(&value, &bits, sizeof(value));
    if (entry->in.failed || !isfinite(value))
        return ROAST_BAD_DATA;
    struct roast_str name = roast__entry_rest(entry);
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (is_called(name, roast_fact_name((enum roast_fact)i))) {
            roast_run_set_fact(entry->replay->run, (enum roast_fact)i, value);
            return ROAST_OK;
        }
    }
    return ROAST_BAD_DATA;
}

static int read_loss(struct roast_live_entry *entry)
{
    uint64_t count = roast__cursor_varint(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    struct roast_str name = roast__entry_rest(entry);
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        if (is_called(name, roast_run_loss_name((enum roast_run_loss)i))) {
            roast_run_lose(entry->replay->run, (enum roast_run_loss)i, count);
            return ROAST_OK;
        }
    }
    return ROAST_BAD_DATA;
}

static int read_mark(struct roast_live_entry *entry)
{
    uint64_t mark = roast__cursor_varint(&entry->in);
    int64_t mono_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed || mark < ROAST_MARK_RUN_BEGIN || mark > ROAST_MARK_RUN_END ||
        roast__entry_too_late(entry, mono_ns))
        return ROAST_BAD_DATA;
    return roast_run_mark(entry->replay->run, (enum roast_mark)mark, mono_ns,
                          entry->err);
}

static int read_note(struct roast_live_entry *entry)
{
    uint64_t group_bytes = roast__cursor_varint(&entry->in);
    uint64_t name_bytes = roast__cursor_varint(&entry->in);
    uint64_t has_text = roast__cursor_varint(&entry->in);
    struct roast_str group = text_of(entry, group_bytes);
    struct roast_str name = text_of(entry, name_bytes);

    if (entry->in.failed || is_too_costly(entry))
        return ROAST_BAD_DATA;
    struct roast_str text = roast__entry_rest(entry);
    if (!has_text)
        text = (struct roast_str){NULL, 0};
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        enum roast_note_group known = (enum roast_note_group)i;
        if (is_called(group, roast_note_group_name(known)))
            return roast__run_put_note(entry->replay->run, known, name, text,
                                       entry->err);
    }
    return ROAST_BAD_DATA;
}

/* ---- entries of all kinds ------------------------------------------------ */

static int read_dropped(struct roast_live_entry *entry)
{
    uint64_t count = roast__cursor_varint(&entry->in);
    uint64_t *dropped = &entry->replay->dropped;

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    *dropped = roast__sat_count(*dropped, count);
    roast_run_lose(entry->replay->run, ROAST_RUN_LOSS_live_dropped, count);
    return ROAST_OK;
}

static void forget_parts(struct roast_replay *replay)
{
    roast__buf_release(&replay->parts);
    replay->part_count = 0;
}

static int keep_part(struct roast_live_entry *entry)
{
    struct roast_buf *parts = &entry->replay->parts;
    struct roast_str part = roast__entry_rest(entry);

    roast__buf_put(parts, part.data, part.size_bytes);
    if (!roast__buf_ok(parts))
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a part of %zu bytes",
                               part.size_bytes);
    entry->replay->part_count++;
    return ROAST_OK;
}

static int read_part(struct roast_live_entry *entry)
{
    uint64_t number = roast__cursor_varint(&entry->in);

    if (number == 0)
        forget_parts(entry->replay);
    if (entry->in.failed || number != entry->replay->part_count)
        return ROAST_BAD_DATA;
    return keep_part(entry);
}

typedef int reader(struct roast_live_entry *entry);

/* Without part and whole: those are read before, and never hold one another. */
static reader *const readers[ROAST_ENTRY_END] = {
    [ROAST_ENTRY_start] = read_start,
    [ROAST_ENTRY_finish] = read_finish,
    [ROAST_ENTRY_host] = read_host,
    [ROAST_ENTRY_accept] = read_accept,
    [ROAST_ENTRY_frame] = read_frame,
    [ROAST_ENTRY_name] = read_name,
    [ROAST_ENTRY_sample] = roast__read_sample,
    [ROAST_ENTRY_use] = roast__read_use,
    [ROAST_ENTRY_offer] = read_offer,
    [ROAST_ENTRY_count] = read_count,
    [ROAST_ENTRY_fact] = read_fact,
    [ROAST_ENTRY_loss] = read_loss,
    [ROAST_ENTRY_mark] = read_mark,
    [ROAST_ENTRY_note] = read_note,
    [ROAST_ENTRY_dropped] = read_dropped,
    [ROAST_ENTRY_member] = roast__read_member,
    [ROAST_ENTRY_departure] = roast__read_departure,
    [ROAST_ENTRY_task] = roast__read_task,
    [ROAST_ENTRY_task_frame] = roast__read_task_frame,
    [ROAST_ENTRY_offset] = roast__read_offset,
    [ROAST_ENTRY_activity] = roast__read_activity,
    [ROAST_ENTRY_hot_line] = roast__read_hot_line,
};

static int read_kind(struct roast_live_entry *entry, uint64_t kind)
{
    struct roast_replay *replay = entry->replay;
    reader *read = kind < ROAST_ENTRY_END ? readers[kind] : NULL;

    if (!read || (!replay->run && kind != ROAST_ENTRY_start))
        return ROAST_BAD_DATA;
    if (replay->notes_only && kind != ROAST_ENTRY_note && kind != ROAST_ENTRY_start &&
        kind != ROAST_ENTRY_finish)
        return ROAST_OK;
    entry->kind = (enum roast_entry)kind;
    return read(entry);
}

static int read_whole(struct roast_live_entry *entry)
{
    struct roast_replay *replay = entry->replay;
    uint64_t kind = roast__cursor_varint(&entry->in);
    uint64_t count = roast__cursor_varint(&entry->in);
    int status = ROAST_BAD_DATA;

    if (!entry->in.failed && count == replay->part_count) {
        status = keep_part(entry);
        entry->in = roast__cursor(replay->parts.data, replay->parts.size_bytes);
        if (status == ROAST_OK)
            status = read_kind(entry, kind);
    }
    forget_parts(replay);
    return status;
}

static bool is_change(uint64_t kind)
{
    return kind != ROAST_ENTRY_start && kind != ROAST_ENTRY_part &&
           kind != ROAST_ENTRY_dropped;
}

/* The next entry of a block. */
static int read_entry(struct roast_replay *replay, struct roast_cursor *in,
                      roast_error *err)
{
    struct roast_live_entry entry = {.replay = replay, .err = err};
    uint64_t kind = roast__cursor_varint(in);
    uint64_t size = roast__cursor_varint(in);
    const unsigned char *payload = roast__cursor_bytes(in, size);
    int status;

    if (!payload)
        return ROAST_BAD_DATA;
    entry.in = roast__cursor(payload, (size_t)size);
    if (kind == ROAST_ENTRY_part)
        status = read_part(&entry);
    else if (kind == ROAST_ENTRY_whole)
        status = read_whole(&entry);
    else
        status = read_kind(&entry, kind);
    replay->entries += status == ROAST_OK && is_change(kind);
    return status;
}

int roast__replay_block(struct roast_replay *replay, struct roast_str entries, bool gap,
                        roast_error *err)
{
    struct roast_cursor in = roast__cursor(entries.data, entries.size_bytes);

    if (gap)
        forget_parts(replay);
    while (roast__cursor_left(&in) > 0 && !in.failed) {
        int status = read_entry(replay, &in, err);
        if (status == ROAST_NO_MEMORY)
            return status;
        replay->unread += status < 0;
    }
    return ROAST_OK;
}

int roast__replay_start(struct roast_replay *replay, int64_t start_mono_ns,
                        int64_t start_epoch_ns, roast_error *err)
{
    for (int i = 0; i < ROAST_ENTRY_END; i++)
        replay->latest_ns[i] = INT64_MIN;
    return roast_run_new(&replay->run, start_mono_ns, start_epoch_ns, err);
}

void roast__replay_release(struct roast_replay *replay)
{
    roast_run_free(replay->run);
    roast__free(replay->workers);
    roast__slots_release(&replay->worker_slots);
    roast__free(replay->texts);
    roast__slots_release(&replay->text_slots);
    roast__strings_release(&replay->strings);
    roast__buf_release(&replay->parts);
    *replay = (struct roast_replay){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* journal_apply.c - makes the changes of journal entries in a run.
 *
 * Records are taken as if the user gave them: that they belong to the run was checked
 * when they came, and must not depend on another entry that may be lost. */
#include "run/journal_apply.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/put.h"

/* For each of these the run searches or moves others. More than any run has. */
enum { MOST_COSTLY = 16384 };

/* ---- parts of a payload ---------------------------------------------------------- */

struct roast_str roast__entry_bytes(struct roast_apply_entry *entry)
{
    size_t left = roast__cursor_left(&entry->in);

    return (struct roast_str){(const char *)roast__cursor_bytes(&entry->in, left),
                              left};
}

struct roast_str roast__entry_text(struct roast_apply_entry *entry)
{
    uint64_t size = roast__cursor_varint(&entry->in);
    struct roast_str text = {NULL, 0};

    if (size == 0)
        return text;
    text.data = (const char *)roast__cursor_bytes(&entry->in, size - 1);
    text.size_bytes = text.data ? (size_t)(size - 1) : 0;
    return text;
}

int64_t roast__entry_time(struct roast_apply_entry *entry)
{
    return roast__wrap_add(roast__cursor_signed(&entry->in),
                           entry->apply->run->start_ns);
}

double roast__entry_double(struct roast_apply_entry *entry)
{
    uint64_t bits = roast__cursor_varint(&entry->in);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static uint64_t hash_of_text(const void *table, uint32_t item)
{
    const struct roast_apply *apply = table;
    return roast__hash_number(apply->texts[item].number);
}

static struct roast_known_text *find_text(const struct roast_apply *apply,
                                          uint64_t number)
{
    const struct roast_hash_table *slots = &apply->text_slots;

    for (size_t at = roast__hash_first(slots, roast__hash_number(number));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_known_text *text = &apply->texts[roast__hash_item(slots, at)];
        if (text->number == number)
            return text;
    }
    return NULL;
}

int roast__apply_find_text(const struct roast_apply *apply, int64_t number,
                           struct roast_known_text *out)
{
    const struct roast_known_text *known =
        number >= 0 ? find_text(apply, (uint64_t)number) : NULL;

    if (!known)
        return number < 0 ? 0 : ROAST_BAD_DATA;
    *out = *known;
    return 1;
}

/* Returns NULL when out of memory. */
static struct roast_known_text *learn_text(struct roast_apply *apply, uint64_t number,
                                           struct roast_str text)
{
    struct roast_known_text *known = find_text(apply, number);
    struct roast_known_text fresh = {
        number, apply->block, roast__strings_put(&apply->run->strings, text), text};

    if (fresh.id < 0)
        return NULL;
    if (!known) {
        struct roast_known_text *texts = roast__array_room(
            apply->texts, &apply->text_cap, apply->text_count, sizeof(*texts));
        if (!texts)
            return NULL;
        apply->texts = texts;
        if (apply->text_count >= UINT32_MAX ||
            !roast__hash_room(&apply->text_slots, apply->text_count, hash_of_text,
                              apply))
            return NULL;
        known = &texts[apply->text_count];
        roast__hash_put(&apply->text_slots, roast__hash_number(number),
                        (uint32_t)apply->text_count++);
    }
    *known = fresh;
    return known;
}

int roast__entry_reference(struct roast_apply_entry *entry,
                           struct roast_known_text *out)
{
    uint64_t head = roast__cursor_varint(&entry->in);
    bool announced = head & 1;

    if (entry->in.failed || head == 1)
        return ROAST_BAD_DATA;
    if (!announced)
        return roast__apply_find_text(entry->apply, (int64_t)(head >> 1) - 1, out);
    struct roast_str text = roast__entry_text(entry);
    if (!text.data)
        return ROAST_BAD_DATA;
    const struct roast_known_text *known =
        learn_text(entry->apply, (head >> 1) - 1, text);
    if (!known)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a text of a journal");
    *out = *known;
    return 1;
}

static bool is_too_costly(struct roast_apply_entry *entry)
{
    return ++entry->apply->costly[entry->kind] > MOST_COSTLY;
}

bool roast__entry_too_late(struct roast_apply_entry *entry, int64_t time_ns)
{
    int64_t *latest_ns = &entry->apply->latest_ns[entry->kind];

    if (time_ns >= *latest_ns) {
        *latest_ns = time_ns;
        return false;
    }
    return is_too_costly(entry);
}

/* ---- the run --------------------------------------------------------------------- */

/* A new host makes the run check every worker process again. */
static int set_host(struct roast_apply_entry *entry, struct roast_str host)
{
    roast_run *run = entry->apply->run;
    struct roast_str now = roast__strings_get(&run->strings, run->host);

    if (now.data && host.data && roast__str_equal(now, host))
        return ROAST_OK;
    if (is_too_costly(entry))
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

    if (id.size_bytes != ROAST_RUN_ID_BYTES || is_too_costly(entry))
        return ROAST_BAD_DATA;
    return roast_run_accept(entry->apply->run, (const unsigned char *)id.data,
                            entry->err);
}

static int apply_text(struct roast_apply_entry *entry)
{
    roast_run *run = entry->apply->run;
    bool is_name = roast__cursor_varint(&entry->in) != 0;
    struct roast_str text = roast__entry_bytes(entry);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
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

    if (entry->in.failed || mark < ROAST_MARK_RUN_BEGIN || mark > ROAST_MARK_RUN_END ||
        roast__entry_too_late(entry, mono_ns))
        return ROAST_BAD_DATA;
    return roast_run_mark(entry->apply->run, (enum roast_mark)mark, mono_ns,
                          entry->err);
}

static int apply_note(struct roast_apply_entry *entry)
{
    struct roast_str group = roast__entry_text(entry);
    struct roast_str name = roast__entry_text(entry);
    struct roast_str text = roast__entry_text(entry);

    if (entry->in.failed || !name.data || is_too_costly(entry))
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
        roast_str_cut(roast__entry_bytes(entry), sizeof(run->first_error) - 1);

    memset(run->first_error, 0, sizeof(run->first_error));
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

/* ---- entries of all kinds -------------------------------------------------------- */

/* Without part and whole: those are read before, and never hold one another. */
static roast__apply_reader *const readers[ROAST_ENTRY_END] = {
    [ROAST_ENTRY_start] = apply_start,
    [ROAST_ENTRY_finish] = apply_finish,
    [ROAST_ENTRY_host] = apply_host,
    [ROAST_ENTRY_accept] = apply_accept,
    [ROAST_ENTRY_record] = roast__apply_record,
    [ROAST_ENTRY_text] = apply_text,
    [ROAST_ENTRY_sample] = roast__apply_sample,
    [ROAST_ENTRY_use] = roast__apply_use,
    [ROAST_ENTRY_offer] = apply_offer,
    [ROAST_ENTRY_count] = apply_count,
    [ROAST_ENTRY_fact] = apply_fact,
    [ROAST_ENTRY_loss] = apply_loss,
    [ROAST_ENTRY_mark] = apply_mark,
    [ROAST_ENTRY_note] = apply_note,
    [ROAST_ENTRY_dropped] = apply_dropped,
    [ROAST_ENTRY_member] = roast__apply_member,
    [ROAST_ENTRY_departure] = roast__apply_departure,
    [ROAST_ENTRY_task] = roast__apply_task,
    [ROAST_ENTRY_offset] = roast__apply_offset,
    [ROAST_ENTRY_activity] = roast__apply_activity,
    [ROAST_ENTRY_hot_line] = roast__apply_hot_line,
    [ROAST_ENTRY_series] = roast__apply_series,
    [ROAST_ENTRY_session] = roast__apply_session,
    [ROAST_ENTRY_first_error] = apply_first_error,
    [ROAST_ENTRY_head_end] = apply_head_end,
    [ROAST_ENTRY_complete] = apply_complete,
};

static int apply_kind(struct roast_apply_entry *entry, uint64_t kind)
{
    struct roast_apply *apply = entry->apply;
    roast__apply_reader *read = kind < ROAST_ENTRY_END ? readers[kind] : NULL;

    if (!read || (!apply->run && kind != ROAST_ENTRY_start))
        return ROAST_BAD_DATA;
    if (apply->notes_only && kind != ROAST_ENTRY_note && kind != ROAST_ENTRY_start &&
        kind != ROAST_ENTRY_finish)
        return ROAST_OK;
    entry->kind = (enum roast_entry)kind;
    return read(entry);
}

static void forget_parts(struct roast_apply *apply)
{
    roast__buf_release(&apply->parts);
    apply->part_count = 0;
}

static int keep_part(struct roast_apply_entry *entry)
{
    struct roast_buf *parts = &entry->apply->parts;
    struct roast_str part = roast__entry_bytes(entry);

    roast__buf_put(parts, part.data, part.size_bytes);
    if (!roast__buf_ok(parts))
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a part of %zu bytes",
                               part.size_bytes);
    entry->apply->part_count++;
    return ROAST_OK;
}

static int apply_part(struct roast_apply_entry *entry)
{
    uint64_t number = roast__cursor_varint(&entry->in);

    if (number == 0)
        forget_parts(entry->apply);
    if (entry->in.failed || number != entry->apply->part_count)
        return ROAST_BAD_DATA;
    return keep_part(entry);
}

static int apply_whole(struct roast_apply_entry *entry)
{
    struct roast_apply *apply = entry->apply;
    uint64_t kind = roast__cursor_varint(&entry->in);
    uint64_t count = roast__cursor_varint(&entry->in);
    int status = ROAST_BAD_DATA;

    if (!entry->in.failed && count == apply->part_count) {
        status = keep_part(entry);
        entry->in = roast__cursor(apply->parts.data, apply->parts.size_bytes);
        if (status == ROAST_OK)
            status = apply_kind(entry, kind);
    }
    apply->block++; /* nothing may refer to texts in these parts any more */
    forget_parts(apply);
    return status;
}

static bool is_change(uint64_t kind)
{
    return kind != ROAST_ENTRY_start && kind != ROAST_ENTRY_part &&
           kind != ROAST_ENTRY_dropped && kind != ROAST_ENTRY_head_end &&
           kind != ROAST_ENTRY_complete;
}

/* The next entry of a block. */
static int apply_entry(struct roast_apply *apply, struct roast_cursor *in,
                       roast_error *err)
{
    struct roast_apply_entry entry = {.apply = apply, .err = err};
    uint64_t kind = roast__cursor_varint(in);
    uint64_t size = roast__cursor_varint(in);
    const unsigned char *payload = roast__cursor_bytes(in, size);
    int status;

    if (!payload)
        return ROAST_BAD_DATA;
    entry.in = roast__cursor(payload, (size_t)size);
    if (kind == ROAST_ENTRY_part)
        status = apply_part(&entry);
    else if (kind == ROAST_ENTRY_whole)
        status = apply_whole(&entry);
    else
        status = apply_kind(&entry, kind);
    apply->entries += status == ROAST_OK && is_change(kind);
    return status;
}

int roast__apply_block(struct roast_apply *apply, struct roast_str entries, bool gap,
                       roast_error *err)
{
    struct roast_cursor in = roast__cursor(entries.data, entries.size_bytes);

    if (gap)
        forget_parts(apply);
    apply->block++;
    while (roast__cursor_left(&in) > 0 && !in.failed &&
           !(apply->head_only && apply->head_done)) {
        int status = apply_entry(apply, &in, err);
        if (status == ROAST_NO_MEMORY)
            return status;
        apply->unread += status < 0;
    }
    return ROAST_OK;
}

int roast__apply_start(struct roast_apply *apply, int64_t start_mono_ns,
                       int64_t start_epoch_ns, roast_error *err)
{
    for (int i = 0; i < ROAST_ENTRY_END; i++)
        apply->latest_ns[i] = INT64_MIN;
    return roast_run_new(&apply->run, start_mono_ns, start_epoch_ns, err);
}

void roast__apply_release(struct roast_apply *apply)
{
    roast_run_free(apply->run);
    roast__free(apply->texts);
    roast__hash_release(&apply->text_slots);
    roast__free(apply->contexts);
    roast__buf_release(&apply->parts);
    *apply = (struct roast_apply){0};
}

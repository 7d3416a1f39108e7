/* SPDX-License-Identifier: BSD-3-Clause */
/* apply.c - makes the changes of journal entries in a run.
 *
 * Records are added like those of a user: whether they belong to the run was checked on
 * arrival, and must not depend on another entry that may be lost. */
#include "run/journal/apply_entry.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

/* Entries of some kinds make the run search or move items. The limit is above the
 * number in any real run. */
enum { MOST_COSTLY = 16384 };

/* ---- parts of a payload ---------------------------------------------------------- */

struct roast_str roast__entry_bytes(struct roast_apply_entry *entry)
{
    size_t left = roast__cursor_remaining(&entry->in);

    return (struct roast_str){(const char *)roast__cursor_bytes(&entry->in, left),
                              left};
}

struct roast_str roast__entry_rewrite(struct roast_apply_entry *entry,
                                      struct roast_str text)
{
    const struct roast_rewrite *rewrite = entry->apply->rewrite;
    unsigned n = entry->texts++;

    return rewrite ? rewrite->text(rewrite->context, entry->kind, n, text) : text;
}

static struct roast_str read_text(struct roast_apply_entry *entry)
{
    uint64_t size = roast__cursor_varint(&entry->in);
    struct roast_str text = {NULL, 0};

    if (size == 0)
        return text;
    text.data = (const char *)roast__cursor_bytes(&entry->in, size - 1);
    text.size_bytes = text.data ? (size_t)(size - 1) : 0;
    return text;
}

struct roast_str roast__entry_text(struct roast_apply_entry *entry)
{
    return roast__entry_rewrite(entry, read_text(entry));
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

static struct roast_announced_text *find_text(const struct roast_apply *apply,
                                              uint64_t number)
{
    const struct roast_hash_table *slots = &apply->text_slots;

    for (size_t at = roast__hash_first(slots, roast__hash_number(number));
         roast__hash_holds(slots, at); at = roast__hash_next(slots, at)) {
        struct roast_announced_text *text = &apply->texts[roast__hash_item(slots, at)];
        if (text->number == number)
            return text;
    }
    return NULL;
}

int roast__apply_find_text(const struct roast_apply *apply, int64_t number,
                           struct roast_announced_text *out)
{
    const struct roast_announced_text *known =
        number >= 0 ? find_text(apply, (uint64_t)number) : NULL;

    if (!known)
        return number < 0 ? 0 : ROAST_BAD_DATA;
    *out = *known;
    return 1;
}

/* Returns NULL when out of memory. */
static struct roast_announced_text *add_text(struct roast_apply *apply, uint64_t number,
                                             struct roast_str text)
{
    struct roast_announced_text *known = find_text(apply, number);
    struct roast_string_table *strings =
        apply->rewrite ? &apply->rewrite->announced : &apply->run->strings;
    struct roast_announced_text fresh = {number, apply->block,
                                         roast__strings_put(strings, text), text};

    if (fresh.id < 0)
        return NULL;
    if (!known) {
        struct roast_announced_text *texts = roast__array_room(
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
                           struct roast_announced_text *out)
{
    uint64_t head = roast__cursor_varint(&entry->in);
    bool announced = head & 1;

    if (entry->in.failed || head == 1)
        return ROAST_BAD_DATA;
    if (!announced)
        return roast__apply_find_text(entry->apply, (int64_t)(head >> 1) - 1, out);
    struct roast_str text = read_text(entry);
    if (!text.data)
        return ROAST_BAD_DATA;
    const struct roast_announced_text *known =
        add_text(entry->apply, (head >> 1) - 1, text);
    if (!known)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a text of a journal");
    *out = *known;
    return 1;
}

int32_t roast__entry_string(struct roast_apply_entry *entry,
                            const struct roast_announced_text *reference)
{
    const struct roast_rewrite *rewrite = entry->apply->rewrite;

    if (!rewrite)
        return reference->id;
    struct roast_str text = roast__strings_get(&rewrite->announced, reference->id);
    return roast__strings_put(&entry->apply->run->strings,
                              roast__entry_rewrite(entry, text));
}

bool roast__entry_too_costly(struct roast_apply_entry *entry)
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
    return roast__entry_too_costly(entry);
}

/* ---- entries in parts ------------------------------------------------------------ */

static void forget_parts(struct roast_apply *apply)
{
    roast__buf_release(&apply->parts);
    apply->part_count = 0;
}

static int add_part(struct roast_apply_entry *entry)
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
    return add_part(entry);
}

static int apply_whole(struct roast_apply_entry *entry)
{
    struct roast_apply *apply = entry->apply;
    uint64_t kind = roast__cursor_varint(&entry->in);
    uint64_t count = roast__cursor_varint(&entry->in);
    int status = ROAST_BAD_DATA;

    if (!entry->in.failed && count == apply->part_count) {
        status = add_part(entry);
        entry->in = roast__cursor(apply->parts.data, apply->parts.size_bytes);
        if (status == ROAST_OK)
            status = roast__apply_kind(entry, kind);
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
        status = roast__apply_kind(&entry, kind);
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
    while (roast__cursor_remaining(&in) > 0 && !in.failed &&
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

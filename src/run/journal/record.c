/* SPDX-License-Identifier: BSD-3-Clause */
/* record.c - a record as the payload of a journal entry, and back; the layout is
 * in record.h. */
#include "run/journal/record.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/str.h"
#include "run/field_set.h"
#include "run/journal/apply_entry.h"
#include "run/journal/write.h"
#include "run/put.h"

enum { NAMED = 4, LINKED = 8, FIRST = 16, KIND_MASK = 3 };

/* Fields whose text is a reference: these repeat from record to record. */
static const uint64_t referenced =
    ROAST_BIT(dataset) | ROAST_BIT(file) | ROAST_BIT(treename) | ROAST_BIT(uuid) |
    ROAST_BIT(host) | ROAST_BIT(worker) | ROAST_BIT(error_type) | ROAST_BIT(absences) |
    ROAST_BIT(file_facts) | ROAST_BIT(file_branches);

_Static_assert((int)ROAST_FRAME_CHUNK < ROAST_RECORD_KINDS &&
                   (int)ROAST_FRAME_END < ROAST_RECORD_KINDS,
               "a kind has two bits");

/* How the value of a field is written. */
enum form { NUMBER, TIME, SEQUENCE, REFERENCE, LADDER, BYTES };

enum { LADDER_BYTES = ROAST_ITEM_COUNT * 2 * ROAST_VARINT_MAX_BYTES };

static enum form form_of(enum roast_field field, bool named)
{
    if ((referenced >> field) & 1)
        return REFERENCE;
    switch (roast_field_info(field)->type) {
    case ROAST_TYPE_U64:
    case ROAST_TYPE_I64:
        return NUMBER;
    case ROAST_TYPE_TIME:
        return TIME;
    case ROAST_TYPE_TEXT:
    case ROAST_TYPE_BLOB:
        break;
    }
    if (field == ROAST_FIELD_identity && named)
        return SEQUENCE;
    return field == ROAST_FIELD_ladder ? LADDER : BYTES;
}

/* The context of a process; replaces that of another process or block. NULL when out of
 * memory. */
static struct roast_record_context *context_of(struct roast_record_context **contexts,
                                               uint64_t process, uint32_t block)
{
    if (!*contexts)
        *contexts = roast__alloc(ROAST_RECORD_CONTEXTS * sizeof(**contexts));
    if (!*contexts)
        return NULL;
    struct roast_record_context *context =
        &(*contexts)[process % ROAST_RECORD_CONTEXTS];
    if (context->process != process || context->block != block) {
        memset(context, 0, sizeof(*context));
        context->process = process;
    }
    return context;
}

/* ---- writing --------------------------------------------------------------------- */

/* The number of a text in the strings of the run, or ROAST_NO_STRING. The row nearly
 * always has it, which is much faster than a search. */
static int32_t number_of(const struct roast_run *run, size_t row,
                         enum roast_field field, struct roast_str text, int64_t last)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    const struct roast_source *source =
        attempts->source[row] >= 0 ? &attempts->sources[attempts->source[row]] : NULL;
    int32_t number = (int32_t)last - 1;

    if (field == ROAST_FIELD_host)
        number = process->host;
    else if (field == ROAST_FIELD_worker)
        number = process->worker;
    else if (source && field == ROAST_FIELD_dataset)
        number = source->dataset;
    else if (source && field == ROAST_FIELD_file)
        number = source->file;
    else if (source && field == ROAST_FIELD_treename)
        number = source->tree;
    else if (source && field == ROAST_FIELD_uuid)
        number = source->uuid;
    struct roast_str known = roast__strings_get(&run->strings, number);
    if (known.data && roast__str_equal(known, text))
        return number;
    return roast__strings_find(&run->strings, text);
}

static uint32_t sequence_of(const roast_record *rec)
{
    const char *identity = rec->values[ROAST_FIELD_identity].str.data;

    return (uint32_t)roast__load_fixed(
        (const unsigned char *)identity + ROAST_PROCESS_KEY_BYTES, 4);
}

/* What is written of each field, and which fields changed: bit n for the n-th one. */
struct changes {
    uint64_t mask;
    int64_t by[ROAST_FIELD_COUNT]; /* of REFERENCE: its number + 1 */
};

static void find_changes(struct changes *out, struct roast_record_context *context,
                         const struct roast_run *run, const roast_record *rec,
                         size_t row, bool named)
{
    int64_t time_change = 0;
    unsigned at = 0;

    out->mask = 0;
    for (uint64_t left = rec->present; left; left &= left - 1, at++) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        int64_t *last = &context->last[field];
        int64_t now = rec->values[field].i64;
        bool changed = true;
        switch (form_of(field, named)) {
        case SEQUENCE:
            now = sequence_of(rec);
            /* fall through */
        case NUMBER:
            out->by[field] = roast__wrap_sub(now, *last);
            changed = out->by[field] != 0;
            *last = now;
            break;
        case TIME:
            out->by[field] = roast__wrap_sub(roast__wrap_sub(now, *last), time_change);
            time_change = roast__wrap_add(time_change, out->by[field]);
            changed = out->by[field] != 0;
            *last = now;
            break;
        case REFERENCE:
            now =
                (int64_t)number_of(run, row, field, rec->values[field].str, *last) + 1;
            out->by[field] = now;
            changed = now != *last || now == 0;
            *last = now;
            break;
        case LADDER:
        case BYTES:
            break;
        }
        out->mask |= (uint64_t)changed << at;
    }
}

static void put_bytes(struct roast_buf *out, struct roast_str bytes)
{
    roast__buf_put_varint(out, bytes.size_bytes);
    roast__buf_put(out, bytes.data, bytes.size_bytes);
}

static void put_ladder(struct roast_buf *out, struct roast_ladder *last,
                       struct roast_str blob)
{
    unsigned char again[LADDER_BYTES];
    struct roast_ladder now;
    uint64_t mask = 0;

    if (roast_ladder_read(&now, blob, NULL) < 0 ||
        roast_ladder_write(again, sizeof(again), &now, NULL) !=
            (int64_t)blob.size_bytes ||
        memcmp(again, blob.data, blob.size_bytes) != 0) { /* not in canonical form */
        roast__buf_put_varint(out, 0);
        put_bytes(out, blob);
        return;
    }
    roast__buf_put_varint(out, 1 + (uint64_t)(now.present ^ last->present));
    for (int i = 0; i < ROAST_ITEM_COUNT; i++)
        mask |= (uint64_t)(now.values[i] != last->values[i]) << i;
    roast__buf_put_varint(out, mask);
    for (; mask; mask &= mask - 1) {
        int item = __builtin_ctzll(mask);
        roast__buf_put_signed(out, (int64_t)(now.values[item] - last->values[item]));
    }
    *last = now;
}

static void put_values(struct roast_journal *journal, const struct changes *changes,
                       struct roast_record_context *context, const roast_record *rec,
                       bool named)
{
    struct roast_buf *out = &journal->entry;
    unsigned at = 0;

    for (uint64_t left = rec->present; left; left &= left - 1, at++) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        enum form form = form_of(field, named);
        if (!((changes->mask >> at) & 1))
            continue;
        if (form == REFERENCE)
            roast__journal_put_reference(journal, (int32_t)changes->by[field] - 1,
                                         journal->block);
        if (form == BYTES || (form == REFERENCE && changes->by[field] == 0))
            put_bytes(out, rec->values[field].str);
        else if (form == LADDER)
            put_ladder(out, &context->ladder, rec->values[field].str);
        else if (form != REFERENCE)
            roast__buf_put_signed(out, changes->by[field]);
    }
}

void roast__journal_write_record(struct roast_journal *journal, const roast_record *rec,
                                 size_t row, const struct roast_task_link *link)
{
    if (!journal)
        return;
    struct changes changes;
    struct roast_buf *out = roast__journal_begin(journal);
    struct roast_str identity = rec->values[ROAST_FIELD_identity].str;
    bool named = roast_record_has(rec, ROAST_FIELD_identity) &&
                 identity.size_bytes == ROAST_IDENTITY_BYTES;
    uint64_t process = (uint64_t)roast__process_of(&journal->run->attempts, row);
    struct roast_str worker = roast__strings_get(&journal->run->strings,
                                                 link ? link->worker : ROAST_NO_STRING);

    roast__journal_reserve(journal, roast_record_bound(rec) + worker.size_bytes);
    struct roast_record_context *context =
        context_of(&journal->contexts, process, journal->block);
    if (!context) {
        out->failed = true;
        (void)roast__journal_put(journal, ROAST_ENTRY_record);
        return;
    }
    bool first = context->block != journal->block;
    context->block = journal->block;
    roast__buf_put_varint(out, (uint64_t)rec->kind | (named ? NAMED : 0) |
                                   (link ? LINKED : 0) | (first ? FIRST : 0));
    if (link) {
        roast__buf_put_varint(out, link->key_hash);
        roast__journal_put_reference(journal, link->worker, journal->block);
    }
    roast__buf_put_varint(out, process);
    if (named && first)
        roast__buf_put(out, identity.data, ROAST_PROCESS_KEY_BYTES);
    find_changes(&changes, context, journal->run, rec, row, named);
    roast__buf_put_varint(out, rec->present ^ context->present[rec->kind]);
    context->present[rec->kind] = rec->present;
    roast__buf_put_varint(out, changes.mask);
    put_values(journal, &changes, context, rec, named);
    (void)roast__journal_put(journal, ROAST_ENTRY_record);
}

/* ---- reading --------------------------------------------------------------------- */

static struct roast_str read_bytes(struct roast_cursor *in)
{
    struct roast_str bytes = {.size_bytes = (size_t)roast__cursor_varint(in)};

    bytes.data = (const char *)roast__cursor_bytes(in, bytes.size_bytes);
    return bytes;
}

/* A text that did not change is searched again: the previous record may be of another
 * chunk. */
static int read_reference(struct roast_apply_entry *entry, int64_t *last, bool changed,
                          union roast_field_value *value)
{
    struct roast_announced_text known;
    int found = changed ? roast__entry_reference(entry, &known)
                        : roast__apply_find_text(entry->apply, *last - 1, &known);

    if (found < 0)
        return found;
    if (found > 0) {
        if (known.block != entry->apply->block)
            return ROAST_BAD_DATA;
        *last = (int64_t)known.number + 1;
        value->str = known.text;
        return ROAST_OK;
    }
    if (!changed)
        return ROAST_BAD_DATA;
    *last = 0;
    value->str = read_bytes(&entry->in);
    return ROAST_OK;
}

static struct roast_str read_ladder(struct roast_cursor *in, struct roast_ladder *last,
                                    unsigned char room[LADDER_BYTES])
{
    uint64_t head = roast__cursor_varint(in);

    if (head == 0)
        return read_bytes(in);
    uint64_t mask = roast__cursor_varint(in);
    if (head - 1 > UINT32_MAX || mask >> ROAST_ITEM_COUNT != 0 ||
        (last->present ^ (head - 1)) >> ROAST_ITEM_COUNT != 0)
        in->failed = true;
    last->present ^= (uint32_t)(head - 1);
    for (; mask && !in->failed; mask &= mask - 1)
        last->values[__builtin_ctzll(mask)] += (uint64_t)roast__cursor_signed(in);
    int64_t size = in->failed ? 0 : roast_ladder_write(room, LADDER_BYTES, last, NULL);
    return (struct roast_str){(const char *)room, (size_t)size};
}

static int read_values(struct roast_apply_entry *entry, roast_record *rec,
                       struct roast_record_context *context, uint64_t mask, bool named,
                       unsigned char ladder[LADDER_BYTES])
{
    int64_t time_change = 0;
    int status = ROAST_OK;

    for (uint64_t left = rec->present; left && status == ROAST_OK;
         left &= left - 1, mask >>= 1) {
        enum roast_field field = (enum roast_field)__builtin_ctzll(left);
        union roast_field_value *value = &rec->values[field];
        int64_t *last = &context->last[field];
        int64_t by = 0;
        enum form form = form_of(field, named);
        if (mask & 1 && form < REFERENCE)
            by = roast__cursor_signed(&entry->in);
        switch (form) {
        case TIME:
            by = time_change = roast__wrap_add(time_change, by);
            /* fall through */
        case NUMBER:
        case SEQUENCE:
            value->i64 = *last = roast__wrap_add(*last, by);
            break;
        case REFERENCE:
            status = read_reference(entry, last, mask & 1, value);
            break;
        case LADDER:
            value->str = read_ladder(&entry->in, &context->ladder, ladder);
            break;
        case BYTES:
            value->str = read_bytes(&entry->in);
            break;
        }
    }
    return status == ROAST_OK && entry->in.failed ? ROAST_BAD_DATA : status;
}

int roast__apply_record(struct roast_apply_entry *entry)
{
    struct roast_apply *apply = entry->apply;
    struct roast_task_link link = {.worker = ROAST_NO_STRING};
    unsigned char identity[ROAST_IDENTITY_BYTES];
    unsigned char ladder[LADDER_BYTES];
    roast_record rec;
    uint64_t head = roast__cursor_varint(&entry->in);
    int status = ROAST_OK;

    rec.kind = (enum roast_frame_kind)(head & KIND_MASK);
    if (rec.kind == 0)
        return ROAST_BAD_DATA;
    if (head & LINKED) {
        struct roast_announced_text worker;
        link.key_hash = (uint32_t)roast__cursor_varint(&entry->in);
        status = roast__entry_reference(entry, &worker);
        if (status < 0)
            return status;
        if (status > 0)
            link.worker = roast__entry_string(entry, &worker);
        if (link.worker == ROAST_STRING_NO_MEMORY)
            return roast_error_set(entry->err, ROAST_NO_MEMORY, "the name of a worker");
    }
    struct roast_record_context *context =
        context_of(&apply->contexts, roast__cursor_varint(&entry->in), apply->block);
    if (!context)
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "records of a journal");
    bool has_base = context->block == apply->block;
    context->block = 0; /* a record that cannot be read is no base for the next ones */
    if (!has_base && !(head & FIRST))
        return ROAST_BAD_DATA;
    if (head & FIRST) {
        memset(context->present, 0, sizeof(context->present));
        memset(context->last, 0, sizeof(context->last));
        memset(&context->ladder, 0, sizeof(context->ladder));
    }
    if (head & FIRST && head & NAMED) {
        const unsigned char *key =
            roast__cursor_bytes(&entry->in, ROAST_PROCESS_KEY_BYTES);
        if (!key)
            return ROAST_BAD_DATA;
        memcpy(context->key, key, ROAST_PROCESS_KEY_BYTES);
    }
    context->present[rec.kind] ^= roast__cursor_varint(&entry->in);
    /* fields of a later version come last */
    rec.present = context->present[rec.kind] & ((UINT64_C(1) << ROAST_FIELD_COUNT) - 1);
    uint64_t mask = roast__cursor_varint(&entry->in);
    status = read_values(entry, &rec, context, mask, head & NAMED, ladder);
    if (status < 0)
        return status;
    context->block = apply->block;
    if (head & NAMED && roast_record_has(&rec, ROAST_FIELD_identity)) {
        memcpy(identity, context->key, ROAST_PROCESS_KEY_BYTES);
        roast__store_fixed(identity + ROAST_PROCESS_KEY_BYTES,
                           rec.values[ROAST_FIELD_identity].u64, 4);
        rec.values[ROAST_FIELD_identity].str =
            (struct roast_str){(const char *)identity, sizeof(identity)};
    }
    if (apply->rewrite)
        apply->rewrite->record(apply->rewrite->context, apply->run, &rec);
    return roast__run_put_record(apply->run, &rec, head & LINKED ? &link : NULL,
                                 entry->err);
}

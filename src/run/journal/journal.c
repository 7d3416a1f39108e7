/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.c - the blocks of a journal: memory, entries, epochs.
 *
 * A change of the run never waits for the file and never fails because of it: without
 * room or memory it is counted as dropped. */
#include "run/journal/journal.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/mem.h"

enum {
    ENTRY_HEAD_BYTES = 2 * ROAST_VARINT_MAX_BYTES, /* at most */
    PART_HEAD_BYTES = ENTRY_HEAD_BYTES + 2 * ROAST_VARINT_MAX_BYTES,
    DROPPED_BYTES = ENTRY_HEAD_BYTES + ROAST_VARINT_MAX_BYTES,
    LONGEST_HOST_BYTES = 1024,
    BEFORE_BYTES = DROPPED_BYTES + PART_HEAD_BYTES + LONGEST_HOST_BYTES,
};

/* ---- blocks ---------------------------------------------------------------------- */

static struct roast_block *add_block(struct roast_journal *journal, size_t size_bytes)
{
    size_t cap = size_bytes > journal->block_bytes ? size_bytes : journal->block_bytes;
    struct roast_block *block =
        roast__realloc(NULL, sizeof(*block) + ROAST_BLOCK_HEAD_BYTES + cap);

    if (!block)
        return NULL;
    *block = (struct roast_block){.cap_bytes = cap};
    if (journal->last)
        journal->last->next = block;
    else
        journal->first = block;
    journal->last = block;
    journal->block++;
    journal->block_full = false;
    return block;
}

static struct roast_block *block_with(struct roast_journal *journal, size_t size_bytes)
{
    struct roast_block *block = journal->last;

    if (block && block->size_bytes == 0 && block->cap_bytes >= size_bytes) {
        journal->block += journal->block_full; /* nothing of it was written */
        journal->block_full = false;
        return block;
    }
    if (!block || journal->block_full ||
        block->cap_bytes - block->size_bytes < size_bytes)
        block = add_block(journal, size_bytes);
    return block;
}

static bool has_room(const struct roast_journal *journal, size_t size_bytes,
                     size_t limit_bytes)
{
    return journal->held_bytes <= limit_bytes &&
           size_bytes <= limit_bytes - journal->held_bytes;
}

void roast__journal_reserve(struct roast_journal *journal, size_t size_bytes)
{
    const struct roast_block *last = journal->last;
    size_t needed_bytes = size_bytes + BEFORE_BYTES;
    bool fits = last && !journal->block_full &&
                last->cap_bytes - last->size_bytes >= needed_bytes;

    if (size_bytes <= ROAST_ENTRY_MAX_BYTES &&
        (fits || has_room(journal, size_bytes, journal->limit_bytes)) &&
        block_with(journal, needed_bytes))
        return;
    journal->block_full = true; /* it may become parts, or be smaller and fit */
    journal->block++;           /* nothing was written under this number */
}

/* ---- one entry ------------------------------------------------------------------- */

static bool put_entry(struct roast_journal *journal, enum roast_entry kind,
                      struct roast_str numbers, struct roast_str bytes)
{
    unsigned char head[ENTRY_HEAD_BYTES];
    unsigned char *end = roast__store_varint(head, (uint64_t)kind);

    end = roast__store_varint(end, numbers.size_bytes + bytes.size_bytes);
    struct roast_str pieces[] = {
        {(const char *)head, (size_t)(end - head)}, numbers, bytes};
    size_t size = pieces[0].size_bytes + numbers.size_bytes + bytes.size_bytes;
    struct roast_block *block = block_with(journal, size);
    if (!block)
        return false;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        if (pieces[i].data && pieces[i].size_bytes > 0)
            memcpy(block->bytes + ROAST_BLOCK_HEAD_BYTES + block->size_bytes,
                   pieces[i].data, pieces[i].size_bytes);
        block->size_bytes += pieces[i].size_bytes;
    }
    journal->held_bytes += size;
    return true;
}

/* An entry of numbers and bytes. */
static bool put_numbers(struct roast_journal *journal, enum roast_entry kind,
                        const uint64_t *numbers, size_t count, struct roast_str bytes)
{
    unsigned char head[3 * ROAST_VARINT_MAX_BYTES];
    unsigned char *end = head;

    for (size_t i = 0; i < count; i++)
        end = roast__store_varint(end, numbers[i]);
    return put_entry(journal, kind,
                     (struct roast_str){(const char *)head, (size_t)(end - head)},
                     bytes);
}

/* Too large for one entry: parts, then what they are. Each block depends on none before
 * it, so the last part begins one and nothing follows it there. A reader leaves out
 * parts that never become whole because memory ran out between them. */
static bool put_parts(struct roast_journal *journal, enum roast_entry kind,
                      struct roast_str payload)
{
    uint64_t numbers[] = {kind, 0};

    while (payload.size_bytes > ROAST_ENTRY_MAX_BYTES) {
        struct roast_str part = {payload.data, ROAST_ENTRY_MAX_BYTES};
        journal->block_full = true;
        if (!put_numbers(journal, ROAST_ENTRY_part, &numbers[1], 1, part))
            return false;
        numbers[1]++;
        payload.data += part.size_bytes;
        payload.size_bytes -= part.size_bytes;
    }
    journal->block_full = true;
    bool queued = put_numbers(journal, ROAST_ENTRY_whole, numbers, 2, payload);
    journal->block_full = true;
    return queued;
}

/* ---- entries that precede a change ----------------------------------------------- */

static void begin_epoch(struct roast_journal *journal)
{
    const struct roast_run *run = journal->run;
    struct roast_str host = roast__strings_get(&run->strings, run->host);
    int64_t mono_ns = roast__sat_sub(run->start_ns, run->epoch_minus_mono_ns);

    if (host.size_bytes > LONGEST_HOST_BYTES) /* it has an entry of its own */
        host = (struct roast_str){NULL, 0};
    uint64_t numbers[] = {roast__zigzag(mono_ns), roast__zigzag(run->start_ns),
                          host.data ? host.size_bytes + 1 : 0};
    if (!journal->begun)
        journal->begun = put_numbers(journal, ROAST_ENTRY_start, numbers, 3, host);
}

/* Writes how many changes are missing here. */
static bool put_dropped(struct roast_journal *journal)
{
    if (journal->unreported > 0 &&
        put_numbers(journal, ROAST_ENTRY_dropped, &journal->unreported, 1,
                    (struct roast_str){NULL, 0}))
        journal->unreported = 0;
    return journal->unreported == 0;
}

/* Queues a change, and the entries that precede it, if all fit. */
static bool put(struct roast_journal *journal, enum roast_entry kind)
{
    size_t size = journal->entry.size_bytes;
    size_t heads = size / ROAST_ENTRY_MAX_BYTES + 1;
    struct roast_str payload = {(const char *)journal->entry.data, size};

    if (!roast__buf_ok(&journal->entry) ||
        !has_room(journal, size + heads * PART_HEAD_BYTES + DROPPED_BYTES,
                  journal->limit_bytes))
        return false;
    begin_epoch(journal);
    if (!put_dropped(journal))
        return false;
    return size > ROAST_ENTRY_MAX_BYTES
               ? put_parts(journal, kind, payload)
               : put_entry(journal, kind, payload, (struct roast_str){NULL, 0});
}

bool roast__journal_put(struct roast_journal *journal, enum roast_entry kind)
{
    bool was_half = journal->held_bytes > journal->limit_bytes / 2;
    bool queued = put(journal, kind);

    if (queued) {
        journal->queued++;
        journal->last->changes++;
    } else {
        journal->dropped++;
        journal->unreported++;
        journal->block_full = true; /* its announced texts are missing */
        journal->epoch = journal->block + 1;
        roast__buf_release(&journal->entry); /* it may have failed */
    }
    if (!was_half && journal->held_bytes > journal->limit_bytes / 2 &&
        journal->half_full)
        journal->half_full(journal->context);
    return queued;
}

/* ---- life cycle ------------------------------------------------------------------ */

static bool is_untouched(const struct roast_run *run)
{
    const struct roast_scheduler_view *view = &run->scheduler;
    bool untouched =
        !run->journal && run->attempts.count == 0 && run->samples.count == 0 &&
        run->client_samples.count == 0 && run->gpu_samples.count == 0 &&
        run->offer_count == 0 && run->moment_count == 0 && run->count_count == 0 &&
        run->notes.count == 0 && run->accepted_count == 0 && run->names.count == 0 &&
        run->end_ns == 0 && view->tasks.count == 0 && view->sessions.count == 0 &&
        view->clock_offsets.count == 0 && view->activity_count == 0 &&
        view->hot_count == 0;

    for (int i = 0; i < ROAST_FACT_COUNT; i++)
        untouched = untouched && !run->fact_known[i];
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++)
        untouched = untouched && run->losses[i] == 0;
    return untouched;
}

int roast__journal_open(struct roast_journal *journal, struct roast_run *run,
                        size_t limit_bytes, roast_error *err)
{
    journal->run = run;
    journal->limit_bytes = limit_bytes;
    journal->block_bytes = ROAST_LIVE_BLOCK_BYTES;
    journal->epoch = 1;
    roast__run_lock(run);
    bool untouched = is_untouched(run);
    if (untouched)
        run->journal = journal;
    roast__run_unlock(run);
    if (!untouched)
        return roast_error_set(err, ROAST_LIMIT,
                               "a live file holds a run from its start, and this one "
                               "has changes already: open the file first");
    return ROAST_OK;
}

void roast__journal_close(struct roast_journal *journal)
{
    roast__run_lock(journal->run);
    if (journal->run->journal == journal)
        journal->run->journal = NULL;
    roast__run_unlock(journal->run);
}

void roast__journal_release(struct roast_journal *journal)
{
    for (struct roast_block *block = journal->first; block;) {
        struct roast_block *next = block->next;
        roast__free(block);
        block = next;
    }
    roast__buf_release(&journal->entry);
    roast__free(journal->announced);
    roast__free(journal->contexts);
    journal->first = journal->last = NULL;
    journal->announced = NULL;
    journal->contexts = NULL;
}

/* ---- for the writer -------------------------------------------------------------- */

/* Frees unused memory of the blocks: the writer may keep many of them. */
static void shrink(struct roast_block **blocks)
{
    for (struct roast_block **at = blocks; *at;) {
        struct roast_block *block = *at;
        struct roast_block *smaller = NULL;
        if (block->size_bytes == 0) { /* its entry was dropped or needed a larger one */
            *at = block->next;
            roast__free(block);
            continue;
        }
        if (block->size_bytes < block->cap_bytes / 2)
            smaller = roast__realloc(block, sizeof(*block) + ROAST_BLOCK_HEAD_BYTES +
                                                block->size_bytes);
        if (smaller)
            *at = smaller;
        (*at)->cap_bytes = (*at)->size_bytes;
        at = &(*at)->next;
    }
}

struct roast_block *roast__journal_take(struct roast_journal *journal)
{
    if (has_room(journal, DROPPED_BYTES, journal->limit_bytes + DROPPED_BYTES))
        (void)put_dropped(journal);
    struct roast_block *blocks = journal->first;
    journal->first = journal->last = NULL;
    shrink(&blocks);
    if (blocks && ++journal->takes == ROAST_EPOCH_TAKES) {
        journal->takes = 0;
        journal->epoch = journal->block + 1;
        journal->begun = false;
    }
    return blocks;
}

void roast__journal_done(struct roast_journal *journal, size_t size_bytes)
{
    roast__run_lock(journal->run);
    journal->held_bytes -= size_bytes;
    roast__run_unlock(journal->run);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.c - the changes of a run, queued for its live file.
 *
 * Whoever changes the run must not wait and must not fail because of the file: without
 * room or memory a change is counted as dropped, and that is all. */
#include "run/journal.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "run/array.h"

enum {
    ENTRY_HEAD_BYTES = 2 * ROAST_VARINT_MAX_BYTES, /* at most */
    PART_HEAD_BYTES = ENTRY_HEAD_BYTES + 2 * ROAST_VARINT_MAX_BYTES,
    DROPPED_BYTES = ENTRY_HEAD_BYTES + ROAST_VARINT_MAX_BYTES,
    LONGEST_HOST_BYTES = 1024,
};

/* ---- room ---------------------------------------------------------------- */

static struct roast_leaf *add_leaf(struct roast_journal *journal, size_t size_bytes)
{
    size_t cap = size_bytes > ROAST_LEAF_BYTES ? size_bytes : ROAST_LEAF_BYTES;
    struct roast_leaf *leaf =
        roast__realloc(NULL, sizeof(*leaf) + ROAST_LEAF_HEAD_BYTES + cap);

    if (!leaf)
        return NULL;
    *leaf = (struct roast_leaf){.cap_bytes = cap};
    if (journal->last)
        journal->last->next = leaf;
    else
        journal->first = leaf;
    journal->last = leaf;
    return leaf;
}

static bool has_room(const struct roast_journal *journal, size_t size_bytes,
                     size_t limit_bytes)
{
    return journal->held_bytes <= limit_bytes &&
           size_bytes <= limit_bytes - journal->held_bytes;
}

/* Memory for so many bytes one behind the other, which count as used; NULL for none. */
static unsigned char *reserve(struct roast_journal *journal, size_t size_bytes)
{
    struct roast_leaf *leaf = journal->last;

    if (!leaf || leaf->cap_bytes - leaf->size_bytes < size_bytes)
        leaf = add_leaf(journal, size_bytes);
    if (!leaf)
        return NULL;
    unsigned char *at = leaf->bytes + ROAST_LEAF_HEAD_BYTES + leaf->size_bytes;
    leaf->size_bytes += size_bytes;
    journal->held_bytes += size_bytes;
    return at;
}

/* ---- one entry ----------------------------------------------------------- */

static size_t sum_of(const struct roast_str *pieces, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += pieces[i].size_bytes;
    return size;
}

static unsigned char *copy(unsigned char *at, struct roast_str piece)
{
    if (piece.size_bytes > 0)
        memcpy(at, piece.data, piece.size_bytes);
    return at + piece.size_bytes;
}

static bool put_entry(struct roast_journal *journal, enum roast_entry kind,
                      const struct roast_str *pieces, size_t count)
{
    unsigned char head[ENTRY_HEAD_BYTES];
    size_t payload_bytes = sum_of(pieces, count);
    unsigned char *end = roast__store_varint(head, (uint64_t)kind);

    end = roast__store_varint(end, payload_bytes);
    size_t head_bytes = (size_t)(end - head);
    unsigned char *at = reserve(journal, head_bytes + payload_bytes);
    if (!at)
        return false;
    at = copy(at, (struct roast_str){(const char *)head, head_bytes});
    for (size_t i = 0; i < count; i++)
        at = copy(at, pieces[i]);
    return true;
}

/* Of an entry that is no change. */
struct numbers {
    uint64_t values[3];
    size_t count;
};

static bool put_numbers(struct roast_journal *journal, enum roast_entry kind,
                        struct numbers numbers, struct roast_str text)
{
    unsigned char head[3 * ROAST_VARINT_MAX_BYTES];
    unsigned char *end = head;

    for (size_t i = 0; i < numbers.count; i++)
        end = roast__store_varint(end, numbers.values[i]);
    struct roast_str pieces[] = {{(const char *)head, (size_t)(end - head)}, text};
    return put_entry(journal, kind, pieces, 2);
}

/* Too large for one entry: parts, and behind them what they are. Parts that never
 * become whole, because memory ran out between them, are left out by who reads. */
static bool put_parts(struct roast_journal *journal, enum roast_entry kind,
                      struct roast_str payload)
{
    uint64_t parts = 0;

    while (payload.size_bytes > ROAST_ENTRY_MAX_BYTES) {
        struct roast_str part = {payload.data, ROAST_ENTRY_MAX_BYTES};
        if (!put_numbers(journal, ROAST_ENTRY_part, (struct numbers){{parts++}, 1},
                         part))
            return false;
        payload.data += part.size_bytes;
        payload.size_bytes -= part.size_bytes;
    }
    return put_numbers(journal, ROAST_ENTRY_whole, (struct numbers){{kind, parts}, 2},
                       payload);
}

static bool put_large(struct roast_journal *journal, enum roast_entry kind,
                      const struct roast_str *pieces, size_t count)
{
    size_t size = sum_of(pieces, count);
    char *joined = roast__realloc(NULL, size);
    unsigned char *end = (unsigned char *)joined;

    if (!joined)
        return false;
    for (size_t i = 0; i < count; i++)
        end = copy(end, pieces[i]);
    bool queued = put_parts(journal, kind, (struct roast_str){joined, size});
    roast__free(joined);
    return queued;
}

/* ---- what comes before it ------------------------------------------------ */

static void begin_chapter(struct roast_journal *journal)
{
    const struct roast_run *run = journal->run;
    struct roast_str host = roast__strings_get(&run->strings, run->host);
    if (host.size_bytes > LONGEST_HOST_BYTES) /* has been told once */
        host = (struct roast_str){NULL, 0};
    int64_t mono_ns = roast__sat_sub(run->start_ns, run->epoch_minus_mono_ns);
    struct numbers numbers = {
        {roast__zigzag(mono_ns), roast__zigzag(run->start_ns), host.data != NULL}, 3};

    if (!journal->begun)
        journal->begun = put_numbers(journal, ROAST_ENTRY_start, numbers, host);
}

/* Where changes are missing the file says so before it goes on. */
static bool tell_dropped(struct roast_journal *journal)
{
    if (journal->untold > 0 && put_numbers(journal, ROAST_ENTRY_dropped,
                                           (struct numbers){{journal->untold}, 1},
                                           (struct roast_str){NULL, 0}))
        journal->untold = 0;
    return journal->untold == 0;
}

/* Queues a change if all of it fits, with whatever has to come before it. */
static bool put(struct roast_journal *journal, enum roast_entry kind,
                const struct roast_str *pieces, size_t count)
{
    size_t size = sum_of(pieces, count);
    size_t heads = size / ROAST_ENTRY_MAX_BYTES + 1;

    if (!has_room(journal, size + heads * PART_HEAD_BYTES + DROPPED_BYTES,
                  journal->limit_bytes))
        return false;
    begin_chapter(journal);
    if (!tell_dropped(journal))
        return false;
    return size > ROAST_ENTRY_MAX_BYTES ? put_large(journal, kind, pieces, count)
                                        : put_entry(journal, kind, pieces, count);
}

bool roast__journal_put(struct roast_journal *journal, enum roast_entry kind,
                        const struct roast_str *pieces, size_t count)
{
    bool was_half = journal->held_bytes > journal->limit_bytes / 2;
    bool queued = put(journal, kind, pieces, count);

    if (queued) {
        journal->queued++;
        journal->last->changes++;
    } else {
        journal->dropped++;
        journal->untold++;
    }
    if (!was_half && journal->held_bytes > journal->limit_bytes / 2 &&
        journal->half_full)
        journal->half_full(journal->context);
    return queued;
}

/* ---- life ---------------------------------------------------------------- */

/* By a scheduler. */
static bool is_unseen(const struct roast_run *run)
{
    const struct roast_scheduler_view *view = &run->scheduler;

    return view->tasks.count == 0 && view->stays.count == 0 &&
           view->offsets.count == 0 && view->activity_count == 0 &&
           view->hot_count == 0;
}

static bool is_untouched(const struct roast_run *run)
{
    bool untouched = !run->journal && run->attempts.count == 0 &&
                     run->samples.count == 0 && run->offer_count == 0 &&
                     run->moment_count == 0 && run->count_count == 0 &&
                     run->notes.count == 0 && run->accepted_count == 0 &&
                     run->names.count == 0 && run->end_ns == 0 && is_unseen(run);

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
    journal->chapter = 1;
    roast__run_lock(run);
    bool untouched = is_untouched(run);
    if (untouched)
        run->journal = journal;
    roast__run_unlock(run);
    if (!untouched)
        return roast_error_set(err, ROAST_LIMIT,
                               "a live file holds a run from its start, and this one "
                               "was told something already: open the file first");
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
    for (struct roast_leaf *leaf = journal->first; leaf;) {
        struct roast_leaf *next = leaf->next;
        roast__free(leaf);
        leaf = next;
    }
    roast__free(journal->told);
    roast__free(journal->text_in);
    journal->first = journal->last = NULL;
    journal->told = NULL;
    journal->text_in = NULL;
}

/* ---- the writer's side --------------------------------------------------- */

/* Gives back what the leaves did not use: the writer may keep many of them. */
static void shrink(struct roast_leaf **leaves)
{
    for (struct roast_leaf **at = leaves; *at; at = &(*at)->next) {
        size_t size = (*at)->size_bytes;
        struct roast_leaf *smaller = NULL;
        if (size < (*at)->cap_bytes / 2)
            smaller = roast__realloc(*at, sizeof(**at) + ROAST_LEAF_HEAD_BYTES + size);
        if (smaller)
            *at = smaller;
        (*at)->cap_bytes = size;
    }
}

struct roast_leaf *roast__journal_take(struct roast_journal *journal)
{
    roast__run_lock(journal->run);
    if (has_room(journal, DROPPED_BYTES, journal->limit_bytes + DROPPED_BYTES))
        (void)tell_dropped(journal);
    struct roast_leaf *leaves = journal->first;
    journal->first = journal->last = NULL;
    if (leaves && ++journal->takes == ROAST_CHAPTER_TAKES) {
        journal->takes = 0;
        journal->chapter++;
        journal->begun = false;
    }
    roast__run_unlock(journal->run);
    shrink(&leaves);
    return leaves;
}

void roast__journal_done(struct roast_journal *journal, size_t size_bytes)
{
    roast__run_lock(journal->run);
    journal->held_bytes -= size_bytes;
    roast__run_unlock(journal->run);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* tell_tasks.c - tells the journal what a scheduler saw.
 *
 * Tasks are many and their texts few: these have numbers, which are told with the first
 * task of a chapter that needs them, like the workers of samples. */
#include "base/bytes.h"
#include "base/mem.h"
#include "run/array.h"
#include "run/journal.h"
#include "run/tell.h"

enum { MOST_NUMBERS = 10, MOST_TEXTS = 4 };

/* An entry that is being made. */
struct entry {
    enum roast_entry kind;
    uint64_t numbers[MOST_NUMBERS];
    size_t number_count;
    struct roast_str pieces[1 + MOST_TEXTS]; /* the first is for the numbers */
    size_t text_count;
};

static void add_number(struct entry *entry, uint64_t number)
{
    entry->numbers[entry->number_count++] = number;
}

static void add_text(struct entry *entry, struct roast_str text)
{
    entry->pieces[1 + entry->text_count++] = text;
}

/* With its size + 1 among the numbers; 0: absent. */
static void add_sized(struct entry *entry, struct roast_str text)
{
    add_number(entry, text.data ? text.size_bytes + 1 : 0);
    add_text(entry, text);
}

static bool put(struct roast_run *run, struct entry *entry)
{
    unsigned char head[MOST_NUMBERS * ROAST_VARINT_MAX_BYTES];
    unsigned char *end = head;

    for (size_t i = 0; i < entry->number_count; i++)
        end = roast__store_varint(end, entry->numbers[i]);
    entry->pieces[0] = (struct roast_str){(const char *)head, (size_t)(end - head)};
    return roast__journal_put(run->journal, entry->kind, entry->pieces,
                              1 + entry->text_count);
}

static uint64_t since_start(const struct roast_run *run, int64_t time_ns)
{
    return roast__zigzag(roast__wrap_sub(time_ns, run->start_ns));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* ---- members --------------------------------------------------------------------- */

void roast__tell_member(struct roast_run *run, const struct roast_member *member)
{
    struct entry entry = {.kind = ROAST_ENTRY_member};

    if (!run->journal)
        return;
    add_number(&entry, since_start(run, member->joined_ns));
    add_number(&entry, member->pid);
    add_number(&entry, member->threads);
    add_number(&entry, member->memory_limit_bytes);
    add_sized(&entry, member->worker);
    add_sized(&entry, member->name);
    add_sized(&entry, member->host);
    (void)put(run, &entry);
}

void roast__tell_departure(struct roast_run *run,
                           const struct roast_departure *departure)
{
    struct entry entry = {.kind = ROAST_ENTRY_departure};

    if (!run->journal)
        return;
    add_number(&entry, since_start(run, departure->left_ns));
    add_number(&entry, departure->expected);
    add_sized(&entry, departure->worker);
    add_sized(&entry, departure->reason);
    (void)put(run, &entry);
}

void roast__tell_offset(struct roast_run *run, struct roast_str host, int64_t offset_ns)
{
    struct entry entry = {.kind = ROAST_ENTRY_offset};

    if (!run->journal)
        return;
    add_number(&entry, roast__zigzag(offset_ns));
    add_text(&entry, host);
    (void)put(run, &entry);
}

/* ---- tasks ----------------------------------------------------------------------- */

/* In which chapter a text was told; NULL without memory: then it is told again. */
static uint32_t *told_in(struct roast_journal *journal, int32_t text)
{
    size_t number = (size_t)text;
    size_t count = journal->text_count;

    if (number >= count) {
        size_t more = number + number / 2 + 16;
        uint32_t *told = roast__realloc(journal->text_in, more * sizeof(*told));
        if (!told)
            return NULL;
        memset(told + count, 0, (more - count) * sizeof(*told));
        journal->text_in = told;
        journal->text_count = more;
    }
    return &journal->text_in[number];
}

/* Adds (number + 1) * 2 + told, 0 for none; whether it has to be told. */
static bool add_numbered(struct entry *entry, struct roast_journal *journal,
                         int32_t text)
{
    const uint32_t *chapter = text >= 0 ? told_in(journal, text) : NULL;
    bool tells = text >= 0 && (!chapter || *chapter != journal->chapter);

    add_number(entry, ((uint64_t)((int64_t)text + 1) << 1) | tells);
    return tells;
}

static void tell_numbered(struct entry *entry, const struct roast_run *run,
                          int32_t text, bool tells)
{
    if (tells)
        add_sized(entry, roast__strings_get(&run->strings, text));
}

static void mark_told(struct roast_journal *journal, int32_t text, bool tells)
{
    uint32_t *chapter = tells ? told_in(journal, text) : NULL;

    if (chapter)
        *chapter = journal->chapter;
}

void roast__tell_task(struct roast_run *run, size_t row)
{
    const struct roast_tasks *tasks = &run->scheduler.tasks;
    struct roast_journal *journal = run->journal;
    struct entry entry = {.kind = ROAST_ENTRY_task};

    if (!journal)
        return;
    unsigned end = tasks->end[row];
    int32_t prefix = tasks->prefix[row];
    int32_t worker = tasks->worker[row];
    bool tells_prefix = add_numbered(&entry, journal, prefix);
    bool tells_worker = add_numbered(&entry, journal, worker);
    add_number(&entry, tasks->key_hash[row]);
    add_number(&entry, (end & ~(unsigned)ROAST_TASK_OURS) << 1 |
                           ((end & ROAST_TASK_OURS) != 0));
    add_number(&entry, since_start(run, tasks->assigned_ns[row]));
    add_number(&entry, roast__zigzag(roast__wrap_sub(tasks->start_ns[row],
                                                     tasks->assigned_ns[row])));
    add_number(&entry, roast__zigzag(
                           roast__wrap_sub(tasks->stop_ns[row], tasks->start_ns[row])));
    tell_numbered(&entry, run, prefix, tells_prefix);
    tell_numbered(&entry, run, worker, tells_worker);
    if (put(run, &entry)) {
        mark_told(journal, prefix, tells_prefix);
        mark_told(journal, worker, tells_worker);
    }
}

void roast__tell_task_frame(struct roast_run *run, const struct roast_task_link *link,
                            struct roast_str frame)
{
    struct entry entry = {.kind = ROAST_ENTRY_task_frame};

    if (!run->journal)
        return;
    add_number(&entry, link->key_hash);
    add_sized(&entry, roast__strings_get(&run->strings, link->worker));
    add_text(&entry, frame);
    (void)put(run, &entry);
}

/* ---- sums ------------------------------------------------------------------------ */

void roast__tell_activity(struct roast_run *run, const struct roast_activity *activity)
{
    struct entry entry = {.kind = ROAST_ENTRY_activity};

    if (!run->journal)
        return;
    add_number(&entry, bits_of(activity->value));
    add_sized(&entry, activity->context);
    add_sized(&entry, activity->prefix);
    add_sized(&entry, activity->activity);
    add_sized(&entry, activity->unit);
    (void)put(run, &entry);
}

void roast__tell_hot_line(struct roast_run *run, const struct roast_hot_line *line)
{
    struct entry entry = {.kind = ROAST_ENTRY_hot_line};

    if (!run->journal)
        return;
    add_number(&entry, line->line);
    add_number(&entry, bits_of(line->seconds));
    add_number(&entry, bits_of(line->self_seconds));
    add_sized(&entry, line->file);
    add_sized(&entry, line->function);
    add_sized(&entry, line->text);
    (void)put(run, &entry);
}

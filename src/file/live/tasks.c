/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.c - what a scheduler saw, out of a live file.
 *
 * Texts of tasks have numbers there, like the workers of samples, and are told now and
 * then; a number keeps its meaning for the whole file. */
#include <math.h>

#include "file/live/entry.h"
#include "run/replay.h"

/* ---- texts ----------------------------------------------------------------------- */

static struct roast_str text_of(struct roast_live_entry *entry, uint64_t size_and_one)
{
    struct roast_str text = {NULL, 0};

    if (size_and_one == 0)
        return text;
    text.data = (const char *)roast__cursor_bytes(&entry->in, size_and_one - 1);
    text.size_bytes = text.data ? (size_t)(size_and_one - 1) : 0;
    return text;
}

/* Sizes + 1, 0 for an absent one; then the texts. */
static void read_texts(struct roast_live_entry *entry, struct roast_str *const *texts,
                       size_t count)
{
    enum { MOST_TEXTS = 4 };
    uint64_t sizes[MOST_TEXTS];

    for (size_t i = 0; i < count; i++)
        sizes[i] = roast__cursor_varint(&entry->in);
    for (size_t i = 0; i < count; i++)
        *texts[i] = text_of(entry, sizes[i]);
}

static double read_double(struct roast_live_entry *entry)
{
    uint64_t bits = roast__cursor_varint(&entry->in);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* ---- members --------------------------------------------------------------------- */

/* Both move what is offered later: those that come late cost what others cost. */
static bool is_too_late(struct roast_live_entry *entry, int64_t time_ns)
{
    entry->kind = ROAST_ENTRY_member;
    return roast__entry_too_late(entry, time_ns);
}

int roast__read_member(struct roast_live_entry *entry)
{
    struct roast_member member = {.joined_ns = roast__entry_time(entry)};
    struct roast_str *const texts[] = {&member.worker, &member.name, &member.host};

    member.pid = roast__cursor_varint(&entry->in);
    member.threads = roast__cursor_varint(&entry->in);
    member.memory_limit_bytes = roast__cursor_varint(&entry->in);
    read_texts(entry, texts, 3);
    if (entry->in.failed || !member.worker.data || is_too_late(entry, member.joined_ns))
        return ROAST_BAD_DATA;
    return roast__run_put_member(entry->replay->run, &member, entry->err);
}

int roast__read_departure(struct roast_live_entry *entry)
{
    struct roast_departure departure = {.left_ns = roast__entry_time(entry)};
    struct roast_str *const texts[] = {&departure.worker, &departure.reason};

    departure.expected = roast__cursor_varint(&entry->in) != 0;
    read_texts(entry, texts, 2);
    if (entry->in.failed || !departure.worker.data ||
        is_too_late(entry, departure.left_ns))
        return ROAST_BAD_DATA;
    return roast__run_put_departure(entry->replay->run, &departure, entry->err);
}

int roast__read_offset(struct roast_live_entry *entry)
{
    int64_t offset_ns = roast__cursor_signed(&entry->in);

    if (entry->in.failed)
        return ROAST_BAD_DATA;
    return roast__run_put_offset(entry->replay->run, roast__entry_rest(entry),
                                 offset_ns, entry->err);
}

/* ---- tasks ----------------------------------------------------------------------- */

static uint64_t hash_of(const void *table, uint32_t item)
{
    const struct roast_replay *replay = table;
    return roast__slots_mix(replay->texts[item].number);
}

static struct roast_live_text *find_text(const struct roast_replay *replay,
                                         uint64_t number)
{
    const struct roast_slots *slots = &replay->text_slots;

    for (size_t at = roast__slots_first(slots, roast__slots_mix(number));
         roast__slots_holds(slots, at); at = roast__slots_next(slots, at)) {
        struct roast_live_text *text = &replay->texts[roast__slots_item(slots, at)];
        if (text->number == number)
            return text;
    }
    return NULL;
}

static bool add_text(struct roast_replay *replay, struct roast_live_text text)
{
    struct roast_live_text *texts = roast__array_room(
        replay->texts, &replay->text_cap, replay->text_count, sizeof(*texts));

    if (texts)
        replay->texts = texts;
    if (!texts || replay->text_count >= UINT32_MAX ||
        !roast__slots_room(&replay->text_slots, replay->text_count, hash_of, replay))
        return false;
    uint32_t item = (uint32_t)replay->text_count++;
    texts[item] = text;
    roast__slots_put(&replay->text_slots, roast__slots_mix(text.number), item);
    return true;
}

static int learn_text(struct roast_live_entry *entry, uint64_t number,
                      struct roast_str told)
{
    struct roast_replay *replay = entry->replay;
    struct roast_live_text *known = find_text(replay, number);
    struct roast_live_text text = {number, roast__strings_put(&replay->strings, told)};

    if (text.text < 0 || (!known && !add_text(replay, text)))
        return roast_error_set(entry->err, ROAST_NO_MEMORY, "a text of a live file");
    if (known)
        known->text = text.text;
    return ROAST_OK;
}

/* A text that a task names by number, and may tell. */
struct named {
    uint64_t number; /* + 1; 0: there is none */
    bool is_told;
    uint64_t size; /* + 1 */
};

static void read_named(struct roast_live_entry *entry, struct named *named)
{
    uint64_t head = roast__cursor_varint(&entry->in);

    *named = (struct named){.number = head >> 1, .is_told = head & 1};
}

static void read_size(struct roast_live_entry *entry, struct named *named)
{
    if (named->is_told)
        named->size = roast__cursor_varint(&entry->in);
}

static int learn(struct roast_live_entry *entry, const struct named *named)
{
    if (!named->is_told)
        return ROAST_OK;
    struct roast_str told = text_of(entry, named->size);
    return told.data ? learn_text(entry, named->number, told) : ROAST_BAD_DATA;
}

/* False: nobody told it. */
static bool look_up(const struct roast_replay *replay, const struct named *named,
                    struct roast_str *text)
{
    const struct roast_live_text *known = find_text(replay, named->number);

    if (known)
        *text = roast__strings_get(&replay->strings, known->text);
    return known || named->number == 0;
}

static void read_task_numbers(struct roast_live_entry *entry, struct roast_task *task)
{
    task->key_hash = (uint32_t)roast__cursor_varint(&entry->in);
    uint64_t end = roast__cursor_varint(&entry->in);
    task->ours = end & 1;
    task->end = end >> 1 < ROAST_TASK_END_LAST ? (enum roast_task_end)(end >> 1) : 0;
    task->assigned_ns = roast__entry_time(entry);
    task->start_ns =
        roast__wrap_add(task->assigned_ns, roast__cursor_signed(&entry->in));
    task->stop_ns = roast__wrap_add(task->start_ns, roast__cursor_signed(&entry->in));
}

int roast__read_task(struct roast_live_entry *entry)
{
    struct roast_replay *replay = entry->replay;
    struct roast_task task = {.key_hash = 0};
    struct named prefix;
    struct named worker;

    read_named(entry, &prefix);
    read_named(entry, &worker);
    read_task_numbers(entry, &task);
    read_size(entry, &prefix);
    read_size(entry, &worker);
    int status = learn(entry, &prefix);
    if (status == ROAST_OK)
        status = learn(entry, &worker);
    if (status < 0)
        return status;
    if (entry->in.failed || !roast_task_end_name((unsigned)task.end) ||
        !look_up(replay, &prefix, &task.prefix) ||
        !look_up(replay, &worker, &task.worker))
        return ROAST_BAD_DATA;
    return roast__run_put_task(replay->run, &task, entry->err);
}

/* As if the user gave them, like all frames of a live file. */
int roast__read_task_frame(struct roast_live_entry *entry)
{
    struct roast_task_frames told = {.from = ROAST_FROM_USER};

    told.key_hash = (uint32_t)roast__cursor_varint(&entry->in);
    told.worker = text_of(entry, roast__cursor_varint(&entry->in));
    if (entry->in.failed)
        return ROAST_BAD_DATA;
    told.frames = roast__entry_rest(entry);
    return roast__run_put_task_frames(entry->replay->run, &told, NULL, entry->err);
}

/* ---- sums ------------------------------------------------------------------------ */

int roast__read_activity(struct roast_live_entry *entry)
{
    struct roast_activity activity = {.value = read_double(entry)};
    struct roast_str *const texts[] = {&activity.context, &activity.prefix,
                                       &activity.activity, &activity.unit};

    read_texts(entry, texts, 4);
    if (entry->in.failed || !isfinite(activity.value))
        return ROAST_BAD_DATA;
    return roast__run_put_activity(entry->replay->run, &activity, entry->err);
}

int roast__read_hot_line(struct roast_live_entry *entry)
{
    struct roast_hot_line line = {.line = roast__cursor_varint(&entry->in)};
    struct roast_str *const texts[] = {&line.file, &line.function, &line.text};

    line.seconds = read_double(entry);
    line.self_seconds = read_double(entry);
    read_texts(entry, texts, 3);
    if (entry->in.failed || !isfinite(line.seconds) || !isfinite(line.self_seconds))
        return ROAST_BAD_DATA;
    return roast__run_put_hot_line(entry->replay->run, &line, entry->err);
}

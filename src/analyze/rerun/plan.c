/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c - reads what a call of the Runner planned and what its result has.
 *
 * The notes of call N, lines with fields separated by tabs:
 *
 *     N call     run HEX, processor NAME, postprocess changes, maxchunks N, part,
 *                reruns N: of an earlier call
 *     N given    the fileset (fileset_read.c)
 *     N items    dataset NAME, usermeta JSON, preload JSON: of the next files
 *                file NAME UUID [TREE]
 *                inexact: the file before
 *                items STRETCH ...: of the file before
 *                unlisted: there were too many
 *     N result   in FILE STRETCH ...: the number of the file in `N items`
 *                records: those of successful chunks are in the result, and those of
 *                failed ones are not
 *                unknown: an error of the monitor
 *     N moved    in FILE STRETCH ...: what a later call was given to run again
 *     N moved files  the same as a fileset
 *
 * A stretch is "START SIZE COUNT": so many items of this size without gaps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/rerun/plan.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/str.h"

enum { MOST_ITEMS = 2000000 }; /* a file is not trusted */

/* ---- notes -------------------------------------------------------------------- */

static struct roast_str note_of(const struct roast_run *run, uint32_t call,
                                const char *name)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu32 " %s", call, name);
    return roast__notes_get(&run->notes, ROAST_NOTES_call, roast_str_of(text));
}

uint32_t roast__plan_count(const struct roast_run *run)
{
    uint32_t count = 0;

    while (count < UINT32_MAX && note_of(run, count + 1, "call").data)
        count++;
    return count;
}

static bool next_number(struct roast_str *text, uint64_t *value)
{
    int64_t number = 0;
    bool found = roast__str_take_int(text, &number) && number >= 0;

    *value = found ? (uint64_t)number : 0;
    return found;
}

static bool add_item(struct roast_items *items, struct roast_item item)
{
    struct roast_item *room =
        roast__array_room(items->items, &items->cap, items->count, sizeof(item));

    if (!room)
        return false;
    items->items = room;
    items->items[items->count++] = item;
    return true;
}

/* Adds the items of stretches, or one range for each stretch. BAD_DATA if these are
 * damaged. */
static int add_stretches(struct roast_items *items, uint32_t file,
                         struct roast_str text, bool as_ranges)
{
    while (text.data) {
        uint64_t start, size, count, end;
        if (!next_number(&text, &start) || !next_number(&text, &size) ||
            !next_number(&text, &count) || count > MOST_ITEMS ||
            items->count > MOST_ITEMS - count ||
            __builtin_mul_overflow(size, count, &end) ||
            __builtin_add_overflow(start, end, &end) || end > (uint64_t)INT64_MAX)
            return ROAST_BAD_DATA;
        if (as_ranges && count > 0) {
            size = end - start;
            count = 1;
        }
        for (; count > 0; count--, start += size) {
            if (!add_item(items, (struct roast_item){file, start, start + size}))
                return ROAST_NO_MEMORY;
        }
    }
    return ROAST_OK;
}

static void add_rerun(struct roast_plan *plan, struct roast_str number)
{
    uint64_t earlier = 0;
    bool known = next_number(&number, &earlier) && earlier < plan->call;

    plan->earlier = known && !plan->reruns ? (uint32_t)earlier : 0;
    plan->reruns = true;
}

static void read_call(struct roast_plan *plan, struct roast_str text)
{
    while (text.data) {
        struct roast_str line = roast__fileset_next(&text, '\n');
        struct roast_str kind = roast__fileset_next(&line, '\t');
        if (roast__str_is(kind, "run"))
            plan->run_id = line;
        else if (roast__str_is(kind, "processor"))
            plan->processor = line;
        else if (roast__str_is(kind, "postprocess"))
            plan->changes_output = true;
        else if (roast__str_is(kind, "part"))
            plan->is_part = true;
        else if (roast__str_is(kind, "reruns"))
            add_rerun(plan, line);
        else if (roast__str_is(kind, "maxchunks"))
            (void)next_number(&line, &plan->max_chunks);
    }
}

uint32_t roast__plan_reruns(const struct roast_run *run, uint32_t call)
{
    struct roast_plan plan = {.call = call};

    read_call(&plan, note_of(run, call, "call"));
    return plan.earlier;
}

static int add_file(struct roast_plan *plan, const struct roast_plan_file *common,
                    struct roast_str line)
{
    struct roast_plan_file *files = roast__array_room(plan->files, &plan->file_cap,
                                                      plan->file_count, sizeof(*files));

    if (!files)
        return ROAST_NO_MEMORY;
    plan->files = files;
    struct roast_plan_file *file = &files[plan->file_count];
    *file = *common;
    file->file = roast__fileset_next(&line, '\t');
    file->uuid = roast__fileset_next(&line, '\t');
    file->tree = line;
    if (!file->dataset.data || !file->file.data || !file->uuid.data ||
        plan->file_count >= MOST_ITEMS)
        return ROAST_BAD_DATA;
    plan->file_count++;
    return ROAST_OK;
}

/* JSON that is copied into JSON. */
static int keep_json(struct roast_str *to, struct roast_str json)
{
    if (!roast__fileset_is_closed(json))
        return ROAST_BAD_DATA;
    *to = json.size_bytes > 0 ? json : (struct roast_str){NULL, 0};
    return ROAST_OK;
}

static int read_items(struct roast_plan *plan, struct roast_str text)
{
    struct roast_plan_file common = {.inexact = false};
    int status = ROAST_OK;

    while (text.data && status == ROAST_OK) {
        struct roast_str line = roast__fileset_next(&text, '\n');
        struct roast_str kind = roast__fileset_next(&line, '\t');
        size_t before = plan->planned.count;
        if (kind.size_bytes == 0) {
            continue;
        } else if (roast__str_is(kind, "dataset")) {
            common = (struct roast_plan_file){.dataset = line};
        } else if (roast__str_is(kind, "usermeta")) {
            status = keep_json(&common.usermeta, line);
        } else if (roast__str_is(kind, "preload")) {
            status = keep_json(&common.preload, line);
        } else if (roast__str_is(kind, "file")) {
            status = add_file(plan, &common, line);
        } else if (roast__str_is(kind, "unlisted")) {
            plan->is_unlisted = true;
        } else if (plan->file_count == 0) {
            status = ROAST_BAD_DATA;
        } else if (roast__str_is(kind, "inexact")) {
            plan->files[plan->file_count - 1].inexact = true;
        } else if (roast__str_is(kind, "items")) {
            status = add_stretches(&plan->planned, (uint32_t)plan->file_count - 1, line,
                                   false);
            plan->files[plan->file_count - 1].planned_items +=
                plan->planned.count - before;
        } else {
            status = ROAST_BAD_DATA;
        }
    }
    return status;
}

/* ---- what the result has ---------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
    const struct roast_item *left = a, *right = b;

    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->stop > right->stop) - (left->stop < right->stop);
}

static int compare_files(const void *a, const void *b, void *context)
{
    const struct roast_plan *plan = context;
    const struct roast_plan_file *left = &plan->files[*(const uint32_t *)a];
    const struct roast_plan_file *right = &plan->files[*(const uint32_t *)b];
    int order = roast__str_compare(left->dataset, right->dataset);

    return order != 0 ? order : roast__str_compare(left->file, right->file);
}

/* The files of a plan by their names; returns owned. */
static uint32_t *sort_files(struct roast_plan *plan)
{
    uint32_t *order = roast__alloc((plan->file_count + 1) * sizeof(*order));

    for (size_t i = 0; order && i < plan->file_count; i++)
        order[i] = (uint32_t)i;
    if (order && plan->file_count > 1)
        qsort_r(order, plan->file_count, sizeof(*order), compare_files, plan);
    return order;
}

/* The place in the order of the first file with these names; file_count: none. */
static size_t find_file(const struct roast_plan *plan, const uint32_t *order,
                        const struct roast_str names[2])
{
    size_t low = 0, high = plan->file_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct roast_plan_file *file = &plan->files[order[middle]];
        const struct roast_str here[2] = {file->dataset, file->file};
        if (roast__fileset_compare(here, names) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == plan->file_count)
        return plan->file_count;
    const struct roast_plan_file *file = &plan->files[order[low]];
    const struct roast_str here[2] = {file->dataset, file->file};
    return roast__fileset_compare(here, names) == 0 ? low : plan->file_count;
}

static bool is_of_call(const struct roast_run *run, int32_t process,
                       struct roast_str hex)
{
    static const char digits[] = "0123456789abcdef";
    struct roast_str id =
        roast__strings_get(&run->strings, run->attempts.processes[process].run);

    if (id.size_bytes * 2 != hex.size_bytes || id.size_bytes == 0)
        return false;
    for (size_t i = 0; i < id.size_bytes; i++) {
        unsigned char byte = (unsigned char)id.data[i];
        if (hex.data[2 * i] != digits[byte >> 4] ||
            hex.data[2 * i + 1] != digits[byte & 15])
            return false;
    }
    return true;
}

/* What is known of the items of a call. */
struct outcome {
    struct roast_items done; /* ranges in the result; owned */
    struct roast_items failed;
    bool by_records; /* what is in neither of both may be in the result */
};

/* The ranges of the attempts of the call. BAD_DATA where the names of a file are those of
 * two: its trees cannot be told apart. */
static int add_records(struct outcome *outcome, struct roast_plan *plan,
                       const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_column *columns = attempts->columns;
    uint32_t *order = sort_files(plan);
    int status = order ? ROAST_OK : ROAST_NO_MEMORY;

    outcome->by_records = true;
    for (size_t row = 0; status == ROAST_OK && row < attempts->count; row++) {
        int64_t start = roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1);
        int64_t stop = roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1);
        int32_t number = attempts->source[row];
        bool ok = attempts->status[row] == ROAST_CHUNK_OK;
        if (number < 0 || !(ok || attempts->status[row] == ROAST_CHUNK_FAILED) ||
            start < 0 || stop < start ||
            !is_of_call(run, attempts->process[row], plan->run_id))
            continue;
        const struct roast_source *source = &attempts->sources[number];
        const struct roast_str names[2] = {
            roast__strings_get(&run->strings, source->dataset),
            roast__strings_get(&run->strings, source->file)};
        size_t at = find_file(plan, order, names);
        if (at == plan->file_count)
            continue;
        if (at + 1 < plan->file_count &&
            compare_files(&order[at], &order[at + 1], plan) == 0)
            status = ROAST_BAD_DATA;
        else if (!add_item(
                     ok ? &outcome->done : &outcome->failed,
                     (struct roast_item){order[at], (uint64_t)start, (uint64_t)stop}))
            status = ROAST_NO_MEMORY;
    }
    roast__free(order);
    return status;
}

static int read_result(struct outcome *outcome, struct roast_plan *plan,
                       const struct roast_run *run, struct roast_str text)
{
    int status = ROAST_OK;

    while (text.data && status == ROAST_OK) {
        struct roast_str line = roast__fileset_next(&text, '\n');
        struct roast_str kind = roast__fileset_next(&line, '\t');
        uint64_t file;
        if (roast__str_is(kind, "records")) {
            status = add_records(outcome, plan, run);
        } else if (roast__str_is(kind, "unknown")) {
            status = ROAST_BAD_DATA;
        } else if (roast__str_is(kind, "in")) {
            struct roast_str number = roast__fileset_next(&line, '\t');
            status = next_number(&number, &file) && file < plan->file_count
                         ? add_stretches(&outcome->done, (uint32_t)file, line, true)
                         : ROAST_BAD_DATA;
        }
    }
    return status;
}

/* Sorts ranges and joins those that touch. */
static void join_ranges(struct roast_items *ranges)
{
    size_t kept = 0;

    if (ranges->count > 1)
        qsort(ranges->items, ranges->count, sizeof(*ranges->items), compare_items);
    for (size_t i = 0; i < ranges->count; i++) {
        struct roast_item range = ranges->items[i];
        struct roast_item *last = kept > 0 ? &ranges->items[kept - 1] : NULL;
        if (!last || last->file != range.file || last->stop < range.start)
            ranges->items[kept++] = range;
        else if (last->stop < range.stop)
            last->stop = range.stop;
    }
    ranges->count = kept;
}

/* ---- what is missing --------------------------------------------------------------- */

/* The first range of the file that does not end before an entry. */
static size_t find_range(const struct roast_items *ranges, uint32_t file,
                         uint64_t entry)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct roast_item *range = &ranges->items[middle];
        if (range->file < file || (range->file == file && range->stop < entry))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only planned items that overlap have more gaps than there are items and ranges. */
static int add_missing(struct roast_plan *plan, struct roast_item item,
                       const struct roast_items *done)
{
    if (plan->missing.count >= plan->planned.count + done->count)
        return ROAST_BAD_DATA;
    plan->files[item.file].missing_items++;
    return add_item(&plan->missing, item) ? ROAST_OK : ROAST_NO_MEMORY;
}

/* Adds the parts of an item that are in none of the ranges. One without entries is in the
 * result if it touches a range. */
static int add_gaps(struct roast_plan *plan, struct roast_item item,
                    const struct roast_items *done)
{
    size_t at = find_range(done, item.file, item.start);
    int status = ROAST_OK;

    for (; at < done->count && status == ROAST_OK; at++) {
        const struct roast_item *range = &done->items[at];
        if (range->file != item.file || range->start > item.stop)
            break;
        if (range->start > item.start)
            status = add_missing(
                plan, (struct roast_item){item.file, item.start, range->start}, done);
        if (range->stop >= item.stop)
            return status;
        item.start = range->stop;
    }
    return status == ROAST_OK ? add_missing(plan, item, done) : status;
}

/* Whether all that is missing failed. A record that was lost is no failure. */
static bool has_all_failed(const struct roast_plan *plan,
                           const struct roast_items *failed)
{
    for (size_t i = 0; i < plan->missing.count; i++) {
        struct roast_item item = plan->missing.items[i];
        size_t at = find_range(failed, item.file, item.stop);
        if (at == failed->count || failed->items[at].file != item.file ||
            failed->items[at].start > item.start)
            return false;
    }
    return true;
}

static int find_missing(struct roast_plan *plan, const struct roast_items *done)
{
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < plan->planned.count; i++) {
        if (!plan->files[plan->planned.items[i].file].moved)
            status = add_gaps(plan, plan->planned.items[i], done);
    }
    return status;
}

/* Files that were given and have no items. With maxchunks, a dataset with that many
 * needs no more files. */
static int find_unread(struct roast_plan *plan)
{
    const struct roast_fileset *given = &plan->given;
    uint32_t *order = sort_files(plan);
    struct roast_str dataset = {NULL, 0};
    uint64_t planned = 0; /* items of the dataset */
    size_t next = 0;

    for (size_t i = 0; order && i < given->count; i++) {
        const struct roast_fileset_file *file = &given->files[i];
        const struct roast_str names[2] = {roast__fileset_text(given, file->dataset),
                                           roast__fileset_text(given, file->file)};
        if (!dataset.data || !roast__str_equal(dataset, names[0])) {
            dataset = names[0];
            planned = 0;
        }
        for (; next < plan->file_count; next++) {
            const struct roast_plan_file *own = &plan->files[order[next]];
            int side = roast__str_compare(own->dataset, dataset);
            if (side > 0)
                break;
            planned += side == 0 ? own->planned_items : 0;
        }
        if ((plan->max_chunks == 0 || planned < plan->max_chunks) &&
            !roast__fileset_has(&plan->moved, names) &&
            find_file(plan, order, names) == plan->file_count)
            roast__fileset_add(&plan->unread,
                               roast__fileset_keep(&plan->unread, names[0]), names[1],
                               roast__fileset_text(given, file->tree));
    }
    bool kept = order && !plan->unread.failed;
    roast__free(order);
    roast__fileset_sort(&plan->unread);
    return kept ? ROAST_OK : ROAST_NO_MEMORY;
}

static int read_moved_files(struct roast_plan *plan, struct roast_str text)
{
    int status = text.data ? roast__fileset_read(&plan->moved, text, NULL) : ROAST_OK;

    roast__fileset_sort(&plan->moved);
    for (size_t i = 0; i < plan->file_count && plan->moved.count > 0; i++) {
        struct roast_plan_file *file = &plan->files[i];
        const struct roast_str names[2] = {file->dataset, file->file};
        file->moved = roast__fileset_has(&plan->moved, names);
    }
    return status;
}

/* ---- all ---------------------------------------------------------------------- */

static void forget_items(struct roast_plan *plan)
{
    plan->file_count = plan->planned.count = plan->missing.count = 0;
    plan->is_listed = false;
    plan->is_unlisted = true;
}

int roast__plan_read(struct roast_plan *plan, const struct roast_run *run,
                     uint32_t call, roast_error *err)
{
    struct roast_str given = note_of(run, call, "given");
    struct roast_str items = note_of(run, call, "items");
    struct roast_str result = note_of(run, call, "result");
    struct outcome outcome = {.by_records = false};
    int status = ROAST_OK;

    plan->call = call;
    plan->returned = result.data != NULL;
    read_call(plan, note_of(run, call, "call"));
    if (given.data)
        status = roast__fileset_read(&plan->given, given, NULL);
    if (status == ROAST_BAD_DATA)
        roast__fileset_release(&plan->given); /* half of it would be worse */
    roast__fileset_sort(&plan->given);
    status = status == ROAST_NO_MEMORY ? status : ROAST_OK;
    if (status == ROAST_OK && items.data) {
        plan->is_listed = true;
        status = read_items(plan, items);
    }
    if (status == ROAST_BAD_DATA || plan->is_unlisted ||
        (plan->returned && !plan->is_listed))
        forget_items(plan);
    if (status != ROAST_NO_MEMORY && plan->is_listed && plan->returned)
        status = read_result(&outcome, plan, run, result);
    if (status == ROAST_OK && plan->is_listed)
        status = read_result(&outcome, plan, run, note_of(run, call, "moved"));
    if (status == ROAST_OK)
        status = read_moved_files(plan, note_of(run, call, "moved files"));
    join_ranges(&outcome.done);
    join_ranges(&outcome.failed);
    if (status == ROAST_OK && plan->is_listed)
        status = find_missing(plan, &outcome.done);
    if (status == ROAST_OK && outcome.by_records &&
        !has_all_failed(plan, &outcome.failed))
        status = ROAST_BAD_DATA;
    if (status == ROAST_BAD_DATA)
        forget_items(plan);
    if (status != ROAST_NO_MEMORY)
        status = ROAST_OK;
    if (status == ROAST_OK && !plan->is_part && !plan->is_unlisted)
        status = find_unread(plan);
    roast__free(outcome.done.items);
    roast__free(outcome.failed.items);
    if (status == ROAST_NO_MEMORY)
        return roast_error_set(err, status, "items of %zu files", plan->file_count);
    return status;
}

void roast__plan_release(struct roast_plan *plan)
{
    roast__fileset_release(&plan->given);
    roast__fileset_release(&plan->unread);
    roast__fileset_release(&plan->moved);
    roast__free(plan->files);
    roast__free(plan->planned.items);
    roast__free(plan->missing.items);
    *plan = (struct roast_plan){.call = 0};
}

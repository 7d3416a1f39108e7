/* SPDX-License-Identifier: BSD-3-Clause */
/* load_tasks.c - what a scheduler saw; save_tasks.c says how it is packed.
 *
 * Files from before there were schedulers have none of it, and lack nothing: they do
 * not have its tables either. What workers offered is loaded with the times of the run,
 * so stays are put back as they are and not joined once more. */
#include "file/sqlite/load_tasks.h"

#include <math.h>

#include "file/sqlite/save_tasks.h"
#include "file/sqlite/schema.h"
#include "run/array.h"
#include "run/replay.h"

/* The least that an item takes in a part. */
enum { TASK_BYTES = 10 };

/* What items are told from. */
struct last {
    int64_t prefix;
    int64_t worker;
    int64_t time_ns;
};

/* The number of a string, or ROAST_NO_STRING where it is lost; that was counted. */
static int32_t known_string(const struct roast_loading *loading, int64_t number)
{
    return number >= 0 && roast__loading_has_string(loading, (uint64_t)number)
               ? (int32_t)number
               : ROAST_NO_STRING;
}

static int64_t next_change(struct roast_cursor *cur, int64_t *last)
{
    *last = roast__wrap_add(*last, roast__cursor_signed(cur));
    return *last;
}

/* ---- tasks ----------------------------------------------------------------------- */

/* Room for the tasks of a part, and little more: doubling would take twice of what is
 * larger than in the file already. */
static bool reserve_tasks(struct roast_tasks *tasks,
                          const struct roast_segment_part *part)
{
    size_t most = part->content.size_bytes / TASK_BYTES;
    size_t wanted = tasks->count + (part->items < most ? part->items : most);

    if (wanted > ROAST_MOST_TASKS)
        wanted = ROAST_MOST_TASKS;
    if (wanted > tasks->cap && wanted < tasks->cap + tasks->cap / 8)
        wanted = tasks->cap + tasks->cap / 8; /* parts may be small and many */
    return roast__tasks_reserve(tasks, wanted);
}

static bool is_end(uint64_t end)
{
    return end <= UINT8_MAX &&
           roast_task_end_name((unsigned)end & ~(unsigned)ROAST_TASK_OURS);
}

/* Appends the next task; false: its end is none that we know, or there are too many. */
static bool take_task(struct roast_loading *loading, struct roast_cursor *cur,
                      struct last *last)
{
    struct roast_tasks *tasks = &loading->run->scheduler.tasks;
    uint64_t end = roast__cursor_varint(cur);
    uint32_t key_hash = roast__cursor_fixed32(cur);
    int64_t prefix = next_change(cur, &last->prefix);
    int64_t worker = next_change(cur, &last->worker);
    int64_t assigned_ns = next_change(cur, &last->time_ns);
    int64_t start_ns = roast__wrap_add(assigned_ns, roast__cursor_signed(cur));
    int64_t stop_ns = roast__wrap_add(start_ns, roast__cursor_signed(cur));
    size_t row = tasks->count;

    if (cur->failed || !is_end(end) || row == tasks->cap)
        return false;
    tasks->prefix[row] = known_string(loading, prefix);
    tasks->worker[row] = known_string(loading, worker);
    tasks->key_hash[row] = key_hash;
    tasks->end[row] = (unsigned char)end;
    tasks->assigned_ns[row] = assigned_ns;
    tasks->start_ns[row] = start_ns;
    tasks->stop_ns[row] = stop_ns;
    tasks->count++;
    return true;
}

static int take_tasks(struct roast_loading *loading,
                      const struct roast_segment_part *part, struct roast_cursor *cur,
                      roast_error *err)
{
    struct last last = {0};
    uint64_t odd = 0;

    if (!reserve_tasks(&loading->run->scheduler.tasks, part))
        return roast_error_set(err, ROAST_NO_MEMORY, "%u tasks", part->items);
    for (uint32_t i = 0; i < part->items && !cur->failed; i++)
        odd += !take_task(loading, cur, &last) && !cur->failed;
    roast__loading_miss(loading, odd, "tasks");
    return ROAST_OK;
}

/* ---- stays ----------------------------------------------------------------------- */

static int64_t next_word(struct roast_cursor *cur)
{
    uint64_t number = roast__cursor_varint(cur);

    return number <= INT32_MAX ? (int64_t)number - 1 : -1;
}

static struct roast_stay read_stay(const struct roast_loading *loading,
                                   struct roast_cursor *cur, int64_t *last_ns)
{
    uint64_t bits = roast__cursor_varint(cur);
    uint64_t worker = roast__cursor_varint(cur);
    struct roast_stay stay = {.expected = bits & ROAST_STAY_EXPECTED};

    stay.worker =
        roast__loading_has_string(loading, worker) ? (int32_t)worker : ROAST_NO_STRING;
    stay.name = known_string(loading, next_word(cur));
    stay.host = known_string(loading, next_word(cur));
    stay.reason = known_string(loading, next_word(cur));
    stay.joined_ns = next_change(cur, last_ns);
    if (bits & ROAST_STAY_LEFT)
        stay.left_ns = roast__wrap_add(stay.joined_ns, roast__cursor_signed(cur));
    stay.pid = roast__cursor_varint(cur);
    stay.threads = roast__cursor_varint(cur);
    stay.memory_limit_bytes = roast__cursor_varint(cur);
    return stay;
}

static int take_stays(struct roast_loading *loading,
                      const struct roast_segment_part *part, struct roast_cursor *cur,
                      roast_error *err)
{
    struct roast_stays *stays = &loading->run->scheduler.stays;
    int64_t last_ns = 0;
    uint64_t odd = 0;

    for (uint32_t i = 0; i < part->items && !cur->failed; i++) {
        struct roast_stay stay = read_stay(loading, cur, &last_ns);
        if (cur->failed)
            break;
        if (stay.worker == ROAST_NO_STRING || stays->count >= ROAST_MOST_STAYS ||
            !roast__loading_may_take(loading, 2 * sizeof(stay)))
            odd++;
        else if (!roast__stays_append(stays, &stay))
            return roast_error_set(err, ROAST_NO_MEMORY, "stay %zu", stays->count);
    }
    roast__loading_miss(loading, odd, "stays of workers");
    return ROAST_OK;
}

/* ---- clocks ---------------------------------------------------------------------- */

static int take_offsets(struct roast_loading *loading,
                        const struct roast_segment_part *part, struct roast_cursor *cur,
                        roast_error *err)
{
    struct roast_offsets *offsets = &loading->run->scheduler.offsets;
    uint64_t odd = 0;

    for (uint32_t i = 0; i < part->items && !cur->failed; i++) {
        uint64_t host = roast__cursor_varint(cur);
        int64_t offset_ns = roast__cursor_signed(cur);
        size_t before = offsets->count;
        if (cur->failed)
            break;
        if (!roast__loading_has_string(loading, host / 2) ||
            before >= ROAST_MOST_HOSTS ||
            !roast__loading_may_take(loading, 2 * sizeof(offsets->items[0])))
            odd++;
        else if (!roast__offsets_put(offsets, (int32_t)(host / 2), offset_ns))
            return roast_error_set(err, ROAST_NO_MEMORY, "clock %zu", before);
        else if (offsets->count > before)
            offsets->items[before].is_clients = host % 2;
    }
    roast__loading_miss(loading, odd, "clocks of hosts");
    return ROAST_OK;
}

/* ---- plain tables ---------------------------------------------------------------- */

static struct roast_str text_at(const struct roast_checked *in, const char *column)
{
    int at = roast__checked_column(in, column);

    return at >= 0 ? roast__sql_text(in->select, at) : (struct roast_str){NULL, 0};
}

static double number_at(const struct roast_checked *in, const char *column)
{
    int at = roast__checked_column(in, column);

    return at >= 0 && sqlite3_column_type(in->select, at) != SQLITE_NULL
               ? sqlite3_column_double(in->select, at)
               : NAN;
}

static int take_activity(struct roast_loading *loading, const struct roast_checked *in,
                         roast_error *err)
{
    struct roast_activity activity = {
        .context = text_at(in, "context"),
        .prefix = text_at(in, "prefix"),
        .activity = text_at(in, "activity"),
        .unit = text_at(in, "unit"),
        .value = number_at(in, "value"),
    };

    if (isfinite(activity.value) &&
        loading->run->scheduler.activity_count < ROAST_MOST_ACTIVITIES &&
        roast__loading_may_take(loading, 2 * sizeof(struct roast_activity_row)))
        return roast__run_put_activity(loading->run, &activity, err);
    roast__loading_miss(loading, 1, "activity");
    return ROAST_OK;
}

static int take_hot_line(struct roast_loading *loading, const struct roast_checked *in,
                         roast_error *err)
{
    int line = roast__checked_column(in, "line");
    struct roast_hot_line hot = {
        .file = text_at(in, "file"),
        .function = text_at(in, "function"),
        .text = text_at(in, "text"),
        .line = line >= 0 ? (uint64_t)sqlite3_column_int64(in->select, line) : 0,
        .seconds = number_at(in, "seconds"),
        .self_seconds = number_at(in, "self_seconds"),
    };

    if (isfinite(hot.seconds) && isfinite(hot.self_seconds) &&
        loading->run->scheduler.hot_count < ROAST_MOST_HOT_LINES &&
        roast__loading_may_take(loading, 2 * sizeof(struct roast_hot_row)))
        return roast__run_put_hot_line(loading->run, &hot, err);
    roast__loading_miss(loading, 1, "hot line");
    return ROAST_OK;
}

/* ---- all ------------------------------------------------------------------------- */

static int load_segments(struct roast_loading *loading, roast_error *err)
{
    static const struct {
        enum roast_segment segment;
        roast__take_part *take;
    } parts[] = {
        {ROAST_SEGMENT_tasks, take_tasks},
        {ROAST_SEGMENT_stays, take_stays},
        {ROAST_SEGMENT_offsets, take_offsets},
    };
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < sizeof(parts) / sizeof(parts[0]); i++)
        status = roast__load_segment(loading, parts[i].segment, parts[i].take, err);
    return status;
}

/* A table that is none any more has lost what was in it. */
static int load_plain(struct roast_loading *loading, const char *table,
                      roast__take_row *take, roast_error *err)
{
    int has = roast__schema_has(loading->db, table, err);

    if (has == 0)
        roast__loading_miss(loading, 1, table);
    return has > 0 ? roast__load_table(loading, table, take, err) : has;
}

int roast__load_tasks(struct roast_loading *loading, roast_error *err)
{
    const char *activities = roast_table_name(ROAST_TABLE_activities);
    struct roast_contents contents;
    int has = roast__contents_find(&contents, loading->db, activities, err);

    roast__contents_release(&contents);
    if (has == 0)
        has = roast__schema_has(loading->db, activities, err);
    if (has <= 0)
        return has; /* of an older version */
    int status = load_segments(loading, err);
    if (status == ROAST_OK)
        status = load_plain(loading, activities, take_activity, err);
    if (status == ROAST_OK)
        status = load_plain(loading, roast_table_name(ROAST_TABLE_hot_lines),
                            take_hot_line, err);
    return status;
}

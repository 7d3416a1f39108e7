/* SPDX-License-Identifier: BSD-3-Clause */
/* task_tables.c - tasks of the cluster by what they were for, and the hottest lines.
 *
 * A task that moved to another worker before it began is counted there. Seconds are
 * those in which it ran: of one that failed Dask does not say them, but its attempts do;
 * of one that went with its worker nobody knows them. */
#include "analyze/budget/task_joins.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "analyze/totals/task_kinds.h"
#include "base/mem.h"

enum { MOST_HOT_LINES = 20, MOST_PREFIXES = 20 };

/* ---- kinds ----------------------------------------------------------------------- */

struct kind_sums {
    uint64_t ends[ROAST_TASK_END_LAST];
    uint64_t count;
    double seconds;
};

enum cell {
    KIND,
    COUNT,
    SECONDS,
    OK,
    FAILED,
    RETRIED,
    SENT_BACK,
    LOST,
    CANCELLED,
    RUNNING,
    PREFIXES,
    CELLS
};

static const char *const columns[CELLS] = {
    [KIND] = "kind",           [COUNT] = "count",
    [SECONDS] = "seconds",     [OK] = "ok",
    [FAILED] = "failed",       [RETRIED] = "retried",
    [SENT_BACK] = "sent_back", [LOST] = "lost",
    [CANCELLED] = "cancelled", [RUNNING] = "running",
    [PREFIXES] = "prefixes",
};

/* The sums of each kind; bit n of names[prefix]: tasks of kind n are called so. */
static void add_tasks(struct kind_sums sums[ROAST_KIND_COUNT], unsigned char *names,
                      const struct roast_tasks *tasks, const unsigned char *kinds)
{
    for (size_t i = 0; i < tasks->count; i++) {
        unsigned end = tasks->end[i] & ~(unsigned)ROAST_TASK_OURS;
        struct kind_sums *own = &sums[kinds[i]];
        own->ends[end]++;
        own->count += end != ROAST_TASK_moved;
        if (tasks->start_ns[i] != 0)
            own->seconds +=
                roast__seconds_between(tasks->start_ns[i], tasks->stop_ns[i]);
        if (tasks->prefix[i] >= 0)
            names[tasks->prefix[i]] |= (unsigned char)(1u << kinds[i]);
    }
}

static bool is_untimed_failure(const struct roast_tasks *tasks, size_t task)
{
    unsigned end = tasks->end[task] & ~(unsigned)ROAST_TASK_OURS;

    return tasks->start_ns[task] == 0 &&
           (end == ROAST_TASK_failed || end == ROAST_TASK_retried);
}

/* False when out of memory. */
static bool add_failed(struct kind_sums sums[ROAST_KIND_COUNT],
                       const struct roast_study *study)
{
    const struct roast_run *run = study->run;
    struct roast_task_joins joins = {.task_of = NULL};

    if (study->totals->roles.rows[ROAST_ROLE_FAILED] == 0)
        return true;
    bool found = roast__task_joins_find(&joins, run);
    for (size_t row = 0; found && row < run->attempts.count; row++) {
        int32_t task = joins.task_of[row];
        int64_t start_ns, end_ns;
        if (study->totals->roles.of_row[row] == ROAST_ROLE_FAILED && task >= 0 &&
            is_untimed_failure(&run->scheduler.tasks, (size_t)task) &&
            roast__attempt_times(&run->attempts, row, &start_ns, &end_ns))
            sums[study->task_kinds[task]].seconds +=
                roast__seconds_between(start_ns, end_ns);
    }
    roast__task_joins_release(&joins);
    return found;
}

static struct roast_cell list_names(const struct roast_study *study,
                                    const unsigned char *names, int kind)
{
    size_t all = study->run->strings.count;
    size_t count = 0;
    struct roast_cell *items;

    for (size_t i = 0; i < all && count < MOST_PREFIXES; i++)
        count += names[i] >> kind & 1;
    struct roast_cell list = roast__cell_list(study->summary, &items, count);
    for (size_t i = 0, next = 0; i < all && next < list.count; i++) {
        if (names[i] >> kind & 1)
            items[next++] = roast__study_text(study, (int32_t)i);
    }
    return list;
}

static void put_kind(const struct roast_study *study, size_t table, int kind,
                     const struct kind_sums *sums, const unsigned char *names)
{
    struct roast_cell *cells = roast__table_row(study->summary, table);
    const char *name = roast_task_kind_name((enum roast_task_kind)kind);

    cells[KIND] = roast__cell_text(study->summary, roast_str_of(name));
    cells[COUNT] = roast__cell_count(sums->count);
    cells[SECONDS] = roast__cell_number(sums->seconds);
    cells[OK] = roast__cell_count(sums->ends[ROAST_TASK_ok]);
    cells[FAILED] = roast__cell_count(sums->ends[ROAST_TASK_failed]);
    cells[RETRIED] = roast__cell_count(sums->ends[ROAST_TASK_retried]);
    cells[SENT_BACK] = roast__cell_count(sums->ends[ROAST_TASK_sent_back]);
    cells[LOST] = roast__cell_count(sums->ends[ROAST_TASK_lost]);
    cells[CANCELLED] = roast__cell_count(sums->ends[ROAST_TASK_cancelled]);
    cells[RUNNING] = roast__cell_count(sums->ends[ROAST_TASK_running]);
    cells[PREFIXES] = list_names(study, names, kind);
}

void roast__study_task_kinds(const struct roast_study *study)
{
    const struct roast_run *run = study->run;
    struct kind_sums sums[ROAST_KIND_COUNT] = {{.count = 0}};
    size_t table = roast__table_open(study->summary, "tasks_by_kind", ROAST_TABLE_KEYED,
                                     columns, CELLS);

    if (!roast__has_scheduled(&run->scheduler.tasks))
        return;
    unsigned char *names = roast__alloc(run->strings.count);
    if (names)
        add_tasks(sums, names, &run->scheduler.tasks, study->task_kinds);
    if (!names || !add_failed(sums, study))
        study->summary->failed = true;
    for (int kind = 0; names && kind < ROAST_KIND_COUNT; kind++) {
        if (sums[kind].count > 0)
            put_kind(study, table, kind, &sums[kind], names);
    }
    roast__free(names);
}

/* ---- hot lines ------------------------------------------------------------------- */

/* The hottest one behind `before`, equal ones as they were told; NULL: none is left. */
static const struct roast_hot_row *next_hot(const struct roast_scheduler_view *view,
                                            const struct roast_hot_row *before)
{
    const struct roast_hot_row *best = NULL;

    for (size_t i = 0; i < view->hot_count; i++) {
        const struct roast_hot_row *row = &view->hot[i];
        bool behind = !before || row->seconds < before->seconds ||
                      (row->seconds == before->seconds && row > before);
        if (behind && (!best || row->seconds > best->seconds))
            best = row;
    }
    return best;
}

void roast__study_hot_lines(const struct roast_study *study)
{
    static const char *const hot_columns[] = {"file", "line",    "function",
                                              "text", "seconds", "self_seconds"};
    const struct roast_scheduler_view *view = &study->run->scheduler;
    size_t table = roast__table_open(study->summary, "hot_lines", ROAST_TABLE_LIST,
                                     hot_columns, 6);
    const struct roast_hot_row *row = next_hot(view, NULL);

    for (int i = 0; row && i < MOST_HOT_LINES; i++, row = next_hot(view, row)) {
        struct roast_cell *cells = roast__table_row(study->summary, table);
        cells[0] = roast__study_text(study, row->file);
        cells[1] = roast__cell_count(row->line);
        cells[2] = roast__study_text(study, row->function);
        cells[3] = roast__study_text(study, row->text);
        cells[4] = roast__cell_number(row->seconds);
        cells[5] = roast__cell_number(row->self_seconds);
    }
}

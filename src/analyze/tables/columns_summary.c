/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_summary.c - tables that a summary has already, and those of notes.
 *
 * A column takes the cell of the same name. Where a table is put together from several,
 * their rows meet by the key, which is their first column. */
#include <stdlib.h>

#include "analyze/name_table.h"
#include "analyze/tables/columns_job.h"
#include "analyze/tables/columns_own.h"
#include "base/buf.h"
#include "base/mem.h"

enum { MOST_PARTS = 3 };

/* The tables of the summary that a table is made from; the first has its rows. */
static const char *const parts_of[ROAST_COLUMNS_TABLE_COUNT][MOST_PARTS] = {
    [ROAST_COLUMNS_files] = {"per_file", "file_metadata", "file_read_metrics"},
    [ROAST_COLUMNS_datasets] = {"per_dataset"},
    [ROAST_COLUMNS_workers] = {"per_worker"},
    [ROAST_COLUMNS_endpoints] = {"per_endpoint"},
    [ROAST_COLUMNS_failures] = {"failures"},
    [ROAST_COLUMNS_findings] = {"findings"},
};

static const struct {
    const char *column;
    const char *cell;
} other_names[] = {
    {"start", "t_start"},
};

/* ---- cells ----------------------------------------------------------------------- */

/* Texts of a list, joined by ", ". */
static void put_list(struct roast_builder *to, int at, const struct roast_cell *list)
{
    struct roast_buf text = {0};

    for (size_t i = 0; i < list->list.count; i++) {
        const struct roast_cell *item = &list->list.items[i];
        if (item->type != ROAST_CELL_TEXT)
            continue;
        if (text.size_bytes > 0)
            roast__buf_put(&text, ", ", 2);
        roast__buf_put(&text, item->text.data, item->text.size_bytes);
    }
    if (!roast__buf_ok(&text))
        roast__builder_fail(to);
    roast__fill_text(
        to, at,
        (struct roast_str){text.data ? (const char *)text.data : "", text.size_bytes});
    roast__buf_release(&text);
}

static double number_of(const struct roast_cell *cell)
{
    switch (cell->type) {
    case ROAST_CELL_COUNT:
    case ROAST_CELL_BOOL:
        return (double)cell->count;
    case ROAST_CELL_NUMBER:
        return cell->number;
    default:
        return NAN;
    }
}

/* Seconds since 1970 as a double are good to the microsecond. */
static void put_time(struct roast_builder *to, int at, double seconds)
{
    double us = nearbyint(seconds * 1e6);

    if (fabs(us) < 0x1p63 / 1e3)
        roast__fill_int(to, at, (int64_t)us * 1000);
}

static void put_cell(struct roast_builder *to, int at, enum roast_data_type type,
                     const struct roast_cell *cell)
{
    switch (type) {
    case ROAST_DATA_INT64:
        if (cell->type == ROAST_CELL_COUNT)
            roast__fill_count(to, at, cell->count);
        else
            roast__fill_sum(to, at, number_of(cell));
        break;
    case ROAST_DATA_DOUBLE:
        roast__fill_number(to, at, number_of(cell));
        break;
    case ROAST_DATA_TIME:
        put_time(to, at, number_of(cell));
        break;
    case ROAST_DATA_BOOL:
        if (cell->type == ROAST_CELL_BOOL)
            roast__fill_bool(to, at, cell->count != 0);
        break;
    case ROAST_DATA_TEXT:
        if (cell->type == ROAST_CELL_LIST)
            put_list(to, at, cell);
        else if (cell->type == ROAST_CELL_TEXT)
            roast__fill_text(to, at, cell->text);
        break;
    }
}

/* ---- tables of the summary ------------------------------------------------------- */

static const char *cell_name(const char *column)
{
    for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
        if (strcmp(other_names[i].column, column) == 0)
            return other_names[i].cell;
    }
    return column;
}

static size_t column_of(const struct roast_table *table, const char *name)
{
    size_t column = 0;

    while (column < table->column_count && strcmp(table->columns[column], name) != 0)
        column++;
    return column;
}

struct keyed_row {
    struct roast_str key;
    size_t row;
};

/* One of the tables, and its rows by key. */
struct part {
    const struct roast_table *table; /* NULL: the summary has none */
    struct keyed_row *rows;          /* owned */
    size_t count;
};

static int by_key(const void *a, const void *b)
{
    return roast__compare_names(((const struct keyed_row *)a)->key,
                                ((const struct keyed_row *)b)->key);
}

static const struct roast_cell *cells_of(const struct roast_table *table, size_t row)
{
    return &table->cells[row * table->column_count];
}

static bool index_part(struct part *part)
{
    size_t rows = part->table ? part->table->row_count : 0;

    part->rows = roast__alloc(rows * sizeof(part->rows[0]));
    for (size_t row = 0; part->rows && row < rows; row++) {
        const struct roast_cell *key = cells_of(part->table, row);
        if (key->type == ROAST_CELL_TEXT)
            part->rows[part->count++] = (struct keyed_row){key->text, row};
    }
    if (part->count > 1)
        qsort(part->rows, part->count, sizeof(part->rows[0]), by_key);
    return part->rows != NULL;
}

/* The cells that a part has for a key; NULL: none. */
static const struct roast_cell *meet(const struct part *part,
                                     const struct roast_cell *key)
{
    struct keyed_row wanted = {key->text, 0};
    const struct keyed_row *found = NULL;

    if (part->count > 0 && key->type == ROAST_CELL_TEXT)
        found = bsearch(&wanted, part->rows, part->count, sizeof(wanted), by_key);
    return found ? cells_of(part->table, found->row) : NULL;
}

/* A column of the table, and where it is in the parts. */
struct target {
    int at;
    enum roast_data_type type;
    size_t from[MOST_PARTS]; /* its column_count: it is not there */
};

struct plan {
    const struct roast_columns_job *job;
    struct part parts[MOST_PARTS];
    struct target *targets; /* owned */
    size_t count;
};

static void release_plan(struct plan *plan)
{
    for (int i = 0; i < MOST_PARTS; i++)
        roast__free(plan->parts[i].rows);
    roast__free(plan->targets);
}

static struct target target_of(const struct plan *plan, size_t column)
{
    enum roast_columns_table table = plan->job->table;
    struct roast_data info = roast__columns_info(table, column);
    struct target target = {.at = roast__columns_first(table) + (int)column,
                            .type = info.type};

    for (int i = 0; i < MOST_PARTS; i++) {
        if (plan->parts[i].table)
            target.from[i] = column_of(plan->parts[i].table, cell_name(info.name));
    }
    return target;
}

/* False when out of memory. */
static bool make_plan(struct plan *plan)
{
    const struct roast_columns_job *job = plan->job;
    bool made = true;

    for (int i = 0; i < MOST_PARTS; i++) {
        const char *name = parts_of[job->table][i];
        plan->parts[i].table = name ? roast_summary_table(job->summary, name) : NULL;
        made = made && (i == 0 || index_part(&plan->parts[i]));
    }
    plan->count = roast__columns_listed(job->table);
    plan->targets = roast__alloc(plan->count * sizeof(plan->targets[0]));
    for (size_t i = 0; plan->targets && i < plan->count; i++)
        plan->targets[i] = target_of(plan, i);
    return made && plan->targets;
}

/* The first part that knows it says it. */
static void put_target(const struct plan *plan, const struct target *target,
                       const struct roast_cell *const cells[MOST_PARTS])
{
    for (int i = 0; i < MOST_PARTS; i++) {
        size_t from = target->from[i];
        if (!cells[i] || from == plan->parts[i].table->column_count ||
            cells[i][from].type == ROAST_CELL_ABSENT)
            continue;
        put_cell(plan->job->to, target->at, target->type, &cells[i][from]);
        return;
    }
}

static void put_row(const struct plan *plan, size_t row)
{
    const struct roast_cell *cells[MOST_PARTS] = {cells_of(plan->parts[0].table, row)};

    for (int i = 1; i < MOST_PARTS; i++)
        cells[i] = meet(&plan->parts[i], &cells[0][0]);
    roast__builder_row(plan->job->to);
    for (size_t i = 0; i < plan->count; i++)
        put_target(plan, &plan->targets[i], cells);
}

void roast__columns_summarized(const struct roast_columns_job *job)
{
    roast__columns_summarized_with(job, NULL, NULL);
}

void roast__columns_summarized_with(const struct roast_columns_job *job,
                                    void (*more)(void *context, struct roast_str key),
                                    void *context)
{
    struct plan plan = {.job = job};

    if (!make_plan(&plan))
        roast__builder_fail(job->to);
    const struct roast_table *table = plan.parts[0].table;
    size_t rows = table ? table->row_count : 0;
    for (size_t row = 0; row < rows && roast__builder_ok(job->to); row++) {
        const struct roast_cell *key = cells_of(table, row);
        put_row(&plan, row);
        if (more && key->type == ROAST_CELL_TEXT)
            more(context, key->text);
    }
    release_plan(&plan);
}

/* ---- metrics and losses ---------------------------------------------------------- */

void roast__columns_metrics(const struct roast_columns_job *job)
{
    const struct roast_metric_values *values = roast_summary_metrics(job->summary);

    for (int i = 0; i < ROAST_METRIC_COUNT && roast__builder_ok(job->to); i++) {
        enum roast_metric metric = (enum roast_metric)i;
        const struct roast_metric_info *info = roast_metric_info(metric);
        const char *kind = roast_metric_kind_name(roast_metric_kind(values, metric));
        roast__builder_row(job->to);
        roast__fill_text(job->to, ROAST_AT_metrics_name, roast_str_of(info->name));
        roast__fill_text(job->to, ROAST_AT_metrics_unit, roast_str_of(info->unit));
        roast__fill_text(job->to, ROAST_AT_metrics_level, roast_str_of(info->level));
        if (values->known[i]) {
            roast__fill_number(job->to, ROAST_AT_metrics_value, values->value[i]);
            roast__fill_text(job->to, ROAST_AT_metrics_kind, roast_str_of(kind));
        } else {
            roast__fill_text(job->to, ROAST_AT_metrics_reason,
                             roast_str_of(values->why[i]));
        }
    }
}

/* The summary names those that there were; a quick one has not looked. */
static void put_loss(const struct roast_columns_job *job, const char *name,
                     const char *text)
{
    const struct roast_table *table = roast_summary_table(job->summary, "losses");
    size_t column = table ? column_of(table, name) : 0;
    bool none = table && column == table->column_count;

    roast__builder_row(job->to);
    roast__fill_text(job->to, ROAST_AT_losses_name, roast_str_of(name));
    if (none)
        roast__fill_count(job->to, ROAST_AT_losses_count, 0);
    else if (table && table->row_count > 0) /* a file may say that there is no row */
        put_cell(job->to, ROAST_AT_losses_count, ROAST_DATA_INT64,
                 &table->cells[column]);
    roast__fill_text(job->to, ROAST_AT_losses_meaning, roast_str_of(text));
}

void roast__columns_losses(const struct roast_columns_job *job)
{
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++)
        put_loss(job, roast_run_loss_name((enum roast_run_loss)i),
                 roast_run_loss_text((enum roast_run_loss)i));
    for (unsigned i = 0; i < ROAST_LOSS_END; i++) {
        if (roast_loss_name(i))
            put_loss(job, roast_loss_name(i), roast_loss_text(i));
    }
}

/* ---- notes ----------------------------------------------------------------------- */

void roast__columns_notes(const struct roast_columns_job *job)
{
    bool labels = job->table == ROAST_COLUMNS_labels;
    enum roast_note_group group = labels ? ROAST_NOTES_label : ROAST_NOTES_provenance;
    const struct roast_notes *notes = &job->run->notes;

    for (size_t i = 0; i < notes->count && roast__builder_ok(job->to); i++) {
        if (notes->items[i].group != group)
            continue;
        roast__builder_row(job->to);
        roast__fill_text(job->to,
                         labels ? ROAST_AT_labels_name : ROAST_AT_provenance_name,
                         roast__note_name(&notes->items[i]));
        roast__fill_text(job->to,
                         labels ? ROAST_AT_labels_value : ROAST_AT_provenance_value,
                         roast__note_text(&notes->items[i]));
    }
}

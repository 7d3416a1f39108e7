/* SPDX-License-Identifier: BSD-3-Clause */
/* save_small.c - the one row of `run`, facts, counters and notes: what a list of runs and
 * the head of a report need, and what is quickly read. */
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "file/sqlite/checked.h"
#include "file/sqlite/save.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/seal.h"
#include "file/sqlite/text_bytes.h"
#include "roast/runfile.h"
#include "roast/version.h"

/* ---- binding ----------------------------------------------------------------------- */

static void bind_text(sqlite3_stmt *insert, int at, struct roast_str text)
{
    if (!text.data)
        return;
    if (roast__is_text(text))
        (void)sqlite3_bind_text64(insert, at, text.data, text.size_bytes, SQLITE_STATIC,
                                  SQLITE_UTF8);
    else
        (void)sqlite3_bind_blob64(insert, at, text.data, text.size_bytes,
                                  SQLITE_STATIC);
}

static int insert_row(sqlite3_stmt *insert, roast_error *err)
{
    int status = roast__sql_step(insert, err);

    (void)sqlite3_reset(insert);
    (void)sqlite3_clear_bindings(insert);
    return status;
}

/* ---- run --------------------------------------------------------------------------- */

/* The id has no parameter, and parameters count from 1. */
static int at(enum roast_run_column column)
{
    return (int)column + 1;
}

static void bind_note(sqlite3_stmt *insert, enum roast_run_column column,
                      const struct roast_run *run, const char *name)
{
    bind_text(insert, at(column),
              roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of(name)));
}

static void bind_metric(sqlite3_stmt *insert, enum roast_run_column column,
                        const struct roast_saving *saving, enum roast_metric metric,
                        double scale)
{
    const struct roast_metric_values *values = roast_summary_metrics(saving->summary);
    double value = values->value[metric] * scale;

    if (!values->known[metric])
        return;
    if (roast_metric_info(metric)->is_count && fabs(value) < 9e15)
        (void)sqlite3_bind_int64(insert, at(column), (sqlite3_int64)value);
    else
        (void)sqlite3_bind_double(insert, at(column), value);
}

static void bind_shown(sqlite3_stmt *insert, const struct roast_saving *saving)
{
    const struct roast_run *run = saving->run;
    const char *state = roast_run_state_name(roast__run_state(run));

    (void)sqlite3_bind_int(insert, at(ROAST_RUN_format), ROAST_FILE_FORMAT);
    bind_text(insert, at(ROAST_RUN_writer), roast_str_of("roastcoffea " ROAST_VERSION));
    bind_text(insert, at(ROAST_RUN_state), roast_str_of(state));
    bind_note(insert, ROAST_RUN_run_id, run, "id");
    bind_note(insert, ROAST_RUN_processor, run, "processor");
    bind_note(insert, ROAST_RUN_executor, run, "executor");
    bind_metric(insert, ROAST_RUN_wall_s, saving, ROAST_METRIC_wall_time, 1);
    bind_metric(insert, ROAST_RUN_events, saving, ROAST_METRIC_total_events, 1);
    bind_metric(insert, ROAST_RUN_chunks, saving, ROAST_METRIC_num_successful_chunks,
                1);
    bind_metric(insert, ROAST_RUN_failed, saving, ROAST_METRIC_num_failed_or_lost, 1);
    bind_metric(insert, ROAST_RUN_event_rate, saving, ROAST_METRIC_event_rate_wall_khz,
                1000);
}

static void bind_own(sqlite3_stmt *insert, const struct roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;

    (void)sqlite3_bind_int64(insert, at(ROAST_RUN_start_ns), run->start_ns);
    if (run->end_ns != 0)
        (void)sqlite3_bind_int64(insert, at(ROAST_RUN_end_ns), run->end_ns);
    if (run->host >= 0)
        (void)sqlite3_bind_int(insert, at(ROAST_RUN_host), run->host);
    (void)sqlite3_bind_int64(insert, at(ROAST_RUN_epoch_minus_mono_ns),
                             run->epoch_minus_mono_ns);
    (void)sqlite3_bind_int64(insert, at(ROAST_RUN_budget_bytes),
                             (sqlite3_int64)run->budget_bytes);
    (void)sqlite3_bind_int64(insert, at(ROAST_RUN_fields),
                             (sqlite3_int64)attempts->fields);
    if (attempts->handmade_process > 0)
        (void)sqlite3_bind_int(insert, at(ROAST_RUN_handmade_process),
                               attempts->handmade_process - 1);
    (void)sqlite3_bind_int64(insert, at(ROAST_RUN_handmade_count),
                             attempts->handmade_count);
    if (run->first_error[0])
        bind_text(insert, at(ROAST_RUN_first_error), roast_str_of(run->first_error));
}

/* That there are so many is kept only where the text tells them all. */
static void bind_labels(sqlite3_stmt *insert, const char *labels, int64_t count)
{
    bind_text(insert, at(ROAST_RUN_labels), roast_str_of(*labels ? labels : NULL));
    if (count >= 0)
        (void)sqlite3_bind_int64(insert, at(ROAST_RUN_label_count), count);
}

static int save_run(const struct roast_saving *saving, roast_error *err)
{
    struct roast_buf sql = {NULL, 0, 0, false};
    char labels[1024];
    sqlite3_stmt *insert = NULL;
    int status = ROAST_OK;

    roast__buf_put(&sql, "INSERT INTO run VALUES(0", 24);
    for (int i = 0; i < ROAST_RUN_COLUMN_COUNT; i++)
        roast__buf_put(&sql, ",?", 2);
    roast__buf_put(&sql, ")", 2);
    int64_t label_count =
        roast__notes_labels(&saving->run->notes, labels, sizeof(labels));
    if (!roast__buf_ok(&sql)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "the row of a run");
        goto out;
    }
    status = roast__sql_prepare(&insert, saving->db, (const char *)sql.data, err);
    if (status < 0)
        goto out;
    bind_shown(insert, saving);
    bind_own(insert, saving->run);
    bind_labels(insert, labels, label_count);
    status = insert_row(insert, err);
    if (status == ROAST_OK)
        status = roast__seal_put(saving->db, err);
out:
    (void)sqlite3_finalize(insert);
    roast__buf_release(&sql);
    return status;
}

/* ---- lists ------------------------------------------------------------------------- */

static int save_facts(const struct roast_saving *saving, roast_error *err)
{
    sqlite3_stmt *insert = NULL;
    int status = roast__sql_prepare(&insert, saving->db,
                                    "INSERT INTO facts VALUES(?1,?2,?3)", err);

    for (int i = 0, id = 0; status == ROAST_OK && i < ROAST_FACT_COUNT; i++) {
        if (!saving->run->fact_known[i])
            continue;
        (void)sqlite3_bind_int(insert, 1, id++);
        bind_text(insert, 2, roast_str_of(roast_fact_name((enum roast_fact)i)));
        (void)sqlite3_bind_double(insert, 3, saving->run->facts[i]);
        status = insert_row(insert, err);
    }
    (void)sqlite3_finalize(insert);
    return status;
}

static int save_counters(const struct roast_saving *saving, roast_error *err)
{
    sqlite3_stmt *insert = NULL;
    int status = roast__sql_prepare(&insert, saving->db,
                                    "INSERT INTO counters VALUES(?1,?2,?3)", err);

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_LOSS_COUNT; i++) {
        (void)sqlite3_bind_int(insert, 1, i);
        bind_text(insert, 2, roast_str_of(roast_run_loss_name((enum roast_run_loss)i)));
        (void)sqlite3_bind_int64(insert, 3, (sqlite3_int64)saving->run->losses[i]);
        status = insert_row(insert, err);
    }
    (void)sqlite3_finalize(insert);
    return status;
}

static int save_notes(const struct roast_saving *saving, roast_error *err)
{
    const struct roast_notes *notes = &saving->run->notes;
    sqlite3_stmt *insert = NULL;
    int status = roast__sql_prepare(&insert, saving->db,
                                    "INSERT INTO notes VALUES(?1,?2,?3,?4)", err);

    for (size_t i = 0; status == ROAST_OK && i < notes->count; i++) {
        const struct roast_note *note = &notes->items[i];
        (void)sqlite3_bind_int64(insert, 1, (sqlite3_int64)i);
        bind_text(insert, 2, roast_str_of(roast_note_group_name(note->group)));
        bind_text(insert, 3, roast__note_name(note));
        bind_text(insert, 4, roast__note_text(note));
        status = insert_row(insert, err);
    }
    (void)sqlite3_finalize(insert);
    return status;
}

int roast__save_small(const struct roast_saving *saving, roast_error *err)
{
    static const struct {
        const char *table;
        int (*save)(const struct roast_saving *saving, roast_error *err);
    } parts[] = {
        {"run", save_run},
        {"facts", save_facts},
        {"counters", save_counters},
        {"notes", save_notes},
    };
    int status = ROAST_OK;

    for (size_t i = 0; status == ROAST_OK && i < sizeof(parts) / sizeof(parts[0]);
         i++) {
        status = parts[i].save(saving, err);
        if (status == ROAST_OK)
            status = roast__checked_sum(saving->db, parts[i].table, err);
    }
    return status;
}

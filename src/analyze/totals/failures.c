/* SPDX-License-Identifier: BSD-3-Clause */
/* failures.c - one row for every attempt that failed or was lost.
 *
 * `resolved` says whether another attempt at the same chunk ended well: what is not
 * resolved is missing from the result. */
#include <stdio.h>

#include "analyze/budget/wasted_time.h"
#include "analyze/calls.h"
#include "analyze/formulas.h"
#include "analyze/timeline.h"
#include "base/mem.h"
#include "run/cold_fields.h"

enum cell {
    DATASET,
    FILE_NAME,
    ENTRY_START,
    ENTRY_STOP,
    ATTEMPT,
    STATUS,
    ERROR,
    ERROR_TYPE,
    ERROR_MESSAGE,
    ERROR_SECTION,
    WORKER,
    HOST,
    PID,
    T_START,
    SECONDS,
    RESOLVED,
    CELLS
};

static const char *const columns[CELLS] = {
    [DATASET] = "dataset",
    [FILE_NAME] = "file",
    [ENTRY_START] = "entry_start",
    [ENTRY_STOP] = "entry_stop",
    [ATTEMPT] = "attempt",
    [STATUS] = "status",
    [ERROR] = "error",
    [ERROR_TYPE] = "error_type",
    [ERROR_MESSAGE] = "error_message",
    [ERROR_SECTION] = "error_section",
    [WORKER] = "worker",
    [HOST] = "host",
    [PID] = "pid",
    [T_START] = "t_start",
    [SECONDS] = "seconds",
    [RESOLVED] = "resolved",
};

static void put_place(struct roast_cell *cells, const struct roast_study *study,
                      size_t row)
{
    const struct roast_attempts *attempts = &study->run->attempts;
    const struct roast_column *first = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *last = &attempts->columns[ROAST_COLUMN_entry_stop];
    int32_t source = attempts->source[row];

    if (source >= 0) {
        cells[DATASET] = roast__study_text(study, attempts->sources[source].dataset);
        cells[FILE_NAME] = roast__study_text(study, attempts->sources[source].file);
    }
    if (roast__column_has(first, row))
        cells[ENTRY_START] = roast__cell_count((uint64_t)first->values[row]);
    if (roast__column_has(last, row))
        cells[ENTRY_STOP] = roast__cell_count((uint64_t)last->values[row]);
}

/* "ValueError: text", as the records have it. */
static void put_whole_error(struct roast_cell *cells, const struct roast_study *study)
{
    struct roast_str type = cells[ERROR_TYPE].text;
    struct roast_str message = cells[ERROR_MESSAGE].text;
    char text[800];

    if (cells[ERROR_TYPE].type != ROAST_CELL_TEXT)
        return;
    if (cells[ERROR_MESSAGE].type != ROAST_CELL_TEXT) {
        cells[ERROR] = cells[ERROR_TYPE];
        return;
    }
    type = roast_str_cut(type, 128);
    message = roast_str_cut(message, 600);
    int size = snprintf(text, sizeof(text), "%.*s: %.*s", (int)type.size_bytes,
                        type.data, (int)message.size_bytes, message.data);
    cells[ERROR] =
        roast__cell_text(study->summary, (struct roast_str){text, (size_t)size});
}

static void put_error(struct roast_cell *cells, const struct roast_study *study,
                      size_t row)
{
    const struct roast_column *types =
        &study->run->attempts.columns[ROAST_COLUMN_error_type];
    unsigned char identity[ROAST_IDENTITY_BYTES];
    roast_record rec;

    if (roast__column_has(types, row))
        cells[ERROR_TYPE] = roast__study_text(study, (int32_t)types->values[row]);
    if (!roast__attempt_record(study->run, row, &rec, identity))
        return;
    if (roast_record_has(&rec, ROAST_FIELD_error_message))
        cells[ERROR_MESSAGE] =
            roast__cell_text(study->summary, rec.values[ROAST_FIELD_error_message].str);
    if (roast_record_has(&rec, ROAST_FIELD_error_section))
        cells[ERROR_SECTION] =
            roast__cell_text(study->summary, rec.values[ROAST_FIELD_error_section].str);
}

static void put_process(struct roast_cell *cells, const struct roast_study *study,
                        size_t row)
{
    const struct roast_attempts *attempts = &study->run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    char room[ROAST_PROCESS_NAME_BYTES];

    cells[WORKER] = roast__cell_text(study->summary,
                                     roast__process_name(study->run, process, room));
    cells[HOST] = roast__study_text(study, process->host);
    if (process->pid != 0)
        cells[PID] = roast__cell_count(process->pid);
}

static void put_times(struct roast_cell *cells, const struct roast_study *study,
                      size_t row, const int64_t *last_signs)
{
    const struct roast_attempts *attempts = &study->run->attempts;
    bool lost = study->totals->roles.of_row[row] == ROAST_ROLE_LOST;
    int64_t start, end;

    if (roast__attempt_times(attempts, row, &start, &end))
        cells[T_START] = roast__cell_number(roast__epoch_seconds(start));
    cells[SECONDS] =
        roast__cell_number(lost ? roast__lost_seconds(attempts, row, last_signs)
                                : roast__attempt_seconds(attempts, row));
}

static void put_failure(const struct roast_study *study, size_t table, size_t row,
                        const int64_t *last_signs)
{
    const struct roast_roles *roles = &study->totals->roles;
    const struct roast_tried *tried = roast__roles_tried(roles, row);
    struct roast_cell *cells = roast__table_row(study->summary, table);
    bool lost = roles->of_row[row] == ROAST_ROLE_LOST;

    put_place(cells, study, row);
    put_error(cells, study, row);
    put_whole_error(cells, study);
    put_process(cells, study, row);
    put_times(cells, study, row, last_signs);
    cells[ATTEMPT] = roast__cell_count(tried ? tried->attempt : 1);
    cells[STATUS] =
        roast__cell_text(study->summary, roast_str_of(lost ? "lost" : "failed"));
    cells[RESOLVED] = roast__cell_bool(roast__roles_resolved(roles, study->run, row));
}

void roast__study_failures(const struct roast_study *study)
{
    const struct roast_roles *roles = &study->totals->roles;
    size_t table =
        roast__table_open(study->summary, "failures", ROAST_TABLE_LIST, columns, CELLS);

    if (roles->rows[ROAST_ROLE_FAILED] + roles->rows[ROAST_ROLE_LOST] == 0)
        return;
    int64_t *last_signs = roast__last_signs(study->run);
    if (!last_signs)
        study->summary->failed = true;
    for (size_t row = 0; last_signs && row < study->run->attempts.count; row++) {
        unsigned role = roles->of_row[row];
        if (role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST)
            put_failure(study, table, row, last_signs);
    }
    roast__free(last_signs);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_print_state.h - tables, and the private state of a run, as bytes. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_STATE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_STATE_H

#include "analyze/summary.h"
#include "file/run_print.h"
#include "roast/analyze.h"

static inline void print_cell(struct roast_buf *out, struct roast_cell cell)
{
    roast__buf_put_varint(out, cell.type);
    if (cell.type == ROAST_CELL_TEXT)
        print_text(out, cell.text);
    else if (cell.type == ROAST_CELL_NUMBER)
        roast__buf_put(out, &cell.number, sizeof(cell.number));
    else if (cell.type != ROAST_CELL_ABSENT)
        roast__buf_put_varint(out, cell.count);
}

static inline struct roast_buf print_columns(const roast_table *columns)
{
    struct roast_buf out = {NULL, 0, 0, false};

    for (size_t i = 0; i < roast_table_width(columns); i++) {
        const struct roast_table_column *data = roast_table_column(columns, i);
        print_text(&out, roast_str_of(data->name));
        roast__buf_put_varint(&out, data->type);
        roast__buf_put_varint(&out, data->unknown);
        for (size_t row = 0; row < roast_table_rows(columns); row++)
            print_cell(&out, roast_column_cell(data, row));
    }
    assert_true(roast__buf_ok(&out));
    return out;
}

/* Private state that run_print.h does not include. */
static inline void print_private_state(struct roast_buf *out, const roast_run *run)
{
    const struct roast_attempts *attempts = &run->attempts;

    roast__buf_put(out, run->accepted, run->accepted_count * sizeof(run->accepted[0]));
    roast__buf_put_varint(out, attempts->fields);
    roast__buf_put_varint(out, attempts->handmade_count);
}

static inline void print_process(struct roast_buf *out, const roast_run *run,
                                 size_t row)
{
    const struct roast_attempts *attempts = &run->attempts;
    const struct roast_worker_process *process =
        &attempts->processes[attempts->process[row]];
    const uint64_t numbers[] = {process->id,
                                process->shares_clock,
                                process->pid,
                                process->cpu_ns,
                                process->mono_known,
                                (uint64_t)process->timeline_minus_mono_ns,
                                (uint64_t)process->offset_ns};

    print_text(out, roast__strings_get(&run->strings, process->run));
    print_text(out, roast__strings_get(&run->strings, process->host));
    print_text(out, roast__strings_get(&run->strings, process->worker));
    roast__buf_put(out, numbers, sizeof(numbers));
}

static inline void print_source(struct roast_buf *out, const roast_run *run, size_t row)
{
    int32_t number = run->attempts.source[row];

    if (number < 0)
        return;
    const struct roast_source *source = &run->attempts.sources[number];
    print_text(out, roast__strings_get(&run->strings, source->dataset));
    print_text(out, roast__strings_get(&run->strings, source->file));
    print_text(out, roast__strings_get(&run->strings, source->tree));
    print_text(out, roast__strings_get(&run->strings, source->uuid));
    roast__buf_put_varint(out, source->dataset_id);
    roast__buf_put_varint(out, source->file_id);
}

#endif

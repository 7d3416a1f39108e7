/* SPDX-License-Identifier: BSD-3-Clause */
/* saved_print_inside.h - numbers of a run that only this program sees, as bytes. */
#ifndef ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_INSIDE_H
#define ROAST_TESTS_FILE_SQLITE_SAVED_PRINT_INSIDE_H

#include "file/run_print.h"

/* What run_print.h does not look at: numbers that only this program sees. */
static inline void print_inside(struct roast_buf *out, const roast_run *run)
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

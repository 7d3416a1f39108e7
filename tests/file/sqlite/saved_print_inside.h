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
    roast__buf_put_varint(out, run->budget_bytes);
    roast__buf_put_varint(out, attempts->fields);
    roast__buf_put_signed(out, attempts->handmade_process);
    roast__buf_put_varint(out, attempts->handmade_count);
    for (size_t i = 0; i < run->strings.count; i++)
        print_text(out, roast__strings_get(&run->strings, (int32_t)i));
    for (size_t i = 0; i < attempts->source_count; i++) {
        const struct roast_source *source = &attempts->sources[i];
        const int64_t numbers[] = {source->dataset,    source->file,
                                   source->tree,       source->uuid,
                                   source->dataset_id, source->file_id};
        roast__buf_put(out, numbers, sizeof(numbers));
    }
    for (size_t i = 0; i < attempts->process_count; i++) {
        const struct roast_worker_process *process = &attempts->processes[i];
        const uint64_t numbers[] = {process->id,
                                    (uint64_t)process->run,
                                    (uint64_t)process->host,
                                    (uint64_t)process->worker,
                                    (uint64_t)process->home,
                                    process->shares_clock,
                                    process->pid,
                                    process->cpu_ns,
                                    process->mono_known,
                                    (uint64_t)process->timeline_minus_mono_ns};
        roast__buf_put(out, numbers, sizeof(numbers));
    }
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* deaths.c - processes of a pool that died, from the notes of the client:
 * "-9 1731964800000000000" under the name "4711"; "?" for an unknown exit code. */
#include "analyze/deaths.h"

#include "analyze/budget/worker_match.h"
#include "base/str.h"

bool roast__death_read(struct roast_death *death, const struct roast_note *note)
{
    struct roast_str name = roast__note_name(note), text = roast__note_text(note);
    int64_t pid = 0;

    *death = (struct roast_death){.code_known = true};
    if (note->group != ROAST_NOTES_death || !roast__str_take_int(&name, &pid) ||
        pid <= 0)
        return false;
    death->pid = (uint64_t)pid;
    if (text.size_bytes > 1 && memcmp(text.data, "? ", 2) == 0) {
        death->code_known = false;
        text = (struct roast_str){text.data + 2, text.size_bytes - 2};
    } else if (!roast__str_take_int(&text, &death->code)) {
        return false;
    }
    return roast__str_take_int(&text, &death->time_ns);
}

bool roast__death_is_of(const struct roast_death *death, const struct roast_run *run,
                        const struct roast_worker_process *process)
{
    return death->pid == process->pid && roast__may_be_local(run, process);
}

bool roast__death_find(struct roast_death *death, const struct roast_run *run,
                       const struct roast_worker_process *process)
{
    for (size_t i = 0; i < run->notes.count; i++) {
        if (roast__death_read(death, &run->notes.items[i]) &&
            roast__death_is_of(death, run, process))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* process_use.c - what one process of the tree has used.
 *
 * Two files per process: stat for nearly everything, io where we may read it. stat
 * counts CPU in ticks of 10 ms; the CPU clock of the process has nanoseconds for one
 * system call more, and is read where pids are those of our own namespace. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "probe/linux/process_tree.h"
#include "probe/linux/scan.h"
#include "probe/linux/usage.h"

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Takes the name in parentheses off text. It may contain parentheses and blanks, so it
 * ends at the LAST one; only numbers follow. */
static bool take_command(struct roast_str *command, struct roast_str *text)
{
    size_t start = 0;
    size_t end = text->size_bytes;

    while (end > 0 && text->data[end - 1] != ')')
        end--;
    while (start < end && text->data[start] != '(')
        start++;
    if (start + 1 >= end || text->size_bytes - end < 2)
        return false;
    *command = (struct roast_str){text->data + start + 1, end - start - 2};
    *text = (struct roast_str){text->data + end + 1, text->size_bytes - end - 1};
    return true;
}

bool roast__process_stat_parse(struct roast_process_stat *stat, struct roast_str text)
{
    enum { STATE = 3, RSS = 24 };
    uint64_t user = 0, system = 0, reaped_user = 0, reaped_system = 0;
    struct roast_process_stat read = {.state = '?'};
    uint64_t *const wanted[RSS + 1] = {
        [4] = &read.parent_pid,
        [14] = &user,
        [15] = &system,
        [16] = &reaped_user,
        [17] = &reaped_system,
        [20] = &read.threads,
        [22] = &read.started_ticks,
        [RSS] = &read.rss_pages,
    };
    struct roast_str word;

    if (!take_command(&read.command, &text))
        return false;
    for (int field = STATE; field <= RSS; field++) {
        if (!roast__scan_until(&word, &text, ' '))
            return false;
        if (field == STATE && word.size_bytes == 1)
            read.state = word.data[0];
        if (wanted[field] && !roast__scan_u64(wanted[field], &word))
            return false;
    }
    read.cpu_ticks = add_saturated(user, system);
    read.reaped_ticks = add_saturated(reaped_user, reaped_system);
    *stat = read;
    return true;
}

#if ROAST_PROCFS

enum { STAT_BYTES = 2048, IO_BYTES = 512, NAME_BYTES = 32 };

static uint64_t times_saturated(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static struct roast_str read_file(const roast_process_tree *tree, uint64_t pid,
                                  const char *file, char *out, size_t out_bytes)
{
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "%" PRIu64 "/%s", pid, file);
    return roast__procfile_read_once(tree->root, name, out, out_bytes);
}

bool roast__process_use_read(const roast_process_tree *tree, uint64_t pid,
                             struct roast_process_use *use)
{
    char buffer[STAT_BYTES];
    char io_buffer[IO_BYTES];
    struct roast_process_stat stat;
    struct roast_procio io;
    clockid_t clock;
    int64_t time_ns = roast__clock_epoch_ns();
    struct roast_str text = read_file(tree, pid, "stat", buffer, sizeof(buffer));

    if (!text.data || !roast__process_stat_parse(&stat, text))
        return false;
    bool ended = stat.state == 'Z' || stat.state == 'X';
    *use = (struct roast_process_use){
        .pid = pid,
        .parent_pid = stat.parent_pid,
        .started_ticks = stat.started_ticks,
        .ended = ended,
        .time_ns = time_ns,
        .cpu_ns = times_saturated(stat.cpu_ticks, tree->tick_ns),
        .reaped_cpu_ns = times_saturated(stat.reaped_ticks, tree->tick_ns),
        .rss_bytes = ended ? 0 : times_saturated(stat.rss_pages, tree->page_bytes),
        .threads = stat.threads,
    };
    /* stat rounds down, so the clock must be ahead of it; if not, the pid was reused */
    if (tree->own_namespace && clock_getcpuclockid((pid_t)pid, &clock) == 0) {
        int64_t clock_ns = roast__clock_ns(clock);
        if (clock_ns > 0 && (uint64_t)clock_ns > use->cpu_ns)
            use->cpu_ns = (uint64_t)clock_ns;
    }
    struct roast_str command = roast_str_cut(stat.command, sizeof(use->command) - 1);
    memcpy(use->command, command.data, command.size_bytes); /* zeros follow */
    text = read_file(tree, pid, "io", io_buffer, sizeof(io_buffer));
    if (roast__procio_parse(&io, text) && io.has_read_bytes && io.has_write_bytes &&
        io.has_rchar && io.has_wchar) {
        use->io_known = true;
        use->read_bytes = io.read_bytes;
        use->write_bytes = io.write_bytes;
        use->read_chars = io.rchar_bytes;
        use->write_chars = io.wchar_bytes;
    }
    return true;
}

#endif

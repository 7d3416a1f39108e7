/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree_read.c - what one process of the tree has used.
 *
 * Two files per process: stat for nearly everything, io where we may read it. stat
 * counts CPU in ticks of 10 ms; the CPU clock of the process tells nanoseconds for one
 * system call more, and is asked where pids are those of our own namespace. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "probe/linux/procio.h"
#include "probe/linux/proctree.h"
#include "probe/linux/scan.h"

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Takes the name in parentheses off text. It may hold parentheses and blanks itself, so
 * it ends at the LAST one; numbers and a blank follow. */
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

bool roast__process_line_parse(struct roast_process_line *line, struct roast_str text)
{
    enum { STATE = 3, RSS = 24 };
    uint64_t user = 0, system = 0, reaped_user = 0, reaped_system = 0;
    struct roast_process_line read = {.state = '?'};
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
    *line = read;
    return true;
}

#if ROAST_PROCFS

enum { STAT_BYTES = 2048, IO_BYTES = 512, NAME_BYTES = 32 };

static uint64_t times_saturated(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static struct roast_str read_file(const roast_proctree *tree, uint64_t pid,
                                  const char *file, char *out, size_t out_bytes)
{
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "%" PRIu64 "/%s", pid, file);
    return roast__procfile_read_once(tree->root, name, out, out_bytes);
}

/* stat rounds down, so the clock is ahead of it; if not, it is of another process that
 * was given the same pid meanwhile. */
static uint64_t finer_cpu_ns(const roast_proctree *tree, uint64_t pid, uint64_t stat_ns)
{
    clockid_t clock;

    if (!tree->own_numbers || clock_getcpuclockid((pid_t)pid, &clock) != 0)
        return stat_ns;
    int64_t clock_ns = roast__clock_ns(clock);
    return clock_ns > 0 && (uint64_t)clock_ns > stat_ns ? (uint64_t)clock_ns : stat_ns;
}

static void read_io(const roast_proctree *tree, struct roast_process_use *use)
{
    char buffer[IO_BYTES];
    struct roast_procio io;
    struct roast_str text = read_file(tree, use->pid, "io", buffer, sizeof(buffer));

    if (!roast__procio_parse(&io, text) || !io.has_read_bytes || !io.has_write_bytes)
        return;
    use->io_known = true;
    use->read_bytes = io.read_bytes;
    use->write_bytes = io.write_bytes;
}

static void copy_command(char *out, size_t out_bytes, struct roast_str command)
{
    struct roast_str fit = roast_str_cut(command, out_bytes - 1);

    memcpy(out, fit.data, fit.size_bytes);
    out[fit.size_bytes] = '\0';
}

bool roast__process_use_read(const roast_proctree *tree, uint64_t pid,
                             struct roast_process_use *use)
{
    char buffer[STAT_BYTES];
    struct roast_process_line line;
    int64_t time_ns = roast__clock_epoch_ns();
    struct roast_str text = read_file(tree, pid, "stat", buffer, sizeof(buffer));

    if (!text.data || !roast__process_line_parse(&line, text))
        return false;
    bool ended = line.state == 'Z' || line.state == 'X';
    uint64_t cpu_ns = times_saturated(line.cpu_ticks, tree->tick_ns);
    *use = (struct roast_process_use){
        .pid = pid,
        .parent_pid = line.parent_pid,
        .started_ticks = line.started_ticks,
        .ended = ended,
        .time_ns = time_ns,
        .cpu_ns = finer_cpu_ns(tree, pid, cpu_ns),
        .reaped_cpu_ns = times_saturated(line.reaped_ticks, tree->tick_ns),
        .rss_bytes = ended ? 0 : times_saturated(line.rss_pages, tree->page_bytes),
        .threads = line.threads,
    };
    copy_command(use->command, sizeof(use->command), line.command);
    read_io(tree, use);
    return true;
}

#else

bool roast__process_use_read(const roast_proctree *tree, uint64_t pid,
                             struct roast_process_use *use)
{
    (void)tree;
    (void)pid;
    (void)use;
    return false;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* command_source.c - what a command uses: all descendants of this process together.
 *
 * This process has started the command, is a sub-reaper and waits for all its children:
 * then the kernel adds CPU and I/O of every process that ends to this one, however short
 * it was, and
 *
 *     used = what ended children have used + what the living ones have used so far
 *
 * A process that nothing waits for (its parent ignores SIGCHLD) is counted up to its last
 * sample only, so that all sums are lower bounds. This process itself is left out.
 *
 * Samples are those of one worker, "command": series of single processes would grow with
 * the number of processes that a command starts. */
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "probe/linux/cgroup.h"
#include "probe/linux/host.h"
#include "probe/linux/smaps.h"
#include "probe/linux/usage.h"
#include "roast/collect.h"
#include "roast/cpu_meter.h"
#include "roast/process_tree.h"

/* Finding and reading the processes takes at most one part in so many of the time, and so
 * does reading smaps: with thousands of processes samples are further apart. */
enum { TREE_PAUSE = 400, SMAPS_PAUSE = 1000 };

/* The living processes of one poll. */
struct living {
    uint64_t processes;
    uint64_t threads;
    uint64_t rss_bytes;
    struct roast_smaps smaps;
    bool smaps_known; /* of all of them */
    struct roast_procio io;
};

/* Used so far. */
struct totals {
    int64_t time_ns;
    double cpu_s;
    struct roast_procio io;
};

struct command {
    roast_run *run;   /* borrowed */
    const char *root; /* borrowed; of procfs */
    roast_process_tree *tree;
    roast_cpu_meter *meter;
    uint64_t own_pid;
    double cores; /* that it may use; 0: not known */
    bool io_known;
    struct roast_procio io_before; /* of children before the command */
    double system_before_s;
    struct roast_procfile statm; /* of this process */
    double peak_process_bytes;
    struct living living;
    struct totals totals;
    int64_t tree_due_ns;
    bool is_behind; /* a poll came before it */
    int64_t smaps_due_ns;
    int64_t smaps_ns; /* CPU time of reading them in this poll */
};

/* ---- sums so far: a poll may lack a process that has just ended ------------------- */

/* The live file gets what has changed. */
static void set_fact(const struct command *command, enum roast_fact fact, double value)
{
    double known;

    if (!roast_run_fact(command->run, fact, &known) || known != value)
        roast_run_set_fact(command->run, fact, value);
}

static double system_seconds(const struct rusage *usage)
{
    return (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6;
}

/* A child begins with the memory of this process, so that a mark which is not above it
 * says nothing. */
static void set_usage_facts(struct command *command)
{
    struct rusage children;
    uint64_t own_bytes;

    if (getrusage(RUSAGE_CHILDREN, &children) != 0)
        return;
    double peak_bytes = (double)children.ru_maxrss * 1024;
    if (roast__rss_read(&command->statm, &own_bytes) &&
        peak_bytes > (double)own_bytes && peak_bytes > command->peak_process_bytes)
        command->peak_process_bytes = peak_bytes;
    if (command->peak_process_bytes > 0)
        set_fact(command, ROAST_FACT_command_peak_process_bytes,
                 command->peak_process_bytes);
    set_fact(command, ROAST_FACT_command_system_seconds,
             system_seconds(&children) - command->system_before_s);
}

static void raise_sum(uint64_t *sum, uint64_t ended, uint64_t before, uint64_t living)
{
    uint64_t now = (ended > before ? ended - before : 0) + living;

    *sum = now > *sum ? now : *sum;
}

static void set_io_facts(struct command *command, const struct roast_procio *ended)
{
    const struct roast_procio *before = &command->io_before;
    const struct roast_procio *living = &command->living.io;
    struct roast_procio *io = &command->totals.io;

    raise_sum(&io->rchar_bytes, ended->rchar_bytes, before->rchar_bytes,
              living->rchar_bytes);
    raise_sum(&io->wchar_bytes, ended->wchar_bytes, before->wchar_bytes,
              living->wchar_bytes);
    raise_sum(&io->read_bytes, ended->read_bytes, before->read_bytes,
              living->read_bytes);
    raise_sum(&io->write_bytes, ended->write_bytes, before->write_bytes,
              living->write_bytes);
    set_fact(command, ROAST_FACT_command_read_bytes, (double)io->rchar_bytes);
    set_fact(command, ROAST_FACT_command_written_bytes, (double)io->wchar_bytes);
    set_fact(command, ROAST_FACT_command_storage_read_bytes, (double)io->read_bytes);
    set_fact(command, ROAST_FACT_command_storage_written_bytes,
             (double)io->write_bytes);
}

/* ---- a poll ---------------------------------------------------------------------- */

static void add_smaps(struct command *command, uint64_t pid)
{
    struct living *living = &command->living;
    struct roast_smaps smaps;
    int64_t before_ns = roast__clock_thread_ns();

    living->smaps_known = roast__smaps_read(&smaps, command->root, pid);
    if (living->smaps_known) {
        living->smaps.pss_bytes += smaps.pss_bytes;
        living->smaps.uss_bytes += smaps.uss_bytes;
    }
    command->smaps_ns += roast__clock_thread_ns() - before_ns;
}

static void add_process(void *context, const struct roast_process_use *use)
{
    struct command *command = context;
    struct living *living = &command->living;

    if (use->pid == command->own_pid)
        return;
    if (roast_cpu_meter_use(command->meter, use, NULL) < 0)
        roast_run_add_fact(command->run, ROAST_FACT_monitor_errors, 1);
    if (use->io_known) {
        living->io.rchar_bytes += use->read_chars;
        living->io.wchar_bytes += use->write_chars;
        living->io.read_bytes += use->read_bytes;
        living->io.write_bytes += use->write_bytes;
    }
    if (use->ended)
        return;
    living->processes++;
    living->threads += use->threads;
    living->rss_bytes += use->rss_bytes;
    if ((double)use->rss_bytes > command->peak_process_bytes)
        command->peak_process_bytes = (double)use->rss_bytes;
    if (living->smaps_known)
        add_smaps(command, use->pid);
}

static int add_sample(struct command *command, const struct totals *last,
                      roast_error *err)
{
    const struct living *living = &command->living;
    const struct totals *now = &command->totals;
    roast_sample sample = {.worker = roast_str_of("command"),
                           .time_ns = roast__clock_epoch_ns()};
    double seconds = (double)(now->time_ns - last->time_ns) / 1e9;

    if (living->processes > 0) {
        roast_sample_set(&sample, ROAST_SERIES_memory, (double)living->rss_bytes);
        roast_sample_set(&sample, ROAST_SERIES_threads, (double)living->threads);
        roast_sample_set(&sample, ROAST_SERIES_processes, (double)living->processes);
    }
    if (living->processes > 0 && living->smaps_known) {
        roast_sample_set(&sample, ROAST_SERIES_pss, (double)living->smaps.pss_bytes);
        roast_sample_set(&sample, ROAST_SERIES_uss, (double)living->smaps.uss_bytes);
    }
    if (command->cores > 0)
        roast_sample_set(&sample, ROAST_SERIES_cores, command->cores);
    roast_sample_set(&sample, ROAST_SERIES_cpu_seconds, now->cpu_s);
    if (seconds > 0)
        roast_sample_set(&sample, ROAST_SERIES_cpu,
                         100 * (now->cpu_s - last->cpu_s) / seconds);
    if (seconds > 0 && command->io_known) {
        roast_sample_set(&sample, ROAST_SERIES_disk_read,
                         (double)(now->io.read_bytes - last->io.read_bytes) / seconds);
        roast_sample_set(&sample, ROAST_SERIES_disk_write,
                         (double)(now->io.write_bytes - last->io.write_bytes) /
                             seconds);
    }
    return roast_run_add_sample(command->run, &sample, err);
}

static int sample_command(struct command *command, roast_error *err)
{
    const struct roast_use_sink sink = {add_process, command};
    const struct totals last = command->totals;
    struct roast_procio ended = {0};
    double own_s = 0, cpu_s = 0;

    command->totals.time_ns = roast__clock_mono_ns();
    command->living = (struct living){.smaps_known = command->totals.time_ns >=
                                                     command->smaps_due_ns};
    command->smaps_ns = 0;
    roast_cpu_meter_round(command->meter);
    if (command->io_known) /* before the tree: no process counts twice */
        (void)roast__procio_reaped_read(&ended, command->root);
    int status = roast_process_tree_sample(command->tree, &sink, err);
    if (status < 0)
        return status;
    if (command->smaps_ns > 0)
        command->smaps_due_ns =
            command->totals.time_ns + SMAPS_PAUSE * command->smaps_ns;
    roast_cpu_meter_read(command->meter, &own_s, &cpu_s);
    if (cpu_s > last.cpu_s)
        command->totals.cpu_s = cpu_s;
    set_fact(command, ROAST_FACT_own_cpu_seconds, own_s);
    set_fact(command, ROAST_FACT_children_cpu_seconds, command->totals.cpu_s);
    set_fact(command, ROAST_FACT_command_processes,
             (double)roast_cpu_meter_processes(command->meter));
    set_fact(command, ROAST_FACT_command_running, (double)command->living.processes);
    set_usage_facts(command);
    if (command->io_known)
        set_io_facts(command, &ended);
    return add_sample(command, &last, err);
}

static int poll_command(void *state, roast_error *err)
{
    struct command *command = state;
    int64_t before_ns = roast__clock_thread_ns();

    command->is_behind = roast__clock_mono_ns() < command->tree_due_ns;
    if (command->is_behind)
        return ROAST_OK;
    int status = sample_command(command, err);
    int64_t used_ns = roast__clock_thread_ns() - before_ns - command->smaps_ns;
    command->tree_due_ns = command->totals.time_ns + TREE_PAUSE * used_ns;
    return status;
}

/* ---- the source ------------------------------------------------------------------ */

/* The cores that the kernel lets this process use; 0: not known. */
static double allowed_cores(const char *root)
{
    struct roast_cgroup group;
    struct roast_host host;

    (void)roast__cgroup_find(&group, root, NULL);
    (void)roast__host_read(&host, root);
    double cores = roast__host_has(&host, ROAST_HOST_cpus_allowed)
                       ? (double)host.values[ROAST_HOST_cpus_allowed].u64
                       : 0;
    double limit = (double)group.cpu_limit_millicores / 1000;
    return group.cpu_limited && limit < cores ? limit : cores;
}

/* What is there before the command counts from now on. */
static void begin_meter(void *context, const struct roast_process_use *use)
{
    struct command *command = context;

    (void)roast_cpu_meter_use(command->meter, use, NULL);
}

static void close_command(void *state)
{
    struct command *command = state;

    if (command->is_behind)
        (void)sample_command(command, NULL);
    roast_process_tree_free(command->tree);
    roast_cpu_meter_free(command->meter);
    roast__procfile_close(&command->statm);
    roast__free(command);
}

static int open_command(void **state, roast_run *run, const char *place,
                        roast_error *err)
{
    struct command *command = roast__alloc(sizeof(*command));
    struct rusage children = {0};

    if (!command)
        return roast_error_set(err, ROAST_NO_MEMORY, "command source");
    command->run = run;
    command->root = place;
    command->own_pid = (uint64_t)getpid();
    int status = roast_cpu_meter_new(&command->meter, err);
    if (status == ROAST_OK)
        status = roast_process_tree_new(&command->tree, place, 0, err);
    if (status == ROAST_OK) {
        const struct roast_use_sink sink = {begin_meter, command};
        roast_cpu_meter_round(command->meter);
        status = roast_process_tree_sample(command->tree, &sink, err);
    }
    if (status < 0) {
        close_command(command);
        return status;
    }
    command->cores = allowed_cores(place);
    command->io_known = roast__procio_reaped_read(&command->io_before, place);
    (void)getrusage(RUSAGE_CHILDREN, &children);
    command->system_before_s = system_seconds(&children);
    command->statm.root = place;
    command->totals.time_ns = roast__clock_mono_ns();
    *state = command;
    return ROAST_OK;
}

const struct roast_source roast_command_source = {open_command, poll_command,
                                                  close_command};

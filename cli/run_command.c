/* SPDX-License-Identifier: BSD-3-Clause */
/* run_command.c - runs any command and measures it, without Python.
 *
 * The library measures (the sources of src/collect); what a library must not do is here:
 * it forks, waits, adopts orphans and takes signals. Whatever fails in the measurement is
 * reported, and the command runs on. */
#include "run_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "out.h"
#include "roast/collect.h"
#include "roast/environment.h"
#include "roast/report.h"
#include "roast/runfile.h"
#include "roast/version.h"

enum { PATH_BYTES = 4096, MOST_NAMES = 1000, ID_BYTES = 16, FAILURE_BYTES = 160 };
enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 }; /* as a shell has them */

/* The first sample is soon, so that short commands have one; counters of the host only
 * matter at the begin and the end. */
static const double FIRST_S = 0.1, HOST_S = 10;

struct measured {
    roast_run *run;         /* owned; NULL: nothing is measured */
    roast_live *live;       /* owned; NULL: no file is written */
    roast_sampler *sampler; /* owned */
    char path[PATH_BYTES];  /* of the finished file */
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void set_note(roast_run *run, enum roast_note_group group, const char *name,
                     const char *text)
{
    (void)roast_run_set_note(run, group, roast_str_of(name), roast_str_of(text), NULL);
}

/* ---- the files ------------------------------------------------------------------- */

/* Creates a folder and those above it. */
static bool make_folder(const char *path)
{
    char part[PATH_BYTES];

    (void)snprintf(part, sizeof(part), "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(part, 0777);
        *slash = '/';
    }
    return mkdir(part, 0777) == 0 || errno == EEXIST;
}

/* Starts the live file of a run that is called after the time, and does not take the name
 * of another one. */
static void open_live(struct measured *measured, const char *dir)
{
    const time_t now = time(NULL);
    char name[32], suffix[16] = "", live[PATH_BYTES + 8];
    struct tm utc;
    roast_error err = {0};

    (void)strftime(name, sizeof(name), "%Y-%m-%d_%H-%M-%S", gmtime_r(&now, &utc));
    if (!make_folder(dir)) {
        note(dir, "%s; the run is not written", strerror(errno));
        return;
    }
    for (int number = 2; number <= MOST_NAMES; number++) {
        int size = snprintf(measured->path, sizeof(measured->path),
                            "%s/%s%s" ROAST_FILE_SUFFIX, dir, name, suffix);
        (void)snprintf(live, sizeof(live), "%s/%s%s" ROAST_LIVE_SUFFIX, dir, name,
                       suffix);
        (void)snprintf(suffix, sizeof(suffix), "_%d", number);
        if (size < 0 || (size_t)size >= sizeof(measured->path))
            break;
        if (access(measured->path, F_OK) == 0 || access(live, F_OK) == 0)
            continue;
        if (roast_live_open(&measured->live, measured->run, live, NULL, &err) ==
            ROAST_OK)
            return;
        if (access(live, F_OK) != 0) /* else another run was quicker */
            break;
    }
    note(dir, "%s; the run is not written",
         *err.message ? err.message : "no free name");
}

/* ---- what is known before -------------------------------------------------------- */

static void note_id(roast_run *run)
{
    unsigned char bytes[ID_BYTES] = {0};
    char text[2 * ID_BYTES + 1];

    (void)getrandom(bytes, sizeof(bytes), 0);
    for (size_t i = 0; i < ID_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    set_note(run, ROAST_NOTES_run, "id", text);
}

/* Puts an argument without secrets, quoted where a shell needs it. */
static void put_argument(FILE *out, struct roast_redact_arguments *state,
                         const char *argument)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789@%+=:,./-_*";
    size_t bound = roast_str_redact_bound(strlen(argument));
    char *shown = need_memory(NULL, bound + 1);

    shown[roast_str_redact_argument(state, shown, bound, roast_str_of(argument))] = 0;
    bool is_plain = *shown && shown[strspn(shown, plain)] == '\0';
    (void)fputs(is_plain ? "" : "'", out);
    for (const char *c = shown; *c; c++) {
        if (*c == '\'')
            (void)fputs("'\\''", out);
        else
            (void)fputc(*c, out);
    }
    (void)fputs(is_plain ? "" : "'", out);
    free(shown);
}

static void note_command(roast_run *run, char **argv)
{
    struct roast_redact_arguments state = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    for (char **argument = argv; *argument; argument++) {
        (void)fputs(argument > argv ? " " : "", out);
        put_argument(out, &state, *argument);
    }
    if (fclose(out) == 0)
        set_note(run, ROAST_NOTES_provenance, "command", text);
    free(text);
}

/* Ids of jobs and names of sites, and of a pod its name. */
static void note_environment(roast_run *run)
{
    const struct roast_environment_variable *variable;
    const char *pod = getenv("KUBERNETES_SERVICE_HOST") ? getenv("HOSTNAME") : NULL;
    char name[64];

    for (size_t i = 0; (variable = roast_environment_variable(i)); i++) {
        const char *text = getenv(variable->name);
        (void)snprintf(name, sizeof(name), "environment.%s", variable->name);
        if (text && *text)
            set_note(run, ROAST_NOTES_provenance, name, text);
    }
    if (pod && *pod)
        set_note(run, ROAST_NOTES_provenance, "environment.HOSTNAME", pod);
}

static void note_origin(roast_run *run, const struct utsname *system, char **argv)
{
    char platform[sizeof(system->sysname) + sizeof(system->release) +
                  sizeof(system->machine) + 3];
    char folder[PATH_BYTES];
    const char *slash = strrchr(argv[0], '/');

    note_id(run);
    set_note(run, ROAST_NOTES_run, "processor", slash ? slash + 1 : argv[0]);
    set_note(run, ROAST_NOTES_run, "executor", "command");
    set_note(run, ROAST_NOTES_unknowable, "workers", "a command has no workers");
    (void)snprintf(platform, sizeof(platform), "%s %s %s", system->sysname,
                   system->release, system->machine);
    set_note(run, ROAST_NOTES_provenance, "version.roastcoffea", ROAST_VERSION);
    set_note(run, ROAST_NOTES_provenance, "platform", platform);
    set_note(run, ROAST_NOTES_provenance, "host", system->nodename);
    if (getcwd(folder, sizeof(folder)))
        set_note(run, ROAST_NOTES_provenance, "folder", folder);
    note_environment(run);
    note_command(run, argv);
}

static void note_labels(roast_run *run, const struct arguments *args)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const struct given *given = &args->given[i];
        size_t size = strcspn(given->value, "=");
        if (given->option->letter == 'l')
            (void)roast_run_set_note(run, ROAST_NOTES_label,
                                     (struct roast_str){given->value, size},
                                     roast_str_of(given->value + size + 1), NULL);
    }
}

static bool labels_are_valid(const struct arguments *args)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const struct given *given = &args->given[i];
        size_t size = strcspn(given->value, "=");
        if (given->option->letter != 'l' ||
            (given->value[size] == '=' && size > 0 && size <= ROAST_NOTE_NAME_BYTES))
            continue;
        (void)fail(CODE_USAGE, args->command->name,
                   "--label cannot be \"%s\": KEY=VALUE, with a key of 1 to %d bytes",
                   given->value, ROAST_NOTE_NAME_BYTES);
        return false;
    }
    return true;
}

/* ---- measuring ------------------------------------------------------------------- */

static void add_source(struct measured *measured, const struct roast_source *source,
                       double delay_s, double interval_s)
{
    const struct roast_polling polling = {NULL, delay_s, interval_s};
    roast_error err = {0};

    if (roast_sampler_add(measured->sampler, source, &polling, &err) < 0)
        note("run", "%s; not measured", err.message);
}

static void begin(struct measured *measured, const struct arguments *args,
                  double interval_s)
{
    const char *dir = args_value(args, "output-dir");
    struct utsname system;
    roast_error err = {0};

    (void)uname(&system);
    int status = roast_run_new(&measured->run, now_ns(CLOCK_MONOTONIC),
                               now_ns(CLOCK_REALTIME), &err);
    if (status == ROAST_OK) {
        (void)roast_run_set_host(measured->run, roast_str_of(system.nodename), NULL);
        if (dir)
            open_live(measured, dir);
        note_origin(measured->run, &system, args->operands);
        note_labels(measured->run, args);
        status = roast_sampler_start(&measured->sampler, measured->run, &err);
    }
    if (status < 0) {
        note("run", "%s; not measured", err.message);
        return;
    }
    add_source(measured, &roast_host_source, 0, HOST_S);
    add_source(measured, &roast_command_source, FIRST_S, interval_s);
    add_source(measured, &roast_gpu_source, 0, interval_s);
}

static void note_end(roast_run *run, int status)
{
    char text[FAILURE_BYTES];
    double running = 0;
    int code = child_code(status);

    roast_run_set_fact(run, ROAST_FACT_command_exit_code, code);
    if (WIFSIGNALED(status))
        (void)snprintf(text, sizeof(text), "signal %d ended it: %s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    else
        (void)snprintf(text, sizeof(text), "exit code %d", code);
    if (code != 0)
        set_note(run, ROAST_NOTES_run, "failure", text);
    if (!roast_run_fact(run, ROAST_FACT_command_running, &running) || running == 0)
        return;
    (void)snprintf(text, sizeof(text),
                   "%.0f %s that it started still ran when it had ended: counted until "
                   "then",
                   running, running == 1 ? "process" : "processes");
    set_note(run, ROAST_NOTES_run, "remarks", text);
}

static void show(roast_run *run)
{
    roast_summary *summary = NULL;
    struct roast_heading_text text;
    struct roast_page page = {0};
    roast_error err = {0};
    int status = roast_summarize(&summary, run, &err);

    if (status == ROAST_OK) {
        roast_report_heading(&text, run, ROAST_IN_MEMORY);
        status = roast_report_text(&page, summary, &text.heading, &err);
    }
    if (status < 0)
        note("run", "%s; no summary", err.message);
    else
        note_page(&page);
    roast_page_release(&page);
    roast_summary_free(summary);
}

/* Returns whether the run is in its file. */
static bool save(struct measured *measured)
{
    roast_error err = {0};

    if (!measured->live)
        return false;
    int status = roast_run_save(measured->run, measured->path, ROAST_SAVE_NEW, &err);
    if (status < 0)
        note(measured->path, "%s; its live file is kept", err.message);
    (void)roast_live_close(measured->live, status == ROAST_OK, NULL);
    measured->live = NULL;
    return status == ROAST_OK;
}

static void end(struct measured *measured, const struct arguments *args, int status)
{
    roast_run *run = measured->run;

    if (!measured->sampler)
        return;
    roast_run_finish(run, now_ns(CLOCK_MONOTONIC));
    roast_sampler_stop(measured->sampler);
    measured->sampler = NULL;
    note_end(run, status);
    bool written = save(measured);
    if (args_value(args, "quiet"))
        return;
    show(run);
    if (written)
        (void)fprintf(stderr, "written to %s\n", measured->path);
}

static void release(struct measured *measured)
{
    if (measured->sampler)
        roast_sampler_stop(measured->sampler);
    if (measured->live)
        (void)roast_live_close(measured->live, true, NULL);
    roast_run_free(measured->run);
}

int run_command(const struct arguments *args)
{
    struct measured measured = {0};
    struct child child = {0};
    double interval_s;

    if (!args_number(args, "interval", ABOVE_0, 1, &interval_s) ||
        !labels_are_valid(args))
        return CODE_USAGE;
    if (args_value(args, "progress"))
        return fail(CODE_USAGE, args->command->name,
                    "--progress counts chunks: it is for Python scripts only");
    child_prepare(&child);
    begin(&measured, args, interval_s);
    int error = child_start(&child, args->operands);
    if (error != 0) {
        release(&measured);
        return fail(error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE, args->operands[0],
                    "%s", strerror(error));
    }
    int status = child_wait(&child);
    end(&measured, args, status);
    release(&measured);
    child_end_alike(status);
    return child_code(status);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_failures.c - rules about attempts that failed and workers that died.
 *
 * The advice depends on where an attempt failed: while reading its file, or in process().
 * A chunk that succeeded on a retry is not missing, but it may fail next time. */
#include <stdio.h>

#include "analyze/calls.h"
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/record_iter.h"
#include "analyze/rerun/plan.h"
#include "base/mem.h"
#include "base/str.h"

/* ---- failures -------------------------------------------------------------------- */

enum cause {
    IN_FILE,
    BEFORE_PROCESS,
    IN_PROCESS,
    OUT_OF_MEMORY,
    UNKNOWN_CAUSE,
    CAUSES
};

static bool is_failed(const roast_table *failures, size_t row)
{
    return roast__str_is(roast_table_text(failures, row, ROAST_COL_failures_status),
                         "failed");
}

/* Whether storage answered all requests of a record without errors; false: not known. */
static bool is_storage_ok(const struct roast_rule_input *input, size_t attempt)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    uint64_t errors = 0;
    roast_record rec;

    if (!roast__attempt_record(input->ctx->run, attempt, &rec, identity) ||
        !roast_record_has(&rec, ROAST_FIELD_endpoints))
        return false;
    struct roast_str blob = rec.values[ROAST_FIELD_endpoints].str;
    int64_t count = roast_endpoints_read(NULL, 0, blob, NULL);
    if (count <= 0)
        return false;
    struct roast_endpoint *all = roast__alloc((size_t)count * sizeof(all[0]));
    input->ctx->summary->failed |= !all;
    if (!all)
        return false;
    (void)roast_endpoints_read(all, (size_t)count, blob, NULL);
    for (int64_t i = 0; i < count; i++)
        errors += all[i].errors;
    roast__free(all);
    return errors == 0;
}

/* Exceptions of decoders that only a damaged file raises. */
static bool is_damage(struct roast_str type, struct roast_str message)
{
    static const char *const decoding[] = {"DeserializationError", "DecompressionError",
                                           "LZMAError", "ZstdError", NULL};
    static const char zlib[] = "Error -"; /* its exception class is named "error" */

    return roast__str_is_one_of(type, decoding) ||
           (roast__str_is(type, "error") && message.size_bytes >= sizeof(zlib) - 1 &&
            memcmp(message.data, zlib, sizeof(zlib) - 1) == 0);
}

/* Exceptions of reading, from Python, uproot and its sources; process() may raise them
 * for other files and connections too. */
static bool is_read_error(struct roast_str type)
{
    static const char *const reading[] = {"OSError",
                                          "IOError",
                                          "EOFError",
                                          "InterruptedError",
                                          "BlockingIOError",
                                          "TimeoutError",
                                          "FSTimeoutError",
                                          "ConnectionError",
                                          "ConnectionResetError",
                                          "ConnectionRefusedError",
                                          "ConnectionAbortedError",
                                          "BrokenPipeError",
                                          "HTTPError",
                                          "URLError",
                                          "ClientError",
                                          "ClientOSError",
                                          "ClientPayloadError",
                                          "ClientResponseError",
                                          "ClientConnectorError",
                                          "ServerDisconnectedError",
                                          "ServerTimeoutError",
                                          NULL};

    return roast__str_is_one_of(type, reading);
}

/* The cause of the failure in a row of the table. */
static enum cause cause_of(const struct roast_rule_input *input,
                           const roast_table *failures, size_t failure)
{
    static const char *const opening[] = {"FileNotFoundError", "PermissionError",
                                          "IsADirectoryError", "NotADirectoryError",
                                          NULL};
    const struct roast_attempts *attempts = &input->ctx->run->attempts;
    const unsigned char *roles = input->ctx->totals->roles.of_row;
    struct roast_str type =
        roast_table_text(failures, failure, ROAST_COL_failures_error_type);
    struct roast_str message =
        roast_table_text(failures, failure, ROAST_COL_failures_error_message);
    size_t attempt = 0;

    if (!type.data)
        return UNKNOWN_CAUSE;
    for (size_t i = type.size_bytes; i > 0; i--) {
        if (type.data[i - 1] == '.') { /* the class without its module */
            type = (struct roast_str){type.data + i, type.size_bytes - i};
            break;
        }
    }
    /* The table has one row per attempt that failed or was lost, in the same order. */
    for (; attempt + 1 < attempts->count; attempt++) {
        if ((roles[attempt] == ROAST_ROLE_FAILED ||
             roles[attempt] == ROAST_ROLE_LOST) &&
            failure-- == 0)
            break;
    }
    bool in_process =
        roast__column_has(&attempts->columns[ROAST_COLUMN_duration_ns], attempt);
    /* In process() the file of the chunk is open, and errors of opening are of another
     * file; so are errors of reading if storage answered everything. */
    if (is_damage(type, message) ||
        (!in_process && roast__str_is_one_of(type, opening)) ||
        (is_read_error(type) && !(in_process && is_storage_ok(input, attempt))))
        return IN_FILE;
    if (roast__str_is(type, "MemoryError"))
        return OUT_OF_MEMORY;
    if (in_process)
        return IN_PROCESS;
    return roast__column_has(&attempts->columns[ROAST_COLUMN_start_ns], attempt)
               ? BEFORE_PROCESS
               : UNKNOWN_CAUSE;
}

/* The output of a call that raised is lost. */
static void set_result(const struct roast_rule_input *input,
                       struct roast_finding *finding, enum roast_rerun_way way)
{
    const struct roast_run *run = input->ctx->run;
    const char *words = "the result is incomplete";
    bool raised =
        run->end_ns != 0 && roast__run_returned(run) == ROAST_RETURNED_NOTHING;

    if (raised)
        words = roast__run_outputs(run) > 0 ? "a call of the Runner gave no result"
                                            : "there is no result";
    else
        roast__set_number(finding, "missing",
                          roast__input_metric(input, ROAST_METRIC_num_failed_or_lost),
                          "");
    roast__set_text(finding, "result", roast_str_of(words));
    static const char *const again[] = {
        [ROAST_RERUN_UNKNOWN] = "run what is missing again",
        [ROAST_RERUN_ITEMS] = "run failed_items()",
        [ROAST_RERUN_FILES] = "run failed_fileset()",
        [ROAST_RERUN_BOTH] =
            "run failed_items() and failed_fileset(without_items=True)",
        [ROAST_RERUN_EVERYTHING] =
            ("run everything again (postprocess() may change the output: outputs of "
             "two calls cannot be added after it)"),
    };
    roast__set_text(finding, "again", roast_str_of(again[way]));
    if (!raised && way != ROAST_RERUN_EVERYTHING) /* one result, of one analysis */
        roast__set_text(finding, "unless",
                        roast_str_of(", or everything if the fix changes what other "
                                     "chunks give"));
}

/* What a process that ran out of memory needs. Items keep their size. */
static void set_room(const struct roast_rule_input *input,
                     struct roast_finding *finding, bool items)
{
    bool threads = roast__threads_per_worker(input->ctx) > 1;

    roast__set_text(
        finding, "room",
        roast_str_of(items && threads ? "fewer threads per process or more memory"
                     : items          ? "more memory"
                     : threads
                         ? "smaller chunks, fewer threads per process or more memory"
                         : "smaller chunks or more memory"));
}

static const char *advice_of(enum cause cause, bool resolved)
{
    static const char *const missing[CAUSES] = {
        [IN_FILE] = NULL, /* the advice of the rule */
        [BEFORE_PROCESS] = "{result}: process() had not started: compare {file} "
                           "with other files, and with the schema; then {again}",
        [IN_PROCESS] = "{result}: process() raised it{?section}, fix that and "
                       "{again}{?unless}",
        [OUT_OF_MEMORY] = "{result}: {room}, and {again}",
        [UNKNOWN_CAUSE] = "{result}: {again}",
    };
    static const char *const retried[CAUSES] = {
        [IN_FILE] = ("they succeeded when tried again; check {file} and its "
                     "storage // they succeeded when tried again; check the "
                     "storage"),
        [BEFORE_PROCESS] = "they succeeded when tried again; process() had not started",
        [IN_PROCESS] = ("they succeeded when tried again; process() raised "
                        "it{?section} and may do so again"),
        [OUT_OF_MEMORY] = "they succeeded when tried again; the next run needs {room}",
        [UNKNOWN_CAUSE] = "they succeeded when tried again",
    };

    return resolved ? retried[cause] : missing[cause];
}

/* A call of the Runner raised, and no chunk, worker or scheduler was the reason. */
static void find_failed_call(const struct roast_rule_input *input,
                             struct roast_finding *finding)
{
    const struct roast_run *run = input->ctx->run;
    const roast_table *lost = input->ctx->summary->tables[ROAST_TABLE_lost_workers];

    finding->found = roast__run_state(run) == ROAST_IS_failed &&
                     roast__run_returned(run) == ROAST_RETURNED_NOTHING &&
                     roast_table_rows(lost) == 0 &&
                     run->facts[ROAST_FACT_lost_schedulers] == 0;
    finding->failure = true;
    roast__set_text(
        finding, "error",
        roast__notes_get(&run->notes, ROAST_NOTES_run, roast_str_of("failure")));
    set_result(input, finding, roast__rerun_way(run));
    finding->evidence = "{error}; no attempt at a chunk raised it";
    finding->advice = "{result}: the traceback has the place, as packing an output, "
                      "adding two of them, or postprocess(); fix that and {again}";
}

void roast__rule_failures(const struct roast_rule_input *input,
                          struct roast_finding *finding)
{
    const roast_table *table = input->ctx->summary->tables[ROAST_TABLE_failures];
    size_t first = 0; /* row to show */
    double attempts = 0, missing = 0;
    for (size_t row = 0; row < roast_table_rows(table); row++) {
        bool is_missing = !roast_table_flag(table, row, ROAST_COL_failures_resolved);
        if (!is_failed(table, row))
            continue;
        if (attempts == 0 || (is_missing && missing == 0))
            first = row; /* a missing chunk is shown first */
        attempts++;
        missing += is_missing;
    }
    bool resolved = missing == 0;

    if (attempts == 0) {
        find_failed_call(input, finding);
        return;
    }
    finding->found = true;
    finding->failure = !resolved;
    finding->risk = true;
    roast__add_cost(input, finding, ROAST_SLICE_failed);
    if (resolved) /* missing chunks still have to run */
        finding->saves_s = roast__saves_cost(input, finding);
    struct roast_str error = roast_table_text(table, first, ROAST_COL_failures_error);
    roast__set_count(finding, "attempts", attempts, "attempt");
    roast__set_text(finding, "error",
                    error.data ? error : roast_str_of("no exception recorded"));
    /* " in a.root (3 of 5 failures)" */
    struct roast_str file = roast_table_text(table, first, ROAST_COL_failures_file);
    double same = 0;
    if (file.data) {
        for (size_t row = 0; row < roast_table_rows(table); row++)
            same += is_failed(table, row) &&
                    roast__str_equal(
                        roast_table_text(table, row, ROAST_COL_failures_file), file);
        roast__set_file(finding, "file", file);
        roast__set_number(finding, "same", same, "");
        roast__set_number(finding, "of", attempts, "");
        roast__set_from_pattern(finding, "location",
                                same < attempts ? " in {file} ({same} of {of} failures)"
                                                : " in {file}");
    }
    struct roast_str section =
        roast_table_text(table, first, ROAST_COL_failures_error_section);
    if (section.data) {
        roast__set_text(finding, "path", section);
        roast__set_from_pattern(finding, "section", " in {path}");
    }
    enum roast_rerun_way way = roast__rerun_way(input->ctx->run);
    set_result(input, finding, way);
    enum cause cause = cause_of(input, table, first);
    if (cause == OUT_OF_MEMORY)
        set_room(input, finding,
                 (way == ROAST_RERUN_ITEMS || way == ROAST_RERUN_BOTH) && !resolved);
    finding->advice = advice_of(cause, resolved);
}

/* ---- dead workers ---------------------------------------------------------------- */

static double count_ended(const roast_table *lost, enum roast_leave_reason reason)
{
    return (double)roast__table_count(lost, ROAST_COL_lost_workers_ended,
                                      roast_leave_reason_info(reason)->ended);
}

/* The memory of the worker closest to its limit; only of those killed for it, if any. */
static void set_last_memory(struct roast_finding *finding, const roast_table *lost)
{
    const char *killed = roast_leave_reason_info(ROAST_LEAVE_memory)->ended;
    bool any_killed = count_ended(lost, ROAST_LEAVE_memory) > 0;
    double memory = NAN, limit = NAN;

    for (size_t row = 0; row < roast_table_rows(lost); row++) {
        if (any_killed &&
            !roast__str_is(roast_table_text(lost, row, ROAST_COL_lost_workers_ended),
                           killed))
            continue;
        double own = roast_table_number(lost, row, ROAST_COL_lost_workers_memory_bytes);
        double own_limit =
            roast_table_number(lost, row, ROAST_COL_lost_workers_memory_limit_bytes);
        if (own_limit > 0 && own >= 0 && !(own / own_limit <= memory / limit)) {
            memory = own;
            limit = own_limit;
        }
    }
    if (isnan(memory))
        return;
    roast__set_number(finding, "held", memory, "B");
    roast__set_number(finding, "limit", limit, "B");
    roast__set_from_pattern(finding, "memory",
                            "; memory at the last sample {held} of {limit}");
    roast__set_memory_limit(finding, "suggested_memory",
                            fmax(memory, limit) / LIMIT_ADVISED_PERCENT * 100);
}

/* The sum of the known values of a column; NaN: none is known. */
static double sum_of(const roast_table *table, int col)
{
    double sum = NAN;

    for (size_t row = 0; row < roast_table_rows(table); row++) {
        double own = roast_table_number(table, row, col);
        if (!isnan(own))
            sum = (isnan(sum) ? 0 : sum) + own;
    }
    return sum;
}

/* Signals of Linux that end a process. */
static const char *signal_name(int64_t number)
{
    static const struct {
        int number;
        const char *name;
    } signals[] = {{1, "SIGHUP"},   {2, "SIGINT"},   {3, "SIGQUIT"}, {4, "SIGILL"},
                   {6, "SIGABRT"},  {7, "SIGBUS"},   {8, "SIGFPE"},  {9, "SIGKILL"},
                   {11, "SIGSEGV"}, {15, "SIGTERM"}, {24, "SIGXCPU"}};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (signals[i].number == number)
            return signals[i].name;
    }
    return NULL;
}

/* The sender of a signal is not known: the advice names the log that may have it. */
static const char *advice_of_code(double code)
{
    if (code == -9)
        return "dmesg and the log of the batch system show whether memory ran out: if "
               "so, fewer workers or smaller chunks";
    if (code == -4 || code == -6 || code == -7 || code == -8 || code == -11)
        return "a crash in compiled code: PYTHONFAULTHANDLER=1 shows where";
    if (code < 0)
        return "the signal came from outside the analysis: see the batch system's "
               "limits";
    if (code >= 0)
        return "something ended the process: look for os._exit() and sys.exit() in the "
               "code that process() calls";
    return NULL;
}

/* A process of a pool: pid, exit code, memory. */
static void describe_process(struct roast_finding *finding, const roast_table *lost)
{
    double code = roast_table_number(lost, 0, ROAST_COL_lost_workers_exit_code);
    const char *signal = code < 0 ? signal_name((int64_t)-code) : NULL;
    size_t rows = roast_table_rows(lost);
    char pid[32];

    (void)snprintf(pid, sizeof(pid), "%.0f",
                   roast_table_number(lost, 0, ROAST_COL_lost_workers_pid));
    roast__set_text(finding, "pid", roast_str_of(pid));
    roast__set_text(finding, "ended",
                    roast_table_text(lost, 0, ROAST_COL_lost_workers_ended));
    if (signal) {
        roast__set_text(finding, "name", roast_str_of(signal));
        roast__set_from_pattern(finding, "signal", " ({name})");
    }
    roast__set_number(finding, "held",
                      roast_table_number(lost, 0, ROAST_COL_lost_workers_memory_bytes),
                      "B");
    roast__set_number(finding, "age",
                      roast_table_number(lost, 0, ROAST_COL_lost_workers_memory_age),
                      "s");
    roast__set_from_pattern(finding, "memory",
                            "; memory {held} at its last sample, {age} before");
    if (rows > 1) {
        roast__set_count(finding, "more", (double)rows - 1, "other process");
        roast__set_from_pattern(finding, "others", "; {more} too");
    }
    finding->evidence =
        "process {pid}: {ended}{?signal}, with {attempts}{?memory}{?others} // "
        "process {pid}: {ended}{?signal}{?memory}{?others}";
    finding->advice = advice_of_code(code);
}

void roast__rule_workers_died(const struct roast_rule_input *input,
                              struct roast_finding *finding)
{
    const roast_table *lost = input->ctx->summary->tables[ROAST_TABLE_lost_workers];

    finding->found = roast_table_rows(lost) > 0;
    finding->failure = true;
    if (!finding->found)
        return;
    struct roast_str host = roast_table_text(lost, 0, ROAST_COL_lost_workers_host);
    finding->cost_slices = UINT64_C(1) << ROAST_SLICE_lost | UINT64_C(1)
                                                                 << ROAST_SLICE_skipped;
    finding->cost_s = fmax(sum_of(lost, ROAST_COL_lost_workers_seconds_lost),
                           input->slices[ROAST_SLICE_lost]);
    roast__set_count(finding, "workers", (double)roast_table_rows(lost), "worker");
    roast__set_count(finding, "attempts", sum_of(lost, ROAST_COL_lost_workers_attempts),
                     "attempt");
    if (!input->on_cluster) {
        describe_process(finding, lost);
        return;
    }
    /* "2 killed for memory, 1 closed" */
    char text[ROAST_PLACEHOLDER_BYTES] = "";
    size_t used = 0;
    for (int i = 0; i < ROAST_LEAVE_COUNT; i++) {
        enum roast_leave_reason reason = (enum roast_leave_reason)i;
        double count = count_ended(lost, reason);
        if (count > 0 && used < 100)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.0f %s",
                                     used > 0 ? ", " : "", count,
                                     roast_leave_reason_info(reason)->ended);
    }
    roast__set_text(finding, "causes", roast_str_of(text));
    set_last_memory(finding, lost);
    if (host.data)
        roast__set_text(finding, "host", host);
    if (count_ended(lost, ROAST_LEAVE_memory) > 0)
        finding->advice =
            roast__threads_per_worker(input->ctx) > 1
                ? "memory_limit={suggested_memory} per worker, fewer threads per "
                  "worker, or smaller chunks // more memory per worker, fewer threads "
                  "per worker, or smaller chunks"
                : "memory_limit={suggested_memory} per worker, or smaller chunks // "
                  "more memory per worker, or smaller chunks";
    else if (count_ended(lost, ROAST_LEAVE_silent) > 0)
        finding->advice = "the workers of {host} were cut off or killed from outside: "
                          "see the batch system's limits of time and memory // workers "
                          "were cut off or killed from outside: see the batch system's "
                          "limits of time and memory";
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_failures.c - rules about what came to nothing: attempts that failed, workers
 * that died.
 *
 * What helps depends on where an attempt failed: with its file, or in what process() did
 * with it. What was tried again and ended well is no failure of the run, but it may end
 * worse next time. */
#include <stdio.h>

#include "analyze/calls.h"
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "analyze/record_iter.h"
#include "base/mem.h"
#include "base/str.h"

/* ---- failures -------------------------------------------------------------------- */

enum fault { OF_FILE, BEFORE_PROCESS, OF_PROCESS, OF_MEMORY, UNKNOWN_FAULT, FAULTS };

/* Failed attempts, and the one that is shown. */
struct failing {
    const roast_table *table;
    size_t first; /* row of the table */
    double attempts;
    double unresolved;
};

static bool is_failed(const roast_table *failures, size_t row)
{
    return roast__str_is(roast_table_text(failures, row, ROAST_COL_failures_status),
                         "failed");
}

/* The attempt of a row of the table, which has one for each that failed or was lost. */
static size_t attempt_of(const struct roast_rule_input *at, size_t failure)
{
    const unsigned char *roles = at->ctx->totals->roles.of_row;
    size_t count = at->ctx->run->attempts.count, row = 0;

    for (; row + 1 < count; row++) {
        bool listed = roles[row] == ROAST_ROLE_FAILED || roles[row] == ROAST_ROLE_LOST;
        if (listed && failure-- == 0)
            break;
    }
    return row;
}

/* Whether the storage gave all that a record asked it for, as far as it was looked at. */
static bool was_served(const struct roast_rule_input *at, size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    uint64_t errors = 0;
    roast_record rec;

    if (!roast__attempt_record(at->ctx->run, row, &rec, identity) ||
        !roast_record_has(&rec, ROAST_FIELD_endpoints))
        return false;
    struct roast_str blob = rec.values[ROAST_FIELD_endpoints].str;
    int64_t count = roast_endpoints_read(NULL, 0, blob, NULL);
    if (count <= 0)
        return false;
    struct roast_endpoint *all = roast__alloc((size_t)count * sizeof(all[0]));
    at->ctx->summary->failed |= !all;
    if (!all)
        return false;
    (void)roast_endpoints_read(all, (size_t)count, blob, NULL);
    for (int64_t i = 0; i < count; i++)
        errors += all[i].errors;
    roast__free(all);
    return errors == 0;
}

/* Exceptions of decoders that only a damaged file raises. */
static bool is_of_damage(struct roast_str type, struct roast_str message)
{
    static const char *const unpacking[] = {
        "DeserializationError", "DecompressionError", "LZMAError", "ZstdError", NULL};
    static const char zlibs[] = "Error -"; /* of all classes that are called error */

    return roast__str_is_one_of(type, unpacking) ||
           (roast__str_is(type, "error") && message.size_bytes >= sizeof(zlibs) - 1 &&
            memcmp(message.data, zlibs, sizeof(zlibs) - 1) == 0);
}

/* What reading raises: that of Python, of uproot and its sources. So may all else that
 * process() does with files and networks. */
static bool is_of_reading(struct roast_str type)
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

static bool is_of_opening(struct roast_str type)
{
    static const char *const opening[] = {"FileNotFoundError", "PermissionError",
                                          "IsADirectoryError", "NotADirectoryError",
                                          NULL};

    return roast__str_is_one_of(type, opening);
}

/* The name of a class without that of its module. */
static struct roast_str class_of(struct roast_str type)
{
    for (size_t i = type.size_bytes; i > 0; i--) {
        if (type.data[i - 1] == '.')
            return (struct roast_str){type.data + i, type.size_bytes - i};
    }
    return type;
}

/* A file that process() has begun with is there, so one that is not is another one. And
 * what storage has given was not what failed. */
static bool is_of_file(const struct roast_rule_input *at, const struct failing *found,
                       struct roast_str type, bool began)
{
    size_t row = attempt_of(at, found->first);
    struct roast_str message =
        roast_table_text(found->table, found->first, ROAST_COL_failures_error_message);

    if (is_of_damage(type, message))
        return true;
    if (!began)
        return is_of_reading(type) || is_of_opening(type);
    return is_of_reading(type) && !was_served(at, row);
}

static enum fault fault_of(const struct roast_rule_input *at,
                           const struct failing *found)
{
    const struct roast_column *columns = at->ctx->run->attempts.columns;
    struct roast_str type = class_of(
        roast_table_text(found->table, found->first, ROAST_COL_failures_error_type));
    size_t row = attempt_of(at, found->first);
    bool began = roast__column_has(&columns[ROAST_COLUMN_duration_ns], row);

    if (!type.data)
        return UNKNOWN_FAULT;
    if (is_of_file(at, found, type, began))
        return OF_FILE;
    if (roast__str_is(type, "MemoryError"))
        return OF_MEMORY;
    if (began)
        return OF_PROCESS;
    return roast__column_has(&columns[ROAST_COLUMN_start_ns], row) ? BEFORE_PROCESS
                                                                   : UNKNOWN_FAULT;
}

/* What a call that raised had done is thrown away. */
static void blank_result(const struct roast_rule_input *at,
                         struct roast_finding *finding)
{
    const struct roast_run *run = at->ctx->run;
    const char *words = "the result is incomplete";
    bool raised =
        run->end_ns != 0 && roast__run_returned(run) == ROAST_RETURNED_NOTHING;

    if (raised)
        words = roast__run_outputs(run) > 0 ? "a call of the Runner gave no result"
                                            : "there is no result";
    else
        roast__blank_number(finding, "missing",
                            roast__input_metric(at, ROAST_METRIC_num_failed_or_lost),
                            "");
    roast__blank_text(finding, "result", roast_str_of(words));
}

static const char *advice_of(enum fault fault, bool resolved)
{
    static const char *const fix[FAULTS] = {
        [OF_FILE] = NULL, /* the advice of the rule */
        [BEFORE_PROCESS] = "{result}: see how {file} differs from other files, "
                           "process() did not begin; then run failed_fileset()",
        [OF_PROCESS] = "{result}: process() raised it{?section}, fix that and "
                       "run failed_fileset()",
        [OF_MEMORY] = "{result}: smaller chunks or fewer threads per worker, and "
                      "run failed_fileset()",
        [UNKNOWN_FAULT] = "{result}: run failed_fileset() again",
    };
    static const char *const watch[FAULTS] = {
        [OF_FILE] = "they were tried again and ended well; see whether {file} or its "
                    "storage is at fault // they were tried again and ended well; see "
                    "whether the storage is at fault",
        [BEFORE_PROCESS] =
            "they were tried again and ended well; process() had not begun",
        [OF_PROCESS] = "they were tried again and ended well; process() raised "
                       "it{?section} and may do so again",
        [OF_MEMORY] = "they were tried again and ended well; smaller chunks or fewer "
                      "threads per worker leave more memory",
        [UNKNOWN_FAULT] = "they were tried again and ended well",
    };

    return resolved ? watch[fault] : fix[fault];
}

void roast__rule_failures(const struct roast_rule_input *at,
                          struct roast_finding *finding)
{
    struct failing found = {.table = at->ctx->summary->tables[ROAST_TABLE_failures]};
    size_t count = found.table ? roast_table_rows(found.table) : 0;
    for (size_t row = 0; row < count; row++) {
        bool open = !roast_table_flag(found.table, row, ROAST_COL_failures_resolved);
        if (!is_failed(found.table, row))
            continue;
        if (found.attempts == 0 || (open && found.unresolved == 0))
            found.first = row; /* a missing chunk is shown first */
        found.attempts++;
        found.unresolved += open;
    }
    bool resolved = found.unresolved == 0;

    finding->found = found.attempts > 0;
    if (!finding->found)
        return;
    finding->failure = !resolved;
    finding->saves_unknown = !resolved; /* the missing chunks still have to run */
    finding->risk = true;
    roast__add_cost(at, finding, ROAST_SLICE_failed);
    struct roast_str error =
        roast_table_text(found.table, found.first, ROAST_COL_failures_error);
    roast__blank_count(finding, "attempts", found.attempts, "attempt");
    roast__blank_text(finding, "error",
                      error.data ? error : roast_str_of("no exception recorded"));
    /* " in a.root (3 of 5 failures)" */
    struct roast_str file =
        roast_table_text(found.table, found.first, ROAST_COL_failures_file);
    double same = 0;
    if (file.data) {
        for (size_t row = 0; row < roast_table_rows(found.table); row++)
            same +=
                is_failed(found.table, row) &&
                roast__str_equal(
                    roast_table_text(found.table, row, ROAST_COL_failures_file), file);
        roast__blank_file(finding, "file", file);
        roast__blank_number(finding, "same", same, "");
        roast__blank_number(finding, "of", found.attempts, "");
        roast__blank_pattern(finding, "where",
                             same < found.attempts
                                 ? " in {file} ({same} of {of} failures)"
                                 : " in {file}");
    }
    struct roast_str section =
        roast_table_text(found.table, found.first, ROAST_COL_failures_error_section);
    if (section.data) {
        roast__blank_text(finding, "path", section);
        roast__blank_pattern(finding, "section", " in {path}");
    }
    blank_result(at, finding);
    finding->advice = advice_of(fault_of(at, &found), resolved);
}

/* ---- dead workers ---------------------------------------------------------------- */

static double count_ended(const roast_table *lost, enum roast_leave_reason how)
{
    return (double)roast__table_count(lost, ROAST_COL_lost_workers_ended,
                                      roast_leave_reason_info(how)->ended);
}

/* Of the one that was nearest to its limit; of those that were killed for it, if any. */
static void blank_last_memory(struct roast_finding *finding, const roast_table *lost)
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
    roast__blank_number(finding, "held", memory, "B");
    roast__blank_number(finding, "limit", limit, "B");
    roast__blank_pattern(finding, "memory",
                         "; memory at the last sample {held} of {limit}");
    roast__blank_memory(finding, "suggested_memory",
                        fmax(memory, limit) / LIMIT_ADVISED_PERCENT * 100);
}

/* The sum of a column over the rows that know it; NaN: none does. */
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

void roast__rule_workers_died(const struct roast_rule_input *at,
                              struct roast_finding *finding)
{
    const roast_table *lost = at->ctx->summary->tables[ROAST_TABLE_lost_workers];

    finding->found = lost && roast_table_rows(lost) > 0;
    finding->failure = true;
    if (!finding->found)
        return;
    struct roast_str host = roast_table_text(lost, 0, ROAST_COL_lost_workers_host);
    finding->cost_slices = UINT64_C(1) << ROAST_SLICE_lost | UINT64_C(1)
                                                                 << ROAST_SLICE_skipped;
    finding->cost_s = fmax(sum_of(lost, ROAST_COL_lost_workers_seconds_lost),
                           at->slices[ROAST_SLICE_lost]);
    roast__blank_count(finding, "workers", (double)roast_table_rows(lost), "worker");
    roast__blank_count(finding, "attempts",
                       sum_of(lost, ROAST_COL_lost_workers_attempts), "attempt");
    /* "2 killed for memory, 1 closed" */
    char text[ROAST_BLANK_BYTES] = "";
    size_t used = 0;
    for (int i = 0; i < ROAST_LEAVE_COUNT; i++) {
        enum roast_leave_reason how = (enum roast_leave_reason)i;
        double count = count_ended(lost, how);
        if (count > 0 && used < 100)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.0f %s",
                                     used > 0 ? ", " : "", count,
                                     roast_leave_reason_info(how)->ended);
    }
    roast__blank_text(finding, "causes", roast_str_of(text));
    blank_last_memory(finding, lost);
    if (host.data)
        roast__blank_text(finding, "host", host);
    if (count_ended(lost, ROAST_LEAVE_memory) > 0)
        finding->advice = "memory_limit={suggested_memory} per worker, fewer threads "
                          "per worker, or smaller chunks // more memory per worker, "
                          "fewer threads per worker, or smaller chunks";
    else if (count_ended(lost, ROAST_LEAVE_silent) > 0)
        finding->advice = "the workers of {host} were cut off or killed from outside: "
                          "see the batch system's limits of time and memory // workers "
                          "were cut off or killed from outside: see the batch system's "
                          "limits of time and memory";
}

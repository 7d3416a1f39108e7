/* SPDX-License-Identifier: BSD-3-Clause */
/* otlp.c - the run as OTLP/JSON, one request for an OpenTelemetry collector per line.
 *
 *     spans     run > call of Runner.run > attempt at a chunk > section
 *     metrics   every number as a gauge; times inside process() as a histogram whose
 *               exemplars are spans of chunks
 *
 * The id of the run is the id of its trace. The id of a span is a hash of that id and of
 * what the span is, so a second export gives the same ids. A span needs an end: attempts
 * whose end is not known are counted in the span of the run. 64-bit integers are texts in
 * JSON of protobuf. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/formulas.h"
#include "base/bytes.h"
#include "base/mem.h"
#include "base/redact.h"
#include "export/export.h"
#include "export/trace.h"
#include "roast/json_write.h"
#include "roast/version.h"

enum {
    LINE_BYTES = 1 << 18, /* a line is ended when it is longer */
    ID_BYTES = ROAST_RUN_ID_BYTES,
    KIND_INTERNAL = 1, /* numbers of OTLP */
    STATUS_ERROR = 2,
    CUMULATIVE = 2,
};

/* The longest chunk in a bin of the histogram. */
struct exemplar {
    double seconds; /* 0: none yet */
    uint64_t span;
    int64_t time_ns;
};

struct writer {
    struct roast__export *out;
    struct roast_buf text; /* of the line that is made */
    struct roast_json json;
    struct roast__fact_sink facts;
    struct roast__trace trace;
    unsigned char id[ID_BYTES]; /* of the trace */
    uint64_t run;               /* span */
    char processor[256];
    char executor[256];
    const roast_table *bins;    /* borrowed from the summary */
    struct exemplar *exemplars; /* owned; per row of `bins` */
};

/* ---- JSON ------------------------------------------------------------------------ */

static void key(struct writer *to, const char *name)
{
    roast_json_key(&to->json, roast_str_of(name));
}

static void begin(struct writer *to, const char *name, char bracket)
{
    key(to, name);
    roast_json_open(&to->json, bracket);
}

static void finish(struct writer *to, const char *brackets)
{
    for (; *brackets; brackets++)
        roast_json_close(&to->json, *brackets);
}

static void put_text(struct writer *to, const char *name, struct roast_str text)
{
    key(to, name);
    roast_json_text(&to->json, text);
}

/* 64 bits as a text. */
static void put_integer(struct writer *to, const char *name, int64_t value)
{
    char digits[32];

    (void)snprintf(digits, sizeof(digits), "%" PRId64, value);
    put_text(to, name, roast_str_of(digits));
}

/* Of a broken file it may be before 1970. */
static void put_time(struct writer *to, const char *name, int64_t time_ns)
{
    put_integer(to, name, time_ns > 0 ? time_ns : 0);
}

static void put_count(struct writer *to, const char *name, uint64_t value)
{
    key(to, name);
    roast_json_count(&to->json, value);
}

static void put_number(struct writer *to, const char *name, double value)
{
    key(to, name);
    roast_json_number(&to->json, value);
}

static void put_hex(struct writer *to, const char *name, const unsigned char *bytes,
                    size_t size_bytes)
{
    char digits[2 * ID_BYTES + 1];

    for (size_t i = 0; i < size_bytes; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    put_text(to, name, roast_str_of(digits));
}

static void put_span_id(struct writer *to, const char *name, uint64_t span)
{
    unsigned char bytes[8];

    roast__store_fixed(bytes, span, sizeof(bytes));
    put_hex(to, name, bytes, sizeof(bytes));
}

/* ---- attributes ------------------------------------------------------------------ */

static void open_attribute(struct writer *to, const char *name)
{
    roast_json_open(&to->json, '{');
    put_text(to, "key", roast_str_of(name));
    begin(to, "value", '{');
}

/* An absent text is left out. */
static void put_attribute(struct writer *to, const char *name, struct roast_str text)
{
    if (!text.data)
        return;
    open_attribute(to, name);
    put_text(to, "stringValue", text);
    finish(to, "}}");
}

static void put_amount(struct writer *to, const char *name, int64_t value)
{
    open_attribute(to, name);
    put_integer(to, "intValue", value);
    finish(to, "}}");
}

static void put_fact_number(void *context, const char *name, int64_t value)
{
    char own[96];

    (void)snprintf(own, sizeof(own), "roast.%s", name);
    put_amount(context, own, value);
}

static void put_fact_text(void *context, const char *name, struct roast_str text)
{
    char own[96];

    (void)snprintf(own, sizeof(own), "roast.%s", name);
    put_attribute(context, own, text);
}

/* ---- lines ----------------------------------------------------------------------- */

/* A request: resource, scope, and a list of items that the caller fills. */
static void open_line(struct writer *to, const char *resources, const char *scopes,
                      const char *items)
{
    roast_json_open(&to->json, '{');
    begin(to, resources, '[');
    roast_json_open(&to->json, '{');
    begin(to, "resource", '{');
    begin(to, "attributes", '[');
    put_attribute(to, "service.name",
                  roast_str_of(to->processor[0] ? to->processor : "coffea"));
    put_attribute(to, "telemetry.sdk.name", roast_str_of("roastcoffea"));
    put_attribute(to, "telemetry.sdk.version", roast_str_of(ROAST_VERSION));
    finish(to, "]}");
    begin(to, scopes, '[');
    roast_json_open(&to->json, '{');
    begin(to, "scope", '{');
    put_text(to, "name", roast_str_of("roastcoffea"));
    put_text(to, "version", roast_str_of(ROAST_VERSION));
    finish(to, "}");
    begin(to, items, '[');
}

static void close_line(struct writer *to)
{
    finish(to, "]}]}]}");
    roast__buf_put(&to->text, "\n", 1);
    to->json.comma = false;
    roast__export_put(to->out, to->text.data, to->text.size_bytes);
    to->text.size_bytes = 0;
}

static void open_spans(struct writer *to)
{
    open_line(to, "resourceSpans", "scopeSpans", "spans");
}

/* Begins another line if this one is long; the run is not locked. */
static void next_line(struct writer *to)
{
    if (to->text.size_bytes < LINE_BYTES)
        return;
    close_line(to);
    open_spans(to);
}

/* ---- spans ----------------------------------------------------------------------- */

static uint64_t span_of(const struct writer *to, const void *bytes, size_t size_bytes)
{
    uint64_t hash =
        roast__keyed_hash(to->id, (struct roast_str){(const char *)bytes, size_bytes});

    return hash != 0 ? hash : 1; /* 0 is no id */
}

static uint64_t span_of_call(const struct writer *to, int32_t call, const char *part)
{
    char name[32];

    (void)snprintf(name, sizeof(name), "%s %" PRId32, part, call);
    return span_of(to, name, strlen(name));
}

static uint64_t span_of_section(const struct writer *to, int section)
{
    unsigned char bytes[ROAST_IDENTITY_BYTES + 4];

    memcpy(bytes, to->trace.now.identity, ROAST_IDENTITY_BYTES);
    roast__store_fixed(bytes + ROAST_IDENTITY_BYTES, (uint64_t)section, 4);
    return span_of(to, bytes, sizeof(bytes));
}

/* Opens a span and its attributes; parent 0: none. */
static void open_span(struct writer *to, uint64_t span, uint64_t parent,
                      struct roast_str name, const int64_t times_ns[2])
{
    roast_json_open(&to->json, '{');
    put_hex(to, "traceId", to->id, sizeof(to->id));
    put_span_id(to, "spanId", span);
    if (parent != 0)
        put_span_id(to, "parentSpanId", parent);
    put_text(to, "name", name);
    put_count(to, "kind", KIND_INTERNAL);
    put_time(to, "startTimeUnixNano", times_ns[0]);
    put_time(to, "endTimeUnixNano", times_ns[1]);
    begin(to, "attributes", '[');
}

static void put_error(struct writer *to, struct roast_str message)
{
    begin(to, "status", '{');
    put_count(to, "code", STATUS_ERROR);
    if (message.data)
        put_text(to, "message", message);
    finish(to, "}");
}

static void put_run(struct writer *to, int64_t end_ns)
{
    roast_run *run = to->trace.run;
    enum roast_run_state state = roast_run_state(run);
    int64_t times_ns[] = {roast_run_span(run).start_ns, end_ns};
    char failure[512] = "";
    int64_t without_end = 0;

    for (size_t i = 0; i < to->trace.count; i++)
        without_end += isnan(to->trace.list[i].seconds);
    (void)roast_run_note(run, ROAST_NOTES_run, "failure", failure, sizeof(failure));
    open_span(to, to->run, 0, roast_str_of("run"), times_ns);
    put_fact_text(to, "processor", roast_str_of(to->processor));
    put_fact_text(to, "executor", roast_str_of(to->executor));
    put_fact_text(to, "state", roast_str_of(roast_run_state_name(state)));
    put_fact_number(to, "attempts_without_start", (int64_t)to->trace.without_start);
    put_fact_number(to, "attempts_without_end", without_end);
    finish(to, "]");
    if (state == ROAST_IS_failed || state == ROAST_IS_interrupted)
        put_error(to, roast_str_of(failure));
    finish(to, "}");
}

static void put_calls(struct writer *to)
{
    for (size_t i = 0; i < to->trace.calls.count; i++) {
        const struct roast_call *call = &to->trace.calls.calls[i];
        int64_t times_ns[] = {call->begin_ns, call->end_ns};
        uint64_t span = span_of_call(to, (int32_t)i, "call");
        open_span(to, span, to->run, roast_str_of("Runner.run"), times_ns);
        put_fact_number(to, "call", (int64_t)i + 1);
        finish(to, "]");
        if (call->raised)
            put_error(to, (struct roast_str){NULL, 0});
        finish(to, "}");
        if (call->preprocess_ns > 0) {
            times_ns[0] = roast__sat_sub(call->preprocess_end_ns, call->preprocess_ns);
            times_ns[1] = call->preprocess_end_ns;
            open_span(to, span_of_call(to, (int32_t)i, "preprocess"), span,
                      roast_str_of("preprocessing"), times_ns);
            finish(to, "]}");
        }
        next_line(to);
    }
}

/* ---- attempts -------------------------------------------------------------------- */

static void put_failure(struct writer *to)
{
    const struct roast__trace_attempt *now = &to->trace.now;
    struct roast_str message = {NULL, 0};

    if (roast_record_has(&now->record, ROAST_FIELD_error_message))
        message = now->record.values[ROAST_FIELD_error_message].str;
    put_error(to, message.data ? message : roast_str_of(now->status));
    if (!now->error_type.data)
        return;
    begin(to, "events", '[');
    roast_json_open(&to->json, '{');
    put_time(to, "timeUnixNano", now->end_ns);
    put_text(to, "name", roast_str_of("exception"));
    begin(to, "attributes", '[');
    put_attribute(to, "exception.type", now->error_type);
    put_attribute(to, "exception.message", message);
    finish(to, "]}]");
}

/* The failed attempt before it. */
static void put_link(struct writer *to)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];

    roast__attempt_identity(to->trace.run, to->trace.list[to->trace.now.retry_of].row,
                            identity);
    begin(to, "links", '[');
    roast_json_open(&to->json, '{');
    put_hex(to, "traceId", to->id, sizeof(to->id));
    put_span_id(to, "spanId", span_of(to, identity, sizeof(identity)));
    finish(to, "}]");
}

static void put_place(struct writer *to)
{
    const struct roast_run *run = to->trace.run;
    const struct roast__trace_attempt *now = &to->trace.now;
    int32_t number = run->attempts.process[now->listed->row];
    const struct roast_worker_process *process = &run->attempts.processes[number];
    struct roast_buf room = {0};

    put_attribute(to, "roast.worker", roast__worker_key(run, (size_t)number, &room));
    put_attribute(to, "host.name", roast__strings_get(&run->strings, process->host));
    if (process->pid != 0 && process->pid <= INT64_MAX)
        put_amount(to, "process.pid", (int64_t)process->pid);
    if (roast_record_has(&now->record, ROAST_FIELD_thread) &&
        now->record.values[ROAST_FIELD_thread].u64 <= INT64_MAX)
        put_amount(to, "thread.id",
                   (int64_t)now->record.values[ROAST_FIELD_thread].u64);
    roast__buf_release(&room);
}

static void put_sections(struct writer *to, uint64_t attempt)
{
    const struct roast__trace_attempt *now = &to->trace.now;

    for (int i = 0; i < now->section_count; i++) {
        const struct roast__trace_section *section = &now->sections[i];
        int64_t times_ns[] = {section->start_ns, section->end_ns};
        open_span(to, span_of_section(to, i),
                  section->parent < 0 ? attempt : span_of_section(to, section->parent),
                  section->name, times_ns);
        finish(to, "]}");
    }
}

/* Remembers a chunk that counts if it is the longest in its bin. */
static void take_exemplar(struct writer *to, uint64_t span)
{
    const struct roast__trace_attempt *now = &to->trace.now;
    double seconds = (double)(now->process_end_ns - now->process_start_ns) / 1e9;
    size_t bin = roast_table_rows(to->bins);

    while (bin > 0 &&
           !(roast_table_number(to->bins, bin - 1, ROAST_COL_runtime_histogram_from) <=
             seconds))
        bin--;
    if (now->listed->role != ROAST_ROLE_COUNTS || bin == 0 ||
        seconds <= to->exemplars[bin - 1].seconds)
        return;
    to->exemplars[bin - 1] = (struct exemplar){seconds, span, now->process_end_ns};
}

static void put_attempt(struct writer *to, size_t i)
{
    const struct roast__trace_attempt *now = &to->trace.now;

    roast__trace_read(&to->trace, i);
    if (now->end_ns < now->listed->start_ns)
        return;
    uint64_t span = span_of(to, now->identity, sizeof(now->identity));
    int64_t times_ns[] = {now->listed->start_ns, now->end_ns};
    open_span(to, span, now->call < 0 ? to->run : span_of_call(to, now->call, "call"),
              roast_str_of("chunk"), times_ns);
    roast__trace_facts(&to->trace, &to->facts);
    roast__trace_ladder(&to->trace, ROAST_LADDER_SLICE, &to->facts);
    roast__trace_ladder(&to->trace, ROAST_LADDER_TIME, &to->facts);
    put_place(to);
    finish(to, "]");
    if (now->retry_of >= 0)
        put_link(to);
    if (now->failed)
        put_failure(to);
    finish(to, "}");
    put_sections(to, span);
    take_exemplar(to, span);
}

/* ---- metrics --------------------------------------------------------------------- */

static void open_metric(struct writer *to, const char *name, const char *text,
                        const char *unit)
{
    char own[96];

    (void)snprintf(own, sizeof(own), "roast.%s", name);
    roast_json_open(&to->json, '{');
    put_text(to, "name", roast_str_of(own));
    put_text(to, "description", roast_str_of(text));
    if (strcmp(unit, "B") == 0)
        unit = "By"; /* as UCUM has it */
    put_text(to, "unit", roast_str_of(*unit ? unit : "1"));
}

static void put_gauges(struct writer *to, int64_t time_ns)
{
    const struct roast_metric_values *values = roast_summary_metrics(to->out->summary);

    for (int i = 0; i < ROAST_METRIC_COUNT; i++) {
        const struct roast_metric_info *info = roast_metric_info((enum roast_metric)i);
        double value = values->value[i];
        if (!values->known[i])
            continue;
        open_metric(to, info->name, info->formula, info->unit);
        begin(to, "gauge", '{');
        begin(to, "dataPoints", '[');
        roast_json_open(&to->json, '{');
        put_time(to, "timeUnixNano", time_ns);
        if (info->is_count && value > -0x1p53 && value < 0x1p53)
            put_integer(to, "asInt", (int64_t)value);
        else
            put_number(to, "asDouble", value);
        finish(to, "}]}}");
    }
}

static void put_exemplars(struct writer *to)
{
    begin(to, "exemplars", '[');
    for (size_t i = 0; i < roast_table_rows(to->bins); i++) {
        const struct exemplar *exemplar = &to->exemplars[i];
        if (exemplar->seconds <= 0)
            continue;
        roast_json_open(&to->json, '{');
        put_time(to, "timeUnixNano", exemplar->time_ns);
        put_number(to, "asDouble", exemplar->seconds);
        put_hex(to, "traceId", to->id, sizeof(to->id));
        put_span_id(to, "spanId", exemplar->span);
        finish(to, "}");
    }
    finish(to, "]");
}

/* The bins of the table runtime_histogram: bounds are the borders between them. */
static void put_histogram(struct writer *to, const int64_t times_ns[2])
{
#define AT(name) ROAST_COL_runtime_histogram_##name
    const struct roast_metric_values *values = roast_summary_metrics(to->out->summary);
    size_t rows = roast_table_rows(to->bins);
    int64_t all = 0, chunks = 0;

    if (rows == 0)
        return;
    open_metric(to, "chunk.process_seconds", "time inside process(), per chunk", "s");
    begin(to, "histogram", '{');
    put_count(to, "aggregationTemporality", CUMULATIVE);
    begin(to, "dataPoints", '[');
    roast_json_open(&to->json, '{');
    put_time(to, "startTimeUnixNano", times_ns[0]);
    put_time(to, "timeUnixNano", times_ns[1]);
    begin(to, "bucketCounts", '[');
    for (size_t i = 0; i < rows; i++) {
        char digits[32];
        (void)roast_table_int(&chunks, to->bins, i, AT(chunks));
        (void)snprintf(digits, sizeof(digits), "%" PRId64, chunks);
        roast_json_text(&to->json, roast_str_of(digits));
        all += chunks;
    }
    finish(to, "]");
    begin(to, "explicitBounds", '[');
    for (size_t i = 1; i < rows; i++)
        roast_json_number(&to->json, roast_table_number(to->bins, i, AT(from)));
    finish(to, "]");
    put_integer(to, "count", all);
    if (values->known[ROAST_METRIC_recorded_process_seconds])
        put_number(to, "sum", values->value[ROAST_METRIC_recorded_process_seconds]);
    put_number(to, "min", roast_table_number(to->bins, 0, AT(from)));
    put_number(to, "max", roast_table_number(to->bins, rows - 1, AT(to)));
    put_exemplars(to);
    finish(to, "}]}}");
#undef AT
}

/* ---- all ------------------------------------------------------------------------- */

/* The id of the run; one that has none gets one from its start. */
static void find_id(struct writer *to, roast_run *run)
{
    char digits[2 * ID_BYTES + 1];
    int64_t size = roast_run_note(run, ROAST_NOTES_run, "id", digits, sizeof(digits));
    uint64_t halves[2] = {(uint64_t)roast_run_span(run).start_ns, UINT64_MAX};

    if (size == 2 * ID_BYTES && strspn(digits, "0123456789abcdef") == (size_t)size) {
        halves[1] = strtoull(digits + ID_BYTES, NULL, 16);
        digits[ID_BYTES] = '\0';
        halves[0] = strtoull(digits, NULL, 16);
    }
    for (size_t i = 0; i < ID_BYTES; i++)
        to->id[i] = (unsigned char)(halves[i / 8] >> (56 - 8 * (i % 8)));
}

static int put_all(struct writer *to, roast_error *err)
{
    roast_run *run = to->out->run;
    int status = roast__trace_open(&to->trace, run, err);

    if (status < 0)
        return status;
    find_id(to, run);
    (void)roast_run_note(run, ROAST_NOTES_run, "processor", to->processor,
                         sizeof(to->processor));
    (void)roast_run_note(run, ROAST_NOTES_run, "executor", to->executor,
                         sizeof(to->executor));
    to->run = span_of(to, "run", 3);
    to->bins = roast_summary_table(to->out->summary, ROAST_TABLE_runtime_histogram);
    to->exemplars = roast__alloc(roast_table_rows(to->bins) * sizeof(to->exemplars[0]));
    if (!to->exemplars)
        return roast_error_set(err, ROAST_NO_MEMORY, "spans");
    roast__run_lock(run);
    int64_t times_ns[] = {run->start_ns, roast__run_end(run)};
    roast__run_unlock(run);
    open_spans(to);
    put_run(to, times_ns[1]);
    put_calls(to);
    for (size_t i = 0; i < to->trace.count && to->out->failure.code == ROAST_OK; i++) {
        roast__run_lock(run);
        put_attempt(to, i);
        roast__run_unlock(run);
        next_line(to);
    }
    close_line(to);
    open_line(to, "resourceMetrics", "scopeMetrics", "metrics");
    put_gauges(to, times_ns[1]);
    put_histogram(to, times_ns);
    close_line(to);
    if (to->trace.out_of_memory || !roast__buf_ok(&to->text))
        return roast_error_set(err, ROAST_NO_MEMORY, "spans of %zu attempts",
                               to->trace.count);
    return ROAST_OK;
}

int roast__export_otlp(struct roast__export *in, roast_error *err)
{
    struct writer *to = roast__alloc(sizeof(*to));

    if (!to)
        return roast_error_set(err, ROAST_NO_MEMORY, "spans");
    to->out = in;
    to->json = (struct roast_json){.put = roast__buf_sink, .context = &to->text};
    to->facts = (struct roast__fact_sink){put_fact_number, put_fact_text, to};
    int status = put_all(to, err);
    roast__trace_release(&to->trace);
    roast__buf_release(&to->text);
    roast__free(to->exemplars);
    roast__free(to);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement_tell.c - what metrics.json says, told as facts, samples and notes.
 *
 * 0.1.2 wrote 0 for what it did not know, and took the times of the block from a clock
 * without a date: such a block is placed by its first sample, else by its last chunk. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "collect/json_bytes.h"
#include "collect/measurement_metrics.h"

static const double epoch_from_s = 1e9; /* an earlier time is none since 1970 */

/* ---- facts ----------------------------------------------------------------------- */

static int tell_fact(const struct roast_metrics_draft *draft,
                     const struct roast_measurement_sink *sink,
                     enum roast_told_number number, const char *fact, roast_error *err)
{
    double value = draft->numbers[number];
    bool may_be_zero = draft->is_ours || number == ROAST_TOLD_runner_failures;

    if (!draft->known[number] || (value == 0 && !may_be_zero))
        return ROAST_OK;
    return sink->fact(sink->context, fact, value, err);
}

/* CPU of all tasks, from spans: of 0.1.2 in two parts. */
static int tell_spans(const struct roast_metrics_draft *draft,
                      const struct roast_measurement_sink *sink,
                      const enum roast_told_number parts[2], const char *fact,
                      roast_error *err)
{
    if (!draft->known[parts[0]] || !draft->known[parts[1]])
        return ROAST_OK;
    return sink->fact(sink->context, fact,
                      draft->numbers[parts[0]] + draft->numbers[parts[1]], err);
}

static int tell_span_facts(const struct roast_metrics_draft *draft,
                           const struct roast_measurement_sink *sink, roast_error *err)
{
    static const enum roast_told_number cpu[] = {ROAST_TOLD_processor_cpu_time_seconds,
                                                 ROAST_TOLD_overhead_cpu_time_seconds};
    static const enum roast_told_number noncpu[] = {
        ROAST_TOLD_processor_io_wait_time_seconds,
        ROAST_TOLD_overhead_io_wait_time_seconds};
    int status;

    if (!draft->has_spans)
        return ROAST_OK;
    if (draft->is_ours) {
        status = tell_fact(draft, sink, ROAST_TOLD_cpu_time_seconds, "span_cpu_seconds",
                           err);
        return status < 0 ? status
                          : tell_fact(draft, sink, ROAST_TOLD_io_time_seconds,
                                      "span_noncpu_seconds", err);
    }
    status = tell_spans(draft, sink, cpu, "span_cpu_seconds", err);
    return status < 0 ? status
                      : tell_spans(draft, sink, noncpu, "span_noncpu_seconds", err);
}

static int tell_facts(const struct roast_metrics_draft *draft,
                      const struct roast_measurement_sink *sink, roast_error *err)
{
    static const struct {
        enum roast_told_number number;
        const char *fact;
    } facts[] = {
        {ROAST_TOLD_total_events, "report_events"},
        {ROAST_TOLD_total_bytes_read, "report_bytes"},
        {ROAST_TOLD_total_cpu_time, "report_process_seconds"},
        {ROAST_TOLD_num_chunks, "report_chunks"},
        {ROAST_TOLD_runner_calls, "runner_calls"},
        {ROAST_TOLD_runner_failures, "runner_failures"},
    };

    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        int status = tell_fact(draft, sink, facts[i].number, facts[i].fact, err);
        if (status < 0)
            return status;
    }
    /* those of records are counted from them */
    double errors =
        draft->numbers[ROAST_TOLD_monitor_errors] - draft->records.monitor_errors;
    int status = ROAST_OK;
    if (draft->known[ROAST_TOLD_monitor_errors] && errors >= 0)
        status = sink->fact(sink->context, "monitor_errors", errors, err);
    return status < 0 ? status : tell_span_facts(draft, sink, err);
}

/* ---- the span -------------------------------------------------------------------- */

static int64_t to_ns(double seconds)
{
    double whole = floor(seconds);

    return (int64_t)whole * 1000000000 + (int64_t)nearbyint((seconds - whole) * 1e9);
}

/* How long the block took. Metrics have it to the nanosecond, a difference of times of
 * the epoch has not. */
static int64_t elapsed_ns(const struct roast_metrics_draft *draft,
                          const struct roast_measurement_timing *timing)
{
    static const enum roast_told_number exact[] = {ROAST_TOLD_wall_time,
                                                   ROAST_TOLD_elapsed_time_seconds};
    double elapsed_s = timing->end_s - timing->start_s;

    for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
        if (draft->known[exact[i]] &&
            fabs(draft->numbers[exact[i]] - elapsed_s) <= 1e-6)
            return to_ns(draft->numbers[exact[i]]);
    }
    return elapsed_s > 0 ? to_ns(elapsed_s) : 0;
}

/* When a block began whose clock has no date. */
static int64_t place_start(const struct roast_metrics_draft *draft,
                           const struct roast_measurement_timing *timing,
                           int64_t took_ns)
{
    const struct roast_record_times *chunks = &draft->records.times;
    bool has_chunks = chunks->first_start_ns <= chunks->last_end_ns;
    int64_t first_ns, last_ns;

    if (roast__tracking_span(&draft->tracking, &first_ns, &last_ns)) {
        bool too_early = has_chunks && chunks->last_end_ns > first_ns + took_ns;
        return too_early ? chunks->last_end_ns - took_ns : first_ns;
    }
    if (has_chunks) {
        int64_t start_ns = chunks->last_end_ns - took_ns;
        return start_ns < chunks->first_start_ns ? start_ns : chunks->first_start_ns;
    }
    if (timing->saved_ns > took_ns)
        return timing->saved_ns - took_ns;
    return to_ns(timing->start_s);
}

static int tell_span(const struct roast_metrics_draft *draft,
                     const struct roast_measurement_timing *timing,
                     const struct roast_measurement_sink *sink, roast_error *err)
{
    int64_t took_ns = elapsed_ns(draft, timing);
    int64_t start_ns = timing->start_s >= epoch_from_s
                           ? to_ns(timing->start_s)
                           : place_start(draft, timing, took_ns);

    return sink->span(sink->context, start_ns, start_ns + took_ns, err);
}

/* Only on its own host does a client sample processes, by their pid. */
static int tell_host(const struct roast_metrics_draft *draft,
                     const struct roast_measurement_sink *sink, roast_error *err)
{
    const struct roast_name_set *workers = &draft->tracking.workers;
    const struct roast_buf *host = &draft->records.host;
    bool local = false;

    for (size_t i = 0; i < roast__name_set_count(workers) && !local; i++) {
        struct roast_str name = roast__name_set_get(workers, i);
        local = name.size_bytes > 4 && memcmp(name.data, "pid-", 4) == 0;
    }
    if (!local || !draft->is_ours || draft->records.many_hosts || host->size_bytes == 0)
        return ROAST_OK;
    return sink->host(sink->context,
                      (struct roast_str){(const char *)host->data, host->size_bytes},
                      err);
}

/* ---- notes ----------------------------------------------------------------------- */

static int tell_labels(const struct roast_metrics_draft *draft,
                       const struct roast_measurement_sink *sink, roast_error *err)
{
    const struct roast_label *labels = (const void *)draft->labels.data;
    size_t count = draft->labels.size_bytes / sizeof(*labels);

    for (size_t i = 0; i < count; i++) {
        int status = sink->note(sink->context, "label",
                                roast__texts_get(&draft->texts, labels[i].name),
                                roast__texts_get(&draft->texts, labels[i].text), err);
        if (status < 0)
            return status;
    }
    return ROAST_OK;
}

/* Adds `"key": made` to the document, in brackets where it is only what belongs there. */
static void add_made(struct roast_json_copy *document, const char *key,
                     const struct roast_buf *made, bool in_brackets)
{
    struct roast_buf *out = &document->out;
    size_t room = made->size_bytes + strlen(key) + 8;

    if (made->size_bytes == 0)
        return;
    if (out->size_bytes + room > document->max_bytes) {
        document->left_out++;
        return;
    }
    roast__json_room(out, room);
    if (out->size_bytes > 0)
        roast__buf_put(out, ",", 1);
    roast__buf_put(out, "\"", 1);
    roast__buf_put(out, key, strlen(key));
    roast__buf_put(out, "\":", 2);
    if (in_brackets)
        roast__buf_put(out, "{", 1);
    roast__buf_put(out, made->data, made->size_bytes);
    if (in_brackets)
        roast__buf_put(out, "}", 1);
}

static int tell_document(struct roast_metrics_draft *draft,
                         const struct roast_measurement_sink *sink, roast_error *err)
{
    struct roast_buf *out = &draft->rest.out;

    if (draft->records.records == 0)
        add_made(&draft->rest, "chunk_info", &draft->chunk_info.out, false);
    add_made(&draft->rest, "tracking_data", &draft->tracking_rest.out, true);
    if (out->size_bytes == 0)
        return ROAST_OK;
    roast__json_room(out, 2);
    if (!roast__buf_ok(out))
        return roast_error_set(err, ROAST_NO_MEMORY, "a document");
    memmove(out->data + 1, out->data, out->size_bytes);
    out->data[0] = '{';
    out->data[out->size_bytes + 1] = '}';
    return sink->note(sink->context, "document", roast_str_of("imported_metrics"),
                      (struct roast_str){(const char *)out->data, out->size_bytes + 2},
                      err);
}

/* What users handed over, under the names that the front knows. */
static int tell_handed(const struct roast_metrics_draft *draft,
                       const struct roast_measurement_sink *sink, roast_error *err)
{
    const struct {
        const char *name;
        const struct roast_buf *made;
    } documents[] = {
        {"custom_metrics", &draft->custom.out},
        {"sections 0", &draft->sections.out},
    };

    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        const struct roast_buf *made = documents[i].made;
        if (made->size_bytes <= 2) /* nothing in it */
            continue;
        int status = sink->note(
            sink->context, "document", roast_str_of(documents[i].name),
            (struct roast_str){(const char *)made->data, made->size_bytes}, err);
        if (status < 0)
            return status;
    }
    return ROAST_OK;
}

static int tell_number(const struct roast_measurement_sink *sink, const char *name,
                       uint64_t number, roast_error *err)
{
    char text[24];

    if (number == 0)
        return ROAST_OK;
    (void)snprintf(text, sizeof(text), "%" PRIu64, number);
    return sink->note(sink->context, "provenance", roast_str_of(name),
                      roast_str_of(text), err);
}

static int tell_notes(struct roast_metrics_draft *draft,
                      const struct roast_measurement_sink *sink, roast_error *err)
{
    struct roast_str first_error = roast__texts_get(&draft->texts, draft->first_error);
    int status = tell_labels(draft, sink, err);

    if (status >= 0 && first_error.size_bytes > 0)
        status = sink->note(sink->context, "run", roast_str_of("first_error"),
                            first_error, err);
    if (status >= 0)
        status = sink->note(
            sink->context, "provenance", roast_str_of("imported_layout"),
            roast_str_of(draft->is_ours ? "roastcoffea" : "roastcoffea 0.1.2"), err);
    if (status >= 0)
        status =
            tell_number(sink, "imported_replaced_characters", draft->replaced, err);
    if (status >= 0)
        status = tell_number(sink, "imported_nonfinite_as_null",
                             draft->rest.nonfinite + draft->tracking_rest.nonfinite +
                                 draft->custom.nonfinite + draft->sections.nonfinite,
                             err);
    if (status >= 0)
        status = tell_handed(draft, sink, err);
    return status < 0 ? status : tell_document(draft, sink, err);
}

/* ---- all ------------------------------------------------------------------------- */

int roast__metrics_tell(struct roast_metrics_draft *draft,
                        const struct roast_measurement_timing *timing,
                        const struct roast_measurement_sink *sink, roast_error *err)
{
    int status;

    roast__tracking_find_zone(&draft->tracking, draft->is_ours
                                                    ? INT64_MIN
                                                    : draft->records.times.last_end_ns);
    status = tell_span(draft, timing, sink, err);
    if (status >= 0)
        status = tell_facts(draft, sink, err);
    if (status >= 0)
        status = roast__tracking_tell(&draft->tracking, sink, err);
    if (status >= 0)
        status = tell_host(draft, sink, err);
    roast__tracking_release(&draft->tracking);
    if (status >= 0)
        status = tell_notes(draft, sink, err);
    uint64_t lost = draft->records.no_records + draft->tracking.unplaced +
                    draft->rest.left_out + draft->tracking_rest.left_out +
                    draft->chunk_info.left_out + draft->custom.left_out +
                    draft->sections.left_out;
    if (status >= 0 && lost > 0)
        status = sink->lost(sink->context, lost, err);
    return status < 0 ? status : ROAST_OK;
}

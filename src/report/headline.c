/* SPDX-License-Identifier: BSD-3-Clause */
/* headline.c - the first lines: what ran, whether it finished, how fast, and the phases
 * of the wall time.
 *
 * An unknown part is left out; "Not available" further down has the reason. */
#include <stdio.h>

#include "base/str.h"
#include "report/layout.h"

enum { PART_BYTES = 160, STATE_BYTES = 32 };

static void put_part(struct roast_wrapped_line *line, const char *text)
{
    roast__line_part(line, roast_str_of(text));
}

static void put_title(struct roast_buf *buf, const struct roast_heading *heading)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};

    roast__put(buf, ROAST_HEADING);
    put_part(&line, "roastcoffea");
    if (heading) {
        const struct roast_str parts[] = {heading->name, heading->started,
                                          heading->executor, heading->labels};
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            if (parts[i].data && parts[i].size_bytes > 0)
                roast__line_part(&line, parts[i]);
    }
    roast__line_end(&line);
    if (roast__buf_ok(buf)) {
        buf->size_bytes--; /* the newline goes behind the mark */
        roast__put(buf, ROAST_HEADING_END "\n");
    }
}

static bool is_finished(const struct roast_page_input *input)
{
    return !input->heading || !input->heading->incomplete;
}

static void put_state(struct roast_wrapped_line *line, struct roast_str word,
                      const struct roast_page_input *input)
{
    char upper[STATE_BYTES];
    double wall_s;

    word = roast_str_cut(word, STATE_BYTES - 1);
    for (size_t i = 0; i < word.size_bytes; i++) {
        char c = word.data[i];
        upper[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c ? c : '?');
    }
    upper[word.size_bytes] = '\0';
    if (!roast__metric(&wall_s, input, ROAST_METRIC_wall_time)) {
        if (*upper)
            put_part(line, upper);
        return;
    }
    const char *joint = is_finished(input) ? " in " : " after ";
    roast__line_format(line, "%s%s%s", upper, *upper ? joint : "",
                       roast_number(wall_s, "s").text);
}

/* A run on a cluster without coffea chunks. */
static void put_tasks(struct roast_wrapped_line *line,
                      const struct roast_page_input *input)
{
    const roast_table *table = input->tables[ROAST_TABLE_tasks_by_kind];
    double count = 0;

    for (size_t row = 0; row < roast_table_rows(table); row++) {
        if (!roast__str_is(roast__cell_text(table, row, ROAST_COL_tasks_by_kind_kind),
                           "foreign"))
            count += roast_table_number(table, row, ROAST_COL_tasks_by_kind_count);
    }
    if (count > 0)
        roast__line_format(line, "%s %s, no coffea chunks",
                           roast_number(count, "").text, count == 1 ? "task" : "tasks");
}

/* The total number of chunks is known only when a run has finished. */
static void put_chunks(struct roast_wrapped_line *line,
                       const struct roast_page_input *input)
{
    char done_text[ROAST_NUMBER_BYTES];
    char all_text[ROAST_NUMBER_BYTES];
    double done;
    double all;
    bool knows_done = roast__metric(&done, input, ROAST_METRIC_num_chunks_processed);
    bool knows_all = roast__metric(&all, input, ROAST_METRIC_num_chunks);

    const char *chunks = knows_done && done == 1 ? "chunk" : "chunks";

    if (!knows_done && !knows_all) {
        put_tasks(line, input);
        return;
    }
    (void)roast_format_number(done_text, knows_done ? done : all, "");
    (void)roast_format_number(all_text, knows_all ? all : done, "");
    if (knows_done && knows_all && is_finished(input))
        roast__line_format(line, "%s/%s chunks", done_text, all_text);
    else if (knows_done && knows_all && all > done)
        roast__line_format(line, "%s %s done, %s tried and not done", done_text, chunks,
                           roast_number(all - done, "").text);
    else if (knows_done && !is_finished(input))
        roast__line_format(line, "%s %s done", done_text, chunks);
    else
        roast__line_format(line, "%s chunks", all_text);
}

static void put_problem_counts(struct roast_wrapped_line *line,
                               const struct roast_page_input *input)
{
    static const struct {
        enum roast_term singular;
        enum roast_term plural;
        enum roast_metric metric;
        bool show_zero;
    } problems[] = {
        {ROAST_TERM_retried, ROAST_TERM_retried, ROAST_METRIC_num_retried_chunks, true},
        {ROAST_TERM_failed, ROAST_TERM_failed, ROAST_METRIC_num_failed_chunks, true},
        {ROAST_TERM_lost, ROAST_TERM_lost, ROAST_METRIC_num_lost_chunks, false},
        {ROAST_TERM_running, ROAST_TERM_running, ROAST_METRIC_num_running_chunks,
         false},
        {ROAST_TERM_worker_lost, ROAST_TERM_workers_lost, ROAST_METRIC_num_lost_workers,
         false},
    };
    char part[PART_BYTES] = "";

    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        size_t used = strlen(part);
        double count;
        if (!roast__metric(&count, input, problems[i].metric) ||
            (count == 0 && !problems[i].show_zero))
            continue;
        (void)snprintf(
            part + used, sizeof(part) - used, "%s%s %s", used ? ", " : "",
            roast_number(count, "").text,
            roast__term(count == 1 ? problems[i].singular : problems[i].plural));
    }
    if (*part)
        put_part(line, part);
}

static void put_state_line(struct roast_buf *buf, const struct roast_page_input *input)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};
    struct roast_str word = {NULL, 0};
    struct roast_str detail = {NULL, 0};
    double events;
    double files;

    /* "failed: OSError ..." is the word "failed" and a detail */
    if (input->heading && input->heading->state.data) {
        word = input->heading->state;
        const char *colon = memchr(word.data, ':', word.size_bytes);
        if (colon) {
            size_t size = (size_t)(colon - word.data);
            detail = (struct roast_str){colon + 1, word.size_bytes - size - 1};
            word.size_bytes = size;
        }
        while (detail.size_bytes > 0 && *detail.data == ' ') {
            detail.data++;
            detail.size_bytes--;
        }
    }
    put_state(&line, word, input);
    if (roast__metric(&events, input, ROAST_METRIC_total_events))
        roast__line_format(&line, "%s events", roast_number(events, "").text);
    put_chunks(&line, input);
    /* their chunks are missing from the count of all chunks */
    if (roast__metric(&files, input, ROAST_METRIC_num_failed_files) && files != 0)
        roast__line_format(
            &line, "%s %s", roast_number(files, "").text,
            roast__term(files == 1 ? ROAST_TERM_failed_file : ROAST_TERM_failed_files));
    put_problem_counts(&line, input);
    if (line.parts == 0)
        put_part(&line, "nothing was measured");
    roast__line_end(&line);
    if (detail.size_bytes > 0) {
        roast__put(buf, "  ");
        (void)roast__put_text(buf, detail, ROAST_PAGE_COLUMNS - 2, ROAST_CUT_END);
        roast__end_line(buf);
    }
}

static void put_data_part(struct roast_wrapped_line *line,
                          const struct roast_page_input *input)
{
    char rate[ROAST_NUMBER_BYTES];
    char best[ROAST_NUMBER_BYTES];
    double bytes, value;

    if (!roast__metric(&bytes, input, ROAST_METRIC_total_bytes_read))
        return;
    if (!roast__metric(&value, input, ROAST_METRIC_data_rate_gbps)) {
        put_part(line, roast_number(bytes, "B").text);
        return;
    }
    (void)roast_format_number(rate, value, "Gbit/s");
    if (!roast__metric(&value, input, ROAST_METRIC_data_rate_gbps_best_10s)) {
        roast__line_format(line, "%s, %s", roast_number(bytes, "B").text, rate);
        return;
    }
    (void)roast_format_number(best, value, "Gbit/s");
    roast__line_format(line, "%s, %s (%s: %s)", roast_number(bytes, "B").text, rate,
                       roast__term(ROAST_TERM_best_10s), best);
}

static void put_rate_line(struct roast_buf *buf, const struct roast_page_input *input)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};
    char number[ROAST_NUMBER_BYTES];
    double rate_khz;
    double per_thread_hz;

    if (roast__metric(&rate_khz, input, ROAST_METRIC_event_rate_wall_khz)) {
        (void)roast__format_metric(number, ROAST_METRIC_event_rate_wall_khz, rate_khz);
        if (roast__metric(&per_thread_hz, input, ROAST_METRIC_event_rate_core_hz))
            roast__line_format(&line, "%s (%s/%s)", number,
                               roast_number(per_thread_hz, "Hz").text,
                               roast__term(ROAST_TERM_per_thread));
        else
            put_part(&line, number);
    }
    put_data_part(&line, input);
    roast__line_end(&line);
}

static void put_wall_line(struct roast_buf *buf, const struct roast_page_input *input)
{
    static const struct {
        int col;
        enum roast_term label;
    } phases[] = {
        {ROAST_COL_wall_account_client, ROAST_TERM_wall_client},
        {ROAST_COL_wall_account_preprocess, ROAST_TERM_wall_preprocess},
        {ROAST_COL_wall_account_wait_first_worker, ROAST_TERM_wall_wait},
        {ROAST_COL_wall_account_chunks, ROAST_TERM_wall_chunks},
        {ROAST_COL_wall_account_tail, ROAST_TERM_wall_tail},
        {ROAST_COL_wall_account_merge, ROAST_TERM_wall_merge},
    };
    const roast_table *wall = input->tables[ROAST_TABLE_wall_account];
    struct roast_wrapped_line line = {.buf = buf, .indent = 6, .columns = 6};

    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        double seconds = roast_table_number(wall, 0, phases[i].col);
        if (!(seconds > 0))
            continue;
        if (line.parts == 0) {
            roast__put(buf, roast__term(ROAST_TERM_wall));
            roast__put(buf, "  ");
        }
        roast__line_format(&line, "%s %s", roast_number(seconds, "s").text,
                           roast__term(phases[i].label));
    }
    roast__line_end(&line);
}

void roast__put_headline(struct roast_buf *buf, const struct roast_page_input *input)
{
    put_title(buf, input->heading);
    put_state_line(buf, input);
    put_rate_line(buf, input);
    put_wall_line(buf, input);
}

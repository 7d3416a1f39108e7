/* SPDX-License-Identifier: BSD-3-Clause */
/* headline.c - the first lines: what ran, did it finish, how fast, where the time went.
 *
 * A part that is not known is left out; "Not available" further down has the reason. */
#include <stdio.h>

#include "base/str.h"
#include "report/blocks.h"

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
        buf->size_bytes--; /* the end of the line goes behind the mark */
        roast__put(buf, ROAST_HEADING_END "\n");
    }
}

/* "failed: OSError ..." is the word "failed" and a detail. */
static void split_state(struct roast_str *word, struct roast_str *detail,
                        struct roast_str state)
{
    const char *colon = state.data ? memchr(state.data, ':', state.size_bytes) : NULL;
    size_t word_bytes = colon ? (size_t)(colon - state.data) : state.size_bytes;

    *word = (struct roast_str){state.data, state.data ? word_bytes : 0};
    *detail = (struct roast_str){NULL, 0};
    if (!colon)
        return;
    detail->data = colon + 1;
    detail->size_bytes = state.size_bytes - word_bytes - 1;
    while (detail->size_bytes > 0 && *detail->data == ' ') {
        detail->data++;
        detail->size_bytes--;
    }
}

static bool is_finished(const struct roast_shown *shown)
{
    return !shown->heading || !shown->heading->incomplete;
}

static void put_state(struct roast_wrapped_line *line, struct roast_str word,
                      const struct roast_shown *shown)
{
    char upper[STATE_BYTES];
    double wall_s;

    word = roast_str_cut(word, STATE_BYTES - 1);
    for (size_t i = 0; i < word.size_bytes; i++) {
        char c = word.data[i];
        upper[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c ? c : '?');
    }
    upper[word.size_bytes] = '\0';
    if (!roast__metric(&wall_s, shown, ROAST_METRIC_wall_time)) {
        if (*upper)
            put_part(line, upper);
        return;
    }
    const char *joint = is_finished(shown) ? " in " : " after ";
    roast__line_format(line, "%s%s%s", upper, *upper ? joint : "",
                       roast__number(wall_s, "s").text);
}

/* Work on a cluster that is not coffea's. */
static void put_tasks(struct roast_wrapped_line *line, const struct roast_shown *shown)
{
    const roast_table *table = shown->tables[ROAST_TABLE_tasks_by_kind];
    double count = 0;

    for (size_t row = 0; table && row < roast_table_rows(table); row++) {
        if (!roast__str_is(
                roast__text_or(
                    roast_table_text(table, row, ROAST_COL_tasks_by_kind_kind), ""),
                "foreign"))
            count += roast_table_number(table, row, ROAST_COL_tasks_by_kind_count);
    }
    if (!(count > 0))
        return;
    roast__line_format(line, "%s %s, no coffea chunks", roast__number(count, "").text,
                       count == 1 ? "task" : "tasks");
}

/* How many there are to be is known only when a run has finished. */
static void put_chunks(struct roast_wrapped_line *line, const struct roast_shown *shown)
{
    char done_text[ROAST_NUMBER_BYTES];
    char all_text[ROAST_NUMBER_BYTES];
    double done;
    double all;
    bool knows_done = roast__metric(&done, shown, ROAST_METRIC_num_chunks_processed);
    bool knows_all = roast__metric(&all, shown, ROAST_METRIC_num_chunks);

    const char *chunks = knows_done && done == 1 ? "chunk" : "chunks";

    if (!knows_done && !knows_all) {
        put_tasks(line, shown);
        return;
    }
    (void)roast_format_number(done_text, knows_done ? done : all, "");
    (void)roast_format_number(all_text, knows_all ? all : done, "");
    if (knows_done && knows_all && is_finished(shown))
        roast__line_format(line, "%s/%s chunks", done_text, all_text);
    else if (knows_done && knows_all && all > done)
        roast__line_format(line, "%s %s done, %s tried and not done", done_text, chunks,
                           roast__number(all - done, "").text);
    else if (knows_done && !is_finished(shown))
        roast__line_format(line, "%s %s done", done_text, chunks);
    else
        roast__line_format(line, "%s chunks", all_text);
}

static void put_trouble(struct roast_wrapped_line *line,
                        const struct roast_shown *shown)
{
    static const struct {
        const char *of_one;
        const char *of_many;
        enum roast_metric metric;
        bool even_none;
    } troubles[] = {
        {"retried", "retried", ROAST_METRIC_num_retried_chunks, true},
        {"failed", "failed", ROAST_METRIC_num_failed_chunks, true},
        {"lost", "lost", ROAST_METRIC_num_lost_chunks, false},
        {"running", "running", ROAST_METRIC_num_running_chunks, false},
        {"worker lost", "workers lost", ROAST_METRIC_num_lost_workers, false},
    };
    char part[PART_BYTES] = "";

    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        size_t used = strlen(part);
        double count;
        if (!roast__metric(&count, shown, troubles[i].metric) ||
            (count == 0 && !troubles[i].even_none))
            continue;
        (void)snprintf(part + used, sizeof(part) - used, "%s%s %s", used ? ", " : "",
                       roast__number(count, "").text,
                       count == 1 ? troubles[i].of_one : troubles[i].of_many);
    }
    if (*part)
        put_part(line, part);
}

static void put_state_line(struct roast_buf *buf, const struct roast_shown *shown)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};
    struct roast_str state = {NULL, 0};
    struct roast_str word;
    struct roast_str detail;
    double events;
    double files;

    if (shown->heading)
        state = shown->heading->state;
    split_state(&word, &detail, state);
    put_state(&line, word, shown);
    if (roast__metric(&events, shown, ROAST_METRIC_total_events))
        roast__line_format(&line, "%s events", roast__number(events, "").text);
    put_chunks(&line, shown);
    /* their chunks are missing from the count of all chunks */
    if (roast__metric(&files, shown, ROAST_METRIC_num_failed_files) && files != 0)
        roast__line_format(&line, "%s %s failed before %s first chunk",
                           roast__number(files, "").text, files == 1 ? "file" : "files",
                           files == 1 ? "its" : "their");
    put_trouble(&line, shown);
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
                          const struct roast_shown *shown)
{
    char part[PART_BYTES];
    char bytes[ROAST_NUMBER_BYTES];
    char rate[ROAST_NUMBER_BYTES];
    char best[ROAST_NUMBER_BYTES];
    double value;

    if (!roast__metric(&value, shown, ROAST_METRIC_total_bytes_read))
        return;
    (void)roast_format_number(bytes, value, "B");
    if (!roast__metric(&value, shown, ROAST_METRIC_data_rate_gbps)) {
        put_part(line, bytes);
        return;
    }
    (void)roast_format_number(rate, value, "Gbit/s");
    (void)snprintf(part, sizeof(part), "%s, %s", bytes, rate);
    if (roast__metric(&value, shown, ROAST_METRIC_data_rate_gbps_best_10s)) {
        size_t used = strlen(part);
        (void)roast_format_number(best, value, "Gbit/s");
        /* a unit that both numbers share is written once */
        char *unit = strchr(best, ' ');
        const char *other_unit = strchr(rate, ' ');
        if (unit && other_unit && strcmp(unit, other_unit) == 0)
            *unit = '\0';
        (void)snprintf(part + used, sizeof(part) - used, " (best 10 s: %s)", best);
    }
    put_part(line, part);
}

static void put_rate_line(struct roast_buf *buf, const struct roast_shown *shown)
{
    struct roast_wrapped_line line = {.buf = buf, .indent = 2};
    char number[ROAST_NUMBER_BYTES];
    double rate_khz;
    double per_thread_hz;

    if (roast__metric(&rate_khz, shown, ROAST_METRIC_event_rate_wall_khz)) {
        (void)roast__format_metric(number, ROAST_METRIC_event_rate_wall_khz, rate_khz);
        if (roast__metric(&per_thread_hz, shown, ROAST_METRIC_event_rate_core_hz))
            roast__line_format(&line, "%s (%s/thread)", number,
                               roast__number(per_thread_hz, "Hz").text);
        else
            put_part(&line, number);
    }
    put_data_part(&line, shown);
    roast__line_end(&line);
}

static void put_wall_line(struct roast_buf *buf, const struct roast_shown *shown)
{
    static const struct {
        int col;
        const char *words;
    } phases[] = {
        {ROAST_COL_wall_account_client, "client"},
        {ROAST_COL_wall_account_preprocess, "preprocessing"},
        {ROAST_COL_wall_account_wait_first_worker, "waiting for workers"},
        {ROAST_COL_wall_account_chunks, "chunks"},
        {ROAST_COL_wall_account_tail, "tail"},
        {ROAST_COL_wall_account_merge, "merge"},
    };
    const roast_table *wall = shown->tables[ROAST_TABLE_wall_account];
    struct roast_wrapped_line line = {.buf = buf, .indent = 6, .columns = 6};

    if (!wall || roast_table_rows(wall) == 0)
        return;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        double seconds = roast_table_number(wall, 0, phases[i].col);
        if (!(seconds > 0))
            continue;
        if (line.parts == 0)
            roast__put(buf, "WALL  ");
        roast__line_format(&line, "%s %s", roast__number(seconds, "s").text,
                           phases[i].words);
    }
    roast__line_end(&line);
}

void roast__put_headline(struct roast_buf *buf, const struct roast_shown *shown)
{
    put_title(buf, shown->heading);
    put_state_line(buf, shown);
    put_rate_line(buf, shown);
    put_wall_line(buf, shown);
}

void roast__put_first_screen(struct roast_buf *buf, const struct roast_shown *shown)
{
    roast__put_headline(buf, shown);
    roast__put_findings_section(buf, shown);
    roast__put_budget_section(buf, shown);
    roast__put_checks(buf, shown);
}

int roast__report_headline(struct roast_page *out, const struct roast_shown *shown,
                           roast_error *err)
{
    struct roast_buf buf = {0};

    roast__put_headline(&buf, shown);
    return roast__page_finish(out, &buf, err);
}

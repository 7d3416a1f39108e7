/* SPDX-License-Identifier: BSD-3-Clause */
/* load_small.c - what every run has: its clocks, facts, losses and notes. */
#include <math.h>

#include "file/sqlite/load.h"
#include "file/sqlite/schema.h"

enum { MOST_NOTES = 10000, LONGEST_NOTE_NAME_BYTES = 256 };

/* ---- the row of the run ------------------------------------------------------------ */

static int64_t run_int(const struct roast_checked *in, enum roast_run_column column,
                       int64_t otherwise)
{
    int at = roast__checked_column(in, roast__run_column_name(column));

    if (at < 0 || sqlite3_column_type(in->select, at) != SQLITE_INTEGER)
        return otherwise;
    return sqlite3_column_int64(in->select, at);
}

static void read_first_error(struct roast_run *run, const struct roast_checked *in)
{
    int at = roast__checked_column(in, roast__run_column_name(ROAST_RUN_first_error));
    struct roast_str text = {NULL, 0};

    if (at >= 0)
        text = roast_str_cut(roast__sql_text(in->select, at),
                             sizeof(run->first_error) - 1);
    if (text.size_bytes > 0)
        memcpy(run->first_error, text.data, text.size_bytes);
}

/* What points into tables is set when those are there. */
static void read_run(struct roast_run *run, const struct roast_checked *in)
{
    int64_t budget = run_int(in, ROAST_RUN_budget_bytes, ROAST_BUDGET_BYTES);

    run->start_ns = run_int(in, ROAST_RUN_start_ns, 0);
    run->end_ns = run_int(in, ROAST_RUN_end_ns, 0);
    run->epoch_minus_mono_ns = run_int(in, ROAST_RUN_epoch_minus_mono_ns, 0);
    run->budget_bytes = budget > 0 ? (size_t)budget : 0;
    run->attempts.fields = (uint64_t)run_int(in, ROAST_RUN_fields, 0) &
                           ((UINT64_C(1) << ROAST_FIELD_COUNT) - 1);
    run->attempts.handmade_count = (uint32_t)run_int(in, ROAST_RUN_handmade_count, 0);
    read_first_error(run, in);
}

static int load_run(struct roast_loading *loading, roast_error *err)
{
    struct roast_checked in;
    int status = roast__checked_open(&in, loading->db, "run", err);

    if (status == ROAST_OK)
        status = roast__checked_next(&in, err);
    if (status > 0)
        read_run(loading->run, &in);
    else if (status == 0)
        status =
            roast_error_set(err, ROAST_BAD_CHECKSUM, "the row of the run is damaged");
    roast__checked_close(&in);
    return status < 0 ? status : ROAST_OK;
}

/* ---- facts, counters, notes -------------------------------------------------------- */

static struct roast_str text_at(const struct roast_checked *in, const char *column)
{
    int at = roast__checked_column(in, column);

    return at >= 0 ? roast__sql_text(in->select, at) : (struct roast_str){NULL, 0};
}

static bool is(struct roast_str text, const char *name)
{
    return text.data && text.size_bytes == strlen(name) &&
           memcmp(text.data, name, text.size_bytes) == 0;
}

static int take_fact(struct roast_loading *loading, const struct roast_checked *in,
                     roast_error *err)
{
    struct roast_str name = text_at(in, "name");
    int at = roast__checked_column(in, "value");
    double value = at >= 0 ? sqlite3_column_double(in->select, at) : NAN;

    (void)err;
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (!is(name, roast_fact_name((enum roast_fact)i)) || !isfinite(value))
            continue;
        loading->run->facts[i] = value;
        loading->run->fact_known[i] = true;
    }
    return ROAST_OK;
}

static int take_counter(struct roast_loading *loading, const struct roast_checked *in,
                        roast_error *err)
{
    struct roast_str name = text_at(in, "name");
    int at = roast__checked_column(in, "value");

    (void)err;
    for (int i = 0; at >= 0 && i < ROAST_RUN_LOSS_COUNT; i++) {
        if (is(name, roast_run_loss_name((enum roast_run_loss)i)))
            roast__run_lose(loading->run, (enum roast_run_loss)i,
                            (uint64_t)sqlite3_column_int64(in->select, at));
    }
    return ROAST_OK;
}

static int take_note(struct roast_loading *loading, const struct roast_checked *in,
                     roast_error *err)
{
    struct roast_notes *notes = &loading->run->notes;
    struct roast_str kind = text_at(in, "kind"), name = text_at(in, "name");
    struct roast_str text = text_at(in, "text");
    int group = 0;

    while (group < ROAST_NOTE_GROUP_COUNT &&
           !is(kind, roast_note_group_name((enum roast_note_group)group)))
        group++;
    if (group == ROAST_NOTE_GROUP_COUNT)
        return ROAST_OK; /* of a later version */
    if (!name.data || !text.data || name.size_bytes > LONGEST_NOTE_NAME_BYTES ||
        notes->count >= MOST_NOTES) {
        roast__loading_miss(loading, 1, "note");
        return ROAST_OK;
    }
    if (!roast__notes_set(notes, (enum roast_note_group)group, name, text))
        return roast_error_set(err, ROAST_NO_MEMORY, "a note");
    return ROAST_OK;
}

/* ---- all --------------------------------------------------------------------------- */

static int load_small(struct roast_loading *loading, roast_error *err)
{
    int status = load_run(loading, err);

    if (status == ROAST_OK)
        status = roast__load_table(loading, "facts", take_fact, err);
    if (status == ROAST_OK)
        status = roast__load_table(loading, "counters", take_counter, err);
    if (status == ROAST_OK)
        status = roast__load_table(loading, "notes", take_note, err);
    if (status == ROAST_OK)
        status = roast__load_times(loading, err);
    return status;
}

int roast__load_small(roast_run **out, struct roast_loading *loading, roast_error *err)
{
    roast_run *run = NULL;
    int status = roast_run_new(&run, 0, 0, err);

    *out = NULL;
    if (status < 0)
        return status;
    loading->run = run;
    status = load_small(loading, err);
    if (status < 0) {
        roast_run_free(run);
        loading->run = NULL;
        return status;
    }
    *out = run;
    return ROAST_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* failed_fileset.c - the files to run again, as a fileset for coffea's Runner.
 *
 * The Runner returns one output for all its chunks, at its end. Without an output the
 * successful chunks are lost too: all files must run again. Otherwise a file must run
 * again if a range of its entries was never successful. If an exception came with the
 * output, so must the files of the user's fileset without any successful range, and files
 * with fewer successful entries than they have. A range may be successful in any call of
 * the Runner, and an entry counts once. */
#include <stdlib.h>
#include <string.h>

#include "analyze/calls.h"
#include "analyze/rerun/fileset.h"
#include "analyze/roles.h"
#include "base/mem.h"
#include "roast/analyze.h"
#include "roast/ladder.h"
#include "run/cold_fields.h"
#include "run/run.h"

/* The state of a source, which is a file of a dataset. */
struct source_state {
    bool unfinished; /* a range failed, was lost or is open, and was never successful */
    bool failed;     /* one of these failed or was lost */
    bool succeeded;  /* some range was successful */
    bool has_entries;
    uint64_t entries; /* of the tree */
    uint64_t done;    /* successful entries; if needs_ranges() */
};

/* A successful range of entries. */
struct range {
    int32_t source;
    int64_t start;
    int64_t stop;
};

struct search {
    struct roast_run *run;
    struct roast_roles roles;
    bool with_exception;         /* an exception came with the output */
    bool open_is_failed;         /* attempts without an end are not in an output */
    struct source_state *states; /* owned, by source */
    struct range *done;          /* owned, sorted; of sources that needs_ranges() */
    size_t done_count;
    struct roast_rerun rerun;
};

static bool was_successful(const struct search *search, size_t row)
{
    unsigned role = search->roles.of_row[row];

    return role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE ||
           role == ROAST_ROLE_REPEAT;
}

/* Whether an attempt failed and no other one of its call was successful. */
static bool is_unresolved(const struct search *search, size_t row)
{
    unsigned role = search->roles.of_row[row];

    if (roast__roles_resolved(&search->roles, search->run, row))
        return false;
    return role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST ||
           role == ROAST_ROLE_CANCELLED ||
           (role == ROAST_ROLE_OPEN && search->open_is_failed);
}

static struct range range_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;

    return (struct range){
        attempts->source[row],
        roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1),
        roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1)};
}

/* ---- successful ranges -------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;

    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->stop > right->stop) - (left->stop < right->stop);
}

/* Sources with failures, which a later call may have resolved, and those that may be
 * done in part. */
static bool needs_ranges(const struct search *search, int32_t source)
{
    const struct source_state *state = &search->states[source];

    return state->unfinished || (search->with_exception && state->has_entries);
}

static bool collect_done(struct search *search)
{
    const struct roast_attempts *attempts = &search->run->attempts;
    size_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < attempts->count; row++) {
            int32_t source = attempts->source[row];
            if (source < 0 || !needs_ranges(search, source) ||
                !was_successful(search, row))
                continue;
            if (pass == 0)
                count++;
            else
                search->done[search->done_count++] = range_of(attempts, row);
        }
        if (pass == 0 && count > 0) {
            search->done = roast__alloc(count * sizeof(*search->done));
            if (!search->done)
                return false;
        }
    }
    if (count > 0)
        qsort(search->done, count, sizeof(*search->done), compare_ranges);
    return true;
}

/* Ranges may overlap: calls may use different chunk sizes. */
static void count_done(struct search *search)
{
    int32_t source = -1;
    int64_t end = 0; /* of the ranges counted so far */

    for (size_t i = 0; i < search->done_count; i++) {
        const struct range *range = &search->done[i];
        if (range->source != source) {
            source = range->source;
            end = 0;
        }
        if (range->start < 0 || range->stop <= end)
            continue;
        int64_t start = range->start > end ? range->start : end;
        search->states[source].done += (uint64_t)(range->stop - start);
        end = range->stop;
    }
}

/* ---- sources ------------------------------------------------------------------ */

static bool is_running(const struct search *search, size_t row)
{
    return search->roles.of_row[row] == ROAST_ROLE_OPEN;
}

static void count_unnamed(struct search *search, bool running)
{
    if (running)
        search->rerun.unnamed_running++;
    else
        search->rerun.unnamed_failed++;
}

/* The number of entries of the tree, if a record has it. */
static void read_entries(const struct search *search, struct source_state *state,
                         size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct roast_file_facts facts;
    roast_record rec;

    if (roast__attempt_record(search->run, row, &rec, identity) &&
        roast_record_has(&rec, ROAST_FIELD_file_facts) &&
        roast_file_facts_read(&facts, rec.values[ROAST_FIELD_file_facts].str, NULL) ==
            ROAST_OK &&
        facts.entries > 0) {
        state->has_entries = true;
        state->entries = facts.entries;
    }
}

static void find_states(struct search *search)
{
    const struct roast_attempts *attempts = &search->run->attempts;

    for (size_t row = 0; row < attempts->count; row++) {
        int32_t source = attempts->source[row];
        bool wanted = search->rerun.everything || is_unresolved(search, row);
        if (source < 0 && wanted)
            count_unnamed(search, is_running(search, row));
        else if (source < 0)
            continue;
        else if (was_successful(search, row)) {
            if (search->with_exception && !search->states[source].has_entries)
                read_entries(search, &search->states[source], row);
            search->states[source].succeeded = true;
        } else if (is_unresolved(search, row))
            search->states[source].unfinished = true;
    }
}

/* ---- the fileset -------------------------------------------------------------- */

static struct roast_str text_of(const struct search *search, int32_t id)
{
    return roast__strings_get(&search->run->strings, id);
}

static bool holds(const struct roast_fileset *sorted, const struct roast_str names[2])
{
    size_t low = 0;
    size_t high = sorted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct roast_fileset_file *file = &sorted->files[middle];
        const struct roast_str here[2] = {roast__fileset_text(sorted, file->dataset),
                                          roast__fileset_text(sorted, file->file)};
        int order = roast__fileset_compare(here, names);
        if (order == 0)
            return true;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

/* The tree of the run, if all its files have the same one; else absent. */
static struct roast_str only_tree(const struct search *search)
{
    const struct roast_attempts *attempts = &search->run->attempts;
    int32_t tree = ROAST_NO_STRING;

    for (size_t i = 0; i < attempts->source_count; i++) {
        int32_t other = attempts->sources[i].tree;
        if (other == ROAST_NO_STRING)
            continue;
        if (tree != ROAST_NO_STRING && tree != other)
            return (struct roast_str){NULL, 0};
        tree = other;
    }
    return text_of(search, tree);
}

/* Adds files of the user's fileset without a successful range, or all of them. */
static void add_given(struct roast_fileset *wanted, const struct roast_fileset *given,
                      const struct search *search)
{
    struct roast_fileset succeeded = {0};
    struct roast_str common_tree = only_tree(search);

    const struct roast_attempts *attempts = &search->run->attempts;
    for (size_t i = 0; i < attempts->source_count; i++) {
        const struct roast_source *source = &attempts->sources[i];
        struct roast_str dataset = text_of(search, source->dataset);
        if (search->states[i].succeeded && dataset.data)
            roast__fileset_add(&succeeded, roast__fileset_keep(&succeeded, dataset),
                               text_of(search, source->file),
                               (struct roast_str){NULL, 0});
    }
    roast__fileset_sort(&succeeded);
    for (size_t i = 0; i < given->count && !succeeded.failed; i++) {
        const struct roast_fileset_file *file = &given->files[i];
        const struct roast_str names[2] = {roast__fileset_text(given, file->dataset),
                                           roast__fileset_text(given, file->file)};
        struct roast_str tree = roast__fileset_text(given, file->tree);
        if (search->rerun.everything || !holds(&succeeded, names))
            roast__fileset_add(wanted, roast__fileset_keep(wanted, names[0]), names[1],
                               tree.data ? tree : common_tree);
    }
    wanted->failed = wanted->failed || succeeded.failed;
    roast__fileset_release(&succeeded);
}

/* ---- the run ------------------------------------------------------------------ */

/* An output with an exception may lack successful chunks that were not merged yet. */
static bool lacks_chunks(const struct search *search)
{
    const struct roast_run *run = search->run;

    return run->fact_known[ROAST_FACT_processed_chunks] &&
           run->facts[ROAST_FACT_processed_chunks] <
               (double)search->roles.successful_chunks;
}

static void read_outcome(struct search *search)
{
    enum roast_returned returned = roast__run_returned(search->run);

    search->with_exception = returned == ROAST_RETURNED_PART;
    search->open_is_failed = search->run->end_ns == 0 || returned != ROAST_RETURNED_ALL;
    search->rerun.everything = returned == ROAST_RETURNED_NOTHING ||
                               (search->with_exception && lacks_chunks(search));
}

static int find_unfinished(struct search *search, roast_error *err)
{
    struct roast_run *run = search->run;
    int status = roast__roles_find(&search->roles, run, err);

    if (status < 0)
        return status;
    read_outcome(search);
    search->states =
        roast__alloc((run->attempts.source_count + 1) * sizeof(struct source_state));
    if (!search->states)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu files",
                               run->attempts.source_count);
    find_states(search);
    if (!collect_done(search))
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu attempts",
                               run->attempts.count);
    count_done(search);
    /* A source is unfinished only if one of its ranges was never successful. */
    const struct roast_attempts *attempts = &search->run->attempts;
    for (size_t i = 0; i < attempts->source_count; i++)
        search->states[i].unfinished = false;
    for (size_t row = 0; row < attempts->count; row++) {
        struct range range = range_of(attempts, row);
        if (range.source < 0 || !is_unresolved(search, row) ||
            (search->done_count > 0 && bsearch(&range, search->done, search->done_count,
                                               sizeof(range), compare_ranges) != NULL))
            continue;
        search->states[range.source].unfinished = true;
        if (!is_running(search, row))
            search->states[range.source].failed = true;
    }
    return ROAST_OK;
}

static int make(struct roast_buf *out, struct search *search, roast_error *err)
{
    struct roast_str document = roast__notes_get(
        &search->run->notes, ROAST_NOTES_document, roast_str_of("fileset"));
    struct roast_fileset wanted = {0}, given = {0};
    int status = find_unfinished(search, err);

    if (status == ROAST_OK && document.data &&
        roast__fileset_read(&given, document, err) == ROAST_NO_MEMORY)
        status = ROAST_NO_MEMORY; /* a damaged note counts as absent */
    if (status == ROAST_OK) {
        const struct roast_attempts *attempts = &search->run->attempts;
        for (size_t i = 0; i < attempts->source_count; i++) {
            const struct roast_source *source = &attempts->sources[i];
            struct roast_str dataset = text_of(search, source->dataset);
            struct roast_str file = text_of(search, source->file);
            const struct source_state *state = &search->states[i];
            bool is_partial = search->with_exception && state->succeeded &&
                              state->has_entries && state->done < state->entries;
            if (!(search->rerun.everything || state->unfinished || is_partial))
                continue;
            if (dataset.data && file.data)
                roast__fileset_add(&wanted, roast__fileset_keep(&wanted, dataset), file,
                                   text_of(search, source->tree));
            else
                count_unnamed(search, search->states[i].unfinished &&
                                          !search->states[i].failed);
        }
        if (search->with_exception || search->rerun.everything)
            add_given(&wanted, &given, search);
        search->rerun.fileset_known = given.count > 0;
        roast__fileset_sort(&given);
        roast__fileset_sort(&wanted);
        if (wanted.failed || given.failed)
            status = roast_error_set(err, ROAST_NO_MEMORY, "a fileset");
        else
            roast__fileset_write(out, &wanted, &given);
    }
    roast__fileset_release(&wanted);
    roast__fileset_release(&given);
    return status;
}

int roast_failed_fileset(struct roast_page *out, roast_run *run,
                         struct roast_rerun *rerun, roast_error *err)
{
    struct search search = {.run = run};
    struct roast_buf text = {0};

    *out = (struct roast_page){NULL, 0};
    roast__run_lock(run);
    roast__run_resolve_pending(run);
    int status = make(&text, &search, err);
    roast__run_unlock(run);
    roast__buf_put(&text, "", 1);
    if (status == ROAST_OK && !roast__buf_ok(&text))
        status = roast_error_set(err, ROAST_NO_MEMORY, "a fileset");
    if (status == ROAST_OK) {
        *out = (struct roast_page){(char *)text.data, text.size_bytes - 1};
        text = (struct roast_buf){0}; /* moved to the caller */
        if (rerun)
            *rerun = search.rerun;
    }
    roast__buf_release(&text);
    roast__free(search.states);
    roast__free(search.done);
    roast__roles_release(&search.roles);
    return status;
}

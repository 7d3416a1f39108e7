/* SPDX-License-Identifier: BSD-3-Clause */
/* failed_fileset.c - what has to be run again, as a fileset for coffea's Runner.
 *
 * The Runner gives one output for all its chunks, at its end. Where it gave none, those
 * that ended well are gone too: everything is to be run again. Else a file is in it when
 * a range of its entries was tried and never ended well. Where an exception came beside
 * the output, files of the fileset that was given are in it too when nothing of them
 * ended well, and files of which fewer entries did than there are. A success counts in
 * whichever call of the Runner it was, and an entry once in however many it was. */
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

/* What became of a source: a file of a dataset. */
struct fate {
    bool tried;     /* a range failed, was lost or is open, and was not made good */
    bool failed;    /* one of those failed or was lost */
    bool succeeded; /* some range ended well */
    bool has_entries;
    uint64_t entries; /* of the tree */
    uint64_t done;    /* entries that ended well; of those that `are_ranges_wanted` */
};

/* A range that ended well. */
struct range {
    int32_t source;
    int64_t start;
    int64_t stop;
};

struct search {
    struct roast_run *run;
    struct roast_roles roles;
    bool part;          /* an exception came beside the output */
    bool open_in_vain;  /* what did not end has no part in an output */
    struct fate *fates; /* owned, by source */
    struct range *done; /* owned, sorted; of sources whose `are_ranges_wanted` */
    size_t done_count;
    struct roast_rerun rerun;
};

static bool ended_well(const struct search *search, size_t row)
{
    unsigned role = search->roles.of_row[row];

    return role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE ||
           role == ROAST_ROLE_REPEAT;
}

/* Whether an attempt failed and no other one of its call made it good. */
static bool in_vain(const struct search *search, size_t row)
{
    unsigned role = search->roles.of_row[row];

    if (roast__roles_resolved(&search->roles, search->run, row))
        return false;
    return role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST ||
           (role == ROAST_ROLE_OPEN && search->open_in_vain);
}

static struct range range_of(const struct roast_attempts *attempts, size_t row)
{
    const struct roast_column *columns = attempts->columns;

    return (struct range){
        attempts->source[row],
        roast__column_get(&columns[ROAST_COLUMN_entry_start], row, -1),
        roast__column_get(&columns[ROAST_COLUMN_entry_stop], row, -1)};
}

/* ---- what ended well ---------------------------------------------------------- */

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;

    if (left->source != right->source)
        return left->source < right->source ? -1 : 1;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->stop > right->stop) - (left->stop < right->stop);
}

/* Of sources with failures, which a later call can make good, and of those that may be
 * done in part. */
static bool are_ranges_wanted(const struct search *search, int32_t source)
{
    const struct fate *fate = &search->fates[source];

    return fate->tried || (search->part && fate->has_entries);
}

static bool collect_done(struct search *search)
{
    const struct roast_attempts *attempts = &search->run->attempts;
    size_t count = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t row = 0; row < attempts->count; row++) {
            int32_t source = attempts->source[row];
            if (source < 0 || !are_ranges_wanted(search, source) ||
                !ended_well(search, row))
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

/* Ranges may overlap: calls may cut a file in other ways. */
static void count_done(struct search *search)
{
    int32_t source = -1;
    int64_t end = 0; /* of what was counted of this source */

    for (size_t i = 0; i < search->done_count; i++) {
        const struct range *range = &search->done[i];
        if (range->source != source) {
            source = range->source;
            end = 0;
        }
        if (range->start < 0 || range->stop <= end)
            continue;
        int64_t start = range->start > end ? range->start : end;
        search->fates[source].done += (uint64_t)(range->stop - start);
        end = range->stop;
    }
}

/* ---- sources ------------------------------------------------------------------ */

static bool is_running(const struct search *search, size_t row)
{
    return search->roles.of_row[row] == ROAST_ROLE_OPEN;
}

static void note_unnamed(struct search *search, bool running)
{
    if (running)
        search->rerun.unnamed_running++;
    else
        search->rerun.unnamed_failed++;
}

/* The number of entries of the tree, where a record has it. */
static void read_entries(const struct search *search, struct fate *fate, size_t row)
{
    unsigned char identity[ROAST_IDENTITY_BYTES];
    struct roast_file_facts facts;
    roast_record rec;

    if (roast__attempt_record(search->run, row, &rec, identity) &&
        roast_record_has(&rec, ROAST_FIELD_file_facts) &&
        roast_file_facts_read(&facts, rec.values[ROAST_FIELD_file_facts].str, NULL) ==
            ROAST_OK &&
        facts.entries > 0) {
        fate->has_entries = true;
        fate->entries = facts.entries;
    }
}

static void note_fates(struct search *search)
{
    const struct roast_attempts *attempts = &search->run->attempts;

    for (size_t row = 0; row < attempts->count; row++) {
        int32_t source = attempts->source[row];
        bool wanted = search->rerun.everything || in_vain(search, row);
        if (source < 0 && wanted)
            note_unnamed(search, is_running(search, row));
        else if (source < 0)
            continue;
        else if (ended_well(search, row)) {
            if (search->part && !search->fates[source].has_entries)
                read_entries(search, &search->fates[source], row);
            search->fates[source].succeeded = true;
        } else if (in_vain(search, row))
            search->fates[source].tried = true;
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

/* The tree of the run, where all its files have the same; else absent. */
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

/* Files that were given and of which nothing ended well, or all of them. */
static void add_untried(struct roast_fileset *wanted, const struct roast_fileset *given,
                        const struct search *search)
{
    struct roast_fileset succeeded = {0};
    struct roast_str usual_tree = only_tree(search);

    /* The files that ended well at least in part, sorted. */
    const struct roast_attempts *attempts = &search->run->attempts;
    for (size_t i = 0; i < attempts->source_count; i++) {
        const struct roast_source *source = &attempts->sources[i];
        struct roast_str dataset = text_of(search, source->dataset);
        if (search->fates[i].succeeded && dataset.data)
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
                               tree.data ? tree : usual_tree);
    }
    wanted->failed = wanted->failed || succeeded.failed;
    roast__fileset_release(&succeeded);
}

/* ---- the run ------------------------------------------------------------------ */

/* An output that came with an exception may lack chunks that ended well: those that
 * nobody had collected when it happened. */
static bool lacks_chunks(const struct search *search)
{
    const struct roast_run *run = search->run;

    return run->fact_known[ROAST_FACT_processed_chunks] &&
           run->facts[ROAST_FACT_processed_chunks] <
               (double)search->roles.successful_chunks;
}

static void ask_for_output(struct search *search)
{
    enum roast_returned returned = roast__run_returned(search->run);

    search->part = returned == ROAST_RETURNED_PART;
    search->open_in_vain = search->run->end_ns == 0 || returned != ROAST_RETURNED_ALL;
    search->rerun.everything =
        returned == ROAST_RETURNED_NOTHING || (search->part && lacks_chunks(search));
}

static int find_fates(struct search *search, roast_error *err)
{
    struct roast_run *run = search->run;
    int status = roast__roles_find(&search->roles, run, err);

    if (status < 0)
        return status;
    ask_for_output(search);
    search->fates =
        roast__alloc((run->attempts.source_count + 1) * sizeof(struct fate));
    if (!search->fates)
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu files",
                               run->attempts.source_count);
    note_fates(search);
    if (!collect_done(search))
        return roast_error_set(err, ROAST_NO_MEMORY, "%zu attempts",
                               run->attempts.count);
    count_done(search);
    /* A source stays `tried` only if one of its ranges was never done. */
    const struct roast_attempts *attempts = &search->run->attempts;
    for (size_t i = 0; i < attempts->source_count; i++)
        search->fates[i].tried = false;
    for (size_t row = 0; row < attempts->count; row++) {
        struct range range = range_of(attempts, row);
        if (range.source < 0 || !in_vain(search, row) ||
            (search->done_count > 0 && bsearch(&range, search->done, search->done_count,
                                               sizeof(range), compare_ranges) != NULL))
            continue;
        search->fates[range.source].tried = true;
        if (!is_running(search, row))
            search->fates[range.source].failed = true;
    }
    return ROAST_OK;
}

static int make(struct roast_buf *out, struct search *search, roast_error *err)
{
    struct roast_str document = roast__notes_get(
        &search->run->notes, ROAST_NOTES_document, roast_str_of("fileset"));
    struct roast_fileset wanted = {0}, given = {0};
    int status = find_fates(search, err);

    if (status == ROAST_OK && document.data &&
        roast__fileset_read(&given, document, err) == ROAST_NO_MEMORY)
        status = ROAST_NO_MEMORY; /* a document that cannot be read is none */
    if (status == ROAST_OK) {
        const struct roast_attempts *attempts = &search->run->attempts;
        for (size_t i = 0; i < attempts->source_count; i++) {
            const struct roast_source *source = &attempts->sources[i];
            struct roast_str dataset = text_of(search, source->dataset);
            struct roast_str file = text_of(search, source->file);
            const struct fate *fate = &search->fates[i];
            bool cut_short = search->part && fate->succeeded && fate->has_entries &&
                             fate->done < fate->entries;
            if (!(search->rerun.everything || fate->tried || cut_short))
                continue;
            if (dataset.data && file.data)
                roast__fileset_add(&wanted, roast__fileset_keep(&wanted, dataset), file,
                                   text_of(search, source->tree));
            else
                note_unnamed(search,
                             search->fates[i].tried && !search->fates[i].failed);
        }
        if (search->part || search->rerun.everything)
            add_untried(&wanted, &given, search);
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
    roast__free(search.fates);
    roast__free(search.done);
    roast__roles_release(&search.roles);
    return status;
}

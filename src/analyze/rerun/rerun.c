/* SPDX-License-Identifier: BSD-3-Clause */
/* rerun.c - what to run again, as items or as files, so that no entry counts twice.
 *
 * The Runner returns one output for all its chunks, at its end. Without a result the
 * successful chunks are lost too: everything is missing. */
#include <inttypes.h>

#include "analyze/rerun/plan.h"
#include "base/str.h"
#include "roast/analyze.h"
#include "roast/json_write.h"

/* ---- which call ------------------------------------------------------------------ */

static bool cannot_add(const struct roast_plan *plan)
{
    return (plan->returned || plan->reruns) && plan->changes_output &&
           roast__plan_misses(plan);
}

static int refuse_several(uint32_t first, uint32_t second, roast_error *err)
{
    return roast_error_set(
        err, ROAST_REFUSED,
        "the results of several calls of the Runner are not whole, calls %" PRIu32
        " and %" PRIu32 " for example; their outputs belong apart: choose one, "
        "call=%" PRIu32 " (roast failed --call %" PRIu32 ")",
        first, second, first, first);
}

/* Reads the call that is meant; plan->call stays 0 if all results are whole. */
static int find_plan(struct roast_plan *plan, const struct roast_run *run,
                     uint32_t call, roast_error *err)
{
    uint32_t count = roast__plan_count(run);
    int status = ROAST_OK;

    if (count == 0 && run->attempts.count > 0)
        return roast_error_set(err, ROAST_REFUSED,
                               "the items of this run are not known: it has no call of "
                               "coffea's Runner; its table failures has what failed");
    if (call > count)
        return roast_error_set(
            err, ROAST_REFUSED,
            "there is no call %" PRIu32 " of the Runner, but %" PRIu32, call, count);
    if (call > 0)
        return roast__plan_read(plan, run, call, err);
    for (uint32_t i = 1; i <= count && status == ROAST_OK; i++) {
        struct roast_plan other = {.call = 0};
        status = roast__plan_read(&other, run, i, err);
        if (status == ROAST_OK && roast__plan_misses(&other) && plan->call > 0)
            status = refuse_several(plan->call, i, err);
        if (status == ROAST_OK && roast__plan_misses(&other))
            *plan = other; /* moved */
        else
            roast__plan_release(&other);
    }
    return status;
}

static int check_known(const struct roast_plan *plan, roast_error *err)
{
    if (plan->is_unlisted)
        return roast_error_set(
            err, ROAST_REFUSED,
            "the items of call %" PRIu32 " of the Runner are not known "
            "(too many, or the file is damaged): run everything again",
            plan->call);
    if (roast__plan_is_unknown(plan))
        return roast_error_set(err, ROAST_REFUSED,
                               "call %" PRIu32 " of the Runner ended in preprocessing, "
                               "and its fileset is not known: run everything again",
                               plan->call);
    return ROAST_OK;
}

enum roast_rerun_way roast__rerun_way(const struct roast_run *run)
{
    enum roast_rerun_way way = ROAST_RERUN_UNKNOWN;
    uint32_t count = roast__plan_count(run);

    for (uint32_t i = 1; i <= count; i++) {
        struct roast_plan plan = {.call = 0};
        enum roast_rerun_way own = ROAST_RERUN_UNKNOWN;
        if (roast__plan_read(&plan, run, i, NULL) == ROAST_OK) {
            if (cannot_add(&plan))
                own = ROAST_RERUN_EVERYTHING;
            else if (plan.missing.count > 0)
                own = ROAST_RERUN_ITEMS;
            else if (plan.unread.count > 0)
                own = ROAST_RERUN_FILES;
        }
        roast__plan_release(&plan);
        if (own == ROAST_RERUN_EVERYTHING)
            return own;
        way = way == ROAST_RERUN_UNKNOWN || own == ROAST_RERUN_ITEMS ? own : way;
    }
    return way;
}

/* ---- items ------------------------------------------------------------------------ */

static void put_text(struct roast_json *json, const char *key, struct roast_str text)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_text(json, text);
}

static void put_count(struct roast_json *json, const char *key, uint64_t count)
{
    roast_json_key(json, roast_str_of(key));
    roast_json_count(json, count);
}

static void put_json(struct roast_json *json, const char *key, struct roast_str raw)
{
    roast_json_key(json, roast_str_of(key));
    if (raw.data)
        roast_json_raw(json, raw);
    else
        roast_json_null(json);
}

static void put_item(struct roast_json *json, const struct roast_plan *plan,
                     const struct roast_item *item)
{
    const struct roast_plan_file *file = &plan->files[item->file];

    roast_json_open(json, '{');
    put_text(json, "dataset", file->dataset);
    put_text(json, "filename", file->file);
    put_text(json, "treename", file->tree);
    put_count(json, "entrystart", item->start);
    put_count(json, "entrystop", item->stop);
    put_text(json, "fileuuid", file->uuid);
    put_json(json, "usermeta", file->usermeta);
    put_json(json, "preload", file->preload);
    if (file->inexact) {
        roast_json_key(json, roast_str_of("inexact"));
        roast_json_bool(json, true);
    }
    roast_json_close(json, '}');
}

static void put_items(struct roast_json *json, const struct roast_plan *plan)
{
    roast_json_open(json, '{');
    if (plan->call > 0) {
        put_count(json, "call", plan->call);
        put_text(json, "processor", plan->processor);
        roast_json_key(json, roast_str_of("can_be_added"));
        roast_json_bool(json, !cannot_add(plan));
    }
    roast_json_key(json, roast_str_of("items"));
    roast_json_open(json, '[');
    for (size_t i = 0; i < plan->missing.count; i++)
        put_item(json, plan, &plan->missing.items[i]);
    roast_json_close(json, ']');
    roast_json_key(json, roast_str_of("fileset"));
    roast__fileset_write(json, &plan->unread, &plan->given);
    roast_json_close(json, '}');
}

/* ---- files ------------------------------------------------------------------------ */

static int refuse_part(const struct roast_plan *plan,
                       const struct roast_plan_file *file, roast_error *err)
{
    struct roast_str name = roast_str_cut(file->file, 90);
    const char *also = plan->unread.count > 0
                           ? ", and failed_fileset(without_items=True) for files that "
                             "failed in preprocessing"
                           : "";

    return roast_error_set(err, ROAST_REFUSED,
                           "%.*s is in the result in part: use failed_items()%s "
                           "(roast failed has both)",
                           (int)name.size_bytes, name.data, also);
}

/* Adds the files without any item in the result to those that have no items. */
static int add_whole(struct roast_plan *plan, roast_error *err)
{
    struct roast_fileset *wanted = &plan->unread;

    if (plan->missing.count > 0 && (plan->is_part || plan->max_chunks > 0))
        return roast_error_set(err, ROAST_REFUSED,
                               "call %" PRIu32 " was not for whole files (%s): use "
                               "failed_items()",
                               plan->call, plan->is_part ? "items" : "maxchunks");
    uint64_t entries = 0, missing = 0; /* of one file */
    size_t at = 0, gap = 0;
    for (size_t i = 0; i < plan->file_count; i++) {
        const struct roast_plan_file *file = &plan->files[i];
        entries = missing = 0;
        for (; at < plan->planned.count && plan->planned.items[at].file == i; at++)
            entries += plan->planned.items[at].stop - plan->planned.items[at].start;
        for (; gap < plan->missing.count && plan->missing.items[gap].file == i; gap++)
            missing += plan->missing.items[gap].stop - plan->missing.items[gap].start;
        if (file->missing_items == 0)
            continue;
        if (missing < entries)
            return refuse_part(plan, file, err);
        roast__fileset_add(wanted, roast__fileset_keep(wanted, file->dataset),
                           file->file, file->tree);
    }
    roast__fileset_sort(wanted);
    return wanted->failed ? roast_error_set(err, ROAST_NO_MEMORY, "a fileset")
                          : ROAST_OK;
}

/* ---- the run ------------------------------------------------------------------ */

enum form { ITEMS, FILES, FILES_WITHOUT_ITEMS };

static int answer(struct roast_page *out, roast_run *run, uint32_t call, enum form form,
                  struct roast_rerun *rerun, roast_error *err)
{
    struct roast_plan plan = {.call = 0};
    struct roast_buf text = {0};
    struct roast_json json = {.put = roast__buf_sink, .context = &text};

    *out = (struct roast_page){NULL, 0};
    roast__run_lock(run);
    roast__run_resolve_pending(run);
    int status = find_plan(&plan, run, call, err);
    if (rerun)
        *rerun = (struct roast_rerun){plan.call, plan.missing.count, plan.unread.count,
                                      cannot_add(&plan)};
    if (status == ROAST_OK)
        status = check_known(&plan, err);
    if (status == ROAST_OK && form == FILES)
        status = add_whole(&plan, err);
    if (status == ROAST_OK && form == ITEMS)
        put_items(&json, &plan);
    else if (status == ROAST_OK)
        roast__fileset_write(&json, &plan.unread, &plan.given);
    roast__plan_release(&plan); /* borrows from the run */
    roast__run_unlock(run);
    roast__buf_put(&text, "", 1);
    if (status == ROAST_OK && !roast__buf_ok(&text))
        status = roast_error_set(err, ROAST_NO_MEMORY, "what to run again");
    if (status == ROAST_OK)
        *out = (struct roast_page){(char *)text.data, text.size_bytes - 1};
    else
        roast__buf_release(&text);
    return status;
}

int roast_failed_items(struct roast_page *out, roast_run *run, uint32_t call,
                       struct roast_rerun *rerun, roast_error *err)
{
    return answer(out, run, call, ITEMS, rerun, err);
}

int roast_failed_fileset(struct roast_page *out, roast_run *run, uint32_t call,
                         bool without_items, struct roast_rerun *rerun,
                         roast_error *err)
{
    return answer(out, run, call, without_items ? FILES_WITHOUT_ITEMS : FILES, rerun,
                  err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.c - adds up what an attempt read, in memory that is kept for the next one. */
#include "probe/ladder/reads.h"

#include "base/str.h"
#include "probe/chunk/thread.h"

static const struct roast_str other_name = {"(other)", 7};

void roast__reads_release(struct roast_reads *reads)
{
    roast__branches_release(&reads->branches);
    roast__buf_release(&reads->file_branches);
    roast__buf_release(&reads->blobs);
    memset(reads, 0, sizeof(*reads));
}

void roast__reads_clear(struct roast_reads *reads)
{
    roast__branches_clear(&reads->branches);
    reads->endpoint_count = 0;
    reads->facts_known = false;
    roast__buf_clear(&reads->file_branches);
}

static struct roast_reads *reads_of(roast_thread *thread)
{
    return roast_ladder_active(thread) ? &thread->attempt.ladder.reads : NULL;
}

/* ---- branches ---------------------------------------------------------------- */

int32_t roast_ladder_branch(roast_thread *thread, struct roast_str name)
{
    struct roast_reads *reads = reads_of(thread);

    return reads ? roast__branches_find(&reads->branches, name) : -1;
}

void roast_ladder_branch_add(roast_thread *thread, int32_t branch,
                             const struct roast_branch *more)
{
    struct roast_reads *reads = reads_of(thread);

    if (reads)
        roast__branches_add(&reads->branches, branch, more);
}

bool roast_ladder_branch_sized(const roast_thread *thread, int32_t branch)
{
    return roast_ladder_active(thread) &&
           roast__branches_sized(&thread->attempt.ladder.reads.branches, branch);
}

/* ---- endpoints and the file -------------------------------------------------- */

/* The sums of this endpoint, or of "(other)" when the table is full. */
static struct roast_endpoint *find_endpoint(struct roast_reads *reads,
                                            struct roast_str name)
{
    for (size_t i = 0; i < reads->endpoint_count; i++) {
        if (roast__str_equal(reads->endpoints[i].name, name))
            return &reads->endpoints[i];
    }
    if (reads->endpoint_count == ROAST_MAX_ENDPOINTS)
        return &reads->endpoints[ROAST_MAX_ENDPOINTS - 1];
    if (reads->endpoint_count == ROAST_MAX_ENDPOINTS - 1)
        name = other_name;
    size_t number = reads->endpoint_count++;
    char *kept = reads->endpoint_names[number];
    memcpy(kept, name.data, name.size_bytes);
    reads->endpoints[number] = (struct roast_endpoint){.name = {kept, name.size_bytes}};
    return &reads->endpoints[number];
}

void roast_ladder_endpoint_add(roast_thread *thread, const struct roast_endpoint *more)
{
    struct roast_reads *reads = reads_of(thread);

    if (!reads)
        return;
    struct roast_str name = more->name.data ? more->name : other_name;
    struct roast_endpoint *sum =
        find_endpoint(reads, roast_str_cut(name, ROAST_CUT_ENDPOINT_BYTES));
    sum->requests += more->requests;
    sum->ranges += more->ranges;
    sum->bytes += more->bytes;
    sum->wait_ns += more->wait_ns;
    sum->errors += more->errors;
    sum->seeks += more->seeks;
    for (int i = 0; i < ROAST_SIZE_BINS; i++)
        sum->sizes[i] += more->sizes[i];
    for (int i = 0; i < ROAST_WAIT_BINS; i++)
        sum->waits[i] += more->waits[i];
}

/* Later calls may add facts of the same file; its branches are passed once. */
void roast_ladder_file(roast_thread *thread, const struct roast_file_facts *facts,
                       struct roast_str all_branches)
{
    struct roast_reads *reads = reads_of(thread);

    if (!reads)
        return;
    reads->facts_known = true;
    reads->facts = *facts;
    if (reads->file_branches.size_bytes == 0 && all_branches.data)
        roast__buf_put(&reads->file_branches, all_branches.data,
                       all_branches.size_bytes);
}

/* ---- fields ------------------------------------------------------------------ */

/* Sets a field to the bytes that a writer of ladder.h appended to the blobs. */
static void set_blob(struct roast_reads *reads, roast_record *rec,
                     enum roast_field field, int64_t size_bytes)
{
    struct roast_buf *out = &reads->blobs;

    if (size_bytes <= 0)
        return;
    struct roast_str blob = {(const char *)out->data + out->size_bytes,
                             (size_t)size_bytes};
    roast_record_set_str(rec, field, blob);
    out->size_bytes += (size_t)size_bytes;
}

static uint64_t bit_if(bool lost, enum roast_field field)
{
    return lost ? UINT64_C(1) << field : 0;
}

uint64_t roast__reads_set_fields(struct roast_reads *reads, roast_record *rec)
{
    enum { ENDPOINT_BYTES = ROAST_ENDPOINT_BOUND_BYTES + ROAST_CUT_ENDPOINT_BYTES };
    const struct roast_buf *all = &reads->file_branches;
    struct roast_branches *branches = &reads->branches;
    struct roast_buf *out = &reads->blobs;
    size_t branches_bound = (branches->count + 1) * (size_t)ROAST_BRANCH_BOUND_BYTES +
                            branches->names.size_bytes;
    size_t endpoints_bound = (reads->endpoint_count + 1) * (size_t)ENDPOINT_BYTES;
    /* an empty list is valid only if all reads were observed and had room */
    bool branches_known =
        branches->count > 0 ||
        (reads->facts_known && reads->sees_all && branches->lost == 0);
    uint64_t lost =
        bit_if(all->failed, ROAST_FIELD_file_branches) |
        bit_if(branches->count == 0 && branches->lost > 0, ROAST_FIELD_branches);

    if (all->size_bytes > 0)
        roast_record_set_str(
            rec, ROAST_FIELD_file_branches,
            (struct roast_str){(const char *)all->data, all->size_bytes});
    roast__buf_clear(out);
    roast__buf_reserve(out,
                       branches_bound + endpoints_bound + ROAST_FILE_FACTS_BOUND_BYTES);
    if (!roast__buf_ok(out))
        return lost | bit_if(branches_known, ROAST_FIELD_branches) |
               bit_if(reads->endpoint_count > 0, ROAST_FIELD_endpoints) |
               bit_if(reads->facts_known, ROAST_FIELD_file_facts);
    if (branches_known)
        set_blob(reads, rec, ROAST_FIELD_branches,
                 roast_branches_write(out->data, branches_bound,
                                      roast__branches_named(branches), branches->count,
                                      NULL));
    if (reads->endpoint_count > 0)
        set_blob(reads, rec, ROAST_FIELD_endpoints,
                 roast_endpoints_write(out->data + out->size_bytes, endpoints_bound,
                                       reads->endpoints, reads->endpoint_count, NULL));
    if (reads->facts_known)
        set_blob(reads, rec, ROAST_FIELD_file_facts,
                 roast_file_facts_write(out->data + out->size_bytes,
                                        ROAST_FILE_FACTS_BOUND_BYTES, &reads->facts,
                                        NULL));
    return lost;
}

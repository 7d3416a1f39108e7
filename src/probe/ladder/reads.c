/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.c - adds up what an attempt read, in memory that stays for the next one. */
#include "probe/ladder/reads.h"

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

/* ---- endpoints --------------------------------------------------------------- */

static struct roast_endpoint *add_endpoint(struct roast_reads *reads,
                                           struct roast_str name)
{
    size_t number = reads->endpoint_count++;
    char *kept = reads->endpoint_names[number];

    memcpy(kept, name.data, name.size_bytes);
    reads->endpoints[number] = (struct roast_endpoint){.name = {kept, name.size_bytes}};
    return &reads->endpoints[number];
}

static struct roast_endpoint *find_endpoint(struct roast_reads *reads,
                                            struct roast_str name)
{
    for (size_t i = 0; i < reads->endpoint_count; i++) {
        struct roast_endpoint *endpoint = &reads->endpoints[i];
        if (endpoint->name.size_bytes == name.size_bytes &&
            memcmp(endpoint->name.data, name.data, name.size_bytes) == 0)
            return endpoint;
    }
    return NULL;
}

void roast__reads_endpoint_add(struct roast_reads *reads,
                               const struct roast_endpoint *more)
{
    struct roast_str name = more->name.data ? more->name : other_name;
    struct roast_endpoint *sum;

    name = roast_str_cut(name, ROAST_CUT_ENDPOINT_BYTES);
    sum = find_endpoint(reads, name);
    if (!sum && reads->endpoint_count == ROAST_MAX_ENDPOINTS)
        sum = &reads->endpoints[ROAST_MAX_ENDPOINTS - 1];
    else if (!sum && reads->endpoint_count == ROAST_MAX_ENDPOINTS - 1)
        sum = add_endpoint(reads, other_name);
    else if (!sum)
        sum = add_endpoint(reads, name);
    sum->requests += more->requests;
    sum->ranges += more->ranges;
    sum->bytes += more->bytes;
    sum->wait_ns += more->wait_ns;
    sum->errors += more->errors;
}

/* ---- the file ---------------------------------------------------------------- */

/* More may be known of the same file later; its branches are told once. */
void roast__reads_file(struct roast_reads *reads, const struct roast_file_facts *facts,
                       struct roast_str all_branches)
{
    struct roast_buf *kept = &reads->file_branches;

    reads->facts_known = true;
    reads->facts = *facts;
    if (kept->size_bytes == 0 && all_branches.data)
        roast__buf_put(kept, all_branches.data, all_branches.size_bytes);
}

/* ---- telling ----------------------------------------------------------------- */

static size_t branches_bound(const struct roast_reads *reads)
{
    return (reads->branches.count + 1) * (size_t)ROAST_BRANCH_BOUND_BYTES +
           reads->branches.names.size_bytes;
}

enum { ENDPOINT_ROOM_BYTES = ROAST_ENDPOINT_BOUND_BYTES + ROAST_CUT_ENDPOINT_BYTES };

static size_t endpoints_bound(const struct roast_reads *reads)
{
    return (reads->endpoint_count + 1) * (size_t)ENDPOINT_ROOM_BYTES;
}

/* What a writer of ladder.h put behind the blobs before. */
static void take_blob(struct roast_reads *reads, roast_record *rec,
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

static unsigned char *room_of(struct roast_reads *reads)
{
    return reads->blobs.data + reads->blobs.size_bytes;
}

/* No branch is none that was read only where all of them were seen and found room. */
static bool knows_branches(const struct roast_reads *reads)
{
    return reads->branches.count > 0 ||
           (reads->facts_known && reads->sees_all && reads->branches.lost == 0);
}

static void tell_branches(struct roast_reads *reads, roast_record *rec)
{
    if (!knows_branches(reads))
        return;
    take_blob(reads, rec, ROAST_FIELD_branches,
              roast_branches_write(room_of(reads), branches_bound(reads),
                                   roast__branches_named(&reads->branches),
                                   reads->branches.count, NULL));
}

static void tell_endpoints(struct roast_reads *reads, roast_record *rec)
{
    if (reads->endpoint_count == 0)
        return;
    take_blob(reads, rec, ROAST_FIELD_endpoints,
              roast_endpoints_write(room_of(reads), endpoints_bound(reads),
                                    reads->endpoints, reads->endpoint_count, NULL));
}

static void tell_facts(struct roast_reads *reads, roast_record *rec)
{
    if (reads->facts_known)
        take_blob(reads, rec, ROAST_FIELD_file_facts,
                  roast_file_facts_write(room_of(reads), ROAST_FILE_FACTS_BOUND_BYTES,
                                         &reads->facts, NULL));
}

static uint64_t bit_if(bool lost, enum roast_field field)
{
    return lost ? UINT64_C(1) << field : 0;
}

uint64_t roast__reads_tell(struct roast_reads *reads, roast_record *rec)
{
    struct roast_buf *out = &reads->blobs;
    const struct roast_buf *all = &reads->file_branches;
    bool lost_branches = reads->branches.count == 0 && reads->branches.lost > 0;
    uint64_t lost = bit_if(all->failed, ROAST_FIELD_file_branches) |
                    bit_if(lost_branches, ROAST_FIELD_branches);

    if (all->size_bytes > 0)
        roast_record_set_str(
            rec, ROAST_FIELD_file_branches,
            (struct roast_str){(const char *)all->data, all->size_bytes});
    roast__buf_clear(out);
    roast__buf_reserve(out, branches_bound(reads) + endpoints_bound(reads) +
                                ROAST_FILE_FACTS_BOUND_BYTES);
    if (!roast__buf_ok(out))
        return lost | bit_if(knows_branches(reads), ROAST_FIELD_branches) |
               bit_if(reads->endpoint_count > 0, ROAST_FIELD_endpoints) |
               bit_if(reads->facts_known, ROAST_FIELD_file_facts);
    tell_branches(reads, rec);
    tell_endpoints(reads, rec);
    tell_facts(reads, rec);
    return lost;
}

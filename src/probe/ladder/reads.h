/* SPDX-License-Identifier: BSD-3-Clause */
/* reads.h - what one attempt read: by branch, by endpoint, and of which tree. */
#ifndef ROAST_PROBE_LADDER_READS_H
#define ROAST_PROBE_LADDER_READS_H

#include "probe/ladder/branches.h"

enum {
    ROAST_MAX_ENDPOINTS = 16, /* the last one is "(other)" */
    ROAST_CUT_ENDPOINT_BYTES = 128,
};

/* Zeroed = empty and valid. */
struct roast_reads {
    struct roast_branches branches;

    struct roast_endpoint endpoints[ROAST_MAX_ENDPOINTS];
    char endpoint_names[ROAST_MAX_ENDPOINTS][ROAST_CUT_ENDPOINT_BYTES];
    size_t endpoint_count;

    bool sees_all; /* every hook is in place, so all reads are observed */
    bool facts_known;
    struct roast_file_facts facts;
    struct roast_buf file_branches; /* failed: out of memory */

    struct roast_buf blobs; /* a record borrows them */
};

void roast__reads_release(struct roast_reads *reads);
void roast__reads_clear(struct roast_reads *reads); /* empties, keeps the memory */

/* Sets the fields of a record that describe the reads; it borrows until the next change
 * here. Returns a bit for each field that was lost because memory ran out. */
uint64_t roast__reads_set_fields(struct roast_reads *reads, roast_record *rec);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_names.h - what a reader of batches keeps from one batch to the next.
 *
 * Names are numbered from 0 in the order they came. Hosts are few, and each keeps the
 * latest delays of all its workers: enough to know its clock, and to follow one that
 * drifts. Both grow by half, so that they stay within four times what was read. */
#ifndef ROAST_COLLECT_DASK_BATCH_NAMES_H
#define ROAST_COLLECT_DASK_BATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "roast/text.h"

enum { ROAST_NO_DASK_HOST = -1, ROAST_DELAYS_KEPT = 256 };

/* Zeroed = empty and valid. */
struct roast_dask_names {
    struct roast_buf bytes; /* all texts one behind the other */
    uint32_t *ends;         /* owned; where each text ends */
    size_t count;
    size_t cap;
};

/* False when out of memory. All texts together must fit into 32 bits. */
bool roast__dask_names_add(struct roast_dask_names *names, struct roast_str text);
/* Borrowed until the next add; never absent. */
struct roast_str roast__dask_names_get(const struct roast_dask_names *names,
                                       size_t number);
void roast__dask_names_release(struct roast_dask_names *names);

/* The latest delays of one host. */
struct roast_dask_delays {
    double *values_s; /* owned */
    uint32_t count;
    uint32_t cap;
    uint32_t next; /* to be overwritten, once there are enough */
    bool is_fresh;
    bool is_told;        /* to the sink */
    uint32_t next_fresh; /* number of a host + 1, or 0 */
    int64_t told_ns;
};

/* Zeroed = empty and valid. */
struct roast_dask_hosts {
    struct roast_dask_names names;
    struct roast_dask_delays *delays; /* owned; one per name */
    size_t cap;
    uint32_t *slots; /* owned; host + 1 by hash of its name, 0: free */
    size_t slot_count;
    uint32_t fresh; /* the first host that is to be looked at + 1, or 0 */
};

/* The number of a host, which is new or not; negative when out of memory. */
int32_t roast__dask_hosts_put(struct roast_dask_hosts *hosts, struct roast_str name);
bool roast__dask_hosts_add_delay(struct roast_dask_hosts *hosts, int32_t host,
                                 double delay_s);
/* The least of the kept delays, of which there are some. A delay is how far the clocks
 * are apart and how long a message took and waited, which is never less than nothing. */
double roast__dask_least_delay(const struct roast_dask_delays *delays);

/* All hosts that have delays are to be looked at, or one of them no more. */
void roast__dask_hosts_refresh(struct roast_dask_hosts *hosts);
void roast__dask_hosts_seen(struct roast_dask_hosts *hosts);
void roast__dask_hosts_release(struct roast_dask_hosts *hosts);

#endif

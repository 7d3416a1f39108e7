/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_hosts.h - how far the clock of each host is from the scheduler's.
 *
 * Each message of a worker gives a delay: the clock difference plus the transfer time,
 * which is never negative. So the smallest delay of a host is the best estimate. The
 * latest delays of all its workers are kept, so that a drifting clock is followed. */
#ifndef ROAST_COLLECT_DASK_HOSTS_H
#define ROAST_COLLECT_DASK_HOSTS_H

#include "base/string_table.h"

enum { ROAST_DASK_DELAYS_KEPT = 256 };

struct roast_dask_delays {
    double *values_s; /* owned; a ring once there are enough */
    uint32_t count;
    uint32_t cap;
    uint32_t next; /* to be overwritten */
    bool is_changed;
    bool is_reported;
    uint32_t next_changed; /* number of a host + 1, or 0 */
    int64_t reported_ns;
};

/* Zeroed = empty and valid. Hosts are numbered as their names are. */
struct roast_dask_hosts {
    struct roast_string_table names;
    struct roast_dask_delays *delays; /* owned; one per name */
    size_t cap;
    uint32_t changed; /* the first host with a changed offset + 1, or 0 */
};

/* The number of a host, new or not; negative when out of memory. */
int32_t roast__dask_hosts_put(struct roast_dask_hosts *hosts, struct roast_str name);

/* False when out of memory. The offset of the host counts as changed. */
bool roast__dask_hosts_add_delay(struct roast_dask_hosts *hosts, int32_t host,
                                 double delay_s);

/* The offsets of all hosts that have delays count as changed. */
void roast__dask_hosts_change_all(struct roast_dask_hosts *hosts);

/* Removes the first of the changed hosts from the list. */
void roast__dask_hosts_next(struct roast_dask_hosts *hosts);

/* The smallest delay of a host that has delays. */
double roast__dask_least_delay(const struct roast_dask_delays *delays);

void roast__dask_hosts_release(struct roast_dask_hosts *hosts);

#endif

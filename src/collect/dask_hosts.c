/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_hosts.c - hosts by name, and their smallest delays. */
#include "collect/dask_hosts.h"

#include <math.h>

#include "base/array.h"
#include "base/mem.h"

enum { FIRST_DELAYS = 4 };

int32_t roast__dask_hosts_put(struct roast_dask_hosts *hosts, struct roast_str name)
{
    size_t count = hosts->names.count;
    struct roast_dask_delays *delays =
        roast__array_room(hosts->delays, &hosts->cap, count, sizeof(*delays));

    if (!delays)
        return ROAST_STRING_NO_MEMORY;
    hosts->delays = delays;
    int32_t host = roast__strings_put(&hosts->names, name);
    if (host >= 0 && (size_t)host == count)
        delays[host] = (struct roast_dask_delays){0};
    return host;
}

static void change(struct roast_dask_hosts *hosts, uint32_t host)
{
    struct roast_dask_delays *delays = &hosts->delays[host];

    if (delays->is_changed || delays->count == 0)
        return;
    delays->is_changed = true;
    delays->next_changed = hosts->changed;
    hosts->changed = host + 1;
}

void roast__dask_hosts_change_all(struct roast_dask_hosts *hosts)
{
    for (uint32_t host = 0; host < hosts->names.count; host++)
        change(hosts, host);
}

void roast__dask_hosts_next(struct roast_dask_hosts *hosts)
{
    struct roast_dask_delays *first = &hosts->delays[hosts->changed - 1];

    hosts->changed = first->next_changed;
    first->is_changed = false;
}

bool roast__dask_hosts_add_delay(struct roast_dask_hosts *hosts, int32_t host,
                                 double delay_s)
{
    struct roast_dask_delays *delays = &hosts->delays[host];

    if (delays->count == delays->cap && delays->cap < ROAST_DASK_DELAYS_KEPT) {
        uint32_t cap = delays->cap > 0 ? 2 * delays->cap : (uint32_t)FIRST_DELAYS;
        double *values = roast__realloc(delays->values_s, cap * sizeof(*values));
        if (!values)
            return false;
        delays->values_s = values;
        delays->cap = cap;
    }
    delays->values_s[delays->next] = delay_s;
    delays->next = (delays->next + 1) % ROAST_DASK_DELAYS_KEPT;
    if (delays->count < ROAST_DASK_DELAYS_KEPT)
        delays->count++;
    change(hosts, (uint32_t)host);
    return true;
}

double roast__dask_least_delay(const struct roast_dask_delays *delays)
{
    double least_s = delays->values_s[0];

    for (uint32_t i = 1; i < delays->count; i++)
        least_s = fmin(least_s, delays->values_s[i]);
    return least_s;
}

void roast__dask_hosts_release(struct roast_dask_hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        roast__free(hosts->delays[i].values_s);
    roast__free(hosts->delays);
    roast__strings_release(&hosts->names);
    *hosts = (struct roast_dask_hosts){0};
}

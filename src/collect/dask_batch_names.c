/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_names.c - names by number, hosts by name, and the least of their delays. */
#include "collect/dask_batch_names.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "base/str.h"

enum { FIRST_ROOM = 16, FIRST_SLOTS = 32, FIRST_DELAYS = 4 };

/* Room for one more than `count` items; half as much again when there is none. */
static bool grow(void **items, size_t *cap, size_t count, size_t item_bytes)
{
    size_t more = *cap + *cap / 2;
    if (count < *cap)
        return true;
    if (more < FIRST_ROOM)
        more = FIRST_ROOM;
    void *grown = roast__realloc(*items, more * item_bytes);
    if (!grown)
        return false;
    *items = grown;
    *cap = more;
    return true;
}

/* ---- names ------------------------------------------------------------------- */

bool roast__dask_names_add(struct roast_dask_names *names, struct roast_str text)
{
    void *ends = names->ends;
    bool room = grow(&ends, &names->cap, names->count, sizeof(*names->ends));

    names->ends = ends;
    if (!room)
        return false;
    roast__buf_put(&names->bytes, text.data, text.size_bytes);
    if (!roast__buf_ok(&names->bytes)) {
        names->bytes.failed = false; /* what is there is whole; one may try again */
        return false;
    }
    names->ends[names->count++] = (uint32_t)names->bytes.size_bytes;
    return true;
}

struct roast_str roast__dask_names_get(const struct roast_dask_names *names,
                                       size_t number)
{
    size_t start = number > 0 ? names->ends[number - 1] : 0;
    size_t size = names->ends[number] - start;

    if (size == 0)
        return roast_str_of("");
    return (struct roast_str){(const char *)names->bytes.data + start, size};
}

void roast__dask_names_release(struct roast_dask_names *names)
{
    roast__buf_release(&names->bytes);
    roast__free(names->ends);
    *names = (struct roast_dask_names){0};
}

/* ---- hosts ------------------------------------------------------------------- */

static size_t first_slot(const struct roast_dask_hosts *hosts, struct roast_str name)
{
    return (size_t)roast__hash64(name.data, name.size_bytes) & (hosts->slot_count - 1);
}

static int32_t find(const struct roast_dask_hosts *hosts, struct roast_str name)
{
    if (hosts->slot_count == 0)
        return ROAST_NO_DASK_HOST;
    for (size_t at = first_slot(hosts, name); hosts->slots[at] > 0;
         at = (at + 1) & (hosts->slot_count - 1)) {
        uint32_t host = hosts->slots[at] - 1;
        if (roast__str_equal(roast__dask_names_get(&hosts->names, host), name))
            return (int32_t)host;
    }
    return ROAST_NO_DASK_HOST;
}

static void put_slot(struct roast_dask_hosts *hosts, uint32_t host)
{
    size_t at = first_slot(hosts, roast__dask_names_get(&hosts->names, host));

    while (hosts->slots[at] > 0)
        at = (at + 1) & (hosts->slot_count - 1);
    hosts->slots[at] = host + 1;
}

/* At most three quarters of the slots are taken. */
static bool slots_room(struct roast_dask_hosts *hosts)
{
    size_t count = hosts->slot_count > 0 ? 2 * hosts->slot_count : (size_t)FIRST_SLOTS;

    if (4 * (hosts->names.count + 1) <= 3 * hosts->slot_count)
        return true;
    uint32_t *slots = roast__alloc(count * sizeof(*slots));
    if (!slots)
        return false;
    roast__free(hosts->slots);
    hosts->slots = slots;
    hosts->slot_count = count;
    for (uint32_t host = 0; host < hosts->names.count; host++)
        put_slot(hosts, host);
    return true;
}

int32_t roast__dask_hosts_put(struct roast_dask_hosts *hosts, struct roast_str name)
{
    int32_t known = find(hosts, name);
    size_t count = hosts->names.count;
    void *delays = hosts->delays;

    if (known >= 0)
        return known;
    bool room = grow(&delays, &hosts->cap, count, sizeof(*hosts->delays));
    hosts->delays = delays;
    if (!room || !slots_room(hosts) || !roast__dask_names_add(&hosts->names, name))
        return ROAST_NO_DASK_HOST;
    hosts->delays[count] = (struct roast_dask_delays){0};
    put_slot(hosts, (uint32_t)count);
    return (int32_t)count;
}

static bool delays_room(struct roast_dask_delays *delays)
{
    uint32_t cap = delays->cap > 0 ? 2 * delays->cap : (uint32_t)FIRST_DELAYS;

    if (delays->count < delays->cap || delays->cap == ROAST_DELAYS_KEPT)
        return true;
    double *values = roast__realloc(delays->values_s, cap * sizeof(*values));
    if (!values)
        return false;
    delays->values_s = values;
    delays->cap = cap;
    return true;
}

static void refresh(struct roast_dask_hosts *hosts, uint32_t host)
{
    struct roast_dask_delays *delays = &hosts->delays[host];

    if (delays->is_fresh || delays->count == 0)
        return;
    delays->is_fresh = true;
    delays->next_fresh = hosts->fresh;
    hosts->fresh = host + 1;
}

void roast__dask_hosts_refresh(struct roast_dask_hosts *hosts)
{
    for (uint32_t host = 0; host < hosts->names.count; host++)
        refresh(hosts, host);
}

void roast__dask_hosts_seen(struct roast_dask_hosts *hosts)
{
    struct roast_dask_delays *first = &hosts->delays[hosts->fresh - 1];

    hosts->fresh = first->next_fresh;
    first->is_fresh = false;
}

bool roast__dask_hosts_add_delay(struct roast_dask_hosts *hosts, int32_t host,
                                 double delay_s)
{
    struct roast_dask_delays *delays = &hosts->delays[host];

    if (!delays_room(delays))
        return false;
    delays->values_s[delays->next] = delay_s;
    delays->next = (delays->next + 1) % ROAST_DELAYS_KEPT;
    if (delays->count < ROAST_DELAYS_KEPT)
        delays->count++;
    refresh(hosts, (uint32_t)host);
    return true;
}

double roast__dask_least_delay(const struct roast_dask_delays *delays)
{
    double least_s = delays->values_s[0];

    for (uint32_t i = 1; i < delays->count; i++) {
        if (delays->values_s[i] < least_s)
            least_s = delays->values_s[i];
    }
    return least_s;
}

void roast__dask_hosts_release(struct roast_dask_hosts *hosts)
{
    for (size_t i = 0; i < hosts->names.count; i++)
        roast__free(hosts->delays[i].values_s);
    roast__free(hosts->delays);
    roast__free(hosts->slots);
    roast__dask_names_release(&hosts->names);
    *hosts = (struct roast_dask_hosts){0};
}

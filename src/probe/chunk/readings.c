/* SPDX-License-Identifier: BSD-3-Clause */
/* readings.c - the slow readings and their budget. */
#include "probe/chunk/readings.h"

#include <pthread.h>

#include "base/clock.h"
#include "probe/linux/cgroup.h"

enum { SIDES = 2, COST_SHARE = 50, MAX_SAVED = 64 }; /* one part in 50 is 2 % */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct roast_cgroup group;
static bool group_found;

static void find_group(void)
{
    group_found = roast__cgroup_find(&group, NULL, NULL) == 0;
}

void roast__slow_files_close(struct roast_slow_files *files)
{
    roast__procfile_close(&files->schedstat);
    roast__procfile_close(&files->io);
    roast__procfile_close(&files->cpu_stat);
}

bool roast__pace_allows(struct roast_pace *pace, int64_t now_ns)
{
    int64_t price_ns = SIDES * pace->cost_ns;
    int64_t most_ns = MAX_SAVED * price_ns;

    if (pace->last_ns == 0)
        pace->saved_ns = most_ns;
    else
        pace->saved_ns += (now_ns - pace->last_ns) / COST_SHARE;
    pace->last_ns = now_ns;
    if (pace->saved_ns > most_ns)
        pace->saved_ns = most_ns;
    if (pace->saved_ns < price_ns)
        return false;
    pace->saved_ns -= price_ns;
    return true;
}

void roast__readings_take(struct roast_readings *out, struct roast_slow_files *files,
                          struct roast_pace *pace)
{
    struct roast_throttle throttle;

    (void)pthread_once(&once, find_group); /* not a cost of each reading */
    int64_t from_ns = roast__clock_mono_ns();

    out->slow = true;
    out->sched_known = roast__sched_read(&files->schedstat, &out->sched);
    (void)roast__procio_read(&files->io, &out->io);
    out->throttle_known =
        group_found && roast__throttle_read(&files->cpu_stat, &group, &throttle);
    if (out->throttle_known)
        out->throttled_ns = throttle.throttled_ns;
    out->peak_known = out->mark_was_reset ? roast__peak_read_reset(&out->peak_rss_bytes)
                                          : roast__peak_read(&out->peak_rss_bytes);
    /* the first reading opens files, and any may be interrupted: the estimate falls
     * fast and rises slowly */
    int64_t cost_ns = roast__clock_mono_ns() - from_ns;
    if (pace->cost_ns == 0)
        pace->saved_ns = MAX_SAVED * SIDES * cost_ns;
    if (pace->cost_ns == 0 || cost_ns < pace->cost_ns)
        pace->cost_ns = cost_ns;
    else if (cost_ns < 4 * pace->cost_ns)
        pace->cost_ns += (cost_ns - pace->cost_ns) / 16;
}

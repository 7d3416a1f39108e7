/* SPDX-License-Identifier: BSD-3-Clause */
/* section.c - opens and ends sections; the hot path of the whole library.
 *
 * A section costs two clock readings and one hash of its name. Its end is matched by a
 * serial number: ending a section late, twice, out of order or on another thread cannot
 * change the sum of another one. */
#include "base/clock.h"
#include "probe/chunk/thread.h"
#include "probe/linux/usage.h"

static const struct roast_section_token nothing = {NULL, 0};

/* From here on the sampler raises the peak of this section; a reading before does not
 * count. */
static void begin_peak(roast_thread *thread, struct roast_open_section *open)
{
    atomic_store(&thread->peak_since_ns, open->start_ns);
    open->outer_peak_bytes =
        atomic_exchange(&thread->peak_rss_bytes, open->start_rss_bytes);
}

/* Returns the peak of the section; that of what is around it includes it. */
static uint64_t end_peak(roast_thread *thread, const struct roast_open_section *open)
{
    uint64_t peak_bytes = atomic_load(&thread->peak_rss_bytes);

    if (open->outer_peak_bytes > peak_bytes)
        atomic_store(&thread->peak_rss_bytes, open->outer_peak_bytes);
    return peak_bytes;
}

struct roast_section_token roast_section_begin(roast_thread *thread,
                                               struct roast_str name,
                                               enum roast_section_kind kind)
{
    struct roast_section_tree *tree = &thread->sections;

    if (tree->depth >= ROAST_SECTION_MAX_DEPTH) {
        tree->losses[ROAST_LOSS_section_depth]++;
        return nothing;
    }
    int32_t node = roast__section_tree_node(tree, name, kind);
    struct roast_open_section *open = &tree->open[tree->depth++];
    open->serial = ++tree->serial;
    open->node = node;
    open->kind = kind;
    open->rss_known = kind == ROAST_SECTION_MEMORY &&
                      roast__rss_read(&thread->statm, &open->start_rss_bytes);
    struct roast_section_token token = {thread, open->serial};
    open->start_ns = roast__clock_mono_ns();
    if (open->rss_known)
        begin_peak(thread, open);
    return token;
}

void roast_section_failed(roast_thread *thread, const void *error_token)
{
    roast__section_tree_failed(&thread->sections, error_token);
}

static void add_memory(roast_thread *thread, struct roast_section *sum,
                       const struct roast_open_section *open)
{
    uint64_t end_rss_bytes;

    if (!open->rss_known)
        return;
    uint64_t peak_bytes = end_peak(thread, open);
    if (!roast__rss_read(&thread->statm, &end_rss_bytes))
        return;
    if (!(sum->kinds & ROAST_SECTION_MEMORY))
        sum->memory_start_bytes = open->start_rss_bytes;
    sum->kinds |= ROAST_SECTION_MEMORY;
    sum->memory_end_bytes = end_rss_bytes;
    sum->memory_delta_bytes += (int64_t)(end_rss_bytes - open->start_rss_bytes);
    if (atomic_load(&thread->peak_rss_bytes) < end_rss_bytes)
        atomic_store(&thread->peak_rss_bytes, end_rss_bytes);
    if (!thread->sampled)
        return;
    if (peak_bytes < end_rss_bytes)
        peak_bytes = end_rss_bytes;
    sum->kinds |= ROAST_SECTION_PEAK;
    if (sum->memory_peak_bytes < peak_bytes)
        sum->memory_peak_bytes = peak_bytes;
}

static void keep_interval(roast_thread *thread, const struct roast_open_section *open,
                          uint64_t duration_ns)
{
    struct roast_section_tree *tree = &thread->sections;

    if (tree->interval_count >= ROAST_SECTION_MAX_INTERVALS) {
        tree->losses[ROAST_LOSS_intervals]++;
        return;
    }
    struct roast_interval *interval = &tree->intervals[tree->interval_count++];
    interval->section = (uint32_t)open->node;
    /* a section may begin before the work starts */
    int64_t start_ns = open->start_ns - thread->start_ns;
    interval->start_ns = start_ns > 0 ? (uint64_t)start_ns : 0;
    interval->duration_ns = duration_ns;
}

/* Closes the innermost section and adds its time. */
static void close_top(roast_thread *thread, int64_t now_ns, uint64_t bytes)
{
    struct roast_section_tree *tree = &thread->sections;
    const struct roast_open_section *open = &tree->open[--tree->depth];

    if (open->node == ROAST_SECTION_NO_NODE)
        return;
    struct roast_section *sum = &tree->nodes[open->node].sum;
    uint64_t duration_ns = (uint64_t)(now_ns - open->start_ns);
    sum->count++;
    sum->total_ns += duration_ns;
    if (open->kind == ROAST_SECTION_MEMORY)
        add_memory(thread, sum, open);
    else if (open->kind != ROAST_SECTION_BYTES || bytes != ROAST_UNKNOWN_BYTES)
        sum->kinds |= open->kind;
    if (bytes != ROAST_UNKNOWN_BYTES)
        sum->bytes += bytes;
    keep_interval(thread, open, duration_ns);
}

/* Ends the sections deeper than `depth`, which were left open. */
static void close_above(roast_thread *thread, int64_t now_ns, size_t depth)
{
    while (thread->sections.depth > depth) {
        close_top(thread, now_ns, ROAST_UNKNOWN_BYTES);
        thread->sections.losses[ROAST_LOSS_section_misuse]++;
    }
}

void roast__sections_close(roast_thread *thread, int64_t now_ns)
{
    close_above(thread, now_ns, 0);
}

void roast_section_end(roast_thread *thread, struct roast_section_token token,
                       uint64_t bytes)
{
    int64_t now_ns = roast__clock_mono_ns();
    struct roast_section_tree *tree = &thread->sections;
    size_t depth = token.thread == thread ? tree->depth : 0;

    if (token.serial == 0)
        return;
    while (depth > 0 && tree->open[depth - 1].serial != token.serial)
        depth--;
    if (depth == 0) {
        tree->losses[ROAST_LOSS_section_misuse]++;
        return;
    }
    close_above(thread, now_ns, depth);
    close_top(thread, now_ns, bytes);
}

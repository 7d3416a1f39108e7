/* SPDX-License-Identifier: BSD-3-Clause */
/* row_sums.c - the chunk records of some rows, summed up.
 *
 * A block of rows stays in the first cache while every sum is taken from it. Nearly all
 * blocks know everything, so there is a loop without questions for those. Sums are
 * doubles: exact up to 2^53, and no number that a frame may hold can overflow them. */
#include "analyze/totals/row_sums.h"

#include <math.h>

enum { BLOCK_ROWS = 256 };

/* One column of a block, NaN where not known or where the row does not count; all 0
 * where no row of the run knows it. */
struct lane {
    bool any;   /* some row of the run knows it */
    bool dense; /* no NaN */
    double values[BLOCK_ROWS];
};

struct block {
    const struct roast_attempts *attempts;
    const unsigned char *roles; /* of its rows */
    size_t from;
    size_t count;
    bool whole; /* every row counts */
    struct lane amounts[ROAST_AMOUNTS];
    struct lane derived; /* for what is used at once */
};

/* ---- groups ---------------------------------------------------------------------- */

void roast__group_init(struct roast_group *group)
{
    *group = (struct roast_group){.shortest_ns = INFINITY, .longest_ns = -INFINITY};
}

void roast__group_add(struct roast_group *sum, const struct roast_group *part)
{
    for (int i = 0; i < ROAST_AMOUNTS; i++) {
        sum->sums[i] += part->sums[i];
        sum->without[i] += part->without[i];
    }
    sum->shortest_ns = fmin(sum->shortest_ns, part->shortest_ns);
    sum->longest_ns = fmax(sum->longest_ns, part->longest_ns);
    sum->chunks += part->chunks;
    sum->bare += part->bare;
    sum->bare_events += part->bare_events;
    sum->bare_unknown += part->bare_unknown;
    sum->others += part->others;
    sum->failures += part->failures;
}

static inline void add_extremes(struct roast_group *group, double duration)
{
    /* comparing with a NaN is false: extremes stay */
    group->shortest_ns = duration < group->shortest_ns ? duration : group->shortest_ns;
    group->longest_ns = duration > group->longest_ns ? duration : group->longest_ns;
}

/* A chunk whose process() was not measured: its entries are its events. */
static void add_bare(struct roast_group *group, const struct roast_attempts *attempts,
                     size_t row)
{
    const struct roast_column *start = &attempts->columns[ROAST_COLUMN_entry_start];
    const struct roast_column *stop = &attempts->columns[ROAST_COLUMN_entry_stop];

    group->bare++;
    if (roast__column_has(start, row) && roast__column_has(stop, row) &&
        stop->values[row] >= start->values[row])
        group->bare_events += (double)stop->values[row] - (double)start->values[row];
    else
        group->bare_unknown++;
}

/* Adds an attempt that may know anything. */
static void add_any(struct roast_group *group, const struct block *block, size_t i,
                    unsigned role)
{
    if (role == ROAST_ROLE_BARE) {
        add_bare(group, block->attempts, block->from + i);
        return;
    }
    if (role != ROAST_ROLE_COUNTS) {
        group->others++;
        group->failures += role == ROAST_ROLE_FAILED || role == ROAST_ROLE_LOST;
        return;
    }
    group->chunks++;
    add_extremes(group, block->amounts[ROAST_DURATION_NS].values[i]);
    for (int k = 0; k < ROAST_AMOUNTS; k++) {
        double value = block->amounts[k].values[i];
        if (isnan(value))
            group->without[k]++;
        else
            group->sums[k] += value;
    }
}

static bool is_dense(const struct block *block)
{
    bool dense = block->whole;

    for (int k = 0; k < ROAST_AMOUNTS; k++)
        dense = dense && block->amounts[k].dense;
    return dense;
}

/* Adds every row to the group after the one that `of` numbers: -1 is the first. */
static void add_rows(struct roast_group *groups, const struct block *block,
                     const int32_t *of)
{
    if (is_dense(block)) {
        for (size_t i = 0; i < block->count; i++) {
            /* Adds a chunk of a block without NaN. */
            groups[of[i] + 1].chunks++;
            add_extremes(&groups[of[i] + 1],
                         block->amounts[ROAST_DURATION_NS].values[i]);
            for (int k = 0; k < ROAST_AMOUNTS; k++)
                groups[of[i] + 1].sums[k] += block->amounts[k].values[i];
        }
    } else {
        for (size_t i = 0; i < block->count; i++)
            add_any(&groups[of[i] + 1], block, i, block->roles[i]);
    }
}

/* ---- blocks ---------------------------------------------------------------------- */

static void to_doubles(double *out, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (double)values[i];
}

static void add_to_doubles(double *out, const int64_t *a, const int64_t *b,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (double)a[i] + (double)b[i];
}

static void subtract_to_doubles(double *out, const int64_t *a, const int64_t *b,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (double)a[i] - (double)b[i];
}

static void hide_unknown(double *values, const struct block *block,
                         const struct roast_column *column)
{
    for (size_t i = 0; i < block->count; i++) {
        if (!roast__column_has(column, block->from + i))
            values[i] = NAN;
    }
}

static void hide_others(double *values, const struct block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        if (block->roles[i] != ROAST_ROLE_COUNTS)
            values[i] = NAN;
    }
}

static bool all_known(const struct roast_column *column, const struct block *block)
{
    const unsigned char *bits = column->valid;
    size_t bytes = block->count / 8;
    unsigned rest = (1u << block->count % 8) - 1;
    unsigned char missing = 0;

    if (column->known == 0)
        return false;
    bits += block->from / 8;
    for (size_t i = 0; i < bytes; i++)
        missing |= (unsigned char)~bits[i];
    return missing == 0 && (rest == 0 || (bits[bytes] & rest) == rest);
}

static void load(struct lane *lane, const struct block *block,
                 enum roast_attempt_column name)
{
    const struct roast_column *column = &block->attempts->columns[name];
    bool full = all_known(column, block);

    lane->any = column->known > 0;
    lane->dense = block->whole && (full || !lane->any);
    if (!lane->any)
        return; /* still 0 */
    to_doubles(lane->values, column->values + block->from, block->count);
    if (!full)
        hide_unknown(lane->values, block, column);
    if (!block->whole)
        hide_others(lane->values, block);
}

typedef void combine(double *out, const int64_t *a, const int64_t *b, size_t count);

/* Two columns in one lane, known where both are. */
static void load_two(struct lane *lane, const struct block *block,
                     const enum roast_attempt_column names[2], combine *combined)
{
    const struct roast_column *a = &block->attempts->columns[names[0]];
    const struct roast_column *b = &block->attempts->columns[names[1]];
    bool full = all_known(a, block) && all_known(b, block);

    lane->any = a->known > 0 && b->known > 0;
    lane->dense = block->whole && (full || !lane->any);
    if (!lane->any)
        return;
    combined(lane->values, a->values + block->from, b->values + block->from,
             block->count);
    if (lane->dense)
        return;
    hide_unknown(lane->values, block, a);
    hide_unknown(lane->values, block, b);
    hide_others(lane->values, block);
}

static bool all_count(const unsigned char *roles, size_t count)
{
    unsigned char odd = 0;

    for (size_t i = 0; i < count; i++)
        odd |= roles[i] ^ ROAST_ROLE_COUNTS;
    return odd == 0;
}

static const enum roast_attempt_column read_columns[2] = {ROAST_COLUMN_bytes_read,
                                                          ROAST_COLUMN_bytes_before};
static const enum roast_attempt_column delta_columns[2] = {
    ROAST_COLUMN_rss_after_bytes, ROAST_COLUMN_rss_before_bytes};

/* ---- all of them -------------------------------------------------------------------- */

/* Adds to both sums the rows where both are known. */
static void add_pairs(double *sum_a, double *sum_b, const struct lane *a,
                      const struct lane *b, size_t count)
{
    if (a->dense && b->dense) {
        *sum_a += roast__sum_known(a->values, count);
        *sum_b += roast__sum_known(b->values, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool both = !isnan(a->values[i]) && !isnan(b->values[i]);
        *sum_a += both ? a->values[i] : 0;
        *sum_b += both ? b->values[i] : 0;
    }
}

static void add_spread(struct roast_spread *spread, const struct lane *lane,
                       size_t count)
{
    if (lane->dense) {
        roast__spread_add_known(spread, lane->values, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(lane->values[i]))
            roast__spread_add_known(spread, &lane->values[i], 1);
    }
}

static void add_noncpu(struct roast_row_sums *sums, struct block *block)
{
    const struct lane *duration = &block->amounts[ROAST_DURATION_NS];
    const struct lane *cpu = &block->amounts[ROAST_CPU_NS];
    struct lane *noncpu = &block->derived;
    struct roast_spread spread = {0};

    if (!duration->any || !cpu->any)
        return;
    noncpu->dense = duration->dense && cpu->dense;
    for (size_t i = 0; i < block->count; i++) {
        double wait = duration->values[i] - cpu->values[i];
        noncpu->values[i] = wait < 0 ? 0 : wait; /* two clocks, one after the other */
    }
    if (noncpu->dense) {
        sums->noncpu_ns += roast__sum_known(noncpu->values, block->count);
        sums->noncpu_chunks += block->count;
        return;
    }
    add_spread(&spread, noncpu, block->count);
    sums->noncpu_ns += roast__spread_sum(&spread);
    sums->noncpu_chunks += spread.count;
}

static void add_times(const struct roast_adding *to, struct block *block)
{
    struct roast_row_sums *sums = to->sums;
    const struct lane *duration = &block->amounts[ROAST_DURATION_NS];
    const struct lane *events = &block->amounts[ROAST_EVENTS];
    double *per_event = block->derived.values;

    if (events->any)
        roast__extremes_add(&sums->events, events->values, block->count);
    if (!duration->any)
        return;
    add_spread(&sums->duration_ns, duration, block->count);
    roast__quantiles_add(to->durations_ns, duration->values, block->count);
    if (!events->any)
        return;
    for (size_t i = 0; i < block->count; i++) {
        double quotient = duration->values[i] / events->values[i];
        per_event[i] = events->values[i] > 0 ? quotient : NAN;
    }
    roast__quantiles_add(to->ns_per_event, per_event, block->count);
    add_pairs(&sums->paired_duration_ns, &sums->paired_events, duration, events,
              block->count);
}

static void add_peak(struct roast_row_sums *sums, const struct block *block)
{
    const struct roast_column *column =
        &block->attempts->columns[ROAST_COLUMN_rss_peak_bytes];
    const int64_t *values = column->values;
    int64_t highest = sums->memory_peak_bytes;

    if (column->known == 0)
        return;
    values += block->from;
    if (block->whole && all_known(column, block)) {
        for (size_t i = 0; i < block->count; i++)
            highest = values[i] > highest ? values[i] : highest;
    } else {
        for (size_t i = 0; i < block->count; i++) {
            if (block->roles[i] == ROAST_ROLE_COUNTS &&
                roast__column_has(column, block->from + i) && values[i] > highest)
                highest = values[i];
        }
    }
    sums->memory_peak_bytes = highest;
}

static void add_tasks(struct roast_row_sums *sums, struct block *block)
{
    const struct roast_column *column = &block->attempts->columns[ROAST_COLUMN_task_ns];
    double *values = block->derived.values;

    if (column->known == 0)
        return;
    to_doubles(values, column->values + block->from, block->count);
    if (!all_known(column, block)) {
        for (size_t i = 0; i < block->count; i++) {
            if (!roast__column_has(column, block->from + i))
                values[i] = 0;
        }
    }
    sums->task_ns += roast__sum_known(values, block->count);
}

/* Rows that all know everything. */
static void add_clocks_dense(struct roast_row_sums *sums, const int64_t *took,
                             const int64_t *used, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double wait = (double)took[i] - (double)used[i];
        sums->clocked_cpu_ns += (double)used[i];
        sums->clocked_noncpu_ns += wait < 0 ? 0 : wait; /* two clocks */
    }
    sums->clocked += count;
}

static bool ended_well(unsigned role)
{
    return role == ROAST_ROLE_COUNTS || role == ROAST_ROLE_BARE ||
           role == ROAST_ROLE_REPEAT;
}

static void add_clocks(struct roast_row_sums *sums, const struct block *block)
{
    const struct roast_column *took = &block->attempts->columns[ROAST_COLUMN_task_ns];
    const struct roast_column *used =
        &block->attempts->columns[ROAST_COLUMN_task_cpu_ns];
    size_t from = block->from;

    if (took->known == 0 || used->known == 0)
        return;
    if (block->whole && all_known(took, block) && all_known(used, block)) {
        add_clocks_dense(sums, took->values + from, used->values + from, block->count);
        return;
    }
    for (size_t i = 0; i < block->count; i++) {
        if (ended_well(block->roles[i]) && roast__column_has(took, from + i) &&
            roast__column_has(used, from + i))
            add_clocks_dense(sums, took->values + from + i, used->values + from + i, 1);
    }
}

static void add_memory(struct roast_row_sums *sums, struct block *block)
{
    const struct lane *events = &block->amounts[ROAST_EVENTS];
    struct lane *delta = &block->derived;

    load_two(delta, block, delta_columns, subtract_to_doubles);
    if (!delta->any)
        return;
    add_spread(&sums->memory_delta_bytes.spread, delta, block->count);
    roast__extremes_add(&sums->memory_delta_bytes.extremes, delta->values,
                        block->count);
    if (events->any)
        add_pairs(&sums->paired_delta_bytes, &sums->delta_events, delta, events,
                  block->count);
}

void roast__rows_add(const struct roast_row_block *rows, const struct roast_adding *to)
{
    struct block block = {.attempts = rows->attempts};

    for (size_t first = 0; first < rows->count; first += BLOCK_ROWS) {
        size_t left = rows->count - first;
        block.from = rows->from + first;
        block.count = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        block.roles = rows->roles + first;
        block.whole = all_count(block.roles, block.count);
        load(&block.amounts[ROAST_DURATION_NS], &block, ROAST_COLUMN_duration_ns);
        load(&block.amounts[ROAST_EVENTS], &block, ROAST_COLUMN_num_events);
        load(&block.amounts[ROAST_CPU_NS], &block, ROAST_COLUMN_cpu_ns);
        load_two(&block.amounts[ROAST_BYTES], &block, read_columns, add_to_doubles);
        add_rows(to->groups, &block, to->of + first);
        if (!to->sums)
            continue;
        add_times(to, &block);
        add_noncpu(to->sums, &block);
        add_peak(to->sums, &block);
        add_memory(to->sums, &block);
        add_tasks(to->sums, &block);
        add_clocks(to->sums, &block);
    }
}

/* ---- what is made of them -------------------------------------------------------- */

static bool any_knows(const struct roast_attempts *attempts, enum roast_amount amount)
{
    const struct roast_column *columns = attempts->columns;

    switch (amount) {
    case ROAST_DURATION_NS:
        return columns[ROAST_COLUMN_duration_ns].known > 0;
    case ROAST_EVENTS:
        return columns[ROAST_COLUMN_num_events].known > 0;
    case ROAST_CPU_NS:
        return columns[ROAST_COLUMN_cpu_ns].known > 0;
    default:
        return columns[read_columns[0]].known > 0 && columns[read_columns[1]].known > 0;
    }
}

void roast__groups_finish(struct roast_group *groups, size_t count,
                          const struct roast_attempts *attempts)
{
    bool timed = any_knows(attempts, ROAST_DURATION_NS);

    for (size_t i = 0; !timed && i < count; i++) {
        groups[i].shortest_ns = INFINITY;
        groups[i].longest_ns = -INFINITY;
    }
    for (int k = 0; k < ROAST_AMOUNTS; k++) {
        bool any = any_knows(attempts, (enum roast_amount)k);
        for (size_t i = 0; !any && i < count; i++)
            groups[i].without[k] = groups[i].chunks;
    }
}

void roast__row_sums_init(struct roast_row_sums *sums)
{
    const struct roast_extremes none = {INFINITY, -INFINITY};

    *sums = (struct roast_row_sums){.memory_peak_bytes = -1,
                                    .events = none,
                                    .memory_delta_bytes = {.extremes = none}};
}

static void widen(struct roast_extremes *extremes, const struct roast_extremes *part)
{
    extremes->min = fmin(extremes->min, part->min);
    extremes->max = fmax(extremes->max, part->max);
}

void roast__row_sums_merge(struct roast_row_sums *sums,
                           const struct roast_row_sums *part)
{
    roast__spread_merge(&sums->duration_ns, &part->duration_ns);
    widen(&sums->events, &part->events);
    roast__spread_merge(&sums->memory_delta_bytes.spread,
                        &part->memory_delta_bytes.spread);
    widen(&sums->memory_delta_bytes.extremes, &part->memory_delta_bytes.extremes);
    if (part->memory_peak_bytes > sums->memory_peak_bytes)
        sums->memory_peak_bytes = part->memory_peak_bytes;
    sums->noncpu_ns += part->noncpu_ns;
    sums->noncpu_chunks += part->noncpu_chunks;
    sums->paired_duration_ns += part->paired_duration_ns;
    sums->paired_events += part->paired_events;
    sums->paired_delta_bytes += part->paired_delta_bytes;
    sums->delta_events += part->delta_events;
    sums->task_ns += part->task_ns;
    sums->clocked_cpu_ns += part->clocked_cpu_ns;
    sums->clocked_noncpu_ns += part->clocked_noncpu_ns;
    sums->clocked += part->clocked;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.c - the storage endpoints that bytes came from, over all attempts, and the
 * sizes of what was read there.
 *
 * Failed and repeated attempts used the same storage, so they count too. Sizes and waits
 * are known in bins of powers of two, so that quantiles of them are estimates. */
#include <stdlib.h>

#include "analyze/formulas.h"
#include "analyze/key_table.h"
#include "analyze/record_iter.h"
#include "base/mem.h"
#include "base/str.h"

struct endpoint_sums {
    struct roast_str name; /* borrows the run */
    double requests;
    double ranges;
    double bytes;
    double wait_ns;
    double errors;
    double seeks;
    double sizes[ROAST_SIZE_BINS];
    double waits[ROAST_WAIT_BINS];
};

static void add_endpoint(struct endpoint_sums *sums, const struct roast_endpoint *more)
{
    sums->name = more->name;
    sums->requests += (double)more->requests;
    sums->ranges += (double)more->ranges;
    sums->bytes += (double)more->bytes;
    sums->wait_ns += (double)more->wait_ns;
    sums->errors += (double)more->errors;
    sums->seeks += (double)more->seeks;
    for (int i = 0; i < ROAST_SIZE_BINS; i++)
        sums->sizes[i] += more->sizes[i];
    for (int i = 0; i < ROAST_WAIT_BINS; i++)
        sums->waits[i] += more->waits[i];
}

/* False when out of memory. */
static bool add_record(struct roast_key_table *names, struct roast_str blob)
{
    int64_t count = roast_endpoints_read(NULL, 0, blob, NULL);

    if (count <= 0)
        return true; /* damaged, or none */
    struct roast_endpoint *read = roast__alloc((size_t)count * sizeof(read[0]));
    bool done = read && roast_endpoints_read(read, (size_t)count, blob, NULL) == count;
    for (int64_t i = 0; done && i < count; i++) {
        int64_t number = roast__key_number(
            names, (struct roast_key){.name = read[i].name}, ROAST_NO_HINT);
        done = number >= 0;
        if (!done)
            break;
        add_endpoint((struct endpoint_sums *)names->values + number, &read[i]);
    }
    roast__free(read);
    return done;
}

static int by_bytes(const void *a, const void *b)
{
    const struct endpoint_sums *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return roast__str_compare(left->name, right->name);
}

/* What this share of the values is below; in their bin they are spread evenly over powers
 * of two. NaN without values. */
static double quantile(const double *bins, int count, int first, double share)
{
    double all = 0, below = 0;

    for (int i = 0; i < count; i++)
        all += bins[i];
    for (int i = 0; i < count; i++) {
        if (bins[i] > 0 && below + bins[i] >= share * all)
            return exp2(first + i + (share * all - below) / bins[i]);
        below += bins[i];
    }
    return NAN;
}

static double wait_quantile(const struct endpoint_sums *sums, double share)
{
    return quantile(sums->waits, ROAST_WAIT_BINS, ROAST_WAIT_BINS_FIRST, share) / 1e9;
}

#define AT(name) ROAST_COL_endpoints_##name

static void put_endpoint(roast_table *table, const struct endpoint_sums *sums)
{
    roast__table_row(table);
    roast__fill_text(table, AT(endpoint), sums->name);
    roast__fill_sum(table, AT(requests), sums->requests);
    roast__fill_sum(table, AT(ranges), sums->ranges);
    roast__fill_sum(table, AT(bytes), sums->bytes);
    roast__fill_number(table, AT(mean_request_bytes), sums->bytes / sums->requests);
    roast__fill_number(table, AT(wait_seconds), sums->wait_ns / 1e9);
    roast__fill_sum(table, AT(errors), sums->errors);
    if (sums->seeks > 0) /* else of records without it */
        roast__fill_sum(table, AT(seeks), sums->seeks);
    if (sums->wait_ns > 0)
        roast__fill_number(table, AT(rate), sums->bytes / (sums->wait_ns / 1e9));
    roast__fill_number(table, AT(latency_p50), wait_quantile(sums, 0.5));
    roast__fill_number(table, AT(latency_p99), wait_quantile(sums, 0.99));
}

#undef AT
#define AT(name) ROAST_COL_read_sizes_##name

static void put_sizes(roast_table *table, const struct endpoint_sums *sums)
{
    for (int i = 0; i < ROAST_SIZE_BINS; i++) {
        int64_t from = INT64_C(1) << (ROAST_SIZE_BINS_FIRST + i);
        if (sums->sizes[i] == 0)
            continue;
        roast__table_row(table);
        roast__fill_text(table, AT(endpoint), sums->name);
        roast__fill_int(table, AT(from_bytes), i > 0 ? from : 0);
        if (i + 1 < ROAST_SIZE_BINS)
            roast__fill_int(table, AT(below_bytes), 2 * from);
        roast__fill_sum(table, AT(ranges), sums->sizes[i]);
    }
}

void roast__summarize_endpoints(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_endpoints);
    roast_table *sizes = roast__summary_open(ctx->summary, ROAST_TABLE_read_sizes);
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(endpoints), .roles = ROAST_ROLES_ALL};
    struct roast_key_table names = {.value_bytes = sizeof(struct endpoint_sums)};

    while (!ctx->summary->failed && roast__record_iter_next(&iter))
        ctx->summary->failed |=
            !add_record(&names, iter.rec.values[ROAST_FIELD_endpoints].str);
    if (names.count > 0)
        qsort(names.values, names.count, names.value_bytes, by_bytes);
    for (size_t i = 0; i < names.count; i++) {
        const struct endpoint_sums *sums =
            (const struct endpoint_sums *)names.values + i;
        put_endpoint(table, sums);
        put_sizes(sizes, sums);
    }
    roast__key_table_release(&names);
}

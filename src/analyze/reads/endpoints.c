/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.c - the storage endpoints that bytes came from, over all attempts.
 *
 * Failed and repeated attempts used the same storage, so they count too. */
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
};

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
        struct endpoint_sums *sums = (struct endpoint_sums *)names->values + number;
        sums->name = read[i].name;
        sums->requests += (double)read[i].requests;
        sums->ranges += (double)read[i].ranges;
        sums->bytes += (double)read[i].bytes;
        sums->wait_ns += (double)read[i].wait_ns;
        sums->errors += (double)read[i].errors;
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

void roast__summarize_endpoints(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_endpoints);
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
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_endpoints_endpoint, sums->name);
        roast__fill_sum(table, ROAST_COL_endpoints_requests, sums->requests);
        roast__fill_sum(table, ROAST_COL_endpoints_ranges, sums->ranges);
        roast__fill_sum(table, ROAST_COL_endpoints_bytes, sums->bytes);
        roast__fill_number(table, ROAST_COL_endpoints_mean_request_bytes,
                           sums->bytes / sums->requests);
        roast__fill_number(table, ROAST_COL_endpoints_wait_seconds,
                           sums->wait_ns / 1e9);
        roast__fill_sum(table, ROAST_COL_endpoints_errors, sums->errors);
    }
    roast__key_table_release(&names);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.c - where bytes came from, over all attempts.
 *
 * Attempts that failed or were repeated asked the same storage, so they count too. */
#include <stdlib.h>

#include "analyze/formulas.h"
#include "analyze/name_table.h"
#include "analyze/record_iter.h"
#include "base/array.h"
#include "base/mem.h"

struct place {
    struct roast_str name; /* borrows the run */
    double requests;
    double ranges;
    double bytes;
    double wait_ns;
    double errors;
};

struct places {
    struct roast_name_table names;
    struct place *all; /* owned; by number of the name, until they are sorted */
    size_t cap;
    struct roast_endpoint *read; /* owned; of the record that is read now */
    size_t read_cap;
    bool failed;
};

/* The place of a name, added when it is new; NULL: out of memory. */
static struct place *place_of(struct places *places, struct roast_str name)
{
    size_t known = places->names.count;
    struct place *all =
        roast__array_room(places->all, &places->cap, known, sizeof(all[0]));

    if (!all)
        return NULL;
    places->all = all;
    int64_t number = roast__name_number(
        &places->names, (struct roast_name_key){name, 0}, ROAST_NO_GUESS);
    if (number == (int64_t)known)
        all[number] = (struct place){.name = name};
    return number < 0 ? NULL : &all[number];
}

static void add_record(struct places *places, struct roast_str blob)
{
    int64_t count = roast_endpoints_read(NULL, 0, blob, NULL);

    if (count <= 0)
        return; /* damaged, or none */
    places->read = roast__scratch(places->read, &places->read_cap, (size_t)count,
                                  sizeof(places->read[0]));
    if (!places->read) {
        places->failed = true;
        return;
    }
    (void)roast_endpoints_read(places->read, (size_t)count, blob, NULL);
    for (size_t i = 0; i < (size_t)count && !places->failed; i++) {
        const struct roast_endpoint *endpoint = &places->read[i];
        struct place *place = place_of(places, endpoint->name);
        if (!place) {
            places->failed = true;
            return;
        }
        place->requests += (double)endpoint->requests;
        place->ranges += (double)endpoint->ranges;
        place->bytes += (double)endpoint->bytes;
        place->wait_ns += (double)endpoint->wait_ns;
        place->errors += (double)endpoint->errors;
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct place *left = a, *right = b;

    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return roast__compare_names(left->name, right->name);
}

void roast__summarize_endpoints(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_endpoints);
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(endpoints), .roles = ROAST_ROLES_ALL};
    struct places places = {0};

    while (!places.failed && roast__record_iter_next(&iter))
        add_record(&places, iter.rec.values[ROAST_FIELD_endpoints].str);
    ctx->summary->failed |= places.failed;
    if (places.names.count > 0)
        qsort(places.all, places.names.count, sizeof(places.all[0]), by_bytes);
    for (size_t i = 0; i < places.names.count; i++) {
        const struct place *place = &places.all[i];
        roast__table_row(table);
        roast__fill_text(table, ROAST_COL_endpoints_endpoint, place->name);
        roast__fill_sum(table, ROAST_COL_endpoints_requests, place->requests);
        roast__fill_sum(table, ROAST_COL_endpoints_ranges, place->ranges);
        roast__fill_sum(table, ROAST_COL_endpoints_bytes, place->bytes);
        roast__fill_number(table, ROAST_COL_endpoints_mean_request_bytes,
                           place->bytes / place->requests);
        roast__fill_number(table, ROAST_COL_endpoints_wait_seconds,
                           place->wait_ns / 1e9);
        roast__fill_sum(table, ROAST_COL_endpoints_errors, place->errors);
    }
    roast__name_table_release(&places.names);
    roast__free(places.all);
    roast__free(places.read);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded_metrics.c - what users recorded with record_metric(), summed by name.
 *
 * Numbers only; True is 1. Of a name that a chunk recorded several times the last value
 * counts, as in its record. */
#include "analyze/formulas.h"
#include "analyze/key_table.h"
#include "analyze/record_iter.h"

#define AT(name) ROAST_COL_recorded_metrics_##name

struct metric_sums {
    struct roast_moments values;
    uint64_t chunk;  /* the last one that recorded it, counted from 1 */
    double in_chunk; /* its value there; NaN: none, or no number */
};

static double number_of(const struct roast_value *value)
{
    switch (value->type) {
    case ROAST_VALUE_FALSE:
        return 0;
    case ROAST_VALUE_TRUE:
        return 1;
    case ROAST_VALUE_INT:
        return (double)value->integer;
    case ROAST_VALUE_DOUBLE:
        return isfinite(value->number) ? value->number : NAN;
    default:
        return NAN;
    }
}

static void end_chunk(struct metric_sums *sums)
{
    roast__moments_add(&sums->values, &sums->in_chunk, 1); /* not NaN */
}

/* False when out of memory. */
static bool add_chunk(struct roast_key_table *names, struct roast_str blob,
                      uint64_t chunk)
{
    struct roast_value value;
    struct roast_key key = {.a = 0};
    int64_t number = ROAST_NO_HINT;

    if (roast_values_check(blob, NULL) != ROAST_OK)
        return true;
    while (roast_value_next_key(&key.name, &blob, NULL) == 1) {
        struct roast_str whole = blob;
        (void)roast_value_next(&value, &whole, NULL);
        (void)roast_value_skip(&blob, NULL);
        number = roast__key_number(names, key, number + 1);
        if (number < 0)
            return false;
        struct metric_sums *sums = (struct metric_sums *)names->values + number;
        if (sums->chunk != chunk && sums->chunk != 0)
            end_chunk(sums);
        sums->chunk = chunk;
        sums->in_chunk = number_of(&value);
    }
    return true;
}

void roast__summarize_recorded_metrics(const struct roast_summary_context *ctx)
{
    roast_table *table =
        roast__summary_open(ctx->summary, ROAST_TABLE_recorded_metrics);
    struct roast_key_table names = {.value_bytes = sizeof(struct metric_sums)};
    struct roast_record_iter iter = {.ctx = ctx,
                                     .fields = ROAST_FIELD_BIT(custom_metrics),
                                     .roles = ROAST_ROLES_COUNT};
    uint64_t chunk = 0;
    bool done = true;

    while (done && roast__record_iter_next(&iter))
        done =
            add_chunk(&names, iter.rec.values[ROAST_FIELD_custom_metrics].str, ++chunk);
    ctx->summary->failed |= !done;
    for (size_t i = 0; i < names.count; i++) {
        struct metric_sums *sums = (struct metric_sums *)names.values + i;
        end_chunk(sums);
        roast__table_row(table);
        roast__fill_text(table, AT(name), names.keys[i].name);
        roast__fill_count(table, AT(count), (uint64_t)sums->values.count);
        if (sums->values.count == 0)
            continue;
        roast__fill_number(table, AT(mean), roast__moments_mean(&sums->values));
        roast__fill_number(table, AT(min), sums->values.min);
        roast__fill_number(table, AT(max), sums->values.max);
    }
    roast__key_table_release(&names);
}

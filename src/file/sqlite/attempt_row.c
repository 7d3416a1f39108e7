/* SPDX-License-Identifier: BSD-3-Clause */
/* attempt_row.c - a row of the table `attempts`: names, and differences.
 *
 * Most of what an attempt has lies close to something else it has: its CPU time to its
 * duration, its memory after to that before, its last entry to the first one plus the
 * events. The slices of the ladder add up to the attempt, so the largest one need not be
 * stored at all. Differences wrap like those of store/rest.c, so that any number comes
 * back as it was. */
#include "file/sqlite/attempt_row.h"

#include <string.h>

#include "run/array.h"

static const char *const names[ROAST_ROW_COUNT] = {
    "id", "state", "process", "source", "chunk_id",
#define C(name, text) #name,
#include "run/attempt_columns.def"
#undef C
#define I(number, name, kind, shown, text) "item_" #name,
#include "roast/ladder_items.def"
#undef I
};

/* A column is stored without `sign` times another one, where that is known. */
struct term {
    unsigned char column;
    unsigned char other;
    signed char sign;
};

#define TERM(column, sign, other) \
    { \
        ROAST_ROW_##column, ROAST_ROW_##other, (sign) \
    }
#define SLICE(other) TERM(item_compute, -1, item_##other)

/* In the order of undoing: what another one needs comes before it. The list is part of
 * the format. */
static const struct term terms[] = {
    TERM(chunk_id, 1, id),
    TERM(cpu_ns, 1, duration_ns),
    TERM(entry_stop, 1, entry_start),
    TERM(entry_stop, 1, num_events),
    TERM(rss_after_bytes, 1, rss_before_bytes),
    TERM(rss_peak_bytes, 1, rss_after_bytes),
    TERM(bytes_before, 1, item_open_bytes),
    TERM(bytes_before, 1, item_metadata_bytes),
    TERM(item_column_bytes, 1, bytes_read),
    TERM(task_start_ns, 1, start_ns),
    TERM(task_start_ns, -1, item_import),
    TERM(task_start_ns, -1, item_open),
    TERM(task_start_ns, -1, item_form),
    TERM(task_ns, 1, duration_ns),
    TERM(task_ns, 1, item_import),
    TERM(task_ns, 1, item_open),
    TERM(task_ns, 1, item_form),
    TERM(task_ns, 1, item_result),
    TERM(task_cpu_ns, 1, cpu_ns),
    TERM(item_compute, 1, task_ns),
    SLICE(import),
    SLICE(open),
    SLICE(form),
    SLICE(fetch),
    SLICE(decompress),
    SLICE(interpret),
    SLICE(read_other),
    SLICE(write),
    SLICE(result),
    SLICE(unnamed),
};

enum { TERM_COUNT = sizeof(terms) / sizeof(terms[0]) };

/* ---- values ------------------------------------------------------------------------ */

/* What is not known is 0 and takes nothing away. */
static int64_t part_of(const struct roast_attempt_row *row, struct term term)
{
    int64_t other = row->values[term.other];

    return term.sign > 0 ? other : roast__wrap_sub(0, other);
}

static void shift(struct roast_attempt_row *row, enum roast_row_column column,
                  int64_t by)
{
    if (roast__row_has(row, column))
        row->values[column] = roast__wrap_add(row->values[column], by);
}

void roast__row_pack(struct roast_attempt_row *row, int64_t start_ns)
{
    for (size_t i = TERM_COUNT; i-- > 0;)
        shift(row, terms[i].column, roast__wrap_sub(0, part_of(row, terms[i])));
    shift(row, ROAST_ROW_start_ns, roast__wrap_sub(0, start_ns));
}

void roast__row_unpack(struct roast_attempt_row *row, int64_t start_ns)
{
    shift(row, ROAST_ROW_start_ns, start_ns);
    for (size_t i = 0; i < TERM_COUNT; i++)
        shift(row, terms[i].column, part_of(row, terms[i]));
}

/* ---- names and expressions --------------------------------------------------------- */

static void put(struct roast_buf *out, const char *text)
{
    roast__buf_put(out, text, strlen(text));
}

static bool is_difference(enum roast_row_column column)
{
    for (size_t i = 0; i < TERM_COUNT; i++) {
        if (terms[i].column == column)
            return true;
    }
    return column == ROAST_ROW_start_ns;
}

void roast__row_put_name(struct roast_buf *out, enum roast_row_column column)
{
    if (is_difference(column))
        put(out, "d_");
    put(out, names[column]);
}

/* Calls itself as deep as differences of differences go, which the list above says. */
void roast__row_put_value(struct roast_buf *out, enum roast_row_column column,
                          uint64_t columns)
{
    if (!(columns >> column & 1)) {
        put(out, "NULL");
        return;
    }
    put(out, "(a.");
    roast__row_put_name(out, column);
    if (column == ROAST_ROW_start_ns)
        put(out, "+r.start_ns");
    for (size_t i = 0; i < TERM_COUNT; i++) {
        if (terms[i].column != column || !(columns >> terms[i].other & 1))
            continue;
        put(out, terms[i].sign > 0 ? "+coalesce(" : "-coalesce(");
        roast__row_put_value(out, (enum roast_row_column)terms[i].other, columns);
        put(out, ",0)");
    }
    put(out, ")");
}

int roast__row_find(struct roast_str name)
{
    for (int i = 0; i < ROAST_ROW_COUNT; i++) {
        if (strlen(names[i]) == name.size_bytes &&
            memcmp(names[i], name.data, name.size_bytes) == 0)
            return i;
    }
    return -1;
}

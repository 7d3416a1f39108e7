/* SPDX-License-Identifier: BSD-3-Clause */
/* builder.c - tables while they are filled, row by row.
 *
 * A column allocates memory with its first value. Columns without values share a block of
 * zeros, so that a table with many columns takes memory only for known values. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "table/internal.h"

enum { FEWEST_ROWS = 16 };

/* Whole words: Arrow readers read 64 bits at a time. */
static size_t bitmap_bytes(size_t rows)
{
    return (rows + 63) / 64 * sizeof(uint64_t);
}

/* ---- new and finish -------------------------------------------------------------- */

roast_table *roast__table_new(enum roast_table_id id, size_t rows)
{
    size_t count = roast__table_listed(id);
    roast_table *table =
        roast__alloc(sizeof(*table) + count * sizeof(table->columns[0]));

    if (!table)
        return NULL;
    atomic_init(&table->references, 1);
    table->id = id;
    table->first = roast__table_first(id);
    table->count = count;
    table->cap = rows > 0 ? rows : FEWEST_ROWS;
    for (size_t i = 0; i < count; i++) {
        struct roast_stored_column *column = &table->columns[i];
        column->info = roast__table_info(id, i);
        column->width = column->info.type == ROAST_DTYPE_BOOL   ? sizeof(unsigned char)
                        : column->info.type == ROAST_DTYPE_TEXT ? sizeof(int32_t)
                                                                : sizeof(int64_t);
        column->last_word = ROAST_NO_STRING;
    }
    return table;
}

void roast__table_fail(roast_table *table)
{
    if (table)
        table->failed = true;
}

bool roast__table_ok(const roast_table *table)
{
    return table && !table->failed;
}

/* Joins the texts of each list by ", ". False when out of memory. */
static bool join_lists(struct roast_stored_column *column, int64_t *ends)
{
    size_t used = 0;

    column->joined = roast__alloc(2 * column->words.bytes_used + 1);
    for (size_t i = 0; column->joined && i < column->words.count; i++) {
        struct roast_str list = roast__strings_get(&column->words, (int32_t)i), item;
        const char *separator = "";
        while (roast_table_item(&item, &list)) {
            memcpy(column->joined + used, separator, strlen(separator));
            used += strlen(separator);
            memcpy(column->joined + used, item.data, item.size_bytes);
            used += item.size_bytes;
            separator = ", ";
        }
        ends[i + 1] = (int64_t)used;
    }
    column->info.words = column->joined;
    return column->joined != NULL;
}

static bool finish_words(struct roast_stored_column *column)
{
    static const int64_t no_ends[2];
    const struct roast_string_table *words = &column->words;

    if (words->count == 0) {
        column->info.ends = no_ends + 1;
        return true;
    }
    int64_t *ends = roast__alloc((words->count + 1) * sizeof(ends[0]));
    if (!ends)
        return false;
    column->info.ends = ends + 1; /* after the 0 that Arrow requires */
    column->info.word_count = words->count;
    column->info.words = words->bytes;
    for (size_t i = 0; i < words->count; i++)
        ends[i + 1] = (int64_t)words->ends[i];
    return !column->info.is_list || join_lists(column, ends);
}

/* The offset of the bitmap, behind the values in the same block. */
static size_t values_bytes(const struct roast_stored_column *column, size_t rows)
{
    return (rows * column->width + 7) / 8 * 8;
}

/* Resizes from `before` to `cap` values; new ones are zero. */
static bool resize(struct roast_stored_column *column, size_t before, size_t cap)
{
    size_t old_values = values_bytes(column, before),
           values = values_bytes(column, cap);
    size_t old_bits = bitmap_bytes(before), bits = bitmap_bytes(cap);

    if (cap < before)
        memmove(column->values + values, column->values + old_values, bits);
    unsigned char *block = roast__realloc(column->values, values + bits);
    if (!block)
        return false;
    if (cap > before) {
        memmove(block + values, block + old_values, old_bits);
        memset(block + values + old_bits, 0, bits - old_bits);
        memset(block + before * column->width, 0, values - before * column->width);
    }
    column->values = block;
    column->valid = block + values;
    return true;
}

static bool finish_column(roast_table *table, struct roast_stored_column *column)
{
    struct roast_table_column *info = &column->info;

    static const uint64_t few_zeros[FEWEST_ROWS];

    info->unknown = table->rows - column->known;
    if (column->known == 0 && table->rows > FEWEST_ROWS && !table->zeros) {
        table->zeros = roast__alloc(table->rows * sizeof(int64_t));
        if (!table->zeros)
            return false;
    }
    info->values = info->valid = table->zeros ? table->zeros : few_zeros;
    if (column->known > 0) {
        if (table->cap > FEWEST_ROWS && !resize(column, table->cap, table->rows))
            return false;
        info->values = column->values;
        info->valid = column->valid;
    }
    if (info->unknown == 0)
        info->valid = NULL;
    return info->type != ROAST_DTYPE_TEXT || finish_words(column);
}

int roast__table_finish(roast_table **out, roast_error *err)
{
    roast_table *table = *out;
    bool done = roast__table_ok(table);

    for (size_t i = 0; done && i < table->count; i++)
        done = finish_column(table, &table->columns[i]);
    if (done)
        return ROAST_OK;
    int status = roast_error_set(err, ROAST_NO_MEMORY, "a table of %zu rows",
                                 roast_table_rows(table));
    roast_table_free(table);
    *out = NULL;
    return status;
}

/* ---- parts ----------------------------------------------------------------------- */

void roast__table_part(roast_table *table, const struct roast_table_parts *parts)
{
    if (table)
        table->parts = parts;
}

/* Without slots: texts can be read by their numbers. */
static bool copy_words(struct roast_string_table *to,
                       const struct roast_string_table *from)
{
    *to = (struct roast_string_table){.bytes_used = from->bytes_used,
                                      .count = from->count};
    if (from->count == 0)
        return true;
    to->bytes = roast__realloc(NULL, from->bytes_used + 1);
    to->ends = roast__realloc(NULL, from->count * sizeof(to->ends[0]));
    if (!to->bytes || !to->ends)
        return false;
    memcpy(to->bytes, from->bytes, from->bytes_used);
    memcpy(to->ends, from->ends, from->count * sizeof(to->ends[0]));
    return true;
}

/* Moves all rows to a table of their own, and passes it on. Words remain, too, because
 * their numbers are known to the caller. */
static bool put_part(roast_table *table)
{
    size_t size = sizeof(*table) + table->count * sizeof(table->columns[0]);
    roast_table *part = roast__alloc(size);
    bool done = part != NULL;

    if (!done)
        return false;
    memcpy(part, table, size);
    atomic_init(&part->references, 1);
    for (size_t i = 0; i < table->count; i++) {
        struct roast_stored_column *column = &table->columns[i];
        done = copy_words(&part->columns[i].words, &column->words) && done;
        column->values = column->valid = NULL;
        column->known = 0;
    }
    table->rows = 0;
    part->failed = !done;
    return roast__table_finish(&part, NULL) == ROAST_OK &&
           table->parts->put(table->parts->context, part);
}

/* ---- rows ------------------------------------------------------------------------ */

void roast__table_row(roast_table *table)
{
    if (!roast__table_ok(table))
        return;
    if (table->parts && table->rows == table->parts->rows && !put_part(table)) {
        table->failed = true;
        return;
    }
    if (table->rows == table->cap) {
        size_t cap = table->cap * 2;
        table->failed = table->cap > SIZE_MAX / 4 / sizeof(int64_t);
        for (size_t i = 0; i < table->count && !table->failed; i++) {
            struct roast_stored_column *column = &table->columns[i];
            table->failed = column->known > 0 && !resize(column, table->cap, cap);
        }
        table->cap = cap;
    }
    table->rows += !table->failed;
}

/* The address of a value in the last row, which becomes known; NULL: out of memory. */
static void *slot(roast_table *table, int col)
{
    if (!roast__table_ok(table))
        return NULL;
    assert(col >= table->first && (size_t)(col - table->first) < table->count &&
           table->rows > 0);
    struct roast_stored_column *column = &table->columns[col - table->first];
    size_t row = table->rows - 1;
    if (column->known == 0 && !column->values && !resize(column, 0, table->cap)) {
        table->failed = true;
        return NULL;
    }
    unsigned char bit = (unsigned char)(1u << (row & 7));
    column->known += !(column->valid[row >> 3] & bit);
    column->valid[row >> 3] |= bit;
    return column->values + row * column->width;
}

/* ---- values ---------------------------------------------------------------------- */

static inline bool has_type(const roast_table *table, int col, enum roast_dtype type)
{
    return !table || table->columns[col - table->first].info.type == type;
}

void roast__fill_int(roast_table *table, int col, int64_t value)
{
    assert(has_type(table, col, ROAST_DTYPE_INT64) ||
           has_type(table, col, ROAST_DTYPE_TIME));
    int64_t *out_value = slot(table, col);

    if (out_value)
        *out_value = value;
}

void roast__fill_count(roast_table *table, int col, uint64_t count)
{
    if (count <= INT64_MAX)
        roast__fill_int(table, col, (int64_t)count);
}

void roast__fill_sum(roast_table *table, int col, double count)
{
    if (count > -0x1p63 && count < 0x1p63)
        roast__fill_int(table, col, (int64_t)count);
}

void roast__fill_number(roast_table *table, int col, double value)
{
    assert(has_type(table, col, ROAST_DTYPE_DOUBLE));
    double *out_value = isfinite(value) ? slot(table, col) : NULL;

    if (out_value)
        *out_value = value;
}

void roast__fill_bool(roast_table *table, int col, bool value)
{
    assert(has_type(table, col, ROAST_DTYPE_BOOL));
    unsigned char *out_value = slot(table, col);

    if (out_value)
        *out_value = value;
}

void roast__fill_word(roast_table *table, int col, int32_t word)
{
    assert(has_type(table, col, ROAST_DTYPE_TEXT));
    int32_t *out_value = word >= 0 ? slot(table, col) : NULL;

    if (out_value)
        *out_value = word;
}

void roast__fill_text(roast_table *table, int col, struct roast_str text)
{
    roast__fill_word(table, col, roast__table_word(table, col, text));
}

void roast__fill_string(roast_table *table, int col, const char *text)
{
    roast__fill_text(table, col, roast_str_of(text));
}

void roast__fill_from(roast_table *table, int col, const roast_table *from, size_t row,
                      int from_col)
{
    if (!roast_table_known(from, row, from_col))
        return;
    const struct roast_stored_column *column = &from->columns[from_col - from->first];
    const void *value = column->values + row * column->width;
    if (column->info.type == ROAST_DTYPE_TEXT) {
        roast__fill_text(table, col, roast_table_text(from, row, from_col));
        return;
    }
    assert(has_type(table, col, column->info.type));
    void *out_value = slot(table, col);
    if (out_value)
        memcpy(out_value, value, column->width);
}

/* ---- words ----------------------------------------------------------------------- */

int32_t roast__table_word(roast_table *table, int col, struct roast_str text)
{
    if (!text.data || !roast__table_ok(table))
        return ROAST_NO_STRING;
    struct roast_stored_column *column = &table->columns[col - table->first];
    struct roast_str last = roast__strings_get(&column->words, column->last_word);
    if (last.data && last.size_bytes == text.size_bytes &&
        memcmp(last.data, text.data, text.size_bytes) == 0)
        return column->last_word; /* rows often repeat the text of the previous row */

    unsigned char bits = 0; /* OR of all bytes; below 0x80: ASCII */
    for (size_t i = 0; i < text.size_bytes; i++)
        bits |= (unsigned char)text.data[i];
    struct roast_buf clean = {0};
    if (bits >= 0x80) {
        roast__put_utf8(&clean, text);
        text = (struct roast_str){(const char *)clean.data, clean.size_bytes};
    }
    int32_t word = roast__buf_ok(&clean) ? roast__strings_put(&column->words, text)
                                         : ROAST_STRING_NO_MEMORY;
    roast__buf_release(&clean);
    table->failed = word < 0;
    if (word >= 0)
        column->last_word = word;
    return word;
}

/* ---- lists ----------------------------------------------------------------------- */

void roast__list_add(struct roast_buf *list, struct roast_str text)
{
    for (size_t i = 0; i < text.size_bytes; i++) /* NUL separates the texts */
        roast__buf_put(list, text.data[i] != '\0' ? &text.data[i] : " ", 1);
    roast__buf_put(list, "", 1);
}

void roast__fill_list(roast_table *table, int col, struct roast_buf *list)
{
    if (!roast__buf_ok(list))
        roast__table_fail(table);
    else
        roast__fill_text(table, col,
                         (struct roast_str){list->data ? (const char *)list->data : "",
                                            list->size_bytes});
    roast__buf_release(list);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_build.c - the tables of columns.def while they are filled, row by row.
 *
 * A column takes memory with its first value. Those that never get one share a block of
 * zeros, so that a table of many columns costs what is known. */
#include <math.h>
#include <stdatomic.h>

#include "analyze/tables/columns.h"
#include "analyze/tables/columns_own.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/string_table.h"
#include "base/utf8.h"

enum { FEWEST_ROWS = 16 };

/* One column; what every value needs stands first. */
struct building {
    unsigned char *values; /* owned; NULL while nothing is known */
    unsigned char *valid;  /* owned */
    size_t known;
    size_t width;                    /* bytes of a value */
    struct roast_data data;          /* name, type, unit, text */
    struct roast_string_table words; /* owned */
    int32_t last_word;
};

struct roast_builder {
    int first; /* roast_at of the first column */
    size_t count;
    size_t rows;
    size_t cap;
    bool failed;
    struct building columns[];
};

static size_t width_of(enum roast_data_type type)
{
    switch (type) {
    case ROAST_DATA_BOOL:
        return sizeof(unsigned char);
    case ROAST_DATA_TEXT:
        return sizeof(int32_t);
    case ROAST_DATA_INT64:
    case ROAST_DATA_DOUBLE:
    case ROAST_DATA_TIME:
        break;
    }
    return sizeof(int64_t);
}

/* Whole words: Arrow's readers like to take 64 bits at once. */
static size_t bitmap_bytes(size_t rows)
{
    return (rows + 63) / 64 * sizeof(uint64_t);
}

/* ---- begin and end --------------------------------------------------------------- */

struct roast_builder *roast__builder_new(enum roast_columns_table table, size_t rows)
{
    size_t count = roast__columns_listed(table);
    struct roast_builder *builder =
        roast__alloc(sizeof(*builder) + count * sizeof(builder->columns[0]));

    if (!builder)
        return NULL;
    builder->first = roast__columns_first(table);
    builder->count = count;
    builder->cap = rows > 0 ? rows : FEWEST_ROWS;
    for (size_t i = 0; i < count; i++) {
        builder->columns[i].data = roast__columns_info(table, i);
        builder->columns[i].width = width_of(builder->columns[i].data.type);
        builder->columns[i].last_word = ROAST_NO_STRING;
    }
    return builder;
}

void roast__builder_free(struct roast_builder *builder)
{
    if (!builder)
        return;
    for (size_t i = 0; i < builder->count; i++) {
        roast__free(builder->columns[i].values);
        roast__free(builder->columns[i].valid);
        roast__strings_release(&builder->columns[i].words);
    }
    roast__free(builder);
}

void roast__builder_fail(struct roast_builder *builder)
{
    builder->failed = true;
}

bool roast__builder_ok(const struct roast_builder *builder)
{
    return !builder->failed;
}

/* Memory that was for more; where it cannot be given back it stays. */
static void *shrink(void *block, size_t bytes)
{
    void *smaller = roast__realloc(block, bytes);

    return smaller ? smaller : block;
}

static bool move_words(struct roast_data *data, struct roast_string_table *words)
{
    int64_t *ends = roast__alloc((words->count + 1) * sizeof(ends[0]));

    if (!ends)
        return false;
    for (size_t i = 0; i < words->count; i++)
        ends[i + 1] = (int64_t)words->ends[i];
    data->ends = ends + 1; /* behind the 0 that Arrow wants to see */
    data->word_count = words->count;
    data->words = words->bytes;
    words->bytes = NULL;
    return true;
}

/* Moves a column to the table; what it does not move, the builder frees. */
static bool move_column(struct roast_columns *columns, struct roast_data *data,
                        struct building *from)
{
    *data = from->data;
    data->values = columns->zeros;
    data->unknown = columns->rows - from->known;
    if (from->known > 0) {
        data->values = shrink(from->values, columns->rows * from->width);
        from->values = NULL;
    }
    if (data->unknown > 0 && from->known > 0) {
        data->valid = shrink(from->valid, bitmap_bytes(columns->rows));
        from->valid = NULL;
    } else if (data->unknown > 0) {
        data->valid = columns->zeros;
    }
    return data->type != ROAST_DATA_TEXT || move_words(data, &from->words);
}

static bool move_all(struct roast_columns *columns, struct roast_builder *builder)
{
    columns->rows = builder->rows;
    columns->zeros = roast__alloc(builder->rows * sizeof(int64_t));
    columns->data = roast__alloc(builder->count * sizeof(columns->data[0]));
    if (!columns->zeros || !columns->data)
        return false;
    for (size_t i = 0; i < builder->count; i++) {
        columns->count++;
        if (!move_column(columns, &columns->data[i], &builder->columns[i]))
            return false;
    }
    return true;
}

int roast__builder_finish(roast_columns **out, struct roast_builder *builder,
                          roast_error *err)
{
    struct roast_columns *columns = roast__alloc(sizeof(*columns));
    size_t rows = builder->rows;
    int status = ROAST_OK;

    if (columns)
        atomic_init(&columns->holders, 1);
    if (builder->failed || !columns || !move_all(columns, builder)) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "a table of %zu rows", rows);
        roast_columns_free(columns);
        columns = NULL;
    }
    *out = columns;
    roast__builder_free(builder);
    return status;
}

/* ---- rows ------------------------------------------------------------------------ */

/* Room for `cap` items in the place of `before`, zeroed behind those. */
static bool grow_block(unsigned char **block, size_t before_bytes, size_t bytes)
{
    unsigned char *larger = roast__realloc(*block, bytes);

    if (!larger)
        return false;
    memset(larger + before_bytes, 0, bytes - before_bytes);
    *block = larger;
    return true;
}

static bool grow_column(struct building *column, size_t before, size_t cap)
{
    return grow_block(&column->values, before * column->width, cap * column->width) &&
           grow_block(&column->valid, bitmap_bytes(before), bitmap_bytes(cap));
}

static bool grow(struct roast_builder *builder)
{
    size_t cap = builder->cap * 2;

    if (builder->cap > SIZE_MAX / 4 / sizeof(int64_t))
        return false;
    for (size_t i = 0; i < builder->count; i++) {
        struct building *column = &builder->columns[i];
        if (column->known > 0 && !grow_column(column, builder->cap, cap))
            return false;
    }
    builder->cap = cap;
    return true;
}

void roast__builder_row(struct roast_builder *builder)
{
    if (builder->rows == builder->cap && !builder->failed && !grow(builder))
        builder->failed = true;
    if (!builder->failed)
        builder->rows++;
}

/* The value of a column in the last row, known from now on; NULL: out of memory. */
static void *slot(struct roast_builder *builder, int at)
{
    struct building *column = &builder->columns[at - builder->first];
    size_t row = builder->rows - 1;

    if (builder->failed)
        return NULL;
    if (column->known == 0 && !grow_column(column, 0, builder->cap)) {
        builder->failed = true;
        return NULL;
    }
    unsigned char bit = (unsigned char)(1u << (row & 7));
    column->known += !(column->valid[row >> 3] & bit);
    column->valid[row >> 3] |= bit;
    return column->values + row * column->width;
}

/* ---- values ---------------------------------------------------------------------- */

void roast__fill_int(struct roast_builder *builder, int at, int64_t value)
{
    int64_t *place = slot(builder, at);

    if (place)
        *place = value;
}

void roast__fill_count(struct roast_builder *builder, int at, uint64_t count)
{
    if (count <= INT64_MAX)
        roast__fill_int(builder, at, (int64_t)count);
}

void roast__fill_sum(struct roast_builder *builder, int at, double count)
{
    if (count > -0x1p63 && count < 0x1p63)
        roast__fill_int(builder, at, (int64_t)count);
}

void roast__fill_number(struct roast_builder *builder, int at, double value)
{
    double *place = isfinite(value) ? slot(builder, at) : NULL;

    if (place)
        *place = value;
}

void roast__fill_bool(struct roast_builder *builder, int at, bool value)
{
    unsigned char *place = slot(builder, at);

    if (place)
        *place = value;
}

void roast__fill_word(struct roast_builder *builder, int at, int32_t word)
{
    int32_t *place = word >= 0 ? slot(builder, at) : NULL;

    if (place)
        *place = word;
}

void roast__fill_text(struct roast_builder *builder, int at, struct roast_str text)
{
    roast__fill_word(builder, at, roast__word(builder, at, text));
}

/* ---- words ----------------------------------------------------------------------- */

static bool is_ascii(struct roast_str text)
{
    unsigned char bits = 0;

    for (size_t i = 0; i < text.size_bytes; i++)
        bits |= (unsigned char)text.data[i];
    return bits < 0x80;
}

/* Copies a text to `out`; of what is no UTF-8 every byte becomes U+FFFD. */
static void put_clean(struct roast_buf *out, struct roast_str text)
{
    while (text.size_bytes > 0 && roast__buf_ok(out)) {
        uint32_t code;
        size_t size = roast__utf8_decode(&code, text);
        if (size > 0)
            roast__buf_put(out, text.data, size);
        else
            roast__buf_put(out, "\xef\xbf\xbd", 3);
        size += size == 0;
        text.data += size;
        text.size_bytes -= size;
    }
}

static int32_t clean_word(struct building *column, struct roast_str text)
{
    struct roast_buf clean = {0};
    int32_t word = ROAST_STRING_NO_MEMORY;

    put_clean(&clean, text);
    if (roast__buf_ok(&clean))
        word = roast__strings_put(
            &column->words, (struct roast_str){(char *)clean.data, clean.size_bytes});
    roast__buf_release(&clean);
    return word;
}

int32_t roast__word(struct roast_builder *builder, int at, struct roast_str text)
{
    struct building *column = &builder->columns[at - builder->first];
    struct roast_str last = roast__strings_get(&column->words, column->last_word);
    int32_t word;

    if (!text.data || builder->failed)
        return ROAST_NO_STRING;
    if (last.data && last.size_bytes == text.size_bytes &&
        memcmp(last.data, text.data, text.size_bytes) == 0)
        return column->last_word; /* rows say what the row before them said */
    word = is_ascii(text) ? roast__strings_put(&column->words, text)
                          : clean_word(column, text);
    if (word < 0)
        builder->failed = true;
    else
        column->last_word = word;
    return word;
}

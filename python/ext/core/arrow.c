/* SPDX-License-Identifier: BSD-3-Clause */
/* arrow.c - a table as an Arrow stream of one batch.
 *
 * Only flags are copied, because Arrow stores them as bits. Consumers may move columns
 * out of a batch and free the others, so every array holds a reference to the table.
 * Memory comes from malloc(): it is freed on threads without a Python state. */
#include "arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- schemas --------------------------------------------------------------------- */

static const char *format_of(const struct roast_table_column *data)
{
    switch (data->type) {
    case ROAST_DTYPE_INT64:
        return "l";
    case ROAST_DTYPE_DOUBLE:
        return "g";
    case ROAST_DTYPE_BOOL:
        return "b";
    case ROAST_DTYPE_TIME:
        return "tsn:UTC";
    case ROAST_DTYPE_TEXT:
        break;
    }
    return "i"; /* numbers of words; the words are the dictionary */
}

static void release_inner_schema(struct ArrowSchema *schema)
{
    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children && i < schema->n_children; i++)
        release_inner_schema(schema->children[i]);
    free(schema->children);
    release_inner_schema(schema->dictionary);
    free(schema->private_data);
    schema->release = NULL;
}

static char *put_sized(char *at, const char *text)
{
    const int32_t size = (int32_t)strlen(text);

    memcpy(at, &size, sizeof(size));
    memcpy(at + sizeof(size), text, (size_t)size);
    return at + sizeof(size) + size;
}

/* {"unit": unit} in Arrow's format: the number of pairs, then each text after its size,
 * as native int32. NULL when out of memory. */
static char *unit_metadata_new(const char *unit)
{
    static const char key[] = "unit";
    const int32_t pairs = 1;
    char *bytes = malloc(3 * sizeof(int32_t) + strlen(key) + strlen(unit));

    if (!bytes)
        return NULL;
    memcpy(bytes, &pairs, sizeof(pairs));
    (void)put_sized(put_sized(bytes + sizeof(pairs), key), unit);
    return bytes;
}

/* Names and formats are static, metadata is owned; NULL when out of memory. */
static struct ArrowSchema *inner_schema_new(const char *format, const char *name)
{
    struct ArrowSchema *schema = calloc(1, sizeof(*schema));

    if (!schema)
        return NULL;
    schema->format = format;
    schema->name = name;
    schema->flags = ARROW_NULLABLE;
    schema->release = release_schema;
    return schema;
}

static struct ArrowSchema *column_schema_new(const struct roast_table_column *data)
{
    struct ArrowSchema *schema = inner_schema_new(format_of(data), data->name);
    bool is_text = data->type == ROAST_DTYPE_TEXT;
    bool has_unit = data->unit[0] != '\0';

    if (!schema)
        return NULL;
    if (is_text)
        schema->dictionary = inner_schema_new("U", "");
    if (has_unit)
        schema->metadata = schema->private_data = unit_metadata_new(data->unit);
    if ((!is_text || schema->dictionary) && (!has_unit || schema->metadata))
        return schema;
    release_inner_schema(schema);
    return NULL;
}

/* 0, or ENOMEM and then nothing is in out. */
static int fill_schema(struct ArrowSchema *out, const roast_table *columns)
{
    size_t count = roast_table_width(columns);

    *out = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    out->children = calloc(count > 0 ? count : 1, sizeof(void *));
    for (size_t i = 0; out->children && i < count; i++) {
        out->children[i] = column_schema_new(roast_table_column(columns, i));
        if (!out->children[i])
            break;
        out->n_children++;
    }
    if (out->children && out->n_children == (int64_t)count)
        return 0;
    release_schema(out);
    return ENOMEM;
}

/* ---- arrays ---------------------------------------------------------------------- */

/* private_data of an array. */
struct held {
    roast_table *columns; /* a reference */
    unsigned char *bits;  /* owned; flags */
    const void *buffers[3];
};

static void release_inner_array(struct ArrowArray *array)
{
    if (array && array->release)
        array->release(array);
    free(array);
}

static void release_array(struct ArrowArray *array)
{
    struct held *held = array->private_data;

    for (int64_t i = 0; array->children && i < array->n_children; i++)
        release_inner_array(array->children[i]);
    free(array->children);
    release_inner_array(array->dictionary);
    roast_table_free(held->columns);
    free(held->bits);
    free(held);
    array->release = NULL;
}

/* Fills an array that has no buffers yet; false when out of memory, and then nothing is
 * in out. */
static bool fill_array(struct ArrowArray *out, roast_table *columns, size_t length)
{
    struct held *held = calloc(1, sizeof(*held));

    *out = (struct ArrowArray){.length = (int64_t)length};
    if (!held)
        return false;
    held->columns = roast_table_hold(columns);
    out->buffers = held->buffers;
    out->private_data = held;
    out->release = release_array;
    return true;
}

static struct ArrowArray *inner_array_new(roast_table *columns, size_t length)
{
    struct ArrowArray *array = malloc(sizeof(*array));

    if (array && fill_array(array, columns, length))
        return array;
    free(array);
    return NULL;
}

static struct ArrowArray *words_new(roast_table *columns,
                                    const struct roast_table_column *data)
{
    struct ArrowArray *array = inner_array_new(columns, data->word_count);

    if (!array)
        return NULL;
    struct held *held = array->private_data;
    held->buffers[1] = data->ends - 1;
    held->buffers[2] = data->words ? data->words : "";
    array->n_buffers = 3;
    return array;
}

/* One bit for every byte; NULL when out of memory. */
static unsigned char *bits_new(const unsigned char *flags, size_t count)
{
    unsigned char *bits = calloc(count / 8 + 8, 1);

    for (size_t i = 0; bits && i < count; i++)
        bits[i >> 3] |= (unsigned char)((flags[i] & 1) << (i & 7));
    return bits;
}

/* Puts the values of a column into its array; false when out of memory. */
static bool put_values(struct ArrowArray *array, roast_table *columns,
                       const struct roast_table_column *data)
{
    struct held *held = array->private_data;

    array->null_count = (int64_t)data->unknown;
    array->n_buffers = 2;
    held->buffers[0] = data->valid;
    held->buffers[1] = data->values;
    if (data->type == ROAST_DTYPE_BOOL) {
        held->bits = bits_new(data->values, (size_t)array->length);
        held->buffers[1] = held->bits;
        return held->bits != NULL;
    }
    if (data->type == ROAST_DTYPE_TEXT) {
        array->dictionary = words_new(columns, data);
        return array->dictionary != NULL;
    }
    return true;
}

static struct ArrowArray *column_array_new(roast_table *columns, size_t column)
{
    struct ArrowArray *array = inner_array_new(columns, roast_table_rows(columns));

    if (array && put_values(array, columns, roast_table_column(columns, column)))
        return array;
    release_inner_array(array);
    return NULL;
}

/* The whole table: rows that are all known, made of columns. */
static int fill_batch(struct ArrowArray *out, roast_table *columns)
{
    size_t count = roast_table_width(columns);

    if (!fill_array(out, columns, roast_table_rows(columns)))
        return ENOMEM;
    out->n_buffers = 1;
    out->children = calloc(count > 0 ? count : 1, sizeof(void *));
    for (size_t i = 0; out->children && i < count; i++) {
        out->children[i] = column_array_new(columns, i);
        if (!out->children[i])
            break;
        out->n_children++;
    }
    if (out->children && out->n_children == (int64_t)count)
        return 0;
    release_array(out);
    return ENOMEM;
}

/* ---- the stream ------------------------------------------------------------------ */

struct source {
    roast_table *columns; /* a reference */
    bool given;
};

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    return fill_schema(out, ((struct source *)stream->private_data)->columns);
}

/* The batch, then the end: an array that is released already. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct source *source = stream->private_data;
    int status = 0;

    if (source->given) {
        *out = (struct ArrowArray){.release = NULL};
        return 0;
    }
    status = fill_batch(out, source->columns);
    source->given = status == 0;
    return status;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "out of memory"; /* nothing else can fail */
}

static void release_stream(struct ArrowArrayStream *stream)
{
    struct source *source = stream->private_data;

    roast_table_free(source->columns);
    free(source);
    stream->release = NULL;
}

static struct ArrowArrayStream *stream_new(roast_table *columns)
{
    struct ArrowArrayStream *stream = malloc(sizeof(*stream));
    struct source *source = malloc(sizeof(*source));

    if (!stream || !source) {
        free(stream);
        free(source);
        return NULL;
    }
    *source = (struct source){roast_table_hold(columns), false};
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error,
                                        release_stream, source};
    return stream;
}

/* ---- capsules -------------------------------------------------------------------- */

static void free_stream(struct ArrowArrayStream *stream)
{
    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

static void stream_dealloc(PyObject *capsule)
{
    free_stream(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
}

static void schema_dealloc(PyObject *capsule)
{
    release_inner_schema(PyCapsule_GetPointer(capsule, "arrow_schema"));
}

PyObject *arrow_stream_new(roast_table *columns)
{
    struct ArrowArrayStream *stream = stream_new(columns);

    if (!stream)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", stream_dealloc);
    if (!capsule)
        free_stream(stream);
    return capsule;
}

PyObject *arrow_schema_new(roast_table *columns)
{
    struct ArrowSchema *schema = malloc(sizeof(*schema));

    if (!schema || fill_schema(schema, columns) != 0) {
        free(schema);
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", schema_dealloc);
    if (!capsule)
        release_inner_schema(schema);
    return capsule;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* row_writer.c - rows of cells, in one of the formats of row_formats.def. */
#include "table/row_writer.h"

#include <string.h>

#include "base/mem.h"

static const struct roast_row_format *const formats[] = {
#define F(NAME, name) &roast__rows_##name,
#include "roast/row_formats.def"
#undef F
};

const char *roast_format_name(enum roast_format format)
{
    static const char *const names[] = {
#define F(NAME, name) #name,
#include "roast/row_formats.def"
#undef F
    };

    return names[format];
}

roast_row_writer *roast_row_writer_new(const struct roast_row_writer_options *options)
{
    struct roast_row_writer *writer = roast__alloc(sizeof(*writer));
    size_t size = options->count * sizeof(writer->columns[0]);

    if (!writer)
        return NULL;
    for (size_t i = 0; i < options->count; i++)
        size += strlen(options->names[i]) + 1;
    writer->options = *options;
    writer->columns = roast__alloc(size);
    writer->kinds = roast__alloc(options->count);
    if (!writer->columns || !writer->kinds) {
        roast__free(writer->columns);
        roast__free(writer->kinds);
        roast__free(writer);
        return NULL;
    }
    char *name = (char *)&writer->columns[options->count];
    for (size_t i = 0; i < options->count; i++) {
        writer->columns[i].heading = name;
        name = stpcpy(name, options->names[i]) + 1;
    }
    writer->grid = (struct roast_grid){.columns = writer->columns,
                                       .column_count = options->count,
                                       .wide = true,
                                       .before_head = options->before_head,
                                       .after_head = options->after_head};
    if (formats[options->format]->begin)
        formats[options->format]->begin(writer);
    return writer;
}

void roast__row_writer_flush(roast_row_writer *writer)
{
    writer->failed |= !roast__buf_ok(&writer->out);
    if (!writer->failed)
        writer->options.put(writer->options.context, writer->out.data,
                            writer->out.size_bytes);
    roast__buf_clear(&writer->out);
}

void roast_row_writer_put(roast_row_writer *writer, const struct roast_cell *cells)
{
    formats[writer->options.format]->put(writer, cells);
}

bool roast_row_writer_finish(roast_row_writer *writer)
{
    if (!writer)
        return true;
    if (formats[writer->options.format]->end)
        formats[writer->options.format]->end(writer);
    bool done = !writer->failed;
    roast__buf_release(&writer->out);
    roast__buf_release(&writer->printable);
    roast__grid_release(&writer->grid);
    roast__free(writer->columns);
    roast__free(writer->kinds);
    roast__free(writer);
    return done;
}

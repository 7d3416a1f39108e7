/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c - every table of a run as a CSV file, as `roast dump` writes it.
 *
 * Tables are made and written in parts, unless the run may change between two parts. */
#include "base/mem.h"
#include "export/export.h"
#include "roast/row_writer.h"

enum { PART_ROWS = 1 << 16 };

/* A file that is written. */
struct csv {
    struct roast__export *in;
    roast_row_writer *rows;   /* owned; NULL before the first part */
    struct roast_cell *cells; /* owned; of a row */
    bool failed;              /* out of memory */
};

static void begin(struct csv *to, const roast_table *table)
{
    size_t width = roast_table_width(table);
    const char **names = roast__alloc(width * sizeof(*names));

    to->cells = roast__alloc(width * sizeof(*to->cells));
    for (size_t i = 0; names && i < width; i++)
        names[i] = roast_table_column(table, i)->name;
    if (names && to->cells)
        to->rows = roast_row_writer_new(
            &(struct roast_row_writer_options){.format = ROAST_FORMAT_CSV,
                                               .names = names,
                                               .count = width,
                                               .put = roast__export_sink,
                                               .context = to->in});
    roast__free(names);
    to->failed = !to->rows;
}

static bool put_part(void *context, roast_table *part)
{
    struct csv *to = context;

    if (!to->rows)
        begin(to, part);
    for (size_t row = 0; to->rows && row < roast_table_rows(part); row++) {
        for (size_t i = 0; i < roast_table_width(part); i++)
            to->cells[i] = roast_column_cell(roast_table_column(part, i), row);
        roast_row_writer_put(to->rows, to->cells);
    }
    roast_table_free(part);
    return !to->failed && to->in->failure.code == ROAST_OK;
}

static int put_table(struct roast__export *in, enum roast_table_id id, roast_error *err)
{
    bool is_fixed = in->options->source.origin != ROAST_IN_MEMORY;
    struct csv to = {.in = in};
    const struct roast_table_parts parts = {is_fixed ? PART_ROWS : SIZE_MAX, put_part,
                                            &to};
    int status = roast_run_table_parts(id, in->run, in->summary, &parts, err);

    to.failed |= !roast_row_writer_finish(to.rows);
    roast__free(to.cells);
    if (status == ROAST_OK && to.failed)
        status =
            roast_error_set(err, ROAST_NO_MEMORY, "rows of %s", roast_table_name(id));
    return status;
}

int roast__export_csv(struct roast__export *in, roast_error *err)
{
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        char name[64];
        (void)snprintf(name, sizeof(name), "%s.csv", roast_table_name(id));
        status = roast__export_file(in, name, err);
        if (status == ROAST_OK)
            status = put_table(in, id, err);
    }
    return status;
}

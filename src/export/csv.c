/* SPDX-License-Identifier: BSD-3-Clause */
/* csv.c - every table of a run as a CSV file, as `roast dump` writes it. */
#include "base/mem.h"
#include "export/export.h"
#include "roast/row_writer.h"

static bool put_table(struct roast__export *in, const roast_table *table)
{
    size_t width = roast_table_width(table);
    const char **names = roast__alloc(width * sizeof(*names));
    struct roast_cell *cells = roast__alloc(width * sizeof(*cells));
    roast_row_writer *rows = NULL;

    for (size_t i = 0; names && i < width; i++)
        names[i] = roast_table_column(table, i)->name;
    if (names && cells)
        rows = roast_row_writer_new(
            &(struct roast_row_writer_options){.format = ROAST_FORMAT_CSV,
                                               .names = names,
                                               .count = width,
                                               .put = roast__export_sink,
                                               .context = in});
    for (size_t row = 0; rows && row < roast_table_rows(table); row++) {
        for (size_t i = 0; i < width; i++)
            cells[i] = roast_column_cell(roast_table_column(table, i), row);
        roast_row_writer_put(rows, cells);
    }
    bool done = rows && roast_row_writer_finish(rows);
    roast__free(names);
    roast__free(cells);
    return done;
}

int roast__export_csv(struct roast__export *in, roast_error *err)
{
    int status = ROAST_OK;

    for (int i = 0; status == ROAST_OK && i < ROAST_RUN_TABLE_COUNT; i++) {
        enum roast_table_id id = (enum roast_table_id)i;
        roast_table *table = NULL;
        char name[64];
        (void)snprintf(name, sizeof(name), "%s.csv", roast_table_name(id));
        status = roast_run_table(&table, id, in->run, in->summary, err);
        if (status == ROAST_OK)
            status = roast__export_file(in, name, err);
        if (status == ROAST_OK && !put_table(in, table))
            status = roast_error_set(err, ROAST_NO_MEMORY, "rows of %s", name);
        roast_table_free(table);
    }
    return status;
}

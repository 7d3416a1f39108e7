/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe.c - the number of datasets. */
#include "export/export.h"

int roast__export_recipe(struct roast__export *in, roast_error *err)
{
    const roast_table *datasets =
        roast_summary_table(in->summary, ROAST_TABLE_datasets);
    char line[32];

    (void)err;
    (void)snprintf(line, sizeof(line), "%zu dataset\n", roast_table_rows(datasets));
    roast__export_text(in, line);
    return ROAST_OK;
}

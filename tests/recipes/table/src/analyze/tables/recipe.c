/* SPDX-License-Identifier: BSD-3-Clause */
/* recipe.c - a table of one row. */
#include "analyze/tables/job.h"

void roast__make_recipe_table(const struct roast_table_job *job)
{
    if (!(roast__summary_metric(job->summary, ROAST_METRIC_num_chunks) > 0))
        return;
    roast__table_row(job->to);
    roast__fill_string(job->to, ROAST_COL_recipe_table_question, "everything");
    roast__fill_int(job->to, ROAST_COL_recipe_table_recipe_answer, 42);
}

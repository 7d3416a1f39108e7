/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c - the pages of a summary: where report meets aggregate.
 *
 * Apart from the pages themselves, so that these can be made of anything that has
 * metrics and tables. */
#include "report/page.h"

static struct roast_shown shown_of(const roast_summary *summary,
                                   const struct roast_heading *heading)
{
    struct roast_shown shown = {.heading = heading};

    shown.values = roast_summary_metrics(summary);
    for (int id = 0; id < ROAST_TABLE_COUNT; id++)
        shown.tables[id] = roast_summary_table(summary, (enum roast_table_id)id);
    return shown;
}

int roast_report_text(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err)
{
    struct roast_shown shown = shown_of(summary, heading);

    return roast__report_text(out, &shown, err);
}

int roast_report_headline(struct roast_page *out, const roast_summary *summary,
                          const struct roast_heading *heading, roast_error *err)
{
    struct roast_shown shown = shown_of(summary, heading);

    return roast__report_headline(out, &shown, err);
}

int roast_report_card(struct roast_page *out, const roast_summary *summary,
                      const struct roast_heading *heading, roast_error *err)
{
    struct roast_shown shown = shown_of(summary, heading);

    return roast__report_card(out, &shown, err);
}

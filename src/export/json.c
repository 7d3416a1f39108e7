/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - the report as JSON (report/json.c). */
#include "export/export.h"

int roast__export_json(struct roast__export *in, roast_error *err)
{
    struct roast_page page = {NULL, 0};
    int status =
        roast_report_json(&page, in->summary, in->run, &in->options->source, err);

    if (status == ROAST_OK)
        roast__export_put(in, page.text, page.size_bytes);
    roast_page_release(&page);
    return status;
}

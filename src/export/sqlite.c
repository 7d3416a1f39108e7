/* SPDX-License-Identifier: BSD-3-Clause */
/* sqlite.c - the plain tables of a run file, without its journal and summary. */
#include "export/export.h"
#include "file/sqlite/save.h"

int roast__export_sqlite(struct roast__export *in, roast_error *err)
{
    if (!in->target.temporary)
        return roast_error_set(err, ROAST_REFUSED, "sqlite is a file: it needs a path");
    return roast__save_plain(in->run, in->target.temporary, err);
}

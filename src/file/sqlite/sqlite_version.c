/* SPDX-License-Identifier: BSD-3-Clause */
/* sqlite_version.c - which SQLite reads and writes run files here. */
#include <sqlite3.h>

#include "roast/runfile.h"

const char *roast_runfile_sqlite_version(void)
{
    return sqlite3_libversion();
}

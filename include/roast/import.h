/* SPDX-License-Identifier: BSD-3-Clause */
/* import.h - measurement directories as runs.
 *
 * save_measurement() of ours and of roastcoffea 0.1.2 wrote directories with metrics.json
 * and start_end_time.txt; docs/import.md says what becomes of what is in them. */
#ifndef ROAST_IMPORT_H
#define ROAST_IMPORT_H

#include "roast/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns an owned, finished run. Where the directory has the run itself beside
 * (`run.roast`), that one is opened. Errors: IO (no such directory, no metrics.json, no
 * timing file, unreadable), BAD_DATA (timing or JSON that is none, with the byte and the
 * line), LIMIT (nested over 64 deep, a text over 1 MiB), NO_MEMORY; of `run.roast` those
 * of roast_runfile_open(). */
int roast_import(roast_run **out, const char *dir, roast_error *err);

#ifdef __cplusplus
}
#endif

#endif

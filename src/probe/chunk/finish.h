/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.h - fields shared by the records of chunks and attempts. */
#ifndef ROAST_PROBE_CHUNK_FINISH_H
#define ROAST_PROBE_CHUNK_FINISH_H

#include "probe/chunk/thread.h"

/* Why a value that is read from the system is absent. */
enum roast_reason roast__why_unread(void);

/* Sets host, process and thread. */
void roast__set_process_fields(const roast_thread *thread, roast_record *rec);

/* Sets the facts about host and process, in the first record of a process for a run.
 * Returns a bit for each field that was lost because memory ran out. */
uint64_t roast__set_process_facts(roast_thread *thread, roast_record *rec,
                                  const unsigned char *run_id);

#endif

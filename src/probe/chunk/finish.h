/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.h - turns what was read around a chunk into fields of its record. */
#ifndef ROAST_PROBE_CHUNK_FINISH_H
#define ROAST_PROBE_CHUNK_FINISH_H

#include "probe/chunk/thread.h"

/* Memory, I/O, scheduling and peak, or the reasons why they are absent. `shared` says
 * that other chunks ran in the process meanwhile. */
void roast__finish_readings(roast_thread *thread, bool shared);

/* Why nothing can be read that the system may tell. */
enum roast_reason roast__why_unread(void);

/* Host, process and thread. */
void roast__finish_where(const roast_thread *thread, roast_record *rec);

/* Facts about host and process, with the first record of a process. Returns a bit for
 * each field that there was no memory for. */
uint64_t roast__finish_first(roast_thread *thread, roast_record *rec);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.h - turns what was read around a chunk into fields of its record. */
#ifndef ROAST_PROBE_FINISH_H
#define ROAST_PROBE_FINISH_H

#include "probe/thread.h"

/* Memory, I/O, scheduling and peak, or the reasons why they are absent. `shared` says
 * that other chunks ran in the process meanwhile. */
void roast__finish_readings(roast_thread *thread, bool shared);

#endif

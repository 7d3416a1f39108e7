/* SPDX-License-Identifier: BSD-3-Clause */
/* run_state.h - how a run ended. */
#ifndef ROAST_RUN_STATE_H
#define ROAST_RUN_STATE_H

#ifdef __cplusplus
extern "C" {
#endif

struct roast_run;

enum roast_run_state {
#define S(name, text) ROAST_IS_##name,
#include "roast/run_states.def"
#undef S
    ROAST_STATE_COUNT
};

/* By its end and the noted failure alone: the table run_state of a summary, which knows
 * the chunks, has `incomplete` too. */
enum roast_run_state roast_run_state(struct roast_run *run);
const char *roast_run_state_name(enum roast_run_state state); /* "finished" ... */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* held.h - steps of the monitor that no signal interrupts.
 *
 * Python runs handlers of signals between two steps of its code in the main thread. They
 * wait while a step is held, and run when it is done, in the code of the user: so no
 * exception of a handler ever passes through the monitor. In other threads, where no
 * handler runs, nothing is done here. */
#ifndef ROAST_EXT_HELD_H
#define ROAST_EXT_HELD_H

#include "state.h"

/* Once, before the others: -1 with an exception. */
int held_init(void);

/* A call that has held steps: between them signals pass. Returns its depth, 1 for the
 * outermost one; 0 in other threads. */
unsigned held_enter(void);
unsigned held_inside(void); /* for steps inside of such a call: 0 if none is entered */
void held_leave(unsigned depth);

/* Signals whose handlers were set since wait, too: after a call of the user's function. */
void held_cover(unsigned depth);

/* A held step. Handlers of signals that came before it run first: -1 if one raised. The
 * step begins in any case. */
int held_begin(unsigned depth);
void held_end(unsigned depth);

/* A held step after a call of the user's function: takes and returns its result. NULL:
 * it raised, or a handler did before the step. */
PyObject *held_begin_after(unsigned depth, PyObject *result);

#endif

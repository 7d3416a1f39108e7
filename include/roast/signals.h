/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h - signals wait while the monitor works.
 *
 * An interpreter runs handlers of signals in its main thread, between any two steps of
 * our code there, and they may raise. So signals wait while that thread works for the
 * monitor. The state is the process's, as that of signals is; the functions are for the
 * main thread, except where they say otherwise. */
#ifndef ROAST_SIGNALS_H
#define ROAST_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { ROAST_SIGNALS = 32 }; /* 1 .. 31 */

/* The main thread, as pthread_self() gives it. A forked child finds its own. */
void roast_signals_init(uint64_t thread);

/* Whether this is the main thread. Any thread. */
bool roast_signals_are_here(void);

/* Returns how many calls were entered and not left: 1 is the outermost one. */
unsigned roast_signals_enter(void);

/* Whether one is entered, and this is the main thread. Any thread. */
bool roast_signals_are_entered(void);

/* Until that is left, a handler of ours lies over the handlers of these signals that
 * `covers` agrees to: those of the interpreter. */
struct sigaction;
typedef bool (*roast_covers)(const struct sigaction *action);
void roast_signals_cover(const int *numbers, size_t count, roast_covers covers);
void roast_signals_leave(void);

/* From hold to the last release these signals are noted, otherwise they pass. release
 * writes the noted ones, up to ROAST_SIGNALS, and returns how many: the caller raises
 * them again. */
void roast_signals_hold(void);
size_t roast_signals_release(int *numbers);

/* Whether a Ctrl-C is noted: what waits for something ends that now. Any thread. */
bool roast_signals_ctrl_c_waits(void);

#ifdef __cplusplus
}
#endif

#endif

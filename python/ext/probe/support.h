/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - failures, text and values: what every file of the extension uses.
 *
 * Errors of the monitor never reach the user: guard_note() counts them, and reports show
 * the count. Exceptions that are not an `Exception` (KeyboardInterrupt, SystemExit) belong
 * to the user and are never cleared. */
#ifndef ROAST_EXT_SUPPORT_H
#define ROAST_EXT_SUPPORT_H

#include "state.h"

/* ---- guard.c ----------------------------------------------------------------- */

/* Counts and clears the current exception. False, and it stays set, if it is not an
 * Exception. */
bool guard_note(struct probe_state *state, const char *where);

/* The same without counting. */
bool guard_clear(void);

/* An exception of other code, normalised; all NULL: none. */
struct raised {
    PyObject *type, *value, *traceback;
};
struct raised guard_keep_raised(void);

/* Raises it again, and clears ours; a Ctrl-C that arrived meanwhile replaces it. None:
 * ours stays. */
void guard_raise_again(struct raised *raised);

/* What is set now gets what was raised before as its context, as in Python code. */
void guard_give_context(struct raised *before);

/* Whether object has the attribute: 1 or 0; -1 if an exception of the user is set. */
int guard_has_attr(PyObject *object, PyObject *name);

/* guard_note() for an error of libroast. */
void guard_note_error(struct probe_state *state, const char *where,
                      const roast_error *err);
/* The same for an error that has a fallback: it never switches the monitor off. */
void guard_note_trouble(struct probe_state *state, const char *where,
                        const roast_error *err);

/* Raises the Python exception of a libroast error; returns NULL. */
PyObject *raise_roast(struct probe_state *state, const roast_error *err);

/* ---- values.c ---------------------------------------------------------------- */

/* UTF-8 of a str object, borrowed from it; absent without an exception for a str with
 * lone surrogates, which has no UTF-8. */
struct roast_str text_borrow(PyObject *str);

/* A str object with valid UTF-8 for any object: itself, or str() of it, surrogates
 * written as escapes. New reference; NULL with an exception. */
PyObject *text_of(PyObject *object);

PyObject *text_new(struct roast_str text); /* undecodable bytes are replaced */

/* text_of() without secrets; of the name of a dataset or file. */
PyObject *text_redacted(PyObject *object);
PyObject *name_redacted(PyObject *object);

/* Adds key and value, or removes both again and counts the loss. -1 only if an exception
 * of the user is set. */
int values_put(struct probe_state *state, roast_thread *thread, roast_values *out,
               PyObject *key, PyObject *value);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - failures, text and values: what every file of the extension uses.
 *
 * Our own failures never reach the user: they go through guard_note(), are counted and
 * shown. What is not an `Exception` (KeyboardInterrupt, SystemExit) is never ours. */
#ifndef ROAST_EXT_SUPPORT_H
#define ROAST_EXT_SUPPORT_H

#include "state.h"

/* ---- guard.c ----------------------------------------------------------------- */

/* Swallows and counts the current exception, true; or leaves it, false, when it is not
 * an Exception and therefore the user's. */
bool guard_note(struct probe_state *state, const char *where);

/* Clears an exception that is an Exception. False, and it stays, when it is not. */
bool guard_clear(void);

/* The exception that other code has raised, if any, kept while our code runs. */
struct raised {
    PyObject *type, *value, *traceback;
};
struct raised guard_keep_raised(void);

/* Raised again; ours are cleared, but a Ctrl-C that came meanwhile takes its place. */
void guard_raise_again(struct raised *raised);

/* Whether object has the attribute: 1, 0; -1 only when something that is not an
 * Exception was raised. */
int guard_has_attr(PyObject *object, PyObject *name);

/* The same for a failure of libroast. */
void guard_note_error(struct probe_state *state, const char *where,
                      const roast_error *err);
/* Trouble of the system's that we have a way around: it never switches us off. */
void guard_note_trouble(struct probe_state *state, const char *where,
                        const roast_error *err);

/* Raises the Python exception of a libroast error; returns NULL. */
PyObject *raise_roast(struct probe_state *state, const roast_error *err);

/* ---- text.c ------------------------------------------------------------------ */

/* UTF-8 of a str object, borrowed from it. A str with lone surrogates has none:
 * absent then, with no exception set. */
struct roast_str text_borrow(PyObject *str);

/* A str object with valid UTF-8 for any object: itself, or str() of it, surrogates
 * written as escapes. New reference; NULL with an exception. */
PyObject *text_of(PyObject *object);

PyObject *text_new(struct roast_str text); /* undecodable bytes are replaced */

/* text_of() without the credentials and query of any URL in it. */
PyObject *text_redacted(PyObject *object);
PyObject *file_redacted(PyObject *object); /* of one file name or URL */

/* ---- values.c ---------------------------------------------------------------- */

/* Puts key and value, or takes both back and counts the loss. -1 only when a foreign
 * exception (not an Exception) is set. */
int values_put(struct probe_state *state, roast_thread *thread, roast_values *out,
               PyObject *key, PyObject *value);

#endif

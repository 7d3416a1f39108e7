/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - the Python types, one .c each. */
#ifndef ROAST_EXT_TYPES_H
#define ROAST_EXT_TYPES_H

#include "state.h"

extern PyType_Spec user_functions_spec;
extern PyType_Spec section_spec;
extern PyType_Spec record_spec;
extern PyType_Spec hook_spec;
extern PyType_Spec method_hook_spec;
extern PyType_Spec reader_spec;
extern PyType_Spec held_spec;

PyObject *user_functions_new(PyObject *module, struct probe_state *state);

/* name NULL: a section that does nothing. */
PyObject *section_new(struct probe_state *state, PyObject *name,
                      enum roast_section_kind kind, PyObject *source);
PyObject *record_new(struct probe_state *state, struct roast_str frame);

/* A record that reads its frame with source.frame(row) on first access. */
PyObject *record_at(struct probe_state *state, PyObject *source, uint32_t row);

/* frame_of(mapping, number): the frame of a record that a user or roastcoffea 0.1.2
 * made. */
PyObject *frame_of(PyObject *module, PyObject *args);

/* attempt_begin(run_id, client, spools, item, packs)
 * attempt_end(client, spools, error, splits_end) */
PyObject *attempt_begin(PyObject *module, PyObject *args);
PyObject *attempt_end(PyObject *module, PyObject *args);

/* attempt_packed(bytes): the executor has packed the result of the last attempt of this
 * thread. send_frames(client, spools, frames). */
PyObject *attempt_packed(PyObject *module, PyObject *args);
PyObject *send_frames(PyObject *module, PyObject *args);

/* frameless_call(class): gives it a __call__ that runs before_call(), the function which
 * that returns, and after_call(), without a Python frame. */
PyObject *frameless_call(PyObject *module, PyObject *type);

/* enter(function, leave): a method __enter__() that no signal interrupts. One that came
 * raises at its end, and leave(self, type, exception, None) is called before.
 * leave(function): a function that no signal interrupts; those that came raise after it.
 * ctrl_c_waits(): whether a Ctrl-C came. */
PyObject *held_enter_new(PyObject *module, PyObject *args);
PyObject *held_leave_new(PyObject *module, PyObject *function);
PyObject *ctrl_c_waits(PyObject *module, PyObject *unused);

/* hook(number, binding, original): a hook to put in place of the original. */
PyObject *hook_new(PyObject *module, PyObject *args);

/* ladder_arm(missing), ladder_is_heavy(), ladder_setup(...), gc_callback(phase, info) */
PyObject *ladder_arm(PyObject *module, PyObject *args);
PyObject *ladder_is_heavy(PyObject *module, PyObject *unused);
PyObject *ladder_setup(PyObject *module, PyObject *args);
PyObject *gc_callback(PyObject *module, PyObject *args);

/* hot_lines_begin(run, caller), hot_lines_end(), hot_lines_sample(is_users, receive),
 * hot_lines_take(), hot_lines_stop(), hot_lines_forget() */
PyObject *hot_lines_begin(PyObject *module, PyObject *args);
PyObject *hot_lines_end(PyObject *module, PyObject *unused);
PyObject *hot_lines_sample(PyObject *module, PyObject *args);
PyObject *hot_lines_take(PyObject *module, PyObject *unused);
PyObject *hot_lines_stop(PyObject *module, PyObject *unused);
PyObject *hot_lines_forget(PyObject *module, PyObject *unused);
void hot_lines_free(struct hot_lines *hot);

/* set_unswitched_call(callable or None): called in place of decorated functions that no
 * Runner has switched on, with the arguments of user_functions.run(). */
PyObject *set_unswitched_call(PyObject *module, PyObject *callable);

#endif

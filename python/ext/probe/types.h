/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - the Python types, one .c each. */
#ifndef ROAST_EXT_TYPES_H
#define ROAST_EXT_TYPES_H

#include "state.h"

extern PyType_Spec front_spec;
extern PyType_Spec section_spec;
extern PyType_Spec null_spec;
extern PyType_Spec record_spec;
extern PyType_Spec hook_spec;
extern PyType_Spec method_hook_spec;
extern PyType_Spec reader_spec;

PyObject *front_new(PyObject *module, struct probe_state *state);
PyObject *null_context_new(struct probe_state *state);
PyObject *section_new(struct probe_state *state, PyObject *name,
                      enum roast_section_kind kind, PyObject *source);
PyObject *record_new(struct probe_state *state, struct roast_str frame);

/* A record whose frame source.frame(row) gives when it is read. */
PyObject *record_at(struct probe_state *state, PyObject *source, uint32_t row);

/* A plain dict of everything a frame holds, under the names of api and docs. */
PyObject *record_to_dict(struct probe_state *state, struct roast_str frame);

/* frame_of(mapping, number): the frame of a record that a user or roastcoffea 0.1.2
 * made. */
PyObject *frame_of(PyObject *module, PyObject *args);

/* attempt_begin(run_id, client, spools, item), attempt_end(client, spools, error, apart).
 */
PyObject *attempt_begin(PyObject *module, PyObject *args);
PyObject *attempt_end(PyObject *module, PyObject *args);

/* attempt_packed(): the executor has packed the result of the attempt that this thread
 * ended last. send_frames(client, spools, frames). */
PyObject *attempt_packed(PyObject *module, PyObject *unused);
PyObject *send_frames(PyObject *module, PyObject *args);

/* surround(class): its instances are called as entered(), what that names, left(). */
PyObject *surround(PyObject *module, PyObject *type);

/* hook(number, binding, original): something to put in its place. */
PyObject *hook_new(PyObject *module, PyObject *args);

/* ladder_arm(missing), ladder_is_heavy(), ladder_setup(...), gc_callback(phase, info) */
PyObject *ladder_arm(PyObject *module, PyObject *args);
PyObject *ladder_is_heavy(PyObject *module, PyObject *unused);
PyObject *ladder_setup(PyObject *module, PyObject *args);
PyObject *gc_callback(PyObject *module, PyObject *args);

/* Whether a callable decides about functions that are not switched on. */
bool ambient_is_on(void);

/* args are those of call_measured() as Python has them: as a chunk if the task that runs
 * belongs to a run, else as it is. */
PyObject *ambient_call(struct probe_state *state, PyObject *const *args);

/* ambient_ask(callable or None): decides about decorated functions that are not switched
 * on. ambient_shelve(object), ambient_shelved(): kept with the library. */
PyObject *ambient_ask(PyObject *module, PyObject *callable);
PyObject *ambient_shelve(PyObject *module, PyObject *object);
PyObject *ambient_shelved(PyObject *module, PyObject *unused);

#endif

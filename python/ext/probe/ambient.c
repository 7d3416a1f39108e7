/* SPDX-License-Identifier: BSD-3-Clause */
/* ambient.c - decorated functions that are not switched on, while runs are known here.
 *
 * On a Dask worker the task itself says which run it belongs to: the Python layer is asked
 * before a decorated function is called as it is. What is kept here belongs to the
 * library and not to a module: code that a worker imported while an earlier copy of the
 * module was there finds the same. */
#include "chunk.h"
#include "support.h"
#include "types.h"

static PyObject *asked; /* callable; NULL: no run is known here */
static PyObject *shelf; /* what a copy of the package leaves for the next one */

static void replace(PyObject **slot, PyObject *object)
{
    PyObject *old = *slot;

    *slot = object == Py_None ? NULL : Py_NewRef(object);
    Py_XDECREF(old);
}

bool ambient_is_on(void)
{
    return asked != NULL;
}

PyObject *ambient_ask(PyObject *module, PyObject *callable)
{
    (void)module;
    replace(&asked, callable);
    Py_RETURN_NONE;
}

PyObject *ambient_shelve(PyObject *module, PyObject *object)
{
    (void)module;
    replace(&shelf, object);
    Py_RETURN_NONE;
}

PyObject *ambient_shelved(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return Py_NewRef(shelf ? shelf : Py_None);
}

/* Whether this thread is in a chunk or an attempt, whose part the call is. */
static bool is_part(void)
{
    const roast_thread *thread = roast_thread_current();

    return thread && (roast_chunk_active(thread) || roast_attempt_active(thread));
}

PyObject *ambient_call(struct probe_state *state, PyObject *const *args)
{
    PyObject *kwargs = args[2] == Py_None ? NULL : args[2];

    if (!state->enabled || !asked)
        return PyObject_Call(args[0], args[1], kwargs);
    if (is_part())
        return call_measured(state, args[0], args[1], kwargs, args[3] == Py_True);
    PyObject *callable = Py_NewRef(asked);
    PyObject *result = PyObject_CallFunctionObjArgs(callable, args[0], args[1], args[2],
                                                    args[3], NULL);
    Py_DECREF(callable);
    return result;
}

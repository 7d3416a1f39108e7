/* SPDX-License-Identifier: BSD-3-Clause */
/* live.c - the live file of a Run: open, state, sync, close.
 *
 * The lock of the run object prevents that one thread closes the file while another one
 * syncs it. */
#include "run_methods.h"

PyObject *run_live_open(PyObject *self, PyObject *args)
{
    struct run_object *run = run_of(self);
    PyObject *path = NULL;
    roast_error err = {0};
    int status = ROAST_UNAVAILABLE;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *bytes = PyBytes_AsString(path);
    if (run_is_ours(run)) {
        roast_live *live = NULL;
        PyThreadState *thread = run_lock(run);
        status = roast_live_open(&live, run->run, bytes, NULL, &err);
        if (status == ROAST_OK)
            run->live = live; /* a second one is refused */
        run_unlock(run, thread);
    } else {
        (void)roast_error_set(&err, status, "a forked child cannot write a live file");
    }
    Py_DECREF(path);
    return run_result(run, status, &err);
}

PyObject *run_live_state(PyObject *self, PyObject *unused)
{
    struct run_object *run = run_of(self);
    struct roast_live_state now;
    bool open = false;

    (void)unused;
    if (run_is_ours(run)) {
        PyThreadState *thread = run_lock(run);
        open = run->live != NULL;
        if (open)
            roast_live_state(run->live, &now);
        run_unlock(run, thread);
    }
    if (!open)
        Py_RETURN_NONE;
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:N}", "queued", (unsigned long long)now.queued,
        "written", (unsigned long long)now.written, "acknowledged",
        (unsigned long long)now.acknowledged, "dropped",
        (unsigned long long)now.dropped, "errors", (unsigned long long)now.errors,
        "first_error", text_new(roast_str_of(now.first_error)));
}

PyObject *run_live_sync(PyObject *self, PyObject *unused)
{
    struct run_object *run = run_of(self);
    roast_error err = {0};
    int status = ROAST_OK;

    (void)unused;
    if (run_is_ours(run)) {
        PyThreadState *thread = run_lock(run);
        if (run->live)
            status = roast_live_sync(run->live, &err);
        run_unlock(run, thread);
    }
    return run_result(run, status, &err);
}

PyObject *run_live_flush(PyObject *self, PyObject *unused)
{
    struct run_object *run = run_of(self);

    (void)unused;
    if (run_is_ours(run)) {
        PyThreadState *thread = run_lock(run);
        if (run->live)
            roast_live_flush(run->live);
        run_unlock(run, thread);
    }
    Py_RETURN_NONE;
}

int run_live_end(struct run_object *self, bool remove, roast_error *err)
{
    if (!run_is_ours(self))
        return ROAST_OK;
    PyThreadState *thread = run_lock(self);
    int status = roast_live_close(self->live, remove, err);
    self->live = NULL;
    run_unlock(self, thread);
    return status;
}

PyObject *run_live_close(PyObject *self, PyObject *args)
{
    int remove = 0;
    roast_error err = {0};

    if (!PyArg_ParseTuple(args, "|p", &remove))
        return NULL;
    return run_result(run_of(self), run_live_end(run_of(self), remove, &err), &err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* live.c - the live file of a Run: open, state, sync, close.
 *
 * The run's lock keeps one thread from closing the file while another one syncs it; it
 * is taken without the GIL, because a disk may be slow. A forked child leaves all
 * of it alone: the lock may be held by a thread that it does not have. */
#include "run_methods.h"

static struct run_object *cast(PyObject *self)
{
    return (struct run_object *)self;
}

PyObject *run_live_open(PyObject *self, PyObject *args)
{
    struct run_object *run = cast(self);
    PyObject *path = NULL;
    roast_error err = {0};
    int status = ROAST_UNAVAILABLE;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *bytes = PyBytes_AsString(path);
    if (run_is_ours(run)) {
        roast_live *live = NULL;
        Py_BEGIN_ALLOW_THREADS;
        (void)pthread_mutex_lock(&run->lock);
        status = roast_live_open(&live, run->run, bytes, NULL, &err);
        if (status == ROAST_OK)
            run->live = live; /* there was none: it would not have opened */
        (void)pthread_mutex_unlock(&run->lock);
        Py_END_ALLOW_THREADS;
    } else {
        (void)roast_error_set(&err, status, "a forked child writes no live file");
    }
    Py_DECREF(path);
    if (status < 0)
        return raise_error(run->state, &err);
    Py_RETURN_NONE;
}

static PyObject *state_dict(const struct roast_live_state *now)
{
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K,s:N}", "queued", (unsigned long long)now->queued,
        "written", (unsigned long long)now->written, "acknowledged",
        (unsigned long long)now->acknowledged, "dropped",
        (unsigned long long)now->dropped, "errors", (unsigned long long)now->errors,
        "first_error", text_new(roast_str_of(now->first_error)));
}

PyObject *run_live_state(PyObject *self, PyObject *unused)
{
    struct run_object *run = cast(self);
    struct roast_live_state now;
    bool open = false;

    (void)unused;
    if (run_is_ours(run)) {
        Py_BEGIN_ALLOW_THREADS;
        (void)pthread_mutex_lock(&run->lock);
        open = run->live != NULL;
        if (open)
            roast_live_state(run->live, &now);
        (void)pthread_mutex_unlock(&run->lock);
        Py_END_ALLOW_THREADS;
    }
    if (!open)
        Py_RETURN_NONE;
    return state_dict(&now);
}

PyObject *run_live_sync(PyObject *self, PyObject *unused)
{
    struct run_object *run = cast(self);
    roast_error err = {0};
    int status = ROAST_OK;

    (void)unused;
    if (run_is_ours(run)) {
        Py_BEGIN_ALLOW_THREADS;
        (void)pthread_mutex_lock(&run->lock);
        if (run->live)
            status = roast_live_sync(run->live, &err);
        (void)pthread_mutex_unlock(&run->lock);
        Py_END_ALLOW_THREADS;
    }
    if (status < 0)
        return raise_error(run->state, &err);
    Py_RETURN_NONE;
}

int run_live_end(struct run_object *self, bool remove, roast_error *err)
{
    int status;

    if (!run_is_ours(self))
        return ROAST_OK;
    Py_BEGIN_ALLOW_THREADS;
    (void)pthread_mutex_lock(&self->lock);
    status = roast_live_close(self->live, remove, err);
    self->live = NULL;
    (void)pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS;
    return status;
}

PyObject *run_live_close(PyObject *self, PyObject *args)
{
    int remove = 0;
    roast_error err = {0};

    if (!PyArg_ParseTuple(args, "|p", &remove))
        return NULL;
    if (run_live_end(cast(self), remove, &err) < 0)
        return raise_error(cast(self)->state, &err);
    Py_RETURN_NONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* surround.c - a call with a step of ours before and after it, and no frame of Python.
 *
 * Who profiles looks at every frame of a stack, a hundred times per second as Dask does:
 * frames of ours between the executor and the user's code would cost more than all that
 * they do. Nor do they belong into the user's tracebacks. */
#include "support.h"
#include "types.h"

/* What self.entered(args, kwargs) gives: what to call, and what left() gets. */
struct entered {
    PyObject *function; /* borrowed from the tuple, as all of these */
    PyObject *args;
    PyObject *kwargs;
    PyObject *attempt;
};

static PyObject *failed(PyObject *self, PyObject *attempt)
{
    struct raised raised = guard_keep_raised();

    PyErr_NormalizeException(&raised.type, &raised.value, &raised.traceback);
    if (raised.traceback)
        (void)PyException_SetTraceback(raised.value, raised.traceback);
    PyObject *nothing =
        PyObject_CallMethod(self, "left", "OOO", attempt, Py_None, raised.value);
    Py_XDECREF(nothing);
    guard_raise_again(&raised);
    return NULL;
}

/* Whether what was raised is a failure of ours: noted, if that can be, and forgotten.
 * False for a Ctrl-C, which is the user's wherever it comes. */
static bool is_noted(PyObject *self)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return false;
    struct raised raised = guard_keep_raised();
    PyErr_NormalizeException(&raised.type, &raised.value, &raised.traceback);
    Py_XDECREF(PyObject_CallMethod(self, "noted", "O", raised.value));
    Py_XDECREF(raised.type);
    Py_XDECREF(raised.value);
    Py_XDECREF(raised.traceback);
    return guard_clear();
}

static PyObject *call_plain(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *function = PyObject_GetAttrString(self, "function");
    PyObject *result = function ? PyObject_Call(function, args, kwargs) : NULL;

    Py_XDECREF(function);
    return result;
}

static PyObject *call_entered(PyObject *self, const struct entered *at)
{
    PyObject *result = PyObject_Call(at->function, at->args, at->kwargs);

    if (!result)
        return failed(self, at->attempt);
    PyObject *left =
        PyObject_CallMethod(self, "left", "OOO", at->attempt, result, Py_None);
    if (!left && is_noted(self))
        return result;
    Py_DECREF(result);
    return left;
}

static PyObject *call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *given = kwargs ? Py_NewRef(kwargs) : PyDict_New();
    PyObject *tuple =
        given ? PyObject_CallMethod(self, "entered", "OO", args, given) : NULL;
    struct entered at;
    PyObject *result = NULL;

    if (tuple && PyArg_ParseTuple(tuple, "OO!O!O", &at.function, &PyTuple_Type,
                                  &at.args, &PyDict_Type, &at.kwargs, &at.attempt))
        result = call_entered(self, &at);
    else if (is_noted(self))
        result = call_plain(self, args, kwargs);
    Py_XDECREF(given);
    Py_XDECREF(tuple);
    return result;
}

PyObject *surround(PyObject *module, PyObject *type)
{
    static PyMethodDef method = {"__call__", (PyCFunction)(void (*)(void))call,
                                 METH_VARARGS | METH_KEYWORDS,
                                 "__call__($self, /, *args, **kwargs)\n--\n\n"
                                 "The call between entered() and left()."};

    (void)module;
    if (!PyObject_TypeCheck(type, &PyType_Type)) {
        PyErr_SetString(PyExc_TypeError, "a class is needed");
        return NULL;
    }
    PyObject *descriptor = PyDescr_NewMethod((PyTypeObject *)type, &method);
    int failure =
        descriptor ? PyObject_SetAttrString(type, "__call__", descriptor) : -1;
    Py_XDECREF(descriptor);
    return failure ? NULL : Py_NewRef(type);
}

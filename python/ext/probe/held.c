/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c - steps that no signal interrupts, and functions and blocks made of them. */
#include "held.h" /* Python.h comes first */

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "roast/signals.h"
#include "support.h"
#include "types.h"

static PyObject *getsignal; /* _signal.getsignal, which is the same for all modules */

int held_init(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread =
        threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    PyObject *signals = ident ? PyImport_ImportModule("_signal") : NULL;

    if (signals && !getsignal)
        getsignal = PyObject_GetAttrString(signals, "getsignal");
    if (getsignal)
        roast_signals_init(PyLong_AsUnsignedLongLong(ident));
    Py_XDECREF(threading);
    Py_XDECREF(thread);
    Py_XDECREF(ident);
    Py_XDECREF(signals);
    return PyErr_Occurred() ? -1 : 0;
}

/* Whether it is the interpreter's own handler, which calls those that Python code has
 * set: one for all signals. It is static: what is known is that it is in the same library
 * as other functions. So is that of faulthandler, which always has one of two flags. */
static bool is_of_python(const struct sigaction *action)
{
    static void (*known)(int);
    const void *address = NULL;
    Dl_info found, python;

    memcpy(&address, &action->sa_handler, sizeof(address));
    if (!known && !(action->sa_flags & (SA_RESTART | SA_NODEFER)) &&
        dladdr(address, &found) != 0 && dladdr(&PyBool_Type, &python) != 0 &&
        found.dli_fbase == python.dli_fbase)
        known = action->sa_handler;
    return action->sa_handler == known;
}

/* Raised by the instruction that runs: they cannot wait. */
static bool can_wait(int number)
{
    return number != SIGSEGV && number != SIGBUS && number != SIGFPE &&
           number != SIGILL;
}

/* The signals that Python code has set handlers of; none if that cannot be found. */
static size_t find_handled(int *numbers)
{
    size_t count = 0;

    for (int i = 1; i < ROAST_SIGNALS; i++) {
        PyObject *number = can_wait(i) ? PyLong_FromLong(i) : NULL;
        PyObject *handler =
            number ? PyObject_CallFunctionObjArgs(getsignal, number, NULL) : NULL;
        if (handler && PyCallable_Check(handler))
            numbers[count++] = i;
        Py_XDECREF(handler);
        Py_XDECREF(number);
        PyErr_Clear();
    }
    return count;
}

void held_cover(unsigned depth)
{
    int numbers[ROAST_SIGNALS];
    PyObject *type, *value, *traceback;

    if (depth == 0)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    roast_signals_cover(numbers, find_handled(numbers), is_of_python);
    PyErr_Restore(type, value, traceback);
}

unsigned held_enter(void)
{
    unsigned depth = roast_signals_are_here() ? roast_signals_enter() : 0;

    if (depth == 1)
        held_cover(depth);
    return depth;
}

unsigned held_inside(void)
{
    return roast_signals_are_entered() ? 2 : 0;
}

void held_leave(unsigned depth)
{
    if (depth > 0)
        roast_signals_leave();
}

/* Runs the handlers of signals that came; whether one raised. What was raised before is
 * its context. */
static bool has_raised(void)
{
    struct raised before = guard_keep_raised();

    if (PyErr_CheckSignals() < 0) {
        guard_give_context(&before);
        return true;
    }
    PyErr_Restore(before.type, before.value, before.traceback);
    return false;
}

int held_begin(unsigned depth)
{
    if (depth == 0)
        return 0;
    bool raised = has_raised(); /* while the handlers run, signals pass */
    roast_signals_hold();
    while (has_raised()) /* the next one, or what came in between */
        raised = true;
    return raised ? -1 : 0;
}

PyObject *held_begin_after(unsigned depth, PyObject *result)
{
    if (held_begin(depth) < 0)
        Py_CLEAR(result);
    return result;
}

void held_end(unsigned depth)
{
    int numbers[ROAST_SIGNALS];
    size_t count = depth > 0 ? roast_signals_release(numbers) : 0;

    for (size_t i = 0; i < count; i++)
        (void)PyErr_SetInterruptEx(numbers[i]);
}

PyObject *ctrl_c_waits(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBool_FromLong(roast_signals_ctrl_c_waits());
}

/* ---- functions --------------------------------------------------------------------- */

struct held_function {
    PyObject_HEAD
    PyObject *function;
    PyObject
        *leave; /* called if a signal raises after the function; NULL: leaves itself */
    struct probe_state *state;
};

/* Keeps the first exception of the user. */
static void keep(struct raised *raised)
{
    if (!raised->type)
        *raised = guard_keep_raised();
    PyErr_Clear();
}

/* The result of a step, which is repeated once if an exception of the user ends it. */
static PyObject *repeat(PyObject *step, PyObject *args, PyObject *kwargs,
                        struct raised *raised)
{
    PyObject *result = NULL;
    bool again = true;

    for (int tries = 0; tries < 2 && again; tries++) {
        result = PyObject_Call(step, args, kwargs);
        again = !result && !PyErr_ExceptionMatches(PyExc_Exception);
        if (again)
            keep(raised);
    }
    return result;
}

/* Counts the error of a step: the object does, or the process where it cannot. */
static void note_failed(struct held_function *self, PyObject *args, PyObject *step,
                        struct raised *of_user)
{
    struct raised raised = guard_keep_raised();
    PyObject *object = PyTuple_GetItem(args, 0); /* NULL with an exception: none */
    PyObject *noted =
        object ? PyObject_CallMethod(object, "_note_failed", "OO", step, raised.value)
               : NULL;

    if (!guard_clear())
        keep(of_user);
    PyErr_Restore(raised.type, raised.value, raised.traceback);
    if (!noted)
        (void)guard_note(self->state, "a step of leaving");
    PyErr_Clear();
    Py_XDECREF(noted);
}

/* The result of the function, even if a handler that ran before it raised. Functions in a
 * list that it returns are called too, and each is removed when that is done. Whatever
 * raises, all of them are called: errors are counted, and the first exception of the user
 * is raised at the end. */
static PyObject *call_leave(struct held_function *self, PyObject *args,
                            PyObject *kwargs)
{
    struct raised raised = {NULL, NULL, NULL};
    unsigned depth = held_enter();
    PyObject *nothing = PyTuple_New(0);

    if (held_begin(depth) < 0)
        raised = guard_keep_raised();
    PyObject *steps = repeat(self->function, args, kwargs, &raised);
    while (nothing && steps && PyList_Check(steps) && PyList_Size(steps) > 0) {
        PyObject *step = Py_NewRef(PyList_GetItem(steps, 0));
        Py_XDECREF(repeat(step, nothing, NULL, &raised));
        if (PyErr_Occurred())
            note_failed(self, args, step, &raised);
        (void)PyList_SetSlice(steps, 0, 1, NULL);
        Py_DECREF(step);
    }
    held_end(depth);
    held_leave(depth);
    Py_XDECREF(nothing);
    if (raised.type) {
        PyErr_Clear(); /* an error of the function itself */
        Py_CLEAR(steps);
        PyErr_Restore(raised.type, raised.value, raised.traceback);
    }
    return steps;
}

/* leave(object, type, exception, traceback), as for __exit__(). */
static void leave(struct held_function *self, PyObject *args)
{
    struct raised raised = guard_keep_raised();
    PyObject *object = PyTuple_GetItem(args, 0); /* NULL with an exception: none */

    Py_XDECREF(object ? PyObject_CallFunctionObjArgs(self->leave, object, raised.type,
                                                     raised.value, Py_None, NULL)
                      : NULL);
    PyErr_Clear(); /* the first one is raised */
    PyErr_Restore(raised.type, raised.value, raised.traceback);
}

/* A signal that came meanwhile is raised here, as long as the caller has not entered the
 * block: contextlib.ExitStack would not leave it. */
static PyObject *call_enter(struct held_function *self, PyObject *args,
                            PyObject *kwargs)
{
    PyObject *result = NULL;
    unsigned depth = held_enter();
    bool goes_on = held_begin(depth) == 0;

    if (goes_on)
        result = PyObject_Call(self->function, args, kwargs);
    held_end(depth);
    held_leave(depth);
    if (result && depth > 0 && PyErr_CheckSignals() < 0)
        Py_CLEAR(result);
    else if (result || !goes_on || PyErr_ExceptionMatches(PyExc_Exception))
        return result; /* the function has handled its own errors */
    leave(self, args);
    return NULL;
}

static PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct held_function *self = (struct held_function *)object;

    return self->leave ? call_enter(self, args, kwargs)
                       : call_leave(self, args, kwargs);
}

static PyObject *bind(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (!object || object == Py_None)
        return Py_NewRef(self);
    return PyObject_CallFunctionObjArgs(
        ((struct held_function *)self)->state->method_type, self, object, NULL);
}

/* Name, documentation and signature are those of the function. */
static PyObject *get_attr(PyObject *object, PyObject *name)
{
    return PyObject_GetAttr(((struct held_function *)object)->function, name);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((struct held_function *)object)->function);
    Py_VISIT(((struct held_function *)object)->leave);
    return 0;
}

static int clear(PyObject *object)
{
    Py_CLEAR(((struct held_function *)object)->function);
    Py_CLEAR(((struct held_function *)object)->leave);
    return 0;
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    (void)clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    {Py_tp_call, call},
    {Py_tp_descr_get, bind},
    {Py_tp_getattro, get_attr},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_dealloc, dealloc},
    {0, NULL},
};

PyType_Spec held_spec = {
    .name = "roastcoffea._probe._Held",
    .basicsize = sizeof(struct held_function),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
             Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};

static PyObject *held_new(PyObject *module, PyObject *function, PyObject *leaving)
{
    struct probe_state *state = PyModule_GetState(module);
    struct held_function *self =
        PyObject_GC_New(struct held_function, state->held_type);

    if (!self)
        return NULL;
    self->function = Py_NewRef(function);
    self->leave = Py_XNewRef(leaving);
    self->state = state;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

PyObject *held_leave_new(PyObject *module, PyObject *function)
{
    return held_new(module, function, NULL);
}

PyObject *held_enter_new(PyObject *module, PyObject *args)
{
    PyObject *function, *leaving;

    if (!PyArg_ParseTuple(args, "OO", &function, &leaving))
        return NULL;
    return held_new(module, function, leaving);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder.c - arming the slices of an attempt, the cost of hooks, garbage collection. */
#include <string.h>
#include <time.h>

#include "hook.h"
#include "reading.h"
#include "support.h"
#include "types.h"

/* ---- what a call through a hook costs ------------------------------------------ */

static int64_t time_calls(PyObject *callable, PyObject *args, int calls)
{
    int64_t start_ns = roast_mono_ns();

    for (int i = 0; i < calls; i++) {
        PyObject *result = PyObject_CallObject(callable, args);
        if (!result)
            return -1;
        Py_DECREF(result);
    }
    return roast_mono_ns() - start_ns;
}

/* Times a small call with and without a hook in an armed attempt; the difference of the
 * fastest tries. */
static int64_t measure_cost(PyObject *plain, PyObject *hooked, PyObject *args)
{
    enum { TRIES = 7, CALLS = 20 };
    int64_t direct_ns = INT64_MAX, through_ns = INT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        int64_t direct = time_calls(plain, args, CALLS);
        int64_t through = time_calls(hooked, args, CALLS);
        if (direct < 0 || through < 0)
            return -1;
        direct_ns = direct < direct_ns ? direct : direct_ns;
        through_ns = through < through_ns ? through : through_ns;
    }
    return through_ns > direct_ns ? (through_ns - direct_ns) / CALLS : 0;
}

/* Most hooked calls get a function from a mapping, like getattr() here. */
static void calibrate(PyObject *module, struct probe_state *state)
{
    PyObject *plain = PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
    PyObject *made_of =
        plain ? Py_BuildValue("iiO", ROAST_HOOK_buffer, HOOK_PLAIN, plain) : NULL;
    PyObject *hooked = made_of ? hook_new(module, made_of) : NULL;
    PyObject *args = hooked ? Py_BuildValue("Os", &PyTuple_Type, "__new__") : NULL;
    int64_t cost_ns = args ? measure_cost(plain, hooked, args) : -1;

    state->hook_cost_ns = cost_ns > 0 ? (uint64_t)cost_ns : 1; /* 1: measured */
    Py_XDECREF(args);
    Py_XDECREF(hooked);
    Py_XDECREF(made_of);
    (void)guard_clear();
}

#define HOOK_BIT(name) (UINT64_C(1) << ROAST_HOOK_##name)

/* A count whose hooks are in place starts at 0: it is known even if nothing happens. */
static void begin_counts(roast_thread *thread, uint64_t missing)
{
    static const struct {
        enum roast_ladder_item item;
        uint64_t needs;
    } counts[] = {
        {ROAST_ITEM_gc_cpu, HOOK_BIT(gc)},
        {ROAST_ITEM_gc_runs, HOOK_BIT(gc)},
        {ROAST_ITEM_column_bytes,
         HOOK_BIT(submit) | HOOK_BIT(source) | HOOK_BIT(from_parquet)},
        {ROAST_ITEM_cached_reads, HOOK_BIT(buffer) | HOOK_BIT(submit) |
                                      HOOK_BIT(pages) | HOOK_BIT(parquet_read)},
    };

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        bool is_watched = !(missing & (counts[i].needs | HOOK_BIT(cost)));
        if (is_watched)
            roast_ladder_add(thread, counts[i].item, 0);
        if (counts[i].item == ROAST_ITEM_cached_reads)
            reading_here()->sees_caches = is_watched;
    }
}

/* ladder_arm(missing): the hooks are in place, except those with these bits. */
PyObject *ladder_arm(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    roast_thread *thread = roast_thread_current();
    unsigned long long missing = 0;

    if (!PyArg_ParseTuple(args, "K", &missing))
        return NULL;
    if (thread && state->hook_cost_ns == 0) {
        roast_ladder_arm(thread, missing);
        calibrate(module, state);
        roast_ladder_disarm(thread); /* drops what was counted meanwhile */
    }
    if (thread) {
        const uint64_t of_rntuple = HOOK_BIT(pages) | HOOK_BIT(clusters);
        reading_here()->missing = missing & of_rntuple; /* used when the file is one */
        roast_ladder_arm(thread, missing & ~of_rntuple);
        begin_counts(thread, missing);
    }
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* ladder_is_heavy(): whether the hooks cost too much in the last chunks. */
PyObject *ladder_is_heavy(PyObject *module, PyObject *unused)
{
    const struct probe_state *state = PyModule_GetState(module);

    (void)unused;
    return PyBool_FromLong(state->heavy_chunks >= PROBE_HEAVY_CHUNKS);
}

/* ladder_setup(own executor, describe_parquet, ns that a call through a hook costs): the
 * cost is measured if it is 0 or not given. */
PyObject *ladder_setup(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    PyObject *executor = NULL, *describe = NULL;
    unsigned long long cost_ns = state->hook_cost_ns;

    if (!PyArg_ParseTuple(args, "OO|K", &executor, &describe, &cost_ns))
        return NULL;
    hook_set(&state->own_executor, Py_NewRef(executor));
    hook_set(&state->describe_parquet, Py_NewRef(describe));
    state->hook_cost_ns = cost_ns;
    state->heavy_chunks = 0;
    Py_RETURN_NONE;
}

int64_t hook_thread_cpu_ns(void)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* For gc.callbacks: called with (phase, info) before and after each collection. */
PyObject *gc_callback(PyObject *module, PyObject *args)
{
    static _Thread_local int64_t start_ns;
    roast_thread *thread = roast_thread_current();
    PyObject *phase = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    (void)module;
    if (!phase || !roast_ladder_active(thread))
        Py_RETURN_NONE;
    if (PyUnicode_CompareWithASCIIString(phase, "start") == 0) {
        start_ns = hook_thread_cpu_ns();
    } else if (start_ns != 0) {
        int64_t used_ns = hook_thread_cpu_ns() - start_ns;
        roast_ladder_add(thread, ROAST_ITEM_gc_cpu,
                         used_ns > 0 ? (uint64_t)used_ns : 0);
        roast_ladder_add(thread, ROAST_ITEM_gc_runs, 1);
        start_ns = 0;
    }
    Py_RETURN_NONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_sources.c - requests for bytes: how many, for what, from where, how long.
 *
 * A source of uproot gives single ranges, chunk(start, stop), and many at once,
 * chunks(ranges, notifications), which come later. Sources call each other; only the
 * outermost request counts. */
#include <string.h>

#include "handlers.h"
#include "reading.h"
#include "support.h"

static _Thread_local struct reading here;

struct reading *reading_here(void)
{
    return &here;
}

void reading_clear(void)
{
    struct reading old = here;

    memset(&here, 0, sizeof(here));
    Py_XDECREF(old.source);
    Py_XDECREF(old.columns);
    Py_XDECREF(old.page);
}

static void weigh(struct probe_state *state, roast_thread *thread,
                  const struct roast_ladder *ladder)
{
    uint64_t cost_ns = ladder->values[ROAST_ITEM_hook_calls] * state->hook_cost_ns;
    uint64_t time_ns = 0;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        time_ns += ladder->values[i];
    roast_ladder_add(thread, ROAST_ITEM_hook_cost, cost_ns);
    if (cost_ns > time_ns / 100 * PROBE_HEAVY_PERCENT)
        state->heavy_chunks++;
    else
        state->heavy_chunks = 0;
}

/* The counter of the source knows of everything that was requested. */
void reading_finish(struct probe_state *state, roast_thread *thread)
{
    struct roast_ladder ladder;
    uint64_t requested = 0, told;

    if (!roast_ladder_active(thread))
        return;
    roast_ladder_look(thread, &ladder);
    weigh(state, thread, &ladder);
    if (here.source && hook_number(here.source, state->names.requested, &requested)) {
        told = ladder.values[ROAST_ITEM_open_bytes] +
               ladder.values[ROAST_ITEM_metadata_bytes] +
               ladder.values[ROAST_ITEM_column_bytes];
        roast_ladder_add(thread, ROAST_ITEM_other_bytes,
                         requested > told ? requested - told : 0);
    }
    reading_clear();
}

bool reading_is_ours(const struct reading *reading, const roast_thread *thread,
                     PyObject *source)
{
    if (reading->source)
        return source == reading->source;
    return reading->opening > 0 && roast_ladder_phase_now(thread) == ROAST_ITEM_import;
}

/* column._file.source, or column.source */
PyObject *reading_source_of(struct probe_state *state, PyObject *column)
{
    PyObject *file = PyObject_GetAttr(column, state->names.own_file);

    if (!file && !guard_clear())
        return NULL;
    PyObject *source = PyObject_GetAttr(file ? file : column, state->names.source);
    Py_XDECREF(file);
    return source;
}

bool reading_owns(struct probe_state *state, PyObject *column)
{
    if (!here.source)
        return true;
    PyObject *source = reading_source_of(state, column);
    bool is_ours = source == here.source;

    Py_XDECREF(source);
    (void)guard_clear();
    return is_ours;
}

/* ---- where from --------------------------------------------------------------- */

static void name_endpoint(struct probe_state *state, PyObject *source)
{
    char file[1024];
    PyObject *path = PyObject_GetAttr(source, state->names.file_path_asked);

    if (!path && guard_clear())
        path = PyObject_GetAttr(source, state->names.file_path);
    PyObject *text = path ? text_of(path) : NULL;
    struct roast_str name = {NULL, 0};
    if (text)
        name = (struct roast_str){
            file, roast_str_redact_file(file, sizeof(file), text_borrow(text))};
    name = roast_str_cut(roast_endpoint_of(name), sizeof(here.endpoint) - 1);
    memcpy(here.endpoint, name.data, name.size_bytes);
    here.endpoint[name.size_bytes] = '\0';
    here.endpoint_source = source;
    Py_XDECREF(text);
    Py_XDECREF(path);
    (void)guard_clear();
}

void source_tell(struct probe_state *state, roast_thread *thread, PyObject *source,
                 struct roast_endpoint *more)
{
    if (more->requests == 0 && !here.endpoint_source)
        return; /* requests are not seen: waiting alone would look like all of it */
    if (here.endpoint_source != source)
        name_endpoint(state, source);
    more->name = roast_str_of(here.endpoint);
    roast_ladder_endpoint_add(thread, more);
}

/* ---- what for ----------------------------------------------------------------- */

static void add_bytes(roast_thread *thread, uint64_t bytes)
{
    if (here.opening > 0) {
        roast_ladder_add(thread, ROAST_ITEM_open_bytes, bytes);
    } else if (here.metadata > 0 || here.branch == 0) {
        roast_ladder_add(thread, ROAST_ITEM_metadata_bytes, bytes);
    } else {
        const struct roast_branch more = {.bytes = bytes};
        roast_ladder_add(thread, ROAST_ITEM_column_bytes, bytes);
        roast_ladder_branch_add(thread, here.branch - 1, &more);
        here.touched = true;
    }
}

static long long whole_number(PyObject *object)
{
    PyObject *index = PyNumber_Index(object);
    long long number = index ? PyLong_AsLongLong(index) : 0;

    Py_XDECREF(index);
    return number;
}

static uint64_t distance(PyObject *start, PyObject *stop)
{
    long long bytes = whole_number(stop) - whole_number(start);

    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* source.chunk(start, stop) */
static PyObject *single(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs)
{
    PyObject *source = PyTuple_GetItem(args, 0);
    uint64_t bytes = distance(PyTuple_GetItem(args, 1), PyTuple_GetItem(args, 2));
    bool of_column =
        here.metadata == 0 && here.opening == 0 && (here.buffers > 0 || here.pages > 0);

    if (PyErr_Occurred() && !guard_clear())
        return NULL;
    int64_t start_ns = roast_mono_ns();
    here.sources++;
    PyObject *result = of_column
                           ? hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_fetch)
                           : hook_pass(hook, args, kwargs);
    here.sources--;
    struct roast_endpoint more = {
        .requests = 1,
        .ranges = 1,
        .bytes = result ? bytes : 0,
        .wait_ns = (uint64_t)(roast_mono_ns() - start_ns),
        .errors = !result,
    };
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    if (result && reading_is_ours(&here, thread, source))
        add_bytes(thread, bytes);
    if (result && here.pages > 0 && here.facts.codec == ROAST_CODEC_UNKNOWN &&
        source == here.source) {
        hook_set(&here.page, Py_NewRef(result));
        here.page_bytes = bytes;
    }
    source_tell(hook->state, thread, source, &more);
    if (!PyErr_Occurred())
        PyErr_Restore(error[0], error[1], error[2]);
    return hook_done(hook->state, result, "a request");
}

static uint64_t sum_ranges(PyObject *ranges)
{
    uint64_t bytes = 0;

    for (Py_ssize_t i = 0; i < PyList_Size(ranges); i++) {
        PyObject *range = PyList_GetItem(ranges, i);
        if (PyTuple_Check(range) && PyTuple_Size(range) == 2)
            bytes += distance(PyTuple_GetItem(range, 0), PyTuple_GetItem(range, 1));
    }
    return bytes;
}

/* source.chunks(ranges, notifications): what it asks for belongs to the branches that
 * it is unpacked for. From here on the baskets are waited for. */
static PyObject *many(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    PyObject *source = PyTuple_GetItem(args, 0);
    PyObject *ranges = PyTuple_GetItem(args, 1);
    struct roast_endpoint more = {
        .requests = 1,
        .ranges = (uint64_t)PyList_Size(ranges),
        .bytes = sum_ranges(ranges),
    };

    if (PyErr_Occurred() && !guard_clear())
        return NULL;
    if (here.baskets != 0 && here.in_thread)
        roast_ladder_become(thread, here.baskets, ROAST_ITEM_fetch);
    if (more.ranges > 0)
        source_tell(hook->state, thread, source, &more);
    here.sources++;
    PyObject *result = hook_pass(hook, args, kwargs);
    here.sources--;
    return result;
}

PyObject *hook_source(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    Py_ssize_t count = PyTuple_Size(args);

    if (here.sources > 0 || count < 2)
        return hook_pass(hook, args, kwargs);
    if (PyList_Check(PyTuple_GetItem(args, 1)))
        return many(hook, thread, args, kwargs);
    if (count == 3 && PyIndex_Check(PyTuple_GetItem(args, 1)))
        return single(hook, thread, args, kwargs);
    return hook_pass(hook, args, kwargs);
}

/* ---- ranges that come later ---------------------------------------------------- */

static bool is_awaited(struct probe_state *state, PyObject *chunk)
{
    PyObject *data = PyObject_GetAttr(chunk, state->names.raw_data);
    bool awaited = data == Py_None;

    Py_XDECREF(data);
    if (!data)
        (void)guard_clear();
    return awaited;
}

static void tell_awaited(struct probe_state *state, roast_thread *thread,
                         PyObject *chunk, struct roast_endpoint *waited)
{
    PyObject *error[3];

    PyErr_Fetch(&error[0], &error[1], &error[2]); /* the user's, if any */
    PyObject *source = PyObject_GetAttr(chunk, state->names.own_source);
    if (source)
        source_tell(state, thread, source, waited);
    Py_XDECREF(source);
    (void)guard_clear();
    if (!PyErr_Occurred())
        PyErr_Restore(error[0], error[1], error[2]);
}

/* chunk.wait(insist): nothing, or waiting for a range that comes later. Baskets are
 * there when they are unpacked. */
PyObject *hook_wait(struct hook *hook, roast_thread *thread, PyObject *args,
                    PyObject *kwargs)
{
    PyObject *chunk = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    if (here.baskets != 0 || !chunk || !is_awaited(hook->state, chunk))
        return PyErr_Occurred() ? NULL : hook_pass(hook, args, kwargs);
    bool of_column = here.buffers > 0 || here.pages > 0;
    int64_t start_ns = roast_mono_ns();
    PyObject *result = of_column
                           ? hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_fetch)
                           : hook_pass(hook, args, kwargs);
    struct roast_endpoint waited = {
        .wait_ns = (uint64_t)(roast_mono_ns() - start_ns),
        .errors = !result,
    };
    tell_awaited(hook->state, thread, chunk, &waited);
    return hook_done(hook->state, result, "waiting for a range");
}

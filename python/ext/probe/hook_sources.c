/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_sources.c - requests for bytes to uproot's sources: number, bytes, endpoint, time.
 *
 * A source reads a single range, chunk(start, stop), or requests many at once that arrive
 * later, chunks(ranges, notifications). Sources call each other; only the outermost
 * request counts. */
#include <string.h>

#include "handlers.h"
#include "reading.h"
#include "support.h"

static _Thread_local struct reading here;

struct reading *reading_here(void)
{
    return &here;
}

static void clear(void)
{
    PyObject *old[] = {here.file, here.source, here.columns, here.page, here.named};

    memset(&here, 0, sizeof(here));
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        Py_XDECREF(old[i]);
}

void reading_begin(const roast_thread *thread, PyObject *file)
{
    if (!roast_attempt_active(thread)) {
        clear();
        here.file = PyUnicode_Check(file) ? Py_NewRef(file) : NULL;
    }
    here.attempts++;
}

/* Whether the hooks cost too much in this chunk. */
static void check_hook_cost(struct probe_state *state, roast_thread *thread,
                            const struct roast_ladder *ladder)
{
    uint64_t cost_ns = ladder->values[ROAST_ITEM_hook_calls] * state->hook_cost_ns;
    uint64_t time_ns = 0;

    for (int i = 0; i < ROAST_SLICE_COUNT; i++)
        time_ns += ladder->values[i];
    roast_ladder_add(thread, ROAST_ITEM_hook_cost, cost_ns);
    if (state->heavy_chunks >= PROBE_HEAVY_CHUNKS) /* another thread removed them */
        roast_ladder_add(thread, ROAST_ITEM_hooks_missing,
                         UINT64_C(1) << ROAST_HOOK_cost);
    else if (cost_ns > time_ns / 100 * PROBE_HEAVY_PERCENT)
        state->heavy_chunks++;
    else
        state->heavy_chunks = 0;
}

/* The counter of the source has all bytes that were requested. */
static void add_other_bytes(struct probe_state *state, roast_thread *thread,
                            const struct roast_ladder *ladder)
{
    uint64_t known = ladder->values[ROAST_ITEM_open_bytes] +
                     ladder->values[ROAST_ITEM_metadata_bytes] +
                     ladder->values[ROAST_ITEM_column_bytes];
    uint64_t requested = 0;

    if (here.source && !PyErr_Occurred() &&
        hook_number(here.source, state->names.requested, &requested))
        roast_ladder_add(thread, ROAST_ITEM_other_bytes,
                         requested > known ? requested - known : 0);
}

void reading_finish(struct probe_state *state, roast_thread *thread)
{
    struct roast_ladder ladder;

    if (here.attempts > 1) {
        here.attempts--;
        return;
    }
    if (roast_ladder_active(thread)) {
        roast_ladder_snapshot(thread, &ladder);
        check_hook_cost(state, thread, &ladder);
        add_other_bytes(state, thread, &ladder);
    }
    clear();
}

bool reading_is_ours(const struct reading *reading, PyObject *source)
{
    return reading->source ? source == reading->source : reading->opening_ours;
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
    if (!here.source) /* reads while the processor is unpickled are not the chunk's */
        return roast_ladder_phase_now(roast_thread_current()) != ROAST_ITEM_import;
    PyObject *source = reading_source_of(state, column);
    bool is_ours = source == here.source;

    Py_XDECREF(source);
    (void)guard_clear();
    return is_ours;
}

/* ---- endpoints ---------------------------------------------------------------- */

static void name_endpoint(struct probe_state *state, PyObject *source)
{
    char file[1024];
    PyObject *path = PyObject_GetAttr(source, state->names.file_path_given);

    if (!path && guard_clear())
        path = PyObject_GetAttr(source, state->names.file_path);
    PyObject *text = path ? text_of(path) : NULL;
    struct roast_str name = {NULL, 0};
    if (text)
        name = (struct roast_str){
            file, roast_str_redact_name(file, sizeof(file), text_borrow(text), NULL)};
    name = roast_str_cut(roast_endpoint_of(name), sizeof(here.endpoint) - 1);
    memcpy(here.endpoint, name.data, name.size_bytes);
    here.endpoint[name.size_bytes] = '\0';
    Py_XDECREF(text);
    Py_XDECREF(path);
    (void)guard_clear();
}

/* Whether here.endpoint is that of the source. The weak reference is needed because a new
 * source may have the address of a freed one. */
static bool is_named(PyObject *source)
{
    PyObject *named = here.named ? PyObject_CallNoArgs(here.named) : NULL;

    Py_XDECREF(named);
    return named == source;
}

void source_record(struct probe_state *state, roast_thread *thread, PyObject *source,
                   struct roast_endpoint *more)
{
    if (more->requests == 0 && here.endpoint[0] == '\0')
        return; /* requests are not hooked: a row of waiting alone would mislead */
    if (!is_named(source)) {
        name_endpoint(state, source);
        hook_set(&here.named, PyWeakref_NewRef(source, NULL));
        (void)guard_clear();
    }
    more->name = roast_str_of(here.endpoint);
    if (more->wait_ns > 0)
        more->waits[roast_bin(more->wait_ns, ROAST_WAIT_BINS_FIRST, ROAST_WAIT_BINS)]++;
    roast_ladder_endpoint_add(thread, more);
}

/* ---- requests ----------------------------------------------------------------- */

static void add_bytes(roast_thread *thread, PyObject *source, uint64_t bytes)
{
    if (!reading_is_ours(&here, source)) {
        roast_ladder_add(thread, ROAST_ITEM_foreign_bytes, bytes);
    } else if (here.opening > 0) {
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

/* Adds a range: its bytes, and in the chunk's file whether it is a seek. */
static void add_range(struct roast_endpoint *more, bool is_ours, PyObject *start,
                      PyObject *stop)
{
    uint64_t first = 0, last = 0;

    if (!hook_whole(start, &first) || !hook_whole(stop, &last) || last <= first)
        return;
    more->bytes += last - first;
    more->sizes[roast_bin(last - first, ROAST_SIZE_BINS_FIRST, ROAST_SIZE_BINS)]++;
    if (!is_ours)
        return;
    more->seeks += first != here.read_end;
    here.read_end = last;
}

/* A call that may wait for bytes. Waiting for columns is the slice `fetch`; other waiting
 * lies inside other slices and is counted as storage_wait. */
static PyObject *await_bytes(struct hook *hook, roast_thread *thread, PyObject *args,
                             PyObject *kwargs, uint64_t *wait_ns)
{
    bool of_column =
        here.metadata == 0 && here.opening == 0 && (here.buffers > 0 || here.pages > 0);
    int64_t start_ns = roast_mono_ns();
    int64_t start_cpu_ns = of_column ? 0 : hook_thread_cpu_ns();
    PyObject *result = of_column
                           ? hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_fetch)
                           : hook_pass(hook, args, kwargs);

    *wait_ns = (uint64_t)(roast_mono_ns() - start_ns);
    if (!of_column) {
        uint64_t cpu_ns = (uint64_t)(hook_thread_cpu_ns() - start_cpu_ns);
        roast_ladder_add(thread, ROAST_ITEM_storage_wait,
                         cpu_ns < *wait_ns ? *wait_ns - cpu_ns : 0);
    }
    return result;
}

/* source.chunk(start, stop) */
static PyObject *request_one(struct hook *hook, roast_thread *thread, PyObject *args,
                             PyObject *kwargs)
{
    PyObject *source = PyTuple_GetItem(args, 0);
    struct roast_endpoint more = {.requests = 1, .ranges = 1};

    add_range(&more, reading_is_ours(&here, source), PyTuple_GetItem(args, 1),
              PyTuple_GetItem(args, 2));
    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    uint64_t bytes = more.bytes;
    here.sources++;
    PyObject *result = await_bytes(hook, thread, args, kwargs, &more.wait_ns);
    here.sources--;
    more.bytes = result ? bytes : 0;
    more.errors = !result;
    struct raised raised = guard_keep_raised();
    if (result)
        add_bytes(thread, source, bytes);
    if (result && here.pages > 0 && here.facts.codec == ROAST_CODEC_UNKNOWN &&
        source == here.source) {
        hook_set(&here.page, Py_NewRef(result));
        here.page_bytes = bytes;
    }
    source_record(hook->state, thread, source, &more);
    guard_raise_again(&raised);
    return hook_done(hook->state, result, "a request");
}

static void add_ranges(struct roast_endpoint *more, bool is_ours, PyObject *ranges)
{
    more->ranges = (uint64_t)PyList_Size(ranges);
    for (Py_ssize_t i = 0; i < PyList_Size(ranges); i++) {
        PyObject *range = PyList_GetItem(ranges, i);
        if (PyTuple_Check(range) && PyTuple_Size(range) == 2)
            add_range(more, is_ours, PyTuple_GetItem(range, 0),
                      PyTuple_GetItem(range, 1));
    }
}

/* Calls the target; if it fails, the baskets will never arrive. */
static PyObject *pass_for_baskets(struct hook *hook, PyObject *args, PyObject *kwargs)
{
    PyObject *result = hook_pass(hook, args, kwargs);

    if (!result && here.baskets != 0 && PyErr_ExceptionMatches(PyExc_Exception))
        here.lost = true;
    return result;
}

/* source.chunks(ranges, notifications): the bytes are counted for branches when they are
 * decompressed. From now on the time is waiting for baskets. */
static PyObject *request_many(struct hook *hook, roast_thread *thread, PyObject *args,
                              PyObject *kwargs)
{
    PyObject *source = PyTuple_GetItem(args, 0);
    PyObject *ranges = PyTuple_GetItem(args, 1);
    bool is_ours = reading_is_ours(&here, source);
    struct roast_endpoint more = {.requests = 1};

    add_ranges(&more, is_ours, ranges);
    if (here.baskets != 0 && here.in_thread && more.ranges > 0) {
        here.awaited = more.ranges;
        roast_ladder_become(thread, here.baskets, ROAST_ITEM_fetch);
    }
    if (more.ranges > 0 && !PyErr_Occurred())
        source_record(hook->state, thread, source, &more);
    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    if (!is_ours)
        roast_ladder_add(thread, ROAST_ITEM_foreign_bytes, more.bytes);
    here.sources++;
    PyObject *result = pass_for_baskets(hook, args, kwargs);
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
        return request_many(hook, thread, args, kwargs);
    if (count == 3 && PyIndex_Check(PyTuple_GetItem(args, 1)))
        return request_one(hook, thread, args, kwargs);
    return hook_pass(hook, args, kwargs);
}

/* ---- waiting for ranges that were requested before ------------------------------ */

static bool is_awaited(struct probe_state *state, PyObject *chunk)
{
    PyObject *data = PyObject_GetAttr(chunk, state->names.raw_data);
    bool awaited = data == Py_None;

    Py_XDECREF(data);
    if (!data)
        (void)guard_clear();
    return awaited;
}

/* chunk.wait(insist): returns at once if the range has arrived. Baskets have arrived when
 * they are decompressed, or this call raises the error of their source. Inside a request
 * the request is timed as a whole. */
PyObject *hook_wait(struct hook *hook, roast_thread *thread, PyObject *args,
                    PyObject *kwargs)
{
    PyObject *chunk = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    if (here.baskets != 0 || here.sources > 0 || !chunk ||
        !is_awaited(hook->state, chunk))
        return PyErr_Occurred() ? NULL : pass_for_baskets(hook, args, kwargs);
    struct roast_endpoint waited = {.requests = 0};
    PyObject *result = await_bytes(hook, thread, args, kwargs, &waited.wait_ns);
    waited.errors = !result;
    struct raised raised = guard_keep_raised();
    PyObject *source = PyObject_GetAttr(chunk, hook->state->names.own_source);
    if (source)
        source_record(hook->state, thread, source, &waited);
    Py_XDECREF(source);
    guard_raise_again(&raised);
    return hook_done(hook->state, result, "waiting for a range");
}

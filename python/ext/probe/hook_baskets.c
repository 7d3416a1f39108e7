/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_baskets.c - reading a column of a TTree: its baskets.
 *
 * uproot requests all baskets at once from the source, waits for each, and submits it to
 * one executor that decompresses and to another that interprets. uproot's own executors
 * run both in this thread, and the remaining time is waiting. Only a basket that does not
 * arrive is an error of the storage; bytes that cannot be decompressed are damaged in the
 * file. */
#include "handlers.h"
#include "reading.h"
#include "support.h"

enum { DECOMPRESSION_EXECUTOR = 5, INTERPRETATION_EXECUTOR = 6 };

/* Only uproot's own executor runs tasks in the calling thread. */
static bool works_here(const struct probe_state *state, PyObject *args,
                       Py_ssize_t which)
{
    return PyTuple_Size(args) > which &&
           (PyObject *)Py_TYPE(PyTuple_GetItem(args, which)) == state->own_executor;
}

static uint64_t fetched_ns(roast_thread *thread)
{
    struct roast_ladder ladder;

    roast_ladder_snapshot(thread, &ladder);
    return ladder.values[ROAST_ITEM_fetch];
}

/* Recorded once per call: uproot may have requested hundreds of baskets. */
static void record_wait(struct hook *hook, roast_thread *thread, PyObject *tree,
                        struct roast_endpoint *waited)
{
    struct raised raised = guard_keep_raised();
    PyObject *source = reading_source_of(hook->state, tree);

    if (source)
        source_record(hook->state, thread, source, waited);
    Py_XDECREF(source);
    guard_raise_again(&raised);
}

/* Inside a read of a buffer, only the hook that knows the column is missing. */
static unsigned flags_of_bulk(const struct reading *reading)
{
    if (reading->buffers == 0)
        return ROAST_BRANCH_PRELOADED;
    return reading->offsets ? ROAST_BRANCH_OFFSETS : ROAST_BRANCH_DATA;
}

int32_t bulk_number(roast_thread *thread, PyObject *name)
{
    PyObject *text = text_of(name);
    int32_t number = text ? roast_ladder_branch(thread, text_borrow(text)) : -1;
    struct roast_branch more = {.flags = flags_of_bulk(reading_here())};

    roast_ladder_branch_add(thread, number, &more);
    Py_XDECREF(text);
    return number;
}

static int32_t bulk_branch(struct probe_state *state, roast_thread *thread,
                           PyObject *branch)
{
    PyObject *name = PyObject_GetAttr(branch, state->names.column_name);
    int32_t number = name ? bulk_number(thread, name) : -1;

    Py_XDECREF(name);
    return number;
}

/* Counts reads of columns that were not requested by name, from the list of baskets: the
 * baskets of a branch are neighbours in it. */
static void count_bulk(struct probe_state *state, roast_thread *thread,
                       PyObject *baskets)
{
    const struct roast_branch more = {.reads = 1};
    PyObject *last = NULL;

    for (Py_ssize_t i = 0; PyList_Check(baskets) && i < PyList_Size(baskets); i++) {
        PyObject *basket = Py_NewRef(PyList_GetItem(baskets, i));
        PyObject *branch = PyTuple_Check(basket) && PyTuple_Size(basket) > 0
                               ? PyTuple_GetItem(basket, 0)
                               : NULL;
        if (branch && branch != last && reading_owns(state, branch))
            roast_ladder_branch_add(thread, bulk_branch(state, thread, branch), &more);
        last = branch; /* only compared */
        Py_DECREF(basket);
        if (PyErr_Occurred() && !guard_note(state, "names of branches"))
            return;
    }
}

/* _ranges_or_baskets_to_arrays(tree, ranges_or_baskets, ...) */
PyObject *hook_baskets(struct hook *hook, roast_thread *thread, PyObject *args,
                       PyObject *kwargs)
{
    struct reading *reading = reading_here();
    unsigned outer_baskets = reading->baskets;
    uint64_t outer_awaited = reading->awaited;
    bool outer_in_thread = reading->in_thread;
    bool outer_lost = reading->lost;

    if (PyTuple_Size(args) < 2)
        return hook_pass(hook, args, kwargs);
    if (reading->branch == 0)
        count_bulk(hook->state, thread, PyTuple_GetItem(args, 1));
    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    reading->in_thread = works_here(hook->state, args, DECOMPRESSION_EXECUTOR) &&
                         works_here(hook->state, args, INTERPRETATION_EXECUTOR);
    reading->lost = false;
    reading->baskets = roast_ladder_enter(thread, ROAST_ITEM_read_other);
    uint64_t before_ns = fetched_ns(thread);
    PyObject *result = hook_pass(hook, args, kwargs);
    roast_ladder_leave(thread, reading->baskets);
    struct roast_endpoint waited = {.wait_ns = fetched_ns(thread) - before_ns,
                                    .errors = !result && reading->lost};
    reading->baskets = outer_baskets;
    reading->awaited = outer_awaited;
    reading->in_thread = outer_in_thread;
    reading->lost = outer_lost;
    if (waited.wait_ns > 0 || waited.errors > 0)
        record_wait(hook, thread, PyTuple_GetItem(args, 0), &waited);
    return result ? hook_done(hook->state, result, "waiting for baskets") : NULL;
}

static void add_to_branch(struct probe_state *state, roast_thread *thread,
                          PyObject *branch, struct roast_branch *more)
{
    const struct reading *reading = reading_here();
    bool in_bulk = reading->branch == 0;

    if (!in_bulk)
        more->ns = 0; /* hook_extract() times the whole column */
    roast_ladder_branch_add(
        thread, in_bulk ? bulk_branch(state, thread, branch) : reading->branch - 1,
        more);
}

/* After the last basket the time is no longer waiting. Changing the slice here saves four
 * of six readings of the CPU clock (a system call) in most columns. */
static void basket_arrived(struct reading *reading, roast_thread *thread)
{
    if (reading->in_thread && reading->awaited > 0 && --reading->awaited == 0)
        roast_ladder_become(thread, reading->baskets, ROAST_ITEM_read_other);
}

/* chunk_to_basket(chunk, branch, basket_num) */
static PyObject *unpack(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs)
{
    const struct probe_names *names = &hook->state->names;
    PyObject *chunk = PyTuple_GetItem(args, 2);

    basket_arrived(reading_here(), thread);
    int64_t start_ns = roast_mono_ns();
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_decompress);
    struct roast_branch more = {.ns = (uint64_t)(roast_mono_ns() - start_ns)};
    uint64_t start = 0, stop = 0;
    PyObject *source = result ? PyObject_GetAttr(chunk, names->own_source) : NULL;

    reading_here()->touched = true;
    if (source && reading_is_ours(reading_here(), source) &&
        hook_number(chunk, names->own_start, &start) &&
        hook_number(chunk, names->own_stop, &stop) && stop >= start) {
        more.bytes = stop - start;
        roast_ladder_add(thread, ROAST_ITEM_column_bytes, more.bytes);
        add_to_branch(hook->state, thread, PyTuple_GetItem(args, 3), &more);
        file_learn_codec(hook->state, thread, chunk, PyTuple_GetItem(args, 3));
    }
    Py_XDECREF(source);
    return hook_done(hook->state, result, "bytes of a basket");
}

/* Uncompressed, with its key. */
static bool basket_size(struct probe_state *state, PyObject *basket, uint64_t *bytes)
{
    const struct probe_names *names = &state->names;
    uint64_t key_bytes = 0;

    if (!hook_member(state, basket, names->key_bytes, &key_bytes) ||
        !hook_member(state, basket, names->object_bytes, bytes))
        return hook_number(basket, names->uncompressed_bytes, bytes);
    *bytes += key_bytes;
    return true;
}

/* basket_to_array(basket) */
static PyObject *interpret(struct hook *hook, roast_thread *thread, PyObject *args,
                           PyObject *kwargs)
{
    const struct probe_names *names = &hook->state->names;
    PyObject *basket = PyTuple_GetItem(args, 2);
    int64_t start_ns = roast_mono_ns();
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_interpret);
    struct roast_branch more = {.ns = (uint64_t)(roast_mono_ns() - start_ns)};
    PyObject *branch = result ? PyObject_GetAttr(basket, names->parent) : NULL;

    reading_here()->touched = true;
    if (branch && (reading_here()->branch > 0 || reading_owns(hook->state, branch)) &&
        basket_size(hook->state, basket, &more.uncompressed_bytes))
        add_to_branch(hook->state, thread, branch, &more);
    Py_XDECREF(branch);
    return hook_done(hook->state, result, "size of a basket");
}

/* executor.submit(task, ...): uproot's tasks are distinguished by their names. */
PyObject *hook_submit(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    const struct probe_names *names = &hook->state->names;

    if (PyTuple_Size(args) < 3)
        return hook_pass(hook, args, kwargs);
    PyObject *name = PyObject_GetAttr(PyTuple_GetItem(args, 1), names->name);
    bool unpacks = name == names->chunk_to_basket && PyTuple_Size(args) > 3;
    bool interprets = name == names->basket_to_array;
    Py_XDECREF(name);
    if (!name && !guard_clear())
        return NULL;
    if (unpacks)
        return unpack(hook, thread, args, kwargs);
    if (interprets)
        return interpret(hook, thread, args, kwargs);
    return hook_pass(hook, args, kwargs);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_pages.c - reading a field of an RNTuple: its pages.
 *
 * uproot reads pages one by one in the calling thread. A field that was not requested by
 * name is found by the column that its pages belong to. */
#include <string.h>

#include "handlers.h"
#include "reading.h"
#include "support.h"

/* ntuple.read_locator(locator, uncompressed_bytes): fetches and decompresses a page. */
PyObject *hook_page(struct hook *hook, roast_thread *thread, PyObject *args,
                    PyObject *kwargs)
{
    struct reading *reading = reading_here();

    if (reading->metadata > 0 || PyTuple_Size(args) != 3)
        return hook_pass(hook, args, kwargs);
    reading->touched = true;
    reading->pages++;
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_decompress);
    reading->pages--;
    struct roast_branch more = {.uncompressed_bytes = 0};
    if (result && hook_whole(PyTuple_GetItem(args, 2), &more.uncompressed_bytes) &&
        reading->branch > 0)
        roast_ladder_branch_add(thread, reading->branch - 1, &more);
    if (result && reading->page && reading->page_bytes < more.uncompressed_bytes)
        file_learn_codec(hook->state, thread, reading->page, NULL);
    hook_set(&reading->page, NULL);
    return hook_done(hook->state, result, "size of a page");
}

/* The id of the field that a column belongs to. */
static PyObject *field_id(const struct probe_names *names, PyObject *ntuple,
                          PyObject *column)
{
    PyObject *records = PyObject_GetAttr(ntuple, names->column_records);
    PyObject *record = records ? PyObject_GetItem(records, column) : NULL;
    PyObject *id = record ? PyObject_GetAttr(record, names->field_id) : NULL;

    Py_XDECREF(record);
    Py_XDECREF(records);
    return id;
}

static bool is_length(const struct probe_names *names, PyObject *field)
{
    PyObject *type = PyObject_GetAttr(field, names->type_name);
    struct roast_str text =
        type && PyUnicode_Check(type) ? text_borrow(type) : (struct roast_str){NULL, 0};
    static const char word[] = "ROOT::RNTupleCardinality";
    bool is_it = text.size_bytes >= sizeof(word) - 1 &&
                 memcmp(text.data, word, sizeof(word) - 1) == 0;

    Py_XDECREF(type);
    return is_it;
}

/* The name of a field that is the length of another one, such as nJet for a collection
 * without a name; NULL without an exception if there is none. */
static PyObject *alias_of(const struct probe_names *names, PyObject *fields,
                          PyObject *id)
{
    PyObject *found = NULL;

    for (Py_ssize_t i = 0; i < PySequence_Size(fields) && !found; i++) {
        PyObject *field = PySequence_GetItem(fields, i);
        PyObject *shown =
            field ? PyObject_GetAttr(field, names->source_field_id) : NULL;
        if (shown && shown != Py_None &&
            PyObject_RichCompareBool(shown, id, Py_EQ) == 1 && is_length(names, field))
            found = PyObject_GetAttr(field, names->field_name);
        Py_XDECREF(shown);
        Py_XDECREF(field);
        if (PyErr_Occurred())
            break;
    }
    return found;
}

/* Items of a collection, and collections without a public name. */
static bool is_nameless(PyObject *name)
{
    struct roast_str text =
        PyUnicode_Check(name) ? text_borrow(name) : (struct roast_str){NULL, 0};

    return text.size_bytes > 0 && text.data[0] == '_';
}

/* Moves *id up to the first field that has a name, and returns the name. A field at the
 * top is its own parent. */
static PyObject *climb(const struct probe_names *names, PyObject *fields, PyObject **id)
{
    enum { DEEPEST = 16 };
    PyObject *name = NULL;

    for (int i = 0; i < DEEPEST; i++) {
        PyObject *field = PyObject_GetItem(fields, *id);
        hook_set(&name, field ? PyObject_GetAttr(field, names->field_name) : NULL);
        PyObject *above = name && is_nameless(name)
                              ? PyObject_GetAttr(field, names->parent_field_id)
                              : NULL;
        bool goes_on = above && PyObject_RichCompareBool(above, *id, Py_NE) == 1;
        Py_XDECREF(field);
        if (!goes_on) {
            Py_XDECREF(above);
            break;
        }
        hook_set(id, above);
    }
    return name;
}

/* The name by which the field of a column is requested. is_part: the column belongs to
 * the items of that field. */
static PyObject *name_of(const struct probe_names *names, PyObject *ntuple,
                         PyObject *column, bool *is_part)
{
    PyObject *own_id = field_id(names, ntuple, column);
    PyObject *records = own_id ? PyObject_GetAttr(ntuple, names->field_records) : NULL;
    PyObject *fields = records ? PySequence_Fast(records, "field_records") : NULL;
    PyObject *id = Py_XNewRef(own_id);
    PyObject *name = fields ? climb(names, fields, &id) : NULL;

    *is_part = id != own_id;
    if (name && is_nameless(name)) {
        PyObject *alias = alias_of(names, fields, id);
        if (alias)
            hook_set(&name, alias);
    }
    Py_XDECREF(id);
    Py_XDECREF(fields);
    Py_XDECREF(records);
    Py_XDECREF(own_id);
    return name;
}

/* The number of a field that was not requested by name. Items are read together with
 * their collection: that is one read. */
static int32_t bulk_field(struct probe_state *state, roast_thread *thread,
                          PyObject *args)
{
    PyObject *ntuple = PyTuple_GetItem(args, 0), *name = NULL;
    bool is_part = false;

    if (reading_owns(state, ntuple))
        name = name_of(&state->names, ntuple, PyTuple_GetItem(args, 1), &is_part);
    int32_t number = name ? bulk_number(thread, name) : -1;
    const struct roast_branch more = {.reads = !is_part};

    roast_ladder_branch_add(thread, number, &more);
    Py_XDECREF(name);
    (void)guard_clear(); /* another version of uproot: bytes without a name */
    return number;
}

/* ntuple.read_cluster_range(column, first, last, ...) */
PyObject *hook_clusters(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs)
{
    struct reading *reading = reading_here();
    int32_t outer = reading->branch;
    struct roast_branch more = {.reads = 0};

    if (outer != 0 || PyTuple_Size(args) < 2)
        return hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_interpret);
    reading->branch = bulk_field(hook->state, thread, args) + 1;
    if (PyErr_Occurred()) { /* Ctrl-C */
        reading->branch = outer;
        return NULL;
    }
    int64_t start_ns = roast_mono_ns();
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_interpret);
    more.ns = (uint64_t)(roast_mono_ns() - start_ns);
    roast_ladder_branch_add(thread, reading->branch - 1, &more);
    reading->branch = outer;
    return result;
}

/* The list of pages is read with the first field, but is not a part of it. */
PyObject *hook_page_lists(struct hook *hook, roast_thread *thread, PyObject *args,
                          PyObject *kwargs)
{
    struct reading *reading = reading_here();

    reading->metadata++;
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_form);
    reading->metadata--;
    return result;
}

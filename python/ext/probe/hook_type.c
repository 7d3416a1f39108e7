/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_type.c - the type of hooks: they are called, bound, compared and pickled like the
 * functions that they replace. */
#include "handlers.h" /* Python.h comes first */

#include <stddef.h>
#include <structmember.h>

#include "held.h"
#include "support.h"
#include "types.h"

/* Hooks that only time the call. */
static PyObject *time_slice(struct hook *hook, roast_thread *thread, PyObject *args,
                            PyObject *kwargs)
{
    enum roast_ladder_item slice =
        hook->number == ROAST_HOOK_find_and_load  ? ROAST_ITEM_import
        : hook->number == ROAST_HOOK_parquet_open ? ROAST_ITEM_open
                                                  : ROAST_ITEM_write;

    return hook_in_slice(hook, thread, args, kwargs, slice);
}

static const hook_handler handlers[ROAST_HOOK_END] = {
    [ROAST_HOOK_find_and_load] = time_slice,
    [ROAST_HOOK_open] = hook_open,
    [ROAST_HOOK_parquet_open] = time_slice,
    [ROAST_HOOK_from_root] = hook_factory,
    [ROAST_HOOK_from_parquet] = hook_factory,
    [ROAST_HOOK_events] = hook_events,
    [ROAST_HOOK_close] = hook_close,
    [ROAST_HOOK_buffer] = hook_buffer,
    [ROAST_HOOK_extract_root] = hook_extract,
    [ROAST_HOOK_extract_parquet] = hook_extract,
    [ROAST_HOOK_baskets] = hook_baskets,
    [ROAST_HOOK_submit] = hook_submit,
    [ROAST_HOOK_source] = hook_source,
    [ROAST_HOOK_chunk_wait] = hook_wait,
    [ROAST_HOOK_pages] = hook_page,
    [ROAST_HOOK_clusters] = hook_clusters,
    [ROAST_HOOK_page_lists] = hook_page_lists,
    [ROAST_HOOK_parquet_read] = hook_parquet_read,
    [ROAST_HOOK_write] = time_slice,
};

PyObject *hook_pass(const struct hook *hook, PyObject *args, PyObject *kwargs)
{
    unsigned depth = held_inside();

    held_end(depth);
    return held_begin_after(depth, PyObject_Call(hook->target, args, kwargs));
}

PyObject *hook_done(struct probe_state *state, PyObject *result, const char *where)
{
    if (result && PyErr_Occurred() && !guard_note(state, where))
        Py_CLEAR(result);
    return result;
}

PyObject *hook_in_slice(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs, enum roast_ladder_item slice)
{
    unsigned token = roast_ladder_enter(thread, slice);
    PyObject *result = hook_pass(hook, args, kwargs);

    roast_ladder_leave(thread, token);
    return result;
}

static bool is_hook(const struct probe_state *state, PyObject *object)
{
    return Py_TYPE(object) == state->hook_type ||
           Py_TYPE(object) == state->method_hook_type;
}

bool hook_whole(PyObject *object, uint64_t *value)
{
    PyObject *index = object ? PyNumber_Index(object) : NULL;
    long long number = index ? PyLong_AsLongLong(index) : -1;

    Py_XDECREF(index);
    if (number < 0) {
        (void)guard_clear(); /* another version of uproot: unknown */
        return false;
    }
    *value = (uint64_t)number;
    return true;
}

bool hook_number(PyObject *object, PyObject *name, uint64_t *value)
{
    PyObject *attribute = PyObject_GetAttr(object, name);
    bool known = hook_whole(attribute, value);

    Py_XDECREF(attribute);
    return known;
}

/* A member of an uproot model itself. New reference; NULL: none, or an exception. */
static PyObject *own_member(struct probe_state *state, PyObject *model, PyObject *name)
{
    PyObject *members = PyObject_GetAttr(model, state->names.members);
    PyObject *found = members && PyDict_Check(members)
                          ? Py_XNewRef(PyDict_GetItemWithError(members, name))
                          : NULL;

    Py_XDECREF(members);
    return found;
}

bool hook_member(struct probe_state *state, PyObject *model, PyObject *name,
                 uint64_t *value)
{
    PyObject *found = own_member(state, model, name);
    bool known = hook_whole(found, value);

    Py_XDECREF(found);
    return known;
}

static PyObject *base_member(struct probe_state *state, PyObject *model, PyObject *name,
                             int depth)
{
    enum { DEEPEST = 8 };
    PyObject *found = own_member(state, model, name);
    bool try_bases = !found && !PyErr_Occurred() && depth < DEEPEST;
    PyObject *bases = try_bases ? PyObject_GetAttr(model, state->names.bases) : NULL;
    Py_ssize_t count = bases && PyList_Check(bases) ? PyList_Size(bases) : 0;

    while (!found && count-- > 0 && !PyErr_Occurred())
        found = base_member(state, PyList_GetItem(bases, count), name, depth + 1);
    Py_XDECREF(bases);
    return found;
}

PyObject *hook_any_member(struct probe_state *state, PyObject *model, PyObject *name)
{
    PyObject *found = base_member(state, model, name, 0);

    (void)guard_clear(); /* another version of uproot */
    return found;
}

static PyObject *call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct hook *self = (struct hook *)object;
    roast_thread *thread = roast_thread_current();

    if (!roast_ladder_active(thread))
        return PyObject_Call(self->target, args, kwargs);
    unsigned depth = held_inside();
    PyObject *result = NULL;
    roast_ladder_add(thread, ROAST_ITEM_hook_calls, 1);
    if (held_begin(depth) == 0)
        result = handlers[self->number](self, thread, args, kwargs);
    held_end(depth);
    return result;
}

/* ---- a hook as an attribute --------------------------------------------------- */

static PyObject *get_property(struct hook *self, PyObject *object, PyObject *type)
{
    if (!object)
        return PyObject_CallMethod(self->original, "__get__", "OO", Py_None, type);
    PyObject *args = PyTuple_Pack(1, object);
    PyObject *result = args ? call((PyObject *)self, args, NULL) : NULL;
    Py_XDECREF(args);
    return result;
}

static PyObject *descr_get(PyObject *hook, PyObject *object, PyObject *type)
{
    struct hook *self = (struct hook *)hook;

    if (object == Py_None && type != (PyObject *)Py_TYPE(Py_None))
        object = NULL;
    switch (self->binding) {
    case HOOK_PLAIN:
        break;
    case HOOK_METHOD:
        if (object)
            return PyObject_CallFunctionObjArgs(self->state->method_type, hook, object,
                                                NULL);
        break;
    case HOOK_CLASS:
        if (!type && object)
            type = (PyObject *)Py_TYPE(object);
        if (type)
            return PyObject_CallFunctionObjArgs(self->state->method_type, hook, type,
                                                NULL);
        break;
    case HOOK_PROPERTY:
        return get_property(self, object, type);
    }
    return Py_NewRef(hook);
}

/* Attributes that the type has, but that must come from the target. */
static bool is_of_target(PyObject *name)
{
    return PyUnicode_CompareWithASCIIString(name, "__module__") == 0 ||
           PyUnicode_CompareWithASCIIString(name, "__doc__") == 0;
}

/* Other attributes are those of the target: uproot stores functions on its functions. */
static PyObject *get_attr(PyObject *object, PyObject *name)
{
    const struct hook *self = (struct hook *)object;

    if (is_of_target(name))
        return PyObject_GetAttr(self->target, name);
    PyObject *value = PyObject_GenericGetAttr(object, name);
    if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return value;
    PyErr_Clear();
    return PyObject_GetAttr(self->target, name);
}

static int set_attr(PyObject *object, PyObject *name, PyObject *value)
{
    return PyObject_SetAttr(((struct hook *)object)->target, name, value);
}

static Py_hash_t hash(PyObject *object)
{
    return PyObject_Hash(((struct hook *)object)->target);
}

/* A dict or set of functions finds a hooked one, too. */
static PyObject *compare(PyObject *object, PyObject *other, int operation)
{
    const struct hook *self = (struct hook *)object;

    if (is_hook(self->state, other))
        other = ((struct hook *)other)->target;
    return PyObject_RichCompare(self->target, other, operation);
}

/* pickle.PicklingError: names like f.<locals>.g cannot be found by importing. */
static void raise_unpicklable(PyObject *target)
{
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *error = pickle ? PyObject_GetAttrString(pickle, "PicklingError") : NULL;

    if (error)
        PyErr_Format(error, "cannot pickle the hook on %R: it is not at module level",
                     target);
    Py_XDECREF(error);
    Py_XDECREF(pickle);
}

/* Pickles as pkgutil.resolve_name("module:name") of the original, because this package
 * may not be installed where it is unpickled. */
static PyObject *reduce(PyObject *hook, PyObject *unused)
{
    const struct hook *self = (struct hook *)hook;
    PyObject *target = self->target;
    const char *suffix = self->binding == HOOK_CLASS ? ".__func__" : "";
    PyObject *module = PyObject_GetAttrString(target, "__module__");
    PyObject *name = module ? PyObject_GetAttrString(target, "__qualname__") : NULL;
    PyObject *path =
        name ? PyUnicode_FromFormat("%S:%S%s", module, name, suffix) : NULL;
    PyObject *result = NULL;

    (void)unused;
    if (path && PyUnicode_FindChar(path, '<', 0, PyUnicode_GetLength(path), 1) >= 0) {
        raise_unpicklable(target);
    } else if (path) {
        PyObject *pkgutil = PyImport_ImportModule("pkgutil");
        PyObject *resolve =
            pkgutil ? PyObject_GetAttrString(pkgutil, "resolve_name") : NULL;
        result = resolve ? Py_BuildValue("O(O)", resolve, path) : NULL;
        Py_XDECREF(resolve);
        Py_XDECREF(pkgutil);
    }
    Py_XDECREF(path);
    Py_XDECREF(name);
    Py_XDECREF(module);
    return result;
}

/* ---- the types ---------------------------------------------------------------- */

static int hook_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct hook *self = (struct hook *)object;

    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->original);
    Py_VISIT(self->target);
    return 0;
}

static int hook_clear(PyObject *object)
{
    struct hook *self = (struct hook *)object;

    Py_CLEAR(self->original);
    Py_CLEAR(self->target);
    return 0;
}

static void hook_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    PyObject_GC_UnTrack(object);
    PyObject_ClearWeakRefs(object);
    (void)hook_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

static PyObject *repr(PyObject *hook)
{
    return PyUnicode_FromFormat("<roastcoffea hook on %R>",
                                ((struct hook *)hook)->target);
}

static PyObject *original(PyObject *hook, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct hook *)hook)->original);
}

static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getters[] = {
    {"original", original, NULL, "What the hook replaces.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(struct hook, weak_refs), READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_call, call},
    {Py_tp_descr_get, descr_get},
    {Py_tp_getattro, get_attr},
    {Py_tp_setattro, set_attr},
    {Py_tp_hash, hash},
    {Py_tp_richcompare, compare},
    {Py_tp_repr, repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getters},
    {Py_tp_members, members},
    {Py_tp_traverse, hook_traverse},
    {Py_tp_clear, hook_clear},
    {Py_tp_dealloc, hook_dealloc},
    {0, NULL},
};

enum {
    HOOK_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE
};

PyType_Spec hook_spec = {
    .name = "roastcoffea._probe._Hook",
    .basicsize = sizeof(struct hook),
    .flags = HOOK_FLAGS,
    .slots = slots,
};

/* The interpreter calls these without creating a bound method first. */
PyType_Spec method_hook_spec = {
    .name = "roastcoffea._probe._MethodHook",
    .basicsize = sizeof(struct hook),
    .flags = HOOK_FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .slots = slots,
};

/* ---- making them -------------------------------------------------------------- */

/* The function of a classmethod or property, or the object itself; new reference. */
static PyObject *target_of(PyObject *original, enum hook_binding binding)
{
    switch (binding) {
    case HOOK_CLASS:
        return PyObject_GetAttrString(original, "__func__");
    case HOOK_PROPERTY:
        return PyObject_GetAttrString(original, "fget");
    default:
        return Py_NewRef(original);
    }
}

PyObject *hook_new(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    PyObject *original = NULL;
    int number = 0, binding = 0;

    if (!PyArg_ParseTuple(args, "iiO", &number, &binding, &original))
        return NULL;
    if (number < 0 || number >= ROAST_HOOK_END || !handlers[number] || binding < 0 ||
        binding > HOOK_PROPERTY) {
        PyErr_Format(PyExc_ValueError, "no hook %d with binding %d", number, binding);
        return NULL;
    }
    if (is_hook(state, original)) /* one that other code stored and restored */
        original = ((struct hook *)original)->original;
    PyObject *target = target_of(original, (enum hook_binding)binding);
    if (!target)
        return NULL;
    if (!PyCallable_Check(target)) {
        PyErr_Format(PyExc_TypeError, "cannot hook %R: it is not callable", target);
        Py_DECREF(target);
        return NULL;
    }
    struct hook *self =
        PyObject_GC_New(struct hook, binding == HOOK_METHOD ? state->method_hook_type
                                                            : state->hook_type);
    if (!self) {
        Py_DECREF(target);
        return NULL;
    }
    self->original = Py_NewRef(original);
    self->target = target;
    self->weak_refs = NULL;
    self->state = state;
    self->number = (enum roast_hook)number;
    self->binding = (enum hook_binding)binding;
    PyObject_GC_Track((PyObject *)self);
    return (PyObject *)self;
}

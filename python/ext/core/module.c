/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - roastcoffea._core: collects, computes and shows runs.
 *
 * Loaded where a run is collected or read, never on a worker. Exceptions are those of
 * roastcoffea._probe; the two modules exchange only bytes. */
#include "file.h"
#include "state.h"
#include "table.h"

/* ---- errors and text ------------------------------------------------------------ */

static PyObject *type_of(const struct core_state *state, int code)
{
    switch (code) {
    case ROAST_BAD_DATA:
    case ROAST_TRUNCATED:
    case ROAST_BAD_CHECKSUM:
    case ROAST_NEWER_FORMAT:
        return state->format_error;
    case ROAST_IO:
        return state->store_error;
    case ROAST_REFUSED:
        return PyExc_ValueError;
    case ROAST_NO_MEMORY:
        return PyExc_MemoryError;
    default:
        return state->roast_error;
    }
}

/* Takes the reference to the message; NULL is an earlier failure. */
static PyObject *raise_text(const struct core_state *state, int code, PyObject *message)
{
    PyObject *type = type_of(state, code);
    PyObject *name = message ? PyUnicode_FromString(roast_status_name(code)) : NULL;
    PyObject *error = name ? PyObject_CallFunctionObjArgs(type, message, NULL) : NULL;

    if (error && PyObject_SetAttrString(error, "code", name) == 0)
        PyErr_SetObject(type, error);
    Py_XDECREF(message);
    Py_XDECREF(name);
    Py_XDECREF(error);
    return NULL;
}

/* A path in the message may be any bytes. */
static PyObject *message_new(const roast_error *err)
{
    return text_new(
        roast_str_of(err->message[0] ? err->message : roast_status_text(err->code)));
}

PyObject *raise_error(const struct core_state *state, const roast_error *err)
{
    return raise_text(state, err->code, message_new(err));
}

PyObject *raise_error_of(const struct core_state *state, const char *path,
                         const roast_error *err)
{
    PyObject *place = NULL;
    PyObject *message = NULL;
    PyObject *text = NULL;

    place = text_new(roast_str_of(path));
    message = place ? message_new(err) : NULL;
    if (message)
        text = PyUnicode_Contains(message, place) == 1
                   ? Py_NewRef(message)
                   : PyUnicode_FromFormat("%U: %U", place, message);
    Py_XDECREF(place);
    Py_XDECREF(message);
    return raise_text(state, err->code, text);
}

PyObject *text_new(struct roast_str text)
{
    return PyUnicode_DecodeUTF8(text.data ? text.data : "", (Py_ssize_t)text.size_bytes,
                                "replace");
}

int dict_set(PyObject *dict, const char *key, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return status;
}

PyObject *list_append(PyObject *list, PyObject *item)
{
    if (!item || PyList_Append(list, item) < 0)
        Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

PyObject *page_result(const struct core_state *state, int status,
                      struct roast_page *page, const roast_error *err)
{
    PyObject *text = status < 0
                         ? raise_error(state, err)
                         : text_new((struct roast_str){page->text, page->size_bytes});

    roast_page_release(page);
    return text;
}

int text_borrow(PyObject *object, struct roast_str *text)
{
    Py_ssize_t size = 0;

    *text = (struct roast_str){NULL, 0};
    if (object == Py_None)
        return 0;
    text->data = PyUnicode_AsUTF8AndSize(object, &size);
    text->size_bytes = (size_t)size;
    return text->data ? 0 : -1;
}

/* ---- the module ------------------------------------------------------------------ */

static PyMethodDef *const functions[] = {
    show_methods, formula_methods, list_methods,
    file_methods, compare_methods, export_methods,
};

static int import_into(PyObject **slot, const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);

    *slot = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return *slot ? 0 : -1;
}

static int import_datetime(struct core_state *state)
{
    PyObject *type = NULL;
    PyObject *zone = NULL;

    if (import_into(&type, "datetime", "datetime") < 0 ||
        import_into(&zone, "datetime", "timezone") < 0)
        return -1;
    state->from_timestamp = PyObject_GetAttrString(type, "fromtimestamp");
    state->utc = PyObject_GetAttrString(zone, "utc");
    Py_DECREF(type);
    Py_DECREF(zone);
    return state->from_timestamp && state->utc ? 0 : -1;
}

/* A RoastError and an OSError. */
static int add_store_error(PyObject *module, struct core_state *state)
{
    PyObject *bases = PyTuple_Pack(2, state->roast_error, PyExc_OSError);

    if (!bases)
        return -1;
    state->store_error = PyErr_NewExceptionWithDoc(
        "roastcoffea._core.StoreError",
        "A file could not be read or written; `.code` is the reason.", bases, NULL);
    Py_DECREF(bases);
    if (!state->store_error)
        return -1;
    return PyModule_AddObjectRef(module, "StoreError", state->store_error);
}

static int add_type(PyObject *module, PyTypeObject **slot, PyType_Spec *spec,
                    const char *name)
{
    *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *slot ? PyModule_AddObjectRef(module, name, (PyObject *)*slot) : -1;
}

static int execute(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);

    if (add_type(module, &state->run_type, &run_spec, "Run") < 0 ||
        add_type(module, &state->table_type, &table_spec, "Table") < 0 ||
        add_type(module, &state->column_type, &column_spec, "Column") < 0)
        return -1;
    if (import_into(&state->roast_error, "roastcoffea._probe", "RoastError") < 0 ||
        import_into(&state->format_error, "roastcoffea._probe", "FormatError") < 0 ||
        import_datetime(state) < 0 || add_store_error(module, state) < 0)
        return -1;
    if (PyModule_AddStringConstant(module, "RUN_NAME", ROAST_RUN_NAME) < 0 ||
        PyModule_AddStringConstant(module, "LIVE_SUFFIX", ROAST_LIVE_SUFFIX) < 0 ||
        PyModule_AddIntConstant(module, "NOTE_NAME_BYTES", ROAST_NOTE_NAME_BYTES) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (PyModule_AddFunctions(module, functions[i]) < 0)
            return -1;
    }
    return 0;
}

#define CORE_OWNED(ACT, state) \
    ACT((state)->run_type); \
    ACT((state)->table_type); \
    ACT((state)->column_type); \
    ACT((state)->roast_error); \
    ACT((state)->format_error); \
    ACT((state)->store_error); \
    ACT((state)->from_timestamp); \
    ACT((state)->utc)

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = PyModule_GetState(module);

    CORE_OWNED(Py_VISIT, state);
    return 0;
}

static int clear(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);

    CORE_OWNED(Py_CLEAR, state);
    return 0;
}

static void release(void *module)
{
    (void)clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "roastcoffea._core",
    .m_doc = "Collects, computes and shows what was measured.",
    .m_size = sizeof(struct core_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}

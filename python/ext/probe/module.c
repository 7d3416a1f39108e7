/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - roastcoffea._probe: its state, settings and functions.
 *
 * The module's namespace has no types: cloudpickle.register_pickle_by_value() would have
 * to pickle them. */
#include "held.h" /* Python.h comes first */

#include <dlfcn.h>
#include <link.h>

#include "roast/environment.h"
#include "roast/version.h"
#include "support.h"
#include "types.h"

static struct probe_state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

/* ---- functions --------------------------------------------------------------- */

/* Replaces a callable of the Python layer; None removes it. */
static void set_callable(PyObject **slot, PyObject *callable)
{
    PyObject *old = *slot;

    if (!callable)
        return;
    *slot = callable == Py_None ? NULL : Py_NewRef(callable);
    Py_XDECREF(old);
}

static PyObject *configure(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"enabled", "exact_peak", "decorate", "byte_source",
                               "stub",    "work",       NULL};
    struct probe_state *state = state_of(module);
    int enabled = -1; /* not given */
    int exact_peak = state->exact_peak;
    PyObject *decorate = NULL;
    PyObject *byte_source = NULL;
    PyObject *stub = NULL;
    PyObject *work = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$ppOOOO:configure", keywords,
                                     &enabled, &exact_peak, &decorate, &byte_source,
                                     &stub, &work))
        return NULL;
    if (enabled >= 0) {
        state->strikes = 0;
        state->enabled = enabled;
    }
    state->exact_peak = exact_peak;
    set_callable(&state->decorate, decorate);
    set_callable(&state->byte_source, byte_source);
    if (byte_source)
        state->source_errors = 0;
    set_callable(&state->stub, stub);
    set_callable(&state->work, work);
    Py_RETURN_NONE;
}

static PyObject *status(PyObject *module, PyObject *unused)
{
    const struct probe_state *state = state_of(module);
    PyObject *first_error = text_new(roast_str_of(state->first_error));

    (void)unused;
    return Py_BuildValue("{s:O,s:O,s:K,s:N,s:K}", "enabled",
                         state->enabled ? Py_True : Py_False, "exact_peak",
                         state->exact_peak ? Py_True : Py_False, "monitor_errors",
                         (unsigned long long)state->errors, "first_error", first_error,
                         "process_id", (unsigned long long)roast_process_id());
}

/* Counts an exception of the Python layer, which is not raised. */
static PyObject *note_error(PyObject *module, PyObject *args)
{
    const char *where = NULL;
    PyObject *error = NULL;

    if (!PyArg_ParseTuple(args, "sO!", &where, PyExc_BaseException, &error))
        return NULL;
    PyErr_Restore(Py_NewRef((PyObject *)Py_TYPE(error)), Py_NewRef(error), NULL);
    if (!guard_note(state_of(module), where))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *name_key(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)roast_name_key(),
                                     ROAST_NAME_KEY_BYTES);
}

static PyObject *process_id(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(roast_process_id());
}

static PyObject *rss_mib(PyObject *module, PyObject *unused)
{
    roast_error err = {0};
    roast_thread *thread = roast_thread_get(&err);
    uint64_t rss = 0;

    (void)unused;
    if (!thread)
        return raise_roast(state_of(module), &err);
    if (!roast_rss_now(thread, &rss)) {
        PyErr_SetString(state_of(module)->roast_error,
                        "resident memory is not available: /proc/self/statm");
        return NULL;
    }
    return PyFloat_FromDouble(roast_mib((int64_t)rss));
}

/* Appends item and takes both references; returns list, or NULL after a failure, which an
 * item of NULL is. */
static PyObject *list_append(PyObject *list, PyObject *item)
{
    if (!item || PyList_Append(list, item) < 0)
        Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

/* The frames of a buffer as a list of records. */
static PyObject *split_frames(struct probe_state *state, struct roast_str frames)
{
    PyObject *list = PyList_New(0);

    while (list && frames.size_bytes > 0) {
        roast_record rec;
        roast_error err = {0};
        size_t used = 0;
        PyObject *record = NULL;
        if (roast_record_decode(&rec, &used, frames, &err) < 0)
            raise_roast(state, &err);
        else
            record = record_new(state, (struct roast_str){frames.data, used});
        list = list_append(list, record);
        frames.data += used;
        frames.size_bytes -= used;
    }
    return list;
}

static PyObject *take_records(PyObject *module, PyObject *unused)
{
    struct roast_str frames;
    uint64_t dropped;

    (void)unused;
    roast_outbox_take(&frames, &dropped);
    PyObject *list = split_frames(state_of(module), frames);
    PyObject *result =
        list ? Py_BuildValue("OK", list, (unsigned long long)dropped) : NULL;
    if (result)
        roast_outbox_release(&frames);
    else
        roast_outbox_put_back(&frames, dropped); /* out of memory: for the next call */
    Py_XDECREF(list);
    return result;
}

static PyObject *read_frames(PyObject *module, PyObject *bytes)
{
    char *data = NULL;
    Py_ssize_t size = 0;

    if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0)
        return NULL;
    return split_frames(state_of(module), (struct roast_str){data, (size_t)size});
}

static PyObject *records_at(PyObject *module, PyObject *args)
{
    PyObject *source = NULL;
    PyObject *rows = NULL;

    if (!PyArg_ParseTuple(args, "OO!", &source, &PyList_Type, &rows))
        return NULL;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < PyList_Size(rows); i++) {
        unsigned long row = PyLong_AsUnsignedLong(PyList_GetItem(rows, i));
        PyObject *record = PyErr_Occurred()
                               ? NULL
                               : record_at(state_of(module), source, (uint32_t)row);
        list = list_append(list, record);
    }
    return list;
}

static PyObject *fields(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (int i = 0; list && i < ROAST_FIELD_COUNT; i++) {
        const struct roast_field_info *info = roast_field_info((enum roast_field)i);
        list = list_append(list, Py_BuildValue("(Isss)", info->number, info->name,
                                               info->unit, info->text));
    }
    return list;
}

static PyObject *hooks(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (unsigned i = 0; list && i < ROAST_HOOK_END; i++) {
        const struct roast_hook_info *info = roast_hook_info(i);
        if (info)
            list = list_append(
                list, Py_BuildValue("(Isss)", i, info->name, info->where, info->text));
    }
    return list;
}

static PyObject *codecs(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();

    (void)module;
    (void)unused;
    for (unsigned i = 1; dict && i < ROAST_CODEC_COUNT; i++) { /* 0: not known */
        PyObject *number = PyLong_FromUnsignedLong(i);
        if (!number || PyDict_SetItemString(dict, roast_codec_name(i), number) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(number);
    }
    return dict;
}

static PyObject *describe(PyObject *module, PyObject *args)
{
    const char *key = NULL, *text = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "ss", &key, &text))
        return NULL;
    roast_process_describe(roast_str_of(key), roast_str_of(text));
    Py_RETURN_NONE;
}

static PyObject *environment(PyObject *module, PyObject *unused)
{
    const struct roast_environment_variable *variable;
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (size_t i = 0; list && (variable = roast_environment_variable(i)); i++)
        list = list_append(list, Py_BuildValue("sO", variable->name,
                                               variable->is_site ? Py_True : Py_False));
    return list;
}

static PyMethodDef functions[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS,
     "Change settings of the monitor in this process."},
    {"status", status, METH_NOARGS, "Settings and counters of the monitor."},
    {"note_error", note_error, METH_VARARGS,
     "Counts an error of the monitor; raises it if it is no Exception."},
    {"name_key", name_key, METH_NOARGS,
     "The random key of this process that marks redacted names; it is never stored."},
    {"process_id", process_id, METH_NOARGS,
     "Random number of this process; another one in a forked child."},
    {"rss_mib", rss_mib, METH_NOARGS, "Resident memory now, in MiB."},
    {"take_records", take_records, METH_NOARGS,
     "Empties the outbox of this process: (records, number that was dropped)."},
    {"read_frames", read_frames, METH_O, "The records of bytes that hold frames."},
    {"attempt_begin", attempt_begin, METH_VARARGS,
     "Begins an attempt; returns its begin frame, None if a spool has it."},
    {"attempt_end", attempt_end, METH_VARARGS,
     "Ends it; returns its frames, None if a spool has them. With splits_end: (chunk"
     " frames or None, end frame), and the caller sends the end frame."},
    {"attempt_packed", attempt_packed, METH_VARARGS,
     "Its result is packed to so many bytes (0: not known): returns the end frame with"
     " the time of packing, or None."},
    {"send_frames", send_frames, METH_VARARGS,
     "Writes frames to the spools; returns them if that is not possible, else None."},
    {"frameless_call", frameless_call, METH_O,
     "Gives a class a __call__ without a Python frame: before_call(), the function,"
     " after_call()."},
    {"enter", held_enter_new, METH_VARARGS,
     "enter(function, leave): an __enter__() that no signal interrupts; one that came"
     " raises at its end, after leave(self, type, exception, None)."},
    {"leave", held_leave_new, METH_O,
     "A function that no signal interrupts; those that came raise after it."},
    {"ctrl_c_waits", ctrl_c_waits, METH_NOARGS,
     "Whether a Ctrl-C came that waits for the end of a step of the monitor."},
    {"hook", hook_new, METH_VARARGS, "A hook to put in place of a callable."},
    {"ladder_arm", ladder_arm, METH_VARARGS,
     "Starts the slices of this thread's attempt: hooks are in place."},
    {"ladder_is_heavy", ladder_is_heavy, METH_NOARGS,
     "Whether the hooks cost too much in the last chunks."},
    {"ladder_setup", ladder_setup, METH_VARARGS,
     "Sets uproot's executor, describe_parquet and the cost of a hook call."},
    {"hooks", hooks, METH_NOARGS, "(number, name, where, what is lost) of every hook."},
    {"describe", describe, METH_VARARGS,
     "Adds a text to what is sent with the first chunk of this process."},
    {"environment", environment, METH_NOARGS,
     "The variables of the environment that a run keeps: (name, names a site)."},
    {"codecs", codecs, METH_NOARGS, "Numbers of codecs, by name."},
    {"gc_callback", gc_callback, METH_VARARGS, "For gc.callbacks."},
    {"hot_lines_begin", hot_lines_begin, METH_VARARGS,
     "This thread enters an attempt of a run, called by a frame; whether the sampling"
     " has to be started."},
    {"hot_lines_end", hot_lines_end, METH_NOARGS, "This thread has left it."},
    {"hot_lines_sample", hot_lines_sample, METH_VARARGS,
     "Samples until no attempt runs, in a thread of its own; asks is_users(file), and"
     " gives rows to a callable."},
    {"hot_lines_take", hot_lines_take, METH_NOARGS,
     "The rows since the last call: run, file, line, function, s, s alone."},
    {"hot_lines_stop", hot_lines_stop, METH_NOARGS, "Ends the sampling of a process."},
    {"hot_lines_forget", hot_lines_forget, METH_NOARGS,
     "In a forked child: the attempts and rows are those of its parent."},
    {"frame_of", frame_of, METH_VARARGS,
     "The frame of a mapping with the keys of a record; number is its sequence if it "
     "has none."},
    {"set_unswitched_call", set_unswitched_call, METH_O,
     "Sets what is called for decorated functions that no Runner switched on, or "
     "None."},
    {"records_at", records_at, METH_VARARGS,
     "Records that read their frames with source.frame(row) on first access."},
    {"fields", fields, METH_NOARGS, "(number, name, unit, meaning) of every field."},
    {NULL, NULL, 0, NULL},
};

/* ---- the module -------------------------------------------------------------- */

static int intern_names(struct probe_names *names)
{
#define NAME(id, text) \
    if (!(names->id = PyUnicode_InternFromString(text))) \
        return -1;
    PROBE_NAMES(NAME)
#undef NAME
    return 0;
}

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

static int make_types(PyObject *module, struct probe_state *state)
{
    state->user_functions_type = make_type(module, &user_functions_spec);
    state->section_type = make_type(module, &section_spec);
    state->record_type = make_type(module, &record_spec);
    state->hook_type = make_type(module, &hook_spec);
    state->method_hook_type = make_type(module, &method_hook_spec);
    state->held_type = make_type(module, &held_spec);
    state->reader_type = make_type(module, &reader_spec);
    return state->user_functions_type && state->section_type && state->record_type &&
                   state->hook_type && state->method_hook_type && state->held_type &&
                   state->reader_type
               ? 0
               : -1;
}

static PyObject *import_name(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *object = module ? PyObject_GetAttrString(module, name) : NULL;

    Py_XDECREF(module);
    return object;
}

/* So that isinstance(record, Mapping) is true. */
static int register_mapping(struct probe_state *state)
{
    PyObject *mapping = import_name("collections.abc", "Mapping");
    PyObject *done =
        mapping ? PyObject_CallMethod(mapping, "register", "O", state->record_type)
                : NULL;

    Py_XDECREF(mapping);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static int make_exceptions(PyObject *module, struct probe_state *state)
{
    state->roast_error = PyErr_NewExceptionWithDoc(
        "roastcoffea._probe.RoastError", "Base of all errors that roastcoffea raises.",
        PyExc_RuntimeError, NULL);
    if (!state->roast_error ||
        PyModule_AddObjectRef(module, "RoastError", state->roast_error) < 0)
        return -1;
    state->format_error = PyErr_NewExceptionWithDoc(
        "roastcoffea._probe.FormatError",
        "Bytes that do not follow the format; `.code` is the reason.",
        state->roast_error, NULL);
    if (!state->format_error)
        return -1;
    return PyModule_AddObjectRef(module, "FormatError", state->format_error);
}

static int make_objects(PyObject *module, struct probe_state *state)
{
    state->default_dict = import_name("collections", "defaultdict");
    state->ordered_dict = import_name("collections", "OrderedDict");
    state->method_type = import_name("types", "MethodType");
    state->null_context = section_new(state, NULL, ROAST_SECTION_TIME, NULL);
    state->user_functions = user_functions_new(module, state);
    if (!state->default_dict || !state->ordered_dict || !state->method_type ||
        !state->null_context || !state->user_functions || held_init() < 0)
        return -1;
    PyObject *get = PyObject_GetAttrString(state->user_functions, "current_chunk");
    state->chunk_property =
        get ? PyObject_CallFunctionObjArgs((PyObject *)&PyProperty_Type, get, NULL)
            : NULL;
    Py_XDECREF(get);
    if (!state->chunk_property)
        return -1;
    return PyModule_AddObjectRef(module, "user_functions", state->user_functions);
}

/* The symbol is not part of the limited API, and may be absent: then nobody knows who
 * waits for the GIL. */
static void find_interpreter(void)
{
    void *state = dlsym(RTLD_DEFAULT, "_PyRuntime");
    ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (state && dladdr1(state, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol)
        roast_interpreter_set(state, symbol->st_size);
}

static int execute(PyObject *module)
{
    struct probe_state *state = state_of(module);
    find_interpreter();

    state->enabled = true;
    if (intern_names(&state->names) < 0 || make_types(module, state) < 0 ||
        register_mapping(state) < 0 || make_exceptions(module, state) < 0 ||
        make_objects(module, state) < 0)
        return -1;
    if (PyModule_AddIntConstant(module, "frame_version", ROAST_FORMAT_VERSION) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", ROAST_VERSION);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct probe_state *state = state_of(module);

#define OWNED(type, name) Py_VISIT(state->name);
    PROBE_OWNED(OWNED)
#undef OWNED
    for (int i = 0; i < PROBE_KNOWN_FILES; i++)
        Py_VISIT(state->known_files[i].columns);
    return 0;
}

static int clear(PyObject *module)
{
    struct probe_state *state = state_of(module);

#define OWNED(type, name) Py_CLEAR(state->name);
    PROBE_OWNED(OWNED)
#undef OWNED
    for (int i = 0; i < PROBE_KNOWN_FILES; i++)
        Py_CLEAR(state->known_files[i].columns);
    for (int i = 0; i < PROBE_KEPT_TEXTS; i++)
        Py_CLEAR(state->kept_texts[i]);
#define NAME(id, text) Py_CLEAR(state->names.id);
    PROBE_NAMES(NAME)
#undef NAME
    return 0;
}

static void release(void *module)
{
    (void)clear(module);
    PyObject_Free(state_of(module)->spare_section);
    state_of(module)->spare_section = NULL;
    hot_lines_free(state_of(module)->hot_lines);
    state_of(module)->hot_lines = NULL;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "roastcoffea._probe",
    .m_doc = "Measures chunks where they run.",
    .m_size = sizeof(struct probe_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__probe(void);

PyMODINIT_FUNC PyInit__probe(void)
{
    return PyModuleDef_Init(&definition);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - runs in files: saving, opening, and the notes of a run.
 *
 * The small parts of an opened run are loaded at once; attempts and samples when they are
 * first used, without the GIL. libroast keeps both the small and the whole run until the
 * file is closed: one thread may use the small one while another loads the whole. */
#include "file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- saving ---------------------------------------------------------------------- */

PyObject *run_save(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    int replace = 0, unsynced = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "O&|pp", PyUnicode_FSConverter, &path, &replace,
                          &unsynced))
        return NULL;
    if (run_load(run_of(self)) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    enum roast_save_mode mode = unsynced  ? ROAST_SAVE_UNSYNCED
                                : replace ? ROAST_SAVE_REPLACE
                                          : ROAST_SAVE_NEW;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_run_save(run_of(self)->run, name, mode, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        raise_error_of(run_of(self)->state, name, &err);
    Py_DECREF(path);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- opening --------------------------------------------------------------------- */

static int open_file(struct run_object *self, const char *path, roast_error *err)
{
    int status = roast_runfile_open(&self->file, path, err);

    return status < 0 ? status : roast_runfile_run(self->file, false, &self->run, err);
}

/* An empty run for the path in args; *path is owned by the caller. */
static struct run_object *opened_for(PyObject **path, PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct run_object *self;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, path))
        return NULL;
    self = run_alloc(state->run_type, state);
    if (!self)
        Py_CLEAR(*path);
    return self;
}

static PyObject *open_run(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    PyObject *path = NULL;
    struct run_object *self = opened_for(&path, module, args);
    roast_error err = {0};
    int status;

    if (!self)
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = open_file(self, name, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0) {
        raise_error_of(state, name, &err);
        Py_CLEAR(self);
    }
    Py_DECREF(path);
    return (PyObject *)self;
}

/* If no run in the folder can be opened, err is that of the newest. */
static int open_found(struct run_object *self, struct roast_found_run *found,
                      const char *folder, roast_error *err)
{
    int status = roast_runfile_find(found, folder, err);

    if (status < 0 || !found->path.text)
        return status;
    self->file = found->file;
    if (self->file)
        return roast_runfile_run(self->file, false, &self->run, err);
    return open_file(self, found->path.text, err);
}

/* (path, Run) of the newest run in a folder, or None. */
static PyObject *find_run(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct roast_found_run found = {.runs = 0};
    PyObject *path = NULL;
    PyObject *result = NULL;
    struct run_object *self = opened_for(&path, module, args);
    roast_error err = {0};
    int status;

    if (!self)
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = open_found(self, &found, name, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        raise_error_of(state, found.path.text ? found.path.text : name, &err);
    else if (!found.path.text)
        result = Py_NewRef(Py_None);
    else
        result = Py_BuildValue("NO", PyUnicode_DecodeFSDefault(found.path.text), self);
    roast_page_release(&found.path);
    Py_DECREF(self);
    Py_DECREF(path);
    return result;
}

/* `run` is changed with the GIL held: other threads read it with the GIL. */
int run_load(struct run_object *self)
{
    roast_run *whole = NULL;
    roast_error err = {0};
    int status;

    if (!self->file || self->is_whole)
        return 0;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_runfile_run(self->file, true, &whole, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0) {
        raise_error(self->state, &err);
        return -1;
    }
    self->run = whole;
    self->is_whole = true;
    return 0;
}

int run_summary(struct run_object *self, const roast_summary **summary,
                roast_summary **owned, roast_error *err)
{
    *owned = NULL;
    if (self->file)
        return roast_runfile_summary(self->file, summary, err);
    int status = roast_summarize(owned, self->run, err);
    *summary = *owned;
    return status;
}

PyObject *run_info(PyObject *self, PyObject *unused)
{
    struct roast_runfile_info info = {.live = false};

    (void)unused;
    if (!run_of(self)->file)
        Py_RETURN_NONE;
    WITHOUT_GIL(roast_runfile_info(run_of(self)->file, &info));
    return Py_BuildValue(
        "{s:O,s:O,s:O,s:I,s:N,s:K,s:K}", "live", info.live ? Py_True : Py_False,
        "ended", info.ended ? Py_True : Py_False, "partial",
        info.partial ? Py_True : Py_False, "format", (unsigned int)info.format,
        "writer", text_new(roast_str_of(info.writer)), "cut_bytes",
        (unsigned long long)info.cut_bytes, "damaged",
        (unsigned long long)info.damaged);
}

void run_close_file(struct run_object *self)
{
    roast_runfile_close(self->file);
    self->file = NULL;
    self->run = NULL;
}

/* The page, or the exception of a status: ValueError if the question has no answer. */
static PyObject *rerun_result(PyObject *self, int status, struct roast_page *page,
                              const roast_error *err)
{
    if (status == ROAST_REFUSED) {
        PyErr_SetString(PyExc_ValueError, err->message);
        return NULL;
    }
    return page_result(run_of(self)->state, status, page, err);
}

PyObject *run_failed_items(PyObject *self, PyObject *args)
{
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    unsigned int call = 0;
    int status;

    if (!PyArg_ParseTuple(args, "I", &call) || run_load(run_of(self)) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_failed_items(&page, run_of(self)->run, call, NULL, &err);
    Py_END_ALLOW_THREADS;
    return rerun_result(self, status, &page, &err);
}

PyObject *run_failed_fileset(PyObject *self, PyObject *args)
{
    struct roast_page page = {NULL, 0};
    roast_error err = {0};
    unsigned int call = 0;
    int without_items = 0;
    int status;

    if (!PyArg_ParseTuple(args, "Ip", &call, &without_items) ||
        run_load(run_of(self)) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_failed_fileset(&page, run_of(self)->run, call, without_items != 0,
                                  NULL, &err);
    Py_END_ALLOW_THREADS;
    return rerun_result(self, status, &page, &err);
}

/* ---- notes ----------------------------------------------------------------------- */

/* The number of a group by its name; -1 with KeyError. */
static int group_number(const char *name)
{
    for (int i = 0; i < ROAST_NOTE_GROUP_COUNT; i++) {
        if (strcmp(roast_note_group_name((enum roast_note_group)i), name) == 0)
            return i;
    }
    PyErr_SetString(PyExc_KeyError, name);
    return -1;
}

PyObject *run_set_note(PyObject *self, PyObject *args)
{
    const char *group_name = NULL;
    const char *name = NULL;
    const char *text = NULL;
    Py_ssize_t name_bytes = 0;
    Py_ssize_t text_bytes = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "ss#z#", &group_name, &name, &name_bytes, &text,
                          &text_bytes))
        return NULL;
    int group = group_number(group_name);
    if (group < 0 || run_load(run_of(self)) < 0) /* else the note would be lost */
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_run_set_note(run_of(self)->run, (enum roast_note_group)group,
                                (struct roast_str){name, (size_t)name_bytes},
                                (struct roast_str){text, (size_t)text_bytes}, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        return raise_error(run_of(self)->state, &err);
    Py_RETURN_NONE;
}

/* Copies of notes: the run is locked while they are visited, and a thread that waits for
 * the lock may hold the GIL, so no Python object may be created meanwhile. */
struct copied_notes {
    char *bytes;   /* owned: name, text, name, text ... */
    size_t *sizes; /* owned: their sizes */
    size_t count;  /* of notes */
    size_t used_bytes;
    size_t cap_bytes;
    bool failed;
};

static void *grown(void *old, size_t size_bytes, bool *failed)
{
    void *bytes = realloc(old, size_bytes);

    *failed = *failed || !bytes;
    return bytes ? bytes : old;
}

static void append(struct copied_notes *notes, struct roast_str text)
{
    size_t needed = notes->used_bytes + text.size_bytes;

    if (needed > notes->cap_bytes) {
        size_t cap = 2 * needed + 64;
        notes->bytes = grown(notes->bytes, cap, &notes->failed);
        notes->cap_bytes = notes->failed ? notes->cap_bytes : cap;
    }
    if (notes->failed || text.size_bytes == 0)
        return;
    memcpy(notes->bytes + notes->used_bytes, text.data, text.size_bytes);
    notes->used_bytes = needed;
}

static void copy_note(void *context, struct roast_str name, struct roast_str text)
{
    struct copied_notes *notes = context;
    size_t sizes_bytes = (notes->count + 1) * 2 * sizeof(size_t);

    notes->sizes = grown(notes->sizes, sizes_bytes, &notes->failed);
    append(notes, name);
    append(notes, text);
    if (notes->failed)
        return;
    notes->sizes[2 * notes->count] = name.size_bytes;
    notes->sizes[2 * notes->count + 1] = text.size_bytes;
    notes->count++;
}

static PyObject *dict_of(const struct copied_notes *notes)
{
    PyObject *dict = PyDict_New();
    const char *at = notes->bytes;

    for (size_t i = 0; dict && i < notes->count; i++) {
        const size_t *sizes = &notes->sizes[2 * i];
        PyObject *name = text_new((struct roast_str){at, sizes[0]});
        PyObject *text = text_new((struct roast_str){at + sizes[0], sizes[1]});
        if (!name || !text || PyDict_SetItem(dict, name, text) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(text);
        at += sizes[0] + sizes[1];
    }
    return dict;
}

PyObject *run_notes(PyObject *self, PyObject *args)
{
    const char *group_name = NULL;
    struct copied_notes notes = {.failed = false};

    if (!PyArg_ParseTuple(args, "s", &group_name))
        return NULL;
    int group = group_number(group_name);
    if (group < 0)
        return NULL;
    roast_run *run = run_of(self)->run;
    Py_BEGIN_ALLOW_THREADS;
    roast_run_notes(run, (enum roast_note_group)group, copy_note, &notes);
    Py_END_ALLOW_THREADS;
    PyObject *dict = notes.failed ? PyErr_NoMemory() : dict_of(&notes);
    free(notes.bytes);
    free(notes.sizes);
    return dict;
}

/* Tried again with a larger buffer if the note did not fit, or has grown meanwhile. */
PyObject *run_note(PyObject *self, PyObject *args)
{
    const char *group_name = NULL;
    const char *name = NULL;
    size_t room = 512;
    int64_t size = 0;
    char *text = NULL;

    if (!PyArg_ParseTuple(args, "ss", &group_name, &name))
        return NULL;
    int group = group_number(group_name);
    if (group < 0)
        return NULL;
    do {
        room = (size_t)size >= room ? (size_t)size + 1 : room;
        PyMem_Free(text);
        text = PyMem_Malloc(room);
        if (!text)
            return PyErr_NoMemory();
        WITHOUT_GIL(size =
                        roast_run_note(run_of(self)->run, (enum roast_note_group)group,
                                       name, text, room));
    } while (size >= (int64_t)room);
    PyObject *found = size < 0 ? Py_NewRef(Py_None)
                               : text_new((struct roast_str){text, (size_t)size});
    PyMem_Free(text);
    return found;
}

PyObject *run_span(PyObject *self, PyObject *unused)
{
    struct roast_span span;

    (void)unused;
    WITHOUT_GIL(span = roast_run_span(run_of(self)->run));
    return Py_BuildValue("LL", (long long)span.start_ns, (long long)span.end_ns);
}

PyMethodDef file_methods[] = {
    {"open_run", open_run, METH_VARARGS, "A Run from a .roast or .roast-live file."},
    {"find_run", find_run, METH_VARARGS,
     "(path, Run) of the run that began last in a folder, or None."},
    {NULL, NULL, 0, NULL},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c - runs in the formats of other programs. */
#include "roast/export.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { MOST_LIVE_ROWS = 100 }; /* of a table; each is a series for every column */

/* Bytes of an export; a thread without the GIL appends to them. */
struct kept_bytes {
    char *data; /* owned */
    size_t size;
    size_t cap;
    bool failed; /* out of memory */
};

static void keep(void *context, const void *bytes, size_t size_bytes)
{
    struct kept_bytes *kept = context;

    if (!kept->failed && size_bytes > kept->cap - kept->size) {
        size_t cap = 2 * (kept->size + size_bytes);
        char *data = realloc(kept->data, cap);
        kept->failed = !data;
        kept->data = data ? data : kept->data;
        kept->cap = data ? cap : kept->cap;
    }
    if (kept->failed)
        return;
    memcpy(kept->data + kept->size, bytes, size_bytes);
    kept->size += size_bytes;
}

/* Called without the GIL. `copy` has no names; NULL: the run itself. */
static int export_run(struct run_object *self, roast_run *copy, int format,
                      struct roast_export_options *options, roast_error *err)
{
    const roast_summary *summary = NULL;
    roast_summary *owned = NULL;
    struct roast_runfile_info info;
    int status = ROAST_OK;

    if (self->file) {
        roast_runfile_info(self->file, &info);
        options->source = (struct roast_report_source){info.live ? ROAST_IN_LIVE_FILE
                                                                 : ROAST_IN_RUN_FILE,
                                                       info.cut_bytes, info.damaged};
    }
    if (!copy)
        status = run_summary(self, &summary, &owned, err);
    if (status == ROAST_OK)
        status = roast_export(copy ? copy : self->run, summary,
                              (enum roast_export_format)format, options, err);
    roast_summary_free(owned);
    return status;
}

/* A copy without names; NULL with an exception. A file that is not loaded remains so. */
static roast_run *copy_without_names(struct run_object *self)
{
    roast_run *run = self->run, *copy = NULL;
    roast_error err = {0};
    int status;

    WITHOUT_GIL(status = self->file && !self->is_whole
                             ? roast_runfile_anonymise(&copy, self->file, &err)
                             : roast_run_anonymise(&copy, run, &err));
    if (status < 0)
        raise_error(self->state, &err);
    return copy;
}

PyObject *run_export(PyObject *object, PyObject *args)
{
    struct run_object *self = run_of(object);
    struct kept_bytes kept = {NULL, 0, 0, false};
    const char *name = NULL;
    PyObject *given = NULL, *path = NULL, *result = NULL;
    roast_run *copy = NULL;
    int by_worker = 0, by_file = 0, anonymise = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "sO|ppp", &name, &given, &by_worker, &by_file,
                          &anonymise))
        return NULL;
    int format = roast_export_find(name);
    if (format < 0)
        return PyErr_Format(PyExc_ValueError, "no format '%s'", name);
    if (given != Py_None && !PyUnicode_FSConverter(given, &path))
        return NULL;
    struct roast_export_options options = {
        .path = path ? PyBytes_AsString(path) : NULL,
        .put = keep,
        .context = &kept,
        .by_worker = by_worker != 0,
        .by_file = by_file != 0,
    };
    bool small = roast_export_from_summary((enum roast_export_format)format);
    if (anonymise)
        copy = copy_without_names(self);
    if (anonymise ? copy != NULL : small || run_load(self) == 0) {
        WITHOUT_GIL(status = export_run(self, copy, format, &options, &err));
        if (status < 0 && options.path)
            raise_error_of(self->state, options.path, &err);
        else if (status < 0)
            raise_error(self->state, &err);
        else if (kept.failed)
            PyErr_NoMemory();
        else if (options.path)
            result = Py_NewRef(Py_None);
        else
            result = PyBytes_FromStringAndSize(kept.data, (Py_ssize_t)kept.size);
    }
    free(kept.data);
    roast_run_free(copy);
    Py_XDECREF(path);
    return result;
}

PyObject *run_live_metrics(PyObject *object, PyObject *unused)
{
    struct run_object *self = run_of(object);
    struct kept_bytes kept = {NULL, 0, 0, false};
    const struct roast_export_options options = {
        .put = keep, .context = &kept, .most_rows = MOST_LIVE_ROWS};
    roast_summary *summary = NULL;
    PyObject *text = NULL;
    roast_error err = {0};
    int status;

    (void)unused;
    if (run_load(self) < 0)
        return NULL;
    roast_run *run = self->run;
    Py_BEGIN_ALLOW_THREADS;
    status = roast_summarize_quick(&summary, run, &err);
    if (status == ROAST_OK)
        status = roast_export(run, summary, ROAST_EXPORT_OPENMETRICS, &options, &err);
    roast_summary_free(summary);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        raise_error(self->state, &err);
    else if (kept.failed)
        PyErr_NoMemory();
    else
        text = text_new((struct roast_str){kept.data, kept.size});
    free(kept.data);
    return text;
}

PyObject *run_anonymised(PyObject *object, PyObject *unused)
{
    struct run_object *self = run_of(object);

    (void)unused;
    struct run_object *copy = run_alloc(self->state->run_type, self->state);
    if (copy)
        copy->run = copy_without_names(self);
    if (copy && !copy->run)
        Py_CLEAR(copy);
    else if (copy)
        copy->is_whole = true;
    return (PyObject *)copy;
}

static PyObject *export_formats(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)unused;
    for (int i = 0; list && i < ROAST_EXPORT_COUNT; i++) {
        const struct roast_export_info *info =
            roast_export_info((enum roast_export_format)i);
        list = list_append(list, Py_BuildValue("ssO", info->name, info->alias,
                                               info->by_python ? Py_True : Py_False));
    }
    return list;
}

PyMethodDef export_methods[] = {
    {"export_formats", export_formats, METH_NOARGS,
     "[(name, other name or '', written by Python)] of all formats."},
    {NULL, NULL, 0, NULL},
};

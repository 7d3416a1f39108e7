/* SPDX-License-Identifier: BSD-3-Clause */
/* run_type.c - roastcoffea._core.Run: a roast_run for Python.
 *
 * Frames, samples, facts and marks go in; metrics, records and pages come out. Nothing is
 * computed here. Calls of libroast may wait for the lock of the roast_run and are made
 * without the GIL. */
#include <string.h>

#include "file.h"
#include "roast/scheduler.h"
#include "run_methods.h"
#include "table.h"

struct run_object *run_alloc(PyTypeObject *type, struct core_state *state)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct run_object *self = run_of(alloc(type, 0));

    if (self) {
        self->state = state;
        self->pid = (long)getpid();
        (void)pthread_mutex_init(&self->lock, NULL);
    }
    return self;
}

static PyObject *run_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"start_mono_ns", "start_epoch_ns", "host", NULL};
    struct core_state *state = PyType_GetModuleState(type);
    long long mono_ns = 0;
    long long epoch_ns = 0;
    const char *host = NULL;
    Py_ssize_t host_bytes = 0;
    roast_error err = {0};

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "LL|z#:Run", keywords, &mono_ns,
                                     &epoch_ns, &host, &host_bytes))
        return NULL;
    struct run_object *self = run_alloc(type, state);
    if (!self)
        return NULL;
    struct roast_str name = {host, (size_t)host_bytes};
    if (roast_run_new(&self->run, mono_ns, epoch_ns, &err) < 0 ||
        (host && roast_run_set_host(self->run, name, &err) < 0) ||
        roast_dask_batches_new(&self->batches, self->run, &err) < 0) {
        Py_DECREF(self);
        return raise_error(state, &err);
    }
    return (PyObject *)self;
}

/* Takes the last sample and the last frames. */
static void stop_sampler(struct run_object *self)
{
    if (!run_is_ours(self))
        return;
    PyThreadState *thread = run_lock(self);
    if (self->sampler)
        roast_sampler_stop(self->sampler);
    self->sampler = NULL;
    run_unlock(self, thread);
}

static void run_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    if (run_is_ours(run_of(self))) {
        stop_sampler(run_of(self));
        (void)run_live_end(run_of(self), false, NULL);
        roast_dask_batches_free(run_of(self)->batches);
        if (run_of(self)->file)
            run_close_file(run_of(self));
        else
            roast_run_free(run_of(self)->run);
        (void)pthread_mutex_destroy(&run_of(self)->lock);
    }
    release(self);
    Py_DECREF(type);
}

PyObject *run_result(const struct run_object *self, int status, const roast_error *err)
{
    if (status < 0)
        return raise_error(self->state, err);
    Py_RETURN_NONE;
}

static PyObject *finish(PyObject *self, PyObject *args)
{
    long long mono_ns = 0;

    if (!PyArg_ParseTuple(args, "L", &mono_ns))
        return NULL;
    WITHOUT_GIL(roast_run_finish(run_of(self)->run, mono_ns));
    Py_RETURN_NONE;
}

static PyObject *accept(PyObject *self, PyObject *args)
{
    const unsigned char *id = run_id_of(args);
    roast_error err = {0};
    int status;

    if (!id)
        return NULL;
    WITHOUT_GIL(status = roast_run_accept(run_of(self)->run, id, &err));
    return run_result(run_of(self), status, &err);
}

static PyObject *add_frames(PyObject *self, PyObject *args)
{
    const char *frames = NULL;
    Py_ssize_t size = 0;
    int by_user = 0;
    struct roast_tally tally = {0};
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "y#|p", &frames, &size, &by_user))
        return NULL;
    struct roast_str bytes = {frames, (size_t)size};
    Py_BEGIN_ALLOW_THREADS;
    status = roast_run_add_frames(run_of(self)->run, bytes,
                                  by_user ? ROAST_FROM_USER : ROAST_FROM_WORKERS,
                                  &tally, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        return raise_error(run_of(self)->state, &err);
    return Py_BuildValue(
        "KKKK", (unsigned long long)tally.kept, (unsigned long long)tally.repeated,
        (unsigned long long)tally.foreign, (unsigned long long)tally.damaged);
}

static PyObject *learn_name(PyObject *self, PyObject *name)
{
    struct roast_str text;
    roast_error err = {0};
    int status;

    if (text_borrow(name, &text) < 0) {
        PyErr_Clear(); /* lone surrogates: no frame can name it either */
        Py_RETURN_NONE;
    }
    WITHOUT_GIL(status = roast_run_add_name(run_of(self)->run, text, &err));
    return run_result(run_of(self), status, &err);
}

static PyObject *progress(PyObject *self, PyObject *unused)
{
    struct roast_progress now = {0};

    (void)unused;
    if (run_load(run_of(self)) < 0)
        return NULL;
    WITHOUT_GIL(roast_run_progress(run_of(self)->run, &now));
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K}", "begun", (unsigned long long)now.begun, "done",
        (unsigned long long)now.done, "failed", (unsigned long long)now.failed,
        "events", (unsigned long long)now.events, "bytes",
        (unsigned long long)now.bytes);
}

/* ---- samples ------------------------------------------------------------------ */

static int fill_sample(roast_sample *sample, PyObject *values)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(values, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        double number = name ? PyFloat_AsDouble(value) : 0;
        if (PyErr_Occurred())
            return -1;
        int series = series_number(name);
        if (series >= 0)
            roast_sample_set(sample, (enum roast_series)series, number);
    }
    return 0;
}

static PyObject *add_sample(PyObject *self, PyObject *args)
{
    const char *worker = NULL;
    Py_ssize_t size = 0;
    long long time_ns = 0;
    PyObject *values = NULL;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "s#LO!", &worker, &size, &time_ns, &PyDict_Type,
                          &values))
        return NULL;
    roast_sample sample = {.worker = {worker, (size_t)size}, .time_ns = time_ns};
    if (fill_sample(&sample, values) < 0)
        return NULL;
    WITHOUT_GIL(status = roast_run_add_sample(run_of(self)->run, &sample, &err));
    return run_result(run_of(self), status, &err);
}

static PyObject *add_count(PyObject *self, PyObject *args)
{
    long long time_ns = 0;
    unsigned long long workers = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "LK", &time_ns, &workers))
        return NULL;
    WITHOUT_GIL(status =
                    roast_run_add_count(run_of(self)->run, time_ns, workers, &err));
    return run_result(run_of(self), status, &err);
}

static PyObject *offer(PyObject *self, PyObject *args)
{
    long long time_ns = 0;
    unsigned long long workers = 0;
    unsigned long long threads = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "LKK", &time_ns, &workers, &threads))
        return NULL;
    WITHOUT_GIL(
        status = roast_run_offer(run_of(self)->run, time_ns, workers, threads, &err));
    return run_result(run_of(self), status, &err);
}

/* ---- facts, marks, losses -------------------------------------------------------- */

/* The number of a fact by its name; -1 with KeyError. */
static int fact_number(const char *name)
{
    for (int i = 0; i < ROAST_FACT_COUNT; i++) {
        if (strcmp(roast_fact_name((enum roast_fact)i), name) == 0)
            return i;
    }
    PyErr_SetString(PyExc_KeyError, name);
    return -1;
}

typedef void change_fact(roast_run *run, enum roast_fact fact, double value);

static PyObject *with_fact(PyObject *self, PyObject *args, change_fact *change)
{
    const char *name = NULL;
    double value = 0;

    if (!PyArg_ParseTuple(args, "sd", &name, &value))
        return NULL;
    int fact = fact_number(name);
    if (fact < 0)
        return NULL;
    WITHOUT_GIL(change(run_of(self)->run, (enum roast_fact)fact, value));
    Py_RETURN_NONE;
}

static PyObject *set_fact(PyObject *self, PyObject *args)
{
    return with_fact(self, args, roast_run_set_fact);
}

static PyObject *add_fact(PyObject *self, PyObject *args)
{
    return with_fact(self, args, roast_run_add_fact);
}

static PyObject *first_error(PyObject *self, PyObject *unused)
{
    char text[128];

    (void)unused;
    WITHOUT_GIL(roast_run_first_error(run_of(self)->run, text, sizeof(text)));
    return text_new(roast_str_of(text));
}

static PyObject *add_client_task(PyObject *self, PyObject *args)
{
    const char *prefix = NULL;
    long long start_mono_ns = 0, stop_mono_ns = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "sLL", &prefix, &start_mono_ns, &stop_mono_ns))
        return NULL;
    WITHOUT_GIL(status =
                    roast_run_add_client_task(run_of(self)->run, roast_str_of(prefix),
                                              start_mono_ns, stop_mono_ns, &err));
    return run_result(run_of(self), status, &err);
}

static PyObject *mark(PyObject *self, PyObject *args)
{
    static const struct {
        const char *name;
        enum roast_mark mark;
    } marks[] = {
#define K(number, NAME, name, text) {name, ROAST_MARK_##NAME},
#include "roast/run_marks.def"
#undef K
    };
    const char *name = NULL;
    long long mono_ns = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "sL", &name, &mono_ns))
        return NULL;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strcmp(marks[i].name, name) != 0)
            continue;
        WITHOUT_GIL(
            status = roast_run_mark(run_of(self)->run, marks[i].mark, mono_ns, &err));
        return run_result(run_of(self), status, &err);
    }
    PyErr_SetString(PyExc_KeyError, name);
    return NULL;
}

static PyObject *lose(PyObject *self, PyObject *args)
{
    const char *name = NULL;
    unsigned long long count = 0;

    if (!PyArg_ParseTuple(args, "sK", &name, &count))
        return NULL;
    for (int i = 0; i < ROAST_RUN_LOSS_COUNT; i++) {
        if (strcmp(roast_run_loss_name((enum roast_run_loss)i), name) != 0)
            continue;
        WITHOUT_GIL(roast_run_lose(run_of(self)->run, (enum roast_run_loss)i, count));
        Py_RETURN_NONE;
    }
    PyErr_SetString(PyExc_KeyError, name);
    return NULL;
}

/* ---- sampling and results --------------------------------------------------------- */

struct sources {
    const struct roast_source *all[ROAST_SAMPLER_MAX_SOURCES];
    Py_ssize_t count;
};

/* False with an exception. */
static bool find_sources(struct sources *sources, PyObject *names)
{
    sources->count = PyTuple_Size(names);
    if (sources->count > ROAST_SAMPLER_MAX_SOURCES) {
        PyErr_Format(PyExc_ValueError, "at most %d sources", ROAST_SAMPLER_MAX_SOURCES);
        return false;
    }
    for (Py_ssize_t i = 0; i < sources->count; i++) {
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(names, i), NULL);
        if (!name)
            return false;
        sources->all[i] = roast_source_find(name);
        if (!sources->all[i]) {
            PyErr_SetString(PyExc_KeyError, name);
            return false;
        }
    }
    return true;
}

static const double CLIENT_INTERVAL_S = 0.5;
static const double SPOOL_INTERVAL_S = 0.25; /* as the live file is written */

/* Without the GIL, under the object's lock. */
static int start_sampler(struct run_object *self, double interval_s,
                         const struct sources *sources, roast_error *err)
{
    const struct roast_polling polling = {NULL, 0, interval_s};
    const struct roast_polling of_client = {NULL, 0, CLIENT_INTERVAL_S};

    if (self->sampler)
        roast_sampler_stop(self->sampler);
    self->sampler = NULL;
    int status = roast_sampler_start(&self->sampler, self->run, err);
    if (status == ROAST_OK)
        status =
            roast_sampler_add(self->sampler, &roast_client_source, &of_client, err);
    if (status == ROAST_UNAVAILABLE && self->sampler)
        status = ROAST_OK; /* a system without this source */
    for (Py_ssize_t i = 0; status == ROAST_OK && i < sources->count; i++)
        status = roast_sampler_add(self->sampler, sources->all[i], &polling, err);
    return status == ROAST_UNAVAILABLE && self->sampler ? ROAST_OK : status;
}

static PyObject *watch(PyObject *self, PyObject *args)
{
    double interval_s = 1;
    struct sources sources;
    PyObject *names = NULL;
    roast_error err = {0};

    if (!PyArg_ParseTuple(args, "dO!", &interval_s, &PyTuple_Type, &names) ||
        !find_sources(&sources, names))
        return NULL;
    if (!(interval_s > 0))
        sources.count = 0;
    if (!run_is_ours(run_of(self)))
        Py_RETURN_NONE;
    PyThreadState *thread = run_lock(run_of(self));
    int status = start_sampler(run_of(self), interval_s, &sources, &err);
    run_unlock(run_of(self), thread);
    return run_result(run_of(self), status, &err);
}

static PyObject *read_from(PyObject *self, PyObject *args)
{
    struct roast_polling polling = {NULL, SPOOL_INTERVAL_S, SPOOL_INTERVAL_S};
    struct run_object *run = run_of(self);
    roast_error err = {0};
    int status = ROAST_UNAVAILABLE;

    if (!PyArg_ParseTuple(args, "s", &polling.place))
        return NULL;
    (void)roast_error_set(&err, status, "a spool is read while the run is sampled");
    if (run_is_ours(run)) {
        PyThreadState *thread = run_lock(run);
        if (run->sampler)
            status =
                roast_sampler_add(run->sampler, &roast_spool_source, &polling, &err);
        run_unlock(run, thread);
    }
    return run_result(run, status, &err);
}

static PyObject *unwatch(PyObject *self, PyObject *unused)
{
    (void)unused;
    stop_sampler(run_of(self));
    Py_RETURN_NONE;
}

static PyObject *sync_spool(PyObject *self, PyObject *unused)
{
    struct run_object *run = run_of(self);

    (void)unused;
    if (run_is_ours(run)) {
        PyThreadState *thread = run_lock(run);
        if (run->sampler)
            roast_sampler_poll(run->sampler, &roast_spool_source);
        run_unlock(run, thread);
    }
    Py_RETURN_NONE;
}

static PyMethodDef run_methods[] = {
    {"finish", finish, METH_VARARGS, "The block ended at this monotonic time."},
    {"accept", accept, METH_VARARGS, "Frames with this id belong to the run."},
    {"add_frames", add_frames, METH_VARARGS,
     "Adds frames: (kept, repeated, foreign, damaged)."},
    {"learn_name", learn_name, METH_O, "A dataset or file that frames may name by id."},
    {"progress", progress, METH_NOARGS, "Attempts begun, done, failed; events; bytes."},
    {"add_sample", add_sample, METH_VARARGS, "One worker at one moment."},
    {"add_count", add_count, METH_VARARGS, "A number of workers that was sampled."},
    {"offer", offer, METH_VARARGS, "Workers and threads offered from now on."},
    {"add_batch", run_add_batch, METH_VARARGS,
     "A batch of a scheduler: bytes, ns that the client's clock is ahead, its name."},
    {"set_activities", run_set_activities, METH_O,
     "{(context, [prefix,] activity, unit): value} that the cluster added up."},
    {"add_hot_lines", run_add_hot_lines, METH_O,
     "(file, line, function, text, seconds, self_seconds) of a profile."},
    {"tasks_seen", run_tasks_seen, METH_NOARGS,
     "How many tasks and workers schedulers reported."},
    {"set_fact", set_fact, METH_VARARGS, "Sets a number of run_facts.def."},
    {"add_fact", add_fact, METH_VARARGS, "Adds to a number of run_facts.def."},
    {"first_error", first_error, METH_NOARGS, "The first error of a worker's monitor."},
    {"mark", mark, METH_VARARGS, "A moment of the client."},
    {"add_client_task", add_client_task, METH_VARARGS,
     "Work of the client itself: prefix, start and stop by its monotonic clock."},
    {"lose", lose, METH_VARARGS, "Counts a loss of run_losses.def."},
    {"watch", watch, METH_VARARGS, "Polls sources by name at an interval; 0 s: none."},
    {"read_from", read_from, METH_VARARGS, "Reads the frames of this spool too."},
    {"unwatch", unwatch, METH_NOARGS, "Stops it after a last sample and read."},
    {"sync", sync_spool, METH_NOARGS, "Reads the spool now."},
    {"metrics", run_metrics, METH_VARARGS,
     "All metrics and tables as a dict; quick: from the columns alone."},
    {"chunks", run_chunks, METH_NOARGS, "[(frame, chunk_id, attempt, ended well)]."},
    {"rows", run_rows, METH_VARARGS,
     "Rows of the records of a run id that ended well."},
    {"frame", run_frame, METH_VARARGS, "The chunk frame of a row."},
    {"table", run_table, METH_VARARGS, "A table of docs/tables.md, by name."},
    {"table_parts", run_table_parts, METH_VARARGS,
     "Passes a table of docs/tables.md in parts of so many rows to a function."},
    {"samples", run_samples, METH_VARARGS,
     "One series of all workers: worker, time, value."},
    {"tracking", run_tracking, METH_NOARGS, "What was sampled, as tracking_data."},
    {"page", run_page, METH_VARARGS,
     "A page of text or HTML: 'text', 'full', 'headline' or 'card'."},
    {"save", run_save, METH_VARARGS,
     "Writes a run file; True: may replace one; True: the caller syncs it."},
    {"export", run_export, METH_VARARGS,
     "In a format, to a path or (None) as bytes; True: with workers, with files, "
     "without "
     "names."},
    {"live_metrics", run_live_metrics, METH_NOARGS,
     "What a quick summary has, as OpenMetrics; of each table the first 100 rows."},
    {"anonymised", run_anonymised, METH_NOARGS, "A copy without names."},
    {"info", run_info, METH_NOARGS, "About the file it was opened from, or None."},
    {"failed_items", run_failed_items, METH_VARARGS,
     "The items that are not in the result of a call (0: the only one), as JSON."},
    {"failed_fileset", run_failed_fileset, METH_VARARGS,
     "The same as whole files; True: only those without items."},
    {"set_note", run_set_note, METH_VARARGS,
     "Keeps a text under a group and a name; None removes it."},
    {"note", run_note, METH_VARARGS, "The text of a note, or None."},
    {"notes", run_notes, METH_VARARGS, "{name: text} of a group."},
    {"live_open", run_live_open, METH_VARARGS,
     "Writes the run to this live file from now on; the run must be empty."},
    {"live_state", run_live_state, METH_NOARGS,
     "Changes queued, written, acknowledged, dropped; errors. None without a file."},
    {"live_flush", run_live_flush, METH_NOARGS,
     "The run is about to end: writes the queue, and does not wait for the disk."},
    {"live_sync", run_live_sync, METH_NOARGS, "Writes and syncs the queue now."},
    {"live_close", run_live_close, METH_VARARGS,
     "Writes the queue and closes; True: removes the file instead."},
    {"span", run_span, METH_NOARGS, "(begin, end) in ns since 1970; end 0: open."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot run_slots[] = {
    {Py_tp_new, run_new},
    {Py_tp_dealloc, run_dealloc},
    {Py_tp_methods, run_methods},
    {Py_tp_doc, "A run: what was measured, in columns."},
    {0, NULL},
};

PyType_Spec run_spec = {
    .name = "roastcoffea._core.Run",
    .basicsize = sizeof(struct run_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = run_slots,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* run_type.c - roastcoffea._core.Run: a roast_run for Python.
 *
 * A thin shell: frames, samples, facts and marks go in; metrics, records and pages come
 * out. Nothing is computed here. Every call of libroast may wait for the run's lock and
 * is made without the GIL. */
#include <string.h>

#include "file.h"
#include "roast/scheduler.h"
#include "run_methods.h"
#include "table.h"

static struct run_object *cast(PyObject *self)
{
    return (struct run_object *)self;
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
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *self = alloc(type, 0);
    if (!self)
        return NULL;
    cast(self)->state = state;
    cast(self)->pid = (long)getpid();
    (void)pthread_mutex_init(&cast(self)->lock, NULL);
    struct roast_str name = {host, (size_t)host_bytes};
    if (roast_run_new(&cast(self)->run, mono_ns, epoch_ns, &err) < 0 ||
        (host && roast_run_set_host(cast(self)->run, name, &err) < 0) ||
        roast_dask_batches_new(&cast(self)->batches, cast(self)->run, &err) < 0) {
        Py_DECREF(self);
        return raise_error(state, &err);
    }
    return self;
}

/* Takes the last sample and the last frames. A forked child has neither the thread nor a
 * lock it could trust. */
static void stop_sampler(struct run_object *self)
{
    if (!run_is_ours(self))
        return;
    Py_BEGIN_ALLOW_THREADS;
    (void)pthread_mutex_lock(&self->lock);
    if (self->sampler)
        roast_sampler_stop(self->sampler);
    self->sampler = NULL;
    (void)pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS;
}

static void run_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    if (run_is_ours(cast(self))) {
        stop_sampler(cast(self));
        (void)run_live_end(cast(self), false, NULL);
        roast_dask_batches_free(cast(self)->batches);
        if (cast(self)->file)
            run_close_file(cast(self));
        else
            roast_run_free(cast(self)->run);
        (void)pthread_mutex_destroy(&cast(self)->lock);
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
    WITHOUT_GIL(roast_run_finish(cast(self)->run, mono_ns));
    Py_RETURN_NONE;
}

static PyObject *accept(PyObject *self, PyObject *args)
{
    const unsigned char *id = run_id_of(args);
    roast_error err = {0};
    int status;

    if (!id)
        return NULL;
    WITHOUT_GIL(status = roast_run_accept(cast(self)->run, id, &err));
    return run_result(cast(self), status, &err);
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
    status = roast_run_add_frames(cast(self)->run, bytes,
                                  by_user ? ROAST_FROM_USER : ROAST_FROM_WORKERS,
                                  &tally, &err);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        return raise_error(cast(self)->state, &err);
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
    WITHOUT_GIL(status = roast_run_learn_name(cast(self)->run, text, &err));
    return run_result(cast(self), status, &err);
}

static PyObject *progress(PyObject *self, PyObject *unused)
{
    struct roast_progress now = {0};

    (void)unused;
    if (run_load(cast(self)) < 0)
        return NULL;
    WITHOUT_GIL(roast_run_progress(cast(self)->run, &now));
    return Py_BuildValue(
        "{s:K,s:K,s:K,s:K,s:K}", "begun", (unsigned long long)now.begun, "done",
        (unsigned long long)now.done, "failed", (unsigned long long)now.failed,
        "events", (unsigned long long)now.events, "bytes",
        (unsigned long long)now.bytes);
}

/* ---- samples ------------------------------------------------------------------ */

/* The number of a series by its key in tracking_data; -1 when there is none. */
static int series_number(const char *key)
{
    for (int i = 0; i < ROAST_SERIES_COUNT; i++) {
        if (strcmp(roast_series_info((enum roast_series)i)->key, key) == 0)
            return i;
    }
    return -1;
}

static int fill_sample(roast_sample *sample, PyObject *values)
{
    PyObject *key;
    PyObject *value;
    Py_ssize_t at = 0;

    while (PyDict_Next(values, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        int series = name ? series_number(name) : -1;
        if (!name)
            return -1;
        double number = PyFloat_AsDouble(value);
        if (PyErr_Occurred())
            return -1;
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
    WITHOUT_GIL(status = roast_run_add_sample(cast(self)->run, &sample, &err));
    return run_result(cast(self), status, &err);
}

static PyObject *add_count(PyObject *self, PyObject *args)
{
    long long time_ns = 0;
    unsigned long long workers = 0;
    roast_error err = {0};
    int status;

    if (!PyArg_ParseTuple(args, "LK", &time_ns, &workers))
        return NULL;
    WITHOUT_GIL(status = roast_run_add_count(cast(self)->run, time_ns, workers, &err));
    return run_result(cast(self), status, &err);
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
    WITHOUT_GIL(status =
                    roast_run_offer(cast(self)->run, time_ns, workers, threads, &err));
    return run_result(cast(self), status, &err);
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

/* (name, value) for one of the two functions that change a fact. */
static PyObject *with_fact(PyObject *self, PyObject *args, change_fact *change)
{
    const char *name = NULL;
    double value = 0;

    if (!PyArg_ParseTuple(args, "sd", &name, &value))
        return NULL;
    int fact = fact_number(name);
    if (fact < 0)
        return NULL;
    WITHOUT_GIL(change(cast(self)->run, (enum roast_fact)fact, value));
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
    WITHOUT_GIL(roast_run_first_error(cast(self)->run, text, sizeof(text)));
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
                    roast_run_add_client_task(cast(self)->run, roast_str_of(prefix),
                                              start_mono_ns, stop_mono_ns, &err));
    return run_result(cast(self), status, &err);
}

static PyObject *mark(PyObject *self, PyObject *args)
{
    static const struct {
        const char *name;
        enum roast_mark mark;
    } marks[] = {
        {"run_begin", ROAST_MARK_RUN_BEGIN},
        {"preprocess_begin", ROAST_MARK_PREPROCESS_BEGIN},
        {"preprocess_end", ROAST_MARK_PREPROCESS_END},
        {"run_end", ROAST_MARK_RUN_END},
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
        WITHOUT_GIL(status =
                        roast_run_mark(cast(self)->run, marks[i].mark, mono_ns, &err));
        return run_result(cast(self), status, &err);
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
        WITHOUT_GIL(roast_run_lose(cast(self)->run, (enum roast_run_loss)i, count));
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

/* Without the GIL, under the object's lock. */
static int start_sampler(struct run_object *self, double interval_s,
                         const struct sources *sources, roast_error *err)
{
    const struct roast_polling polling = {NULL, 0, interval_s};

    if (self->sampler)
        roast_sampler_stop(self->sampler);
    self->sampler = NULL;
    int status = roast_sampler_start(&self->sampler, self->run, err);
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
    int status;

    if (!PyArg_ParseTuple(args, "dO!", &interval_s, &PyTuple_Type, &names) ||
        !find_sources(&sources, names))
        return NULL;
    if (!(interval_s > 0))
        sources.count = 0;
    if (!run_is_ours(cast(self)))
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS;
    (void)pthread_mutex_lock(&cast(self)->lock);
    status = start_sampler(cast(self), interval_s, &sources, &err);
    (void)pthread_mutex_unlock(&cast(self)->lock);
    Py_END_ALLOW_THREADS;
    return run_result(cast(self), status, &err);
}

static PyObject *read_from(PyObject *self, PyObject *args)
{
    struct roast_polling polling = {NULL, 1, 1};
    roast_error err = {0};
    int status = ROAST_UNAVAILABLE;

    if (!PyArg_ParseTuple(args, "s", &polling.place))
        return NULL;
    (void)roast_error_set(&err, status, "a spool is read while the run is sampled");
    if (run_is_ours(cast(self))) {
        Py_BEGIN_ALLOW_THREADS;
        (void)pthread_mutex_lock(&cast(self)->lock);
        if (cast(self)->sampler)
            status = roast_sampler_add(cast(self)->sampler, &roast_spool_source,
                                       &polling, &err);
        (void)pthread_mutex_unlock(&cast(self)->lock);
        Py_END_ALLOW_THREADS;
    }
    return run_result(cast(self), status, &err);
}

static PyObject *unwatch(PyObject *self, PyObject *unused)
{
    (void)unused;
    stop_sampler(cast(self));
    Py_RETURN_NONE;
}

static PyObject *sync_spool(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!run_is_ours(cast(self)))
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS;
    (void)pthread_mutex_lock(&cast(self)->lock);
    if (cast(self)->sampler)
        roast_sampler_poll(cast(self)->sampler, &roast_spool_source);
    (void)pthread_mutex_unlock(&cast(self)->lock);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

static PyObject *metrics(PyObject *self, PyObject *args)
{
    int quick = 0;

    if (!PyArg_ParseTuple(args, "|p", &quick))
        return NULL;
    return run_metrics(cast(self), quick);
}

static PyObject *page(PyObject *self, PyObject *args)
{
    const char *kind = NULL;

    return PyArg_ParseTuple(args, "s", &kind) ? run_page(cast(self), kind) : NULL;
}

static PyMethodDef run_methods[] = {
    {"finish", finish, METH_VARARGS, "The block ended at this monotonic time."},
    {"accept", accept, METH_VARARGS, "Frames with this id belong to the run."},
    {"add_frames", add_frames, METH_VARARGS,
     "Adds frames: (kept, repeated, foreign, damaged)."},
    {"learn_name", learn_name, METH_O, "A dataset or file that frames may name by id."},
    {"progress", progress, METH_NOARGS, "Attempts begun, done, failed; events, bytes."},
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
    {"first_error", first_error, METH_NOARGS, "What a worker's monitor failed at."},
    {"mark", mark, METH_VARARGS, "A moment of the client."},
    {"add_client_task", add_client_task, METH_VARARGS,
     "Something that the client did itself, by its monotonic clock."},
    {"lose", lose, METH_VARARGS, "Counts something that was not kept."},
    {"watch", watch, METH_VARARGS, "Polls sources by name at an interval; 0 s: none."},
    {"read_from", read_from, METH_VARARGS, "Reads the frames of this spool too."},
    {"unwatch", unwatch, METH_NOARGS, "Takes the last sample and the last frames."},
    {"sync", sync_spool, METH_NOARGS, "Reads what waits in the spool, now."},
    {"metrics", metrics, METH_VARARGS,
     "All metrics and tables as a dict; quick: from the columns alone."},
    {"chunks", run_chunks, METH_NOARGS, "[(frame, chunk_id, attempt, ended well)]."},
    {"rows", run_rows, METH_VARARGS,
     "Rows of the records of a run id that ended well."},
    {"frame", run_frame, METH_VARARGS, "The chunk frame of a row."},
    {"table", run_table, METH_VARARGS, "A table of docs/tables.md, by name."},
    {"samples", run_samples, METH_VARARGS,
     "One series of all workers: worker, time, value."},
    {"tracking", run_tracking, METH_NOARGS, "What was sampled, as tracking_data."},
    {"page", page, METH_VARARGS,
     "A page of text or HTML: 'text', 'headline' or 'card'."},
    {"save", run_save, METH_VARARGS, "Writes a run file; True: in place of another."},
    {"info", run_info, METH_NOARGS, "About the file it was opened from, or None."},
    {"failed_fileset", run_failed_fileset, METH_NOARGS,
     "What has to be run again, as JSON."},
    {"set_note", run_set_note, METH_VARARGS,
     "Keeps a text under a group and a name; None removes it."},
    {"note", run_note, METH_VARARGS, "The text of a note, or None."},
    {"notes", run_notes, METH_VARARGS, "{name: text} of a group."},
    {"live_open", run_live_open, METH_VARARGS,
     "Writes the run to this live file from now on; the run is still empty."},
    {"live_state", run_live_state, METH_NOARGS,
     "Changes queued, written, acknowledged, dropped; errors. None without a file."},
    {"live_sync", run_live_sync, METH_NOARGS, "Writes and syncs what is queued, now."},
    {"live_close", run_live_close, METH_VARARGS,
     "Writes what is queued and closes; True: removes the file instead."},
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

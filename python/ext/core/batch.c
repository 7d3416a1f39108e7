/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c - batches of the plugin on Dask's scheduler, into a Run.
 *
 * The reader of batches and the run meet here: neither knows the other. Each scheduler
 * has a reader of its own, because numbers of workers mean something to it alone. A lock
 * keeps batches apart that two threads bring; memory is malloc's, because it is needed
 * while the GIL is free. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "roast/batch.h"
#include "roast/scheduler.h"

struct batches {
    struct batches *next;
    char *scheduler; /* owned; what the caller calls it */
    roast_batch_reader *reader;
    pthread_mutex_t lock;
    struct roast_batch_state told; /* to the run, of what was lost */
};

/* While a batch is read. */
struct feeding {
    roast_run *run;
    struct batches *batches;
    roast_error err;
};

/* ---- where facts go ------------------------------------------------------------ */

static int take_sample(void *context, const roast_sample *sample)
{
    struct feeding *feeding = context;
    return roast_run_add_sample(feeding->run, sample, &feeding->err);
}

static int take_joined(void *context, const struct roast_member *member)
{
    struct feeding *feeding = context;
    return roast_run_add_member(feeding->run, member, &feeding->err);
}

static int take_left(void *context, const struct roast_departure *departure)
{
    struct feeding *feeding = context;
    return roast_run_member_left(feeding->run, departure, &feeding->err);
}

static int take_task(void *context, const struct roast_task *task)
{
    struct feeding *feeding = context;
    return roast_run_add_task(feeding->run, task, &feeding->err);
}

static int take_frames(void *context, struct roast_str frames, struct roast_str worker,
                       uint32_t key_hash)
{
    struct feeding *feeding = context;
    return roast_run_add_task_frames(feeding->run, frames, worker, key_hash, NULL,
                                     &feeding->err);
}

static int take_offset(void *context, struct roast_str host, int64_t offset_ns)
{
    struct feeding *feeding = context;
    return roast_run_set_offset(feeding->run, host, offset_ns, &feeding->err);
}

/* ---- one batch ------------------------------------------------------------------ */

static uint64_t dropped(const struct roast_batch_state *state)
{
    return state->dropped_samples + state->dropped_tasks + state->dropped_frames;
}

static void tell_losses(struct feeding *feeding)
{
    struct roast_batch_state now = roast_batch_state(feeding->batches->reader);
    struct roast_batch_state *told = &feeding->batches->told;

    if (dropped(&now) > dropped(told))
        roast_run_lose(feeding->run, ROAST_RUN_LOSS_scheduler_dropped,
                       dropped(&now) - dropped(told));
    if (now.unread > told->unread)
        roast_run_lose(feeding->run, ROAST_RUN_LOSS_scheduler_unread,
                       now.unread - told->unread);
    *told = now;
}

static int feed(struct feeding *feeding, struct roast_str batch)
{
    const struct roast_batch_sink sink = {
        .context = feeding,
        .sample = take_sample,
        .joined = take_joined,
        .left = take_left,
        .task = take_task,
        .frames = take_frames,
        .offset = take_offset,
    };
    roast_error why = {0};
    int status = roast_batch_read(feeding->batches->reader, batch, &sink, &why);

    if (status < 0 && feeding->err.code == 0)
        feeding->err = why; /* it was not the run that failed */
    tell_losses(feeding);
    return status;
}

/* ---- the readers ---------------------------------------------------------------- */

void batches_free(struct batches *batches)
{
    while (batches) {
        struct batches *next = batches->next;
        roast_batch_reader_free(batches->reader);
        (void)pthread_mutex_destroy(&batches->lock);
        free(batches->scheduler);
        free(batches);
        batches = next;
    }
}

/* Finds or makes; NULL without memory. The GIL is held. */
static struct batches *batches_of(struct run_object *self, const char *scheduler)
{
    for (struct batches *known = self->batches; known; known = known->next) {
        if (strcmp(known->scheduler, scheduler) == 0)
            return known;
    }
    struct batches *batches = calloc(1, sizeof(*batches));
    if (!batches)
        return NULL;
    (void)pthread_mutex_init(&batches->lock, NULL);
    batches->scheduler = strdup(scheduler);
    if (!batches->scheduler || roast_batch_reader_new(&batches->reader, NULL) < 0) {
        batches_free(batches);
        return NULL;
    }
    batches->next = self->batches;
    self->batches = batches;
    return batches;
}

PyObject *run_add_batch(PyObject *self, PyObject *args)
{
    struct run_object *run = (struct run_object *)self;
    struct feeding feeding = {.run = run->run};
    const char *bytes = NULL;
    Py_ssize_t size = 0;
    long long offset_ns = 0;
    const char *scheduler = "";
    int status;

    if (!PyArg_ParseTuple(args, "y#L|s", &bytes, &size, &offset_ns, &scheduler))
        return NULL;
    feeding.batches = batches_of(run, scheduler);
    if (!feeding.batches)
        return PyErr_NoMemory();
    struct roast_str batch = {bytes, (size_t)size};
    Py_BEGIN_ALLOW_THREADS;
    (void)pthread_mutex_lock(&feeding.batches->lock);
    roast_batch_set_offset(feeding.batches->reader, offset_ns);
    status = feed(&feeding, batch);
    (void)pthread_mutex_unlock(&feeding.batches->lock);
    Py_END_ALLOW_THREADS;
    if (status < 0)
        return raise_error(run->state, &feeding.err);
    Py_RETURN_NONE;
}

/* ---- what the lists are ---------------------------------------------------------- */

static PyObject *batch_items(PyObject *module, PyObject *unused)
{
    PyObject *dict = PyDict_New();
    const struct roast_batch_item *item;

    (void)module;
    (void)unused;
    for (size_t i = 0; dict && (item = roast_batch_item(i)); i++) {
        PyObject *row = Py_BuildValue("IsI", item->number, item->format, item->texts);
        if (dict_set(dict, item->name, row) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *series_names(PyObject *module, PyObject *unused)
{
    PyObject *names = PyTuple_New(ROAST_SERIES_COUNT);

    (void)module;
    (void)unused;
    for (int i = 0; names && i < ROAST_SERIES_COUNT; i++) {
        PyObject *name =
            PyUnicode_FromString(roast_series_info((enum roast_series)i)->name);
        if (!name || PyTuple_SetItem(names, i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *task_ends(void)
{
    PyObject *dict = PyDict_New();

    for (unsigned end = 0; dict && end < ROAST_TASK_END_LAST; end++) {
        const char *name = roast_task_end_name(end);
        if (name && dict_set(dict, name, PyLong_FromUnsignedLong(end)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *leave_reasons(void)
{
    PyObject *dict = PyDict_New();

    for (int i = 0; dict && i < ROAST_LEAVE_COUNT; i++) {
        const struct roast_leave_reason_info *reason =
            roast_leave_reason_info((enum roast_leave_reason)i);
        if (dict_set(dict, reason->name, PyUnicode_FromString(reason->text)) < 0)
            Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *batch_rules(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return Py_BuildValue("{s:N,s:N,s:i,s:I,s:i,s:i,s:i}", "ends", task_ends(),
                         "reasons", leave_reasons(), "ours", ROAST_TASK_OURS, "nobody",
                         ROAST_BATCH_NOBODY, "most_workers", ROAST_BATCH_MOST_WORKERS,
                         "most_prefixes", ROAST_BATCH_MOST_PREFIXES, "most_text_bytes",
                         ROAST_BATCH_MOST_TEXT_BYTES);
}

PyMethodDef batch_methods[] = {
    {"batch_items", batch_items, METH_NOARGS,
     "{name: (number, format, texts)} of what a batch of a scheduler consists of."},
    {"batch_rules", batch_rules, METH_NOARGS,
     "Numbers, limits and words that whoever packs a batch must use."},
    {"series_names", series_names, METH_NOARGS,
     "What is sampled of a worker; the bit of each is its place."},
    {NULL, NULL, 0, NULL},
};

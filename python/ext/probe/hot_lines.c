/* SPDX-License-Identifier: BSD-3-Clause */
/* hot_lines.c - the lines of user code in which the attempts of this process are.
 *
 * One thread wakes up every 20 ms while attempts run, takes the GIL as any other thread
 * does, and reads the stacks of the threads inside attempts. A sample counts for the pause
 * before it, also when the interpreter was inside a long call of C code.
 *
 * What the samples cost is measured and added to the monitor's own time; the pauses
 * become longer if it exceeds 0.2 % of a core, first calls of functions excepted.
 * Everything but the atomics is guarded by the GIL. (A pending call of the interpreter
 * would not need a switch of threads, but before Python 3.13 a thread that loops does not
 * notice one of another thread.) */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "support.h"
#include "types.h"

enum {
    PERIOD_NS = 20 * 1000 * 1000,
    MOST_PAUSE_NS = 999 * 1000 * 1000,
    FREE_COST_NS = 10 * 1000 * 1000, /* to find out what is user code */
    TIMES_COST = 500, /* the time is at least so much longer than the other cost */
    DELIVERY_NS = 1000 * 1000 * 1000,
    IDLE_TICKS = 50, /* then the thread ends */
    STOP_TRIES = 1000,
    MOST_THREADS = 64,
    MOST_CALLS = 200,     /* of a stack, from the innermost one */
    MOST_USER_CALLS = 32, /* of them, in user code */
    MOST_CODES = 1024,    /* whose place is remembered */
};

/* A thread inside an attempt. */
struct sampled_thread {
    PyThreadState *thread; /* NULL: not in use */
    PyObject *caller;      /* owned: the frame that called the attempt; only compared */
    PyObject *run;         /* owned: what its samples count for */
    unsigned attempts;     /* one inside the other */
};

struct hot_lines {
    struct sampled_thread threads[MOST_THREADS];
    PyObject *places;    /* {address of a code: (code, file, function or None)} */
    PyObject *totals;    /* {(run, file, line, function): ns in it and what it calls} */
    PyObject *own;       /* the same, alone */
    PyObject *is_users;  /* borrowed callable: whether a file is user code */
    PyObject *f_back;    /* borrowed: the name */
    atomic_uint running; /* threads */
    atomic_bool alive, stops;
    int64_t cost_ns;  /* not yet counted with a chunk */
    int64_t spent_ns; /* since the thread began */
};

static int64_t thread_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- one sample -------------------------------------------------------------------- */

/* The place of a code object, made on first use: (code, file, function), the function is
 * None if it is no user code. Borrowed; NULL with an exception. */
static PyObject *place_of(struct hot_lines *hot, PyObject *code)
{
    PyObject *key = PyLong_FromVoidPtr(code);
    PyObject *place = key ? PyDict_GetItemWithError(hot->places, key) : NULL;

    if (!key || place || PyErr_Occurred()) {
        Py_XDECREF(key);
        return place;
    }
    PyObject *file = PyObject_GetAttrString(code, "co_filename");
    PyObject *answer =
        file ? PyObject_CallFunctionObjArgs(hot->is_users, file, NULL) : NULL;
    int is_users = answer ? PyObject_IsTrue(answer) : -1;
    PyObject *function = is_users > 0    ? PyObject_GetAttrString(code, "co_name")
                         : is_users == 0 ? Py_NewRef(Py_None)
                                         : NULL;
    PyObject *made = function ? PyTuple_Pack(3, code, file, function) : NULL;
    if (PyDict_Size(hot->places) >= MOST_CODES)
        PyDict_Clear(hot->places);
    if (made && PyDict_SetItem(hot->places, key, made) == 0)
        place = made; /* the dict owns it */
    Py_XDECREF(made);
    Py_XDECREF(function);
    Py_XDECREF(answer);
    Py_XDECREF(file);
    Py_DECREF(key);
    return place;
}

static int add_ns(PyObject *sums, PyObject *key, int64_t ns)
{
    PyObject *before = PyDict_GetItemWithError(sums, key);
    long long sum = ns + (before ? PyLong_AsLongLong(before) : 0);
    PyObject *after = PyErr_Occurred() ? NULL : PyLong_FromLongLong(sum);
    int failure = after ? PyDict_SetItem(sums, key, after) : -1;

    Py_XDECREF(after);
    return failure;
}

/* A call on a stack. */
struct call {
    PyObject *code; /* owned */
    int line;
};

/* From the innermost call to the one that called the attempt, at most MOST_CALLS; returns
 * their number. 0: `caller` is not on this stack, which a greenlet has replaced. -1 with
 * an exception.
 *
 * Runs no Python code, so the GIL stays here and the thread stays where it is. Frame
 * objects are made on the way: a garbage collection would run finalizers in between, the
 * thread would go on, and the calls that we look at would be gone. */
static int read_stack(struct call *calls, const struct hot_lines *hot,
                      const struct sampled_thread *thread)
{
    int collects = PyGC_Disable();
    PyObject *frame = (PyObject *)PyThreadState_GetFrame(thread->thread);
    int count = 0;

    while (frame && frame != thread->caller && count < MOST_CALLS) {
        calls[count++] = (struct call){
            .code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame),
            .line = PyFrame_GetLineNumber((PyFrameObject *)frame),
        };
        PyObject *back = PyObject_GetAttr(frame, hot->f_back);
        Py_DECREF(frame);
        if (back == Py_None)
            Py_CLEAR(back);
        frame = back;
    }
    bool found = frame == thread->caller || count == MOST_CALLS;
    Py_XDECREF(frame);
    if (collects)
        (void)PyGC_Enable();
    if (found && !PyErr_Occurred())
        return count;
    while (count > 0)
        Py_DECREF(calls[--count].code);
    return PyErr_Occurred() ? -1 : 0;
}

/* The lines of user code on a stack, each once: keys of the sums, owned. */
struct user_lines {
    PyObject *keys[MOST_USER_CALLS];
    int count;
};

static int add_line(struct user_lines *lines, PyObject *run, PyObject *place, int line)
{
    if (PyTuple_GetItem(place, 2) == Py_None || lines->count == MOST_USER_CALLS)
        return 0;
    PyObject *key = Py_BuildValue("(OOiO)", run, PyTuple_GetItem(place, 1), line,
                                  PyTuple_GetItem(place, 2));
    if (!key)
        return -1;
    for (int i = 0; i < lines->count; i++) {
        int is_same = PyObject_RichCompareBool(lines->keys[i], key, Py_EQ);
        if (is_same != 0) {
            Py_DECREF(key);
            return is_same < 0 ? -1 : 0;
        }
    }
    lines->keys[lines->count++] = key;
    return 0;
}

/* -1 with an exception. */
static int sample_thread(struct hot_lines *hot, const struct sampled_thread *thread,
                         int64_t ns)
{
    struct call calls[MOST_CALLS];
    struct user_lines lines = {.count = 0};
    PyObject *run = Py_NewRef(thread->run); /* is_users() may let the attempt end */
    int count = read_stack(calls, hot, thread);
    int failure = count < 0 ? -1 : 0;

    for (int i = 0; i < count; i++) {
        PyObject *place = failure ? NULL : place_of(hot, calls[i].code);
        if (!place || add_line(&lines, run, place, calls[i].line) < 0)
            failure = -1;
        Py_DECREF(calls[i].code);
    }
    for (int i = 0; i < lines.count; i++) {
        if (!failure && (add_ns(hot->totals, lines.keys[i], ns) < 0 ||
                         (i == 0 && add_ns(hot->own, lines.keys[i], ns) < 0)))
            failure = -1;
        Py_DECREF(lines.keys[i]);
    }
    Py_DECREF(run);
    return failure;
}

/* The stacks of all threads inside attempts. */
static void sample_all(struct probe_state *state, int64_t ns)
{
    struct hot_lines *hot = state->hot_lines;
    int failure = 0;

    for (int i = 0; !failure && i < MOST_THREADS; i++) {
        if (hot->threads[i].thread)
            failure = sample_thread(hot, &hot->threads[i], ns);
    }
    if (failure)
        (void)guard_note(state, "hot lines");
    PyErr_Clear(); /* there is no caller in this thread */
}

/* ---- rows -------------------------------------------------------------------------- */

/* Rows as (run, file, line, function, s, s alone); they are counted from zero again. */
static PyObject *take_rows(struct hot_lines *hot)
{
    PyObject *totals = hot->totals, *alone = hot->own;
    PyObject *rows = PyList_New(0);
    PyObject *new_totals = PyDict_New(), *new_own = PyDict_New();
    PyObject *key, *total;
    Py_ssize_t at = 0;

    if (!rows || !new_totals || !new_own) {
        Py_XDECREF(rows);
        Py_XDECREF(new_totals);
        Py_XDECREF(new_own);
        return NULL;
    }
    hot->totals = new_totals; /* samples may be added while the old ones are read */
    hot->own = new_own;
    while (rows && PyDict_Next(totals, &at, &key, &total)) {
        PyObject *own = PyDict_GetItemWithError(alone, key);
        PyObject *row =
            Py_BuildValue("(OOOOdd)", PyTuple_GetItem(key, 0), PyTuple_GetItem(key, 1),
                          PyTuple_GetItem(key, 2), PyTuple_GetItem(key, 3),
                          (double)PyLong_AsLongLong(total) / 1e9,
                          own ? (double)PyLong_AsLongLong(own) / 1e9 : 0.0);
        if (!row || PyList_Append(rows, row) < 0)
            Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    Py_DECREF(totals);
    Py_DECREF(alone);
    return rows;
}

static void deliver(struct probe_state *state, PyObject *receive)
{
    PyObject *rows = take_rows(state->hot_lines);
    PyObject *done = rows ? PyObject_CallFunctionObjArgs(receive, rows, NULL) : NULL;

    if (!done)
        (void)guard_note(state, "hot lines");
    PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(rows);
}

/* ---- the thread -------------------------------------------------------------------- */

/* Without the GIL, until the next sample is due: the cost remains in proportion to the
 * time since the thread began. */
static void pause_sampling(int64_t spent_ns, int64_t elapsed_ns)
{
    int64_t pause_ns = (spent_ns - FREE_COST_NS) * TIMES_COST - elapsed_ns;
    struct timespec pause = {0, pause_ns < PERIOD_NS ? PERIOD_NS : pause_ns};

    if (pause_ns > MOST_PAUSE_NS)
        pause.tv_nsec = MOST_PAUSE_NS;
    (void)nanosleep(&pause, NULL);
}

PyObject *hot_lines_sample(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    struct hot_lines *hot = state->hot_lines;
    int64_t begin_ns = roast_mono_ns();
    int64_t delivered_ns = begin_ns;
    int64_t cpu_ns = thread_cpu_ns();
    PyObject *is_users, *receive;
    int idle = 0;
    sigset_t all;

    if (!hot || !PyArg_ParseTuple(args, "OO", &is_users, &receive))
        return NULL;
    if (atomic_exchange(&hot->alive, true))
        Py_RETURN_NONE; /* two attempts began before the first thread of them */
    hot->is_users = is_users;
    hot->spent_ns = 0;
    PyDict_Clear(hot->places); /* of another is_users() */
    (void)sigfillset(&all);    /* they are for the threads of the user */
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&hot->stops) && idle < IDLE_TICKS) {
        int64_t spent_ns = hot->spent_ns;
        int64_t slept_ns; /* since then */
        Py_BEGIN_ALLOW_THREADS;
        do {
            slept_ns = roast_mono_ns();
            pause_sampling(spent_ns, slept_ns - begin_ns);
            idle = atomic_load(&hot->running) > 0 ? 0 : idle + 1;
        } while (idle > 1 && idle < IDLE_TICKS && !atomic_load(&hot->stops));
        Py_END_ALLOW_THREADS;
        int64_t now_ns = roast_mono_ns();
        sample_all(state, now_ns - slept_ns);
        if (idle == 1 || now_ns - delivered_ns > DELIVERY_NS) {
            deliver(state, receive);
            delivered_ns = now_ns;
        }
        int64_t used_ns = thread_cpu_ns();
        hot->cost_ns += used_ns - cpu_ns;
        hot->spent_ns += used_ns - cpu_ns;
        cpu_ns = used_ns;
        if (atomic_load(&hot->running) > 0) /* one may have begun since */
            idle = 0;
    }
    if (atomic_load(&hot->stops)) /* else it was done when the last attempt ended */
        deliver(state, receive);
    atomic_store(&hot->alive, false); /* with the GIL: the next attempt sees it */
    atomic_store(&hot->stops, false);
    Py_RETURN_NONE;
}

/* ---- attempts ---------------------------------------------------------------------- */

static struct hot_lines *hot_lines_new(const struct probe_state *state)
{
    struct hot_lines *hot = PyMem_Calloc(1, sizeof(*hot));

    if (!hot) {
        PyErr_NoMemory();
        return NULL;
    }
    hot->places = PyDict_New();
    hot->totals = PyDict_New();
    hot->own = PyDict_New();
    hot->f_back = state->names.f_back;
    if (hot->places && hot->totals && hot->own)
        return hot;
    hot_lines_free(hot);
    return NULL;
}

void hot_lines_free(struct hot_lines *hot)
{
    if (!hot)
        return;
    Py_XDECREF(hot->places);
    Py_XDECREF(hot->totals);
    Py_XDECREF(hot->own);
    PyMem_Free(hot);
}

static void leave(struct hot_lines *hot, struct sampled_thread *thread)
{
    struct sampled_thread left = *thread;

    *thread = (struct sampled_thread){.thread = NULL};
    atomic_fetch_sub(&hot->running, 1);
    Py_XDECREF(left.caller);
    Py_XDECREF(left.run);
}

static struct sampled_thread *find_thread(struct hot_lines *hot, PyThreadState *wanted)
{
    for (int i = 0; hot && i < MOST_THREADS; i++) {
        if (hot->threads[i].thread == wanted)
            return &hot->threads[i];
    }
    return NULL;
}

PyObject *hot_lines_begin(PyObject *module, PyObject *args)
{
    struct probe_state *state = PyModule_GetState(module);
    PyThreadState *self = PyThreadState_Get();
    PyObject *run, *caller;

    if (!PyArg_ParseTuple(args, "OO", &run, &caller))
        return NULL;
    if (!state->hot_lines && !(state->hot_lines = hot_lines_new(state)))
        return NULL;
    struct hot_lines *hot = state->hot_lines;
    struct sampled_thread *thread = find_thread(hot, self);
    if (thread) {
        thread->attempts++;
        Py_RETURN_FALSE;
    }
    thread = find_thread(hot, NULL);
    if (!thread) /* more threads than any pool has */
        Py_RETURN_FALSE;
    *thread = (struct sampled_thread){
        .thread = self,
        .caller = caller == Py_None ? NULL : Py_NewRef(caller),
        .run = Py_NewRef(run),
        .attempts = 1,
    };
    atomic_fetch_add(&hot->running, 1);
    return PyBool_FromLong(!atomic_load(&hot->alive));
}

PyObject *hot_lines_end(PyObject *module, PyObject *unused)
{
    struct probe_state *state = PyModule_GetState(module);
    struct hot_lines *hot = state->hot_lines;
    struct sampled_thread *thread = find_thread(hot, PyThreadState_Get());
    roast_thread *measured = roast_thread_current();

    (void)unused;
    if (thread && --thread->attempts == 0) {
        leave(hot, thread);
        if (measured)
            roast_thread_add_cost(measured, hot->cost_ns);
        hot->cost_ns = 0;
    }
    Py_RETURN_NONE;
}

PyObject *hot_lines_take(PyObject *module, PyObject *unused)
{
    struct hot_lines *hot =
        ((struct probe_state *)PyModule_GetState(module))->hot_lines;

    (void)unused;
    return hot ? take_rows(hot) : PyList_New(0);
}

PyObject *hot_lines_stop(PyObject *module, PyObject *unused)
{
    struct hot_lines *hot =
        ((struct probe_state *)PyModule_GetState(module))->hot_lines;
    const struct timespec pause = {0, PERIOD_NS / 4};

    (void)unused;
    if (hot && atomic_load(&hot->alive))
        atomic_store(&hot->stops, true);
    for (int i = 0; hot && atomic_load(&hot->alive) && i < STOP_TRIES; i++) {
        Py_BEGIN_ALLOW_THREADS;
        (void)nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS;
    }
    Py_RETURN_NONE;
}

PyObject *hot_lines_forget(PyObject *module, PyObject *unused)
{
    struct hot_lines *hot =
        ((struct probe_state *)PyModule_GetState(module))->hot_lines;

    (void)unused;
    if (!hot)
        Py_RETURN_NONE;
    for (int i = 0; i < MOST_THREADS; i++) {
        if (hot->threads[i].thread)
            leave(hot, &hot->threads[i]);
    }
    PyDict_Clear(hot->totals);
    PyDict_Clear(hot->own);
    atomic_store(&hot->alive, false);
    atomic_store(&hot->stops, false);
    hot->cost_ns = 0;
    Py_RETURN_NONE;
}

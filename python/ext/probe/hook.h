/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.h - callables that stand in for entry points of coffea and uproot.
 *
 * While chunks run, the Python layer puts a hook where such an entry point was
 * (adapters/hooks.py). A hook calls what it stands for with the same arguments and
 * gives back the same result; on a thread whose attempt is looked into it also says
 * which slice the time goes to, and what was read. It holds no state of its own. */
#ifndef ROAST_EXT_HOOK_H
#define ROAST_EXT_HOOK_H

#include "state.h"

enum hook_binding {
    HOOK_PLAIN,    /* a function in a module */
    HOOK_METHOD,   /* a function in a class */
    HOOK_CLASS,    /* a classmethod */
    HOOK_PROPERTY, /* a property */
};

struct hook {
    PyObject_HEAD
    PyObject *original; /* as it was found in its namespace */
    PyObject *target;   /* what is called */
    PyObject *weak_refs;
    struct probe_state *state; /* of the module, which the type keeps alive */
    enum roast_hook number;
    enum hook_binding binding;
};

/* Calls what the hook stands for, and looks on. args of a method begin with self. */
typedef PyObject *(*hook_handler)(struct hook *hook, roast_thread *thread,
                                  PyObject *args, PyObject *kwargs);

static inline PyObject *hook_pass(const struct hook *hook, PyObject *args,
                                  PyObject *kwargs)
{
    return PyObject_Call(hook->target, args, kwargs);
}

/* The call with its time in one slice. */
PyObject *hook_in_slice(struct hook *hook, roast_thread *thread, PyObject *args,
                        PyObject *kwargs, enum roast_ladder_item slice);

/* Ends our own part of a call that gave `result`. What failed in it is noted; only what
 * is the user's (Ctrl-C) takes the place of the result. */
PyObject *hook_done(struct probe_state *state, PyObject *result, const char *where);

/* ---- support ----------------------------------------------------------------- */

/* CPU time of the calling thread. (ladder.c) */
int64_t hook_thread_cpu_ns(void);

/* Puts a new reference in a slot. */
static inline void hook_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;

    *slot = value;
    Py_XDECREF(old);
}

/* A number >= 0; false, and no exception but the user's, when it is none or NULL. */
bool hook_whole(PyObject *object, uint64_t *value);

/* The same of object.name. */
bool hook_number(PyObject *object, PyObject *name, uint64_t *value);

/* The same of what uproot has read into a model; ten times cheaper than the property
 * that gives it to users. */
bool hook_member(struct probe_state *state, PyObject *model, PyObject *name,
                 uint64_t *value);

/* The member itself, of the model or of its bases; new reference, NULL: none. */
PyObject *hook_any_member(struct probe_state *state, PyObject *model, PyObject *name);

/* ---- what the attempt on this thread reads ------------------------------------- */

enum { ENDPOINT_BYTES = 256 };

/* Zeroed = nothing. Cleared with an attempt's begin and end; one inside is part of it. */
struct reading {
    PyObject *file;    /* owned: name of the chunk's file, if known */
    PyObject *source;  /* owned: of the chunk's file; of parquet, what reads columns */
    PyObject *columns; /* owned: {column: (bytes, uncompressed)} of a parquet file */
    PyObject *page;    /* owned: the packed page that was fetched last ... */
    uint64_t page_bytes;
    unsigned attempts; /* begun, each inside the one before */
    unsigned opening;  /* calls that go on: uproot.open, */
    unsigned metadata; /* ... page lists, */
    unsigned buffers;  /* ... buffers of columns, */
    unsigned pages;    /* ... pages of an RNTuple, */
    unsigned sources;  /* ... requests to a source */
    bool opening_ours; /* uproot.open goes on for the chunk's file */
    int32_t branch;    /* number of the column that is read, + 1; 0: none */
    bool sees_caches;  /* what a cache has can be told from what is read */
    bool offsets;      /* the buffer holds offsets */
    bool touched;      /* its column was really read, not served by a cache */
    unsigned baskets;  /* token of the baskets that are waited for */
    uint64_t awaited;  /* ... so many have not come yet */
    bool in_thread;    /* ... and this thread unpacks them */
    bool lost;         /* ... and one of them will never come */
    PyObject *named;   /* owned: weak reference to the source whose name is below */
    char endpoint[ENDPOINT_BYTES];
    struct roast_file_facts facts;
    uint64_t file_key; /* of facts in the cache of files */
    uint64_t missing;  /* hooks that only an RNTuple needs */
};

struct reading *reading_here(void);

/* Before an attempt begins, on a file of that name. */
void reading_begin(const roast_thread *thread, PyObject *file);

/* Before an attempt ends: what is left to tell of its reads. No exception of ours. */
void reading_finish(struct probe_state *state, roast_thread *thread);

/* Whether bytes of a source are those of the chunk's file. */
bool reading_is_ours(const struct reading *reading, PyObject *source);

/* What a column is read from; new reference, or NULL with an exception. */
PyObject *reading_source_of(struct probe_state *state, PyObject *column);

/* Whether a column is one of the chunk's file; true where events are built and nobody
 * knows. No exception but the user's. */
bool reading_owns(struct probe_state *state, PyObject *column);

/* What a stretch of waiting for `source` was. more's name is filled in here. */
void source_tell(struct probe_state *state, roast_thread *thread, PyObject *source,
                 struct roast_endpoint *more);

/* ---- hook_files.c ------------------------------------------------------------ */

/* Another run begins, which is told everything anew. */
void files_forget(struct probe_state *state);

/* What is known of the tree behind a NanoEventsFactory. */
void file_learn_root(struct probe_state *state, roast_thread *thread, PyObject *factory,
                     PyObject *kwargs);
void file_learn_parquet(struct probe_state *state, roast_thread *thread,
                        PyObject *factory, PyObject *kwargs);

/* Sizes of a branch of a TTree in its file; false when they are not known. */
bool file_branch_sizes(struct probe_state *state, PyObject *branch,
                       struct roast_branch *row);

/* The codec, from the first bytes of a basket or page. */
void file_learn_codec(struct probe_state *state, roast_thread *thread, PyObject *chunk,
                      bool is_basket);

/* ---- one handler for each hook ------------------------------------------------- */

#define HANDLER(name) \
    PyObject *name(struct hook *hook, roast_thread *thread, PyObject *args, \
                   PyObject *kwargs)

/* hook_steps.c: the steps before process(), and writing */
HANDLER(hook_open);
HANDLER(hook_parquet_open);
HANDLER(hook_from_root);
HANDLER(hook_from_parquet);
HANDLER(hook_events);
HANDLER(hook_close);
HANDLER(hook_import);
HANDLER(hook_write);

/* hook_columns.c: buffers and columns */
HANDLER(hook_buffer);
HANDLER(hook_extract);
HANDLER(hook_parquet_read);

/* hook_baskets.c, hook_pages.c: inside a column of a ROOT file */
HANDLER(hook_baskets);
HANDLER(hook_submit);
HANDLER(hook_page);
HANDLER(hook_clusters);
HANDLER(hook_page_lists);

/* hook_sources.c: requests for bytes */
HANDLER(hook_source);
HANDLER(hook_wait);

/* What was not asked for by name is read in bulk: its number. (hook_baskets.c) */
int32_t bulk_number(roast_thread *thread, PyObject *name);

#endif

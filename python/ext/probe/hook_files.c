/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_files.c - hooks on opening, closing and writing files and on building events, and
 * the facts of the tree that a chunk reads.
 *
 * The branches of a file are listed once per process and run; the facts of the last files
 * are kept. The sizes of all branches are sent with the first chunk of a file, and for
 * the first files only: they are the largest thing that a worker ever sends. */
#include <string.h>

#include "handlers.h"
#include "reading.h"
#include "support.h"

enum { MOST_TABLES = 64 };

/* ---- known files --------------------------------------------------------------- */

static uint64_t hash_text(uint64_t hash, struct roast_str text)
{
    const uint64_t prime = UINT64_C(1099511628211);

    for (size_t i = 0; i < text.size_bytes; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * prime;
    return hash;
}

/* The partition key of a factory is uuid/tree/entries, with slashes quoted. */
static uint64_t key_of(struct probe_state *state, PyObject *factory, PyObject *file)
{
    PyObject *part = PyObject_GetAttr(factory, state->names.partition_key);
    struct roast_str text =
        part && PyUnicode_Check(part) ? text_borrow(part) : (struct roast_str){NULL, 0};
    uint64_t hash = UINT64_C(14695981039346656037);

    while (text.size_bytes > 0 && text.data[text.size_bytes - 1] != '/')
        text.size_bytes--;
    hash = hash_text(hash, text);
    if (file && PyUnicode_Check(file))
        hash = hash_text(hash, text_borrow(file));
    Py_XDECREF(part);
    (void)guard_clear();
    return hash;
}

void files_forget(struct probe_state *state)
{
    for (int i = 0; i < PROBE_KNOWN_FILES; i++) {
        state->known_files[i].used = false;
        hook_set(&state->known_files[i].columns, NULL);
    }
    state->file_tables = 0;
}

static struct known_file *find_file(struct probe_state *state, uint64_t key)
{
    for (int i = 0; i < PROBE_KNOWN_FILES; i++) {
        if (state->known_files[i].key == key && state->known_files[i].used)
            return &state->known_files[i];
    }
    return NULL;
}

/* Takes the reference to columns. */
static struct known_file *keep_file(struct probe_state *state, uint64_t key,
                                    const struct roast_file_facts *facts,
                                    PyObject *columns)
{
    struct known_file *file =
        &state->known_files[state->next_file++ % PROBE_KNOWN_FILES];
    PyObject *old = file->columns;

    *file = (struct known_file){true, key, *facts, columns, 0};
    Py_XDECREF(old);
    return file;
}

/* Adds the facts of a file to the chunk. The codec may be known already, from columns
 * that were read in bulk. */
static void send_file(roast_thread *thread, struct known_file *file,
                      struct roast_str table)
{
    struct reading *reading = reading_here();

    if (file->facts.codec == ROAST_CODEC_UNKNOWN)
        file->facts.codec = reading->facts.codec;
    reading->facts = file->facts;
    reading->file_key = file->key;
    hook_set(&reading->columns, Py_XNewRef(file->columns));
    if (file->footer_bytes > 0)
        roast_ladder_add(thread, ROAST_ITEM_metadata_bytes, file->footer_bytes);
    if (file->facts.kind == ROAST_FILE_RNTUPLE && reading->missing != 0)
        roast_ladder_add(thread, ROAST_ITEM_hooks_missing, reading->missing);
    roast_ladder_file(thread, &file->facts, table);
}

/* ---- branches of a TTree ------------------------------------------------------- */

bool file_branch_sizes(struct probe_state *state, PyObject *branch,
                       struct roast_branch *row)
{
    const struct probe_names *names = &state->names;
    uint64_t *packed = &row->file_bytes, *unpacked = &row->file_uncompressed_bytes;

    return (hook_member(state, branch, names->zip_bytes, packed) ||
            hook_number(branch, names->compressed_bytes, packed)) &&
           (hook_member(state, branch, names->tot_bytes, unpacked) ||
            hook_number(branch, names->uncompressed_bytes, unpacked));
}

/* The branches of a tree and their sizes. */
struct branch_list {
    struct probe_state *state;
    PyObject *names;           /* list of str, owned: rows borrow from it */
    struct roast_branch *rows; /* owned */
    size_t count;
    size_t cap;
    size_t name_bytes;
};

static struct roast_branch *next_row(struct branch_list *found)
{
    if (found->count == found->cap) {
        size_t cap = found->cap ? 2 * found->cap : 256;
        struct roast_branch *rows = PyMem_Realloc(found->rows, cap * sizeof(*rows));
        if (!rows) {
            PyErr_NoMemory();
            return NULL;
        }
        found->rows = rows;
        found->cap = cap;
    }
    found->rows[found->count] = (struct roast_branch){.flags = 0};
    return &found->rows[found->count++];
}

/* prefix/name, or name alone; new reference. */
static PyObject *full_name(struct probe_state *state, PyObject *branch,
                           PyObject *prefix)
{
    PyObject *name = hook_any_member(state, branch, state->names.branch_name);

    if (!name)
        name = PyObject_GetAttr(branch, state->names.column_name);
    if (!name || !prefix)
        return name;
    PyObject *full = PyUnicode_FromFormat("%S/%S", prefix, name);
    Py_DECREF(name);
    return full;
}

static int list_branches(struct branch_list *found, PyObject *tree, PyObject *prefix,
                         int depth);

static int list_branch(struct branch_list *found, PyObject *branch, PyObject *prefix,
                       int depth)
{
    PyObject *name = full_name(found->state, branch, prefix);
    PyObject *text = name ? text_of(name) : NULL;
    int status = text ? PyList_Append(found->names, text) : -1;
    struct roast_branch *row = status == 0 ? next_row(found) : NULL;

    if (row) {
        row->name = text_borrow(text);
        found->name_bytes += row->name.size_bytes;
        row->sizes_known = file_branch_sizes(found->state, branch, row);
        PyObject *baskets =
            hook_any_member(found->state, branch, found->state->names.write_basket);
        (void)hook_whole(baskets, &row->baskets);
        Py_XDECREF(baskets);
        status = list_branches(found, branch, text, depth + 1);
    }
    Py_XDECREF(text);
    Py_XDECREF(name);
    return row ? status : -1;
}

/* The direct branches of a tree or branch, as a list or tuple; new reference. */
static PyObject *branches_of(struct probe_state *state, PyObject *tree)
{
    PyObject *branches = hook_any_member(state, tree, state->names.sub_branches);

    if (!branches)
        branches = PyObject_GetAttr(tree, state->names.branches);
    PyObject *data =
        branches ? PyObject_GetAttr(branches, state->names.own_data) : NULL;
    PyObject *list = data && PyList_Check(data) ? Py_NewRef(data) : NULL;
    if (branches && !list) {
        (void)guard_clear(); /* no TObjArray, whose items are slow to read */
        list = PySequence_Fast(branches, "branches");
    }
    Py_XDECREF(data);
    Py_XDECREF(branches);
    return list;
}

/* uproot's own properties need a thousand calls for every hundred branches. */
static int list_branches(struct branch_list *found, PyObject *tree, PyObject *prefix,
                         int depth)
{
    enum { DEEPEST = 16 };
    PyObject *branches = branches_of(found->state, tree);
    Py_ssize_t count = branches ? PySequence_Size(branches) : 0;
    int status = branches ? 0 : -1;

    for (Py_ssize_t i = 0; i < count && status == 0 && depth < DEEPEST; i++) {
        PyObject *branch = PySequence_GetItem(branches, i);
        status = branch ? list_branch(found, branch, prefix, depth) : -1;
        Py_XDECREF(branch);
    }
    Py_XDECREF(branches);
    return status;
}

/* Adds the facts of a file to the chunk, with the sizes of its branches if the limit of
 * files with sizes is not reached. */
static void send_branches(roast_thread *thread, struct known_file *file,
                          const struct branch_list *found)
{
    struct probe_state *state = found->state;
    size_t room = 16 + found->count * ROAST_BRANCH_BOUND_BYTES + found->name_bytes;
    void *out = state->file_tables < MOST_TABLES ? PyMem_Malloc(room) : NULL;
    int64_t size =
        out ? roast_branches_write(out, room, found->rows, found->count, NULL) : -1;

    if (size > 0)
        state->file_tables++;
    send_file(thread, file,
              (struct roast_str){size > 0 ? out : NULL, size > 0 ? (size_t)size : 0});
    PyMem_Free(out);
}

static void learn_ttree(struct probe_state *state, roast_thread *thread, uint64_t key,
                        PyObject *tree, struct roast_file_facts *facts)
{
    struct branch_list found = {.state = state, .names = PyList_New(0)};

    if (found.names && list_branches(&found, tree, NULL, 0) == 0) {
        facts->branches = found.count;
        facts->sizes_known = found.count > 0;
        for (size_t i = 0; i < found.count; i++) {
            facts->sizes_known &= found.rows[i].sizes_known;
            facts->compressed_bytes += found.rows[i].file_bytes;
            facts->uncompressed_bytes += found.rows[i].file_uncompressed_bytes;
        }
        send_branches(thread, keep_file(state, key, facts, NULL), &found);
    }
    Py_XDECREF(found.names);
    PyMem_Free(found.rows);
}

/* ---- ROOT files ---------------------------------------------------------------- */

static enum roast_file_kind kind_of(struct probe_state *state, PyObject *tree)
{
    PyObject *name = PyObject_GetAttr(tree, state->names.classname);
    struct roast_str text =
        name && PyUnicode_Check(name) ? text_borrow(name) : (struct roast_str){NULL, 0};
    enum roast_file_kind kind = ROAST_FILE_UNKNOWN;

    if (text.size_bytes >= 7 &&
        memcmp(text.data + text.size_bytes - 7, "RNTuple", 7) == 0)
        kind = ROAST_FILE_RNTUPLE;
    else if (text.size_bytes >= 2 && memcmp(text.data, "TT", 2) == 0)
        kind = ROAST_FILE_TTREE;
    else if (text.size_bytes >= 2 && memcmp(text.data, "TN", 2) == 0)
        kind = ROAST_FILE_TTREE;
    Py_XDECREF(name);
    (void)guard_clear();
    return kind;
}

/* The one value of factory._mapping._cache; new reference. */
static PyObject *tree_of(struct probe_state *state, PyObject *factory)
{
    PyObject *mapping = PyObject_GetAttr(factory, state->names.mapping);
    PyObject *cache = mapping ? PyObject_GetAttr(mapping, state->names.cache) : NULL;
    PyObject *values = cache ? PyMapping_Values(cache) : NULL;
    PyObject *tree =
        values && PySequence_Size(values) > 0 ? PySequence_GetItem(values, 0) : NULL;

    Py_XDECREF(values);
    Py_XDECREF(cache);
    Py_XDECREF(mapping);
    return tree;
}

static void learn_tree(struct probe_state *state, roast_thread *thread, uint64_t key,
                       PyObject *tree)
{
    struct roast_file_facts facts = {.kind = kind_of(state, tree)};

    (void)hook_number(tree, state->names.num_entries, &facts.entries);
    if (facts.kind == ROAST_FILE_TTREE) {
        learn_ttree(state, thread, key, tree, &facts);
        return;
    }
    Py_ssize_t fields = PyObject_Size(tree);
    facts.branches = fields > 0 ? (uint64_t)fields : 0;
    if (fields >= 0)
        send_file(thread, keep_file(state, key, &facts, NULL),
                  (struct roast_str){NULL, 0});
}

static void learn_root(struct probe_state *state, roast_thread *thread,
                       PyObject *factory)
{
    struct reading *reading = reading_here();
    uint64_t key = key_of(state, factory, NULL);
    bool needs_tree = !reading->source || !find_file(state, key);
    PyObject *tree = needs_tree ? tree_of(state, factory) : NULL;

    if (tree && !reading->source) /* uproot.open() was not hooked */
        hook_set(&reading->source, reading_source_of(state, tree));
    struct known_file *known = find_file(state, key); /* by another thread meanwhile */
    if (known)
        send_file(thread, known, (struct roast_str){NULL, 0});
    else if (tree && !PyErr_Occurred())
        learn_tree(state, thread, key, tree);
    Py_XDECREF(tree);
}

/* ---- parquet files ------------------------------------------------------------- */

/* `described` is what describe_parquet() of coffea/hooks.py returns: ({column: (bytes,
 * uncompressed)}, entries, codec, bytes of the footer). */
static void learn_columns(struct probe_state *state, roast_thread *thread, uint64_t key,
                          PyObject *described)
{
    struct roast_file_facts facts = {.kind = ROAST_FILE_PARQUET};
    PyObject *columns = NULL;
    unsigned long long entries = 0, footer_bytes = 0;
    int codec = 0;

    if (!PyArg_ParseTuple(described, "O!KiK", &PyDict_Type, &columns, &entries, &codec,
                          &footer_bytes))
        return;
    PyObject *name, *sizes;
    Py_ssize_t at = 0;
    facts.entries = entries;
    facts.codec = (enum roast_codec)codec;
    facts.branches = (uint64_t)PyDict_Size(columns);
    facts.sizes_known = true;
    while (PyDict_Next(columns, &at, &name, &sizes)) {
        unsigned long long bytes = 0, uncompressed = 0;
        if (!PyArg_ParseTuple(sizes, "KK", &bytes, &uncompressed))
            return;
        facts.compressed_bytes += bytes;
        facts.uncompressed_bytes += uncompressed;
    }
    struct known_file *file = keep_file(state, key, &facts, Py_NewRef(columns));
    file->footer_bytes = footer_bytes;
    send_file(thread, file, (struct roast_str){NULL, 0});
}

static void learn_parquet(struct probe_state *state, roast_thread *thread,
                          PyObject *factory, PyObject *kwargs)
{
    PyObject *path = kwargs ? PyDict_GetItemWithError(kwargs, state->names.file) : NULL;
    uint64_t key = key_of(state, factory, path);

    hook_set(&reading_here()->source, tree_of(state, factory));
    if (PyErr_Occurred())
        return;
    struct known_file *known = find_file(state, key);
    if (known) {
        send_file(thread, known, (struct roast_str){NULL, 0});
        return;
    }
    if (!state->describe_parquet)
        return;
    PyObject *described =
        PyObject_CallFunctionObjArgs(state->describe_parquet, factory, NULL);
    if (described)
        learn_columns(state, thread, key, described);
    Py_XDECREF(described);
}

/* ---- codec --------------------------------------------------------------------- */

static enum roast_codec codec_named(const unsigned char *two)
{
    static const struct {
        char name[3];
        enum roast_codec codec;
    } known[] = {
        {"ZL", ROAST_CODEC_ZLIB},
        {"XZ", ROAST_CODEC_LZMA},
        {"L4", ROAST_CODEC_LZ4},
        {"ZS", ROAST_CODEC_ZSTD},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (memcmp(two, known[i].name, 2) == 0)
            return known[i].codec;
    }
    return ROAST_CODEC_UNKNOWN;
}

static size_t big_endian(const unsigned char *data, int bytes)
{
    size_t number = 0;

    for (int i = 0; i < bytes; i++)
        number = number << 8 | data[i];
    return number;
}

/* A basket begins with a TKey: total bytes (4), version (2), unpacked bytes (4), time
 * (4), bytes of the key (2), all big endian. What does not get smaller is stored as it
 * is, whatever the codec of the file. */
static enum roast_codec codec_of_basket(const unsigned char *data, size_t size_bytes)
{
    if (size_bytes < 18)
        return ROAST_CODEC_UNKNOWN;
    size_t key_bytes = big_endian(data + 14, 2);
    bool is_packed = big_endian(data, 4) < key_bytes + big_endian(data + 6, 4);
    return is_packed && key_bytes + 2 <= size_bytes ? codec_named(data + key_bytes)
                                                    : ROAST_CODEC_UNKNOWN;
}

/* What baskets are packed with when they are written, by the settings of the branch or,
 * where it has none, of its file: 100 x algorithm + level. Algorithm 0 is ROOT's
 * default, level 0 none. */
static enum roast_codec codec_of_settings(struct probe_state *state, PyObject *branch)
{
    static const enum roast_codec codecs[] = {
        ROAST_CODEC_ZLIB,    ROAST_CODEC_ZLIB, ROAST_CODEC_LZMA,
        ROAST_CODEC_UNKNOWN, ROAST_CODEC_LZ4,  ROAST_CODEC_ZSTD,
    };
    const struct probe_names *names = &state->names;
    uint64_t setting = 0;

    if (!hook_member(state, branch, names->compress_setting, &setting) ||
        setting % 100 == 0) {
        PyObject *file = PyObject_GetAttr(branch, names->file);
        bool known = file && hook_number(file, names->compress_setting, &setting);
        Py_XDECREF(file);
        if (!known)
            return ROAST_CODEC_UNKNOWN;
    }
    if (setting % 100 == 0)
        return ROAST_CODEC_NONE;
    return setting / 100 < sizeof(codecs) / sizeof(codecs[0]) ? codecs[setting / 100]
                                                              : ROAST_CODEC_UNKNOWN;
}

void file_learn_codec(struct probe_state *state, roast_thread *thread, PyObject *chunk,
                      PyObject *branch)
{
    struct reading *reading = reading_here();
    struct known_file *file;
    Py_buffer view;

    if (reading->facts.codec != ROAST_CODEC_UNKNOWN)
        return;
    PyObject *data = PyObject_GetAttr(chunk, state->names.raw_data);
    if (data && PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) == 0) {
        size_t size_bytes = (size_t)view.len;
        reading->facts.codec = branch            ? codec_of_basket(view.buf, size_bytes)
                               : size_bytes >= 2 ? codec_named(view.buf)
                                                 : ROAST_CODEC_UNKNOWN;
        PyBuffer_Release(&view);
        if (branch && reading->facts.codec == ROAST_CODEC_UNKNOWN)
            reading->facts.codec = codec_of_settings(state, branch);
        file = find_file(state, reading->file_key);
        if (file && reading->facts.codec != ROAST_CODEC_UNKNOWN) {
            file->facts.codec = reading->facts.codec;
            roast_ladder_file(thread, &reading->facts, (struct roast_str){NULL, 0});
        }
    }
    Py_XDECREF(data);
    (void)guard_clear();
}

/* ---- hooks ----------------------------------------------------------------------- */

/* directory.file.source, or NULL without an exception; new reference. */
static PyObject *source_of(struct probe_state *state, PyObject *directory)
{
    PyObject *file = PyObject_GetAttr(directory, state->names.file);
    PyObject *source = file ? PyObject_GetAttr(file, state->names.source) : NULL;

    Py_XDECREF(file);
    if (!source)
        (void)guard_clear(); /* a tree, or another object in a file */
    return source;
}

/* Whether uproot.open(files, ...) opens the chunk's file: {file: None}. A processor may
 * open other files while it is unpickled. If the name is unknown, the first one counts. */
static bool opens_chunk(const struct reading *reading, const roast_thread *thread,
                        PyObject *args)
{
    PyObject *files = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;

    if (roast_ladder_phase_now(thread) != ROAST_ITEM_import || reading->opening > 0)
        return false;
    if (!reading->file)
        return true;
    bool is_it = files && (PyDict_Check(files)
                               ? PyDict_Contains(files, reading->file) == 1
                               : PyUnicode_Check(files) &&
                                     PyUnicode_Compare(files, reading->file) == 0);
    (void)guard_clear();
    return is_it;
}

PyObject *hook_open(struct hook *hook, roast_thread *thread, PyObject *args,
                    PyObject *kwargs)
{
    struct reading *reading = reading_here();
    bool is_ours = opens_chunk(reading, thread, args);

    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_open);
    reading->opening++;
    reading->opening_ours |= is_ours;
    PyObject *result = hook_pass(hook, args, kwargs);
    reading->opening--;
    reading->opening_ours &= !is_ours;
    roast_ladder_leave(thread, token);
    if (!result || !is_ours)
        return result;
    roast_ladder_phase(thread, ROAST_ITEM_form);
    hook_set(&reading->source, source_of(hook->state, result));
    return hook_done(hook->state, result, "an opened file");
}

/* When the chunk's file is closed, process() has returned or raised. */
PyObject *hook_close(struct hook *hook, roast_thread *thread, PyObject *args,
                     PyObject *kwargs)
{
    const struct reading *reading = reading_here();
    PyObject *closed = PyTuple_Size(args) > 0 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *source = closed ? source_of(hook->state, closed) : NULL;
    bool is_ours = reading->facts.kind == ROAST_FILE_PARQUET
                       ? !source /* a ParquetFileContext has none */
                       : source && source == reading->source;

    Py_XDECREF(source);
    if (PyErr_Occurred()) /* Ctrl-C */
        return NULL;
    if (is_ours && reading->attempts == 1 && /* not a run inside process() */
        roast_ladder_phase_now(thread) == ROAST_ITEM_compute)
        roast_ladder_phase(thread, ROAST_ITEM_result);
    return hook_pass(hook, args, kwargs);
}

/* NanoEventsFactory.from_root() or from_parquet(). Events that process() builds itself are
 * not those of the chunk. */
PyObject *hook_factory(struct hook *hook, roast_thread *thread, PyObject *args,
                       PyObject *kwargs)
{
    unsigned token = roast_ladder_enter(thread, ROAST_ITEM_form);
    PyObject *result;

    roast_ladder_phase(thread, ROAST_ITEM_form);
    result = hook_pass(hook, args, kwargs);
    if (result && roast_ladder_phase_now(thread) == ROAST_ITEM_form) {
        if (hook->number == ROAST_HOOK_from_root)
            learn_root(hook->state, thread, result);
        else
            learn_parquet(hook->state, thread, result, kwargs);
    }
    roast_ladder_leave(thread, token);
    return hook_done(hook->state, result, "facts of a file");
}

/* When events() of the chunk returns, process() begins. */
PyObject *hook_events(struct hook *hook, roast_thread *thread, PyObject *args,
                      PyObject *kwargs)
{
    PyObject *result = hook_in_slice(hook, thread, args, kwargs, ROAST_ITEM_form);

    if (!result || roast_ladder_phase_now(thread) == ROAST_ITEM_compute)
        return result;
    Py_ssize_t length = PyObject_Size(result);
    if (length >= 0)
        roast_ladder_events(thread, (uint64_t)length);
    roast_ladder_phase(thread, ROAST_ITEM_compute);
    return hook_done(hook->state, result, "length of the events");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* ladder_from_dict.c - the ladder, endpoints and file of a mapping that somebody made by
 * hand: the reverse of record_ladder.c.
 *
 * Of a file roastcoffea 0.1.2 had `total_branches`, `total_tree_bytes`,
 * `compression_ratio` and `branch_bytes`. */
#include "mapping.h"

static double scale_of(enum roast_ladder_item item)
{
    enum roast_ladder_kind kind = roast_ladder_info(item)->kind;
    return kind == ROAST_LADDER_SLICE || kind == ROAST_LADDER_TIME ? 1e9 : 1;
}

/* ---- ladder ------------------------------------------------------------------- */

static void set_item(struct roast_ladder *ladder, enum roast_ladder_item item,
                     PyObject *mapping, const char *key)
{
    double number = 0;

    if (mapping_number(mapping, key, &number) && number >= 0)
        roast_ladder_set(ladder, item, whole_of(number, scale_of(item)));
}

static int set_ladder(struct blob *blob, PyObject *mapping)
{
    PyObject *slices = mapping_dict(mapping, "ladder");
    struct roast_ladder ladder = {0};
    size_t count = 0;
    const struct roast_view *views = roast_views(&count);
    roast_error err = {0};

    for (int i = 0; slices && i < ROAST_SLICE_COUNT; i++) {
        enum roast_ladder_item slice = (enum roast_ladder_item)i;
        set_item(&ladder, slice, slices, roast_ladder_info(slice)->name);
    }
    Py_XDECREF(slices);
    for (size_t i = 0; i < count; i++) {
        if (views[i].kind == ROAST_VIEW_ITEM)
            set_item(&ladder, views[i].item, mapping, views[i].key);
    }
    if (ladder.present == 0)
        return 0;
    if (!blob_room(blob, ROAST_LADDER_BOUND_BYTES))
        return -1;
    int64_t size =
        roast_ladder_write(blob->out, ROAST_LADDER_BOUND_BYTES, &ladder, &err);
    return blob_finish(blob, ROAST_FIELD_ladder, size, &err);
}

/* ---- endpoints ---------------------------------------------------------------- */

static struct roast_endpoint endpoint_of(struct blob *blob, PyObject *name,
                                         PyObject *row)
{
    return (struct roast_endpoint){
        .name = text_kept(blob->kept, name),
        .requests = mapping_whole(row, "requests", 1),
        .ranges = mapping_whole(row, "ranges", 1),
        .bytes = mapping_whole(row, "bytes", 1),
        .wait_ns = mapping_whole(row, "wait", 1e9),
        .errors = mapping_whole(row, "errors", 1),
    };
}

static int write_endpoints(struct blob *blob, PyObject *dict)
{
    size_t max = (size_t)PyDict_Size(dict);
    struct roast_endpoint *all = PyMem_Calloc(max + 1, sizeof(*all));
    size_t bound = ROAST_ENDPOINT_BOUND_BYTES;
    roast_error err = {0};
    PyObject *name;
    PyObject *row;
    Py_ssize_t at = 0;
    size_t count = 0;
    int status = -1;

    if (!all)
        PyErr_NoMemory();
    while (all && PyDict_Next(dict, &at, &name, &row)) {
        if (!PyUnicode_Check(name) || !PyDict_Check(row))
            continue;
        all[count] = endpoint_of(blob, name, row);
        bound += ROAST_ENDPOINT_BOUND_BYTES + all[count].name.size_bytes;
        count += all[count].name.data != NULL;
    }
    if (all && blob_room(blob, bound)) {
        int64_t size = roast_endpoints_write(blob->out, bound, all, count, &err);
        status = blob_finish(blob, ROAST_FIELD_endpoints, size, &err);
    }
    PyMem_Free(all);
    return status;
}

static int set_endpoints(struct blob *blob, PyObject *mapping)
{
    PyObject *dict = mapping_dict(mapping, "endpoints");
    int status = dict ? write_endpoints(blob, dict) : 0;

    Py_XDECREF(dict);
    return status;
}

/* ---- files -------------------------------------------------------------------- */

/* The number of a word at a key; 0, which is unknown, for others. */
static unsigned word_at(PyObject *dict, const char *key, unsigned count,
                        const char *(*name)(unsigned number))
{
    PyObject *word = mapping_item(dict, key);
    unsigned found = 0;

    for (unsigned i = 1; i < count && word && PyUnicode_Check(word); i++) {
        if (PyUnicode_CompareWithASCIIString(word, name(i)) == 0)
            found = i;
    }
    Py_XDECREF(word);
    return found;
}

/* Without the uncompressed bytes the ratio tells them. */
static void set_sizes(struct roast_file_facts *facts, PyObject *dict)
{
    double compressed = 0;
    double uncompressed = 0;
    double ratio = 0;

    if (!mapping_number(dict, "compressed_bytes", &compressed) &&
        !mapping_number(dict, "total_tree_bytes", &compressed))
        return;
    if (mapping_number(dict, "uncompressed_bytes", &uncompressed))
        facts->sizes_known = true;
    else if (mapping_number(dict, "compression_ratio", &ratio) && ratio > 0)
        facts->sizes_known = true;
    if (!facts->sizes_known)
        return;
    facts->compressed_bytes = whole_of(compressed, 1);
    facts->uncompressed_bytes =
        ratio > 0 ? whole_of(compressed, 1 / ratio) : whole_of(uncompressed, 1);
}

static int set_file(struct blob *blob, PyObject *dict)
{
    struct roast_file_facts facts = {
        .kind = (enum roast_file_kind)word_at(dict, "kind", ROAST_FILE_KIND_COUNT,
                                              roast_file_kind_name),
        .codec = (enum roast_codec)word_at(dict, "codec", ROAST_CODEC_COUNT,
                                           roast_codec_name),
        .branches = mapping_whole(dict, "total_branches", 1),
        .entries = mapping_whole(dict, "num_entries", 1),
    };
    roast_error err = {0};

    set_sizes(&facts, dict);
    if (!blob_room(blob, ROAST_FILE_FACTS_BOUND_BYTES))
        return -1;
    int64_t size =
        roast_file_facts_write(blob->out, ROAST_FILE_FACTS_BOUND_BYTES, &facts, &err);
    return blob_finish(blob, ROAST_FIELD_file_facts, size, &err);
}

int ladder_from_mapping(struct probe_state *state, roast_record *rec, PyObject *mapping,
                        PyObject *kept)
{
    struct blob blob = {state, rec, kept, NULL};
    PyObject *file = mapping_dict(mapping, "file_metadata");
    PyObject *sizes = file ? mapping_dict(file, "branch_bytes") : NULL;
    int status = 0;

    if (set_ladder(&blob, mapping) < 0 || set_endpoints(&blob, mapping) < 0 ||
        (file && set_file(&blob, file) < 0) ||
        branches_from_mapping(&blob, mapping, sizes) < 0 || PyErr_Occurred())
        status = -1;
    Py_XDECREF(sizes);
    Py_XDECREF(file);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* view.h - a chunk record under the names and units its readers know.
 *
 * record_views.def is the list; every output (Python dict, CSV, JSON) uses it, so the
 * same fact has the same name everywhere. */
#ifndef ROAST_VIEW_H
#define ROAST_VIEW_H

#include "roast/ladder.h"
#include "roast/record.h"
#include "roast/value.h"

#ifdef __cplusplus
extern "C" {
#endif

enum roast_view_kind {
    ROAST_VIEW_NONE, /* no single value: absent here, its parts are elsewhere */
    ROAST_VIEW_TEXT,
    ROAST_VIEW_COUNT,       /* integer as stored */
    ROAST_VIEW_FLAG,        /* true or false */
    ROAST_VIEW_SECONDS,     /* from ns */
    ROAST_VIEW_EPOCH_S,     /* seconds since 1970, from ns */
    ROAST_VIEW_EPOCH_END_S, /* the same, field + other field */
    ROAST_VIEW_MIB,         /* 2^20 bytes */
    ROAST_VIEW_MIB_DELTA,   /* field - other field */
    ROAST_VIEW_GB,          /* 10^9 bytes */
    ROAST_VIEW_GB_DELTA,
    ROAST_VIEW_STATUS,    /* "ok" or "failed" */
    ROAST_VIEW_PEAK_KIND, /* "exact" or "sampled" */
    ROAST_VIEW_PEAK_OF,   /* "chunk", or "process" if others ran in it (other field) */
    ROAST_VIEW_ITEM,      /* an item of the ladder, by its kind: seconds or integer */
    ROAST_VIEW_ACCESSED,  /* branches whose values were used */
    ROAST_VIEW_ACCESSED_BYTES,         /* their bytes in the file */
    ROAST_VIEW_ACCESSED_UNCOMPRESSED,  /* the same, uncompressed */
    ROAST_VIEW_ACCESSED_PERCENT,       /* of the branches of the tree (other field) */
    ROAST_VIEW_ACCESSED_BYTES_PERCENT, /* of its bytes */
};

struct roast_view {
    const char *key;
    enum roast_view_kind kind;
    enum roast_field field;
    enum roast_field other;
    bool always;                 /* the key exists even when the value is absent */
    enum roast_ladder_item item; /* of an ITEM */
};

enum roast_cell_type {
    ROAST_CELL_ABSENT,
    ROAST_CELL_BOOL,
    ROAST_CELL_COUNT,
    ROAST_CELL_NUMBER,
    ROAST_CELL_TEXT,
};

/* There may be millions of them, most of them absent: check the type first. */
struct roast_cell {
    enum roast_cell_type type;
    bool whole; /* NUMBER: an integer below 0 */
    union {
        uint64_t count;        /* COUNT, BOOL */
        double number;         /* NUMBER */
        struct roast_str text; /* TEXT; borrows the record or static memory */
    };
};

/* The list. *count gets its length. Borrows static memory. */
const struct roast_view *roast_views(size_t *count);

/* The reverse: sets the field of a view of numbers (COUNT, FLAG, SECONDS, EPOCH_S, MIB,
 * GB) from a number in its unit. A number that the field cannot hold leaves it
 * absent. */
void roast_view_set(roast_record *rec, const struct roast_view *view, double number);

/* The times of a record made by the user, in seconds; NAN where one is missing. */
struct roast_record_times {
    double start_s;
    double end_s;
    double stamp_s; /* "timestamp": the end, where end_s is missing */
};

/* Sets the fields that rec lacks: the duration from start and end, the start from the
 * end and the duration. */
void roast_record_set_times(roast_record *rec, const struct roast_record_times *given);

/* ---- everything in a record --------------------------------------------------- */

/* Where a visitor writes: maps and lists are opened and closed, an entry of a map is a
 * key and then its value or its map or list. A sink handles its own failures. */
struct roast_value_sink {
    void (*open)(void *context, bool is_map); /* a map, else a list */
    void (*close)(void *context, bool is_map);
    void (*key)(void *context, struct roast_str key);
    void (*value)(void *context, const struct roast_value *value); /* no LIST, DICT */
    void *context;
    bool wants_stored; /* numbers in the units of docs/format.md too */
};

/* Passes the keys and values of a record, in the names and units of docs/api, to a sink
 * whose map the caller has opened. A part whose bytes are broken is left out; the first
 * such failure is returned, and the sink is complete all the same. */
int roast_record_visit(const roast_record *rec, const struct roast_value_sink *sink,
                       roast_error *err);

struct roast_json;

/* A sink that writes JSON; bytes become {"hex": "..."}. Borrows json. */
struct roast_value_sink roast_json_sink(struct roast_json *json);

/* A cell as JSON. */
void roast_json_cell(struct roast_json *json, const struct roast_cell *cell);

double roast_seconds(uint64_t ns);
double roast_epoch_seconds(int64_t ns); /* since 1970 */
double roast_mib(int64_t bytes);
double roast_gb(int64_t bytes);

/* Whose memory the peak of a chunk is, by its field concurrency: of chunks that ran
 * together, any may have used it. */
const char *roast_peak_of(uint64_t concurrency);

#ifdef __cplusplus
}
#endif

#endif

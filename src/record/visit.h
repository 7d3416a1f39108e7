/* SPDX-License-Identifier: BSD-3-Clause */
/* visit.h - the state of roast_record_visit(), shared by visit.c and visit_parts.c. */
#ifndef ROAST_RECORD_VISIT_H
#define ROAST_RECORD_VISIT_H

#include <string.h>

#include "base/buf.h"
#include "record/view.h"

struct roast_visit {
    const roast_record *rec;
    const struct roast_value_sink *sink;
    struct roast_str user_keys; /* checked; absent where there are none */
    const char *parts[16];      /* the built-in maps that were visited */
    size_t part_count;
    struct roast_str joining; /* entries of the user's map with the name of this part */
    struct roast_buf names;   /* struct roast_str each: entries of this part */
    int status;               /* of the first failure, which is in err */
    roast_error *err;
};

/* Records a failure; the first one is returned to the caller. */
void roast__visit_fail(struct roast_visit *v, int status, const roast_error *err);
void roast__visit_no_memory(struct roast_visit *v, const char *what);

/* A part is a built-in map; entries of the user may be added to it. */
void roast__part_open(struct roast_visit *v, const char *name);
void roast__part_key(struct roast_visit *v, struct roast_str name);
void roast__part_put(struct roast_visit *v, const char *name, struct roast_value value);
void roast__part_close(struct roast_visit *v);

void roast__visit_sections(struct roast_visit *v);
void roast__visit_ladder(struct roast_visit *v, const struct roast_ladder *ladder);
void roast__visit_branches(struct roast_visit *v);
void roast__visit_endpoints(struct roast_visit *v);
void roast__visit_file(struct roast_visit *v, const struct roast_file_facts *facts);

static inline void roast__put_key(struct roast_visit *v, const char *key)
{
    v->sink->key(v->sink->context, roast_str_of(key));
}

static inline void roast__put(struct roast_visit *v, const char *key,
                              struct roast_value value)
{
    roast__put_key(v, key);
    v->sink->value(v->sink->context, &value);
}

enum { ROAST_LIST = false, ROAST_MAP = true };

static inline void roast__open(struct roast_visit *v, bool is_map)
{
    v->sink->open(v->sink->context, is_map);
}

static inline void roast__close(struct roast_visit *v, bool is_map)
{
    v->sink->close(v->sink->context, is_map);
}

static inline bool roast__has(const struct roast_visit *v, enum roast_field field)
{
    return roast_record_has(v->rec, field);
}

static inline struct roast_str roast__blob_of(const struct roast_visit *v,
                                              enum roast_field field)
{
    return roast__has(v, field) ? v->rec->values[field].str
                                : (struct roast_str){NULL, 0};
}

static inline bool roast__same_str(struct roast_str a, struct roast_str b)
{
    return a.size_bytes == b.size_bytes && memcmp(a.data, b.data, a.size_bytes) == 0;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* json_help.h - documents in memory, given in pieces of any size. */
#ifndef ROAST_TESTS_COLLECT_JSON_HELP_H
#define ROAST_TESTS_COLLECT_JSON_HELP_H

#include "collect/json.h"
#include "support.h"

/* Bytes that are read; `fail_at`: from there on the disk is broken. */
struct document {
    const char *bytes;
    size_t size_bytes;
    size_t piece_bytes; /* 0: as many as are asked for */
    size_t at;
    size_t fail_at; /* 0: never */
};

static int64_t document_read(void *context, void *out, size_t out_bytes)
{
    struct document *document = context;
    size_t size = document->size_bytes - document->at;

    if (document->fail_at > 0 && document->at >= document->fail_at)
        return -1;
    if (size > out_bytes)
        size = out_bytes;
    if (document->piece_bytes > 0 && size > document->piece_bytes)
        size = document->piece_bytes;
    if (size > 0)
        memcpy(out, document->bytes + document->at, size);
    document->at += size;
    return (int64_t)size;
}

static inline struct roast_json_source source_of(struct document *document)
{
    return (struct roast_json_source){document_read, document};
}

static inline struct document document_of(const char *text)
{
    return (struct document){.bytes = text, .size_bytes = strlen(text)};
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoint.h - where the bytes of an attempt came from, how large the pieces were and how
 * long they took. */
#ifndef ROAST_ENDPOINT_H
#define ROAST_ENDPOINT_H

#include "roast/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of powers of two: bin n has what is at least 2^(first + n) and below the next one;
 * the first and the last have what is beyond them, too. */
enum {
    ROAST_SIZE_BINS_FIRST = 6,  /* 64 bytes ... */
    ROAST_SIZE_BINS = 24,       /* ... 1 GiB */
    ROAST_WAIT_BINS_FIRST = 12, /* 4 us ... */
    ROAST_WAIT_BINS = 25,       /* ... 137 s */
};

static inline unsigned roast_bin(uint64_t value, unsigned first, unsigned bins)
{
    unsigned power = value > 0 ? 63 - (unsigned)__builtin_clzll(value) : 0;

    if (power < first)
        return 0;
    return power - first < bins ? power - first : bins - 1;
}

/* Where bytes came from: scheme and host, or the first two folders of a path. */
struct roast_endpoint {
    struct roast_str name;
    uint64_t requests; /* calls; each may request several ranges */
    uint64_t ranges;
    uint64_t bytes;
    uint64_t wait_ns;
    uint64_t errors;
    uint64_t seeks; /* ranges that do not begin where the one before them ended */
    uint32_t sizes[ROAST_SIZE_BINS]; /* ranges by their bytes */
    uint32_t waits[ROAST_WAIT_BINS]; /* waits by their ns */
};

/* Write and read an `endpoints` blob, like roast_sections_write() and
 * roast_sections_read(). One ROAST_ENDPOINT_BOUND_BYTES, and that and its name for each
 * endpoint, is always enough. */
enum { ROAST_ENDPOINT_BOUND_BYTES = 330 };
int64_t roast_endpoints_write(void *out, size_t out_bytes,
                              const struct roast_endpoint *all, size_t count,
                              roast_error *err);
int64_t roast_endpoints_read(struct roast_endpoint *out, size_t max,
                             struct roast_str blob, roast_error *err);

/* The endpoint of a file name or URL: "scheme://host:port", "/first/second", "." for a
 * relative path, "unknown" for none. Borrows it, or static memory. Credentials should
 * be removed first: a URL with credentials gives only "host:port". */
struct roast_str roast_endpoint_of(struct roast_str file);

#ifdef __cplusplus
}
#endif

#endif

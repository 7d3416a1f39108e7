/* SPDX-License-Identifier: BSD-3-Clause */
/* dask_batch_write.h - makes batches item by item, as dask_batch_items.def defines. */
#ifndef ROAST_TESTS_COLLECT_DASK_BATCH_WRITE_H
#define ROAST_TESTS_COLLECT_DASK_BATCH_WRITE_H

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "collect/dask_batch_reader.h"
#include "support.h"

enum { TICK = 1, SAMPLE, WORKER, JOINED, LEFT, PREFIX, TASK, FRAMES, DELAY, DROPPED };
static const double T0 = 1760000000; /* seconds */

static inline void put_uint(struct roast_buf *out, uint64_t value, size_t size_bytes)
{
    unsigned char bytes[8];

    roast__store_fixed(bytes, value, size_bytes);
    roast__buf_put(out, bytes, size_bytes);
}

static inline void put_real(struct roast_buf *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_uint(out, bits, 8);
}

static inline void put_field(struct roast_buf *out, char letter, va_list *args)
{
    if (letter == 'd')
        put_real(out, va_arg(*args, double));
    else if (letter == 'Q')
        put_uint(out, va_arg(*args, uint64_t), 8);
    else
        put_uint(out, va_arg(*args, unsigned),
                 letter == 'B' ? 1 : (letter == 'H' ? 2 : 4));
}

/* One item: double for d, uint64_t for Q, unsigned for the others, then texts. */
static inline void put(struct roast_buf *out, unsigned kind, ...)
{
    const struct roast_dask_batch_item *item = roast_dask_batch_item(kind - 1);
    va_list args;

    put_uint(out, kind, 1);
    va_start(args, kind);
    for (const char *letter = item->format; *letter; letter++)
        put_field(out, *letter, &args);
    for (unsigned i = 0; i < item->texts; i++) {
        const char *text = va_arg(args, const char *);
        put_uint(out, strlen(text), 2);
        roast__buf_put(out, text, strlen(text));
    }
    va_end(args);
}

/* Values are 1, 2, 3 ... from the lowest series on. */
static inline void put_sample(struct roast_buf *out, unsigned worker, uint32_t mask)
{
    double value = 1;

    put(out, SAMPLE, worker, mask);
    for (; mask; mask &= mask - 1)
        put_real(out, value++);
}

static inline void put_frames(struct roast_buf *out, unsigned worker, const char *bytes)
{
    put(out, FRAMES, worker, 0xbeefu, (unsigned)strlen(bytes));
    roast__buf_put(out, bytes, strlen(bytes));
}

#endif

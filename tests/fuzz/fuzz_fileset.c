/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_fileset.c - any text as the fileset that a user gave: refused, or every file can
 * be written again, and what was written reads back as the same fileset. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/rerun/fileset.h"

#define PROMISE(condition) \
    do { \
        if (!(condition)) \
            abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void write_sorted(struct roast_buf *out, struct roast_fileset *fileset)
{
    roast__fileset_sort(fileset);
    roast__fileset_write(out, fileset, fileset);
    PROMISE(roast__buf_ok(out) && !fileset->failed);
}

static struct roast_str text_of(const struct roast_buf *buf)
{
    return (struct roast_str){(const char *)buf->data, buf->size_bytes};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_fileset first = {0}, second = {0};
    struct roast_buf once = {0}, twice = {0};
    roast_error err = {0};
    int status = roast__fileset_read(
        &first, (struct roast_str){(const char *)data, size_bytes}, &err);

    PROMISE(status == ROAST_OK || err.code == status);
    if (status == ROAST_OK) {
        write_sorted(&once, &first);
        PROMISE(roast__fileset_read(&second, text_of(&once), NULL) == ROAST_OK);
        PROMISE(second.count == first.count);
        write_sorted(&twice, &second);
        PROMISE(once.size_bytes == twice.size_bytes);
        PROMISE(memcmp(once.data, twice.data, once.size_bytes) == 0);
    }
    roast__fileset_release(&first);
    roast__fileset_release(&second);
    roast__buf_release(&once);
    roast__buf_release(&twice);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_fileset.c - any text as the note `fileset`: refused, or every file can be written,
 * as JSON of printable characters whose brackets close. */
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

/* Quotes and brackets close at the last byte, not before. */
static bool is_one_value(const struct roast_buf *json)
{
    size_t depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < json->size_bytes; i++) {
        unsigned char c = json->data[i];
        PROMISE(c >= 0x20 && c < 0x7f);
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']') && --depth == 0)
            return i + 1 == json->size_bytes;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_fileset fileset = {0};
    struct roast_buf json = {0};
    struct roast_json writer = {.put = roast__buf_sink, .context = &json};
    roast_error err = {0};
    int status = roast__fileset_read(
        &fileset, (struct roast_str){(const char *)data, size_bytes}, &err);

    PROMISE(status == ROAST_OK || err.code == status);
    roast__fileset_sort(&fileset);
    roast__fileset_write(&writer, &fileset, &fileset);
    PROMISE(roast__buf_ok(&json) && !fileset.failed && is_one_value(&json));
    roast__fileset_release(&fileset);
    roast__buf_release(&json);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* golden.h - a text compared with a file under tests/golden, byte by byte.
 *
 * ROAST_UPDATE_GOLDEN=1 rewrites the files: read the difference before it is kept. */
#ifndef ROAST_TESTS_REPORT_GOLDEN_H
#define ROAST_TESTS_REPORT_GOLDEN_H

#include <stdio.h>

#include "support.h"

enum { GOLDEN_MAX_BYTES = 64 * 1024 };

static inline void update_golden(const char *path, struct roast_str text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size_bytes, file), text.size_bytes);
    assert_int_equal(fclose(file), 0);
}

static inline void check_golden(const char *name, struct roast_str text)
{
    static char wanted[GOLDEN_MAX_BYTES];
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/../golden/%s", ROAST_FIXTURES, name);
    if (getenv("ROAST_UPDATE_GOLDEN")) {
        update_golden(path, text);
        return;
    }
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    size_t size = fread(wanted, 1, sizeof(wanted), file);
    (void)fclose(file);
    if (size == text.size_bytes && memcmp(wanted, text.data, size) == 0)
        return;
    print_error("%.*s", (int)text.size_bytes, text.data);
    fail_msg("is not %s", path);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_values.c - any bytes as a blob of values: refused as BAD_DATA, or every token
 * can be read and written again, and the result is stable. */
#include "record_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Reads keys and tokens without checking the blob first. */
static void read_blindly(struct roast_str blob)
{
    struct roast_value value;
    struct roast_str key;

    while (roast_value_next_key(&key, &blob, NULL) == 1)
        PROMISE(key.size_bytes == 0 || key.data);
    while (roast_value_next(&value, &blob, NULL) == 1)
        PROMISE(value.type <= ROAST_VALUE_DICT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_str blob = {(const char *)data, size_bytes};
    roast_values first = {0};
    roast_values second = {0};
    roast_error err = {0};

    read_blindly(blob);
    int status = roast_values_check(blob, &err);
    PROMISE(status == ROAST_OK || status == ROAST_BAD_DATA);
    PROMISE(err.code == status);
    if (status < 0)
        return 0;
    copy_values(&first, blob);
    if (roast_values_ok(&first)) { /* not more than 64 KiB */
        struct roast_str once = roast_values_blob(&first);
        PROMISE(once.size_bytes <= size_bytes);
        PROMISE(roast_values_check(once, NULL) == ROAST_OK);
        copy_values(&second, once);
        struct roast_str twice = roast_values_blob(&second);
        PROMISE(twice.size_bytes == once.size_bytes);
        PROMISE(!once.data || memcmp(once.data, twice.data, once.size_bytes) == 0);
    }
    roast__values_release(&first);
    roast__values_release(&second);
    return 0;
}

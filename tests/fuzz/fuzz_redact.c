/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_redact.c - any bytes as a text: the result fits the bound, a text that
 * is said to hold no secret is unchanged, and a secret that follows in a line of its own is removed. */
#include <stdlib.h>

#include "record_checks.h"
#include "roast/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static size_t redact(char **out, struct roast_str text, const unsigned char *key)
{
    size_t room = roast_str_redact_bound(text.size_bytes);

    *out = malloc(room);
    PROMISE(*out != NULL);
    size_t size = key ? roast_str_redact_name(*out, room, text, key)
                      : roast_str_redact(*out, room, text);
    PROMISE(size < room);
    PROMISE(roast_str_may_hold_secret(text) ||
            (size == text.size_bytes && memcmp(*out, text.data, size) == 0));
    return size;
}

static void check(struct roast_str text, const unsigned char *key)
{
    char *clean = NULL;

    (void)redact(&clean, text, key);
    free(clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static const unsigned char key[ROAST_NAME_KEY_BYTES] = {1};
    static const char secret[] = "\npassword=zq7SECRETzq7\n";
    char *text = malloc(size_bytes + sizeof(secret));
    char *out = NULL;

    PROMISE(text != NULL);
    if (size_bytes > 0)
        memcpy(text, data, size_bytes);
    memcpy(text + size_bytes, secret, sizeof(secret));
    check((struct roast_str){text, size_bytes}, NULL);
    check((struct roast_str){text, size_bytes}, key);
    size_t all_bytes = size_bytes + sizeof(secret) - 1;
    size_t size = redact(&out, (struct roast_str){text, all_bytes}, NULL);
    PROMISE(!memmem(out, size, "zq7SECRETzq7", 12) ||
            memmem(data, size_bytes, "zq7SECRETzq7", 12));
    free(out);
    free(text);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c - names of datasets and files without secrets. */
#include "probe/chunk/names.h"

#include "probe/chunk/process.h"
#include "probe/chunk/thread.h"

static size_t copy(char *out, size_t out_bytes, struct roast_str text)
{
    size_t fit = text.size_bytes < out_bytes ? text.size_bytes : out_bytes;

    if (fit > 0)
        memcpy(out, text.data, fit);
    return fit;
}

static void keep(struct roast_kept_names *names, struct roast_str given,
                 struct roast_str clean, const unsigned char *key)
{
    if (given.size_bytes > ROAST_KEPT_NAME_BYTES ||
        clean.size_bytes > ROAST_KEPT_NAME_BYTES)
        return;
    unsigned at = names->next;
    names->next = (at + 1) % ROAST_KEPT_NAMES;
    memcpy(names->items[at].key, key, ROAST_NAME_KEY_BYTES);
    names->items[at].given_bytes =
        copy(names->items[at].given, ROAST_KEPT_NAME_BYTES, given);
    names->items[at].clean_bytes =
        copy(names->items[at].clean, ROAST_KEPT_NAME_BYTES, clean);
}

size_t roast__names_redact(struct roast_kept_names *names, char *out, size_t out_bytes,
                           struct roast_str name,
                           const unsigned char key[ROAST_NAME_KEY_BYTES])
{
    if (!roast_str_may_hold_secret(name))
        return copy(out, out_bytes, name);
    for (int i = 0; i < ROAST_KEPT_NAMES; i++) {
        if (names->items[i].given_bytes == name.size_bytes &&
            memcmp(names->items[i].given, name.data, name.size_bytes) == 0 &&
            memcmp(names->items[i].key, key, ROAST_NAME_KEY_BYTES) == 0)
            return copy(
                out, out_bytes,
                (struct roast_str){names->items[i].clean, names->items[i].clean_bytes});
    }
    names->redactions++;
    size_t size = roast_str_redact_name(out, out_bytes, name, key);
    if (size < out_bytes) /* else it was cut */
        keep(names, name, (struct roast_str){out, size}, key);
    return size;
}

size_t roast_thread_redact_name(roast_thread *thread, char *out, size_t out_bytes,
                                struct roast_str name)
{
    const struct roast_attempt *attempt = &thread->attempt;
    const unsigned char *key =
        attempt->depth > 0 ? attempt->name_key : roast_name_key();

    return name.data ? roast__names_redact(&thread->names, out, out_bytes, name, key)
                     : 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - cutting text between characters, and taking secrets out of URLs. */
#include "roast/text.h"

#include <stdbool.h>

struct roast_str roast_str_cut(struct roast_str str, size_t max_bytes)
{
    if (str.size_bytes > max_bytes) {
        str.size_bytes = max_bytes;
        while (str.size_bytes > 0 &&
               ((unsigned char)str.data[str.size_bytes] & 0xc0) == 0x80)
            str.size_bytes--;
    }
    return str;
}

/* Only a blank ends a URL: passwords and queries may hold any other character, and to
 * drop a bracket too many is better than to keep half a secret. */
static bool ends_url(char c)
{
    return (unsigned char)c <= ' ';
}

static bool ends_authority(char c)
{
    return c == '/' || c == '?' || c == '#';
}

/* Where the host begins: after the last '@' before the path. A password may hold any
 * character but these, so the whole stretch up to the '@' goes. */
static size_t skip_user_info(struct roast_str text, size_t from)
{
    size_t host = from;

    for (size_t i = from; i < text.size_bytes && !ends_url(text.data[i]) &&
                          !ends_authority(text.data[i]);
         i++) {
        if (text.data[i] == '@')
            host = i + 1;
    }
    return host;
}

static size_t skip_to_end(struct roast_str text, size_t from)
{
    while (from < text.size_bytes && !ends_url(text.data[from]))
        from++;
    return from;
}

struct sink {
    char *out;
    size_t left_bytes;
};

static void sink_put(struct sink *sink, const char *bytes, size_t size_bytes)
{
    size_t fit = size_bytes < sink->left_bytes ? size_bytes : sink->left_bytes;

    memcpy(sink->out, bytes, fit);
    sink->out += fit;
    sink->left_bytes -= fit;
}

static bool starts_authority(struct roast_str text, size_t at)
{
    return text.size_bytes - at >= 3 && memcmp(text.data + at, "://", 3) == 0;
}

/* Copies one URL from its "://" on; returns where it ends in text. A URL in the path of
 * another, as caches have them, is treated the same way. */
static size_t copy_url(struct sink *sink, struct roast_str text, size_t at)
{
    while (at < text.size_bytes && !ends_url(text.data[at])) {
        if (text.data[at] == '?' || text.data[at] == '#')
            return skip_to_end(text, at);
        if (starts_authority(text, at)) {
            sink_put(sink, "://", 3);
            at = skip_user_info(text, at + 3);
        } else {
            sink_put(sink, text.data + at++, 1);
        }
    }
    return at;
}

size_t roast_str_redact(char *out, size_t out_bytes, struct roast_str text)
{
    struct sink sink = {out, out_bytes};
    size_t at = 0;

    while (at < text.size_bytes) {
        const char *hit = memchr(text.data + at, ':', text.size_bytes - at);
        size_t colon = hit ? (size_t)(hit - text.data) : text.size_bytes;
        sink_put(&sink, text.data + at, colon - at);
        at = colon;
        if (at < text.size_bytes && starts_authority(text, at))
            at = copy_url(&sink, text, at);
        else if (at < text.size_bytes)
            sink_put(&sink, text.data + at++, 1);
    }
    return out_bytes - sink.left_bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* endpoints.c - where bytes came from.
 *
 *     count, then per endpoint: name length, name, mask, numbers (entries.h): requests,
 *     ranges, bytes, wait ns, errors, seeks, bins of sizes, bins of waits
 *
 * "/d", two requests of one range, 300 bytes:
 *     01  02 2F 64  07 02 02 AC 02 */
#include "record/entries.h"
#include "roast/ladder.h"

enum {
    REQUESTS,
    RANGES,
    BYTES,
    WAIT_NS,
    ERRORS,
    SEEKS,
    SIZES,
    WAITS = (int)SIZES + (int)ROAST_SIZE_BINS,
    NUMBERS = (int)WAITS + (int)ROAST_WAIT_BINS
};

_Static_assert(NUMBERS <= 64, "a mask has 64 bits");

static void put_endpoint(struct roast_byte_writer *out,
                         const struct roast_endpoint *endpoint)
{
    uint64_t numbers[NUMBERS] = {
        [REQUESTS] = endpoint->requests, [RANGES] = endpoint->ranges,
        [BYTES] = endpoint->bytes,       [WAIT_NS] = endpoint->wait_ns,
        [ERRORS] = endpoint->errors,     [SEEKS] = endpoint->seeks,
    };

    for (int i = 0; i < ROAST_SIZE_BINS; i++)
        numbers[SIZES + i] = endpoint->sizes[i];
    for (int i = 0; i < ROAST_WAIT_BINS; i++)
        numbers[WAITS + i] = endpoint->waits[i];
    roast__name_put(out, endpoint->name);
    roast__numbers_put(out, numbers, roast__numbers_mask(numbers, NUMBERS));
}

int64_t roast_endpoints_write(void *out, size_t out_bytes,
                              const struct roast_endpoint *all, size_t count,
                              roast_error *err)
{
    struct roast_byte_writer sink = roast__byte_writer(out, out_bytes);

    roast__write_varint(&sink, count);
    for (size_t i = 0; i < count && !sink.full; i++)
        put_endpoint(&sink, &all[i]);
    return roast__written_bytes(&sink, out, "endpoints", err);
}

static uint32_t count_of(uint64_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static struct roast_endpoint read_endpoint(struct roast_cursor *cur)
{
    uint64_t numbers[NUMBERS];
    struct roast_str name = roast__name_read(cur);

    (void)roast__numbers_read(cur, numbers, NUMBERS);
    struct roast_endpoint endpoint = {
        .name = name,
        .requests = numbers[REQUESTS],
        .ranges = numbers[RANGES],
        .bytes = numbers[BYTES],
        .wait_ns = numbers[WAIT_NS],
        .errors = numbers[ERRORS],
        .seeks = numbers[SEEKS],
    };
    for (int i = 0; i < ROAST_SIZE_BINS; i++)
        endpoint.sizes[i] = count_of(numbers[SIZES + i]);
    for (int i = 0; i < ROAST_WAIT_BINS; i++)
        endpoint.waits[i] = count_of(numbers[WAITS + i]);
    return endpoint;
}

int64_t roast_endpoints_read(struct roast_endpoint *out, size_t max,
                             struct roast_str blob, roast_error *err)
{
    struct roast_cursor cur = roast__cursor(blob.data, blob.size_bytes);
    uint64_t count = roast__cursor_varint(&cur);

    for (uint64_t i = 0; i < count && !cur.failed; i++) {
        struct roast_endpoint endpoint = read_endpoint(&cur);
        if (i < max && !cur.failed)
            out[i] = endpoint;
    }
    if (cur.failed)
        return roast_error_set(err, ROAST_BAD_DATA, "endpoints of %zu bytes",
                               blob.size_bytes);
    return (int64_t)count;
}

/* ---- names -------------------------------------------------------------------- */

static struct roast_str part(struct roast_str str, size_t from, size_t stop)
{
    return (struct roast_str){str.data + from, stop - from};
}

/* The position of the first of these characters at or after `from`, or the end. */
static size_t find_any(struct roast_str str, size_t from, const char *characters)
{
    while (from < str.size_bytes &&
           !(str.data[from] && strchr(characters, str.data[from])))
        from++;
    return from;
}

static bool is_scheme(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '+' || c == '-' || c == '.';
}

/* The position of the first "://", or the end. */
static size_t find_authority(struct roast_str file)
{
    size_t at = find_any(file, 0, ":");

    while (at < file.size_bytes &&
           (file.size_bytes - at < 3 || memcmp(file.data + at, "://", 3) != 0))
        at = find_any(file, at + 1, ":");
    return at;
}

/* The first two folders of an absolute path, if it has them. */
static struct roast_str folders(struct roast_str path)
{
    size_t stop = 0;

    for (int i = 0; i < 2; i++) {
        size_t from = stop;
        while (from < path.size_bytes && path.data[from] == '/')
            from++;
        size_t slash = find_any(path, from, "/");
        if (slash == path.size_bytes) /* that is the file */
            break;
        stop = slash;
    }
    return part(path, 0, stop > 0 ? stop : 1);
}

/* A scheme before another, as in `simplecache::root://host/`, is not part of the name.
 * A user name before the host is removed together with the scheme. */
static struct roast_str url_endpoint(struct roast_str file, size_t colon)
{
    size_t scheme = colon;
    size_t host = colon + 3;
    size_t stop = find_any(file, host, "/?#");

    while (scheme > 0 && is_scheme(file.data[scheme - 1]))
        scheme--;
    if (stop == host && stop < file.size_bytes && file.data[stop] == '/')
        return folders(part(file, stop, file.size_bytes));
    for (size_t i = host; i < stop; i++) {
        if (file.data[i] == '@')
            scheme = host = i + 1;
    }
    return host < stop ? part(file, scheme, stop) : roast_str_of("unknown");
}

struct roast_str roast_endpoint_of(struct roast_str file)
{
    if (!file.data || file.size_bytes == 0)
        return roast_str_of("unknown");
    if (file.data[0] == '/')
        return folders(file);
    size_t colon = find_authority(file);
    return colon < file.size_bytes ? url_endpoint(file, colon) : roast_str_of(".");
}

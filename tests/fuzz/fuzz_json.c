/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_json.c - any bytes as JSON: the same tokens however they are cut, and a copy that
 * is JSON again and copies to itself.
 *
 * The first byte of the input says how large the pieces are, 0 all at once. */
#include <string.h>

#include "collect/json_walk.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { MOST_COPY_BYTES = 1 << 20 };

/* Input that is given in pieces. */
struct input {
    const uint8_t *bytes;
    size_t size_bytes;
    size_t piece_bytes;
};

static int64_t give(void *context, void *out, size_t out_bytes)
{
    struct input *input = context;
    size_t size = input->size_bytes < out_bytes ? input->size_bytes : out_bytes;

    if (input->piece_bytes > 0 && size > input->piece_bytes)
        size = input->piece_bytes;
    if (size > 0)
        memcpy(out, input->bytes, size);
    input->bytes += size;
    input->size_bytes -= size;
    return (int64_t)size;
}

static bool same(const struct roast_json_token *a, const struct roast_json_token *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->size == b->size &&
           memcmp(&a->number, &b->number, sizeof(a->number)) == 0 &&
           a->text.size_bytes == b->text.size_bytes &&
           (a->text.size_bytes == 0 ||
            memcmp(a->text.data, b->text.data, a->text.size_bytes) == 0);
}

/* Both readers give the same to the end. */
static void check_pieces(struct input whole, struct input pieces, bool lax)
{
    struct roast_json_reader a, b;
    struct roast_json_token one, other;
    roast_error said = {0}, said_too = {0};
    int got;

    PROMISE(roast__json_open(&a, (struct roast_json_source){give, &whole}, "f", lax,
                             NULL) == 0);
    PROMISE(roast__json_open(&b, (struct roast_json_source){give, &pieces}, "f", lax,
                             NULL) == 0);
    do {
        got = roast__json_next(&a, &one, &said);
        PROMISE(roast__json_next(&b, &other, &said_too) == got);
        PROMISE(got != 1 || same(&one, &other));
    } while (got == 1);
    PROMISE(strcmp(said.message, said_too.message) == 0);
    PROMISE(a.replaced == b.replaced);
    roast__json_release(&a);
    roast__json_release(&b);
}

/* Copies a document; false if it is none, or none that fits. */
static bool copy_of(struct roast_json_copy *copy, struct input input, bool lax)
{
    struct roast_json_reader in;
    struct roast_json_token value;
    int got =
        roast__json_open(&in, (struct roast_json_source){give, &input}, "f", lax, NULL);

    copy->max_bytes = MOST_COPY_BYTES;
    if (got == 0)
        got = roast__json_next(&in, &value, NULL);
    if (got == 1)
        got = roast__json_copy(copy, &in, &value, NULL);
    bool copied = got == 1 && roast__json_next(&in, &value, NULL) == 0;
    roast__json_release(&in);
    return copied;
}

static void check_copy(struct input input)
{
    struct roast_json_copy first = {.max_bytes = 0}, second = {.max_bytes = 0};

    if (copy_of(&first, input, true) && first.out.size_bytes < MOST_COPY_BYTES / 2) {
        struct input again = {first.out.data, first.out.size_bytes, 3};
        PROMISE(copy_of(&second, again, true));
        PROMISE(second.nonfinite == 0);
        PROMISE(first.out.size_bytes == second.out.size_bytes);
        PROMISE(memcmp(first.out.data, second.out.data, first.out.size_bytes) == 0);
    }
    roast__json_copy_release(&first);
    roast__json_copy_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    if (size_bytes == 0)
        return 0;
    struct input whole = {data + 1, size_bytes - 1, 0};
    struct input pieces = {data + 1, size_bytes - 1, data[0] % 8};
    check_pieces(whole, pieces, true);
    check_pieces(whole, pieces, false);
    check_copy(whole);
    return 0;
}

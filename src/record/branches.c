/* SPDX-License-Identifier: BSD-3-Clause */
/* branches.c - what was read, by branch, and the sizes of the branches of a file.
 *
 *     count, then per branch: name length, name, mask, numbers (entries.h): flags,
 *     reads, bytes, uncompressed bytes, ns, bytes in the file, uncompressed bytes in
 *     the file, baskets in the file; the two before the last are there together or not
 *     at all, zero or not
 *
 * "pt", its values used, read once, 300 bytes:
 *     01  02 70 74  07 01 01 AC 02 */
#include "roast/ladder.h"

#include "record/entries.h"

enum {
    FLAGS,
    READS,
    BYTES,
    UNCOMPRESSED,
    NS,
    FILE_BYTES,
    FILE_UNCOMPRESSED,
    BASKETS,
    NUMBERS
};
static const uint64_t sizes_mask = 1 << FILE_BYTES | 1 << FILE_UNCOMPRESSED;

static void put_branch(struct roast_byte_writer *out, const struct roast_branch *branch)
{
    const uint64_t numbers[NUMBERS] = {
        [FLAGS] = branch->flags,
        [READS] = branch->reads,
        [BYTES] = branch->bytes,
        [UNCOMPRESSED] = branch->uncompressed_bytes,
        [NS] = branch->ns,
        [FILE_BYTES] = branch->file_bytes,
        [FILE_UNCOMPRESSED] = branch->file_uncompressed_bytes,
        [BASKETS] = branch->baskets,
    };
    uint64_t mask = roast__numbers_mask(numbers, NUMBERS) & ~sizes_mask;

    roast__name_put(out, branch->name);
    roast__numbers_put(out, numbers, branch->sizes_known ? mask | sizes_mask : mask);
}

int64_t roast_branches_write(void *out, size_t out_bytes,
                             const struct roast_branch *all, size_t count,
                             roast_error *err)
{
    struct roast_byte_writer sink = roast__byte_writer(out, out_bytes);

    roast__write_varint(&sink, count);
    for (size_t i = 0; i < count && !sink.full; i++)
        put_branch(&sink, &all[i]);
    return roast__written_bytes(&sink, out, "branches", err);
}

static struct roast_branch read_branch(struct roast_cursor *cur)
{
    uint64_t numbers[NUMBERS];
    struct roast_str name = roast__name_read(cur);
    uint64_t mask = roast__numbers_read(cur, numbers, NUMBERS);
    bool sizes_known = (mask & sizes_mask) == sizes_mask;

    return (struct roast_branch){
        .name = name,
        .flags = (unsigned)numbers[FLAGS],
        .reads = numbers[READS],
        .bytes = numbers[BYTES],
        .uncompressed_bytes = numbers[UNCOMPRESSED],
        .ns = numbers[NS],
        .sizes_known = sizes_known,
        .file_bytes = sizes_known ? numbers[FILE_BYTES] : 0,
        .file_uncompressed_bytes = sizes_known ? numbers[FILE_UNCOMPRESSED] : 0,
        .baskets = numbers[BASKETS],
    };
}

/* Branches that are not read yet. The count is untrusted, the cursor is checked. */
struct reading {
    struct roast_cursor cur;
    uint64_t left;
};

static struct reading open_blob(struct roast_str blob)
{
    struct reading in = {roast__cursor(blob.data, blob.size_bytes), 0};

    in.left = roast__cursor_varint(&in.cur);
    return in;
}

static bool next_branch(struct reading *in, struct roast_branch *branch)
{
    if (in->left == 0 || in->cur.failed)
        return false;
    in->left--;
    *branch = read_branch(&in->cur);
    return !in->cur.failed;
}

static int refuse(struct roast_str blob, roast_error *err)
{
    return roast_error_set(err, ROAST_BAD_DATA, "branches of %zu bytes",
                           blob.size_bytes);
}

int64_t roast_branches_read(struct roast_branch *out, size_t max, struct roast_str blob,
                            roast_error *err)
{
    struct reading in = open_blob(blob);
    struct roast_branch branch;
    size_t count = 0;

    for (; next_branch(&in, &branch); count++) {
        if (count < max)
            out[count] = branch;
    }
    return in.cur.failed ? refuse(blob, err) : (int64_t)count;
}

int roast_access_read(struct roast_access *out, struct roast_str blob, roast_error *err)
{
    struct reading in = open_blob(blob);
    struct roast_branch branch;

    memset(out, 0, sizeof(*out));
    while (next_branch(&in, &branch)) {
        out->offset_branches += roast_branch_is_offsets_only(&branch);
        if (!roast_branch_is_accessed(&branch))
            continue;
        out->branches++;
        out->sized_branches += branch.sizes_known;
        out->file_bytes += branch.file_bytes;
        out->file_uncompressed_bytes += branch.file_uncompressed_bytes;
    }
    if (!in.cur.failed)
        return ROAST_OK;
    memset(out, 0, sizeof(*out));
    return refuse(blob, err);
}

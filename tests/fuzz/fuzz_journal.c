/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_journal.c - any bytes as two journal blocks: they are applied to a run, every
 * entry is applied or counted, and memory stays in proportion to the input.
 *
 * The decoder of live and saved files, without files and checksums. The first byte is
 * the position of the second block, in 255ths. One input in 32 is also summarized. */
#include "base/checksum.h"
#include "fuzz_runs.h"
#include "heap_peak.h"
#include "run/journal/apply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { ALLOWED_BYTES = 1 << 20, ALLOWED_PER_BYTE = 512, SUMMARIZED_OF = 32 };

static void apply_copy(struct roast_apply *apply, const uint8_t *data,
                       size_t size_bytes, bool gap)
{
    char *tight = malloc(size_bytes > 0 ? size_bytes : 1);
    struct roast_str entries = {tight, size_bytes};

    PROMISE(tight);
    if (size_bytes > 0)
        memcpy(tight, data, size_bytes);
    apply->block++;
    PROMISE(roast__apply_block(apply, entries, gap, NULL) == ROAST_OK);
    free(tight);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct roast_apply apply = {0};

    if (size_bytes == 0)
        return 0;
    size_t cut = 1 + (size_bytes - 1) * data[0] / 255;
    peak_install();
    peak_begin();
    PROMISE(roast__apply_start(&apply, 5, 1700000000000000000, NULL) == ROAST_OK);
    apply_copy(&apply, data + 1, cut - 1, false);
    apply_copy(&apply, data + cut, size_bytes - cut, data[0] % 2 == 1);
    PROMISE(apply.entries + apply.unread <= size_bytes);
    PROMISE(peak_taken() <= ALLOWED_PER_BYTE * size_bytes + ALLOWED_BYTES);
    if (roast__crc32c(data, size_bytes) % SUMMARIZED_OF == 0)
        read_whole_run(apply.run);
    roast__apply_release(&apply);
    PROMISE(peak_heap.live_bytes == 0);
    return 0;
}

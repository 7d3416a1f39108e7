/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_summary.c - any bytes as a stored summary: refused, or a summary that encodes to
 * the same bytes after another round, with memory in proportion to the input.
 *
 * One input in 16 is also shown as text and as a card. */
#include <string.h>

#include "analyze/summary.h"
#include "base/checksum.h"
#include "heap_peak.h"
#include "record_checks.h"
#include "roast/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { ALLOWED_BYTES = 128 * 1024, ALLOWED_PER_BYTE = 32, SHOWN_OF = 16 };

static void check_round_trip(const roast_summary *summary)
{
    roast_summary *again = NULL;
    struct roast_buf first = {0}, second = {0};

    roast__summary_encode(&first, summary);
    PROMISE(roast__buf_ok(&first));
    struct roast_str bytes = {(const char *)first.data, first.size_bytes};
    PROMISE(roast__summary_decode(&again, bytes, NULL) == ROAST_OK);
    roast__summary_encode(&second, again);
    PROMISE(first.size_bytes == second.size_bytes);
    PROMISE(memcmp(first.data, second.data, first.size_bytes) == 0);
    roast_summary_free(again);
    roast__buf_release(&first);
    roast__buf_release(&second);
}

static void show(const roast_summary *summary)
{
    struct roast_page page = {0};

    PROMISE(roast_report_text(&page, summary, NULL, NULL) == ROAST_OK);
    roast_page_release(&page);
    PROMISE(roast_report_card(&page, summary, NULL, NULL) == ROAST_OK);
    roast_page_release(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char *tight = malloc(size_bytes > 0 ? size_bytes : 1);
    roast_summary *summary = NULL;
    roast_error err = {0};

    PROMISE(tight);
    if (size_bytes > 0)
        memcpy(tight, data, size_bytes);
    peak_install();
    peak_begin();
    int status =
        roast__summary_decode(&summary, (struct roast_str){tight, size_bytes}, &err);
    PROMISE(status == err.code);
    PROMISE(peak_taken() <= ALLOWED_PER_BYTE * size_bytes + ALLOWED_BYTES);
    free(tight);
    if (status == ROAST_OK)
        check_round_trip(summary);
    if (status == ROAST_OK && roast__crc32c(data, size_bytes) % SHOWN_OF == 0)
        show(summary);
    roast_summary_free(summary);
    PROMISE(peak_heap.live_bytes == 0);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* verdict_reads.c - rules about reading: waiting for data, unpacking it, reading what
 * nobody looks at.
 *
 * Waiting for a file of this machine is seldom its disk: bytes that the page cache had
 * are handed over between threads, which takes about as long as reading them does. What
 * takes longer comes from far away all the same, as a mounted folder may. */
#include "aggregate/verdict_limits.h"
#include "aggregate/verdict_text.h"

/* ---- waiting for data ------------------------------------------------------------ */

/* The endpoint with the longest wait. */
static size_t slowest(const struct roast_table *endpoints)
{
    size_t found = 0;

    for (size_t row = 1; row < endpoints->row_count; row++) {
        if (roast__case_number(endpoints, row, "wait_seconds") >
            roast__case_number(endpoints, found, "wait_seconds"))
            found = row;
    }
    return found;
}

static bool is_local(struct roast_str endpoint)
{
    return endpoint.size_bytes > 0 &&
           (endpoint.data[0] == '/' || endpoint.data[0] == '.');
}

/* Whether at least half of the bytes came from a disk; unknown is no. */
static bool from_disk(const struct roast_case *at, double bytes)
{
    double rate = roast__case_metric(at, ROAST_METRIC_disk_read_bps_avg);

    return rate * at->wall_s > bytes / 2;
}

/* Whether bytes of an endpoint only went from thread to thread. */
static bool is_hand_over(const struct roast_case *at,
                         const struct roast_table *endpoints, size_t row)
{
    double wait_s = roast__case_number(endpoints, row, "wait_seconds");
    double reads = roast__case_number(endpoints, row, "ranges");

    return is_local(roast__case_text(endpoints, row, "endpoint")) &&
           !from_disk(at, roast__case_number(endpoints, row, "bytes")) &&
           wait_s * 1e3 < LIMIT_HAND_OVER_MS * reads;
}

static bool any_preloaded(const struct roast_case *at)
{
    const struct roast_table *costs = roast__case_table(at, "branch_costs");

    for (size_t row = 0; costs && row < costs->row_count; row++) {
        if (roast__case_flag(costs, row, "preloaded"))
            return true;
    }
    return false;
}

/* Columns in bulk, where they were fetched one by one and it is known which. */
static void tell_bulk(const struct roast_case *at, struct roast_finding *finding,
                      double request_bytes)
{
    const struct roast_table *preload = roast__case_table(at, "preload");

    if (!(request_bytes < LIMIT_SMALL_REQUEST_KB * 1e3) || any_preloaded(at) ||
        !preload || preload->row_count == 0)
        return;
    roast__say_preload(at, finding, "columns");
    roast__say_made(finding, "preload",
                    "; requests are small: fetch columns in bulk, preload={columns}");
}

static void tell_endpoint(const struct roast_case *at, struct roast_finding *finding)
{
    const struct roast_table *endpoints = roast__case_table(at, "per_endpoint");
    size_t row = endpoints ? slowest(endpoints) : 0;
    struct roast_str name = roast__case_text(endpoints, row, "endpoint");
    double bytes = roast__case_number(endpoints, row, "bytes");
    double request_bytes = roast__case_number(endpoints, row, "mean_request_bytes");
    double wait_s = roast__case_number(endpoints, row, "wait_seconds");

    roast__say_text(finding, "endpoint", name.data ? name : roast_str_of("files"));
    if (!(bytes > 0)) {
        finding->evidence = "{wait} waiting for data of columns";
        return;
    }
    roast__say(finding, "bytes", bytes, "B");
    roast__say(finding, "rate", bytes / (wait_s > 0 ? wait_s : finding->cost_s), "B/s");
    roast__say_count(finding, "requests",
                     roast__case_number(endpoints, row, "requests"), "request");
    roast__say(finding, "request_bytes", request_bytes, "B");
    if (is_hand_over(at, endpoints, row))
        finding->advice =
            "the disk is not slow, bytes are handed from thread to thread: "
            "uproot_options=dict(handler=uproot.MemmapSource) in runner.run()";
    else
        tell_bulk(at, finding, request_bytes);
}

void roast__rule_waiting_for_data(const struct roast_case *at,
                                  struct roast_finding *finding)
{
    double opening_s = roast__case_metric(at, ROAST_METRIC_storage_wait_seconds);

    roast__claim(at, finding, ROAST_SLICE_fetch);
    finding->cost_s += opening_s > 0 ? opening_s : 0;
    if (opening_s > 0)
        finding->claims |= UINT64_C(1) << ROAST_SLICE_open | UINT64_C(1)
                                                                 << ROAST_SLICE_form;
    finding->found = roast__is_worth(at, finding->cost_s) &&
                     roast__percent_inside(at, finding->cost_s) >= LIMIT_WAIT_PERCENT;
    if (!finding->found)
        return;
    roast__say(finding, "wait", finding->cost_s, "s");
    tell_endpoint(at, finding);
}

/* ---- unpacking ------------------------------------------------------------------- */

static bool is_one_of(struct roast_str text, const char *const *words)
{
    for (; *words; words++) {
        if (strlen(*words) == text.size_bytes &&
            memcmp(text.data, *words, text.size_bytes) == 0)
            return true;
    }
    return false;
}

/* The codec of most files, as it was told of the first of them. */
static struct roast_str codec_of(const struct roast_case *at)
{
    const struct roast_table *files = roast__case_table(at, "file_metadata");
    struct roast_str codec = {NULL, 0};

    for (size_t row = 0; files && !codec.data && row < files->row_count; row++)
        codec = roast__case_text(files, row, "codec");
    return codec;
}

void roast__rule_decompression(const struct roast_case *at,
                               struct roast_finding *finding)
{
    static const char *const quick[] = {"zstd", "lz4", "snappy", NULL};
    struct roast_str codec = codec_of(at);

    roast__claim(at, finding, ROAST_SLICE_decompress);
    double percent = roast__percent_inside(at, finding->cost_s);
    finding->found =
        roast__is_worth(at, finding->cost_s) && percent >= LIMIT_DECOMPRESS_PERCENT;
    if (!finding->found)
        return;
    roast__say(finding, "seconds", finding->cost_s, "s");
    roast__say(finding, "percent", percent, "%");
    roast__say_text(finding, "codec", codec.data ? codec : roast_str_of("baskets"));
    if (codec.data && is_one_of(codec, quick))
        finding->advice = "read fewer columns: get_metrics()['branch_costs'] has what "
                          "each costs; {codec} is quick already";
}

/* ---- unused columns -------------------------------------------------------------- */

void roast__rule_unused_columns(const struct roast_case *at,
                                struct roast_finding *finding)
{
    const struct roast_table *costs = roast__case_table(at, "branch_costs");
    double unused = 0, columns = 0, bytes = 0, seconds = 0;

    for (size_t row = 0; costs && row < costs->row_count; row++) {
        double own_bytes = roast__case_number(costs, row, "bytes");
        double own_s = roast__case_number(costs, row, "seconds");
        if (!roast__case_flag(costs, row, "preloaded"))
            continue;
        columns++;
        if (roast__case_flag(costs, row, "accessed") ||
            roast__case_flag(costs, row, "offsets_only"))
            continue;
        unused++;
        bytes += own_bytes > 0 ? own_bytes : 0;
        seconds += own_s > 0 ? own_s : 0;
    }
    finding->cost_s = seconds;
    finding->found = unused > 0 && roast__is_worth(at, seconds);
    if (!finding->found)
        return;
    finding->claims = UINT64_C(1) << ROAST_SLICE_fetch |
                      UINT64_C(1) << ROAST_SLICE_decompress |
                      UINT64_C(1) << ROAST_SLICE_interpret;
    roast__say(finding, "unused", unused, "");
    roast__say(finding, "columns", columns, "");
    roast__say(finding, "bytes", bytes, "B");
    roast__say(finding, "seconds", seconds, "s");
    roast__say_preload(at, finding, "preload");
}

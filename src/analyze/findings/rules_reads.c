/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_reads.c - rules about reading: waiting for data, unpacking it, reading what
 * the analysis does not use.
 *
 * Waiting for a file of this machine is seldom its disk: bytes that the page cache had
 * are passed between threads, which takes about as long as reading them does. What
 * takes longer comes from far away all the same, as a mounted folder may. */
#include "analyze/findings/rule_limits.h"
#include "analyze/findings/text.h"
#include "base/str.h"
#include "roast/ladder.h"

/* ---- waiting for data ------------------------------------------------------------ */

/* The endpoint with the longest wait, and how long that is. */
struct slowest {
    const roast_table *endpoints;
    size_t row;
    double own_s;
    double all_s; /* of all endpoints */
};

/* Whether the wait is that of one endpoint, all in all. */
static bool is_most(const struct slowest *found)
{
    return roast_table_rows(found->endpoints) == 1 || found->own_s * 2 > found->all_s;
}

static bool is_local(struct roast_str endpoint)
{
    return endpoint.size_bytes > 0 &&
           (endpoint.data[0] == '/' || endpoint.data[0] == '.');
}

/* Whether at least half of the bytes came from a disk; unknown is no. */
static bool from_disk(const struct roast_rule_input *at, double bytes)
{
    double rate = roast__input_metric(at, ROAST_METRIC_disk_read_bps_avg);

    return rate * at->wall_s > bytes / 2;
}

/* Whether bytes of an endpoint only went from thread to thread. */
static bool is_from_cache(const struct roast_rule_input *at,
                          const struct slowest *found)
{
    const roast_table *endpoints = found->endpoints;
    double reads =
        roast_table_number(endpoints, found->row, ROAST_COL_endpoints_ranges);

    return is_local(
               roast_table_text(endpoints, found->row, ROAST_COL_endpoints_endpoint)) &&
           !from_disk(at, roast_table_number(endpoints, found->row,
                                             ROAST_COL_endpoints_bytes)) &&
           found->own_s * 1e3 < LIMIT_CACHED_READ_MS * reads;
}

static bool any_preloaded(const struct roast_rule_input *at)
{
    const roast_table *costs = at->ctx->summary->tables[ROAST_TABLE_branch_costs];

    for (size_t row = 0; costs && row < roast_table_rows(costs); row++) {
        if (roast_table_flag(costs, row, ROAST_COL_branch_costs_preloaded))
            return true;
    }
    return false;
}

/* Its own seconds beside those of all: attempts that failed asked it too, so that it may
 * have taken more than chunks waited. */
static void blank_wait(struct roast_finding *finding, const struct slowest *found)
{
    struct roast_str name =
        roast_table_text(found->endpoints, found->row, ROAST_COL_endpoints_endpoint);
    double bytes =
        roast_table_number(found->endpoints, found->row, ROAST_COL_endpoints_bytes);
    bool is_alone = roast_table_rows(found->endpoints) == 1;
    double own_s = is_alone ? finding->cost_s : fmin(found->own_s, finding->cost_s);

    roast__blank_text(finding, is_most(found) ? "from" : "longest", name);
    roast__blank_number(finding, "own", own_s, "s");
    roast__blank_number(finding, "bytes", bytes, "B");
    roast__blank_number(finding, "rate", bytes / own_s, "B/s");
    roast__blank_count(
        finding, "requests",
        roast_table_number(found->endpoints, found->row, ROAST_COL_endpoints_requests),
        "request");
    if (is_alone)
        return;
    roast__blank_count(finding, "places", (double)roast_table_rows(found->endpoints),
                       "endpoint");
    roast__blank_pattern(finding, "all", ", of {wait} for {places} in all");
    if (!is_most(found))
        finding->evidence =
            "{wait} waiting for data from {places}; the longest for {longest}: {own} "
            "for {bytes} ({rate} per thread), {requests} of {request_bytes}";
}

void roast__rule_waiting_for_data(const struct roast_rule_input *at,
                                  struct roast_finding *finding)
{
    double opening_s = roast__input_metric(at, ROAST_METRIC_storage_wait_seconds);

    roast__add_cost(at, finding, ROAST_SLICE_fetch);
    finding->cost_s += opening_s > 0 ? opening_s : 0;
    if (opening_s > 0)
        finding->cost_slices |=
            UINT64_C(1) << ROAST_SLICE_open | UINT64_C(1) << ROAST_SLICE_form;
    finding->found = roast__is_worth(at, finding->cost_s) &&
                     roast__percent_inside(at, finding->cost_s) >= LIMIT_WAIT_PERCENT;
    if (!finding->found)
        return;
    roast__blank_number(finding, "wait", finding->cost_s, "s");
    struct slowest found = {.endpoints =
                                at->ctx->summary->tables[ROAST_TABLE_endpoints]};
    size_t count = found.endpoints ? roast_table_rows(found.endpoints) : 0;
    for (size_t row = 0; row < count; row++) {
        double wait_s =
            roast_table_number(found.endpoints, row, ROAST_COL_endpoints_wait_seconds);
        if (!(wait_s > 0))
            continue;
        found.all_s += wait_s;
        if (wait_s > found.own_s) {
            found.own_s = wait_s;
            found.row = row;
        }
    }
    double request_bytes = roast_table_number(found.endpoints, found.row,
                                              ROAST_COL_endpoints_mean_request_bytes);
    if (!(roast_table_number(found.endpoints, found.row, ROAST_COL_endpoints_bytes) >
          0))
        return;
    blank_wait(finding, &found);
    roast__blank_number(finding, "request_bytes", request_bytes, "B");
    if (is_most(&found) && is_from_cache(at, &found))
        finding->advice =
            "the disk is not slow, the time goes into passing bytes between threads: "
            "uproot_options=dict(handler=uproot.MemmapSource) in runner.run()";
    else {
        /* Columns in bulk, where they were fetched one by one and it is known which. */
        const roast_table *preload = at->ctx->summary->tables[ROAST_TABLE_preload];
        if (!(request_bytes < LIMIT_SMALL_REQUEST_KB * 1e3) || any_preloaded(at) ||
            !preload || roast_table_rows(preload) == 0)
            return;
        roast__blank_preload(at, finding, "columns");
        roast__blank_pattern(
            finding, "preload",
            "; requests are small: fetch columns in bulk, preload={columns}");
    }
}

/* ---- unpacking ------------------------------------------------------------------- */

/* The codec of most files. */
static struct roast_str codec_of(const struct roast_rule_input *at)
{
    const roast_table *files = at->ctx->summary->tables[ROAST_TABLE_file_metadata];
    struct roast_str found = {NULL, 0};
    size_t most = 0;

    for (unsigned i = ROAST_CODEC_UNKNOWN + 1; files && i < ROAST_CODEC_COUNT; i++) {
        const char *codec = roast_codec_name(i);
        size_t count = roast__table_count(files, ROAST_COL_file_metadata_codec, codec);
        if (count > most) {
            most = count;
            found = roast_str_of(codec);
        }
    }
    return found;
}

void roast__rule_decompression(const struct roast_rule_input *at,
                               struct roast_finding *finding)
{
    static const char *const quick[] = {"zstd", "lz4", "snappy", NULL};
    struct roast_str codec = codec_of(at);

    roast__add_cost(at, finding, ROAST_SLICE_decompress);
    double percent = roast__percent_inside(at, finding->cost_s);
    finding->found =
        roast__is_worth(at, finding->cost_s) && percent >= LIMIT_DECOMPRESS_PERCENT;
    if (!finding->found)
        return;
    roast__blank_number(finding, "seconds", finding->cost_s, "s");
    roast__blank_number(finding, "percent", percent, "%");
    roast__blank_text(finding, "codec", codec.data ? codec : roast_str_of("baskets"));
    if (codec.data && roast__str_is_one_of(codec, quick))
        finding->advice = "read fewer columns: get_metrics()['branch_costs'] has what "
                          "each costs; {codec} is quick already";
}

/* ---- unused columns -------------------------------------------------------------- */

void roast__rule_unused_columns(const struct roast_rule_input *at,
                                struct roast_finding *finding)
{
    const roast_table *costs = at->ctx->summary->tables[ROAST_TABLE_branch_costs];
    double unused = 0, columns = 0, bytes = 0, seconds = 0;

    for (size_t row = 0; costs && row < roast_table_rows(costs); row++) {
        double own_bytes = roast_table_number(costs, row, ROAST_COL_branch_costs_bytes);
        double own_s = roast_table_number(costs, row, ROAST_COL_branch_costs_seconds);
        if (!roast_table_flag(costs, row, ROAST_COL_branch_costs_preloaded))
            continue;
        columns++;
        if (roast_table_flag(costs, row, ROAST_COL_branch_costs_accessed) ||
            roast_table_flag(costs, row, ROAST_COL_branch_costs_offsets_only))
            continue;
        unused++;
        bytes += own_bytes > 0 ? own_bytes : 0;
        seconds += own_s > 0 ? own_s : 0;
    }
    finding->cost_s = seconds;
    finding->found = unused > 0 && roast__is_worth(at, seconds);
    if (!finding->found)
        return;
    finding->cost_slices = UINT64_C(1) << ROAST_SLICE_fetch |
                           UINT64_C(1) << ROAST_SLICE_decompress |
                           UINT64_C(1) << ROAST_SLICE_interpret;
    roast__blank_number(finding, "unused", unused, "");
    roast__blank_number(finding, "columns", columns, "");
    roast__blank_number(finding, "bytes", bytes, "B");
    roast__blank_number(finding, "seconds", seconds, "s");
    roast__blank_preload(at, finding, "preload");
}

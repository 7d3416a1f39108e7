/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_reads.c - rules about reading: waiting for data, decompression, unused columns.
 *
 * Waiting for a local file is seldom the disk: bytes in the page cache are passed between
 * threads, which takes about as long as reading them. A slower "local" file is remote: it
 * is in a mounted folder. */
#include "analyze/findings/finding_text.h"
#include "analyze/findings/rule_limits.h"
#include "base/str.h"
#include "roast/ladder.h"

/* ---- waiting for data ------------------------------------------------------------ */

/* The endpoint with the longest wait. */
struct slowest_endpoint {
    const roast_table *endpoints;
    size_t row;
    double wait_s;
    double bytes;
    bool is_most; /* of the wait for all endpoints */
    bool is_local;
};

static struct slowest_endpoint find_slowest(const roast_table *endpoints)
{
    struct slowest_endpoint slowest = {.endpoints = endpoints};
    double all_s = 0;

    for (size_t row = 0; row < roast_table_rows(endpoints); row++) {
        double wait_s =
            roast_table_number(endpoints, row, ROAST_COL_endpoints_wait_seconds);
        all_s += wait_s > 0 ? wait_s : 0;
        if (wait_s > slowest.wait_s) {
            slowest.wait_s = wait_s;
            slowest.row = row;
        }
    }
    slowest.bytes =
        roast_table_number(endpoints, slowest.row, ROAST_COL_endpoints_bytes);
    slowest.is_most = roast_table_rows(endpoints) == 1 || slowest.wait_s * 2 > all_s;
    struct roast_str name =
        roast_table_text(endpoints, slowest.row, ROAST_COL_endpoints_endpoint);
    slowest.is_local =
        name.size_bytes > 0 && (name.data[0] == '/' || name.data[0] == '.');
    return slowest;
}

/* The part of waiting for a local file that is no waiting for a core or for the GIL: the
 * thread that reads waits for them as much as that of the chunk. */
static double undisturbed(const struct roast_rule_input *input)
{
    double gil_s = roast__input_metric(input, ROAST_METRIC_gil_wait_seconds);
    double all,
        waits_s = roast__split_part(input, ROAST_COL_chunk_split_runqueue, &all);

    waits_s = (waits_s > 0 ? waits_s : 0) + (gil_s > 0 ? gil_s : 0);
    return all > 0 ? fmax(0, 1 - waits_s / all) : 1;
}

/* Whether storage was no reason to wait: local, and each read was fast. */
static bool is_quick(const struct roast_rule_input *input,
                     const struct slowest_endpoint *slowest)
{
    double reads = roast_table_number(slowest->endpoints, slowest->row,
                                      ROAST_COL_endpoints_ranges);

    return slowest->is_local &&
           slowest->wait_s * 1e3 * undisturbed(input) < LIMIT_CACHED_READ_MS * reads;
}

/* Whether the bytes came from the page cache: local, not from disk, and fast. */
static bool is_from_cache(const struct roast_rule_input *input,
                          const struct slowest_endpoint *slowest)
{
    double disk_rate = roast__input_metric(input, ROAST_METRIC_disk_read_bps_avg);
    bool from_disk = disk_rate * input->wall_s > slowest->bytes / 2; /* NaN: no */

    return !from_disk && is_quick(input, slowest);
}

static void set_wait(struct roast_finding *finding,
                     const struct slowest_endpoint *slowest)
{
    size_t count = roast_table_rows(slowest->endpoints);
    /* Failed attempts wait too: an endpoint may have taken more than chunks waited. */
    double wait_s =
        count == 1 ? finding->cost_s : fmin(slowest->wait_s, finding->cost_s);

    roast__set_text(finding, slowest->is_most ? "from" : "longest",
                    roast_table_text(slowest->endpoints, slowest->row,
                                     ROAST_COL_endpoints_endpoint));
    roast__set_number(finding, "endpoint_wait", wait_s, "s");
    roast__set_number(finding, "bytes", slowest->bytes, "B");
    roast__set_number(finding, "rate", slowest->bytes / wait_s, "B/s");
    roast__set_count(finding, "requests",
                     roast_table_number(slowest->endpoints, slowest->row,
                                        ROAST_COL_endpoints_requests),
                     "request");
    if (count == 1)
        return;
    roast__set_count(finding, "endpoints", (double)count, "endpoint");
    roast__set_from_pattern(finding, "all", ", of {wait} for {endpoints} in all");
    if (!slowest->is_most)
        finding->evidence =
            "{wait} waiting for data from {endpoints}; the longest for {longest}: "
            "{endpoint_wait} for {bytes} ({rate} per thread), {requests} of "
            "{request_bytes}";
}

void roast__rule_waiting_for_data(const struct roast_rule_input *input,
                                  struct roast_finding *finding)
{
    struct roast_summary *summary = input->ctx->summary;
    double opening_s = roast__input_metric(input, ROAST_METRIC_storage_wait_seconds);

    roast__add_cost(input, finding, ROAST_SLICE_fetch);
    if (opening_s > 0) {
        finding->cost_s += opening_s;
        finding->cost_slices |=
            UINT64_C(1) << ROAST_SLICE_open | UINT64_C(1) << ROAST_SLICE_form;
    }
    struct slowest_endpoint slowest =
        find_slowest(summary->tables[ROAST_TABLE_endpoints]);
    double waits_s = finding->cost_s * (slowest.is_local ? undisturbed(input) : 1);
    finding->found = roast__is_significant(input, waits_s) &&
                     roast__percent_of_chunk_time(input, waits_s) >= LIMIT_WAIT_PERCENT;
    if (!finding->found)
        return;
    const struct roast_schedule_change near = {
        .slices = UINT64_C(1) << ROAST_SLICE_fetch,
        .times = UINT64_C(1) << ROAST_ITEM_storage_wait};
    finding->saves_s = roast__saves(input, &near);
    roast__set_number(finding, "wait", finding->cost_s, "s");
    if (!(slowest.bytes > 0))
        return;
    double request_bytes = roast_table_number(slowest.endpoints, slowest.row,
                                              ROAST_COL_endpoints_mean_request_bytes);
    set_wait(finding, &slowest);
    roast__set_number(finding, "request_bytes", request_bytes, "B");
    if (slowest.is_most && is_from_cache(input, &slowest)) {
        finding->saves_s = NAN; /* mapped pages are not free either */
        finding->advice =
            "each read took less than 5 ms, as from memory; without passing bytes "
            "between threads they may be faster: "
            "uproot_options=dict(handler=uproot.MemmapSource) in the call of the "
            "Runner";
        return;
    }
    /* Columns in bulk, where they were fetched one by one and it is known which. */
    const roast_table *costs = summary->tables[ROAST_TABLE_branch_costs];
    bool preloaded = false;
    for (size_t row = 0; row < roast_table_rows(costs); row++)
        preloaded |= roast_table_flag(costs, row, ROAST_COL_branch_costs_preloaded);
    if (!(request_bytes < LIMIT_SMALL_REQUEST_KB * 1e3) || preloaded ||
        roast_table_rows(summary->tables[ROAST_TABLE_preload]) == 0)
        return;
    roast__set_preload(input, finding, "columns");
    roast__set_from_pattern(
        finding, "preload",
        "; requests are small: fetch columns in bulk, preload={columns}");
    if (slowest.is_most && is_quick(input, &slowest))
        finding->advice =
            "requests are small: fetch columns in bulk, preload={columns}";
}

/* ---- decompression --------------------------------------------------------------- */

/* The part of all reading that goes with the larger chunks that another finding advises:
 * what is read in several chunks now. */
static double goes_with_chunks(const struct roast_rule_input *input)
{
    const struct roast_chunk_model *model = &input->model;
    struct roast_finding chunks = {.saves_s = NAN};
    double fewer = model->chunks - roast__chunk_model_chunks(model, input->best_size);
    double reading_s = input->slices[ROAST_SLICE_fetch] +
                       input->slices[ROAST_SLICE_decompress] +
                       input->slices[ROAST_SLICE_interpret];

    roast__rule_chunks_too_small(input, &chunks);
    return chunks.found ? fmin(1, fewer * model->per_border_s / reading_s) : 0;
}

/* What files rewritten with ZSTD save; of other codecs it is not known. */
static void set_rewritten(const struct roast_rule_input *input,
                          struct roast_finding *finding, const char *codec)
{
    static const char *const deflate[] = {"zlib", "gzip", NULL};
    bool is_lzma = strcmp(codec, "lzma") == 0;
    int remains = is_lzma ? LIMIT_ZSTD_OF_LZMA_PERCENT : LIMIT_ZSTD_OF_ZLIB_PERCENT;
    const struct roast_schedule_change faster = {
        .slices = finding->cost_slices,
        .part = (1 - remains / 100.0) * finding->cost_s /
                input->slices[ROAST_SLICE_decompress]};

    if (is_lzma || roast__str_is_one_of(roast_str_of(codec), deflate))
        finding->saves_s = roast__saves(input, &faster);
}

void roast__rule_decompression(const struct roast_rule_input *input,
                               struct roast_finding *finding)
{
    static const char *const fast[] = {"zstd", "lz4", "snappy", NULL};
    const roast_table *files = input->ctx->summary->tables[ROAST_TABLE_file_metadata];
    const char *codec = "baskets"; /* that of most files */
    size_t most = 0;

    roast__add_cost(input, finding, ROAST_SLICE_decompress);
    double more_s = finding->cost_s * goes_with_chunks(input);
    finding->cost_s -= more_s;
    double percent = roast__percent_of_chunk_time(input, finding->cost_s);
    finding->found = roast__is_significant(input, finding->cost_s) &&
                     percent >= LIMIT_DECOMPRESS_PERCENT;
    if (!finding->found)
        return;
    if (roast__is_significant(input, more_s)) {
        roast__set_number(finding, "larger", more_s, "s");
        roast__set_from_pattern(finding, "more",
                                "; another {larger} goes with larger chunks");
    }
    roast__set_number(finding, "seconds", finding->cost_s, "s");
    roast__set_number(finding, "percent", percent, "%");
    for (unsigned i = ROAST_CODEC_UNKNOWN + 1; i < ROAST_CODEC_COUNT; i++) {
        const char *name = roast_codec_name(i);
        size_t count = roast__table_count(files, ROAST_COL_file_metadata_codec, name);
        if (count > most) {
            most = count;
            codec = name;
        }
    }
    roast__set_text(finding, "codec", roast_str_of(codec));
    set_rewritten(input, finding, codec);
    if (roast__str_is_one_of(roast_str_of(codec), fast))
        finding->advice = "read fewer columns: get_metrics()['branch_costs'] has what "
                          "each costs; {codec} is fast already";
}

/* ---- unused columns -------------------------------------------------------------- */

void roast__rule_unused_columns(const struct roast_rule_input *input,
                                struct roast_finding *finding)
{
    const roast_table *costs = input->ctx->summary->tables[ROAST_TABLE_branch_costs];
    double unused = 0, columns = 0, bytes = 0, seconds = 0;

    for (size_t row = 0; row < roast_table_rows(costs); row++) {
        double column_bytes =
            roast_table_number(costs, row, ROAST_COL_branch_costs_bytes);
        double column_s =
            roast_table_number(costs, row, ROAST_COL_branch_costs_seconds);
        if (!roast_table_flag(costs, row, ROAST_COL_branch_costs_preloaded))
            continue;
        columns++;
        if (roast_table_flag(costs, row, ROAST_COL_branch_costs_accessed) ||
            roast_table_flag(costs, row, ROAST_COL_branch_costs_offsets_only))
            continue;
        unused++;
        bytes += column_bytes > 0 ? column_bytes : 0;
        seconds += column_s > 0 ? column_s : 0;
    }
    finding->cost_s = seconds;
    finding->found = unused > 0 && roast__is_significant(input, seconds);
    if (!finding->found)
        return;
    finding->cost_slices = UINT64_C(1) << ROAST_SLICE_fetch |
                           UINT64_C(1) << ROAST_SLICE_decompress |
                           UINT64_C(1) << ROAST_SLICE_interpret;
    double read_s = input->slices[ROAST_SLICE_fetch] +
                    input->slices[ROAST_SLICE_decompress] +
                    input->slices[ROAST_SLICE_interpret];
    const struct roast_schedule_change fewer = {.slices = finding->cost_slices,
                                                .part = fmin(1, seconds / read_s)};
    finding->saves_s = roast__saves(input, &fewer);
    roast__set_number(finding, "unused", unused, "");
    roast__set_number(finding, "columns", columns, "");
    roast__set_number(finding, "bytes", bytes, "B");
    roast__set_number(finding, "seconds", seconds, "s");
    roast__set_preload(input, finding, "preload");
}

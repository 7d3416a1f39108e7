/* SPDX-License-Identifier: BSD-3-Clause */
/* file_tables.c - the tables of files: their facts, and how much of them was read.
 *
 * A branch counts as read if any chunk of the file used its values, with all its bytes in
 * the file, as in 0.1.2; the requested bytes have their own column. A file that was read
 * with several trees has a row for each. */
#include "analyze/formulas.h"
#include "analyze/reads/file_reads.h"
#include "analyze/tables/job.h"
#include "base/buf.h"
#include "base/mem.h"

/* A mean over files. */
struct mean {
    double sum;
    double count;
};

/* What was read of a file. */
struct share {
    uint64_t branches;
    double bytes; /* NaN: the size of some branch is not known */
    double branches_percent;
    double bytes_percent;
};

static void add_to_mean(struct mean *mean, double value)
{
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

/* ---- facts of files --------------------------------------------------------------- */

/* The name of a file, with its tree if it was read with several. */
static void put_name(roast_table *table, int col,
                     const struct roast_summary_context *ctx,
                     const struct roast_file_read *file)
{
    struct roast_str name = roast__context_text(ctx, file->name);
    struct roast_str tree = roast__context_text(ctx, file->tree);
    struct roast_buf text = {0};

    if (!name.data)
        name = roast_str_of("(unknown)");
    if (!file->among_trees || !tree.data) {
        roast__fill_text(table, col, name);
        return;
    }
    roast__buf_put(&text, name.data, name.size_bytes);
    roast__buf_put(&text, ":", 1);
    roast__buf_put(&text, tree.data, tree.size_bytes);
    ctx->summary->failed |= !roast__buf_ok(&text);
    roast__fill_text(table, col,
                     (struct roast_str){(char *)text.data, text.size_bytes});
    roast__buf_release(&text);
}

#define AT(name) ROAST_COL_file_metadata_##name

static void put_all_metadata(const struct roast_summary_context *ctx,
                             const struct roast_file_reads *reads)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_file_metadata);
    roast_table *ratios =
        roast__summary_open(ctx->summary, ROAST_TABLE_compression_ratios);

    for (size_t i = 0; i < reads->count; i++) {
        double own_ratio = roast_file_ratio(&reads->files[i].facts);
        if (!reads->files[i].has_facts)
            continue;
        const struct roast_file_read *file = &reads->files[i];
        const struct roast_file_facts *facts = &file->facts;
        roast__table_row(table);
        put_name(table, AT(file), ctx, file);
        roast__fill_text(table, AT(filename), roast__context_text(ctx, file->name));
        if (facts->kind != ROAST_FILE_UNKNOWN)
            roast__fill_string(table, AT(kind), roast_file_kind_name(facts->kind));
        if (facts->codec != ROAST_CODEC_UNKNOWN)
            roast__fill_string(table, AT(codec), roast_codec_name(facts->codec));
        if (facts->branches > 0)
            roast__fill_count(table, AT(total_branches), facts->branches);
        if (facts->entries > 0)
            roast__fill_count(table, AT(num_entries), facts->entries);
        if (facts->sizes_known) {
            roast__fill_count(table, AT(total_tree_bytes), facts->compressed_bytes);
            roast__fill_count(table, AT(compressed_bytes), facts->compressed_bytes);
            roast__fill_count(table, AT(uncompressed_bytes), facts->uncompressed_bytes);
            roast__fill_number(table, AT(compression_ratio), roast_file_ratio(facts));
            roast__fill_number(table, AT(compression_factor), roast_file_factor(facts));
        }
        if (own_ratio > 0) {
            roast__table_row(ratios);
            roast__fill_number(ratios, ROAST_COL_compression_ratios_compression_ratio,
                               own_ratio);
        }
    }
}

/* ---- reads ----------------------------------------------------------------------- */

static struct share share_of(const struct roast_file_read *file,
                             const struct roast_file_branch *branches)
{
    const struct roast_file_facts *facts = &file->facts;
    struct share share = {0, 0, NAN, NAN};

    for (size_t i = 0; i < file->branch_count; i++) {
        if (!roast_flags_accessed(branches[i].flags))
            continue;
        share.branches++;
        share.bytes += branches[i].sized ? (double)branches[i].file_bytes : NAN;
    }
    if (file->has_facts && facts->branches > 0)
        share.branches_percent =
            100.0 * (double)share.branches / (double)facts->branches;
    if (file->has_facts && facts->sizes_known && facts->compressed_bytes > 0)
        share.bytes_percent = 100.0 * share.bytes / (double)facts->compressed_bytes;
    return share;
}

#undef AT
#define AT(name) ROAST_COL_file_read_metrics_##name

/* The names of branches with certain flags. */
static void put_names(roast_table *table, int col,
                      const struct roast_file_branch *branches, size_t count,
                      bool (*has_flags)(unsigned flags))
{
    struct roast_buf list = {0};

    for (size_t i = 0; i < count; i++) {
        if (has_flags(branches[i].flags))
            roast__list_add(&list, branches[i].name);
    }
    roast__fill_list(table, col, &list);
}

void roast__summarize_files(const struct roast_summary_context *ctx)
{
    struct roast_file_reads reads = {0};

    if (!roast__file_reads_find(&reads, ctx))
        ctx->summary->failed = true;
    put_all_metadata(ctx, &reads);
    struct mean branch_mean = {0}, byte_mean = {0};
    roast_table *table =
        roast__summary_open(ctx->summary, ROAST_TABLE_file_read_metrics);
    roast_table *percents =
        roast__summary_open(ctx->summary, ROAST_TABLE_bytes_read_percent_per_file);
    for (size_t i = 0; i < reads.count; i++) {
        const struct roast_file_read *file = &reads.files[i];
        if (!file->has_reads)
            continue;
        const struct roast_file_branch *own =
            file->branch_count > 0 ? &reads.branches[file->first_branch] : NULL;
        struct share share = share_of(file, own);
        roast__table_row(table);
        put_name(table, AT(file), ctx, file);
        if (file->has_facts && file->facts.branches > 0)
            roast__fill_count(table, AT(total_branches), file->facts.branches);
        roast__fill_count(table, AT(branches_read), share.branches);
        roast__fill_number(table, AT(branches_read_percent), share.branches_percent);
        if (file->has_facts && file->facts.sizes_known)
            roast__fill_count(table, AT(total_tree_bytes),
                              file->facts.compressed_bytes);
        roast__fill_sum(table, AT(bytes_read), share.bytes);
        roast__fill_number(table, AT(bytes_read_percent), share.bytes_percent);
        if (file->has_bytes || file->requested_bytes > 0)
            roast__fill_sum(table, AT(bytes_requested), file->requested_bytes);
        if (file->seeks > 0)
            roast__fill_sum(table, AT(seeks), file->seeks);
        put_names(table, AT(accessed_branches), own, file->branch_count,
                  roast_flags_accessed);
        put_names(table, AT(offset_branches), own, file->branch_count,
                  roast_flags_offsets_only);
        add_to_mean(&branch_mean, share.branches_percent);
        add_to_mean(&byte_mean, share.bytes_percent);
        if (share.bytes_percent > 0) {
            roast__table_row(percents);
            roast__fill_number(percents,
                               ROAST_COL_bytes_read_percent_per_file_bytes_read_percent,
                               share.bytes_percent);
        }
    }
    roast__context_set(ctx, ROAST_METRIC_avg_branches_read_percent,
                       branch_mean.sum / branch_mean.count);
    roast__context_set(ctx, ROAST_METRIC_avg_bytes_read_percent,
                       byte_mean.sum / byte_mean.count);
    roast__file_reads_release(&reads);
}

/* ---- all branches of files -------------------------------------------------------- */

#undef AT
#define AT(name) ROAST_COL_file_branches_##name

static void put_branches(const struct roast_table_job *job,
                         const struct roast_file_read *file)
{
    int64_t count = roast_branches_read(NULL, 0, file->sizes, NULL);
    struct roast_branch *all =
        count > 0 ? roast__alloc((size_t)count * sizeof(all[0])) : NULL;

    if (all)
        (void)roast_branches_read(all, (size_t)count, file->sizes, NULL);
    else if (count > 0)
        roast__table_fail(job->to);
    for (int64_t i = 0; all && i < count && roast__table_ok(job->to); i++) {
        if (!all[i].sizes_known)
            continue;
        roast__table_row(job->to);
        put_name(job->to, AT(file), job->ctx, file);
        roast__fill_text(job->to, AT(branch), all[i].name);
        roast__fill_count(job->to, AT(compressed_bytes), all[i].file_bytes);
        roast__fill_count(job->to, AT(uncompressed_bytes),
                          all[i].file_uncompressed_bytes);
        if (all[i].baskets == 0)
            continue;
        double baskets = (double)all[i].baskets;
        roast__fill_count(job->to, AT(baskets), all[i].baskets);
        roast__fill_number(job->to, AT(basket_bytes),
                           (double)all[i].file_bytes / baskets);
        if (file->has_facts && file->facts.entries > 0)
            roast__fill_number(job->to, AT(basket_entries),
                               (double)file->facts.entries / baskets);
    }
    roast__free(all);
}

void roast__make_file_branches(const struct roast_table_job *job)
{
    struct roast_file_reads reads = {0};

    if (!roast__file_reads_find(&reads, job->ctx))
        roast__table_fail(job->to);
    for (size_t i = 0; i < reads.count && roast__table_ok(job->to); i++) {
        if (reads.files[i].sizes.data)
            put_branches(job, &reads.files[i]);
    }
    roast__file_reads_release(&reads);
}

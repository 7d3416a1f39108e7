/* SPDX-License-Identifier: BSD-3-Clause */
/* file_tables.c - the tables of files: what they are, and how much of them was read.
 *
 * A branch counts as read when any chunk of the file looked at its values, and with all
 * its bytes in the file, as users of roastcoffea know it; what was really requested is a
 * column of its own. A file that was read with several trees has a row for each. */
#include "analyze/formulas.h"
#include "analyze/reads/file_reads.h"
#include "base/buf.h"

/* Sums over files, and how many those are. */
struct mean {
    double sum;
    double count;
};

/* What was read of a file. */
struct share {
    uint64_t branches;
    double bytes; /* NaN: some branch does not know */
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

/* ---- cells ----------------------------------------------------------------------- */

static struct roast_cell file_cell(const struct roast_study *study,
                                   const struct roast_file_read *file)
{
    const struct roast_string_table *strings = &study->run->strings;
    struct roast_str name = roast__strings_get(strings, file->name);
    struct roast_str tree = roast__strings_get(strings, file->tree);
    struct roast_buf text = {0};

    if (!name.data)
        name = roast_str_of("(unknown)");
    if (!file->among_trees || !tree.data)
        return roast__cell_text(study->summary, name);
    roast__buf_put(&text, name.data, name.size_bytes);
    roast__buf_put(&text, ":", 1);
    roast__buf_put(&text, tree.data, tree.size_bytes);
    study->summary->failed |= !roast__buf_ok(&text);
    struct roast_cell cell = roast__cell_text(
        study->summary, (struct roast_str){(char *)text.data, text.size_bytes});
    roast__buf_release(&text);
    return cell;
}

static struct roast_cell constant_cell(const struct roast_study *study,
                                       const char *text)
{
    return roast__cell_text(study->summary, roast_str_of(text));
}

/* The names of branches whose flags say so. */
static struct roast_cell names_cell(const struct roast_study *study,
                                    const struct roast_file_branch *branches,
                                    size_t count, bool (*say_so)(unsigned flags))
{
    struct roast_cell *items;
    size_t found = 0, used = 0;

    for (size_t i = 0; i < count; i++)
        found += say_so(branches[i].flags);
    struct roast_cell list = roast__cell_list(study->summary, &items, found);
    for (size_t i = 0; i < count && used < list.list.count; i++) {
        if (say_so(branches[i].flags))
            items[used++] = roast__cell_text(study->summary, branches[i].name);
    }
    return list;
}

/* ---- what files are -------------------------------------------------------------- */

static void put_metadata(const struct roast_study *study, size_t table,
                         const struct roast_file_read *file)
{
    struct roast_cell *row = roast__table_row(study->summary, table);
    const struct roast_file_facts *facts = &file->facts;

    row[0] = file_cell(study, file);
    if (facts->kind != ROAST_FILE_UNKNOWN)
        row[1] = constant_cell(study, roast_file_kind_name(facts->kind));
    if (facts->codec != ROAST_CODEC_UNKNOWN)
        row[2] = constant_cell(study, roast_codec_name(facts->codec));
    if (facts->branches > 0)
        row[3] = roast__cell_count(facts->branches);
    if (facts->entries > 0)
        row[4] = roast__cell_count(facts->entries);
    if (!facts->sizes_known)
        return;
    row[5] = roast__cell_count(facts->compressed_bytes);
    row[6] = roast__cell_count(facts->compressed_bytes);
    row[7] = roast__cell_count(facts->uncompressed_bytes);
    row[8] = roast__cell_number(roast_file_ratio(facts));
    row[9] = roast__cell_number(roast_file_factor(facts));
}

static void put_all_metadata(const struct roast_study *study,
                             const struct roast_file_reads *reads)
{
    static const char *const columns[] = {
        "file",
        "kind",
        "codec",
        "total_branches",
        "num_entries",
        "total_tree_bytes",
        "compressed_bytes",
        "uncompressed_bytes",
        "compression_ratio",
        "compression_factor",
    };
    static const char *const ratio[] = {"compression_ratio"};
    size_t table = roast__table_open(study->summary, "file_metadata", ROAST_TABLE_KEYED,
                                     columns, sizeof(columns) / sizeof(columns[0]));
    size_t ratios = roast__table_open(study->summary, "compression_ratios",
                                      ROAST_TABLE_VALUES, ratio, 1);

    for (size_t i = 0; i < reads->count; i++) {
        double own_ratio = roast_file_ratio(&reads->files[i].facts);
        if (!reads->files[i].has_facts)
            continue;
        put_metadata(study, table, &reads->files[i]);
        if (own_ratio > 0)
            *roast__table_row(study->summary, ratios) = roast__cell_number(own_ratio);
    }
}

/* ---- how much was read ----------------------------------------------------------- */

static struct share share_of(const struct roast_file_read *file,
                             const struct roast_file_branch *branches)
{
    const struct roast_file_facts *facts = &file->facts;
    struct share share = {0, 0, NAN, NAN};

    for (size_t i = 0; i < file->branch_count; i++) {
        if (!roast_flags_say_accessed(branches[i].flags))
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

static void put_share(const struct roast_study *study, size_t table,
                      const struct roast_file_read *file,
                      const struct roast_file_branch *branches,
                      const struct share *share)
{
    struct roast_cell *row = roast__table_row(study->summary, table);

    row[0] = file_cell(study, file);
    if (file->has_facts && file->facts.branches > 0)
        row[1] = roast__cell_count(file->facts.branches);
    row[2] = roast__cell_count(share->branches);
    row[3] = roast__cell_number(share->branches_percent);
    if (file->has_facts && file->facts.sizes_known)
        row[4] = roast__cell_count(file->facts.compressed_bytes);
    row[5] = roast__cell_sum(share->bytes);
    row[6] = roast__cell_number(share->bytes_percent);
    if (file->has_bytes || file->requested_bytes > 0)
        row[7] = roast__cell_sum(file->requested_bytes);
    row[8] = names_cell(study, branches, file->branch_count, roast_flags_say_accessed);
    row[9] =
        names_cell(study, branches, file->branch_count, roast_flags_say_offsets_only);
}

static void set_means(const struct roast_study *study, const struct mean *branches,
                      const struct mean *bytes)
{
    roast__study_set(study, ROAST_METRIC_avg_branches_read_percent,
                     branches->sum / branches->count);
    roast__study_set(study, ROAST_METRIC_avg_bytes_read_percent,
                     bytes->sum / bytes->count);
}

static void put_all_shares(const struct roast_study *study,
                           const struct roast_file_reads *reads)
{
    static const char *const columns[] = {
        "file",
        "total_branches",
        "branches_read",
        "branches_read_percent",
        "total_tree_bytes",
        "bytes_read",
        "bytes_read_percent",
        "bytes_requested",
        "accessed_branches",
        "offset_branches",
    };
    static const char *const percent[] = {"bytes_read_percent"};
    struct mean branch_mean = {0}, byte_mean = {0};
    size_t table =
        roast__table_open(study->summary, "file_read_metrics", ROAST_TABLE_KEYED,
                          columns, sizeof(columns) / sizeof(columns[0]));
    size_t percents = roast__table_open(study->summary, "bytes_read_percent_per_file",
                                        ROAST_TABLE_VALUES, percent, 1);

    for (size_t i = 0; i < reads->count; i++) {
        const struct roast_file_read *file = &reads->files[i];
        if (!file->has_reads)
            continue;
        const struct roast_file_branch *own =
            file->branch_count > 0 ? &reads->branches[file->first_branch] : NULL;
        struct share share = share_of(file, own);
        put_share(study, table, file, own, &share);
        add_to_mean(&branch_mean, share.branches_percent);
        add_to_mean(&byte_mean, share.bytes_percent);
        if (share.bytes_percent > 0)
            *roast__table_row(study->summary, percents) =
                roast__cell_number(share.bytes_percent);
    }
    set_means(study, &branch_mean, &byte_mean);
}

void roast__study_files(const struct roast_study *study)
{
    struct roast_file_reads reads = {0};

    if (!roast__file_reads_find(&reads, study))
        study->summary->failed = true;
    put_all_metadata(study, &reads);
    put_all_shares(study, &reads);
    roast__file_reads_release(&reads);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c - tables of a run that are made from its summary or its notes. */
#include "analyze/tables/job.h"

/* ---- files ----------------------------------------------------------------------- */

#define AT(name) ROAST_COL_files_##name

void roast__fill_group_from(roast_table *to, int first, const roast_table *from,
                            size_t row, int from_first)
{
    int last = ROAST_COL_files_events_per_second - ROAST_COL_files_num_chunks;

    for (int i = 0; i <= last; i++)
        roast__fill_from(to, first + i, from, row, from_first + i);
}

static void put_metadata(roast_table *to, const roast_table *from, size_t row)
{
    static const int columns[][2] = {
#define COPY(name) {AT(name), ROAST_COL_file_metadata_##name}
        COPY(kind),
        COPY(codec),
        COPY(total_branches),
        COPY(num_entries),
        COPY(compressed_bytes),
        COPY(uncompressed_bytes),
        COPY(compression_ratio),
#undef COPY
    };

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        roast__fill_from(to, columns[i][0], from, row, columns[i][1]);
}

static void put_reads(roast_table *to, const roast_table *from, size_t row)
{
    static const int columns[][2] = {
#define COPY(name) {AT(name), ROAST_COL_file_read_metrics_##name}
        COPY(branches_read),   COPY(branches_read_percent),
        COPY(bytes_read),      COPY(bytes_read_percent),
        COPY(bytes_requested), COPY(accessed_branches),
        COPY(offset_branches), COPY(seeks),
#undef COPY
    };

    if (!roast_table_known(to, roast_table_rows(to) - 1, AT(total_branches)))
        roast__fill_from(to, AT(total_branches), from, row,
                         ROAST_COL_file_read_metrics_total_branches);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        roast__fill_from(to, columns[i][0], from, row, columns[i][1]);
}

void roast__make_files(const struct roast_table_job *job)
{
    const roast_table *files = roast_summary_table(job->summary, ROAST_TABLE_per_file);
    const roast_table *metadata =
        roast_summary_table(job->summary, ROAST_TABLE_file_metadata);
    const roast_table *reads =
        roast_summary_table(job->summary, ROAST_TABLE_file_read_metrics);

    for (size_t row = 0; row < roast_table_rows(files) && roast__table_ok(job->to);
         row++) {
        struct roast_str key = roast_table_text(files, row, ROAST_COL_per_file_file);
        roast__table_row(job->to);
        roast__fill_text(job->to, AT(file), key);
        roast__fill_from(job->to, AT(dataset), files, row, ROAST_COL_per_file_dataset);
        roast__fill_group_from(job->to, AT(num_chunks), files, row,
                               ROAST_COL_per_file_num_chunks);
        put_metadata(job->to, metadata,
                     roast__table_find(metadata, ROAST_COL_file_metadata_file, key));
        put_reads(job->to, reads,
                  roast__table_find(reads, ROAST_COL_file_read_metrics_file, key));
    }
}

/* ---- metrics, losses, notes ------------------------------------------------------ */

void roast__make_metrics(const struct roast_table_job *job)
{
    roast__metrics_fill(job->to, roast_summary_metrics(job->summary));
}

/* Only used if the summary has no such table: quick ones do not count losses. */
void roast__make_losses(const struct roast_table_job *job)
{
    roast__losses_fill(job->to, NULL, NULL);
}

void roast__make_notes(const struct roast_table_job *job)
{
    bool labels = job->table == ROAST_TABLE_labels;
    enum roast_note_group group = labels ? ROAST_NOTES_label : ROAST_NOTES_provenance;
    const struct roast_notes *notes = &job->run->notes;

    for (size_t i = 0; i < notes->count && roast__table_ok(job->to); i++) {
        if (notes->items[i].group != group)
            continue;
        roast__table_row(job->to);
        roast__fill_text(job->to,
                         labels ? ROAST_COL_labels_name : ROAST_COL_provenance_name,
                         roast__note_name(&notes->items[i]));
        roast__fill_text(job->to,
                         labels ? ROAST_COL_labels_value : ROAST_COL_provenance_value,
                         roast__note_text(&notes->items[i]));
    }
}

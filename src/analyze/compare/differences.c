/* SPDX-License-Identifier: BSD-3-Clause */
/* differences.c - in what two runs differ, so that not everything can be compared.
 *
 * Files count as the same if the Runner was given the same fileset or if the chunks are
 * of the same files: a file that failed is no other fileset. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/compare.h"

/* Beyond this ratio of mean sizes, the fixed cost per chunk changes the cost per event. */
static const double size_ratio = 1.3;

const struct roast_difference_info *roast_difference_info(
    enum roast_difference difference)
{
    static const struct roast_difference_info infos[ROAST_DIFFERENCE_COUNT] = {
#define D(name, shown, text) {#name, (shown), (text)},
#include "roast/run_differences.def"
#undef D
    };
    return &infos[difference];
}

void roast__side_note(char *out, size_t out_bytes, const struct roast_side *side,
                      enum roast_note_group group, const char *name)
{
    *out = '\0';
    if (side->run)
        (void)roast_run_note(side->run, group, name, out, out_bytes);
}

static void find_processors(struct roast_comparison *out,
                            const struct roast_side sides[2])
{
    for (int i = 0; i < 2; i++)
        roast__side_note(out->processors[i], sizeof(out->processors[i]), &sides[i],
                         ROAST_NOTES_run, "processor");
    if (*out->processors[0] && *out->processors[1] &&
        strcmp(out->processors[0], out->processors[1]) != 0)
        (void)snprintf(out->differs[ROAST_DIFFERS_processor], ROAST_DIFFERENCE_BYTES,
                       "%s in A, %s in B", out->processors[0], out->processors[1]);
}

static bool same_fileset(const struct roast_side sides[2])
{
    char hashes[2][80];

    for (int i = 0; i < 2; i++)
        roast__side_note(hashes[i], sizeof(hashes[i]), &sides[i],
                         ROAST_NOTES_provenance, "fileset_sha256");
    return *hashes[0] && strcmp(hashes[0], hashes[1]) == 0;
}

static void find_files(struct roast_comparison *out, const struct roast_match *match,
                       const struct roast_side sides[2])
{
    const struct roast_table_column *files[2];
    size_t shared = 0;

    for (int i = 0; i < 2; i++)
        files[i] = roast__chunk_column(match->chunks[i], ROAST_COL_chunks_file);
    size_t a = files[0]->word_count, b = files[1]->word_count;
    for (size_t i = 0; i < b; i++)
        shared += match->files[i] >= 0;
    if (a == 0 || b == 0 || (shared == a && shared == b) || same_fileset(sides))
        return;
    (void)snprintf(out->differs[ROAST_DIFFERS_fileset], ROAST_DIFFERENCE_BYTES,
                   "%zu in A, %zu in B, %zu of them the same", a, b, shared);
}

void roast__find_differences(struct roast_comparison *out,
                             const struct roast_match *match,
                             const struct roast_side sides[2])
{
    const struct roast_compared *size = &out->metrics[ROAST_METRIC_chunk_events_mean];

    find_processors(out, sides);
    find_files(out, match, sides);
    if (size->a > size->b * size_ratio || size->b > size->a * size_ratio)
        (void)snprintf(out->differs[ROAST_DIFFERS_chunksize], ROAST_DIFFERENCE_BYTES,
                       "%.0f events per chunk in A, %.0f in B", size->a, size->b);
}

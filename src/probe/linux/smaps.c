/* SPDX-License-Identifier: BSD-3-Clause */
/* smaps.c - the memory of a process, shared pages apart. */
#include "probe/linux/smaps.h"

#include <inttypes.h>
#include <stdio.h>

#include "probe/linux/process_tree.h"
#include "probe/linux/procfile.h"
#include "probe/linux/scan.h"

enum { SMAPS_BYTES = 4096, STAT_BYTES = 2048, NAME_BYTES = 40 };

bool roast__smaps_parse(struct roast_smaps *smaps, struct roast_str text)
{
    const uint64_t most_kib = UINT64_MAX / 1024 / 3;
    uint64_t pss, clean, dirty, huge;

    if (!roast__scan_find_u64(&pss, text, "Pss") ||
        !roast__scan_find_u64(&clean, text, "Private_Clean") ||
        !roast__scan_find_u64(&dirty, text, "Private_Dirty"))
        return false;
    if (!roast__scan_find_u64(&huge, text, "Private_Hugetlb"))
        huge = 0;
    if (pss > most_kib || clean > most_kib || dirty > most_kib || huge > most_kib)
        return false;
    *smaps = (struct roast_smaps){pss * 1024, (clean + dirty + huge) * 1024};
    return true;
}

static struct roast_str read_file(const char *root, uint64_t pid, const char *file,
                                  char *out, size_t out_bytes)
{
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "%" PRIu64 "/%s", pid, file);
    return roast__procfile_read_once(root, name, out, out_bytes);
}

bool roast__smaps_read(struct roast_smaps *smaps, const char *proc_root, uint64_t pid)
{
    char text[SMAPS_BYTES];
    char stat_text[STAT_BYTES];
    struct roast_process_stat stat;

    if (roast__smaps_parse(
            smaps, read_file(proc_root, pid, "smaps_rollup", text, sizeof(text))))
        return true;
    /* a process that ends has given its memory back before its files are gone */
    *smaps = (struct roast_smaps){0, 0};
    return !roast__process_stat_parse(&stat, read_file(proc_root, pid, "stat",
                                                       stat_text, sizeof(stat_text))) ||
           stat.rss_pages == 0;
}

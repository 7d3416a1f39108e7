/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_runfile.c - any bytes as a run file: opened, checked, loaded, read and queried;
 * then once more with valid checksums, so that the contents are read. */
#include <fcntl.h>
#include <unistd.h>

#include "file/sqlite/fix_checksums.h"
#include "fuzz_runs.h"
#include "roast/runfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static bool take_row(void *context, const char *const *names,
                     const struct roast_cell *cells, size_t count)
{
    (void)names;
    (void)cells;
    (void)count;
    return ++*(size_t *)context < 100;
}

static void use_file(roast_runfile *file)
{
    const roast_summary *summary = NULL;
    roast_run *run = NULL;
    size_t rows = 0;

    (void)roast_runfile_check(file, NULL, NULL, NULL);
    (void)roast_runfile_summary(file, &summary, NULL);
    for (int i = 0; i < ROAST_RUN_TABLE_COUNT; i++) {
        roast_table *columns = NULL;
        (void)roast_runfile_columns(file, (enum roast_table_id)i, &columns, NULL);
        roast_table_free(columns);
    }
    if (roast_runfile_run(file, true, &run, NULL) == 0)
        read_whole_run(run);
    (void)roast_runfile_sql(file, "SELECT * FROM chunk_rows, chunk_files, chunks",
                            take_row, &rows, NULL);
}

static void use_path(const char *path)
{
    struct roast_run_info info;
    roast_runfile *file = NULL;
    roast_error err = {0};

    (void)roast_run_info_read(&info, path, NULL);
    int status = roast_runfile_open(&file, path, &err);
    PROMISE(status == 0 || err.message[0] != '\0');
    if (status == 0)
        use_file(file);
    roast_runfile_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char path[] = "/tmp/roast-fuzz-XXXXXX";
    int fd = mkstemp(path);

    PROMISE(fd >= 0);
    if (write(fd, data, size_bytes) == (ssize_t)size_bytes) {
        use_path(path);
        fix_checksums(path);
        use_path(path);
    }
    (void)close(fd);
    (void)unlink(path);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* file_memory.h - checks the limit of memory for reading a file (docs/format.md). */
#ifndef ROAST_TESTS_FILE_SQLITE_FILE_MEMORY_H
#define ROAST_TESTS_FILE_SQLITE_FILE_MEMORY_H

#include <sys/stat.h>

#include "heap_peak.h"
#include "saved_file.h"

enum { MEMORY_PER_BYTE = 40, MEMORY_ALWAYS = 1 << 20 };

static inline int install(void **state)
{
    peak_install();
    return make_saved_folder(state);
}

static inline int uninstall(void **state)
{
    int status = remove_saved_folder(state);

    roast__heap_set(NULL);
    return status;
}

static inline size_t size_of(const char *path)
{
    struct stat about;

    assert_int_equal(stat(path, &about), 0);
    return (size_t)about.st_size;
}

static inline void assert_memory_bounded(size_t file_bytes)
{
    size_t most = MEMORY_PER_BYTE * file_bytes + MEMORY_ALWAYS;

    if (peak_taken() > most)
        fail_msg("%zu bytes of memory for %zu of a file", peak_taken(), file_bytes);
}

/* Reads the whole run. Returns the number of damaged parts. */
static inline uint64_t read_run(const roast_run **run, roast_runfile *file,
                                const char *path)
{
    struct roast_runfile_info info;

    peak_begin();
    *run = whole_run(file);
    roast_runfile_info(file, &info);
    assert_memory_bounded(size_of(path));
    return info.damaged;
}

static inline uint64_t read_all(const char *path)
{
    roast_runfile *file = open_saved(path);
    const roast_run *run;
    uint64_t damaged = read_run(&run, file, path);

    roast_runfile_close(file);
    return damaged;
}

#define memory_test(behaviour) \
    cmocka_unit_test_setup_teardown(behaviour, install, uninstall)

#endif

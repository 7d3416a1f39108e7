/* SPDX-License-Identifier: BSD-3-Clause */
/* corpus_main.c - runs a fuzz target on a stored corpus, without libFuzzer.
 *
 *     corpus_frame tests/fuzz/corpus/frame
 *
 * Every input that once broke a decoder is kept in the corpus, so that each compiler and
 * each sanitizer build meets it again in the normal test run. Each input is copied into
 * memory of exactly its size: a read past its end is then seen by ASan and valgrind. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int fail(const char *what)
{
    perror(what);
    return -1;
}

static int run_stream(FILE *in, const char *path)
{
    if (fseek(in, 0, SEEK_END) != 0)
        return fail(path);
    long size = ftell(in);
    if (size < 0 || fseek(in, 0, SEEK_SET) != 0)
        return fail(path);
    uint8_t *data = malloc((size_t)size > 0 ? (size_t)size : 1);
    if (!data)
        return fail(path);
    int status = 0;
    if (fread(data, 1, (size_t)size, in) != (size_t)size)
        status = fail(path);
    else
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return status;
}

static int run_file(const char *dir, const char *name)
{
    char path[4096];

    if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
        return -1;
    FILE *in = fopen(path, "rb");
    if (!in)
        return fail(path);
    int status = run_stream(in, path);
    (void)fclose(in);
    return status;
}

int main(int argc, char **argv)
{
    int count = 0;
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (entry->d_name[0] == '.')
            continue;
        if (run_file(argv[1], entry->d_name) < 0)
            return 1;
        count++;
    }
    (void)closedir(dir);
    printf("%d inputs of %s replayed\n", count, argv[1]);
    return count > 0 ? 0 : 1; /* an empty corpus tests nothing */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* read_header.c - what kind of file a path is, before it is read.
 *
 * The first hundred bytes of an SQLite file have its application, format and length: a
 * file of another program or one that was cut is refused before SQLite opens it. */
#include "file/read_header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/live/block_format.h"
#include "file/sqlite/schema.h"

enum {
    HEAD_BYTES = 100,
    PAGE_SIZE_AT = 16,
    PAGE_COUNT_AT = 28,
    USER_VERSION_AT = 60,
    APPLICATION_ID_AT = 68,
};

static const char sqlite_magic[16] = "SQLite format 3";

/* Numbers in the head are big endian. */
static uint32_t number_at(const unsigned char *head, size_t at, size_t size)
{
    uint32_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | head[at + i];
    return value;
}

/* ---- the head of an SQLite file -------------------------------------------------- */

/* The writer of a file in an unknown format; false where it is not stored. Every format
 * has its head in row 0 of the journal. */
static bool find_writer(struct roast_live_head *head, const char *path,
                        uint64_t file_bytes)
{
    sqlite3_stmt *find = NULL;
    sqlite3 *db = NULL;
    uint64_t budget;
    bool found = false;

    if (roast__sql_open(&db, path, file_bytes, &budget, NULL) == ROAST_OK &&
        roast__schema_has(db, "journal", NULL) == 1 &&
        roast__sql_prepare(&find, db, "SELECT data FROM journal WHERE block=0", NULL) ==
            ROAST_OK &&
        roast__sql_step(find, NULL) > 0) {
        struct roast_str bytes = roast__sql_text(find, 0);
        found = roast__live_head_read(head, (const unsigned char *)bytes.data,
                                      bytes.size_bytes);
    }
    (void)sqlite3_finalize(find);
    roast__sql_close(db);
    return found;
}

static int refuse_newer(const struct roast_header *header, const char *path,
                        roast_error *err)
{
    struct roast_live_head head = {.writer = "a newer roastcoffea"};

    (void)find_writer(&head, path, header->file_bytes);
    return roast_error_set(err, ROAST_NEWER_FORMAT,
                           "written by %s, format %" PRIu32
                           "; this roastcoffea reads %d",
                           head.writer, header->format, ROAST_FILE_FORMAT);
}

static int check_head(struct roast_header *header, const unsigned char *head,
                      const char *path, roast_error *err)
{
    uint64_t page_bytes = number_at(head, PAGE_SIZE_AT, 2);
    uint64_t pages = number_at(head, PAGE_COUNT_AT, 4);

    if (page_bytes == 1)
        page_bytes = 65536; /* does not fit in two bytes */
    if (number_at(head, APPLICATION_ID_AT, 4) != ROAST_APPLICATION_ID)
        return roast_error_set(err, ROAST_BAD_DATA,
                               "an SQLite file, but not a run file");
    header->format = number_at(head, USER_VERSION_AT, 4);
    if (header->format > ROAST_FILE_FORMAT)
        return refuse_newer(header, path, err);
    if (header->format < 1)
        return roast_error_set(err, ROAST_BAD_DATA, "a run file without a format");
    if (header->file_bytes < pages * page_bytes)
        return roast_error_set(err, ROAST_TRUNCATED,
                               "ends after %" PRIu64 " of %" PRIu64 " bytes",
                               header->file_bytes, pages * page_bytes);
    return ROAST_OK;
}

/* ---- any file -------------------------------------------------------------------- */

static int io_error(roast_error *err)
{
    return roast_error_set(err, ROAST_IO, "%s", strerror(errno));
}

/* Returns the number of bytes read, at most as many as requested; negative: errno. */
static ssize_t read_head(int fd, unsigned char *head, size_t wanted)
{
    size_t have = 0;

    while (have < wanted) {
        ssize_t got = read(fd, head + have, wanted - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return got;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static int read_open(struct roast_header *out, int fd, const char *path,
                     roast_error *err)
{
    unsigned char head[HEAD_BYTES] = {0};
    struct stat status;

    if (fstat(fd, &status) != 0)
        return io_error(err);
    if (S_ISDIR(status.st_mode))
        return roast_error_set(err, ROAST_IO, "%s", strerror(EISDIR));
    if (!S_ISREG(status.st_mode))
        return roast_error_set(err, ROAST_BAD_DATA, "not a run file");
    out->file_bytes = (uint64_t)status.st_size;
    ssize_t have = read_head(fd, head, sizeof(head));
    if (have < 0)
        return io_error(err);
    out->live = have >= ROAST_LIVE_MAGIC_BYTES && roast__is_live(head);
    if (out->live)
        return ROAST_OK;
    if (have < (ssize_t)sizeof(sqlite_magic) ||
        memcmp(head, sqlite_magic, sizeof(sqlite_magic)) != 0)
        return roast_error_set(err, ROAST_BAD_DATA, "not a run file");
    if (have < HEAD_BYTES)
        return roast_error_set(err, ROAST_TRUNCATED, "ends after %zd bytes", have);
    return check_head(out, head, path, err);
}

int roast__read_header(struct roast_header *out, int *fd_out, const char *path,
                       roast_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *out = (struct roast_header){.live = false};
    if (fd_out)
        *fd_out = -1;
    if (fd < 0)
        return io_error(err);
    int status = read_open(out, fd, path, err);
    if (status == ROAST_OK && fd_out)
        *fd_out = fd;
    else
        (void)close(fd);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* look.c - what a file is, before anybody reads it.
 *
 * The first hundred bytes of an SQLite file say what it is and how long: whose it is, and
 * whether it was cut, is known before SQLite sees it. */

#include "file/look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/live/read.h"
#include "file/sqlite/schema.h"
#include "file/sqlite/text_bytes.h"

enum {
    HEAD_BYTES = 100,
    PAGE_SIZE_AT = 16,
    WRITER_AT = 18, /* 1: with a journal, 2: with a write-ahead log */
    READER_AT = 19,
    RESERVED_AT = 20, /* bytes at the end of every page */
    PAGE_COUNT_AT = 28,
    FREE_PAGES_AT = 36,
    ENCODING_AT = 56, /* of text; 1: UTF-8 */
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

/* ---- the head of an SQLite file ---------------------------------------------------- */

/* Who wrote a file that we cannot read otherwise; false where it does not say. */
static bool find_writer(char *out, size_t out_bytes, const char *path,
                        uint64_t file_bytes)
{
    sqlite3_stmt *find = NULL;
    sqlite3 *db = NULL;
    uint64_t budget;
    bool found = false;

    if (roast__sql_open(&db, path, file_bytes, &budget, NULL) == ROAST_OK &&
        roast__schema_has(db, "run", NULL) == 1 &&
        roast__sql_prepare(&find, db, "SELECT writer FROM run NOT INDEXED", NULL) ==
            ROAST_OK &&
        roast__sql_step(find, NULL) > 0) {
        struct roast_str text = roast_str_cut(roast__sql_text(find, 0), out_bytes - 1);
        found = text.size_bytes > 0;
        if (found)
            memcpy(out, text.data, text.size_bytes);
        out[text.size_bytes] = '\0';
        roast__clean_words(out);
    }
    (void)sqlite3_finalize(find);
    roast__sql_close(db);
    return found;
}

static int refuse_newer(const struct roast_look *look, const char *path,
                        roast_error *err)
{
    char writer[48];

    if (!find_writer(writer, sizeof(writer), path, look->file_bytes))
        (void)strcpy(writer, "a newer roastcoffea");
    return roast_error_set(err, ROAST_NEWER_FORMAT,
                           "written by %s, format %" PRIu32
                           "; this roastcoffea reads %d: update it",
                           writer, look->format, ROAST_FILE_FORMAT);
}

static int check_head(struct roast_look *look, const unsigned char *head,
                      const char *path, roast_error *err)
{
    uint64_t page_bytes = number_at(head, PAGE_SIZE_AT, 2);
    uint64_t pages = number_at(head, PAGE_COUNT_AT, 4);

    if (page_bytes == 1)
        page_bytes = 65536; /* two bytes cannot say that */
    if (number_at(head, APPLICATION_ID_AT, 4) != ROAST_APPLICATION_ID)
        return roast_error_set(err, ROAST_BAD_DATA,
                               "an SQLite file, but not a run file");
    look->format = number_at(head, USER_VERSION_AT, 4);
    if (look->format > ROAST_FILE_FORMAT)
        return refuse_newer(look, path, err);
    if (look->format < 1)
        return roast_error_set(err, ROAST_BAD_DATA, "a run file without a format");
    if (look->file_bytes < pages * page_bytes)
        return roast_error_set(err, ROAST_TRUNCATED,
                               "ends after %" PRIu64 " of %" PRIu64
                               " bytes: copy it again",
                               look->file_bytes, pages * page_bytes);
    look->page_bytes = (uint32_t)page_bytes;
    look->usable_bytes =
        page_bytes > head[RESERVED_AT] ? (uint32_t)page_bytes - head[RESERVED_AT] : 0;
    look->plain = head[WRITER_AT] == 1 && head[READER_AT] == 1 &&
                  number_at(head, FREE_PAGES_AT, 4) == 0 &&
                  number_at(head, ENCODING_AT, 4) == 1;
    return ROAST_OK;
}

/* ---- any file ---------------------------------------------------------------------- */

static int io_error(roast_error *err)
{
    return roast_error_set(err, ROAST_IO, "%s", strerror(errno));
}

/* How many bytes there were, at most as many as asked for; negative: errno. */
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

static int look_at(struct roast_look *out, int fd, const char *path, roast_error *err)
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

int roast__look_open(struct roast_look *out, int *fd, const char *path,
                     roast_error *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out = (struct roast_look){.live = false};
    if (*fd < 0)
        return io_error(err);
    int status = look_at(out, *fd, path, err);
    if (status < 0) {
        (void)close(*fd);
        *fd = -1;
    }
    return status;
}

int roast__look(struct roast_look *out, const char *path, roast_error *err)
{
    int fd;
    int status = roast__look_open(out, &fd, path, err);

    if (fd >= 0)
        (void)close(fd);
    return status;
}

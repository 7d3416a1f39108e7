/* SPDX-License-Identifier: BSD-3-Clause */
/* spool_reader.c - reads what local workers append to their files.
 *
 * A spool may have files of all processes that a pool ever started, so files are not
 * kept open: the size shows whether there is anything to read. Names and types are
 * checked because other users may be able to write to the directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "record/frame_scan.h"
#include "roast/collect.h"

enum {
    ID_DIGITS = 16,
    FIRST_FILES = 32,
    EFFORT_PER_BYTE = 16, /* bytes to checksum without success per byte read */
};

struct spool_file {
    uint64_t process_id;
    uint64_t position;   /* the sink has accepted everything before it */
    uint64_t seen_bytes; /* size of the file when it was last read */
    bool failed;         /* that read did not reach the end */
    bool unreadable;     /* some read failed */
};

struct roast_spool {
    char *dir;                /* owned */
    struct spool_file *files; /* owned, sorted by process id */
    size_t count;
    size_t cap;
    uint64_t taken_bytes;
    uint64_t unreadable;
    uint64_t left_out;       /* files beyond the limit, in this call */
    uint64_t most_left_out;  /* in one call */
    uint64_t unlisted;       /* files without memory in the list, in this call */
    struct roast_buf window; /* the file from `position` on, while it is read */
};

/* ---- the directory ----------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_name(uint64_t *process_id, const char *name)
{
    uint64_t id = 0;

    for (int i = 0; i < ID_DIGITS; i++) {
        int digit = hex_digit(name[i]);
        if (digit < 0)
            return false;
        id = id << 4 | (uint64_t)digit;
    }
    *process_id = id;
    return strcmp(name + ID_DIGITS, ".frames") == 0;
}

/* NULL with errno. */
static DIR *open_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir && fd >= 0)
        (void)close(fd);
    return dir;
}

static int dir_error(const char *path, roast_error *err)
{
    int code = errno;
    return roast_error_set(err, ROAST_IO, "spool %.150s: %s", path, strerror(code));
}

/* The next file of the spool, by name; NULL at the end. */
static const char *next_name(DIR *dir, uint64_t *process_id)
{
    const struct dirent *entry;

    do
        entry = readdir(dir);
    while (entry && !parse_name(process_id, entry->d_name));
    return entry ? entry->d_name : NULL;
}

/* ---- state of each file ------------------------------------------------------ */

static size_t lower_bound(const roast_spool *spool, uint64_t process_id)
{
    size_t low = 0;
    size_t high = spool->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spool->files[middle].process_id < process_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(roast_spool *spool)
{
    size_t cap = spool->cap ? 2 * spool->cap : FIRST_FILES;

    if (spool->count < spool->cap)
        return true;
    struct spool_file *files = roast__realloc(spool->files, cap * sizeof(*files));
    if (!files)
        return false;
    spool->files = files;
    spool->cap = cap;
    return true;
}

/* Finds or adds; *out is NULL when there are too many. */
static int find_file(struct spool_file **out, roast_spool *spool, uint64_t process_id,
                     roast_error *err)
{
    size_t at = lower_bound(spool, process_id);

    if (at == spool->count || spool->files[at].process_id != process_id) {
        if (spool->count == ROAST_SPOOL_MAX_FILES) {
            spool->left_out++;
            return ROAST_OK;
        }
        if (!make_room(spool)) {
            spool->unlisted++;
            return roast_error_set(err, ROAST_NO_MEMORY, "%zu files", spool->count);
        }
        struct spool_file *file = &spool->files[at];
        memmove(file + 1, file, (spool->count - at) * sizeof(*file));
        *file = (struct spool_file){.process_id = process_id};
        spool->count++;
    }
    *out = &spool->files[at];
    return ROAST_OK;
}

static int mark_unreadable(roast_spool *spool, struct spool_file *file)
{
    spool->unreadable += !file->unreadable;
    file->unreadable = true;
    return ROAST_OK; /* the other files can still be read */
}

/* ---- reading a file ---------------------------------------------------------- */

/* Which file is being read, and how far. */
struct reading {
    const struct roast_frames_sink *sink;
    int dir_fd;
    struct spool_file *file;
    int fd;
    uint64_t limit; /* its size at the start; later bytes are for the next call */
    uint64_t effort_bytes;
};

/* Appends the next piece of the file to the window. */
static int read_piece(roast_spool *spool, struct reading *reading)
{
    struct roast_buf *window = &spool->window;
    uint64_t offset = reading->file->position + window->size_bytes;
    uint64_t left = reading->limit - offset;
    size_t want =
        left < ROAST_SPOOL_PIECE_BYTES ? (size_t)left : (size_t)ROAST_SPOOL_PIECE_BYTES;
    ssize_t got;

    if (want == 0)
        return ROAST_OK; /* the window may have no memory yet */
    roast__buf_reserve(window, want);
    if (!roast__buf_ok(window))
        return ROAST_NO_MEMORY;
    do
        got =
            pread(reading->fd, window->data + window->size_bytes, want, (off_t)offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return ROAST_IO;
    if (got == 0)
        reading->limit = offset; /* it became shorter */
    window->size_bytes += (size_t)got;
    reading->effort_bytes += (uint64_t)got * EFFORT_PER_BYTE;
    return ROAST_OK;
}

/* Passes whole frames to the sink; an incomplete one moves to the front of the
 * window. */
static int give_frames(roast_spool *spool, struct reading *reading, bool at_end)
{
    const struct roast_frames_sink *sink = reading->sink;
    struct roast_buf *window = &spool->window;
    size_t at = 0;
    int status = ROAST_OK;

    while (at < window->size_bytes && status >= 0) {
        struct roast_str piece = {(const char *)window->data + at,
                                  window->size_bytes - at};
        piece.size_bytes = roast__frame_scan(piece, at_end, &reading->effort_bytes);
        if (piece.size_bytes == 0)
            break;
        status = sink->frames(sink->context, piece);
        if (status >= 0)
            at += piece.size_bytes;
    }
    reading->file->position += at;
    spool->taken_bytes += at;
    window->size_bytes -= at;
    if (at > 0)
        memmove(window->data, window->data + at, window->size_bytes);
    return status < 0 ? status : ROAST_OK;
}

static int drain(roast_spool *spool, struct reading *reading, roast_error *err)
{
    bool at_end = false;

    roast__buf_clear(&spool->window);
    while (!at_end) {
        int status = read_piece(spool, reading);
        if (status == ROAST_NO_MEMORY)
            return roast_error_set(err, status, "a piece of a spool file");
        if (status < 0)
            return mark_unreadable(spool, reading->file);
        at_end = reading->file->position + spool->window.size_bytes >= reading->limit;
        status = give_frames(spool, reading, at_end);
        if (status < 0)
            return roast_error_set(err, status, "frames of a spool were not taken");
    }
    reading->file->seen_bytes = reading->limit;
    return ROAST_OK;
}

/* O_NONBLOCK: opening must not block if a pipe has replaced the file. */
static int read_file(roast_spool *spool, struct reading *reading, const char *name,
                     roast_error *err)
{
    struct spool_file *file = reading->file;
    struct stat about;

    if (fstatat(reading->dir_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? ROAST_OK : mark_unreadable(spool, file);
    if (!S_ISREG(about.st_mode) || about.st_size < 0)
        return mark_unreadable(spool, file);
    reading->limit = (uint64_t)about.st_size;
    if (reading->limit == file->seen_bytes && !file->failed)
        return ROAST_OK;
    if (reading->limit < file->position)
        file->position = file->seen_bytes = 0;
    reading->fd =
        openat(reading->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (reading->fd < 0)
        return errno == ENOENT ? ROAST_OK : mark_unreadable(spool, file);
    reading->effort_bytes = 0;
    int status = drain(spool, reading, err);
    file->failed = status < 0;
    if (file->failed)
        file->seen_bytes = reading->limit; /* the bytes wait */
    (void)close(reading->fd);
    return status;
}

int roast_spool_read(roast_spool *spool, const struct roast_frames_sink *sink,
                     roast_error *err)
{
    int status = ROAST_OK;
    uint64_t process_id = 0;
    DIR *dir = open_dir(spool->dir);

    if (!dir)
        return dir_error(spool->dir, err);
    spool->left_out = spool->unlisted = 0;
    struct reading reading = {.sink = sink, .dir_fd = dirfd(dir)};
    for (const char *name = next_name(dir, &process_id); name;
         name = next_name(dir, &process_id)) {
        reading.file = NULL;
        int found = find_file(&reading.file, spool, process_id, err);
        if (reading.file)
            found = read_file(spool, &reading, name, err);
        status = found < 0 ? found : status; /* bytes in the other files count too */
    }
    if (spool->left_out > spool->most_left_out)
        spool->most_left_out = spool->left_out;
    (void)closedir(dir);
    roast__buf_release(&spool->window);
    return status;
}

/* ---- the spool --------------------------------------------------------------- */

int roast_spool_open(roast_spool **out, const char *dir, roast_error *err)
{
    int status = ROAST_OK;
    size_t size = strlen(dir);
    roast_spool *spool = NULL;
    DIR *there = open_dir(dir);

    if (!there)
        return dir_error(dir, err);
    (void)closedir(there);
    spool = roast__alloc(sizeof(*spool));
    if (spool)
        spool->dir = roast__alloc(size + 1);
    if (!spool || !spool->dir) {
        status = roast_error_set(err, ROAST_NO_MEMORY, "spool");
        goto out;
    }
    memcpy(spool->dir, dir, size);
    *out = spool;
    spool = NULL; /* moved to the caller */
out:
    roast_spool_close(spool, false);
    return status;
}

struct roast_spool_state roast_spool_state(const roast_spool *spool)
{
    struct roast_spool_state state = {
        .files = spool->count,
        .bytes = spool->taken_bytes,
        .unreadable = spool->unreadable + spool->most_left_out,
        .waiting_files = spool->unlisted,
    };

    for (size_t i = 0; i < spool->count; i++) {
        const struct spool_file *file = &spool->files[i];
        if (file->seen_bytes <= file->position)
            continue;
        state.waiting_files++;
        state.waiting_bytes += file->seen_bytes - file->position;
    }
    return state;
}

void roast_spool_close(roast_spool *spool, bool remove)
{
    if (!spool)
        return;
    if (remove)
        (void)roast_spool_remove(spool->dir);
    roast__buf_release(&spool->window);
    roast__free(spool->files);
    roast__free(spool->dir);
    roast__free(spool);
}

int roast_spool_remove(const char *dir)
{
    uint64_t process_id;
    struct stat about;
    DIR *there = open_dir(dir);

    if (!there)
        return errno == ENOENT ? ROAST_OK : ROAST_IO;
    for (const char *name = next_name(there, &process_id); name;
         name = next_name(there, &process_id)) {
        if (fstatat(dirfd(there), name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode))
            (void)unlinkat(dirfd(there), name, 0); /* else rmdir() fails */
    }
    (void)closedir(there);
    return rmdir(dir) == 0 || errno == ENOENT ? ROAST_OK : ROAST_IO;
}

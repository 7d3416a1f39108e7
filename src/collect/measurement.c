/* SPDX-License-Identifier: BSD-3-Clause */
/* measurement.c - the files of a measurement directory.
 *
 * metrics.json and the timing file must be there and right, as they must be for
 * load_measurement() in Python. The others are extras: one that cannot be read is counted
 * as lost and does not spoil the rest. */
#include "collect/measurement.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/json_number.h"
#include "collect/measurement_metrics.h"
#include "collect/measurement_time.h"

enum { LONGEST_TIMING_BYTES = 512 };

static const double most_seconds = 8e9; /* ns of it fit in 64 bits */

/* A directory that is being read. */
struct reading {
    const char *dir;
    const struct roast_measurement_sink *sink;
    char *path; /* owned: room for dir, a separator and a name */
    size_t path_bytes;
    struct roast_metrics_draft *draft; /* owned */
    struct roast_measurement_timing timing;
    struct roast_json_copy config;
    struct roast_texts texts;
    struct roast_kept format;
    struct roast_kept saved_at;
    uint64_t lost;
};

/* ---- files ----------------------------------------------------------------------- */

static const char *path_of(struct reading *reading, const char *name)
{
    size_t dir_bytes = strlen(reading->dir);

    memcpy(reading->path, reading->dir, dir_bytes);
    reading->path[dir_bytes] = '/';
    memcpy(reading->path + dir_bytes + 1, name, strlen(name) + 1);
    return reading->path;
}

/* A regular file, open for reading; -1 if there is none. Opening a pipe that nobody
 * writes to does not wait. */
static int open_file(struct reading *reading, const char *name)
{
    struct stat status;
    int fd = open(path_of(reading, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

static int64_t read_fd(void *context, void *out, size_t out_bytes)
{
    const int *fd = context;
    ssize_t got;

    do {
        got = read(*fd, out, out_bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

static int no_file(const char *what, const char *path, roast_error *err)
{
    return roast_error_set(err, ROAST_IO, "%s not found: %.180s", what, path);
}

/* ---- timing ---------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A number as Python writes and reads it, with blanks around; false for anything else. */
static bool parse_seconds(char *from, char *end, double *seconds)
{
    bool digits = false;

    while (from < end && is_blank(*from))
        from++;
    while (end > from && is_blank(end[-1]))
        end--;
    *end = '\0';
    const char *at = from + (*from == '-' || *from == '+');
    for (; *at >= '0' && *at <= '9'; at++)
        digits = true;
    if (*at == '.')
        at++;
    for (; *at >= '0' && *at <= '9'; at++)
        digits = true;
    if (digits && (*at == 'e' || *at == 'E')) {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        for (digits = false; *at >= '0' && *at <= '9'; at++)
            digits = true;
    }
    *seconds = digits ? roast__json_number(from + (*from == '+')).nearest : NAN;
    return digits && *at == '\0' && fabs(*seconds) < most_seconds;
}

/* Reads "t0,t1"; false if it is something else. */
static bool parse_timing(struct reading *reading, char *text, size_t size_bytes)
{
    char *comma = memchr(text, ',', size_bytes);

    if (!comma || memchr(text, '\0', size_bytes))
        return false;
    return parse_seconds(text, comma, &reading->timing.start_s) &&
           parse_seconds(comma + 1, text + size_bytes, &reading->timing.end_s);
}

static int read_timing(struct reading *reading, roast_error *err)
{
    static const char *const name = "start_end_time.txt";
    char text[LONGEST_TIMING_BYTES + 1];
    int fd = open_file(reading, name);
    size_t size = 0;
    int64_t got = 1;

    if (fd < 0)
        return no_file("Timing file", reading->path, err);
    while (got > 0 && size < LONGEST_TIMING_BYTES) {
        got = read_fd(&fd, text + size, LONGEST_TIMING_BYTES - size);
        size += got > 0 ? (size_t)got : 0;
    }
    (void)close(fd);
    if (got < 0)
        return roast_error_set(err, ROAST_IO, "%.180s could not be read",
                               reading->path);
    if (size == LONGEST_TIMING_BYTES || !parse_timing(reading, text, size))
        return roast_error_set(err, ROAST_BAD_DATA,
                               "Invalid timing format in %.180s: expected \"t0,t1\"",
                               reading->path);
    return ROAST_OK;
}

/* ---- extras ---------------------------------------------------------------------- */

/* Reads a document from its first token on. */
typedef int document_reader(struct reading *reading, struct roast_json_reader *in,
                            const struct roast_json_token *value, roast_error *err);

static int read_config(struct reading *reading, struct roast_json_reader *in,
                       const struct roast_json_token *value, roast_error *err)
{
    return roast__json_copy(&reading->config, in, value, err);
}

static int read_metadata(struct reading *reading, struct roast_json_reader *in,
                         const struct roast_json_token *value, roast_error *err)
{
    struct roast_json_token item;
    struct roast_str key;
    bool naive;
    int got;

    if (value->kind != ROAST_JSON_DICT)
        return roast__json_skip(in, value, err);
    while ((got = roast__json_entry(in, &key, &item, err)) == 1) {
        bool is_text = item.kind == ROAST_JSON_TEXT;
        if (is_text && roast__str_is(key, "format"))
            reading->format = roast__texts_keep(&reading->texts, item.text);
        if (is_text && roast__str_is(key, "timestamp")) {
            reading->saved_at = roast__texts_keep(&reading->texts, item.text);
            if (roast__iso_time(item.text, &reading->timing.saved_ns, &naive))
                reading->timing.saved_ns *= 1000;
            else
                reading->timing.saved_ns = 0;
        }
        int status = roast__json_skip(in, &item, err);
        if (status < 0)
            return status;
    }
    return got;
}

static int read_tracking(struct reading *reading, struct roast_json_reader *in,
                         const struct roast_json_token *value, roast_error *err)
{
    struct roast_metrics_draft *draft = reading->draft;
    int status =
        roast__tracking_read(&draft->tracking, in, value, &draft->tracking_rest, err);

    if (status < 0)
        roast__tracking_clear(&draft->tracking);
    return status;
}

static int read_document(struct reading *reading, int *fd, document_reader *read,
                         roast_error *err)
{
    const struct roast_json_source source = {read_fd, fd};
    struct roast_json_token value = {.kind = ROAST_JSON_NULL};
    struct roast_json_reader in;
    int status = roast__json_open(&in, source, reading->path, true, err);

    if (status == ROAST_OK)
        status = roast__json_next(&in, &value, err);
    if (status == 1)
        status = read(reading, &in, &value, err);
    if (status >= 0)
        status = roast__json_next(&in, &value, err);
    reading->draft->replaced += in.replaced;
    roast__json_release(&in);
    return status;
}

/* A file that may be missing, or broken. */
static int read_extra(struct reading *reading, const char *name, document_reader *read,
                      roast_error *err)
{
    int fd = open_file(reading, name);

    if (fd < 0)
        return ROAST_OK;
    int status = read_document(reading, &fd, read, err);
    (void)close(fd);
    if (reading->texts.bytes.failed)
        status = roast_error_set(err, ROAST_NO_MEMORY, "reading %.100s", name);
    if (status >= 0 || status == ROAST_NO_MEMORY)
        return status;
    reading->lost++;
    if (err)
        *err = (roast_error){0};
    return ROAST_OK;
}

/* ---- all ------------------------------------------------------------------------- */

static int read_metrics(struct reading *reading, roast_error *err)
{
    int fd = open_file(reading, "metrics.json");
    const struct roast_json_source source = {read_fd, &fd};

    if (fd < 0)
        return no_file("Metrics file", reading->path, err);
    int status = read_timing(reading, err);
    if (status >= 0)
        status =
            roast__metrics_read(reading->draft, source,
                                path_of(reading, "metrics.json"), reading->sink, err);
    (void)close(fd);
    return status;
}

static int read_files(struct reading *reading, roast_error *err)
{
    int status = read_metrics(reading, err);

    if (status >= 0)
        status = read_extra(reading, "metadata.json", read_metadata, err);
    if (status >= 0)
        status = read_extra(reading, "config.json", read_config, err);
    if (status >= 0 && !reading->draft->tracking.any)
        status = read_extra(reading, "worker_tracking.json", read_tracking, err);
    return status;
}

static int tell_note(struct reading *reading, const char *name, struct roast_str text,
                     roast_error *err)
{
    const struct roast_measurement_sink *sink = reading->sink;

    if (!text.data)
        return ROAST_OK;
    return sink->note(sink->context, "provenance", roast_str_of(name), text, err);
}

static int tell(struct reading *reading, roast_error *err)
{
    const struct roast_measurement_sink *sink = reading->sink;
    struct roast_str format = roast__texts_get(&reading->texts, reading->format);
    struct roast_str saved_at = roast__texts_get(&reading->texts, reading->saved_at);
    const struct roast_buf *config = &reading->config.out;
    int status = roast__metrics_tell(reading->draft, &reading->timing, sink, err);

    if (!format.data)
        format = roast_str_of("measurement directory");
    if (status >= 0)
        status = tell_note(reading, "imported_from", format, err);
    if (status >= 0)
        status = tell_note(reading, "imported_saved_at", saved_at, err);
    if (status >= 0 && config->size_bytes > 0)
        status = sink->note(
            sink->context, "document", roast_str_of("config"),
            (struct roast_str){(const char *)config->data, config->size_bytes}, err);
    uint64_t lost = reading->lost + reading->config.left_out;
    if (status >= 0 && lost > 0)
        status = sink->lost(sink->context, lost, err);
    return status;
}

static bool is_directory(const char *dir)
{
    struct stat status;

    return stat(dir, &status) == 0 && S_ISDIR(status.st_mode);
}

int roast__measurement_read(const char *dir, const struct roast_measurement_sink *sink,
                            roast_error *err)
{
    enum { LONGEST_NAME_BYTES = 32 };
    struct reading reading = {.dir = dir,
                              .sink = sink,
                              .format = roast__kept_none,
                              .saved_at = roast__kept_none};
    int status = ROAST_NO_MEMORY;

    if (!is_directory(dir))
        return no_file("Measurement directory", dir, err);
    reading.config.max_bytes = ROAST_IMPORT_DOCUMENT_BYTES;
    reading.path = roast__realloc(NULL, strlen(dir) + LONGEST_NAME_BYTES);
    reading.draft = roast__alloc(sizeof(*reading.draft));
    if (!reading.path || !reading.draft) {
        (void)roast_error_set(err, status, "reading %.100s", dir);
        goto out;
    }
    roast__metrics_init(reading.draft);
    status = read_files(&reading, err);
    if (status >= 0)
        status = tell(&reading, err);
    roast__metrics_release(reading.draft);
out:
    roast__free(reading.draft);
    roast__free(reading.path);
    roast__json_copy_release(&reading.config);
    roast__texts_release(&reading.texts);
    return status < 0 ? status : ROAST_OK;
}

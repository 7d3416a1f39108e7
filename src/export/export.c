/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c - the list of formats, and the file or folder that an export goes to. */
#include "export/export.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "report/page.h"

static const struct roast_export_info infos[] = {
#define F(NAME, name, alias, suffix, text) {#name, (alias), (suffix), (text), false},
#define P(NAME, name, alias, suffix, text) {#name, (alias), (suffix), (text), true},
#include "roast/export_formats.def"
#undef F
#undef P
};

static int (*const writers[ROAST_EXPORT_COUNT])(struct roast__export *in,
                                                roast_error *err) = {
#define F(NAME, name, alias, suffix, text) [ROAST_EXPORT_##NAME] = roast__export_##name,
#define P(NAME, name, alias, suffix, text)
#include "roast/export_formats.def"
#undef F
#undef P
};

const struct roast_export_info *roast_export_info(enum roast_export_format format)
{
    return &infos[format];
}

int roast_export_find(const char *name)
{
    int format = *name ? ROAST_EXPORT_COUNT - 1 : -1;

    while (format >= 0 && strcmp(infos[format].name, name) != 0 &&
           strcmp(infos[format].alias, name) != 0)
        format--;
    return format;
}

bool roast_export_from_summary(enum roast_export_format format)
{
    return format == ROAST_EXPORT_OPENMETRICS || format == ROAST_EXPORT_JSON;
}

/* ---- output ---------------------------------------------------------------------- */

static int fail(struct roast__export *in)
{
    return roast_error_set(&in->failure, ROAST_IO, "%s",
                           errno ? strerror(errno) : "could not be written");
}

void roast__export_put(struct roast__export *in, const void *bytes, size_t size_bytes)
{
    if (in->failure.code != ROAST_OK || size_bytes == 0)
        return;
    errno = 0;
    if (!in->options->path)
        in->options->put(in->options->context, bytes, size_bytes);
    else if (fwrite(bytes, 1, size_bytes, in->file) != size_bytes)
        (void)fail(in);
}

void roast__export_text(struct roast__export *in, const char *text)
{
    roast__export_put(in, text, strlen(text));
}

void roast__export_sink(void *in, const void *bytes, size_t size_bytes)
{
    roast__export_put(in, bytes, size_bytes);
}

static void close_file(struct roast__export *in)
{
    errno = 0;
    if (in->file && fclose(in->file) != 0 && in->failure.code == ROAST_OK)
        (void)fail(in);
    in->file = NULL;
}

static int open_file(struct roast__export *in, const char *path, roast_error *err)
{
    close_file(in);
    errno = 0;
    in->file = fopen(path, "we");
    if (!in->file && in->failure.code == ROAST_OK)
        (void)fail(in);
    if (in->failure.code == ROAST_OK)
        return ROAST_OK;
    return roast_error_set(err, in->failure.code, "%s", in->failure.message);
}

int roast__export_file(struct roast__export *in, const char *name, roast_error *err)
{
    size_t size = strlen(in->target.temporary) + strlen(name) + 2;
    char *path = roast__alloc(size);

    if (!path)
        return roast_error_set(err, ROAST_NO_MEMORY, "a path");
    (void)snprintf(path, size, "%s/%s", in->target.temporary, name);
    int status = open_file(in, path, err);
    roast__free(path);
    return status;
}

/* ---- the target ------------------------------------------------------------------ */

static enum roast_save_mode mode_of(enum roast_export_format format)
{
    return strcmp(infos[format].suffix, "/") == 0 ? ROAST_SAVE_FOLDER
                                                  : ROAST_SAVE_EXPORT;
}

static int open_target(struct roast__export *in, enum roast_export_format format,
                       roast_error *err)
{
    const char *name = infos[format].name;
    enum roast_save_mode mode = mode_of(format);

    if (!writers[format])
        return roast_error_set(err, ROAST_REFUSED,
                               "%s is written by Python: run.export(\"%s\", path)",
                               name, name);
    if (!in->options->path && mode == ROAST_SAVE_FOLDER)
        return roast_error_set(err, ROAST_REFUSED,
                               "%s is a folder of files: it needs a path", name);
    if (!in->options->path)
        return ROAST_OK;
    int status = roast__new_file_open(&in->target, in->options->path, mode, err);
    if (status == ROAST_OK && mode == ROAST_SAVE_EXPORT)
        status = open_file(in, in->target.temporary, err);
    return status;
}

/* Makes the target visible after a success. */
static int close_target(struct roast__export *in, enum roast_export_format format,
                        int status, roast_error *err)
{
    close_file(in);
    if (status == ROAST_OK && in->failure.code != ROAST_OK)
        status = roast_error_set(err, in->failure.code, "%s", in->failure.message);
    if (status == ROAST_OK && in->options->path)
        status = roast__new_file_commit(&in->target, mode_of(format), err);
    roast__new_file_release(&in->target);
    return status;
}

int roast_export(roast_run *run, const roast_summary *summary,
                 enum roast_export_format format,
                 const struct roast_export_options *options, roast_error *err)
{
    struct roast__export in = {.run = run, .summary = summary, .options = options};
    roast_summary *owned = NULL;
    int status = open_target(&in, format, err);

    if (status == ROAST_OK && !summary) {
        status = roast_summarize(&owned, run, err);
        in.summary = owned;
    }
    if (status == ROAST_OK)
        status = writers[format](&in, err);
    status = close_target(&in, format, status, err);
    roast_summary_free(owned);
    return status;
}

int roast_export_metrics(struct roast_page *out,
                         const struct roast_metric_values *values, roast_error *err)
{
    struct roast_buf buf = {NULL, 0, 0, false};
    const struct roast_export_options options = {.put = roast__buf_sink,
                                                 .context = &buf};
    struct roast__export in = {.options = &options};

    roast__export_values(&in, values);
    roast__export_text(&in, "# EOF\n");
    return roast__page_finish(out, &buf, err);
}

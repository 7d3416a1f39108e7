/* SPDX-License-Identifier: BSD-3-Clause */
/* out.c - everything the program writes, and how it reports failures.
 *
 * Standard output is buffered and checked once, at the end: a full disk is reported, a
 * reader that closed the pipe (`| head`) is not. */
#include "out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "roast/report.h"

enum { LINE_BYTES = 1024, PIECE_BYTES = 512 };

static _Noreturn void exit_without_memory(void)
{
    (void)fputs("roast: out of memory\n", stderr);
    exit(CODE_FAILED);
}

void *need_memory(void *ptr, size_t size_bytes)
{
    void *block = realloc(ptr, size_bytes > 0 ? size_bytes : 1);

    if (!block)
        exit_without_memory();
    return block;
}

static int first_errno; /* of writing large pieces */

void out_bytes(struct roast_str text)
{
    errno = 0;
    if (text.size_bytes > 0 &&
        fwrite_unlocked(text.data, 1, text.size_bytes, stdout) < text.size_bytes &&
        first_errno == 0)
        first_errno = errno;
}

void out_text(const char *text)
{
    (void)fputs_unlocked(text, stdout);
}

void out_blanks(size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)putc_unlocked(' ', stdout);
}

void out_data(struct roast_str text)
{
    char printable[PIECE_BYTES];

    while (text.size_bytes > 0) {
        struct roast_str piece = roast_str_cut(text, sizeof(printable));
        if (piece.size_bytes == 0) /* not UTF-8 */
            piece.size_bytes = sizeof(printable);
        out_bytes((struct roast_str){printable, roast_printable(printable, piece)});
        text.data += piece.size_bytes;
        text.size_bytes -= piece.size_bytes;
    }
}

void out_format(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vfprintf(stdout, format, args);
    va_end(args);
}

bool out_wants_bold(void)
{
    static int wants = -1;
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (wants < 0)
        wants = !(no_color && *no_color) && term && *term &&
                strcmp(term, "dumb") != 0 && isatty(fileno(stdout));
    return wants == 1;
}

void out_bold(const char *text)
{
    if (out_wants_bold())
        out_format(BOLD "%s" PLAIN, text);
    else
        out_text(text);
}

static void put_bytes(void *context, const void *bytes, size_t size_bytes)
{
    (void)context;
    out_bytes((struct roast_str){bytes, size_bytes});
}

struct roast_json out_json(void)
{
    return (struct roast_json){.put = put_bytes};
}

roast_row_writer *out_rows(enum roast_format format, const char *const *names,
                           size_t count, uint64_t right_columns)
{
    const struct roast_row_writer_options options = {
        .format = format,
        .names = names,
        .count = count,
        .right_columns = right_columns,
        .before_head = out_wants_bold() ? BOLD : NULL,
        .after_head = out_wants_bold() ? PLAIN : NULL,
        .put = put_bytes,
    };
    roast_row_writer *rows = roast_row_writer_new(&options);

    if (!rows)
        exit_without_memory();
    return rows;
}

void out_rows_end(roast_row_writer *rows)
{
    if (!roast_row_writer_finish(rows))
        exit_without_memory();
}

int out_page(struct roast_page *page, int status, const char *subject,
             const roast_error *err)
{
    if (status < 0)
        return fail_with(subject, err, NULL);
    out_bytes((struct roast_str){page->text, page->size_bytes});
    roast_page_release(page);
    return CODE_OK;
}

int out_finish(void)
{
    errno = 0;
    bool failed = fflush(stdout) != 0;

    errno = first_errno ? first_errno : errno;
    failed = ferror(stdout) != 0 || failed;
    if (!failed)
        return CODE_OK;
    if (errno != EPIPE)
        (void)fail(CODE_FAILED, "standard output", "%s; the output is not complete",
                   errno ? strerror(errno) : "could not be written");
    return CODE_FAILED;
}

/* ---- failures ----------------------------------------------------------------- */

static void put_line(const char *subject, const char *format, va_list args)
{
    char message[LINE_BYTES];
    char line[LINE_BYTES + PIECE_BYTES];
    char printable[LINE_BYTES + PIECE_BYTES];

    (void)vsnprintf(message, sizeof(message), format, args);
    (void)snprintf(line, sizeof(line), "roast: %.*s: %s", PIECE_BYTES - 20, subject,
                   message);
    size_t size = roast_printable(printable, roast_str_of(line));
    (void)fprintf(stderr, "%.*s\n", (int)size, printable);
}

int fail(int code, const char *subject, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(subject, format, args);
    va_end(args);
    return code;
}

void note(const char *subject, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put_line(subject, format, args);
    va_end(args);
}

void note_page(const struct roast_page *page)
{
    (void)fwrite(page->text, 1, page->size_bytes, stderr);
}

/* The exit code and the advice for an error of libroast. */
static const struct error_advice {
    int status;
    int code;
    const char *text;
} advices[] = {
    {ROAST_IO, CODE_UNREADABLE, "check the path and its permissions"},
    {ROAST_BAD_DATA, CODE_UNREADABLE, "is it a .roast or .roast-live file?"},
    {ROAST_TRUNCATED, CODE_UNREADABLE, "copy it again"},
    {ROAST_BAD_CHECKSUM, CODE_UNREADABLE, "it was damaged: copy it again"},
    {ROAST_NEWER_FORMAT, CODE_UNREADABLE, "update it"},
    {ROAST_NO_MEMORY, CODE_FAILED, "out of memory"},
    {ROAST_REFUSED, CODE_USAGE, NULL},
    {0, CODE_FAILED, NULL},
};

int fail_with(const char *subject, const roast_error *err, const char *advice)
{
    const struct error_advice *usual = advices;
    const char *message = err->message;
    size_t size = strlen(subject);

    /* the subject is printed before the message already */
    if (strncmp(message, subject, size) == 0 && strncmp(message + size, ": ", 2) == 0)
        message += size + 2;
    while (usual->status != 0 && usual->status != err->code)
        usual++;
    advice = advice ? advice : usual->text;
    return fail(usual->code, subject, "%s%s%s", message, advice ? "; " : "",
                advice ? advice : "");
}

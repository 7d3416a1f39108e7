/* SPDX-License-Identifier: BSD-3-Clause */
/* out.h - everything the program writes, and how it reports failures.
 *
 * Text from data is written by out_data(), fail(), rows or JSON, so that no control
 * character of a file reaches a terminal. */
#ifndef ROAST_CLI_OUT_H
#define ROAST_CLI_OUT_H

#include "cmd.h"
#include "roast/error.h"
#include "roast/json_write.h"
#include "roast/text.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

void out_text(const char *text);       /* constant text */
void out_bytes(struct roast_str text); /* without control characters */
void out_data(struct roast_str text);  /* any text */
void out_blanks(size_t count);
void out_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_bold(const char *text); /* plain where bold is not wanted */
bool out_wants_bold(void);

/* Both write to standard output. */
struct roast_json out_json(void);
roast_row_writer *out_rows(enum roast_format format, const char *const *names,
                           size_t count, uint64_t right_columns);
void out_rows_end(roast_row_writer *rows); /* NULL is allowed */

static inline void json_key(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
}

static inline void json_text(struct roast_json *json, const char *key, const char *text)
{
    json_key(json, key);
    roast_json_text(json, roast_str_of(text));
}

/* Writes and releases a page, or reports its error; returns an exit code. */
int out_page(struct roast_page *page, int status, const char *subject,
             const roast_error *err);

/* Flushes; CODE_FAILED when something was not written, which is reported unless the
 * reader closed the pipe. */
int out_finish(void);

/* "roast: SUBJECT: message" as one line on standard error; returns code. */
int fail(int code, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of libroast; advice NULL: the usual one for a run file. */
int fail_with(const char *subject, const roast_error *err, const char *advice);
/* A page without control characters, on standard error. */
void note_page(const struct roast_page *page);
void note(const char *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* the same line, no failure */

/* Like realloc, but exits the program when out of memory. */
void *need_memory(void *ptr, size_t size_bytes);

#endif

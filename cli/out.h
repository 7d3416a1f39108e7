/* SPDX-License-Identifier: BSD-3-Clause */
/* out.h - everything the program writes, and how it reports failures.
 *
 * Text from data passes through out_data(), fail() or JSON: no control character of a
 * file ever reaches a terminal. */
#ifndef ROAST_CLI_OUT_H
#define ROAST_CLI_OUT_H

#include "cmd.h"
#include "roast/error.h"
#include "roast/json_write.h"
#include "roast/text.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

void out_text(const char *text);        /* our own */
void out_bytes(struct roast_str text);  /* without control characters */
size_t out_data(struct roast_str text); /* of any kind; returns its columns */
void out_blanks(size_t count);
void out_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_bold(const char *text); /* on a terminal that wants it */
bool out_wants_bold(void);

/* Writes to standard output. */
struct roast_json out_json(void);

static inline void json_key(struct roast_json *json, const char *key)
{
    roast_json_key(json, roast_str_of(key));
}

static inline void json_text(struct roast_json *json, const char *key, const char *text)
{
    json_key(json, key);
    roast_json_text(json, roast_str_of(text));
}

/* Writes a page and takes it, or reports the error of making it; returns an exit code. */
int out_page(struct roast_page *page, int status, const char *subject,
             const roast_error *err);

/* Flushes; CODE_FAILED when something was not written. That is reported unless the reader
 * closed the pipe. */
int out_finish(void);

/* "roast: SUBJECT: message" as one line on standard error; returns code. */
int fail(int code, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of libroast; what_to_do NULL: the advice for a run file. */
int fail_with(const char *subject, const roast_error *err, const char *what_to_do);
void note(const char *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* the same, no failure */

/* Like realloc, but ends the program where there is no memory. */
void *need_memory(void *ptr, size_t size_bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h - how every function of libroast reports a failure.
 *
 * A function that can fail returns a status (0 or a negative value of status.def) and
 * takes a `roast_error *err` as its last argument. The caller owns the struct; NULL is
 * allowed when only the status matters. Nothing is kept in thread-local or static
 * memory, so two threads never see each other's message. */
#ifndef ROAST_ERROR_H
#define ROAST_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum roast_status {
#define S(name, value, text) ROAST_##name = (value),
#include "roast/status.def"
#undef S
};

/* One failure: a status and one line of text with the value and the limit.
 * `{0}` is a valid empty error. */
typedef struct roast_error {
    int code;
    char message[252];
} roast_error;

/* Fills err (if not NULL) and returns code, so that callers write
 * `return roast_error_set(err, ROAST_BAD_DATA, "field %u", n);`. */
int roast_error_set(roast_error *err, int code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* The name of a status ("BAD_DATA"), or "UNKNOWN". Borrows static memory. */
const char *roast_status_name(int status);

/* The meaning of a status in words. Borrows static memory. */
const char *roast_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_wait.c - what a thread of this process waits for at this moment.
 *
 * "running", or the number of the system call and its arguments: "202 0x7f01 0x189 ...";
 * "-1 ..." outside of any. The first argument of futex(2) is its address. */
#include "probe/linux/thread_wait.h"

#include <stdio.h>
#include <sys/syscall.h>

#include "probe/linux/procfile.h"
#include "probe/linux/scan.h"

enum { NAME_BYTES = 64, LINE_BYTES = 256 };

/* "0x7f01a0"; false: no such number. */
static bool scan_address(uint64_t *address, struct roast_str word)
{
    uint64_t value = 0;

    if (word.size_bytes < 3 || word.size_bytes > 18 || word.data[0] != '0' ||
        word.data[1] != 'x')
        return false;
    for (size_t i = 2; i < word.size_bytes; i++) {
        char digit = word.data[i];
        bool decimal = digit >= '0' && digit <= '9';
        if (!decimal && !(digit >= 'a' && digit <= 'f'))
            return false;
        value = value << 4 | (uint64_t)(decimal ? digit - '0' : digit - 'a' + 10);
    }
    *address = value;
    return true;
}

enum roast_thread_wait roast__thread_wait_read(uint64_t *address, const char *root,
                                               uint64_t tid)
{
    char name[NAME_BYTES], line[LINE_BYTES];
    uint64_t number;
    struct roast_str word;

    (void)snprintf(name, sizeof(name), "self/task/%llu/syscall",
                   (unsigned long long)tid);
    struct roast_str text = roast__procfile_read_once(root, name, line, sizeof(line));
    if (text.size_bytes == 0)
        return ROAST_WAIT_UNKNOWN;
    if (!roast__scan_u64(&number, &text) || number != SYS_futex ||
        !roast__scan_until(&word, &text, ' '))
        return ROAST_WAIT_OTHER;
    if (word.size_bytes == 0 && !roast__scan_until(&word, &text, ' '))
        return ROAST_WAIT_OTHER;
    return scan_address(address, word) ? ROAST_WAIT_FUTEX : ROAST_WAIT_OTHER;
}

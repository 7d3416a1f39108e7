/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c - ids and counters shared by all threads of a process.
 *
 * All are reset in a forked child; the counters are atomic and need no lock. */
#include "probe/chunk/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#if ROAST_PROCFS
#include <sys/syscall.h>
#endif

#include "base/checksum.h"
#include "base/clock.h"
#include "probe/chunk/fork.h"
#include "probe/linux/host.h"
#include "roast/probe.h"
#include "roast/version.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t random_id;
static uint64_t pid;
static char host[256];
static size_t host_bytes;
static atomic_uint running;
static _Atomic uint32_t sequence;
static atomic_bool began;             /* the first chunk */
static _Atomic uint64_t described_to; /* the last run, as a hash; 0: none */
static unsigned char name_key[ROAST_NAME_KEY_BYTES];

/* Facts that the program added; an entry below the count never changes. */
static struct {
    char key[16];
    char text[64];
} described_as[ROAST_MAX_PROCESS_TEXTS];
static atomic_size_t described_count;

static bool read_random(void *out, size_t size)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, size) : -1;

    if (fd >= 0)
        (void)close(fd);
    return got == (ssize_t)size;
}

/* Random bytes from the system; clocks and pid as a fallback, which also differ between
 * processes. */
static uint64_t random_number(void)
{
    uint64_t number = 0;

    if (read_random(&number, sizeof(number)) && number != 0)
        return number;
    int64_t mix[3] = {roast__clock_mono_ns(), roast__clock_epoch_ns(),
                      (int64_t)getpid()};
    return roast__hash64(mix, sizeof(mix)) | 1;
}

static void renew(void)
{
    random_id = random_number();
    pid = (uint64_t)getpid();
    atomic_store(&running, 0);
    atomic_store(&sequence, 0);
    atomic_store(&began, false);
    atomic_store(&described_to, 0);
}

static void install(void)
{
    if (gethostname(host, sizeof(host) - 1) == 0)
        host_bytes = strlen(host);
    renew();
    if (!read_random(name_key, sizeof(name_key))) {
        uint64_t numbers[2] = {random_number(), random_number()};
        memcpy(name_key, numbers, sizeof(name_key));
    }
    roast__fork_watch();
    (void)pthread_atfork(NULL, NULL, renew);
}

struct roast_process roast__process(void)
{
    (void)pthread_once(&once, install);
    struct roast_process process = {
        .id = random_id,
        .pid = pid,
        .host = {host_bytes > 0 ? host : NULL, host_bytes},
    };
    return process;
}

uint64_t roast_process_id(void)
{
    return roast__process().id;
}

const unsigned char *roast_name_key(void)
{
    (void)pthread_once(&once, install);
    return name_key;
}

uint64_t roast__thread_number(void)
{
#if ROAST_PROCFS
    return (uint64_t)syscall(SYS_gettid);
#else
    return 0;
#endif
}

uint32_t roast__chunk_enters(unsigned *active)
{
    *active = atomic_fetch_add_explicit(&running, 1, memory_order_relaxed) + 1;
    return atomic_fetch_add_explicit(&sequence, 1, memory_order_relaxed) + 1;
}

unsigned roast__chunk_running(uint32_t *newest)
{
    *newest = atomic_load_explicit(&sequence, memory_order_relaxed);
    return atomic_load_explicit(&running, memory_order_relaxed);
}

unsigned roast__chunk_leaves(uint32_t *newest)
{
    *newest = atomic_load_explicit(&sequence, memory_order_relaxed);
    return atomic_fetch_sub_explicit(&running, 1, memory_order_relaxed);
}

unsigned roast__max_concurrency(unsigned at_end, unsigned at_begin, bool another_began)
{
    unsigned most = at_end > at_begin ? at_end : at_begin;

    return most < 2 && another_began ? 2 : most;
}

bool roast__process_claims_first(void)
{
    return !atomic_load_explicit(&began, memory_order_relaxed) &&
           !atomic_exchange(&began, true);
}

bool roast__process_claims_facts(const unsigned char *run_id)
{
    uint64_t run = roast__hash64(run_id, ROAST_RUN_ID_BYTES) | 1;

    return atomic_load_explicit(&described_to, memory_order_relaxed) != run &&
           atomic_exchange(&described_to, run) != run;
}

/* A site is what the environment says. */
static void keep_text(char *out, size_t out_bytes, struct roast_str text)
{
    text = (struct roast_str){out, roast_str_redact(out, out_bytes, text)};
    out[roast_str_cut(text, out_bytes - 1).size_bytes] = '\0';
}

void roast_process_describe(struct roast_str key, struct roast_str text)
{
    size_t count = atomic_load(&described_count);

    if (count == ROAST_MAX_PROCESS_TEXTS)
        return;
    keep_text(described_as[count].key, sizeof(described_as[count].key), key);
    keep_text(described_as[count].text, sizeof(described_as[count].text), text);
    atomic_store(&described_count, count + 1);
}

void roast__process_put_facts(struct roast_values *out)
{
    size_t count = atomic_load(&described_count);

    roast_values_put_key(out, roast_str_of("roast_version"));
    roast_values_put_text(out, roast_str_of(ROAST_VERSION));
    for (size_t i = 0; i < count; i++) {
        roast_values_put_key(out, roast_str_of(described_as[i].key));
        roast_values_put_text(out, roast_str_of(described_as[i].text));
    }
    roast__host_put_facts(out);
}

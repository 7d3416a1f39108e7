/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c - the hosts that ran chunks: hardware, site, versions.
 *
 * Every process sends these facts with its first chunk of a run, and again after one of
 * another run. Processes of one host may differ: control groups have limits of their own,
 * and jobs bring their own software. Those that are alike in everything have one row. */
#include "analyze/formulas.h"
#include "analyze/key_table.h"
#include "analyze/record_iter.h"
#include "base/checksum.h"
#include "base/mem.h"
#include "base/str.h"

#define AT(name) ROAST_COL_hosts_##name

enum { TEXTS = 8, NUMBERS = 5 };

/* `of_client` is the note with the same fact about the client; NULL: hosts may differ. */
static const struct {
    const char *key; /* in the facts of a process */
    int column;
    const char *of_client;
} texts[TEXTS] = {
    {"cpu_model", AT(cpu_model), NULL},
    {"kernel", AT(kernel), NULL},
    {"site", AT(site), NULL},
    {"python", AT(python), "version.python"},
    {"coffea", AT(coffea), "version.coffea"},
    {"uproot", AT(uproot), "version.uproot"},
    {"awkward", AT(awkward), "version.awkward"},
    {"roast_version", AT(roastcoffea), "version.roastcoffea"},
};

static const struct {
    const char *key;
    int column;
    double per;
} numbers[NUMBERS] = {
    {"cpus_online", AT(cpus), 1},
    {"cpus_allowed", AT(cpus_allowed), 1},
    {"cpu_limit_millicores", AT(cpu_limit), 1000},
    {"memory_total_bytes", AT(memory_bytes), 1},
    {"memory_limit_bytes", AT(memory_limit_bytes), 1},
};

struct host {
    int32_t name;
    uint64_t processes;
    struct roast_str texts[TEXTS]; /* borrow the run */
    int64_t numbers[NUMBERS];      /* -1: not known */
};

static void set_fact(struct host *host, struct roast_str key,
                     const struct roast_value *value)
{
    for (int i = 0; i < TEXTS; i++)
        if (value->type == ROAST_VALUE_TEXT && roast__str_is(key, texts[i].key))
            host->texts[i] = value->str;
    for (int i = 0; i < NUMBERS; i++)
        if (value->type == ROAST_VALUE_INT && value->integer >= 0 &&
            roast__str_is(key, numbers[i].key))
            host->numbers[i] = value->integer;
}

static void read_facts(struct host *host, struct roast_str blob)
{
    struct roast_value value;
    struct roast_str key;

    for (int i = 0; i < NUMBERS; i++)
        host->numbers[i] = -1;
    if (roast_values_check(blob, NULL) != ROAST_OK)
        return;
    while (roast_value_next_key(&key, &blob, NULL) == 1) {
        struct roast_str whole = blob;
        (void)roast_value_next(&value, &whole, NULL);
        (void)roast_value_skip(&blob, NULL);
        set_fact(host, key, &value);
    }
}

/* Of what makes hosts alike. */
static struct roast_key key_of(const struct host *host)
{
    uint64_t parts[TEXTS + NUMBERS] = {0};

    for (int i = 0; i < TEXTS; i++)
        if (host->texts[i].data)
            parts[i] = roast__hash64(host->texts[i].data, host->texts[i].size_bytes);
    memcpy(&parts[TEXTS], host->numbers, sizeof(host->numbers));
    return (struct roast_key){.a = (uint32_t)host->name,
                              .b = roast__hash64(parts, sizeof(parts))};
}

/* False when out of memory. */
static bool add_host(struct roast_key_table *hosts, const struct host *host)
{
    int64_t number = roast__key_number(hosts, key_of(host), ROAST_NO_HINT);

    if (number < 0)
        return false;
    struct host *item = (struct host *)hosts->values + number;
    uint64_t processes = item->processes;
    *item = *host;
    item->processes = processes + 1;
    return true;
}

/* "coffea 2025.1.0, python 3.12.1": what is not as on the client. */
static void fill_differences(roast_table *table,
                             const struct roast_summary_context *ctx,
                             const struct host *host)
{
    struct roast_buf list = {0};

    for (int i = 0; i < TEXTS; i++) {
        struct roast_str here = {NULL, 0};
        if (texts[i].of_client)
            here = roast__notes_get(&ctx->run->notes, ROAST_NOTES_provenance,
                                    roast_str_of(texts[i].of_client));
        if (!here.data || !host->texts[i].data ||
            roast__str_equal(here, host->texts[i]))
            continue;
        struct roast_str name = roast_str_of(texts[i].of_client + strlen("version."));
        roast__buf_put(&list, ", ", list.size_bytes > 0 ? 2 : 0);
        roast__buf_put(&list, name.data, name.size_bytes);
        roast__buf_put(&list, " ", 1);
        roast__buf_put(&list, host->texts[i].data, host->texts[i].size_bytes);
    }
    if (list.size_bytes > 0 || list.failed)
        roast__fill_list(table, AT(differs), &list);
}

static void put_host(roast_table *table, const struct roast_summary_context *ctx,
                     const struct host *host)
{
    roast__table_row(table);
    roast__fill_text(table, AT(host), roast__context_text(ctx, host->name));
    roast__fill_count(table, AT(processes), host->processes);
    for (int i = 0; i < TEXTS; i++)
        roast__fill_text(table, texts[i].column, host->texts[i]);
    for (int i = 0; i < NUMBERS; i++) {
        if (host->numbers[i] < 0)
            continue;
        if (numbers[i].per > 1)
            roast__fill_number(table, numbers[i].column,
                               (double)host->numbers[i] / numbers[i].per);
        else
            roast__fill_int(table, numbers[i].column, host->numbers[i]);
    }
    fill_differences(table, ctx, host);
}

void roast__summarize_hosts(const struct roast_summary_context *ctx)
{
    roast_table *table = roast__summary_open(ctx->summary, ROAST_TABLE_hosts);
    struct roast_record_iter iter = {
        .ctx = ctx, .fields = ROAST_FIELD_BIT(process), .roles = ROAST_ROLES_ALL};
    const struct roast_attempts *attempts = &ctx->run->attempts;
    bool *is_known = roast__alloc(attempts->process_count * sizeof(*is_known));
    struct roast_key_table hosts = {.value_bytes = sizeof(struct host)};

    ctx->summary->failed |= !is_known;
    while (!ctx->summary->failed && roast__record_iter_next(&iter)) {
        struct host host = {.name =
                                attempts->processes[attempts->process[iter.row]].host};
        int32_t process = roast__process_of(attempts, iter.row);
        if (is_known[process])
            continue;
        is_known[process] = true;
        read_facts(&host, iter.rec.values[ROAST_FIELD_process].str);
        ctx->summary->failed |= !add_host(&hosts, &host);
    }
    for (size_t i = 0; i < hosts.count; i++)
        put_host(table, ctx, (const struct host *)hosts.values + i);
    roast__key_table_release(&hosts);
    roast__free(is_known);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_sql.c - roast sql: asks a run file with a SELECT. */
#include "out.h"
#include "rows.h"
#include "source.h"

static bool put_row(void *context, const char *const *names,
                    const struct roast_cell *cells, size_t count)
{
    struct rows *rows = context;

    if (cells)
        rows_put(rows, cells);
    else
        rows_begin(rows, names, count);
    return true;
}

/* A query that is refused is wrong usage; a file that cannot be read is not. */
static int ask(struct source *source, const char *query, enum format format)
{
    struct rows rows = {.format = format};
    roast_error err = {0};
    int status = roast_runfile_sql(source->file, query, put_row, &rows, &err);

    rows_end(&rows);
    if (status == ROAST_BAD_DATA || status == ROAST_LIMIT)
        return fail(CODE_USAGE, source->path, "%s; roast help sql lists the tables",
                    err.message);
    return status < 0 ? fail_with(source->path, &err, NULL) : CODE_OK;
}

static int sql(const struct arguments *args)
{
    struct source source = {0};
    int code = source_open_file(&source, args->operands[0]);

    if (code == CODE_OK)
        code = ask(&source, args->operands[1], args_format(args));
    source_close(&source);
    return code;
}

static const struct option options[] = {FORMAT_OPTION(ROW_FORMATS), {0}};

const struct command cmd_sql = {
    .name = "sql",
    .operands = "RUN QUERY",
    .summary = "ask a run with a SELECT",
    .help = "One SELECT, which cannot change the file. Tables:\n"
#define T(name, key, shape, maker, needs, text) "  " #name ": " text "\n"
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S
            "Beside them there are those of the file itself (docs/format.md).\n"
            "Times are nanoseconds since 1970, UTC.\n",
    .options = options,
    .min_operands = 2,
    .max_operands = 2,
    .run = sql,
};

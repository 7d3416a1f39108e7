/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_sql.c - roast sql: queries a run file with a SELECT. */
#include "out.h"
#include "source.h"

struct query_output {
    enum roast_format format;
    roast_row_writer *rows; /* owned; NULL until the names are known */
};

/* Called with the names first, without cells. */
static bool put_row(void *context, const char *const *names,
                    const struct roast_cell *cells, size_t count)
{
    struct query_output *output = context;

    if (cells)
        roast_row_writer_put(output->rows, cells);
    else
        output->rows = out_rows(output->format, names, count, 0);
    return true;
}

/* A rejected query is wrong usage; an unreadable file is not. */
static int run_query(struct source *source, const char *query, enum roast_format format)
{
    struct query_output output = {.format = format};
    roast_error err = {0};
    int status = roast_runfile_sql(source->file, query, put_row, &output, &err);

    out_rows_end(output.rows);
    if (status == ROAST_LIMIT)
        return fail_with(source->path, &err, "--seconds allows more");
    if (status == ROAST_REFUSED)
        return fail(CODE_USAGE, source->path, "%s; roast help sql lists the tables",
                    err.message);
    return status < 0 ? fail_with(source->path, &err, NULL) : CODE_OK;
}

static int sql(const struct arguments *args)
{
    struct source source = {0};
    double seconds;

    if (!args_number(args, "seconds", FROM_0, 60, &seconds))
        return CODE_USAGE;
    int code = source_open_file(&source, args->operands[0]);
    if (code == CODE_OK)
        roast_runfile_limit_sql(source.file, seconds);
    if (code == CODE_OK)
        code = run_query(&source, args->operands[1], args_format(args));
    source_close(&source);
    return code;
}

static const struct option options[] = {
    FORMAT_OPTION(ROW_FORMATS),
    {"seconds", 0, "N", "time limit; 60 if not given, 0: none"},
    {0}};

const struct command cmd_sql = {
    .name = "sql",
    .operands = "RUN QUERY",
    .summary = "query a run with a SELECT",
    .help = "One SELECT, which cannot change the file. Tables:\n"
#define T(name, key, shape, maker, needs, text) "  " #name ": " text "\n"
#define S(name, key, shape, text)
#include "roast/tables.def"
#undef T
#undef S
            "The tables of the file format are there too (docs/format.md).\n"
            "Times are nanoseconds since 1970, UTC.\n",
    .options = options,
    .min_operands = 2,
    .max_operands = 2,
    .run = sql,
};

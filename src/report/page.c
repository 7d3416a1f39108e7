/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - reading metrics, and the end of every page. */
#include "report/page.h"

#include <math.h>

static int finish(struct roast_page *out, struct roast_buf *buf, const char *begin,
                  const char *end, roast_error *err)
{
    struct roast_buf page = {0};
    size_t from = 0;

    for (size_t i = 0; i <= buf->size_bytes; i++) {
        bool begins = i < buf->size_bytes && buf->data[i] == ROAST_HEADING[0];
        bool ends = i < buf->size_bytes && buf->data[i] == ROAST_HEADING_END[0];
        if (!begins && !ends && i < buf->size_bytes)
            continue;
        roast__buf_put(&page, buf->data + from, i - from);
        roast__put(&page, begins ? begin : ends ? end : "");
        from = i + 1;
    }
    size_t size_bytes = page.size_bytes;
    roast__buf_put(&page, "", 1); /* for printing it as a C string */
    bool done = roast__buf_ok(buf) && roast__buf_ok(&page);
    roast__buf_release(buf);
    *out = (struct roast_page){NULL, 0};
    if (!done) {
        roast__buf_release(&page);
        return roast_error_set(err, ROAST_NO_MEMORY, "a page of %zu bytes", size_bytes);
    }
    out->text = (char *)page.data; /* moved to the caller */
    out->size_bytes = size_bytes;
    return ROAST_OK;
}

int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err)
{
    return finish(out, buf, "", "", err);
}

int roast__page_finish_bold(struct roast_page *out, struct roast_buf *buf,
                            roast_error *err)
{
    return finish(out, buf, "\033[1m", "\033[0m", err);
}

bool roast__metric(double *value, const struct roast_shown *shown,
                   enum roast_metric metric)
{
    *value = shown->values->value[metric];
    return shown->values->known[metric] && isfinite(*value);
}

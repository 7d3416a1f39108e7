/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - reading metrics, and the end of every page. */
#include "report/page.h"

#include <math.h>

int roast__page_finish(struct roast_page *out, struct roast_buf *buf, roast_error *err)
{
    size_t size_bytes = buf->size_bytes;

    roast__buf_put(buf, "", 1); /* for those who print it as a C string */
    *out = (struct roast_page){NULL, 0};
    if (!roast__buf_ok(buf)) {
        roast__buf_release(buf);
        return roast_error_set(err, ROAST_NO_MEMORY, "a page of %zu bytes", size_bytes);
    }
    out->text = (char *)buf->data; /* moved to the caller */
    out->size_bytes = size_bytes;
    return ROAST_OK;
}

bool roast__metric(double *value, const struct roast_shown *shown,
                   enum roast_metric metric)
{
    *value = shown->values->value[metric];
    return shown->values->known[metric] && isfinite(*value);
}

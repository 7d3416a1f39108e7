/* SPDX-License-Identifier: BSD-3-Clause */
/* procio.c - bytes this process has read and written since it began. */
#include "probe/linux/procio.h"

#include "probe/linux/scan.h"

enum { IO_BYTES = 512 };

bool roast__procio_parse(struct roast_procio *io, struct roast_str text)
{
    io->has_rchar = roast__scan_find_u64(&io->rchar_bytes, text, "rchar");
    io->has_wchar = roast__scan_find_u64(&io->wchar_bytes, text, "wchar");
    io->has_read_bytes = roast__scan_find_u64(&io->read_bytes, text, "read_bytes");
    io->has_write_bytes = roast__scan_find_u64(&io->write_bytes, text, "write_bytes");
    return io->has_rchar || io->has_wchar || io->has_read_bytes || io->has_write_bytes;
}

bool roast__procio_read(struct roast_procfile *file, struct roast_procio *io)
{
    char buffer[IO_BYTES];
    struct roast_str text =
        roast__procfile_read(file, "self/io", buffer, sizeof(buffer));

    return roast__procio_parse(io, text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c - bytes through the network interfaces of this process's namespace.
 *
 *     two lines of titles, without a colon
 *       eth0: 524775370 12284 0 0 0 0 0 0 678452 7233 0 0 0 0 0 0
 *             received, packets and 6 more; sent, packets and 6 more */
#include "probe/linux/network.h"

#include "base/str.h"
#include "probe/linux/scan.h"

enum { DEV_BYTES = 65536, SENT = 8 };

/* Parses what follows the name of an interface. */
static bool parse_interface(struct roast_network *network, struct roast_str line)
{
    uint64_t received, sent;

    if (!roast__scan_u64(&received, &line))
        return false;
    for (int field = 1; field <= SENT; field++) {
        if (!roast__scan_u64(&sent, &line))
            return false;
    }
    *network = (struct roast_network){received, sent};
    return true;
}

bool roast__network_parse(struct roast_network *network, struct roast_str text)
{
    struct roast_network sum = {0, 0}, one;
    struct roast_str line, name;
    bool any = false;

    while (roast__scan_until(&line, &text, '\n')) {
        while (line.size_bytes > 0 && line.data[0] == ' ') {
            line.data++;
            line.size_bytes--;
        }
        if (!roast__scan_until(&name, &line, ':') || !parse_interface(&one, line))
            continue;
        any = true;
        if (roast__str_is(name, "lo"))
            continue;
        sum.received_bytes += one.received_bytes;
        sum.sent_bytes += one.sent_bytes;
    }
    if (any)
        *network = sum;
    return any;
}

bool roast__network_read(struct roast_procfile *file, struct roast_network *network)
{
    char text[DEV_BYTES];
    struct roast_str read =
        roast__procfile_read(file, "self/net/dev", text, sizeof(text));

    /* a longer one was cut, and its sum would be too small */
    return read.size_bytes < sizeof(text) - 256 && roast__network_parse(network, read);
}

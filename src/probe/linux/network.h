/* SPDX-License-Identifier: BSD-3-Clause */
/* network.h - bytes through the network interfaces of this process's namespace.
 *
 * All interfaces but the loopback are added up, for all processes of the namespace. A
 * packet that passes a bridge is counted on both of its interfaces. */
#ifndef ROAST_PROBE_LINUX_NETWORK_H
#define ROAST_PROBE_LINUX_NETWORK_H

#include <stdint.h>

#include "probe/linux/procfile.h"

struct roast_network {
    uint64_t received_bytes;
    uint64_t sent_bytes;
};

/* From /proc/self/net/dev. */
bool roast__network_read(struct roast_procfile *file, struct roast_network *network);

/* False when there is no interface at all. */
bool roast__network_parse(struct roast_network *network, struct roast_str text);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* pressure.c - how long tasks waited for a core, memory or I/O (PSI).
 *
 *     some avg10=0.12 avg60=0.03 avg300=0.00 total=509278281      total is in us
 *     full ... */
#include "probe/linux/pressure.h"

#include "probe/linux/scan.h"

enum { PRESSURE_BYTES = 512 };

bool roast__pressure_parse(uint64_t *waited_ns, struct roast_str text)
{
    static const char total[] = "total=";
    struct roast_str line, word;
    uint64_t us;

    if (!roast__scan_find(&line, text, "some"))
        return false;
    while (roast__scan_until(&word, &line, ' ')) {
        size_t size = sizeof(total) - 1;
        if (word.size_bytes <= size || memcmp(word.data, total, size) != 0)
            continue;
        struct roast_str number = {word.data + size, word.size_bytes - size};
        if (!roast__scan_u64(&us, &number) || us > UINT64_MAX / 1000)
            return false;
        *waited_ns = us * 1000;
        return true;
    }
    return false;
}

bool roast__pressure_read(struct roast_pressure *pressure, uint64_t *waited_ns)
{
    char text[PRESSURE_BYTES];

    return roast__pressure_parse(
        waited_ns,
        roast__procfile_read(&pressure->file, pressure->name, text, sizeof(text)));
}

void roast__pressure_find(struct roast_pressure *pressure,
                          enum roast_pressure_kind kind,
                          const struct roast_cgroup *group, const char *proc_root)
{
    static const struct {
        const char *of_group;
        const char *of_machine;
    } names[] = {
        [ROAST_PRESSURE_CPU] = {"cpu.pressure", "pressure/cpu"},
        [ROAST_PRESSURE_MEMORY] = {"memory.pressure", "pressure/memory"},
        [ROAST_PRESSURE_IO] = {"io.pressure", "pressure/io"},
    };
    bool is_cpu = kind == ROAST_PRESSURE_CPU;
    uint64_t waited_ns;

    *pressure = (struct roast_pressure){
        .file.root = is_cpu ? group->cpu_dir : group->memory_dir,
        .name = names[kind].of_group,
    };
    if ((is_cpu ? group->cpu_version : group->memory_version) == 2 &&
        roast__pressure_read(pressure, &waited_ns))
        return;
    roast__procfile_close(&pressure->file);
    *pressure =
        (struct roast_pressure){.file.root = proc_root, .name = names[kind].of_machine};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.h - what can be measured on this machine, and what is lost otherwise. */
#ifndef ROAST_DOCTOR_H
#define ROAST_DOCTOR_H

#ifdef __cplusplus
extern "C" {
#endif

enum roast_doctor_kind {
    ROAST_DOCTOR_FACT, /* neither good nor bad */
    ROAST_DOCTOR_YES,
    ROAST_DOCTOR_NO,
};

/* The result of one check. Texts are borrowed for the call. */
struct roast_doctor_line {
    enum roast_doctor_kind kind;
    const char *name;
    const char *found; /* the value; of NO: what was checked */
    const char *lost;  /* of NO: what cannot be measured; else "" */
};

typedef void roast_doctor_visitor(void *context, const struct roast_doctor_line *line);

/* Paths of what is checked; NULL: "/proc", "/sys/fs/cgroup", "/sys" and "/tmp". */
struct roast_doctor_roots {
    const char *proc;
    const char *cgroup;
    const char *sys;
    const char *scratch; /* a file is written there, synced and removed */
};

/* Runs every check and calls `line` once for each. Changes nothing. */
void roast_doctor(const struct roast_doctor_roots *roots, roast_doctor_visitor *line,
                  void *context);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* write.h - writes a change of a run as a journal entry; the payloads are those
 * of journal_entries.def.
 *
 * Code that changes a run calls one of these with the journal of the run, with the lock
 * held and after the change was made; without a journal (NULL) they do nothing. What a
 * run derives by itself, like thinned samples, is not written: it is derived again. */
#ifndef ROAST_RUN_JOURNAL_WRITE_H
#define ROAST_RUN_JOURNAL_WRITE_H

#include "run/journal/journal.h"
#include "run/merge.h"

void roast__journal_write_finish(struct roast_journal *journal, int64_t end_mono_ns);
void roast__journal_write_host(struct roast_journal *journal, struct roast_str host);
void roast__journal_write_accept(struct roast_journal *journal,
                                 const unsigned char run_id[ROAST_RUN_ID_BYTES]);
void roast__journal_write_text(struct roast_journal *journal, struct roast_str text,
                               bool is_name);
void roast__journal_write_sample(struct roast_journal *journal, int32_t worker,
                                 const struct roast_tick *tick);
void roast__journal_write_use(struct roast_journal *journal,
                              const struct roast_process_use *use);
void roast__journal_write_offer(struct roast_journal *journal,
                                const struct roast_offer *offer);
void roast__journal_write_count(struct roast_journal *journal,
                                const struct roast_count *count);
void roast__journal_write_fact(struct roast_journal *journal, enum roast_fact fact,
                               double value);
void roast__journal_write_loss(struct roast_journal *journal, enum roast_run_loss loss,
                               uint64_t count);
void roast__journal_write_mark(struct roast_journal *journal, enum roast_mark mark,
                               int64_t mono_ns);
void roast__journal_write_note(struct roast_journal *journal,
                               enum roast_note_group group, struct roast_str name,
                               struct roast_str text);
void roast__journal_write_member(struct roast_journal *journal,
                                 const struct roast_member *member);
void roast__journal_write_departure(struct roast_journal *journal,
                                    const struct roast_departure *departure);
void roast__journal_write_offset(struct roast_journal *journal, struct roast_str host,
                                 int64_t offset_ns);
void roast__journal_write_task(struct roast_journal *journal, size_t row);
void roast__journal_write_activity(struct roast_journal *journal,
                                   const struct roast_activity *activity);
void roast__journal_write_hot_line(struct roast_journal *journal,
                                   const struct roast_hot_line *line);

/* A record that was merged into a row (record.c). `link` is NULL where the task
 * is not known. */
void roast__journal_write_record(struct roast_journal *journal, const roast_record *rec,
                                 size_t row, const struct roast_task_link *link);

/* Counts one loss and writes it. */
void roast__lose_and_write(struct roast_run *run, enum roast_run_loss loss);

/* ---- for record.c and dump.c ----------------------------------------------------- */

/* Where the payload of the next entry is made, empty. */
struct roast_buf *roast__journal_begin(struct roast_journal *journal);

/* Appends to the payload that is being made. A text is announced if that was not done
 * since the block `since`. */
void roast__journal_put_time(struct roast_journal *journal, int64_t time_ns);
void roast__journal_put_text(struct roast_journal *journal, struct roast_str text);
void roast__journal_put_reference(struct roast_journal *journal, int32_t text,
                                  uint32_t since);

#endif

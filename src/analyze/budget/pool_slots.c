/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_slots.c - the places of an executor's pool, where no scheduler tells of workers.
 *
 * Places are taken in the order in which processes began, the lowest free one first.
 * An attempt that begins while another has the place of its process (a pool of threads)
 * takes a free one. Where more overlap than were offered, the place that is free soonest
 * is shared: the budget cuts what does not fit. */
#include "analyze/budget/pool_slots.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls.h"
#include "analyze/timeline.h"
#include "base/mem.h"

/* ---- shifts ---------------------------------------------------------------------- */

static uint64_t most_threads(const struct roast_run *run)
{
    uint64_t most = 0;

    for (size_t i = 0; i < run->offer_count; i++)
        most = run->offers[i].threads > most ? run->offers[i].threads : most;
    return most;
}

static size_t count_openings(const struct roast_run *run)
{
    uint64_t before = 0, count = 0;

    for (size_t i = 0; i < run->offer_count; i++) {
        uint64_t threads = run->offers[i].threads;
        count += threads > before ? threads - before : 0;
        before = threads;
    }
    return (size_t)count;
}

/* The first offer holds from the start of the run on. */
static int64_t from_of(const struct roast_study *study, size_t offer)
{
    if (offer == 0)
        return study->run->start_ns;
    return roast__time_clamp(study->run->offers[offer].time_ns, study->run->start_ns,
                             study->end_ns);
}

/* How many shifts each place has, then where they begin. */
static void count_shifts(struct roast_places *places, const struct roast_run *run)
{
    uint64_t before = 0;

    for (size_t i = 0; i < run->offer_count; i++) {
        uint64_t threads = run->offers[i].threads;
        for (uint64_t place = before; place < threads; place++)
            places->first_shift[place + 1]++;
        before = threads;
    }
    for (uint32_t place = 0; place < places->count; place++)
        places->first_shift[place + 1] += places->first_shift[place];
}

/* next: per place the number of its next shift. */
static void make_shifts(struct roast_schedule *schedule, uint32_t *next,
                        const struct roast_study *study)
{
    const struct roast_run *run = study->run;
    uint64_t before = 0;

    for (size_t i = 0; i < run->offer_count; i++) {
        uint64_t threads = run->offers[i].threads;
        int64_t time_ns = from_of(study, i);
        for (uint64_t place = threads; place < before; place++)
            schedule->shifts[next[place] - 1].to_ns = time_ns;
        for (uint64_t place = before; place < threads; place++)
            schedule->shifts[next[place]++] = (struct roast_shift){
                .from_ns = time_ns,
                .to_ns = study->end_ns,
                .threads = 1,
                .stay = -1,
                .process = -1,
            };
        before = threads;
    }
}

static bool find_shifts(struct roast_places *places, struct roast_schedule *schedule,
                        const struct roast_study *study)
{
    size_t count = count_openings(study->run);
    uint32_t *next = roast__alloc(places->count * sizeof(next[0]));

    schedule->shifts = roast__alloc(count * sizeof(schedule->shifts[0]));
    places->first_shift =
        roast__alloc((places->count + 1) * sizeof(places->first_shift[0]));
    bool done = next && schedule->shifts && places->first_shift;
    if (done) {
        count_shifts(places, study->run);
        memcpy(next, places->first_shift, places->count * sizeof(next[0]));
        make_shifts(schedule, next, study);
        schedule->shift_count = count;
    }
    roast__free(next);
    return done;
}

/* ---- processes ------------------------------------------------------------------- */

/* A process from the first to the last of its attempts. */
struct spell {
    int64_t from_ns;
    int64_t to_ns;
    uint32_t process;
    bool any;
};

static int by_begin(const void *a, const void *b)
{
    const struct spell *left = a, *right = b;

    if (left->from_ns != right->from_ns)
        return left->from_ns < right->from_ns ? -1 : 1;
    return left->process < right->process ? -1 : left->process > right->process;
}

static void find_spells(struct spell *spells, const struct roast_attempts *attempts)
{
    for (uint32_t i = 0; i < attempts->process_count; i++)
        spells[i].process = i;
    for (size_t row = 0; row < attempts->count; row++) {
        struct spell *spell = &spells[attempts->process[row]];
        int64_t start, stop;
        if (!roast__attempt_times(attempts, row, &start, &stop))
            continue;
        spell->from_ns = !spell->any || start < spell->from_ns ? start : spell->from_ns;
        spell->to_ns = !spell->any || stop > spell->to_ns ? stop : spell->to_ns;
        spell->any = true;
    }
}

/* The lowest of so many places that is free, or is free soonest. */
static uint32_t choose(const int64_t *busy_ns, uint64_t count, int64_t from_ns)
{
    uint32_t soonest = 0;

    for (uint32_t place = 0; place < count; place++) {
        if (busy_ns[place] <= from_ns)
            return place;
        if (busy_ns[place] < busy_ns[soonest])
            soonest = place;
    }
    return soonest;
}

static void clear_places(struct roast_places *places)
{
    for (uint32_t place = 0; place < places->count; place++)
        places->busy_ns[place] = places->asked_ns[place] = INT64_MIN;
}

static bool seat(struct roast_places *places, const struct roast_run *run)
{
    size_t count = run->attempts.process_count;
    struct spell *spells = roast__alloc(count * sizeof(spells[0]));

    places->of_process = roast__alloc(count * sizeof(places->of_process[0]));
    places->busy_ns = roast__alloc(places->count * sizeof(places->busy_ns[0]));
    places->asked_ns = roast__alloc(places->count * sizeof(places->asked_ns[0]));
    bool done = spells && places->of_process && places->busy_ns && places->asked_ns;
    if (done) {
        find_spells(spells, &run->attempts);
        clear_places(places);
        if (count > 1)
            qsort(spells, count, sizeof(spells[0]), by_begin);
    }
    for (size_t i = 0; done && i < count; i++) {
        if (!spells[i].any)
            continue;
        uint32_t place = choose(places->busy_ns, places->count, spells[i].from_ns);
        places->of_process[spells[i].process] = place;
        places->busy_ns[place] = spells[i].to_ns;
    }
    if (done)
        clear_places(places); /* now for the attempts one by one */
    roast__free(spells);
    return done;
}

/* ---- all ------------------------------------------------------------------------- */

bool roast__places_find(struct roast_places *places, struct roast_schedule *schedule,
                        const struct roast_study *study)
{
    uint64_t most = most_threads(study->run);

    if (most == 0 || most > ROAST_MOST_PLACES ||
        count_openings(study->run) > ROAST_MOST_OPENINGS)
        return true;
    places->count = (uint32_t)most;
    return find_shifts(places, schedule, study) && seat(places, study->run);
}

void roast__places_release(struct roast_places *places)
{
    roast__free(places->of_process);
    roast__free(places->first_shift);
    roast__free(places->busy_ns);
    roast__free(places->asked_ns);
    *places = (struct roast_places){0};
}

/* The shift of a place at a time, the first one before it, the last one behind it. */
static int64_t shift_at(const struct roast_places *places,
                        const struct roast_schedule *schedule, uint32_t place,
                        int64_t time_ns)
{
    size_t first = places->first_shift[place];
    size_t low = first, high = places->first_shift[place + 1];

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (schedule->shifts[middle].from_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)(low > first ? low - 1 : first);
}

/* The lowest places are open while fewer are offered than there were; all of them while
 * none is: somebody works there all the same. */
static uint32_t open_at(const struct roast_places *places, const struct roast_run *run,
                        int64_t time_ns)
{
    uint64_t threads = roast__run_offer_at(run, time_ns)->threads;

    return threads > 0 ? (uint32_t)threads : places->count;
}

int64_t roast__place_of_row(struct roast_places *places,
                            struct roast_schedule *schedule,
                            const struct roast_run *run, size_t row,
                            const int64_t times[2])
{
    int32_t process = run->attempts.process[row];
    uint32_t place = places->of_process[process];
    uint32_t open = open_at(places, run, times[0]);

    if (place >= open || places->busy_ns[place] > times[0])
        place = choose(places->busy_ns, open, times[0]);
    if (times[1] > places->busy_ns[place])
        places->busy_ns[place] = times[1];
    int64_t shift = shift_at(places, schedule, place, times[0]);
    schedule->shifts[shift].process = process;
    return shift;
}

int64_t roast__place_of_task(struct roast_places *places,
                             const struct roast_schedule *schedule,
                             const struct roast_run *run, const int64_t times[2])
{
    const struct roast_offer *offer = roast__run_offer_at(run, times[0]);

    if (!offer || offer->threads == 0)
        return -1;
    uint32_t place = choose(places->asked_ns, offer->threads, times[0]);
    if (times[1] > places->asked_ns[place])
        places->asked_ns[place] = times[1];
    return shift_at(places, schedule, place, times[0]);
}

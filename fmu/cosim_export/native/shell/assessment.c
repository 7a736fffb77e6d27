/* The error of the coupling: samples of the exchanges, and what they say. */
#include "container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_AT_THE_END = 4 };

static int64_t address_of(const void *place) { return (int64_t)(intptr_t)place; }

static int64_t kept_rows(const Array *arrays)
{
    const int64_t *counts = arrays[COLLECTED_COUNTS].data;
    return counts[STORED];
}

static int refuse_memory(const Array *arrays)
{
    (void)snprintf(arrays[MESSAGE].data, MESSAGE_WORDS * ITEM, "there is no memory for samples of the coupling");
    return 0;
}

/* Room for what an exchange may bring at once and as much more, up to all that may be kept: beyond, every second sample is
   dropped. */
static int make_room(Array *arrays)
{
    const int64_t width = arrays[COLLECTED_PRESENT].rows, used = kept_rows(arrays), most = *(const int64_t *)arrays[SAMPLING_LIMITS].data;
    int64_t wanted = (used + 2 * AT_ONCE) * width;
    if (arrays[COLLECTED_KEPT].rows >= wanted || arrays[COLLECTED_KEPT].rows >= most) return 1;
    if (wanted < 2 * used * width) wanted = 2 * used * width;
    if (wanted > most) wanted = most;
    return grow_array(&cosim_model, &arrays[COLLECTED_KEPT], wanted) ? 1 : refuse_memory(arrays);
}

static int start(Array *arrays)
{
    int64_t stop = 0, head[2 * SAMPLE_ARRAYS];
    double *found = arrays[ASSESSMENT_OUTCOME].data;
    write_head(arrays, SAMPLING_PLACES, SAMPLE_ARRAYS, head);
    if (cosim_start_samples(&stop, address_of(arrays[HEAD].data), address_of(head)) != 0) return 0;
    for (int64_t i = 0; i < arrays[ASSESSMENT_OUTCOME].rows; i++) found[i] = -1.0;
    found[0] = IS_UNKNOWN;
    ((double *)arrays[CLOCK].data)[ASSESSED_STEPS] = -1.0;
    return make_room(arrays);
}

/* On copies: the run goes on. Without memory the last answer stands. */
static void assess_copies(const Array *arrays)
{
    Array copies[COLLECTED_ARRAYS];
    int64_t samples[2 * COLLECTED_ARRAYS], assessed[2 * KNOWN_ARRAYS], size = 0, stop = 0;
    const int64_t width = arrays[COLLECTED_PRESENT].rows, kept = (kept_rows(arrays) + MORE_AT_THE_END) * width;
    size_t total = 0;
    double *block, *place, *room = NULL;
    for (int64_t i = 0; i < COLLECTED_ARRAYS; i++) {
        copies[i] = arrays[COLLECTED_SOURCES + i];
        if (COLLECTED_SOURCES + i == COLLECTED_KEPT) copies[i].rows = kept;
        total += bytes_of(&copies[i]);
    }
    place = block = malloc(total + ITEM);
    if (block == NULL) return;
    memset(block, 0, total);
    for (int64_t i = 0; i < COLLECTED_ARRAYS; i++) {
        const Array *of = &arrays[COLLECTED_SOURCES + i];
        copies[i].data = place;
        memcpy(place, of->data, bytes_of(bytes_of(of) < bytes_of(&copies[i]) ? of : &copies[i]));
        place += copies[i].rows;
    }
    write_head(copies, 0, COLLECTED_ARRAYS, samples);
    write_head(arrays, WIRED_OWNERS, KNOWN_ARRAYS, assessed);
    if (cosim_assessment_room(&size, address_of(samples), address_of(assessed)) == 0)
        room = malloc((size_t)size * sizeof(double) + ITEM);
    if (room != NULL) (void)cosim_assess_samples(&stop, address_of(samples), address_of(assessed), address_of(room), size);
    free(room);
    free(block);
}

/* Anew when there are twice as many steps, and at the end. */
void container_assess(Array *arrays)
{
    double *clock = arrays[CLOCK].data;
    const double steps = (double)((const ExchangeReport *)arrays[MACHINE_REPORT_WORDS].data)->step, before = clock[ASSESSED_STEPS];
    const int is_at_end = clock[TIME_NOW] >= ((const double *)arrays[NUMBERS].data)[STOP_TIME];
    if (clock[HAS_VALUES] == 0.0) return;
    if (before >= 0.0 && steps <= 2.0 * before && !(is_at_end && steps > before)) return;
    clock[ASSESSED_STEPS] = steps;
    assess_copies(arrays);
}

const Assessing cosim_assessing = {start, make_room};

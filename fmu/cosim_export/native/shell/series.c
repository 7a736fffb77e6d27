/* Members that are values over time, which conditions may change. */
#include "container.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A member for the length of a call. What changes lies in one row of numbers: the time (s), what conditions read, which
   of them hold, and for each signal when a condition has set it last, and to what. A second row behind it is what an
   algorithm goes back to. */
typedef struct {
    const Member *of;
    double *now;
    double *seen;
    double *held;
    double *set_at;
    double *set_to;
    char *message;
} Series;

static void *pointer(int64_t address) { return (void *)(intptr_t)address; }

/* How many of the times are below another one, or no later than it. */
static int64_t count_before(const double *times, int64_t count, double time, int is_included)
{
    int64_t first = 0, end = count;
    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        if (times[middle] < time || (is_included && times[middle] == time)) first = middle + 1;
        else end = middle;
    }
    return first;
}

static int64_t size_of(const SeriesUnit *unit)
{
    return 1 + unit->seen_count + unit->trigger_count + 2 * unit->signal_count;
}

static int is_true(const Series *series, const Comparison *comparison)
{
    const double value = series->seen[comparison->value];
    const double other = comparison->other < 0 ? comparison->number : series->seen[comparison->other];
    switch (comparison->operation) {
    case IS_LEAST: return value >= other;
    case IS_MOST: return value <= other;
    case IS_EQUAL: return value == other;
    case IS_OTHER: return value != other;
    case IS_ABOVE: return value > other;
    default: return value < other;
    }
}

/* Conditions that become true set their values. */
static void evaluate(const Series *series)
{
    const SeriesUnit *unit = series->of->series;
    const Comparison *comparison = unit->comparisons;
    for (int64_t i = 0; i < unit->seen_count; i++)
        if (isnan(series->seen[i])) return;
    for (int64_t i = 0; i < unit->trigger_count; i++) {
        int holds = 0, all = 1;
        for (;; comparison++) {
            all = all && is_true(series, comparison);
            if (comparison->ends == 0) continue;
            holds = holds || all;
            all = 1;
            if (comparison->ends == 2) break;
        }
        comparison++;
        for (int64_t j = 0; holds && series->held[i] == 0.0 && j < unit->change_count; j++) {
            if (unit->changes[j].trigger != i) continue;
            series->set_at[unit->changes[j].signal] = series->now[0];
            series->set_to[unit->changes[j].signal] = unit->changes[j].value;
        }
        series->held[i] = holds;
    }
}

static Status value_at(const Series *series, const Signal *signal, double *value)
{
    const double time = series->now[0];
    const int64_t last = signal->count - 1;
    int64_t after = count_before(signal->times, signal->count, time, 1);
    const int is_beyond = after == 0 || time > signal->times[last];
    double before, following;
    const int64_t place = signal - series->of->series->signals;
    if (series->set_at[place] >= signal->times[after > 0 ? after - 1 : 0]) {
        *value = series->set_to[place];
        return OK;
    }
    if (is_beyond && signal->beyond == IS_ERROR) {
        (void)snprintf(series->message, MESSAGE_WORDS * ITEM, "t = %.17g s: %s: has values from %g s to %g s", time,
                       series->of->name, signal->times[0], signal->times[last]);
        return ERROR;
    }
    if (!signal->is_linear || (is_beyond && signal->beyond == IS_KEPT) || last == 0) {
        *value = signal->values[after > 0 ? after - 1 : 0];
        return OK;
    }
    after = after < 1 ? 1 : after > last ? last : after;
    before = signal->times[after - 1];
    following = signal->times[after];
    /* at the time itself, and where the first or the last time is a jump, which has no line */
    *value = time >= following ? signal->values[after] : signal->values[after - 1];
    if (following > before && time != following) {
        const double part = (time - before) / (following - before);
        *value = signal->values[after - 1] + part * (signal->values[after] - signal->values[after - 1]);
    }
    return OK;
}

static int32_t set_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    const Series *series = pointer(at);
    const uint32_t *inputs = pointer(references);
    const double *given = pointer(values);
    (void)size;
    for (int64_t i = 0; i < count; i++) series->seen[inputs[i]] = given[i];
    return OK;
}

static int32_t get_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    const Series *series = pointer(at);
    const uint32_t *outputs = pointer(references);
    double *found = pointer(values);
    Status status = OK;
    (void)size;
    for (int64_t i = 0; i < count && status == OK; i++)
        status = value_at(series, &series->of->series->signals[outputs[i]], &found[i]);
    return (int32_t)status;
}

/* To the end, or to a time of a signal that is there but for rounding. */
static int32_t step(int64_t at, double time, double size, int64_t flag, int64_t event, int64_t end, int64_t early,
                    int64_t none)
{
    const Series *series = pointer(at);
    const SeriesUnit *unit = series->of->series;
    const double reached = time + size, slack = cosim_container.same_time * size;
    const int64_t place = count_before(unit->times, unit->count, reached - slack, 0);
    (void)flag, (void)event, (void)end, (void)early, (void)none;
    series->now[0] = place < unit->count && unit->times[place] <= reached + slack ? unit->times[place] : reached;
    evaluate(series);
    return OK;
}

static int32_t save_numbers(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    const Series *series = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    memcpy(series->now + size_of(series->of->series), series->now, (size_t)size_of(series->of->series) * sizeof(double));
    return OK;
}

static int32_t restore_numbers(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    const Series *series = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    memcpy(series->now, series->now + size_of(series->of->series), (size_t)size_of(series->of->series) * sizeof(double));
    return OK;
}

static Series series_of(const Array *arrays, int64_t i)
{
    Series series = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    const SeriesUnit *unit = cosim_container.members[i].series;
    series.of = &cosim_container.members[i];
    series.now = (double *)arrays[TIMES].data + unit->first;
    series.seen = series.now + 1;
    series.held = series.seen + unit->seen_count;
    series.set_at = series.held + unit->trigger_count;
    series.set_to = series.set_at + unit->signal_count;
    series.message = arrays[MESSAGE].data;
    return series;
}

static void connect(Array *all, int64_t i, void *room, ExchangePart *part)
{
    const Series series = series_of(all, i);
    memcpy(room, &series, sizeof series);
    part->instance = part->access = (int64_t)(intptr_t)room;
    part->set_at = (int64_t)(intptr_t)(AccessCall *)set_values;
    part->get_at = (int64_t)(intptr_t)(AccessCall *)get_values;
    part->step_at = (int64_t)(intptr_t)(StepCall *)step;
    part->set_slopes_at = 0;
    part->save_at = (int64_t)(intptr_t)(AccessCall *)save_numbers;
    part->restore_at = (int64_t)(intptr_t)(AccessCall *)restore_numbers;
    part->state_at = (int64_t)(intptr_t)(series.now + size_of(series.of->series));
}

static Status start(Array *all, int64_t i, double time)
{
    const Series series = series_of(all, i);
    const SeriesUnit *unit = series.of->series;
    memset(series.now, 0, 2 * (size_t)size_of(unit) * sizeof(double));
    series.now[0] = time;
    for (int64_t j = 0; j < unit->seen_count; j++) series.seen[j] = unit->seen[j];
    for (int64_t j = 0; j < unit->signal_count; j++) series.set_at[j] = -HUGE_VAL;
    return OK;
}

static Status enter(Array *all, int64_t i, double time)
{
    (void)all, (void)i, (void)time;
    return OK;
}

static Status leave(Array *all, int64_t i)
{
    const Series series = series_of(all, i);
    evaluate(&series);
    return OK;
}

static Status write_one(Array *all, int64_t i, uint32_t reference, int64_t type, double value)
{
    (void)all, (void)i, (void)reference, (void)type, (void)value;
    return ERROR;
}

static Status read_one(Array *all, int64_t i, uint32_t reference, int64_t type, double *value)
{
    const Series series = series_of(all, i);
    (void)type;
    return value_at(&series, &series.of->series->signals[reference], value);
}

static int has_ended(Array *all, int64_t i)
{
    (void)all, (void)i;
    return 0;
}

const MemberCalls cosim_series = {connect, start, enter, leave, write_one, read_one, has_ended};

/* FMUs of others: made, and called by the interpreter of exchanges through functions of C of one form. */
#include "foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENT_ITERATIONS = 100, MOST_EARLY_RETURNS = 10000 };

/* Of a step: lengths that differ by less are one, and an event that is so near to the end of a step is at its end. */
static const double SAME_LENGTH = 1e-9;

/* Distances of neighbouring numbers: so far time + (event - time) may miss the event. */
static const double MISSED = 4.0;

/* From 2^52 on every number is a whole one. */
static const double ALL_WHOLE = 4503599627370496.0;

static void *pointer(int64_t address) { return (void *)(intptr_t)address; }

static double magnitude(double x) { return x < 0.0 ? -x : x; }

/* The distance from a time to the next number. */
static double spacing(double time)
{
    double size = magnitude(time), next;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    bits++;
    memcpy(&next, &bits, sizeof next);
    return next - size;
}

void note_logged(Foreign *foreign, const char *text)
{
    if (foreign->message == NULL || foreign->message[0] != '\0') return;
    (void)snprintf(foreign->message, MESSAGE_WORDS * ITEM, "%s: %s", foreign->of->name, text);
}

int is_whole_number(double value, double least, double largest)
{
    return value >= least && value <= largest && (magnitude(value) >= ALL_WHOLE || value == (double)(int64_t)value);
}

/* Events */

static void ask_to_stop(Foreign *foreign)
{
    foreign->ended = 1;
    if (foreign->report != NULL) foreign->report->noticed = 1;
}

/* From event mode to step mode: update until nothing changes. */
static Status update_states(Foreign *foreign, double time)
{
    for (int64_t i = 0; i < MOST_EVENT_ITERATIONS; i++) {
        int again = 0, ends = 0;
        double next = HUGE_VAL;
        Status status = foreign->calls->update_states(foreign, &again, &ends, &next);
        if (status > WARNING) return status;
        foreign->next_event = next > time ? next : HUGE_VAL; /* what is past has been dealt with just now */
        if (ends) {
            ask_to_stop(foreign);
            return OK;
        }
        if (!again) return foreign->calls->enter_steps(foreign);
    }
    note_logged(foreign, "its discrete states still change after 100 updates at one instant");
    return ERROR;
}

static Status pass_event(Foreign *foreign, double time)
{
    Status status = foreign->calls->enter_events(foreign);
    return status > WARNING ? status : update_states(foreign, time);
}

/* Values */

static Status write_values(Foreign *foreign, const uint32_t *references, const int64_t *types, int64_t count,
                           const double *values)
{
    Status status = OK;
    for (int64_t i = 0; i < count && status <= WARNING;) {
        int64_t end = i;
        while (end < count && types[end] == foreign->calls->real) end++;
        if (end == i) {
            status = foreign->calls->write_whole(foreign, references[i], types[i], values[i]);
            i++;
            continue;
        }
        status = foreign->calls->write_reals(foreign, &references[i], (size_t)(end - i), &values[i]);
        i = end;
    }
    return status;
}

static Status read_values(Foreign *foreign, const uint32_t *references, const int64_t *types, int64_t count,
                          double *values)
{
    Status status = OK;
    for (int64_t i = 0; i < count && status <= WARNING;) {
        int64_t end = i;
        while (end < count && types[end] == foreign->calls->real) end++;
        if (end == i) {
            status = foreign->calls->read_whole(foreign, references[i], types[i], &values[i]);
            i++;
            continue;
        }
        status = foreign->calls->read_reals(foreign, &references[i], (size_t)(end - i), &values[i]);
        i = end;
    }
    return status;
}

/* Where the last value of an input is kept that is written in event mode; NULL for others. */
static double *written_of(Foreign *foreign, uint32_t reference)
{
    const ForeignUnit *unit = foreign->of->foreign;
    if (!foreign->has_events) return NULL;
    for (int64_t i = 0; i < unit->discrete_count; i++)
        if (unit->discretes[i] == reference) return &foreign->written[i];
    return NULL;
}

/* Discrete inputs that have changed go through event mode, all others with them; else the others alone. */
static Status hand_values(Foreign *foreign, const uint32_t *references, const int64_t *types, int64_t count,
                          const double *values, double time)
{
    int is_stepping = foreign->mode == IS_STEPPING, has_changed = 0;
    Status status;
    if (!foreign->has_events || foreign->of->foreign->discrete_count == 0)
        return write_values(foreign, references, types, count, values);
    for (int64_t i = 0; i < count; i++) {
        const double *written = written_of(foreign, references[i]);
        has_changed = has_changed || (written != NULL && *written != values[i]);
    }
    has_changed = has_changed && is_stepping;
    status = has_changed ? foreign->calls->enter_events(foreign) : OK;
    for (int64_t i = 0; i < count && status <= WARNING; i++) {
        double *written = written_of(foreign, references[i]);
        if (written != NULL && is_stepping && *written == values[i]) continue;
        status = write_values(foreign, &references[i], &types[i], 1, &values[i]);
        if (written != NULL) *written = values[i];
    }
    return has_changed && status <= WARNING ? update_states(foreign, time) : status;
}

/* Whether an input may be written in the middle of a step. */
static int is_inside(const ForeignUnit *unit, uint32_t reference)
{
    for (int64_t i = 0; i < unit->inside_count; i++)
        if (unit->insides[i] == reference) return 1;
    return 0;
}

/* In the middle of a step: inputs that run along lines. */
void write_inside(Foreign *foreign, double time)
{
    const Member *of = foreign->of;
    const double since = time - foreign->since;
    if (!foreign->has_slopes || foreign->has_fault) return;
    for (int64_t i = 0; i < of->foreign->input_count; i++) {
        const double value = foreign->bases[i] + since * foreign->slopes[i];
        if (is_inside(of->foreign, of->inputs[i]) &&
            write_values(foreign, &of->inputs[i], &of->foreign->input_types[i], 1, &value) > WARNING)
            foreign->has_fault = 1;
    }
}

/* Where a step begins: lines begin there, and inputs that cannot follow them are held at the mean. */
static Status start_lines(Foreign *foreign, double time, double size)
{
    const Member *of = foreign->of;
    Status status = OK;
    if (!foreign->has_slopes || !isnan(foreign->since)) return OK;
    foreign->since = time;
    for (int64_t i = 0; i < of->foreign->input_count && status <= WARNING; i++) {
        const double value = foreign->bases[i] + 0.5 * size * foreign->slopes[i];
        if (of->foreign->input_types[i] == foreign->calls->real && !is_inside(of->foreign, of->inputs[i]))
            status = write_values(foreign, &of->inputs[i], &of->foreign->input_types[i], 1, &value);
    }
    return status;
}

static int32_t set_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Foreign *foreign = pointer(at);
    const uint32_t *inputs = pointer(references);
    const int64_t first = inputs - foreign->of->inputs;
    const int64_t *types = foreign->of->foreign->input_types + first;
    (void)size;
    foreign->has_slopes = 0;
    if (foreign->bases != NULL) memcpy(foreign->bases + first, pointer(values), (size_t)count * sizeof(double));
    return (int32_t)hand_values(foreign, inputs, types, count, pointer(values), foreign->time);
}

static int32_t get_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Foreign *foreign = pointer(at);
    const uint32_t *outputs = pointer(references);
    const int64_t *types = foreign->of->foreign->output_types + (outputs - foreign->of->outputs);
    (void)size;
    return (int32_t)read_values(foreign, outputs, types, count, pointer(values));
}

/* Inputs run along lines over the next step, with these slopes (per s). */
static int32_t lead_inputs(int64_t at, int64_t references, int64_t count, int64_t orders, int64_t slopes)
{
    Foreign *foreign = pointer(at);
    const uint32_t *inputs = pointer(references);
    const int64_t *types = foreign->of->foreign->input_types + (inputs - foreign->of->inputs);
    const double *given = pointer(slopes);
    Status status = OK;
    (void)orders;
    if (foreign->slopes != NULL) {
        memcpy(foreign->slopes + (inputs - foreign->of->inputs), given, (size_t)count * sizeof(double));
        foreign->since = (double)NAN;
        foreign->has_slopes = 1;
        return OK;
    }
    for (int64_t i = 0; i < count && status <= WARNING; i++)
        if (types[i] == foreign->calls->real) status = foreign->calls->set_slope(foreign, inputs[i], given[i]);
    return (int32_t)status;
}

static Status start(Array *all, int64_t i, double time)
{
    Foreign *foreign = foreign_at(all, i);
    char *message = foreign->message;
    const ForeignUnit *unit = foreign->of->foreign;
    Status status;
    free_one(foreign);
    foreign->message = message;
    foreign->ended = 0;
    foreign->has_events = unit->has_events;
    foreign->next_event = HUGE_VAL;
    foreign->usual_size = 0.0;
    foreign->time = time;
    foreign->stop = ((const double *)all[NUMBERS].data)[STOP_TIME];
    foreign->has_slopes = foreign->has_fault = 0;
    forget_written(foreign);
    status = foreign->calls->make(foreign, time);
    if (status > WARNING) return status;
    foreign->mode = IS_MADE;
    for (int64_t j = 0; j < unit->start_count && status <= WARNING; j++)
        status = hand_values(foreign, &unit->starts[j].reference, &unit->starts[j].type, 1, &unit->starts[j].value, time);
    return status;
}

static Status enter_mode(Array *all, int64_t i, double time)
{
    Foreign *foreign = foreign_at(all, i);
    foreign->mode = IS_INITIALIZING;
    return foreign->calls->enter(foreign, time);
}

static Status exit_mode(Array *all, int64_t i)
{
    Foreign *foreign = foreign_at(all, i);
    Status status = foreign->calls->exit(foreign);
    foreign->mode = IS_STEPPING;
    return status > WARNING || !foreign->has_events ? status : update_states(foreign, foreign->time);
}

static int has_ended(Array *all, int64_t i) { return foreign_at(all, i)->ended != 0; }

/* Steps

   step               what the interpreter calls: to the end of the communication step, whatever returns early
     first_attempt    one call of the FMU where no event may come in between, else take_step
     take_step        to the end, cut at the events that are known
       do_steps       once more while it returns where it began: it only wanted event mode
         do_step      one call of the FMU
           follow_answer   event mode, an end, or a time that is not what was asked for */

/* What follows from the answer to a step of the length that was asked for. */
static Status follow_answer(Foreign *foreign, const StepAnswer *answer, double time, double size, double *reached)
{
    const double end = time + size;
    double at = answer->early ? answer->reached : end;
    if (answer->discarded && (!answer->ends || foreign->message[0] != '\0')) {
        if (!(time < answer->reached && answer->reached < end)) return DISCARD; /* a full step is not to be discarded */
        *reached = answer->reached;
        return OK;
    }
    *reached = end;
    if (answer->ends) {
        ask_to_stop(foreign);
        return OK;
    }
    if (magnitude(foreign->next_event - at) <= MISSED * spacing(at)) at = foreign->next_event;
    *reached = foreign->time = at;
    if (!foreign->has_events || !(answer->event || foreign->next_event <= at + MISSED * spacing(at))) return OK;
    return pass_event(foreign, at);
}

/* One step of the instance. */
static Status do_step(Foreign *foreign, double time, double size, double *reached)
{
    StepAnswer answer = {0.0, 0, 0, 0, 0};
    double length = size;
    Status status;
    answer.reached = time;
    foreign->time = time;
    if (!foreign->of->foreign->varies) { /* it gets the very same number each time */
        if (magnitude(size - foreign->usual_size) > SAME_LENGTH * size) foreign->usual_size = size;
        length = foreign->usual_size;
    }
    status = foreign->calls->step(foreign, time, length, 1, &answer);
    if (status > WARNING) return status;
    if (foreign->has_fault) return ERROR;
    if (answer.reached == time + length) answer.reached = time + size;
    if (answer.discarded && !(answer.reached >= time && answer.reached <= time + size)) answer.reached = time;
    return follow_answer(foreign, &answer, time, size, reached);
}

/* Steps until one gets on: an FMU may return where it began, to enter event mode there. */
static Status do_steps(Foreign *foreign, double time, double size, double *reached)
{
    for (int64_t i = 0; i < MOST_EVENT_ITERATIONS; i++) {
        double following = foreign->next_event - time;
        Status status;
        if (foreign->of->foreign->varies && following < size * (1.0 - SAME_LENGTH)) size = following; /* told just now */
        status = do_step(foreign, time, size, reached);
        if (status > WARNING || foreign->ended || *reached > time || !foreign->has_events) return status;
    }
    note_logged(foreign, "it returned early again and again where it was");
    return ERROR;
}

/* A communication step, cut at events that are known. */
static Status take_step(Foreign *foreign, double time, double size, double *reached)
{
    const double begin = time, end = time + size;
    Status status = start_lines(foreign, time, size);
    while (status <= WARNING) {
        double tick = foreign->next_event;
        if (!(tick < end - SAME_LENGTH * size) || !foreign->of->foreign->varies) break; /* an event may be handled late */
        status = do_steps(foreign, time, tick - time, reached);
        if (status > WARNING || foreign->ended || *reached < tick) return status;
        time = tick;
    }
    return status > WARNING ? status : do_steps(foreign, time, time == begin ? size : end - time, reached);
}

/* The first attempt as the interpreter makes it: one call, unless that may meet an event. */
static Status first_attempt(Foreign *foreign, double time, double size, double *reached)
{
    const ForeignUnit *unit = foreign->of->foreign;
    StepAnswer answer = {0.0, 0, 0, 0, 0};
    double following = foreign->next_event;
    Status status;
    if ((unit->steps_carefully && (foreign->has_events || foreign->bases != NULL)) ||
        (following < HUGE_VAL && time + size > following - 2.0 * MISSED * spacing(following)))
        return take_step(foreign, time, size, reached);
    answer.reached = time;
    foreign->time = time;
    status = foreign->calls->step(foreign, time, size, 1, &answer);
    if (status > WARNING) return status;
    if (answer.discarded && !(answer.reached >= time && answer.reached <= time + size)) answer.reached = time;
    status = follow_answer(foreign, &answer, time, size, reached);
    if (status > WARNING || foreign->ended || *reached > time || !foreign->has_events) return status;
    return do_steps(foreign, time, size, reached);
}

static int32_t step(int64_t at, double time, double size, int64_t flag, int64_t event, int64_t end, int64_t early,
                    int64_t none)
{
    Foreign *foreign = pointer(at);
    const double wanted = time + size, small = SAME_LENGTH * size + MISSED * spacing(wanted);
    double reached = time;
    Status status;
    (void)flag, (void)event, (void)end, (void)early, (void)none; /* the answer is followed here */
    if (foreign->ended) return OK;
    status = first_attempt(foreign, time, size, &reached);
    for (int64_t i = 0; status <= WARNING && !foreign->ended && reached < wanted - small; i++) {
        if (!(reached > time) || i == MOST_EARLY_RETURNS) {
            note_logged(foreign, "it does not come to the end of the step");
            return ERROR;
        }
        time = reached;
        status = take_step(foreign, time, wanted - time, &reached);
    }
    return (int32_t)status;
}

static int32_t save_state(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Foreign *foreign = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    return (int32_t)copy_state(foreign, &foreign->state);
}

static int32_t restore_state(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Foreign *foreign = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    return (int32_t)(foreign->state == NULL ? ERROR : go_to_state(foreign, foreign->state));
}

static void connect(Array *all, int64_t i, void *room, ExchangePart *part)
{
    Foreign *foreign = foreign_at(all, i);
    (void)room;
    foreign->message = all[MESSAGE].data;
    foreign->report = all[MACHINE_REPORT_WORDS].data;
    part->instance = part->access = (int64_t)(intptr_t)foreign;
    part->set_at = (int64_t)(intptr_t)(AccessCall *)set_values;
    part->get_at = (int64_t)(intptr_t)(AccessCall *)get_values;
    part->step_at = (int64_t)(intptr_t)(StepCall *)step;
    part->set_slopes_at = foreign->of->follows ? (int64_t)(intptr_t)(AccessCall *)lead_inputs : 0;
    part->save_at = (int64_t)(intptr_t)(AccessCall *)save_state;
    part->restore_at = (int64_t)(intptr_t)(AccessCall *)restore_state;
    part->state_at = (int64_t)(intptr_t)&foreign->state;
}

static Status write_one(Array *all, int64_t i, uint32_t reference, int64_t type, double value)
{
    Foreign *foreign = foreign_at(all, i);
    return hand_values(foreign, &reference, &type, 1, &value, foreign->time);
}

static Status read_one(Array *all, int64_t i, uint32_t reference, int64_t type, double *value)
{
    return read_values(foreign_at(all, i), &reference, &type, 1, value);
}

const MemberCalls cosim_foreign = {connect, start, enter_mode, exit_mode, write_one, read_one, has_ended};

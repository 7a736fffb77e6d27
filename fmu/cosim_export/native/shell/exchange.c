/* Model Exchange: the importer integrates; the model computes rates, indicators and what events change. */
#include <math.h>
#include <string.h>

#include "arrays.h"

static Status check_count(Instance *instance, const char *function, const void *values, size_t given, int64_t count)
{
    if (given != (size_t)count)
        return refuse(instance, function, "%zu values are asked for, there are %lld", given, (long long)count);
    if (given > 0 && values == NULL) return refuse(instance, function, "no place for values");
    return OK;
}

Status set_time(Instance *instance, const char *function, double time)
{
    double *now = clock_of(instance, instance->model->clock_time);
    if (need_mode(instance, function, EVENT | CONTINUOUS) != OK) return ERROR;
    if (!isfinite(time)) return refuse(instance, function, "the time is %g, needs a finite number", time);
    if (time < instance->life.start)
        return refuse(instance, function, "the time %.17g s is before the start at %.17g s", time,
                      instance->life.start);
    if (*now != time) forget_computed(instance);
    *now = instance->life.time = time;
    return OK;
}

Status set_states(Instance *instance, const char *function, const double *values, size_t count)
{
    const Model *model = instance->model;
    if (need_mode(instance, function, CONTINUOUS) != OK ||
        check_count(instance, function, values, count, model->state_count) != OK)
        return ERROR;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return refuse(instance, function, "%s is given %g, needs a finite number",
                          model->variables[model->states[i].variable].name, values[i]);
    for (size_t i = 0; i < count; i++) {
        const Variable *state = &model->variables[model->states[i].variable];
        numbers(instance, state->array)[state->index] = values[i];
    }
    forget_computed(instance);
    return OK;
}

Status get_states(Instance *instance, const char *function, double *values, size_t count)
{
    const Model *model = instance->model;
    if (check_count(instance, function, values, count, model->state_count) != OK) return ERROR;
    for (size_t i = 0; i < count; i++) {
        const Variable *state = &model->variables[model->states[i].variable];
        values[i] = numbers(instance, state->array)[state->index];
    }
    return OK;
}

Status get_nominals(Instance *instance, const char *function, double *values, size_t count)
{
    const Model *model = instance->model;
    if (check_count(instance, function, values, count, model->state_count) != OK) return ERROR;
    for (size_t i = 0; i < count; i++) values[i] = model->variables[model->states[i].variable].nominal;
    return OK;
}

/* Rates that are no numbers are the importer's to avoid: it takes a shorter step. */
Status get_derivatives(Instance *instance, const char *function, double *values, size_t count)
{
    const Model *model = instance->model;
    if (check_count(instance, function, values, count, model->state_count) != OK) return ERROR;
    if (compute(instance, function) != OK) return DISCARD;
    for (size_t i = 0; i < count; i++) {
        const Variable *rate = &model->variables[model->states[i].derivative];
        values[i] = numbers(instance, rate->array)[rate->index];
    }
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return discard(instance, function, "t = %.17g s: %s is %g", instance->life.time,
                           model->variables[model->states[i].derivative].name, values[i]);
    return OK;
}

Status get_indicators(Instance *instance, const char *function, double *values, size_t count)
{
    const Model *model = instance->model;
    if (check_count(instance, function, values, count, model->indicator_count) != OK) return ERROR;
    if (compute(instance, function) != OK) return DISCARD;
    for (size_t i = 0; i < count; i++)
        values[i] = numbers(instance, model->cache)[model->indicators[i].index] -
                    *clock_of(instance, model->indicators[i].level);
    return OK;
}

/* Co-Simulation: the events of this instant, which the last step has left to event mode, and what the host has
   written there. */
static Status handle_events(Instance *instance, const char *function, Progress *progress)
{
    const Model *model = instance->model;
    Life *life = &instance->life;
    Status status = find_next_event(instance, function, progress);
    if (status != OK) return status;
    if (progress->waits || *clock_of(instance, model->clock_jumped) != 0.0) {
        int64_t code = call(instance, model->advance, life->time);
        if (is_failure(model, code)) return lost(instance, function, code);
        progress->event = *clock_of(instance, model->clock_changed) != 0.0;
        progress->stopped = life->ending = code == model->terminated;
        status = find_next_event(instance, function, progress);
    }
    progress->needs_more = progress->waits && !progress->stopped;
    return status;
}

Status update_discrete_states(Instance *instance, const char *function, Progress *progress)
{
    const Model *model = instance->model;
    Life *life = &instance->life;
    int64_t code;
    memset(progress, 0, sizeof *progress);
    if (need_mode(instance, function, EVENT) != OK) return ERROR;
    progress->stopped = life->ending;
    if (life->ending) return OK;
    if (life->kind == CO_SIMULATION) return handle_events(instance, function, progress);
    code = call(instance, model->event, life->time);
    if (is_failure(model, code)) return lost(instance, function, code);
    progress->stopped = code == model->terminated;
    progress->event = *clock_of(instance, model->clock_changed) != 0.0;
    note_next_event(instance, progress);
    return OK;
}

Status completed_step(Instance *instance, const char *function, Progress *progress)
{
    const Model *model = instance->model;
    int64_t code;
    memset(progress, 0, sizeof *progress);
    if (need_mode(instance, function, CONTINUOUS) != OK) return ERROR;
    code = call(instance, model->completed, instance->life.time);
    if (is_failure(model, code)) return lost(instance, function, code);
    progress->stopped = code == model->terminated;
    progress->event = code == model->event_happened;
    return OK;
}

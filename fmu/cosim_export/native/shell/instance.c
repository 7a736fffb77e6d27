/* The life of an instance: made, initialized, stepped, ended. No mathematics: the model's entry points do it. */
#include "instance.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

enum { TEXT = 1024, MOST_GROWTHS = 64, STEPS_BETWEEN_LOOKS = 4096 };

#ifndef SECONDS_BETWEEN_REPORTS
#define SECONDS_BETWEEN_REPORTS 5
#endif

const char *mode_name(int64_t mode)
{
    return mode & INSTANTIATED   ? "instantiated"
           : mode & INITIALIZING ? "in initialization mode"
           : mode & STEPPING     ? "between steps"
           : mode & EVENT        ? "in event mode"
           : mode & CONTINUOUS   ? "in continuous-time mode"
           : mode & INTERMEDIATE ? "in an intermediate update"
           : mode & STOPPED      ? "at its end"
                                 : "failed";
}

static const struct {
    const char *name;
    int64_t flag;
} categories[] = {[OK] = {"logProgress", LOG_PROGRESS},
                  [WARNING] = {"logStatusWarning", LOG_WARNINGS},
                  [DISCARD] = {"logStatusDiscard", LOG_DISCARDS},
                  [ERROR] = {"logStatusError", LOG_ERRORS},
                  {"logAll", LOG_ALL}};

Status say(Instance *instance, Status status, const char *function, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    int used;
    if (!(instance->log & categories[status].flag)) return status;
    used = snprintf(text, sizeof text, "%s: ", function);
    if (used < 0) used = 0;
    if (used >= TEXT) used = TEXT - 1;
    va_start(arguments, format);
    (void)vsnprintf(text + used, sizeof text - (size_t)used, format, arguments);
    va_end(arguments);
    instance->report(instance, status, categories[status].name, text);
    return status;
}

Status need_mode(Instance *instance, const char *function, int64_t modes)
{
    if (instance->life.mode & modes) return OK;
    return refuse(instance, function, "not allowed here: the instance is %s", mode_name(instance->life.mode));
}

Status change_mode(Instance *instance, const char *function, int64_t from, int64_t to)
{
    if (need_mode(instance, function, from) != OK) return ERROR;
    instance->life.mode = to;
    return OK;
}

/* No category named means all of them. */
Status set_logging(Instance *instance, const char *function, int on, size_t count, const char *const *names)
{
    int64_t chosen = count == 0 ? LOG_ALL : 0;
    if (count > 0 && names == NULL) return refuse(instance, function, "no categories are given");
    for (size_t i = 0; i < count; i++) {
        int64_t found = 0;
        for (size_t j = 0; j < sizeof categories / sizeof categories[0]; j++)
            if (names[i] != NULL && strcmp(names[i], categories[j].name) == 0) found = categories[j].flag;
        if (found == 0)
            return refuse(instance, function, "there is no log category '%s'", names[i] == NULL ? "" : names[i]);
        chosen |= found;
    }
    instance->log = on ? instance->log | chosen : instance->log & ~chosen;
    return OK;
}

/* Made and ended */

static void forget_begun(Instance *instance)
{
    instance->begun = NULL;
}

/* With fresh arrays. Where the importer integrates, options that need an integrator of ours have other values. */
static void begin_life(Instance *instance, int64_t kind)
{
    const Model *model = instance->model;
    memset(&instance->life, 0, sizeof instance->life);
    forget_begun(instance);
    release_discrete(instance);
    instance->told_loss = 0;
    instance->told_close = 0;
    instance->life.kind = kind;
    instance->life.mode = INSTANTIATED;
    instance->life.accuracy = model->accuracy;
    for (int64_t i = 0; kind == MODEL_EXCHANGE && i < model->replacement_count; i++)
        numbers(instance, model->parameters)[model->replacements[i].index] = model->replacements[i].number;
}

int is_of_kind(const Model *model, int64_t kind) { return (model->kinds & (kind == CO_SIMULATION ? 2 : 1)) != 0; }

Instance *make_instance(const Model *model, const char *function, const char *name, int64_t kind, int logs_all,
                        Report *report, void *host, const char *resources)
{
    size_t length = strlen(name) + 1;
    Instance *instance = calloc(1, sizeof *instance);
    if (instance == NULL) {
        free(host);
        return NULL;
    }
    instance->model = model;
    instance->report = report;
    instance->host = host;
    instance->log = logs_all ? LOG_ALL : LOG_ERRORS;
    instance->name = malloc(length);
    instance->arrays = new_arrays(model);
    instance->spare = new_arrays(model);
    instance->holds = calloc((size_t)model->discrete_count + 1, sizeof *instance->holds);
    if (instance->arrays != NULL) {
        const Array *arrays = instance->arrays;
        /* references of a call, five numbers for each, the parameters, marks */
        instance->room_size = ITEM * (6 * (size_t)model->variable_count + 16) + bytes_of(&arrays[model->parameters]) +
                              bytes_of_marks(instance);
        if (model->tangents != NULL) /* and the cache once more */
            instance->room_size += bytes_of(&arrays[model->continuous]) + bytes_of(&arrays[model->parameters]) +
                                   bytes_of(&arrays[model->discrete]) + 2 * bytes_of(&arrays[model->cache]) + ITEM;
        instance->room = malloc(instance->room_size);
    }
    if (instance->name != NULL) memcpy(instance->name, name, length);
    if (instance->name == NULL || instance->room == NULL || instance->spare == NULL || instance->holds == NULL) {
        if (instance->name != NULL) (void)refuse(instance, function, "there is no memory");
        free_instance(instance);
        return NULL;
    }
    begin_life(instance, kind);
    if (model->open != NULL && !model->open(instance, function, resources)) {
        free_instance(instance);
        return NULL;
    }
    return instance;
}

void free_instance(Instance *instance)
{
    if (instance == NULL) return;
    if (instance->model->close != NULL) instance->model->close(instance);
    if (instance->arrays != NULL) free_arrays(instance->model, instance->arrays);
    if (instance->spare != NULL) free_arrays(instance->model, instance->spare);
    free(instance->holds);
    free(instance->room);
    free(instance->host);
    free(instance->name);
    free(instance);
}

Status reset(Instance *instance, const char *function)
{
    if (need_mode(instance, function, ANY & ~INTERMEDIATE) != OK) return ERROR;
    start_arrays(instance->model, instance->arrays);
    begin_life(instance, instance->life.kind);
    return OK;
}

/* Calls of the machine code */

double *numbers(Instance *instance, int64_t array) { return instance->arrays[array].data; }

double *clock_of(Instance *instance, int64_t place)
{
    return numbers(instance, instance->model->clock) + place;
}

static void mark_computed(Instance *instance, int64_t stage)
{
    int64_t *places = instance->arrays[instance->model->places].data;
    places[instance->model->places_stage] = stage;
}

/* The cache is not that of the state any more. */
void forget_computed(Instance *instance)
{
    mark_computed(instance, instance->model->nothing);
    forget_begun(instance);
}

/* The state is one again that there was before. */
void note_restored(Instance *instance)
{
    mark_computed(instance, instance->model->restored);
    forget_begun(instance);
}

size_t bytes_of_marks(const Instance *instance)
{
    return bytes_of(&instance->arrays[instance->model->clock]) + bytes_of(&instance->arrays[instance->model->places]);
}

/* What an evaluation leaves behind besides the cache (that nothing holds witnesses in it, for one): kept before one
   that is a trial, and put back behind it. NULL where there is no memory. */
void *kept_marks(Instance *instance)
{
    const Array *clock = &instance->arrays[instance->model->clock], *places = &instance->arrays[instance->model->places];
    char *marks = borrow(instance, bytes_of_marks(instance));
    if (marks == NULL) return NULL;
    memcpy(marks, clock->data, bytes_of(clock));
    memcpy(marks + bytes_of(clock), places->data, bytes_of(places));
    return marks;
}

void put_marks_back(Instance *instance, void *marks)
{
    const Array *clock = &instance->arrays[instance->model->clock], *places = &instance->arrays[instance->model->places];
    memcpy(clock->data, marks, bytes_of(clock));
    memcpy(places->data, (char *)marks + bytes_of(clock), bytes_of(places));
    note_restored(instance);
    give_back(instance, marks);
}

/* The state was written to: the next step takes it for a jump. In continuous time inputs are smooth: what is
   written there is a point of them, wherever the importer's method looks. */
void note_written(Instance *instance)
{
    if (instance->life.mode != CONTINUOUS) *clock_of(instance, instance->model->clock_jumped) = 1.0;
    forget_computed(instance);
}

int is_failure(const Model *model, int64_t code) { return code < 0 || code >= model->first_failure; }

/* A model without such an entry point has nothing to do there. */
int64_t call(Instance *instance, EntryPoint *entry, double time)
{
    const Model *model = instance->model;
    int64_t code = entry == NULL ? 0 : entry(instance->arrays, time);
    for (int growths = 0; code == model->full && growths < MOST_GROWTHS; growths++) {
        const int64_t *places = instance->arrays[model->places].data;
        if (!grow_histories(model, instance->arrays, places[model->places_needed])) return INT64_MIN;
        code = entry(instance->arrays, time);
    }
    return code == model->full ? INT64_MIN : code;
}

/* Checks of parameters, as they were evaluated last. */

const Check *failed_check(Instance *instance)
{
    const Model *model = instance->model;
    const double *cache = numbers(instance, model->cache);
    for (int64_t i = 0; i < model->check_count; i++)
        for (int64_t j = 0; j < model->checks[i].answers; j++)
            if (cache[model->checks[i].index + j] != 0.0) return &model->checks[i];
    return NULL;
}

const char *sentence_of(Instance *instance, const Check *check)
{
    const double *answers = numbers(instance, instance->model->cache) + check->index;
    for (int64_t i = 0; i < check->answers; i++) {
        int64_t number = (int64_t)answers[i];
        if (number >= 1 && number <= check->sentence_count) return check->sentences[number - 1];
    }
    return "the values of parameters do not fit together";
}

/* Where histories grow there is no memory left; else one of them is full. */
static Status history_is_full(Instance *instance, const char *function, double time)
{
    const Model *model = instance->model;
    const int64_t *integers = instance->arrays[model->integers].data;
    if (model->history_room == 0) return refuse(instance, function, "t = %.17g s: there is no memory", time);
    for (int64_t i = 0; i < model->history_count; i++) {
        const History *history = &model->histories[i];
        if (integers[history->capacity] - integers[history->count] < model->history_free)
            return refuse(instance, function,
                          "t = %.17g s: the history of %s is full, it has %lld values: export with more room for "
                          "histories, or take a lower accuracy, whose steps are longer",
                          time, history->name, (long long)integers[history->count]);
    }
    return refuse(instance, function, "t = %.17g s: the histories are full: export with more room for them", time);
}

/* What went wrong: parameters that do not fit together, in the words of their check, or what the code stands for. */
Status failure(Instance *instance, const char *function, int64_t code)
{
    const Check *check = failed_check(instance);
    const Model *model = instance->model;
    const int64_t *places = instance->arrays[model->places].data;
    double time = *clock_of(instance, model->clock_time);
    if (model->explain != NULL) return refuse(instance, function, "%s", model->explain(instance->arrays));
    if (code == INT64_MIN) return history_is_full(instance, function, time);
    if (check != NULL) return refuse(instance, function, "%s: %s", check->part, sentence_of(instance, check));
    for (int64_t i = 0; i < model->sentence_count; i++) {
        const Sentence *sentence = &model->sentences[i];
        int64_t about = sentence->place < 0 ? -1 : places[sentence->place];
        if (sentence->code != code) continue;
        if (about < 0 || about >= sentence->name_count)
            return refuse(instance, function, "t = %.17g s: %s", time, sentence->sentence);
        return refuse(instance, function, "t = %.17g s: %s: %s", time, sentence->sentence, sentence->names[about]);
    }
    return refuse(instance, function, "t = %.17g s: a component could not be computed", time);
}

/* A failure after which the instance can only be reset, or restored. */
Status lost(Instance *instance, const char *function, int64_t code)
{
    instance->life.mode = FAILED;
    return failure(instance, function, code);
}

/* The 0th step, and the first step size. */
static int64_t begin(Instance *instance)
{
    const Life *life = &instance->life;
    int64_t code = call(instance, instance->model->accuracy_given, life->accuracy);
    (void)call(instance, instance->model->stop_given, life->has_stop ? life->stop : HUGE_VAL);
    return is_failure(instance->model, code) ? code : call(instance, instance->model->initialize, life->start);
}

/* In initialization mode: what the arrays will be when it ends, if it ends with the present values. Then what remembers
   (a delay, a held sample) has its first values. NULL in other modes, and where that fails. */
Array *begun_arrays(Instance *instance)
{
    const Model *model = instance->model;
    Array *own = instance->arrays, *trial;
    int64_t code;
    if (instance->life.mode != INITIALIZING || instance->begun != NULL) return instance->begun;
    trial = instance->spare;
    if (!copy_arrays(model, own, trial)) return NULL;
    instance->arrays = trial;
    forget_computed(instance);
    code = begin(instance);
    if (!is_failure(model, code)) code = call(instance, model->evaluate, *clock_of(instance, model->clock_time));
    instance->arrays = own;
    if (!is_failure(model, code)) instance->begun = trial;
    return instance->begun;
}

/* Makes the cache that of the present values. */
Status compute(Instance *instance, const char *function)
{
    const Model *model = instance->model;
    double time = *clock_of(instance, model->clock_time);
    const Array *cache = &instance->arrays[model->cache], *begun = begun_arrays(instance);
    int64_t code;
    if (instance->life.mode == INITIALIZING) mark_computed(instance, model->nothing);
    if (begun != NULL) {
        memcpy(cache->data, begun[model->cache].data, bytes_of(cache));
        return OK;
    }
    code = call(instance, model->evaluate, time);
    return is_failure(model, code) ? failure(instance, function, code) : OK;
}

/* Initialization */

Status set_up(Instance *instance, const char *function, double start, int64_t has_stop, double stop,
              int64_t has_tolerance, double tolerance)
{
    Life *life = &instance->life;
    if (need_mode(instance, function, INSTANTIATED) != OK) return ERROR;
    if (!isfinite(start)) return refuse(instance, function, "the start time is %g, needs a finite number", start);
    if (has_stop && !(stop >= start))
        return refuse(instance, function, "the stop time %.17g s is before the start time %.17g s", stop, start);
    if (has_tolerance && !(tolerance > 0.0 && tolerance < 1.0))
        return refuse(instance, function, "the tolerance is %g, needs to be between 0 and 1", tolerance);
    life->start = life->time = start;
    life->has_stop = has_stop != 0 && stop <= DBL_MAX;
    life->stop = life->has_stop ? stop : 0.0;
    life->accuracy = has_tolerance && instance->model->accuracy_given != NULL ? tolerance : instance->model->accuracy;
    start_slopes(instance, start);
    *clock_of(instance, instance->model->clock_time) = start;
    forget_computed(instance);
    if (has_tolerance && instance->model->accuracy_given == NULL && tolerance != life->accuracy)
        return warn(instance, function, "the tolerance %g is not used: the accuracy is %g, from the export",
                    tolerance, life->accuracy);
    return OK;
}

Status exit_initialization(Instance *instance, const char *function)
{
    const Model *model = instance->model;
    Life *life = &instance->life;
    int64_t code;
    if (need_mode(instance, function, INITIALIZING) != OK) return ERROR;
    forget_computed(instance);
    if (check_parameters(instance, function) != OK) return ERROR;
    code = begin(instance);
    if (is_failure(model, code)) return lost(instance, function, code);
    life->ending = code == model->terminated;
    if (life->ending && life->kind == CO_SIMULATION) { /* as a Simulator: what is read first is the end */
        code = call(instance, model->finish, 0.0);
        if (is_failure(model, code)) return lost(instance, function, code);
    }
    life->mode = life->kind == CO_SIMULATION ? STEPPING : EVENT;
    return OK;
}

/* Co-Simulation */

static void begin_way(Instance *instance)
{
    instance->way.steps = 0;
    instance->way.began = instance->way.told = time(NULL);
    instance->way.from = instance->life.time;
}

Status check_step(Instance *instance, const char *function, double time, double size)
{
    const Life *life = &instance->life;
    double slack;
    if (life->mode == STOPPED)
        return refuse(instance, function, "the simulation ended at t = %.17g s; reset it or restore a saved state",
                      life->time);
    if (need_mode(instance, function, STEPPING) != OK) return ERROR;
    if (!isfinite(time) || !isfinite(size)) return refuse(instance, function, "time and step size have to be finite");
    if (!(size > 0.0)) return refuse(instance, function, "the step size is %g s, needs more than 0", size);
    slack = 1e-6 * size + 8.0 * DBL_EPSILON * fmax(fabs(time), fabs(life->time));
    if (fabs(time - life->time) > slack)
        return refuse(instance, function,
                      "the instance is at t = %.17g s, not %.17g s. Step on from there, or go back with a saved state",
                      life->time, time);
    if (life->has_stop && time + size > life->stop + slack)
        return refuse(instance, function, "the step ends after the stop time %.17g s", life->stop);
    numbers(instance, instance->model->given)[instance->model->given_meeting] = instance->model->same_time * size;
    if (instance->model->refuse_step != NULL) {
        const char *why = instance->model->refuse_step(instance->arrays, time + size, instance->model->same_time * size);
        if (why != NULL) return refuse(instance, function, "%s", why);
    }
    begin_way(instance);
    return OK;
}

/* In a communication step that takes long: how far it is. */
static void tell_progress(Instance *instance, const char *function, double target, int64_t steps)
{
    double now = *clock_of(instance, instance->model->clock_time), done = now - instance->way.from, passed;
    time_t present;
    instance->way.steps += steps;
    if (instance->way.steps < STEPS_BETWEEN_LOOKS || !(instance->log & LOG_PROGRESS)) return;
    instance->way.steps = 0;
    present = time(NULL);
    if (difftime(present, instance->way.told) < SECONDS_BETWEEN_REPORTS) return;
    instance->way.told = present;
    passed = difftime(present, instance->way.began);
    if (done > 0.0 && passed > 0.0)
        (void)say(instance, OK, function, "at t = %.9g s, on the way to %.9g s, after %.0f s; some %.0f s to go", now,
                  target, passed, passed * (target - now) / done);
    else
        (void)say(instance, OK, function, "at t = %.9g s, on the way to %.9g s", now, target);
}

/* Once: that derivatives along the run have ended, and why, or that they are those of one side. */
static void tell_loss(Instance *instance, const char *function)
{
    const Model *model = instance->model;
    const double *notes;
    int told = instance->told_loss, told_close = instance->told_close;
    if (model->losses == NULL) return;
    notes = numbers(instance, model->notes);
    instance->told_loss = notes[model->notes_lost] != 0.0;
    if (instance->told_loss && !told)
        (void)warn(instance, function, "no derivatives from t = %.17g s on: %s", notes[model->notes_lost_time],
                   model->losses[(int)notes[model->notes_lost]]);
    instance->told_close = notes[model->notes_close] != 0.0;
    if (instance->told_close && !told_close)
        (void)warn(instance, function,
                   "derivatives from t = %.17g s on are those of one side: two events are closer than the accuracy",
                   notes[model->notes_close_time]);
}

/* To a time, or one step toward it. */
Status step_to(Instance *instance, const char *function, double target, int one, Progress *progress)
{
    const Model *model = instance->model;
    Life *life = &instance->life;
    EntryPoint *entry = one ? model->step : model->advance;
    int64_t *places = instance->arrays[model->places].data, code;
    places[model->places_most] = STEPS_BETWEEN_LOOKS;
    do {
        code = life->ending ? model->terminated : call(instance, entry, target);
        if (code == model->stepped) tell_progress(instance, function, target, one ? 1 : STEPS_BETWEEN_LOOKS);
    } while (!one && code == model->stepped);
    memset(progress, 0, sizeof *progress);
    progress->reached = code == model->reached;
    life->time = *clock_of(instance, model->clock_time);
    progress->event = *clock_of(instance, model->clock_changed) != 0.0;
    if (is_failure(model, code)) return lost(instance, function, code);
    tell_loss(instance, function);
    if (code == model->terminated) {
        int64_t finished = call(instance, model->finish, 0.0);
        if (is_failure(model, finished)) return lost(instance, function, finished);
        progress->stopped = 1;
        life->mode = STOPPED;
        return discard(instance, function, "the model asked to stop at t = %.17g s", life->time);
    }
    return OK;
}

/* Whether steps end before a delayed jump that arrives at their end, so that the host sees both sides of it. */
void halt_at_jumps(Instance *instance, int halts)
{
    int64_t *places = instance->arrays[instance->model->places].data;
    places[instance->model->places_halts] = halts;
}

void note_next_event(Instance *instance, Progress *progress)
{
    double next = *clock_of(instance, instance->model->clock_next_event);
    progress->next = isfinite(next);
    progress->next_time = progress->next ? next : 0.0;
}

/* What waits at this instant, and when the next event comes. */
Status find_next_event(Instance *instance, const char *function, Progress *progress)
{
    const Model *model = instance->model;
    int64_t code = call(instance, model->find_next_event, 0.0);
    if (is_failure(model, code)) return lost(instance, function, code);
    progress->waits = code == model->event_happened;
    note_next_event(instance, progress);
    return OK;
}

/* A clock ticks from where its event is due until event mode has handled it. */
Status clock_ticks(Instance *instance, const char *function, uint32_t reference, int *ticks)
{
    const Model *model = instance->model;
    int64_t *places = instance->arrays[model->places].data, clock = (int64_t)reference - model->variable_count, code;
    if (clock < 0 || clock >= model->clock_count)
        return refuse(instance, function, "no clock has the value reference %u", (unsigned)reference);
    *ticks = 0;
    if (instance->life.mode != EVENT || instance->life.ending) return OK;
    places[model->places_entry] = model->clocks[clock];
    code = call(instance, model->is_due, instance->life.kind == MODEL_EXCHANGE ? 1.0 : 0.0);
    if (is_failure(model, code)) return failure(instance, function, code);
    *ticks = code == model->event_happened;
    return OK;
}

Status terminate(Instance *instance, const char *function)
{
    Life *life = &instance->life;
    int64_t code;
    if (need_mode(instance, function, RUNNING | STOPPED) != OK) return ERROR;
    life->mode = STOPPED;
    release_discrete(instance);
    if (life->finished) return OK;
    life->finished = 1;
    code = call(instance, instance->model->finish, life->has_stop && life->time >= life->stop ? 1.0 : 0.0);
    return is_failure(instance->model, code) ? failure(instance, function, code) : OK;
}

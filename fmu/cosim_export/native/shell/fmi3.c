/* The functions of FMI 3.0, Co-Simulation and Model Exchange, for any model. */
#include "fmi3.h"

#include <stdlib.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter" /* the signatures are those of the standard */
#endif
#define FMI_EXPORT FMI3_EXPORT
#define FMI_STATUS fmi3Status
#define FMI_ERROR fmi3Error
#include "arrays.h"
#include "hands_on.h"

typedef struct {
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback intermediate_update;
    bool event_mode_used;
    bool early_return_allowed;
} Host;

static Host *host_of(const Instance *instance) { return instance->host; }

static void report(Instance *instance, Status status, const char *category, const char *text)
{
    const Host *host = host_of(instance);
    if (host->log != NULL) host->log(host->environment, (fmi3Status)status, category, text);
}

/* Made, logged, ended */

FMI3_EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

static Instance *instantiate(fmi3String name, fmi3String token, fmi3String resources, int64_t kind, fmi3Boolean logging,
                             const Host *given)
{
    const char *wrong = NULL;
    Host *host;
    if (name == NULL || name[0] == '\0') wrong = "an instance needs a name";
    else if (token == NULL || strcmp(token, cosim_model.token) != 0)
        wrong = "the instantiation token is not that of this FMU";
    else if (!is_of_kind(&cosim_model, kind)) wrong = "this FMU is not of the kind asked for";
    if (wrong != NULL) {
        if (given->log != NULL) given->log(given->environment, fmi3Error, "logStatusError", wrong);
        return NULL;
    }
    host = malloc(sizeof *host);
    if (host == NULL) return NULL;
    *host = *given;
    return make_instance(&cosim_model, "fmi3Instantiate", name, kind, logging, report, host, resources);
}

FMI3_EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources,
                                                      fmi3Boolean visible, fmi3Boolean logging,
                                                      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    Host host = {environment, log, NULL, false, false};
    return instantiate(name, token, resources, MODEL_EXCHANGE, logging, &host);
}

FMI3_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                     fmi3Boolean visible, fmi3Boolean logging,
                                                     fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed,
                                                     const fmi3ValueReference required[], size_t required_count,
                                                     fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                     fmi3IntermediateUpdateCallback intermediate_update)
{
    Host host = {environment, log, intermediate_update, event_mode_used, early_return_allowed};
    return instantiate(name, token, resources, CO_SIMULATION, logging, &host);
}

FMI3_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                                           fmi3Boolean visible, fmi3Boolean logging,
                                                           fmi3InstanceEnvironment environment,
                                                           fmi3LogMessageCallback log,
                                                           fmi3ClockUpdateCallback clock_update,
                                                           fmi3LockPreemptionCallback lock,
                                                           fmi3UnlockPreemptionCallback unlock)
{
    if (log != NULL) log(environment, fmi3Error, "logStatusError", "this FMU has no Scheduled Execution");
    return NULL;
}

FMI3_EXPORT void fmi3FreeInstance(fmi3Instance given)
{
    free_instance(given);
}

HANDS_ON(fmi3SetDebugLogging, (fmi3Instance given, fmi3Boolean on, size_t count, const fmi3String categories[]),
         set_logging(instance, function, on, count, categories))
HANDS_ON(fmi3Reset, (fmi3Instance given), reset(instance, function))
HANDS_ON(fmi3Terminate, (fmi3Instance given), terminate(instance, function))

/* Initialization */

FMI3_EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance given, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                                   fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    const char *function = "fmi3EnterInitializationMode";
    Status status;
    INSTANCE(given);
    status = set_up(instance, function, start, has_stop, stop, has_tolerance, tolerance);
    if (status >= DISCARD) return answer(status);
    return change_mode(instance, function, INSTANTIATED, INITIALIZING) == OK ? answer(status) : fmi3Error;
}

FMI3_EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance given)
{
    Status status;
    INSTANCE(given);
    status = exit_initialization(instance, "fmi3ExitInitializationMode");
    if (status == OK && instance->life.mode == STEPPING && host_of(instance)->event_mode_used)
        instance->life.mode = EVENT;
    return answer(status);
}

HANDS_ON(fmi3EnterConfigurationMode, (fmi3Instance given),
         refuse(instance, function, "there are no structural parameters"))
HANDS_ON(fmi3ExitConfigurationMode, (fmi3Instance given),
         refuse(instance, function, "there are no structural parameters"))

/* Values: the reference of an array stands for all its elements, rows first, which follow each other as scalars. */

typedef struct {
    const fmi3ValueReference *references;
    fmi3ValueReference *own; /* NULL: they are those that were given */
} Scalars;

static size_t elements_of(const Instance *instance, fmi3ValueReference reference)
{
    const Model *model = instance->model;
    return reference < model->variable_count ? (size_t)model->variables[reference].elements : 1;
}

/* The scalars that variables consist of, for which there are `room` values; what they are is judged later. */
static Status open_scalars(Instance *instance, const char *function, const fmi3ValueReference *references, size_t count,
                           size_t room, Scalars *scalars)
{
    size_t total = 0;
    scalars->references = references;
    scalars->own = NULL;
    if (count > 0 && references == NULL) return refuse(instance, function, "no variables are given");
    for (size_t i = 0; i < count; i++) {
        size_t elements = elements_of(instance, references[i]);
        if (elements == 0)
            return refuse(instance, function, "%s has no value reference of its own, the array has that it belongs to",
                          instance->model->variables[references[i]].name);
        total += elements;
    }
    if (total != room)
        return refuse(instance, function, "%zu values for %zu variables that have %zu", room, count, total);
    if (total == count) return OK;
    scalars->own = borrow(instance, total * sizeof *scalars->own);
    if (scalars->own == NULL) return no_room(instance, function);
    scalars->references = scalars->own;
    for (size_t i = 0, at = 0; i < count; i++)
        for (size_t j = 0, elements = elements_of(instance, references[i]); j < elements; j++)
            scalars->own[at++] = references[i] + (fmi3ValueReference)j;
    return OK;
}

static fmi3Status close_scalars(Instance *instance, Scalars *scalars, Status status)
{
    give_back(instance, scalars->own);
    return answer(status);
}

#define VALUES(name, type, access) \
    FMI3_EXPORT fmi3Status name(fmi3Instance given, const fmi3ValueReference references[], size_t count, \
                                type values[], size_t room) \
    { \
        const char *function = #name; \
        Scalars scalars; \
        INSTANCE(given); \
        if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error; \
        return close_scalars(instance, &scalars, access); \
    }
VALUES(fmi3GetFloat64, fmi3Float64, get_real(instance, function, scalars.references, room, values))
VALUES(fmi3SetFloat64, const fmi3Float64, set_real(instance, function, scalars.references, room, values))
#define WHOLE(access, kind) access(instance, function, kind, scalars.references, room, values, sizeof *values)
VALUES(fmi3GetInt64, fmi3Int64, WHOLE(get_whole, INTEGER))
VALUES(fmi3SetInt64, const fmi3Int64, WHOLE(set_whole, INTEGER))
VALUES(fmi3GetBoolean, fmi3Boolean, WHOLE(get_whole, BOOLEAN))
VALUES(fmi3SetBoolean, const fmi3Boolean, WHOLE(set_whole, BOOLEAN))
VALUES(fmi3GetString, fmi3String, get_text(instance, function, scalars.references, room, values))
VALUES(fmi3SetString, const fmi3String, set_text(instance, function, scalars.references, room, values))

/* What no variable has: asked for of none it is fine. */
#define NOT_HERE(name, text, ...) \
    HANDS_ON(name, (fmi3Instance given, const fmi3ValueReference references[], size_t count, __VA_ARGS__), \
             count == 0 ? OK : refuse(instance, function, "%s", text))

static const char TYPES[] = "no variable is of this type";
NOT_HERE(fmi3GetFloat32, TYPES, fmi3Float32 values[], size_t room)
NOT_HERE(fmi3SetFloat32, TYPES, const fmi3Float32 values[], size_t room)
NOT_HERE(fmi3GetInt8, TYPES, fmi3Int8 values[], size_t room)
NOT_HERE(fmi3SetInt8, TYPES, const fmi3Int8 values[], size_t room)
NOT_HERE(fmi3GetUInt8, TYPES, fmi3UInt8 values[], size_t room)
NOT_HERE(fmi3SetUInt8, TYPES, const fmi3UInt8 values[], size_t room)
NOT_HERE(fmi3GetInt16, TYPES, fmi3Int16 values[], size_t room)
NOT_HERE(fmi3SetInt16, TYPES, const fmi3Int16 values[], size_t room)
NOT_HERE(fmi3GetUInt16, TYPES, fmi3UInt16 values[], size_t room)
NOT_HERE(fmi3SetUInt16, TYPES, const fmi3UInt16 values[], size_t room)
NOT_HERE(fmi3GetInt32, TYPES, fmi3Int32 values[], size_t room)
NOT_HERE(fmi3SetInt32, TYPES, const fmi3Int32 values[], size_t room)
NOT_HERE(fmi3GetUInt32, TYPES, fmi3UInt32 values[], size_t room)
NOT_HERE(fmi3SetUInt32, TYPES, const fmi3UInt32 values[], size_t room)
NOT_HERE(fmi3GetUInt64, TYPES, fmi3UInt64 values[], size_t room)
NOT_HERE(fmi3SetUInt64, TYPES, const fmi3UInt64 values[], size_t room)
NOT_HERE(fmi3GetBinary, TYPES, size_t sizes[], fmi3Binary values[], size_t room)
NOT_HERE(fmi3SetBinary, TYPES, const size_t sizes[], const fmi3Binary values[], size_t room)
NOT_HERE(fmi3GetOutputDerivatives, "outputs have no derivatives here", const fmi3Int32 orders[], fmi3Float64 values[],
         size_t room)

FMI3_EXPORT fmi3Status fmi3GetClock(fmi3Instance given, const fmi3ValueReference references[], size_t count,
                                    fmi3Clock values[])
{
    const char *function = "fmi3GetClock";
    INSTANCE(given);
    if (need_mode(instance, function, INITIALIZING | EVENT) != OK) return fmi3Error;
    if (count > 0 && (references == NULL || values == NULL))
        return answer(refuse(instance, function, "no place for values"));
    for (size_t i = 0; i < count; i++) {
        int ticks = 0;
        if (clock_ticks(instance, function, references[i], &ticks) != OK) return fmi3Error;
        values[i] = ticks != 0;
    }
    return fmi3OK;
}

static const char CLOCKS[] = "all clocks are triggered outputs";
NOT_HERE(fmi3SetClock, CLOCKS, const fmi3Clock values[])
NOT_HERE(fmi3GetIntervalDecimal, CLOCKS, fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])
NOT_HERE(fmi3SetIntervalDecimal, CLOCKS, const fmi3Float64 intervals[])
NOT_HERE(fmi3GetIntervalFraction, CLOCKS, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
         fmi3IntervalQualifier qualifiers[])
NOT_HERE(fmi3SetIntervalFraction, CLOCKS, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
NOT_HERE(fmi3GetShiftDecimal, CLOCKS, fmi3Float64 shifts[])
NOT_HERE(fmi3SetShiftDecimal, CLOCKS, const fmi3Float64 shifts[])
NOT_HERE(fmi3GetShiftFraction, CLOCKS, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
NOT_HERE(fmi3SetShiftFraction, CLOCKS, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])

HANDS_ON(fmi3ActivateModelPartition, (fmi3Instance given, fmi3ValueReference clock, fmi3Float64 time),
         refuse(instance, function, CLOCKS))
HANDS_ON(fmi3GetNumberOfVariableDependencies, (fmi3Instance given, fmi3ValueReference reference, size_t *count),
         refuse(instance, function, "they stand in the model description"))
HANDS_ON(fmi3GetVariableDependencies,
         (fmi3Instance given, fmi3ValueReference dependent, size_t elements[], fmi3ValueReference independents[],
          size_t independent_elements[], fmi3DependencyKind kinds[], size_t count),
         refuse(instance, function, "they stand in the model description"))

typedef Status Derivative(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                          const uint32_t *knowns, size_t known_count, const double *seed, double *sensitivity);

/* Both kinds: `of_count` numbers belong to the unknowns, `by_count` to the knowns. */
static fmi3Status derive(Instance *instance, const char *function, Derivative *derivative,
                         const fmi3ValueReference *unknowns, size_t unknown_count, size_t of_count,
                         const fmi3ValueReference *knowns, size_t known_count, size_t by_count,
                         const fmi3Float64 *seed, fmi3Float64 *sensitivity)
{
    Scalars of, by;
    Status status;
    if (open_scalars(instance, function, unknowns, unknown_count, of_count, &of) != OK) return fmi3Error;
    if (open_scalars(instance, function, knowns, known_count, by_count, &by) != OK)
        return close_scalars(instance, &of, ERROR);
    status = derivative(instance, function, of.references, of_count, by.references, by_count, seed, sensitivity);
    (void)close_scalars(instance, &by, OK);
    return close_scalars(instance, &of, status);
}

FMI3_EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance given, const fmi3ValueReference unknowns[],
                                                    size_t unknown_count, const fmi3ValueReference knowns[],
                                                    size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                    fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    const char *function = "fmi3GetDirectionalDerivative";
    INSTANCE(given);
    return derive(instance, function, directional_derivative, unknowns, unknown_count, sensitivity_count, knowns,
                  known_count, seed_count, seed, sensitivity);
}

FMI3_EXPORT fmi3Status fmi3GetAdjointDerivative(fmi3Instance given, const fmi3ValueReference unknowns[],
                                                size_t unknown_count, const fmi3ValueReference knowns[],
                                                size_t known_count, const fmi3Float64 seed[], size_t seed_count,
                                                fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    const char *function = "fmi3GetAdjointDerivative";
    INSTANCE(given);
    return derive(instance, function, adjoint_derivative, unknowns, unknown_count, seed_count, knowns, known_count,
                  sensitivity_count, seed, sensitivity);
}

/* The whole state */

HANDS_ON(fmi3GetFMUState, (fmi3Instance given, fmi3FMUState *state), save(instance, function, state))
HANDS_ON(fmi3SetFMUState, (fmi3Instance given, fmi3FMUState state), restore(instance, function, state))
HANDS_ON(fmi3FreeFMUState, (fmi3Instance given, fmi3FMUState *state), drop(instance, function, state))
HANDS_ON(fmi3SerializedFMUStateSize, (fmi3Instance given, fmi3FMUState state, size_t *size),
         size_in_bytes(instance, function, state, size))
HANDS_ON(fmi3SerializeFMUState, (fmi3Instance given, fmi3FMUState state, fmi3Byte bytes[], size_t size),
         to_bytes(instance, function, state, bytes, size))
HANDS_ON(fmi3DeserializeFMUState, (fmi3Instance given, const fmi3Byte bytes[], size_t size, fmi3FMUState *state),
         from_bytes(instance, function, bytes, size, state))

/* Co-Simulation */

FMI3_EXPORT fmi3Status fmi3EnterStepMode(fmi3Instance given)
{
    INSTANCE(given);
    if (instance->life.kind != CO_SIMULATION)
        return answer(refuse(instance, "fmi3EnterStepMode", "this instance is for Model Exchange"));
    return answer(change_mode(instance, "fmi3EnterStepMode", EVENT, STEPPING));
}

/* Tells the host about a point inside of the step, or at its end, where it may read and set inputs; whether it wants
   the step to end, and where. */
static bool wants_return(Instance *instance, bool is_inside, double *end)
{
    const Host *host = host_of(instance);
    double time = instance->life.time;
    bool requested = false;
    double wanted = time;
    if (host->intermediate_update == NULL) return false;
    instance->life.mode = INTERMEDIATE;
    host->intermediate_update(host->environment, time, true, true, true, host->early_return_allowed && is_inside,
                              &requested, &wanted);
    instance->life.mode = STEPPING;
    if (!requested || !host->early_return_allowed) return false;
    if (wanted > time && wanted < *end) *end = wanted;
    return !(wanted > time);
}

FMI3_EXPORT fmi3Status fmi3DoStep(fmi3Instance given, fmi3Float64 time, fmi3Float64 size, fmi3Boolean no_return,
                                  fmi3Boolean *event_needed, fmi3Boolean *terminate_simulation,
                                  fmi3Boolean *early_return, fmi3Float64 *last_time)
{
    const char *function = "fmi3DoStep";
    Progress progress = {0};
    const Host *host;
    Status status;
    double target = time + size, end = target;
    bool in_pieces, waits_for_host, holds, is_inside = true, returned = false;
    INSTANCE(given);
    if (event_needed == NULL || terminate_simulation == NULL || early_return == NULL || last_time == NULL)
        return answer(refuse(instance, function, "no place for the answer"));
    *event_needed = *terminate_simulation = *early_return = false;
    *last_time = instance->life.time;
    host = host_of(instance);
    in_pieces = host->intermediate_update != NULL || host->event_mode_used;
    holds = host->event_mode_used && !host->early_return_allowed;
    status = check_step(instance, function, time, size);
    if (status == OK && holds) hold_discrete(instance, function);
    halt_at_jumps(instance, host->event_mode_used);
    while (status == OK && instance->life.time < end && !progress.reached && !returned) {
        status = step_to(instance, function, end, in_pieces, &progress);
        is_inside = !(progress.reached && end == target);
        if (status != OK || !in_pieces) break;
        if (host->event_mode_used) status = find_next_event(instance, function, &progress);
        if (status != OK) break;
        waits_for_host = progress.waits && (host->early_return_allowed || !is_inside);
        returned = wants_return(instance, is_inside, &end);
        if (waits_for_host) *event_needed = returned = true;
    }
    if (status != OK || progress.stopped) release_discrete(instance);
    else if (holds && is_held(instance, function)) *event_needed = true;
    *last_time = is_inside ? instance->life.time : target;
    *terminate_simulation = progress.stopped != 0;
    *early_return = host->early_return_allowed && status != ERROR && is_inside && instance->life.time < target;
    return progress.stopped ? fmi3OK : answer(status);
}

/* Events and Model Exchange */

FMI3_EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance given)
{
    INSTANCE(given);
    if (instance->life.kind == CO_SIMULATION && !host_of(instance)->event_mode_used)
        return answer(refuse(instance, "fmi3EnterEventMode", "this instance was made without event mode"));
    release_discrete(instance);
    return answer(change_mode(instance, "fmi3EnterEventMode", CONTINUOUS | STEPPING, EVENT));
}

FMI3_EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance given)
{
    INSTANCE(given);
    if (instance->life.kind != MODEL_EXCHANGE)
        return answer(refuse(instance, "fmi3EnterContinuousTimeMode", "this instance is for Co-Simulation"));
    return answer(change_mode(instance, "fmi3EnterContinuousTimeMode", EVENT, CONTINUOUS));
}

HANDS_ON(fmi3EvaluateDiscreteStates, (fmi3Instance given), need_mode(instance, function, INITIALIZING | EVENT))

FMI3_EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance given, fmi3Boolean *needs_update,
                                                fmi3Boolean *terminate_simulation, fmi3Boolean *nominals_changed,
                                                fmi3Boolean *values_changed, fmi3Boolean *next_defined,
                                                fmi3Float64 *next)
{
    Progress progress;
    Status status;
    INSTANCE(given);
    if (needs_update == NULL || terminate_simulation == NULL || nominals_changed == NULL || values_changed == NULL ||
        next_defined == NULL || next == NULL)
        return answer(refuse(instance, "fmi3UpdateDiscreteStates", "no place for the answer"));
    status = update_discrete_states(instance, "fmi3UpdateDiscreteStates", &progress);
    *needs_update = progress.needs_more != 0;
    *terminate_simulation = progress.stopped != 0;
    *nominals_changed = false;
    *values_changed = progress.event != 0;
    *next_defined = progress.next != 0;
    *next = progress.next_time;
    return answer(status);
}

FMI3_EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance given, fmi3Boolean no_return,
                                                   fmi3Boolean *enter_event_mode, fmi3Boolean *terminate_simulation)
{
    Progress progress;
    Status status;
    INSTANCE(given);
    if (enter_event_mode == NULL || terminate_simulation == NULL)
        return answer(refuse(instance, "fmi3CompletedIntegratorStep", "no place for the answer"));
    status = completed_step(instance, "fmi3CompletedIntegratorStep", &progress);
    *enter_event_mode = progress.event != 0;
    *terminate_simulation = progress.stopped != 0;
    return answer(status);
}

HANDS_ON(fmi3SetTime, (fmi3Instance given, fmi3Float64 time), set_time(instance, function, time))
HANDS_ON(fmi3SetContinuousStates, (fmi3Instance given, const fmi3Float64 values[], size_t count),
         set_states(instance, function, values, count))

#define VECTOR(name, function) \
    FMI3_EXPORT fmi3Status name(fmi3Instance given, fmi3Float64 values[], size_t count) \
    { \
        INSTANCE(given); \
        if (need_mode(instance, #name, INITIALIZING | EVENT | CONTINUOUS | STOPPED) != OK) return fmi3Error; \
        return answer(function(instance, #name, values, count)); \
    }
VECTOR(fmi3GetContinuousStateDerivatives, get_derivatives)
VECTOR(fmi3GetEventIndicators, get_indicators)
VECTOR(fmi3GetContinuousStates, get_states)
VECTOR(fmi3GetNominalsOfContinuousStates, get_nominals)

#define COUNT(name, member) \
    FMI3_EXPORT fmi3Status name(fmi3Instance given, size_t *count) \
    { \
        INSTANCE(given); \
        if (count == NULL) return answer(refuse(instance, #name, "no place for the answer")); \
        *count = (size_t)instance->model->member; \
        return fmi3OK; \
    }
COUNT(fmi3GetNumberOfEventIndicators, indicator_count)
COUNT(fmi3GetNumberOfContinuousStates, state_count)

#include "plain_names.h"

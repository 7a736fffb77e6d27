/* The functions of FMI 3.0, Co-Simulation and Model Exchange, for any model. */
#include "fmi3.h"

#include <stdlib.h>
#include <string.h>

#include "instance.h"

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

/* Declared and defined: the compilers ask for both. */
#define FMI3(type, name, arguments) \
    FMI3_EXPORT type name arguments; \
    type name arguments

/* Of an instance that is none, nothing can be said. */
#define INSTANCE(given) \
    Instance *instance = given; \
    if (instance == NULL) return fmi3Error

static fmi3Status answer(Status status) { return (fmi3Status)status; }

static fmi3Status not_here(fmi3Instance given, const char *function, const char *text)
{
    INSTANCE(given);
    return answer(refuse(instance, function, "%s", text));
}

/* Made, logged, ended */

FMI3(const char *, fmi3GetVersion, (void)) { return "3.0"; }

static Instance *instantiate(fmi3String name, fmi3String token, int64_t kind, fmi3Boolean logging, const Host *given)
{
    const char *wrong = NULL;
    Host *host;
    Instance *instance;
    if (name == NULL || name[0] == '\0') wrong = "an instance needs a name";
    else if (token == NULL || strcmp(token, cosim_model.token) != 0) wrong = "the instantiation token is not that of this FMU";
    else if (!(cosim_model.kinds & (kind == CO_SIMULATION ? 2 : 1))) wrong = "this FMU is not of the kind asked for";
    if (wrong != NULL) {
        if (given->log != NULL) given->log(given->environment, fmi3Error, "logStatusError", wrong);
        return NULL;
    }
    host = malloc(sizeof *host);
    if (host == NULL) return NULL;
    *host = *given;
    instance = make_instance(&cosim_model, name, kind, report, host);
    if (instance == NULL) {
        free(host);
        return NULL;
    }
    if (!logging) instance->log = LOG_ERRORS;
    return instance;
}

FMI3(fmi3Instance, fmi3InstantiateModelExchange,
     (fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log))
{
    Host host = {environment, log, NULL, false, false};
    (void)resources;
    (void)visible;
    return instantiate(name, token, MODEL_EXCHANGE, logging, &host);
}

FMI3(fmi3Instance, fmi3InstantiateCoSimulation,
     (fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
      fmi3Boolean event_mode_used, fmi3Boolean early_return_allowed, const fmi3ValueReference required[],
      size_t required_count, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
      fmi3IntermediateUpdateCallback intermediate_update))
{
    Host host = {environment, log, intermediate_update, event_mode_used, early_return_allowed};
    (void)resources;
    (void)visible;
    (void)required; /* all can be read in an intermediate update */
    (void)required_count;
    return instantiate(name, token, CO_SIMULATION, logging, &host);
}

FMI3(fmi3Instance, fmi3InstantiateScheduledExecution,
     (fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
      fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock_update,
      fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock_update;
    (void)lock;
    (void)unlock;
    if (log != NULL) log(environment, fmi3Error, "logStatusError", "this FMU has no Scheduled Execution");
    return NULL;
}

FMI3(void, fmi3FreeInstance, (fmi3Instance given))
{
    Instance *instance = given;
    if (instance == NULL) return;
    free(instance->host);
    free_instance(instance);
}

FMI3(fmi3Status, fmi3SetDebugLogging,
     (fmi3Instance given, fmi3Boolean on, size_t count, const fmi3String categories[]))
{
    INSTANCE(given);
    return answer(set_logging(instance, "fmi3SetDebugLogging", on, count, categories));
}

FMI3(fmi3Status, fmi3Reset, (fmi3Instance given))
{
    INSTANCE(given);
    return answer(reset(instance, "fmi3Reset"));
}

FMI3(fmi3Status, fmi3Terminate, (fmi3Instance given))
{
    INSTANCE(given);
    return answer(terminate(instance, "fmi3Terminate"));
}

/* Initialization */

FMI3(fmi3Status, fmi3EnterInitializationMode,
     (fmi3Instance given, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
      fmi3Float64 stop))
{
    const char *function = "fmi3EnterInitializationMode";
    Status status;
    INSTANCE(given);
    status = set_up(instance, function, start, has_stop, stop, has_tolerance, tolerance);
    if (status >= DISCARD) return answer(status);
    return change_mode(instance, function, INSTANTIATED, INITIALIZING) == OK ? answer(status) : fmi3Error;
}

FMI3(fmi3Status, fmi3ExitInitializationMode, (fmi3Instance given))
{
    Status status;
    INSTANCE(given);
    status = exit_initialization(instance, "fmi3ExitInitializationMode");
    if (status == OK && instance->life.mode == STEPPING && host_of(instance)->event_mode_used)
        instance->life.mode = EVENT;
    return answer(status);
}

FMI3(fmi3Status, fmi3EnterConfigurationMode, (fmi3Instance given))
{
    return not_here(given, "fmi3EnterConfigurationMode", "there are no structural parameters");
}

FMI3(fmi3Status, fmi3ExitConfigurationMode, (fmi3Instance given))
{
    return not_here(given, "fmi3ExitConfigurationMode", "there are no structural parameters");
}

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
    scalars->own = malloc(total * sizeof *scalars->own);
    if (scalars->own == NULL) return refuse(instance, function, "there is no memory");
    scalars->references = scalars->own;
    for (size_t i = 0, at = 0; i < count; i++)
        for (size_t j = 0, elements = elements_of(instance, references[i]); j < elements; j++)
            scalars->own[at++] = references[i] + (fmi3ValueReference)j;
    return OK;
}

static fmi3Status close_scalars(Scalars *scalars, Status status)
{
    free(scalars->own);
    return answer(status);
}

FMI3(fmi3Status, fmi3GetFloat64,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, fmi3Float64 values[], size_t room))
{
    const char *function = "fmi3GetFloat64";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, get_real(instance, function, scalars.references, room, values));
}

FMI3(fmi3Status, fmi3SetFloat64,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const fmi3Float64 values[],
      size_t room))
{
    const char *function = "fmi3SetFloat64";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, set_real(instance, function, scalars.references, room, values));
}

FMI3(fmi3Status, fmi3GetInt64,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, fmi3Int64 values[], size_t room))
{
    const char *function = "fmi3GetInt64";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, get_whole(instance, function, INTEGER, scalars.references, room, values));
}

FMI3(fmi3Status, fmi3SetInt64,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const fmi3Int64 values[], size_t room))
{
    const char *function = "fmi3SetInt64";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, set_whole(instance, function, INTEGER, scalars.references, room, values));
}

static Status get_truths(Instance *instance, const char *function, const fmi3ValueReference *references, size_t count,
                         fmi3Boolean *values)
{
    Status status = OK;
    if (count > 0 && values == NULL) return refuse(instance, function, "no place for values");
    for (size_t i = 0; i < count && status == OK; i++) {
        int64_t value = 0;
        status = get_whole(instance, function, BOOLEAN, &references[i], 1, &value);
        if (status == OK) values[i] = value != 0;
    }
    return status;
}

FMI3(fmi3Status, fmi3GetBoolean,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, fmi3Boolean values[], size_t room))
{
    const char *function = "fmi3GetBoolean";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, get_truths(instance, function, scalars.references, room, values));
}

static Status set_truths(Instance *instance, const char *function, const fmi3ValueReference *references, size_t count,
                         const fmi3Boolean *values)
{
    int64_t *wide;
    Status status;
    if (count > 0 && values == NULL) return refuse(instance, function, "no values are given");
    wide = malloc((count + 1) * sizeof *wide);
    if (wide == NULL) return refuse(instance, function, "there is no memory");
    for (size_t i = 0; i < count; i++) wide[i] = values[i];
    status = set_whole(instance, function, BOOLEAN, references, count, wide);
    free(wide);
    return status;
}

FMI3(fmi3Status, fmi3SetBoolean,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const fmi3Boolean values[],
      size_t room))
{
    const char *function = "fmi3SetBoolean";
    Scalars scalars;
    INSTANCE(given);
    if (open_scalars(instance, function, references, count, room, &scalars) != OK) return fmi3Error;
    return close_scalars(&scalars, set_truths(instance, function, scalars.references, room, values));
}

/* No model has variables of the other types. */
#define NONE_OF(name, type) \
    FMI3(fmi3Status, name, \
         (fmi3Instance given, const fmi3ValueReference references[], size_t count, type values[], size_t room)) \
    { \
        INSTANCE(given); \
        (void)references; \
        (void)values; \
        (void)room; \
        return count == 0 ? fmi3OK : answer(refuse(instance, #name, "no variable is of this type")); \
    }
NONE_OF(fmi3GetFloat32, fmi3Float32)
NONE_OF(fmi3SetFloat32, const fmi3Float32)
NONE_OF(fmi3GetInt8, fmi3Int8)
NONE_OF(fmi3SetInt8, const fmi3Int8)
NONE_OF(fmi3GetUInt8, fmi3UInt8)
NONE_OF(fmi3SetUInt8, const fmi3UInt8)
NONE_OF(fmi3GetInt16, fmi3Int16)
NONE_OF(fmi3SetInt16, const fmi3Int16)
NONE_OF(fmi3GetUInt16, fmi3UInt16)
NONE_OF(fmi3SetUInt16, const fmi3UInt16)
NONE_OF(fmi3GetInt32, fmi3Int32)
NONE_OF(fmi3SetInt32, const fmi3Int32)
NONE_OF(fmi3GetUInt32, fmi3UInt32)
NONE_OF(fmi3SetUInt32, const fmi3UInt32)
NONE_OF(fmi3GetUInt64, fmi3UInt64)
NONE_OF(fmi3SetUInt64, const fmi3UInt64)
NONE_OF(fmi3GetString, fmi3String)
NONE_OF(fmi3SetString, const fmi3String)

FMI3(fmi3Status, fmi3GetBinary,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, size_t sizes[], fmi3Binary values[],
      size_t room))
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)room;
    return count == 0 ? fmi3OK : not_here(given, "fmi3GetBinary", "no variable is of this type");
}

FMI3(fmi3Status, fmi3SetBinary,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const size_t sizes[],
      const fmi3Binary values[], size_t room))
{
    (void)references;
    (void)sizes;
    (void)values;
    (void)room;
    return count == 0 ? fmi3OK : not_here(given, "fmi3SetBinary", "no variable is of this type");
}

static const char CLOCKS[] = "all clocks are triggered outputs";

FMI3(fmi3Status, fmi3GetClock,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, fmi3Clock values[]))
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

FMI3(fmi3Status, fmi3SetClock,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const fmi3Clock values[]))
{
    (void)references;
    (void)values;
    return count == 0 ? fmi3OK : not_here(given, "fmi3SetClock", CLOCKS);
}

#define NO_CLOCK_2(name, type) \
    FMI3(fmi3Status, name, (fmi3Instance given, const fmi3ValueReference references[], size_t count, type first[])) \
    { \
        (void)references; \
        (void)first; \
        return count == 0 ? fmi3OK : not_here(given, #name, CLOCKS); \
    }
NO_CLOCK_2(fmi3GetShiftDecimal, fmi3Float64)
NO_CLOCK_2(fmi3SetIntervalDecimal, const fmi3Float64)
NO_CLOCK_2(fmi3SetShiftDecimal, const fmi3Float64)

#define NO_CLOCK_3(name, type, type2) \
    FMI3(fmi3Status, name, \
         (fmi3Instance given, const fmi3ValueReference references[], size_t count, type first[], type2 second[])) \
    { \
        (void)references; \
        (void)first; \
        (void)second; \
        return count == 0 ? fmi3OK : not_here(given, #name, CLOCKS); \
    }
NO_CLOCK_3(fmi3GetIntervalDecimal, fmi3Float64, fmi3IntervalQualifier)
NO_CLOCK_3(fmi3GetShiftFraction, fmi3UInt64, fmi3UInt64)
NO_CLOCK_3(fmi3SetIntervalFraction, const fmi3UInt64, const fmi3UInt64)
NO_CLOCK_3(fmi3SetShiftFraction, const fmi3UInt64, const fmi3UInt64)

FMI3(fmi3Status, fmi3GetIntervalFraction,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, fmi3UInt64 counters[],
      fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]))
{
    (void)references;
    (void)counters;
    (void)resolutions;
    (void)qualifiers;
    return count == 0 ? fmi3OK : not_here(given, "fmi3GetIntervalFraction", CLOCKS);
}

FMI3(fmi3Status, fmi3ActivateModelPartition,
     (fmi3Instance given, fmi3ValueReference clock, fmi3Float64 time))
{
    (void)clock;
    (void)time;
    return not_here(given, "fmi3ActivateModelPartition", CLOCKS);
}

FMI3(fmi3Status, fmi3GetNumberOfVariableDependencies,
     (fmi3Instance given, fmi3ValueReference reference, size_t *count))
{
    (void)reference;
    (void)count;
    return not_here(given, "fmi3GetNumberOfVariableDependencies", "they stand in the model description");
}

FMI3(fmi3Status, fmi3GetVariableDependencies,
     (fmi3Instance given, fmi3ValueReference dependent, size_t elements[], fmi3ValueReference independents[],
      size_t independent_elements[], fmi3DependencyKind kinds[], size_t count))
{
    (void)dependent;
    (void)elements;
    (void)independents;
    (void)independent_elements;
    (void)kinds;
    (void)count;
    return not_here(given, "fmi3GetVariableDependencies", "they stand in the model description");
}

FMI3(fmi3Status, fmi3GetDirectionalDerivative,
     (fmi3Instance given, const fmi3ValueReference unknowns[], size_t unknown_count,
      const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[], size_t seed_count,
      fmi3Float64 sensitivity[], size_t sensitivity_count))
{
    const char *function = "fmi3GetDirectionalDerivative";
    Scalars of, by;
    Status status;
    INSTANCE(given);
    if (need_mode(instance, function, INITIALIZING | RUNNING | INTERMEDIATE | STOPPED) != OK) return fmi3Error;
    if (open_scalars(instance, function, unknowns, unknown_count, sensitivity_count, &of) != OK) return fmi3Error;
    if (open_scalars(instance, function, knowns, known_count, seed_count, &by) != OK)
        return close_scalars(&of, ERROR);
    status = directional_derivative(instance, function, of.references, sensitivity_count, by.references, seed_count,
                                    seed, sensitivity);
    (void)close_scalars(&by, OK);
    return close_scalars(&of, status);
}

FMI3(fmi3Status, fmi3GetAdjointDerivative,
     (fmi3Instance given, const fmi3ValueReference unknowns[], size_t unknown_count,
      const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[], size_t seed_count,
      fmi3Float64 sensitivity[], size_t sensitivity_count))
{
    (void)unknowns;
    (void)unknown_count;
    (void)knowns;
    (void)known_count;
    (void)seed;
    (void)seed_count;
    (void)sensitivity;
    (void)sensitivity_count;
    return not_here(given, "fmi3GetAdjointDerivative", "there are directional derivatives only");
}

FMI3(fmi3Status, fmi3GetOutputDerivatives,
     (fmi3Instance given, const fmi3ValueReference references[], size_t count, const fmi3Int32 orders[],
      fmi3Float64 values[], size_t room))
{
    (void)references;
    (void)orders;
    (void)values;
    (void)room;
    return count == 0 ? fmi3OK : not_here(given, "fmi3GetOutputDerivatives", "outputs have no derivatives here");
}

/* The whole state */

FMI3(fmi3Status, fmi3GetFMUState, (fmi3Instance given, fmi3FMUState *state))
{
    Saved *saved;
    Status status;
    INSTANCE(given);
    if (state == NULL) return answer(refuse(instance, "fmi3GetFMUState", "no place for the state"));
    saved = *state;
    status = save(instance, "fmi3GetFMUState", &saved);
    *state = saved;
    return answer(status);
}

FMI3(fmi3Status, fmi3SetFMUState, (fmi3Instance given, fmi3FMUState state))
{
    INSTANCE(given);
    return answer(restore(instance, "fmi3SetFMUState", state));
}

FMI3(fmi3Status, fmi3FreeFMUState, (fmi3Instance given, fmi3FMUState *state))
{
    INSTANCE(given);
    (void)instance;
    if (state == NULL) return fmi3OK;
    free_saved(*state);
    *state = NULL;
    return fmi3OK;
}

FMI3(fmi3Status, fmi3SerializedFMUStateSize, (fmi3Instance given, fmi3FMUState state, size_t *size))
{
    const Saved *saved = state;
    INSTANCE(given);
    if (saved == NULL || size == NULL)
        return answer(refuse(instance, "fmi3SerializedFMUStateSize", "there is no saved state"));
    *size = saved->size;
    return fmi3OK;
}

FMI3(fmi3Status, fmi3SerializeFMUState, (fmi3Instance given, fmi3FMUState state, fmi3Byte bytes[], size_t size))
{
    const Saved *saved = state;
    INSTANCE(given);
    if (saved == NULL || bytes == NULL)
        return answer(refuse(instance, "fmi3SerializeFMUState", "there is no saved state"));
    if (size < saved->size)
        return answer(refuse(instance, "fmi3SerializeFMUState", "the state has %zu bytes, there is room for %zu",
                             saved->size, size));
    memcpy(bytes, saved->bytes, saved->size);
    return fmi3OK;
}

FMI3(fmi3Status, fmi3DeserializeFMUState,
     (fmi3Instance given, const fmi3Byte bytes[], size_t size, fmi3FMUState *state))
{
    const char *function = "fmi3DeserializeFMUState";
    Saved *saved;
    INSTANCE(given);
    if (state == NULL) return answer(refuse(instance, function, "no place for the state"));
    if (check_bytes(instance, function, bytes, size) != OK) return fmi3Error;
    saved = copy_bytes(bytes, size);
    if (saved == NULL) return answer(refuse(instance, function, "there is no memory"));
    free_saved(*state);
    *state = saved;
    return fmi3OK;
}

/* Co-Simulation */

FMI3(fmi3Status, fmi3EnterStepMode, (fmi3Instance given))
{
    INSTANCE(given);
    if (instance->life.kind != CO_SIMULATION)
        return answer(refuse(instance, "fmi3EnterStepMode", "this instance is for Model Exchange"));
    return answer(change_mode(instance, "fmi3EnterStepMode", EVENT, STEPPING));
}

/* Tells the host about a point inside of the step, where it may read and set inputs; whether it wants the step to
   end, and where. */
static bool wants_return(Instance *instance, double target, double *end)
{
    const Host *host = host_of(instance);
    double time = instance->life.time;
    bool requested = false;
    double wanted = time;
    if (host->intermediate_update == NULL) return false;
    instance->life.mode = INTERMEDIATE;
    host->intermediate_update(host->environment, time, true, true, true, host->early_return_allowed && time < target,
                              &requested, &wanted);
    instance->life.mode = STEPPING;
    if (!requested || !host->early_return_allowed) return false;
    if (wanted > time && wanted < *end) *end = wanted;
    return !(wanted > time);
}

FMI3(fmi3Status, fmi3DoStep,
     (fmi3Instance given, fmi3Float64 time, fmi3Float64 size, fmi3Boolean no_return, fmi3Boolean *event_needed,
      fmi3Boolean *terminate_simulation, fmi3Boolean *early_return, fmi3Float64 *last_time))
{
    const char *function = "fmi3DoStep";
    Progress progress = {0};
    const Host *host;
    Status status;
    double target = time + size, end = target;
    bool in_pieces, waits_for_host, returned = false;
    INSTANCE(given);
    (void)no_return;
    if (event_needed == NULL || terminate_simulation == NULL || early_return == NULL || last_time == NULL)
        return answer(refuse(instance, function, "no place for the answer"));
    *event_needed = *terminate_simulation = *early_return = false;
    *last_time = instance->life.time;
    host = host_of(instance);
    in_pieces = host->intermediate_update != NULL || host->event_mode_used;
    status = check_step(instance, function, time, size);
    halt_at_jumps(instance, host->event_mode_used);
    while (status == OK && instance->life.time < end && !returned) {
        status = step_to(instance, function, end, in_pieces, &progress);
        if (status != OK || !in_pieces) break;
        if (host->event_mode_used) status = announce(instance, function, &progress);
        if (status != OK) break;
        waits_for_host = progress.waits && (host->early_return_allowed || !(instance->life.time < target));
        returned = wants_return(instance, target, &end);
        if (waits_for_host) *event_needed = returned = true;
    }
    *last_time = instance->life.time;
    *terminate_simulation = progress.stopped != 0;
    *early_return = host->early_return_allowed && status != ERROR && instance->life.time < target;
    return progress.stopped ? fmi3OK : answer(status);
}

/* Events and Model Exchange */

FMI3(fmi3Status, fmi3EnterEventMode, (fmi3Instance given))
{
    INSTANCE(given);
    if (instance->life.kind == CO_SIMULATION && !host_of(instance)->event_mode_used)
        return answer(refuse(instance, "fmi3EnterEventMode", "this instance was made without event mode"));
    return answer(change_mode(instance, "fmi3EnterEventMode", CONTINUOUS | STEPPING, EVENT));
}

FMI3(fmi3Status, fmi3EnterContinuousTimeMode, (fmi3Instance given))
{
    INSTANCE(given);
    if (instance->life.kind != MODEL_EXCHANGE)
        return answer(refuse(instance, "fmi3EnterContinuousTimeMode", "this instance is for Co-Simulation"));
    return answer(change_mode(instance, "fmi3EnterContinuousTimeMode", EVENT, CONTINUOUS));
}

FMI3(fmi3Status, fmi3EvaluateDiscreteStates, (fmi3Instance given))
{
    INSTANCE(given);
    return answer(need_mode(instance, "fmi3EvaluateDiscreteStates", INITIALIZING | EVENT));
}

FMI3(fmi3Status, fmi3UpdateDiscreteStates,
     (fmi3Instance given, fmi3Boolean *needs_update, fmi3Boolean *terminate_simulation,
      fmi3Boolean *nominals_changed, fmi3Boolean *values_changed, fmi3Boolean *next_defined, fmi3Float64 *next))
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

FMI3(fmi3Status, fmi3CompletedIntegratorStep,
     (fmi3Instance given, fmi3Boolean no_return, fmi3Boolean *enter_event_mode, fmi3Boolean *terminate_simulation))
{
    Progress progress;
    Status status;
    INSTANCE(given);
    (void)no_return;
    if (enter_event_mode == NULL || terminate_simulation == NULL)
        return answer(refuse(instance, "fmi3CompletedIntegratorStep", "no place for the answer"));
    status = completed_step(instance, "fmi3CompletedIntegratorStep", &progress);
    *enter_event_mode = progress.event != 0;
    *terminate_simulation = progress.stopped != 0;
    return answer(status);
}

FMI3(fmi3Status, fmi3SetTime, (fmi3Instance given, fmi3Float64 time))
{
    INSTANCE(given);
    return answer(set_time(instance, "fmi3SetTime", time));
}

FMI3(fmi3Status, fmi3SetContinuousStates, (fmi3Instance given, const fmi3Float64 values[], size_t count))
{
    INSTANCE(given);
    return answer(set_states(instance, "fmi3SetContinuousStates", values, count));
}

#define VECTOR(name, function) \
    FMI3(fmi3Status, name, (fmi3Instance given, fmi3Float64 values[], size_t count)) \
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
    FMI3(fmi3Status, name, (fmi3Instance given, size_t *count)) \
    { \
        INSTANCE(given); \
        if (count == NULL) return answer(refuse(instance, #name, "no place for the answer")); \
        *count = (size_t)instance->model->member; \
        return fmi3OK; \
    }
COUNT(fmi3GetNumberOfEventIndicators, indicator_count)
COUNT(fmi3GetNumberOfContinuousStates, state_count)

/* The functions of FMI 2.0, Co-Simulation and Model Exchange, for any model. */
#include "fmi2.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"

typedef struct {
    fmi2CallbackFunctions callbacks; /* a copy: hosts have them on their stacks */
    fmi2Status last; /* of the last step */
} Host;

static Host *host_of(const Instance *instance) { return instance->host; }

/* The host takes the message for a format. */
static void report(Instance *instance, Status status, const char *category, const char *text)
{
    const fmi2CallbackFunctions *callbacks = &host_of(instance)->callbacks;
    char format[2048];
    size_t used = 0;
    if (callbacks->logger == NULL) return;
    for (; *text != '\0' && used < sizeof format - 2; text++) {
        if (*text == '%') format[used++] = '%';
        format[used++] = *text;
    }
    format[used] = '\0';
    callbacks->logger(callbacks->componentEnvironment, instance->name, (fmi2Status)status, category, format);
}

/* Of an instance that is none, nothing can be said. */
#define INSTANCE(component) \
    Instance *instance = component; \
    if (instance == NULL) return fmi2Error

static fmi2Status answer(Status status) { return (fmi2Status)status; }

/* Made, logged, ended */

FMI2_EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }

FMI2_EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                          const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                                          fmi2Boolean logging)
{
    const char *wrong = NULL;
    Host *host;
    int64_t kind = type == fmi2CoSimulation ? CO_SIMULATION : MODEL_EXCHANGE;
    if (name == NULL || name[0] == '\0') wrong = "fmi2Instantiate: an instance needs a name";
    else if (type != fmi2CoSimulation && type != fmi2ModelExchange)
        wrong = "fmi2Instantiate: there is no such kind of FMU";
    else if (!is_of_kind(&cosim_model, kind)) wrong = "fmi2Instantiate: this FMU is not of the kind asked for";
    else if (guid == NULL || strcmp(guid, cosim_model.token) != 0)
        wrong = "fmi2Instantiate: the guid is not that of this FMU";
    if (callbacks == NULL) return NULL;
    if (wrong != NULL) {
        name = name == NULL ? "" : name;
        if (callbacks->logger != NULL)
            callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", wrong);
        return NULL;
    }
    host = calloc(1, sizeof *host);
    if (host == NULL) return NULL;
    host->callbacks = *callbacks;
    return make_instance(&cosim_model, "fmi2Instantiate", name, kind, logging, report, host);
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component component)
{
    free_instance(component);
}

FMI2_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count,
                                           const fmi2String categories[])
{
    INSTANCE(component);
    return answer(set_logging(instance, "fmi2SetDebugLogging", on, count, categories));
}

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component component)
{
    INSTANCE(component);
    host_of(instance)->last = fmi2OK;
    return answer(reset(instance, "fmi2Reset"));
}

FMI2_EXPORT fmi2Status fmi2Terminate(fmi2Component component)
{
    INSTANCE(component);
    return answer(terminate(instance, "fmi2Terminate"));
}

/* Initialization */

FMI2_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                           fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    INSTANCE(component);
    return answer(set_up(instance, "fmi2SetupExperiment", start, has_stop, stop, has_tolerance, tolerance));
}

FMI2_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterInitializationMode", INSTANTIATED, INITIALIZING));
}

FMI2_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(exit_initialization(instance, "fmi2ExitInitializationMode"));
}

/* Values */

FMI2_EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                   fmi2Real values[])
{
    INSTANCE(component);
    return answer(get_real(instance, "fmi2GetReal", references, count, values));
}

FMI2_EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                   const fmi2Real values[])
{
    INSTANCE(component);
    return answer(set_real(instance, "fmi2SetReal", references, count, values));
}

/* Integers and Booleans are of one type in C, and int64_t inside. */
#define WHOLE(get, set, ctype, kind) \
    FMI2_EXPORT fmi2Status get(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                               ctype values[]) \
    { \
        INSTANCE(component); \
        return answer(get_ints(instance, #get, kind, references, count, values)); \
    } \
    FMI2_EXPORT fmi2Status set(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                               const ctype values[]) \
    { \
        INSTANCE(component); \
        return answer(set_ints(instance, #set, kind, references, count, values)); \
    }

static Status get_ints(Instance *instance, const char *function, int64_t kind, const fmi2ValueReference references[],
                       size_t count, int values[])
{
    Status status = OK;
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no place for values");
    for (size_t i = 0; i < count && status == OK; i++) {
        int64_t value = 0;
        status = get_whole(instance, function, kind, &references[i], 1, &value);
        if (status == OK && (value > INT_MAX || value < INT_MIN))
            status = refuse(instance, function, "%s is %lld, which FMI 2.0 cannot hold",
                            cosim_model.variables[references[i]].name, (long long)value);
        if (status == OK) values[i] = (int)value;
    }
    return status;
}

static Status set_ints(Instance *instance, const char *function, int64_t kind, const fmi2ValueReference references[],
                       size_t count, const int values[])
{
    int64_t *wide;
    Status status;
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no values are given");
    wide = malloc((count + 1) * sizeof *wide);
    if (wide == NULL) return refuse(instance, function, "there is no memory");
    for (size_t i = 0; i < count; i++) wide[i] = kind == BOOLEAN ? values[i] != 0 : values[i];
    status = set_whole(instance, function, kind, references, count, wide);
    free(wide);
    return status;
}

WHOLE(fmi2GetInteger, fmi2SetInteger, fmi2Integer, INTEGER)
WHOLE(fmi2GetBoolean, fmi2SetBoolean, fmi2Boolean, BOOLEAN)

/* No model has text: every value reference is wrong for it. */
#define NO_TEXT(name, type) \
    FMI2_EXPORT fmi2Status name(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                                type values[]) \
    { \
        INSTANCE(component); \
        return count == 0 ? fmi2OK : answer(refuse(instance, #name, "this FMU has no String variables")); \
    }
NO_TEXT(fmi2GetString, fmi2String)
NO_TEXT(fmi2SetString, const fmi2String)

FMI2_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                                    size_t unknown_count, const fmi2ValueReference knowns[],
                                                    size_t known_count, const fmi2Real seed[],
                                                    fmi2Real sensitivity[])
{
    INSTANCE(component);
    return answer(directional_derivative(instance, "fmi2GetDirectionalDerivative", unknowns, unknown_count, knowns,
                                         known_count, seed, sensitivity));
}

/* The whole state */

FMI2_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    INSTANCE(component);
    return answer(save(instance, "fmi2GetFMUstate", state));
}

FMI2_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    INSTANCE(component);
    return answer(restore(instance, "fmi2SetFMUstate", state));
}

FMI2_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    INSTANCE(component);
    return answer(drop(instance, state));
}

FMI2_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    INSTANCE(component);
    return answer(size_in_bytes(instance, "fmi2SerializedFMUstateSize", state, size));
}

FMI2_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    INSTANCE(component);
    return answer(to_bytes(instance, "fmi2SerializeFMUstate", state, bytes, size));
}

FMI2_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate *state)
{
    INSTANCE(component);
    return answer(from_bytes(instance, "fmi2DeSerializeFMUstate", bytes, size, state));
}

/* Co-Simulation */

FMI2_EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real size, fmi2Boolean no_return)
{
    Progress progress;
    Status status;
    INSTANCE(component);
    status = check_step(instance, "fmi2DoStep", time, size);
    if (status == OK && time + size > instance->life.time)
        status = step_to(instance, "fmi2DoStep", time + size, 0, &progress);
    return host_of(instance)->last = answer(status);
}

FMI2_EXPORT fmi2Status fmi2CancelStep(fmi2Component component)
{
    INSTANCE(component);
    return answer(refuse(instance, "fmi2CancelStep", "no step is pending: fmi2DoStep returns when it is done"));
}

FMI2_EXPORT fmi2Status fmi2GetStatus(fmi2Component component, fmi2StatusKind kind, fmi2Status *value)
{
    INSTANCE(component);
    if (kind != fmi2DoStepStatus || value == NULL)
        return answer(discard(instance, "fmi2GetStatus", "there is no such status"));
    *value = host_of(instance)->last;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind, fmi2Real *value)
{
    INSTANCE(component);
    if (kind != fmi2LastSuccessfulTime || value == NULL)
        return answer(discard(instance, "fmi2GetRealStatus", "there is no such status"));
    *value = instance->life.time;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component component, fmi2StatusKind kind, fmi2Integer *value)
{
    INSTANCE(component);
    return answer(discard(instance, "fmi2GetIntegerStatus", "there is no such status"));
}

FMI2_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind, fmi2Boolean *value)
{
    INSTANCE(component);
    if (kind != fmi2Terminated || value == NULL)
        return answer(discard(instance, "fmi2GetBooleanStatus", "there is no such status"));
    *value = instance->life.mode == STOPPED;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetStringStatus(fmi2Component component, fmi2StatusKind kind, fmi2String *value)
{
    INSTANCE(component);
    return answer(discard(instance, "fmi2GetStringStatus", "no step is pending"));
}

FMI2_EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                                   size_t count, const fmi2Integer orders[], const fmi2Real values[])
{
    INSTANCE(component);
    return answer(set_slopes(instance, "fmi2SetRealInputDerivatives", references, count, orders, values));
}

FMI2_EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                                    size_t count, const fmi2Integer orders[], fmi2Real values[])
{
    INSTANCE(component);
    return count == 0 ? fmi2OK
                      : answer(refuse(instance, "fmi2GetRealOutputDerivatives", "outputs have no derivatives here"));
}

/* Model Exchange */

FMI2_EXPORT fmi2Status fmi2EnterEventMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterEventMode", CONTINUOUS, EVENT));
}

FMI2_EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterContinuousTimeMode", EVENT, CONTINUOUS));
}

FMI2_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info)
{
    Progress progress;
    Status status;
    INSTANCE(component);
    if (info == NULL) return answer(refuse(instance, "fmi2NewDiscreteStates", "no place for the answer"));
    status = update_discrete_states(instance, "fmi2NewDiscreteStates", &progress);
    info->newDiscreteStatesNeeded = progress.needs_more != 0;
    info->terminateSimulation = progress.stopped != 0;
    info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = progress.event != 0;
    info->nextEventTimeDefined = progress.next != 0;
    info->nextEventTime = progress.next_time;
    return answer(status);
}

FMI2_EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean no_return,
                                                   fmi2Boolean *enter_event_mode, fmi2Boolean *terminate_simulation)
{
    Progress progress;
    Status status;
    INSTANCE(component);
    if (enter_event_mode == NULL || terminate_simulation == NULL)
        return answer(refuse(instance, "fmi2CompletedIntegratorStep", "no place for the answer"));
    status = completed_step(instance, "fmi2CompletedIntegratorStep", &progress);
    *enter_event_mode = progress.event != 0;
    *terminate_simulation = progress.stopped != 0;
    return answer(status);
}

FMI2_EXPORT fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time)
{
    INSTANCE(component);
    return answer(set_time(instance, "fmi2SetTime", time));
}

FMI2_EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real values[], size_t count)
{
    INSTANCE(component);
    return answer(set_states(instance, "fmi2SetContinuousStates", values, count));
}

#define VECTOR(name, function, modes) \
    FMI2_EXPORT fmi2Status name(fmi2Component component, fmi2Real values[], size_t count) \
    { \
        INSTANCE(component); \
        if (need_mode(instance, #name, modes) != OK) return fmi2Error; \
        return answer(function(instance, #name, values, count)); \
    }
VECTOR(fmi2GetDerivatives, get_derivatives, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetEventIndicators, get_indicators, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetContinuousStates, get_states, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetNominalsOfContinuousStates, get_nominals, ANY)

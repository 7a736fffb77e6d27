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

FMI2_EXPORT const char *fmi2GetTypesPlatform(void);
const char *fmi2GetTypesPlatform(void) { return "default"; }

FMI2_EXPORT const char *fmi2GetVersion(void);
const char *fmi2GetVersion(void) { return "2.0"; }

static void complain(const fmi2CallbackFunctions *callbacks, const char *name, const char *text)
{
    if (callbacks != NULL && callbacks->logger != NULL)
        callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError", text);
}

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                          const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                                          fmi2Boolean logging);
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    Host *host;
    Instance *instance;
    int64_t kind = type == fmi2CoSimulation ? CO_SIMULATION : MODEL_EXCHANGE;
    (void)resources;
    (void)visible;
    if (name == NULL || name[0] == '\0') {
        complain(callbacks, "", "fmi2Instantiate: an instance needs a name");
        return NULL;
    }
    if (callbacks == NULL) return NULL;
    if (type != fmi2CoSimulation && type != fmi2ModelExchange) {
        complain(callbacks, name, "fmi2Instantiate: there is no such kind of FMU");
        return NULL;
    }
    if (!(cosim_model.kinds & (kind == CO_SIMULATION ? 2 : 1))) {
        complain(callbacks, name, "fmi2Instantiate: this FMU is not of the kind asked for");
        return NULL;
    }
    if (guid == NULL || strcmp(guid, cosim_model.token) != 0) {
        complain(callbacks, name, "fmi2Instantiate: the guid is not that of this FMU");
        return NULL;
    }
    host = calloc(1, sizeof *host);
    if (host == NULL) return NULL;
    host->callbacks = *callbacks;
    instance = make_instance(&cosim_model, name, kind, report, host);
    if (instance == NULL) {
        complain(callbacks, name, "fmi2Instantiate: there is no memory");
        free(host);
        return NULL;
    }
    if (!logging) instance->log = LOG_ERRORS;
    return instance;
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component component);
void fmi2FreeInstance(fmi2Component component)
{
    Instance *instance = component;
    if (instance == NULL) return;
    free(instance->host);
    free_instance(instance);
}

FMI2_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count,
                                           const fmi2String categories[]);
fmi2Status fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    INSTANCE(component);
    return answer(set_logging(instance, "fmi2SetDebugLogging", on, count, categories));
}

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component component);
fmi2Status fmi2Reset(fmi2Component component)
{
    INSTANCE(component);
    host_of(instance)->last = fmi2OK;
    return answer(reset(instance, "fmi2Reset"));
}

FMI2_EXPORT fmi2Status fmi2Terminate(fmi2Component component);
fmi2Status fmi2Terminate(fmi2Component component)
{
    INSTANCE(component);
    return answer(terminate(instance, "fmi2Terminate"));
}

/* Initialization */

FMI2_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance,
                                           fmi2Real start, fmi2Boolean has_stop, fmi2Real stop);
fmi2Status fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    INSTANCE(component);
    return answer(set_up(instance, "fmi2SetupExperiment", start, has_stop, stop, has_tolerance, tolerance));
}

FMI2_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component);
fmi2Status fmi2EnterInitializationMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterInitializationMode", INSTANTIATED, INITIALIZING));
}

FMI2_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component);
fmi2Status fmi2ExitInitializationMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(exit_initialization(instance, "fmi2ExitInitializationMode"));
}

/* Values */

FMI2_EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                   fmi2Real values[]);
fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       fmi2Real values[])
{
    INSTANCE(component);
    return answer(get_real(instance, "fmi2GetReal", references, count, values));
}

FMI2_EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                   const fmi2Real values[]);
fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference references[], size_t count,
                       const fmi2Real values[])
{
    INSTANCE(component);
    return answer(set_real(instance, "fmi2SetReal", references, count, values));
}

/* Integers and Booleans are of one type in C, and int64_t inside. */
#define WHOLE(get, set, ctype, kind) \
    FMI2_EXPORT fmi2Status get(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                               ctype values[]); \
    fmi2Status get(fmi2Component component, const fmi2ValueReference references[], size_t count, ctype values[]) \
    { \
        INSTANCE(component); \
        return answer(get_ints(instance, #get, kind, references, count, values)); \
    } \
    FMI2_EXPORT fmi2Status set(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                               const ctype values[]); \
    fmi2Status set(fmi2Component component, const fmi2ValueReference references[], size_t count, \
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
#define NONE_OF(name, type, text) \
    FMI2_EXPORT fmi2Status name(fmi2Component component, const fmi2ValueReference references[], size_t count, \
                                type values[]); \
    fmi2Status name(fmi2Component component, const fmi2ValueReference references[], size_t count, type values[]) \
    { \
        INSTANCE(component); \
        (void)references; \
        (void)values; \
        return count == 0 ? fmi2OK : answer(refuse(instance, #name, "this FMU has no %s variables", text)); \
    }
NONE_OF(fmi2GetString, fmi2String, "String")
NONE_OF(fmi2SetString, const fmi2String, "String")

FMI2_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                                    size_t unknown_count, const fmi2ValueReference knowns[],
                                                    size_t known_count, const fmi2Real seed[],
                                                    fmi2Real sensitivity[]);
fmi2Status fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknowns[],
                                        size_t unknown_count, const fmi2ValueReference knowns[], size_t known_count,
                                        const fmi2Real seed[], fmi2Real sensitivity[])
{
    INSTANCE(component);
    if (need_mode(instance, "fmi2GetDirectionalDerivative", INITIALIZING | RUNNING | STOPPED) != OK) return fmi2Error;
    return answer(directional_derivative(instance, "fmi2GetDirectionalDerivative", unknowns, unknown_count, knowns,
                                         known_count, seed, sensitivity));
}

/* The whole state */

FMI2_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state);
fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    Saved *saved;
    Status status;
    INSTANCE(component);
    if (state == NULL) return answer(refuse(instance, "fmi2GetFMUstate", "no place for the state"));
    saved = *state;
    status = save(instance, "fmi2GetFMUstate", &saved);
    *state = saved;
    return answer(status);
}

FMI2_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state);
fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    INSTANCE(component);
    return answer(restore(instance, "fmi2SetFMUstate", state));
}

FMI2_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state);
fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    INSTANCE(component);
    (void)instance;
    if (state == NULL) return fmi2OK;
    free_saved(*state);
    *state = NULL;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size);
fmi2Status fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    const Saved *saved = state;
    INSTANCE(component);
    if (saved == NULL || size == NULL)
        return answer(refuse(instance, "fmi2SerializedFMUstateSize", "there is no saved state"));
    *size = saved->size;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[],
                                             size_t size);
fmi2Status fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    const Saved *saved = state;
    INSTANCE(component);
    if (saved == NULL || bytes == NULL)
        return answer(refuse(instance, "fmi2SerializeFMUstate", "there is no saved state"));
    if (size < saved->size)
        return answer(refuse(instance, "fmi2SerializeFMUstate", "the state has %zu bytes, there is room for %zu",
                             saved->size, size));
    memcpy(bytes, saved->bytes, saved->size);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size,
                                               fmi2FMUstate *state);
fmi2Status fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    const char *function = "fmi2DeSerializeFMUstate";
    const unsigned char *given = (const unsigned char *)bytes;
    Saved *saved;
    INSTANCE(component);
    if (state == NULL) return answer(refuse(instance, function, "no place for the state"));
    if (check_bytes(instance, function, given, size) != OK) return fmi2Error;
    saved = copy_bytes(given, size);
    if (saved == NULL) return answer(refuse(instance, function, "there is no memory"));
    free_saved(*state);
    *state = saved;
    return fmi2OK;
}

/* Co-Simulation */

FMI2_EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real size, fmi2Boolean no_return);
fmi2Status fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real size, fmi2Boolean no_return)
{
    Progress progress;
    Status status;
    INSTANCE(component);
    (void)no_return;
    status = check_step(instance, "fmi2DoStep", time, size);
    if (status == OK && time + size > instance->life.time)
        status = step_to(instance, "fmi2DoStep", time + size, 0, &progress);
    return host_of(instance)->last = answer(status);
}

FMI2_EXPORT fmi2Status fmi2CancelStep(fmi2Component component);
fmi2Status fmi2CancelStep(fmi2Component component)
{
    INSTANCE(component);
    return answer(refuse(instance, "fmi2CancelStep", "no step is pending: fmi2DoStep returns when it is done"));
}

FMI2_EXPORT fmi2Status fmi2GetStatus(fmi2Component component, fmi2StatusKind kind, fmi2Status *value);
fmi2Status fmi2GetStatus(fmi2Component component, fmi2StatusKind kind, fmi2Status *value)
{
    INSTANCE(component);
    if (kind != fmi2DoStepStatus || value == NULL)
        return answer(discard(instance, "fmi2GetStatus", "there is no such status"));
    *value = host_of(instance)->last;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind, fmi2Real *value);
fmi2Status fmi2GetRealStatus(fmi2Component component, fmi2StatusKind kind, fmi2Real *value)
{
    INSTANCE(component);
    if (kind != fmi2LastSuccessfulTime || value == NULL)
        return answer(discard(instance, "fmi2GetRealStatus", "there is no such status"));
    *value = instance->life.time;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component component, fmi2StatusKind kind, fmi2Integer *value);
fmi2Status fmi2GetIntegerStatus(fmi2Component component, fmi2StatusKind kind, fmi2Integer *value)
{
    INSTANCE(component);
    (void)kind;
    (void)value;
    return answer(discard(instance, "fmi2GetIntegerStatus", "there is no such status"));
}

FMI2_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind, fmi2Boolean *value);
fmi2Status fmi2GetBooleanStatus(fmi2Component component, fmi2StatusKind kind, fmi2Boolean *value)
{
    INSTANCE(component);
    if (kind != fmi2Terminated || value == NULL)
        return answer(discard(instance, "fmi2GetBooleanStatus", "there is no such status"));
    *value = instance->life.mode == STOPPED;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetStringStatus(fmi2Component component, fmi2StatusKind kind, fmi2String *value);
fmi2Status fmi2GetStringStatus(fmi2Component component, fmi2StatusKind kind, fmi2String *value)
{
    INSTANCE(component);
    (void)kind;
    (void)value;
    return answer(discard(instance, "fmi2GetStringStatus", "no step is pending"));
}

FMI2_EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                                   size_t count, const fmi2Integer orders[], const fmi2Real values[]);
fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                       const fmi2Integer orders[], const fmi2Real values[])
{
    INSTANCE(component);
    return answer(set_slopes(instance, "fmi2SetRealInputDerivatives", references, count, orders, values));
}

FMI2_EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[],
                                                    size_t count, const fmi2Integer orders[], fmi2Real values[]);
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference references[], size_t count,
                                        const fmi2Integer orders[], fmi2Real values[])
{
    INSTANCE(component);
    (void)references;
    (void)orders;
    (void)values;
    return count == 0 ? fmi2OK
                      : answer(refuse(instance, "fmi2GetRealOutputDerivatives", "outputs have no derivatives here"));
}

/* Model Exchange */

FMI2_EXPORT fmi2Status fmi2EnterEventMode(fmi2Component component);
fmi2Status fmi2EnterEventMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterEventMode", CONTINUOUS, EVENT));
}

FMI2_EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component);
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component component)
{
    INSTANCE(component);
    return answer(change_mode(instance, "fmi2EnterContinuousTimeMode", EVENT, CONTINUOUS));
}

FMI2_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info);
fmi2Status fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info)
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
                                                   fmi2Boolean *enter_event_mode, fmi2Boolean *terminate_simulation);
fmi2Status fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean no_return, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate_simulation)
{
    Progress progress;
    Status status;
    INSTANCE(component);
    (void)no_return;
    if (enter_event_mode == NULL || terminate_simulation == NULL)
        return answer(refuse(instance, "fmi2CompletedIntegratorStep", "no place for the answer"));
    status = completed_step(instance, "fmi2CompletedIntegratorStep", &progress);
    *enter_event_mode = progress.event != 0;
    *terminate_simulation = progress.stopped != 0;
    return answer(status);
}

FMI2_EXPORT fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time);
fmi2Status fmi2SetTime(fmi2Component component, fmi2Real time)
{
    INSTANCE(component);
    return answer(set_time(instance, "fmi2SetTime", time));
}

FMI2_EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real values[], size_t count);
fmi2Status fmi2SetContinuousStates(fmi2Component component, const fmi2Real values[], size_t count)
{
    INSTANCE(component);
    return answer(set_states(instance, "fmi2SetContinuousStates", values, count));
}

#define VECTOR(name, function, modes) \
    FMI2_EXPORT fmi2Status name(fmi2Component component, fmi2Real values[], size_t count); \
    fmi2Status name(fmi2Component component, fmi2Real values[], size_t count) \
    { \
        INSTANCE(component); \
        if (need_mode(instance, #name, modes) != OK) return fmi2Error; \
        return answer(function(instance, #name, values, count)); \
    }
VECTOR(fmi2GetDerivatives, get_derivatives, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetEventIndicators, get_indicators, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetContinuousStates, get_states, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetNominalsOfContinuousStates, get_nominals, ANY)

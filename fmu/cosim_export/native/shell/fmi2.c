/* The functions of FMI 2.0, Co-Simulation and Model Exchange, for any model. */
#include "fmi2.h"

#include <stdlib.h>
#include <string.h>

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter" /* the signatures are those of the standard */
#endif
#define FMI_EXPORT FMI2_EXPORT
#define FMI_STATUS fmi2Status
#define FMI_ERROR fmi2Error
#include "hands_on.h"

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
    return make_instance(&cosim_model, "fmi2Instantiate", name, kind, logging, report, host,
                         resources);
}

FMI2_EXPORT void fmi2FreeInstance(fmi2Component given)
{
    free_instance(given);
}

HANDS_ON(fmi2SetDebugLogging, (fmi2Component given, fmi2Boolean on, size_t count, const fmi2String categories[]),
         set_logging(instance, function, on, count, categories))

FMI2_EXPORT fmi2Status fmi2Reset(fmi2Component given)
{
    INSTANCE(given);
    host_of(instance)->last = fmi2OK;
    return answer(reset(instance, "fmi2Reset"));
}

HANDS_ON(fmi2Terminate, (fmi2Component given), terminate(instance, function))

/* Initialization */

HANDS_ON(fmi2SetupExperiment, (fmi2Component given, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop),
         set_up(instance, function, start, has_stop, stop, has_tolerance, tolerance))
HANDS_ON(fmi2EnterInitializationMode, (fmi2Component given),
         change_mode(instance, function, INSTANTIATED, INITIALIZING))
HANDS_ON(fmi2ExitInitializationMode, (fmi2Component given), exit_initialization(instance, function))

/* Values */

HANDS_ON(fmi2GetReal, (fmi2Component given, const fmi2ValueReference references[], size_t count, fmi2Real values[]),
         get_real(instance, function, references, count, values))
HANDS_ON(fmi2SetReal, (fmi2Component given, const fmi2ValueReference references[], size_t count,
                       const fmi2Real values[]),
         set_real(instance, function, references, count, values))

HANDS_ON(fmi2GetInteger,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, fmi2Integer values[]),
         get_whole(instance, function, INTEGER, references, count, values, sizeof *values))
HANDS_ON(fmi2SetInteger,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, const fmi2Integer values[]),
         set_whole(instance, function, INTEGER, references, count, values, sizeof *values))
HANDS_ON(fmi2GetBoolean,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, fmi2Boolean values[]),
         get_whole(instance, function, BOOLEAN, references, count, values, sizeof *values))
HANDS_ON(fmi2SetBoolean,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, const fmi2Boolean values[]),
         set_whole(instance, function, BOOLEAN, references, count, values, sizeof *values))

HANDS_ON(fmi2GetString,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, fmi2String values[]),
         get_text(instance, function, references, count, values))
HANDS_ON(fmi2SetString,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, const fmi2String values[]),
         set_text(instance, function, references, count, values))

HANDS_ON(fmi2GetDirectionalDerivative, (fmi2Component given, const fmi2ValueReference unknowns[],
                                        size_t unknown_count, const fmi2ValueReference knowns[], size_t known_count,
                                        const fmi2Real seed[], fmi2Real sensitivity[]),
         directional_derivative(instance, function, unknowns, unknown_count, knowns, known_count, seed, sensitivity))

/* The whole state */

HANDS_ON(fmi2GetFMUstate, (fmi2Component given, fmi2FMUstate *state), save(instance, function, state))
HANDS_ON(fmi2SetFMUstate, (fmi2Component given, fmi2FMUstate state), restore(instance, function, state))
HANDS_ON(fmi2FreeFMUstate, (fmi2Component given, fmi2FMUstate *state), drop(instance, function, state))
HANDS_ON(fmi2SerializedFMUstateSize, (fmi2Component given, fmi2FMUstate state, size_t *size),
         size_in_bytes(instance, function, state, size))
HANDS_ON(fmi2SerializeFMUstate, (fmi2Component given, fmi2FMUstate state, fmi2Byte bytes[], size_t size),
         to_bytes(instance, function, state, bytes, size))
HANDS_ON(fmi2DeSerializeFMUstate, (fmi2Component given, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state),
         from_bytes(instance, function, bytes, size, state))

/* Co-Simulation */

FMI2_EXPORT fmi2Status fmi2DoStep(fmi2Component given, fmi2Real time, fmi2Real size, fmi2Boolean no_return)
{
    Progress progress;
    Status status;
    INSTANCE(given);
    status = check_step(instance, "fmi2DoStep", time, size);
    if (status == OK && time + size > instance->life.time)
        status = step_to(instance, "fmi2DoStep", time + size, 0, &progress);
    return host_of(instance)->last = answer(status);
}

HANDS_ON(fmi2CancelStep, (fmi2Component given),
         refuse(instance, function, "no step is pending: fmi2DoStep returns when it is done"))

FMI2_EXPORT fmi2Status fmi2GetStatus(fmi2Component given, fmi2StatusKind kind, fmi2Status *value)
{
    INSTANCE(given);
    if (kind != fmi2DoStepStatus || value == NULL)
        return answer(discard(instance, "fmi2GetStatus", "there is no such status"));
    *value = host_of(instance)->last;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component given, fmi2StatusKind kind, fmi2Real *value)
{
    INSTANCE(given);
    if (kind != fmi2LastSuccessfulTime || value == NULL)
        return answer(discard(instance, "fmi2GetRealStatus", "there is no such status"));
    *value = instance->life.time;
    return fmi2OK;
}

HANDS_ON(fmi2GetIntegerStatus, (fmi2Component given, fmi2StatusKind kind, fmi2Integer *value),
         discard(instance, function, "there is no such status"))

FMI2_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component given, fmi2StatusKind kind, fmi2Boolean *value)
{
    INSTANCE(given);
    if (kind != fmi2Terminated || value == NULL)
        return answer(discard(instance, "fmi2GetBooleanStatus", "there is no such status"));
    *value = instance->life.mode == STOPPED;
    return fmi2OK;
}

HANDS_ON(fmi2GetStringStatus, (fmi2Component given, fmi2StatusKind kind, fmi2String *value),
         discard(instance, function, "no step is pending"))
HANDS_ON(fmi2SetRealInputDerivatives, (fmi2Component given, const fmi2ValueReference references[], size_t count,
                                       const fmi2Integer orders[], const fmi2Real values[]),
         set_slopes(instance, function, references, count, orders, values))

HANDS_ON(fmi2GetRealOutputDerivatives,
         (fmi2Component given, const fmi2ValueReference references[], size_t count, const fmi2Integer orders[],
          fmi2Real values[]),
         count == 0 ? OK : refuse(instance, function, "outputs have no derivatives here"))

/* Model Exchange */

HANDS_ON(fmi2EnterEventMode, (fmi2Component given), change_mode(instance, function, CONTINUOUS, EVENT))
HANDS_ON(fmi2EnterContinuousTimeMode, (fmi2Component given), change_mode(instance, function, EVENT, CONTINUOUS))

FMI2_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component given, fmi2EventInfo *info)
{
    Progress progress;
    Status status;
    INSTANCE(given);
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

FMI2_EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component given, fmi2Boolean no_return,
                                                   fmi2Boolean *enter_event_mode, fmi2Boolean *terminate_simulation)
{
    Progress progress;
    Status status;
    INSTANCE(given);
    if (enter_event_mode == NULL || terminate_simulation == NULL)
        return answer(refuse(instance, "fmi2CompletedIntegratorStep", "no place for the answer"));
    status = completed_step(instance, "fmi2CompletedIntegratorStep", &progress);
    *enter_event_mode = progress.event != 0;
    *terminate_simulation = progress.stopped != 0;
    return answer(status);
}

HANDS_ON(fmi2SetTime, (fmi2Component given, fmi2Real time), set_time(instance, function, time))
HANDS_ON(fmi2SetContinuousStates, (fmi2Component given, const fmi2Real values[], size_t count),
         set_states(instance, function, values, count))

#define VECTOR(name, function, modes) \
    FMI2_EXPORT fmi2Status name(fmi2Component given, fmi2Real values[], size_t count) \
    { \
        INSTANCE(given); \
        if (need_mode(instance, #name, modes) != OK) return fmi2Error; \
        return answer(function(instance, #name, values, count)); \
    }
VECTOR(fmi2GetDerivatives, get_derivatives, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetEventIndicators, get_indicators, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetContinuousStates, get_states, INITIALIZING | EVENT | CONTINUOUS | STOPPED)
VECTOR(fmi2GetNominalsOfContinuousStates, get_nominals, ANY)

#include "plain_names.h"

/* The calls of FMI 3.0 Co-Simulation, of an FMU of others. */
#include "foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi3.h"

typedef struct {
    fmi3Instance (*instantiate)(fmi3String, fmi3String, fmi3String, fmi3Boolean visible, fmi3Boolean logging,
                                fmi3Boolean events, fmi3Boolean early, const fmi3ValueReference[], size_t,
                                fmi3InstanceEnvironment, fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
    void (*free_instance)(fmi3Instance);
    fmi3Status (*enter)(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64);
    fmi3Status (*exit)(fmi3Instance);
    fmi3Status (*terminate)(fmi3Instance);
    fmi3Status (*step)(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,
                       fmi3Float64 *);
    fmi3Status (*enter_events)(fmi3Instance);
    fmi3Status (*enter_steps)(fmi3Instance);
    fmi3Status (*update)(fmi3Instance, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,
                         fmi3Float64 *);
    fmi3Status (*get_state)(fmi3Instance, fmi3FMUState *);
    fmi3Status (*set_state)(fmi3Instance, fmi3FMUState);
    fmi3Status (*free_state)(fmi3Instance, fmi3FMUState *);
    fmi3Status (*get_float64)(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
    fmi3Status (*set_float64)(fmi3Instance, const fmi3ValueReference[], size_t, const fmi3Float64[], size_t);
#define ACCESS(Type, name)                                                                            \
    fmi3Status (*get_##name)(fmi3Instance, const fmi3ValueReference[], size_t, fmi3##Type[], size_t); \
    fmi3Status (*set_##name)(fmi3Instance, const fmi3ValueReference[], size_t, const fmi3##Type[], size_t);
    ACCESS(Float32, float32)
    ACCESS(Int8, int8)
    ACCESS(UInt8, uint8)
    ACCESS(Int16, int16)
    ACCESS(UInt16, uint16)
    ACCESS(Int32, int32)
    ACCESS(UInt32, uint32)
    ACCESS(Int64, int64)
    ACCESS(UInt64, uint64)
    ACCESS(Boolean, boolean)
#undef ACCESS
} Functions;

#define FMI(name) fmi3##name
#include "foreign_calls.h"

static void log_error(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message)
{
    (void)category;
    if (status >= fmi3Error && message != NULL) note_logged(environment, message);
}

static int find_functions(Foreign *foreign)
{
    Functions *f = calloc(1, sizeof *f);
    if (f == NULL) return 0;
    foreign->functions = f;
    (void)find_function(foreign, "fmi3Terminate", &f->terminate);
    (void)find_function(foreign, "fmi3EnterEventMode", &f->enter_events);
    (void)find_function(foreign, "fmi3EnterStepMode", &f->enter_steps);
    (void)find_function(foreign, "fmi3UpdateDiscreteStates", &f->update);
    (void)find_function(foreign, "fmi3GetFMUState", &f->get_state);
    (void)find_function(foreign, "fmi3SetFMUState", &f->set_state);
    (void)find_function(foreign, "fmi3FreeFMUState", &f->free_state);
#define ACCESS(Type, name)                                            \
    (void)find_function(foreign, "fmi3Get" #Type, &f->get_##name); \
    (void)find_function(foreign, "fmi3Set" #Type, &f->set_##name);
    ACCESS(Float64, float64)
    ACCESS(Float32, float32)
    ACCESS(Int8, int8)
    ACCESS(UInt8, uint8)
    ACCESS(Int16, int16)
    ACCESS(UInt16, uint16)
    ACCESS(Int32, int32)
    ACCESS(UInt32, uint32)
    ACCESS(Int64, int64)
    ACCESS(UInt64, uint64)
    ACCESS(Boolean, boolean)
#undef ACCESS
    return find_function(foreign, "fmi3InstantiateCoSimulation", &f->instantiate) &&
           find_function(foreign, "fmi3FreeInstance", &f->free_instance) &&
           find_function(foreign, "fmi3EnterInitializationMode", &f->enter) &&
           find_function(foreign, "fmi3ExitInitializationMode", &f->exit) &&
           find_function(foreign, "fmi3DoStep", &f->step);
}

/* In the middle of a step. */
static void update_inside(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
                          fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
                          fmi3Boolean *return_requested, fmi3Float64 *return_time)
{
    (void)get_allowed, (void)step_finished, (void)can_return_early, (void)return_requested, (void)return_time;
    if (set_requested) write_inside(environment, time);
}

/* Some declare an event mode that they do not have; without it they step all the same. */
static Status make(Foreign *foreign, double time)
{
    const Functions *f = of(foreign);
    const ForeignUnit *unit = foreign->of->foreign;
    char resources[LONGEST_PATH + 2];
    (void)time;
    (void)snprintf(resources, sizeof resources, "%s/", foreign->resources);
    for (;;) {
        foreign->component = f->instantiate(foreign->of->name, unit->token, resources, false, true,
                                            foreign->has_events != 0, true, unit->insides,
                                            (size_t)unit->inside_count, foreign, log_error,
                                            unit->inside_count == 0 ? NULL : update_inside);
        round_as_before(foreign);
        if (foreign->component != NULL || !foreign->has_events) break;
        foreign->has_events = 0;
    }
    if (foreign->component == NULL) return ERROR;
    foreign->message[0] = '\0';
    return OK;
}

static Status enter(Foreign *foreign, double time)
{
    const ForeignUnit *unit = foreign->of->foreign;
    const bool has_stop = foreign->stop < HUGE_VAL;
    return status_of(foreign, of(foreign)->enter(foreign->component, unit->has_tolerance != 0, unit->tolerance, time,
                                                 has_stop, has_stop ? foreign->stop : 0.0));
}

static Status write_reals(Foreign *foreign, const uint32_t *references, size_t count, const double *values)
{
    const Functions *f = of(foreign);
    return f->set_float64 == NULL ? ERROR
                                  : status_of(foreign, f->set_float64(foreign->component, references, count, values, count));
}

static Status read_reals(Foreign *foreign, const uint32_t *references, size_t count, double *values)
{
    const Functions *f = of(foreign);
    return f->get_float64 == NULL ? ERROR
                                  : status_of(foreign, f->get_float64(foreign->component, references, count, values, count));
}

static Status write_whole(Foreign *foreign, uint32_t reference, int64_t type, double value)
{
    const Functions *f = of(foreign);
    switch (type) {
#define WRITE(CODE, Type, name, least, largest)                                                       \
    case CODE: {                                                                                      \
        fmi3##Type given;                                                                             \
        if (f->set_##name == NULL || !is_whole_number(value, least, largest)) return ERROR;           \
        given = (fmi3##Type)value;                                                                    \
        return status_of(foreign, f->set_##name(foreign->component, &reference, 1, &given, 1));                  \
    }
        WRITE(INT8, Int8, int8, -128.0, 127.0)
        WRITE(UINT8, UInt8, uint8, 0.0, 255.0)
        WRITE(INT16, Int16, int16, -32768.0, 32767.0)
        WRITE(UINT16, UInt16, uint16, 0.0, 65535.0)
        WRITE(INT32, Int32, int32, -2147483648.0, 2147483647.0)
        WRITE(UINT32, UInt32, uint32, 0.0, 4294967295.0)
        WRITE(INT64, Int64, int64, -9223372036854775808.0, 9223372036854774784.0)
        WRITE(UINT64, UInt64, uint64, 0.0, 18446744073709549568.0)
#undef WRITE
    case LOGICAL: {
        const fmi3Boolean given = value != 0.0;
        if (f->set_boolean == NULL || !is_whole_number(value, 0.0, 1.0)) return ERROR;
        return status_of(foreign, f->set_boolean(foreign->component, &reference, 1, &given, 1));
    }
    case FLOAT32: {
        const fmi3Float32 given = (fmi3Float32)value;
        return f->set_float32 == NULL ? ERROR
                                  : status_of(foreign, f->set_float32(foreign->component, &reference, 1, &given, 1));
    }
    default: return ERROR;
    }
}

static Status read_whole(Foreign *foreign, uint32_t reference, int64_t type, double *value)
{
    const Functions *f = of(foreign);
    switch (type) {
#define READ(CODE, Type, name)                                                      \
    case CODE: {                                                                    \
        fmi3##Type found = 0;                                                       \
        Status status;                                                              \
        if (f->get_##name == NULL) return ERROR;                                    \
        status = status_of(foreign, f->get_##name(foreign->component, &reference, 1, &found, 1)); \
        *value = (double)found;                                                     \
        return status;                                                              \
    }
        READ(FLOAT32, Float32, float32)
        READ(INT8, Int8, int8)
        READ(UINT8, UInt8, uint8)
        READ(INT16, Int16, int16)
        READ(UINT16, UInt16, uint16)
        READ(INT32, Int32, int32)
        READ(UINT32, UInt32, uint32)
        READ(INT64, Int64, int64)
        READ(UINT64, UInt64, uint64)
        READ(LOGICAL, Boolean, boolean)
#undef READ
    default: return ERROR;
    }
}

/* FMI 3.0 has no derivatives of inputs. */
static Status set_slope(Foreign *foreign, uint32_t reference, double slope)
{
    (void)foreign, (void)reference, (void)slope;
    return ERROR;
}

static Status step(Foreign *foreign, double time, double size, int keeps_no_state, StepAnswer *answer)
{
    fmi3Boolean event = false, ends = false, early = false;
    const fmi3Status given = of(foreign)->step(foreign->component, time, size, keeps_no_state != 0, &event, &ends, &early,
                                               &answer->reached);
    const Status status = status_of(foreign, given);
    answer->ends = ends;
    if (status == DISCARD) {
        answer->discarded = 1;
        return OK;
    }
    answer->event = event;
    answer->early = early;
    return status;
}

static Status enter_events(Foreign *foreign)
{
    const Functions *f = of(foreign);
    return f->enter_events == NULL ? ERROR : status_of(foreign, f->enter_events(foreign->component));
}

static Status enter_steps(Foreign *foreign)
{
    const Functions *f = of(foreign);
    return f->enter_steps == NULL ? ERROR : status_of(foreign, f->enter_steps(foreign->component));
}

static Status update_states(Foreign *foreign, int *again, int *ends, double *next_event)
{
    const Functions *f = of(foreign);
    fmi3Boolean more = false, terminates = false, nominals = false, values = false, defined = false;
    double next = 0.0;
    Status status = f->update == NULL ? ERROR
                                      : status_of(foreign, f->update(foreign->component, &more, &terminates, &nominals,
                                                                     &values, &defined, &next));
    *again = more;
    *ends = terminates;
    *next_event = defined ? next : HUGE_VAL;
    return status;
}

const FmiCalls cosim_fmi3_calls = {
    .real = FLOAT64,
    .find_functions = find_functions,
    .make = make,
    .enter = enter,
    .exit = leave,
    .write_reals = write_reals,
    .read_reals = read_reals,
    .write_whole = write_whole,
    .read_whole = read_whole,
    .set_slope = set_slope,
    .step = step,
    .enter_events = enter_events,
    .update_states = update_states,
    .enter_steps = enter_steps,
    .get_state = get_state,
    .set_state = set_state,
    .free_state = free_state,
    .end = end,
};

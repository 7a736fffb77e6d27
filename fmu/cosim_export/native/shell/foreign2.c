/* The calls of FMI 2.0 Co-Simulation, of an FMU of others. */
#include "foreign.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2.h"

typedef fmi2Status GetReals(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
typedef fmi2Status GetIntegers(fmi2Component, const fmi2ValueReference[], size_t, fmi2Integer[]);
typedef fmi2Status SetReals(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Real[]);
typedef fmi2Status SetIntegers(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Integer[]);

typedef struct {
    fmi2CallbackFunctions callbacks;
    fmi2Component (*instantiate)(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, fmi2Boolean,
                                 fmi2Boolean);
    void (*free_instance)(fmi2Component);
    fmi2Status (*setup)(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
    fmi2Status (*enter)(fmi2Component);
    fmi2Status (*exit)(fmi2Component);
    fmi2Status (*terminate)(fmi2Component);
    fmi2Status (*step)(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
    fmi2Status (*boolean_status)(fmi2Component, fmi2StatusKind, fmi2Boolean *);
    fmi2Status (*real_status)(fmi2Component, fmi2StatusKind, fmi2Real *);
    fmi2Status (*slopes)(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Integer[], const fmi2Real[]);
    fmi2Status (*get_state)(fmi2Component, fmi2FMUstate *);
    fmi2Status (*set_state)(fmi2Component, fmi2FMUstate);
    fmi2Status (*free_state)(fmi2Component, fmi2FMUstate *);
    GetReals *get_reals;
    SetReals *set_reals;
    GetIntegers *get_integers, *get_booleans;
    SetIntegers *set_integers, *set_booleans;
} Functions;

#define FMI(name) fmi2##name
#include "foreign_calls.h"

static void log_error(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                      fmi2String format, ...)
{
    char text[MESSAGE_WORDS * ITEM];
    va_list arguments;
    (void)name;
    (void)category;
    if (status < fmi2Error) return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    note_logged(environment, text);
}

static int find_functions(Foreign *foreign)
{
    Functions *f = calloc(1, sizeof *f);
    if (f == NULL) return 0;
    foreign->functions = f;
    (void)find_function(foreign, "fmi2Terminate", &f->terminate);
    (void)find_function(foreign, "fmi2GetBooleanStatus", &f->boolean_status);
    (void)find_function(foreign, "fmi2GetRealStatus", &f->real_status);
    (void)find_function(foreign, "fmi2SetRealInputDerivatives", &f->slopes);
    (void)find_function(foreign, "fmi2GetFMUstate", &f->get_state);
    (void)find_function(foreign, "fmi2SetFMUstate", &f->set_state);
    (void)find_function(foreign, "fmi2FreeFMUstate", &f->free_state);
    (void)find_function(foreign, "fmi2GetReal", &f->get_reals);
    (void)find_function(foreign, "fmi2SetReal", &f->set_reals);
    (void)find_function(foreign, "fmi2GetInteger", &f->get_integers);
    (void)find_function(foreign, "fmi2SetInteger", &f->set_integers);
    (void)find_function(foreign, "fmi2GetBoolean", &f->get_booleans);
    (void)find_function(foreign, "fmi2SetBoolean", &f->set_booleans);
    return find_function(foreign, "fmi2Instantiate", &f->instantiate) &&
           find_function(foreign, "fmi2FreeInstance", &f->free_instance) &&
           find_function(foreign, "fmi2SetupExperiment", &f->setup) &&
           find_function(foreign, "fmi2EnterInitializationMode", &f->enter) &&
           find_function(foreign, "fmi2ExitInitializationMode", &f->exit) &&
           find_function(foreign, "fmi2DoStep", &f->step);
}

static Status make(Foreign *foreign, double time)
{
    Functions *f = foreign->functions;
    const ForeignUnit *unit = foreign->of->foreign;
    const fmi2CallbackFunctions callbacks = {log_error, calloc, free, NULL, foreign};
    char resources[LONGEST_PATH + 8];
    fmi2Boolean has_stop;
    (void)snprintf(resources, sizeof resources, "file://%s%s", foreign->resources[0] == '/' ? "" : "/", foreign->resources);
    f->callbacks = callbacks;
    foreign->component =
        f->instantiate(foreign->of->name, fmi2CoSimulation, unit->token, resources, &f->callbacks, fmi2False, fmi2True);
    round_as_before(foreign);
    if (foreign->component == NULL) return ERROR;
    has_stop = foreign->stop < HUGE_VAL;
    return status_of(foreign, f->setup(foreign->component, unit->has_tolerance != 0, unit->tolerance, time, has_stop,
                                       has_stop ? foreign->stop : 0.0));
}

static Status enter(Foreign *foreign, double time)
{
    (void)time;
    return status_of(foreign, of(foreign)->enter(foreign->component));
}

static Status write_reals(Foreign *foreign, const uint32_t *references, size_t count, const double *values)
{
    const Functions *f = of(foreign);
    return f->set_reals == NULL ? ERROR
                                  : status_of(foreign, f->set_reals(foreign->component, references, count, values));
}

static Status read_reals(Foreign *foreign, const uint32_t *references, size_t count, double *values)
{
    const Functions *f = of(foreign);
    return f->get_reals == NULL ? ERROR
                                  : status_of(foreign, f->get_reals(foreign->component, references, count, values));
}

static Status write_whole(Foreign *foreign, uint32_t reference, int64_t type, double value)
{
    SetIntegers *set = type == INTEGER ? of(foreign)->set_integers : of(foreign)->set_booleans;
    const fmi2ValueReference at = reference;
    fmi2Integer whole;
    if (set == NULL || !is_whole_number(value, type == INTEGER ? INT_MIN : 0.0, type == INTEGER ? INT_MAX : 1.0))
        return ERROR;
    whole = (fmi2Integer)value;
    return status_of(foreign, set(foreign->component, &at, 1, &whole));
}

static Status read_whole(Foreign *foreign, uint32_t reference, int64_t type, double *value)
{
    GetIntegers *get = type == INTEGER ? of(foreign)->get_integers : of(foreign)->get_booleans;
    const fmi2ValueReference at = reference;
    fmi2Integer whole = 0;
    Status status = get == NULL ? ERROR : status_of(foreign, get(foreign->component, &at, 1, &whole));
    *value = type == INTEGER ? (double)whole : (double)(whole != 0);
    return status;
}

static Status set_slope(Foreign *foreign, uint32_t reference, double slope)
{
    const fmi2Integer order = 1;
    const fmi2ValueReference at = reference;
    return status_of(foreign, of(foreign)->slopes(foreign->component, &at, 1, &order, &slope));
}

static Status step(Foreign *foreign, double time, double size, int keeps_no_state, StepAnswer *answer)
{
    const Functions *f = of(foreign);
    const Status status = status_of(foreign, f->step(foreign->component, time, size, keeps_no_state));
    fmi2Boolean ends = fmi2False;
    double reached = time;
    if (status != DISCARD) return status;
    answer->discarded = 1;
    if (f->boolean_status != NULL &&
        status_of(foreign, f->boolean_status(foreign->component, fmi2Terminated, &ends)) <= WARNING)
        answer->ends = ends != fmi2False;
    if (f->real_status != NULL &&
        status_of(foreign, f->real_status(foreign->component, fmi2LastSuccessfulTime, &reached)) <= WARNING)
        answer->reached = reached;
    return OK;
}

/* Co-Simulation of FMI 2.0 has no event mode. */
static Status no_events(Foreign *foreign)
{
    (void)foreign;
    return ERROR;
}

static Status update_states(Foreign *foreign, int *again, int *ends, double *next_event)
{
    (void)foreign, (void)again, (void)ends, (void)next_event;
    return ERROR;
}

const FmiCalls cosim_fmi2_calls = {
    .real = REAL,
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
    .enter_events = no_events,
    .update_states = update_states,
    .enter_steps = no_events,
    .get_state = get_state,
    .set_state = set_state,
    .free_state = free_state,
    .end = end,
};

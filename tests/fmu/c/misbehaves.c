/* A ball that bounces, for Model Exchange of FMI 2.0 or 3.0 (the macro FMI), with one fault.

h' = v, v' = -9.81 + push; one event indicator, h, which falls through 0 at the floor; y = h + push. `fault` is the kind
of fault, from `fault_at` (s) on; or `function` returns `status`. With the macro STATELESS there are no states, and the
indicator is 0.5 s - t. Types and functions after the standards. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { /* `fault` */
    NOTHING, INDICATOR_NAN, RATE_NAN, OUTPUT_NAN, STATE_NAN, START_NAN, ENDLESS, STOP_AT_EVENT, STOP_AT_BEGIN,
    STOP_AT_STEP, NEXT_PAST, NEXT_NAN, NEXT_CROWDS, NOMINAL_NAN, RATE_INFINITE, INDICATOR_NAN_ONCE, STATE_INFINITE,
    RATE_NAN_ONCE
};
enum { /* `function` */
    NONE, SET_TIME, SET_STATES, GET_RATES, GET_INDICATORS, COMPLETED, ENTER_EVENT, UPDATE, CONTINUOUS, GET_STATES,
    NOMINALS, GET_REAL, SET_REAL, ENTER_INITIALIZATION, EXIT_INITIALIZATION, GET_INTEGER,
    SET_INTEGER, TERMINATE
};
#if FMI == 3
typedef bool Truth;
typedef int32_t Whole;
#define NAME(name) fmi3##name
#define STATE(verb) fmi3##verb##FMUState
typedef void (*Log)(void *, int, const char *, const char *);
#define SAY(b, status) (b)->log((b)->environment, status, "logStatusError", "that is how it is")
#else
typedef int Truth;
typedef int Whole;
#define NAME(name) fmi2##name
#define STATE(verb) fmi2##verb##FMUstate
typedef void (*Log)(void *, const char *, int, const char *, const char *, ...);
#define SAY(b, status) (b)->log((b)->environment, "m", status, "logStatusError", "that is how it is")
#endif
#ifdef STATELESS
enum { STATES = 0 };
#else
enum { STATES = 2 };
#endif
#define EXPORT __attribute__((visibility("default")))

typedef struct { double time, h, v, push, fault_at; Whole fault, function, status, bounces, begun; } Data;
typedef struct { Data d; void *environment; Log log; } Ball;

static int is(Ball *b, int fault) { return b->d.fault == fault && b->d.time >= b->d.fault_at; }
static int answer(Ball *b, int function) {
    if (b->d.function != function || b->d.time < b->d.fault_at) return OK;
    SAY(b, b->d.status);
    return b->d.status;
}

EXPORT const char *NAME(GetVersion)(void) { return FMI == 3 ? "3.0" : "2.0"; }
static Ball *make(void *environment, Log log) {
#ifdef NO_INSTANCE
    return NULL;
#endif
    Ball *b = calloc(1, sizeof(Ball));
    b->environment = environment;
    b->log = log;
    b->d.h = 1.0;
    return b;
}
EXPORT void NAME(FreeInstance)(Ball *b) { free(b); }
EXPORT int NAME(SetDebugLogging)(Ball *b, Truth on, size_t n, const char *const names[]) { return OK; }
EXPORT int NAME(Terminate)(Ball *b) { return answer(b, TERMINATE); }
EXPORT int NAME(Reset)(Ball *b) { return ERROR; }
EXPORT int NAME(ExitInitializationMode)(Ball *b) { return answer(b, EXIT_INITIALIZATION); }
#if FMI == 3
EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, Log log) { return make(environment, log); }
EXPORT int fmi3EnterInitializationMode(Ball *b, bool a, double tolerance, double start, bool c, double stop) {
    b->d.time = start;
    return answer(b, ENTER_INITIALIZATION);
}
#else
typedef struct { Log log; void *allocate, *release, *finished, *environment; } Callbacks;
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const Callbacks *c,
                             int visible, int logging) { return make(c->environment, c->log); }
EXPORT int fmi2SetupExperiment(Ball *b, int a, double tolerance, double start, int c, double stop) {
    b->d.time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(Ball *b) { return answer(b, ENTER_INITIALIZATION); }
#endif

static double *real(Ball *b, unsigned r) { return r < 5 ? &b->d.time + r : NULL; }
static int get_reals(Ball *b, const unsigned *r, size_t n, double *v) {
    for (size_t j = 0; j < n; j++) {
        if (r[j] < 5) v[j] = *real(b, r[j]);
        else if (r[j] == 5) v[j] = is(b, OUTPUT_NAN) ? NAN : b->d.h + b->d.push;
        else v[j] = r[j] == 6 ? b->d.v : -9.81 + b->d.push;
    }
    return answer(b, GET_REAL);
}
static int set_reals(Ball *b, const unsigned *r, size_t n, const double *v) {
    for (size_t j = 0; j < n; j++) *real(b, r[j]) = v[j];
    return answer(b, SET_REAL);
}
static int get_wholes(Ball *b, const unsigned *r, size_t n, Whole *v) {
    for (size_t j = 0; j < n; j++) v[j] = (&b->d.fault)[r[j] - 10];
    return answer(b, GET_INTEGER);
}
static int set_wholes(Ball *b, const unsigned *r, size_t n, const Whole *v) {
    for (size_t j = 0; j < n; j++) (&b->d.fault)[r[j] - 10] = v[j];
    return answer(b, SET_INTEGER);
}
#if FMI == 3
EXPORT int fmi3GetFloat64(Ball *b, const unsigned *r, size_t n, double *v, size_t total) { return get_reals(b, r, n, v); }
EXPORT int fmi3SetFloat64(Ball *b, const unsigned *r, size_t n, const double *v, size_t total) { return set_reals(b, r, n, v); }
EXPORT int fmi3GetInt32(Ball *b, const unsigned *r, size_t n, Whole *v, size_t total) { return get_wholes(b, r, n, v); }
EXPORT int fmi3SetInt32(Ball *b, const unsigned *r, size_t n, const Whole *v, size_t total) { return set_wholes(b, r, n, v); }
EXPORT int fmi3GetNumberOfContinuousStates(Ball *b, size_t *n) { *n = STATES; return OK; }
EXPORT int fmi3GetNumberOfEventIndicators(Ball *b, size_t *n) { *n = 1; return OK; }
#else
EXPORT int fmi2GetReal(Ball *b, const unsigned *r, size_t n, double *v) { return get_reals(b, r, n, v); }
EXPORT int fmi2SetReal(Ball *b, const unsigned *r, size_t n, const double *v) { return set_reals(b, r, n, v); }
EXPORT int fmi2GetInteger(Ball *b, const unsigned *r, size_t n, Whole *v) { return get_wholes(b, r, n, v); }
EXPORT int fmi2SetInteger(Ball *b, const unsigned *r, size_t n, const Whole *v) { return set_wholes(b, r, n, v); }
#endif

EXPORT int NAME(EnterEventMode)(Ball *b) { return answer(b, ENTER_EVENT); }
EXPORT int NAME(EnterContinuousTimeMode)(Ball *b) { return answer(b, CONTINUOUS); }
typedef struct { Truth again, stop, nominals, values, defined; double next; } Info;
static int update(Ball *b, Info *info) {
    memset(info, 0, sizeof *info);
    if (!b->d.begun && b->d.fault == START_NAN) b->d.v = NAN;
    if (b->d.fault == STOP_AT_BEGIN) info->stop = true;
    b->d.begun = 1;
    if (b->d.h <= 0.0 && b->d.v < 0.0) {
        b->d.v = is(b, STATE_NAN) ? NAN : is(b, STATE_INFINITE) ? INFINITY : -0.7 * b->d.v;
        b->d.bounces++;
        info->values = true;
    }
    info->again = is(b, ENDLESS);
    info->stop = info->stop || is(b, STOP_AT_EVENT);
    info->defined = b->d.fault >= NEXT_PAST && b->d.fault <= NEXT_CROWDS && b->d.bounces > 0;
    info->next = b->d.fault == NEXT_PAST ? b->d.time - 1e-3 : b->d.fault == NEXT_NAN ? NAN : b->d.time + 1e-14;
    if (info->stop) SAY(b, WARNING);
    return answer(b, UPDATE);
}
#if FMI == 3
EXPORT int fmi3UpdateDiscreteStates(Ball *b, bool *again, bool *stop, bool *nominals, bool *values, bool *defined,
                                    double *next) {
    Info info;
    int status = update(b, &info);
    *again = info.again, *stop = info.stop, *nominals = info.nominals, *values = info.values;
    *defined = info.defined, *next = info.next;
    return status;
}
#else
EXPORT int fmi2NewDiscreteStates(Ball *b, Info *info) { return update(b, info); }
#endif
EXPORT int NAME(CompletedIntegratorStep)(Ball *b, Truth no_set, Truth *event, Truth *stop) {
    *event = false;
    *stop = is(b, STOP_AT_STEP);
    if (*stop) SAY(b, WARNING);
    return answer(b, COMPLETED);
}
EXPORT int NAME(SetTime)(Ball *b, double time) {
    b->d.time = time;
    return answer(b, SET_TIME);
}
EXPORT int NAME(SetContinuousStates)(Ball *b, const double *x, size_t n) {
    if (n != STATES) return ERROR;
    memcpy(&b->d.h, x, n * sizeof *x);
    return answer(b, SET_STATES);
}
EXPORT int NAME(GetContinuousStates)(Ball *b, double *x, size_t n) {
    if (n != STATES) return ERROR;
    memcpy(x, &b->d.h, n * sizeof *x);
    return answer(b, GET_STATES);
}
#if FMI == 3
EXPORT int fmi3GetContinuousStateDerivatives(Ball *b, double *x, size_t n) {
#else
EXPORT int fmi2GetDerivatives(Ball *b, double *x, size_t n) {
#endif
    x[0] = b->d.v;
    x[1] = is(b, RATE_NAN) || (is(b, RATE_NAN_ONCE) && b->d.time < b->d.fault_at + 1e-3) ? NAN : is(b, RATE_INFINITE) ? INFINITY : -9.81 + b->d.push;
    return answer(b, GET_RATES);
}
EXPORT int NAME(GetEventIndicators)(Ball *b, double *x, size_t n) {
    x[0] = is(b, INDICATOR_NAN) ? NAN : STATES ? b->d.h : 0.5 - b->d.time;
    if (is(b, INDICATOR_NAN_ONCE) && b->d.time < b->d.fault_at + 0.05) x[0] = NAN;
    return answer(b, GET_INDICATORS);
}
EXPORT int NAME(GetNominalsOfContinuousStates)(Ball *b, double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = b->d.fault == NOMINAL_NAN ? NAN : 1.0;
    return answer(b, NOMINALS);
}
EXPORT int STATE(Get)(Ball *b, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Data));
    memcpy(*state, &b->d, sizeof(Data));
    return OK;
}
EXPORT int STATE(Set)(Ball *b, void *state) {
    memcpy(&b->d, state, sizeof(Data));
    return OK;
}
EXPORT int STATE(Free)(Ball *b, void **state) {
    free(*state);
    *state = NULL;
    return OK;
}

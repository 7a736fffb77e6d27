/* Small models for FMI 3.0 Model Exchange; a macro chooses one of them. Each function checks the mode.

BALL   h' = v, v' = push + kicks[0] + 2 kicks[1] - 9.81, pair = (h, 2 push + kicks[1]); bounces at h = 0 with `gear` tenths of its speed; stops after `limit` bounces
VDP    x' = v, v' = mu (1 - x^2) v - x
STAIR  no states; a time event in each full second adds 1 to `count`; stops at `limit`
TURN   x' = `rate`, reduced by `nominal` at the end of an integrator step in which it exceeds that; then `count` grows by 1
TICK   x' = `rate`; at each tick of its clock `count` grows by 1
DRAIN  x' = -sqrt(x), which is not defined below 0
Types and functions after the FMI 3.0 standard. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
typedef void (*Log)(void *, Status, const char *, const char *);
#define EXPORT __attribute__((visibility("default")))
enum { NEW = 1, INITIALIZATION = 2, EVENT = 4, CONTINUOUS = 8 };
enum { COUNT, LIMIT, GEAR };
#ifdef HIDES /* VDP's derivatives depend on the number of their evaluations */
#define HIDDEN 1.0
#else
#define HIDDEN 0.0
#endif

#if defined(STAIR)
enum { STATES = 0, INDICATORS = 0 };
#elif defined(BALL)
enum { STATES = 2, INDICATORS = 1 };
#elif defined(VDP)
enum { STATES = 2, INDICATORS = 0 };
#else
enum { STATES = 1, INDICATORS = 0 };
#endif

typedef struct { double time, x[2], rate[2], input, parameter, nominal, kicks[2]; int32_t whole[3]; bool ticks; } Data;
typedef struct { Data d; int mode; void *environment; Log log; } Model;

static Status check(Model *m, int modes, const char *name) {
    if (m->mode & modes) return OK;
    m->log(m->environment, Error, "logStatusError", name);
    return Error;
}
#define IN(modes) do { if (check(m, modes, __func__) != OK) return Error; } while (0)

static Status rates(Data *d) {
#if defined(BALL)
    d->rate[0] = d->x[1];
    d->rate[1] = d->input + d->kicks[0] + 2.0 * d->kicks[1] - 9.81;
#elif defined(VDP)
    static double hidden = 0.0;
    hidden += 1e-9;
    d->rate[0] = d->x[1] + HIDDEN * hidden;
    d->rate[1] = d->parameter * (1.0 - d->x[0] * d->x[0]) * d->x[1] - d->x[0];
#elif defined(TURN)
    d->rate[0] = d->parameter;
#elif defined(TICK)
    d->rate[0] = d->parameter;
#elif defined(DRAIN)
    if (d->x[0] < 0.0) return Discard;
    d->rate[0] = -sqrt(d->x[0]);
#endif
    return OK;
}
EXPORT Status fmi3Reset(Model *m) {
    memset(&m->d, 0, sizeof(Data));
    m->mode = NEW;
    m->d.x[0] = m->d.parameter = m->d.nominal = 1.0;
    m->d.whole[LIMIT] = 1000000;
    m->d.whole[GEAR] = 7;
    return OK;
}
EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, Log log) {
    Model *m = calloc(1, sizeof(Model));
    m->environment = environment;
    m->log = log;
    fmi3Reset(m);
    return m;
}
EXPORT void fmi3FreeInstance(Model *m) { free(m); }
EXPORT Status fmi3EnterInitializationMode(Model *m, bool a, double b, double start, bool c, double stop) {
    IN(NEW);
    m->mode = INITIALIZATION;
    m->d.time = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Model *m) {
    IN(INITIALIZATION);
    m->mode = EVENT;
    return OK;
}
EXPORT Status fmi3EnterEventMode(Model *m) {
    IN(CONTINUOUS);
    m->mode = EVENT;
    return OK;
}
EXPORT Status fmi3EnterContinuousTimeMode(Model *m) {
    IN(EVENT);
    m->mode = CONTINUOUS;
    return OK;
}
EXPORT Status fmi3UpdateDiscreteStates(Model *m, bool *again, bool *terminate, bool *nominals, bool *values,
                                       bool *defined, double *next) {
    Data *d = &m->d;
    int32_t before = d->whole[COUNT];
    IN(EVENT);
    *again = *terminate = *nominals = *values = *defined = false;
#if defined(BALL)
    if (d->x[0] <= 0.0 && d->x[1] < 0.0) {
        d->x[0] = 0.0;
        d->x[1] *= -0.1 * d->whole[GEAR];
        d->whole[COUNT]++;
    }
#elif defined(STAIR)
    if (d->time >= d->whole[COUNT] + 1.0) d->whole[COUNT]++;
    *defined = true;
    *next = d->whole[COUNT] + 1.0;
#elif defined(TURN)
    while (d->x[0] >= d->nominal) {
        d->x[0] -= d->nominal;
        d->whole[COUNT]++;
    }
    *nominals = true;
#elif defined(TICK)
    d->whole[COUNT] += d->ticks;
    d->ticks = false;
#endif
    *again = *values = d->whole[COUNT] != before;
    *terminate = d->whole[COUNT] >= d->whole[LIMIT];
    return OK;
}
EXPORT Status fmi3SetClock(Model *m, const Reference r[], size_t n, const bool v[]) {
    IN(EVENT);
    m->d.ticks = v[0];
    return OK;
}
EXPORT Status fmi3CompletedIntegratorStep(Model *m, bool no_set, bool *event, bool *terminate) {
    IN(CONTINUOUS);
    *terminate = *event = false;
#if defined(TURN)
    *event = m->d.x[0] >= m->d.nominal;
#endif
    return OK;
}
EXPORT Status fmi3Terminate(Model *m) { return check(m, EVENT | CONTINUOUS, __func__); }
EXPORT Status fmi3SetTime(Model *m, double time) {
    IN(CONTINUOUS | EVENT);
    m->d.time = time;
    return OK;
}
EXPORT Status fmi3SetContinuousStates(Model *m, const double x[], size_t n) {
    IN(CONTINUOUS);
    if (n != STATES) return Error;
    memcpy(m->d.x, x, n * sizeof(double));
    return OK;
}
EXPORT Status fmi3GetContinuousStates(Model *m, double x[], size_t n) {
    IN(INITIALIZATION | EVENT | CONTINUOUS);
    memcpy(x, m->d.x, n * sizeof(double));
    return OK;
}
EXPORT Status fmi3GetContinuousStateDerivatives(Model *m, double rate[], size_t n) {
    Status status;
    IN(INITIALIZATION | EVENT | CONTINUOUS);
#ifdef FAIL_STATUS /* after a quarter of a second */
    if (m->d.time > 0.25) {
        m->log(m->environment, FAIL_STATUS, NULL, "na\xefve");
        return FAIL_STATUS;
    }
#endif
    status = rates(&m->d);
    memcpy(rate, m->d.rate, n * sizeof(double));
    return status;
}
EXPORT Status fmi3GetEventIndicators(Model *m, double z[], size_t n) {
    IN(INITIALIZATION | EVENT | CONTINUOUS);
    for (size_t i = 0; i < n; i++) z[i] = m->d.x[0] == 0.0 && m->d.x[1] == 0.0 ? 1.0 : m->d.x[0];
    return OK;
}
EXPORT Status fmi3GetNominalsOfContinuousStates(Model *m, double nominals[], size_t n) {
    for (size_t i = 0; i < n; i++) nominals[i] = m->d.nominal;
    return OK;
}
EXPORT Status fmi3GetNumberOfContinuousStates(Model *m, size_t *n) { *n = STATES; return OK; }
EXPORT Status fmi3GetNumberOfEventIndicators(Model *m, size_t *n) { *n = INDICATORS; return OK; }

EXPORT Status fmi3GetFloat64(Model *m, const Reference r[], size_t n, double v[], size_t total) {
    size_t k = 0;
    rates(&m->d);
    for (size_t i = 0; i < n; i++) {
        if (r[i] > 7 && r[i] != 11) return Error;
        v[k++] = r[i] == 11 ? m->d.x[0] : (&m->d.time)[r[i]];
        if (r[i] == 11) v[k++] = 2.0 * m->d.input + m->d.kicks[1];
    }
    return k == total ? OK : Error;
}
EXPORT Status fmi3SetFloat64(Model *m, const Reference r[], size_t n, const double v[], size_t total) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (r[i] != 5 && r[i] != 12) IN(NEW | INITIALIZATION);
        if (r[i] == 12) m->d.kicks[0] = v[k++];
        if (r[i] == 12) m->d.kicks[1] = v[k++];
        else (&m->d.time)[r[i]] = v[k++];
    }
    return k == total ? OK : Error;
}
EXPORT Status fmi3GetInt32(Model *m, const Reference r[], size_t n, int32_t v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = m->d.whole[r[i] - 8];
    return OK;
}
EXPORT Status fmi3SetInt32(Model *m, const Reference r[], size_t n, const int32_t v[], size_t total) {
    IN(NEW | INITIALIZATION | EVENT);
    for (size_t i = 0; i < n; i++) m->d.whole[r[i] - 8] = v[i];
    return OK;
}
typedef struct { Data d; int mode; } Saved;
EXPORT Status fmi3GetFMUState(Model *m, Saved **state) {
    if (*state == NULL) *state = malloc(sizeof(Saved));
    (*state)->d = m->d;
    (*state)->mode = m->mode;
    return OK;
}
EXPORT Status fmi3SetFMUState(Model *m, Saved *state) {
    m->d = state->d;
    m->mode = state->mode;
    return OK;
}
EXPORT Status fmi3FreeFMUState(Model *m, Saved **state) {
    free(*state);
    *state = NULL;
    return OK;
}
EXPORT Status fmi3SerializedFMUStateSize(Model *m, Saved *state, size_t *size) { *size = sizeof(Saved); return OK; }
EXPORT Status fmi3SerializeFMUState(Model *m, Saved *state, uint8_t bytes[], size_t size) {
    memcpy(bytes, state, size);
    return OK;
}
EXPORT Status fmi3DeserializeFMUState(Model *m, const uint8_t bytes[], size_t size, Saved **state) {
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return OK;
}

/* A part of coupled systems for Model Exchange (FMI 2.0): a mass on a spring, and a gain.

x' = v, m v' = force - reaction, reaction = k (x - road) + c (v - road_rate), a = v'; y = bias + gain u + square u^2.
`high` becomes true when x rises above `limit` and false when it falls below, in event mode alone; `passes` counts
the calls of event mode in which `held` has changed. While `held` is true, `force` is ignored. From
`fail_at` on the derivatives fail, and from `stop_at` on it asks to end the simulation. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *Component;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *allocate, *release, *finished, *environment;
} Callbacks;
typedef struct { int again, stop, nominals, values, defined; double next; } EventInfo;
enum { X, V, A, FORCE, ROAD, ROAD_RATE, M, K, C, Y, U, GAIN, SQUARE, BIAS, REACTION, FAIL_AT, LIMIT, STOP_AT, REALS };
typedef struct {
    double real[REALS], time;
    int high, held, passes, known, mode;
    Callbacks calls;
} Part;
enum { OK = 0, ERROR = 3 };
enum { CONTINUOUS, EVENT };
#define EXPORT __attribute__((visibility("default")))

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT int fmi2Reset(Component c) {
    Part *p = c;
    Callbacks calls = p->calls;
    memset(p, 0, sizeof(Part));
    p->calls = calls;
    p->real[X] = p->real[M] = 1.0;
    p->real[FAIL_AT] = p->real[LIMIT] = p->real[STOP_AT] = 1e300;
    p->mode = EVENT;
    return OK;
}
EXPORT Component fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const Callbacks *c,
                                 int visible, int logging) {
    Part *p = type == 0 ? calloc(1, sizeof(Part)) : NULL;
    if (p == NULL) return NULL;
    p->calls = *c;
    fmi2Reset(p);
    return p;
}
EXPORT void fmi2FreeInstance(Component c) { free(c); }
EXPORT int fmi2SetDebugLogging(Component c, int on, size_t n, const char *const names[]) { return OK; }
EXPORT int fmi2SetupExperiment(Component c, int a, double b, double start, int d, double stop) {
    ((Part *)c)->time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(Component c) { return OK; }
EXPORT int fmi2ExitInitializationMode(Component c) { return OK; }
EXPORT int fmi2Terminate(Component c) { return OK; }
static void compute(Part *p) {
    double *r = p->real;
    r[REACTION] = r[K] * (r[X] - r[ROAD]) + r[C] * (r[V] - r[ROAD_RATE]);
    r[A] = ((p->held ? 0.0 : r[FORCE]) - r[REACTION]) / r[M];
    r[Y] = r[BIAS] + r[GAIN] * r[U] + r[SQUARE] * r[U] * r[U];
}
EXPORT int fmi2GetReal(Component c, const unsigned *r, size_t n, double *v) {
    compute(c);
    for (size_t j = 0; j < n; j++) {
        if (r[j] >= REALS) return ERROR;
        v[j] = ((Part *)c)->real[r[j]];
    }
    return OK;
}
EXPORT int fmi2SetReal(Component c, const unsigned *r, size_t n, const double *v) {
    for (size_t j = 0; j < n; j++) {
        if (r[j] >= REALS) return ERROR;
        ((Part *)c)->real[r[j]] = v[j];
    }
    return OK;
}
EXPORT int fmi2GetBoolean(Component c, const unsigned *r, size_t n, int *v) {
    for (size_t j = 0; j < n; j++) v[j] = r[j] == 0 ? ((Part *)c)->high : ((Part *)c)->held;
    return OK;
}
EXPORT int fmi2SetBoolean(Component c, const unsigned *r, size_t n, const int *v) {
    for (size_t j = 0; j < n; j++) {
        if (r[j] != 1 || ((Part *)c)->mode != EVENT) return ERROR;
        ((Part *)c)->held = v[j];
    }
    return OK;
}
EXPORT int fmi2GetInteger(Component c, const unsigned *r, size_t n, int *v) {
    for (size_t j = 0; j < n; j++) v[j] = ((Part *)c)->passes;
    return OK;
}
#define NOTHING(name) EXPORT int name(Component c, const unsigned *r, size_t n, void *v) { return n ? ERROR : OK; }
NOTHING(fmi2SetInteger) NOTHING(fmi2GetString) NOTHING(fmi2SetString)

EXPORT int fmi2EnterEventMode(Component c) {
    if (((Part *)c)->mode != CONTINUOUS) return ERROR;
    ((Part *)c)->mode = EVENT;
    return OK;
}
EXPORT int fmi2EnterContinuousTimeMode(Component c) {
    ((Part *)c)->mode = CONTINUOUS;
    return OK;
}
EXPORT int fmi2NewDiscreteStates(Component c, EventInfo *info) {
    Part *p = c;
    memset(info, 0, sizeof(*info));
    if (p->mode != EVENT) return ERROR;
    p->passes += p->known != p->held;
    p->known = p->held;
    p->high = p->real[X] > p->real[LIMIT];
    info->defined = p->time < p->real[STOP_AT] && p->real[STOP_AT] < 1e299;
    info->next = p->real[STOP_AT];
    info->stop = p->time >= p->real[STOP_AT];
    return OK;
}
EXPORT int fmi2CompletedIntegratorStep(Component c, int no_set, int *event, int *stop) {
    *event = *stop = false;
    return OK;
}
EXPORT int fmi2SetTime(Component c, double time) {
    ((Part *)c)->time = time;
    return OK;
}
EXPORT int fmi2SetContinuousStates(Component c, const double *x, size_t n) {
    if (n != 2 || ((Part *)c)->mode != CONTINUOUS) return ERROR;
    memcpy(((Part *)c)->real, x, 2 * sizeof(double));
    return OK;
}
EXPORT int fmi2GetContinuousStates(Component c, double *x, size_t n) {
    if (n != 2) return ERROR;
    memcpy(x, ((Part *)c)->real, 2 * sizeof(double));
    return OK;
}
EXPORT int fmi2GetDerivatives(Component c, double *x, size_t n) {
    Part *p = c;
    compute(p);
    if (n != 2) return ERROR;
    if (p->time >= p->real[FAIL_AT]) {
        p->calls.logger(p->calls.environment, "part", ERROR, "logStatusError", "the bearing has seized");
        return ERROR;
    }
    x[0] = p->real[V];
    x[1] = p->real[A];
    return OK;
}
EXPORT int fmi2GetEventIndicators(Component c, double *x, size_t n) {
    if (n != 1) return ERROR;
    x[0] = ((Part *)c)->real[X] - ((Part *)c)->real[LIMIT];
    return OK;
}
EXPORT int fmi2GetNominalsOfContinuousStates(Component c, double *x, size_t n) {
    x[0] = x[1] = 1.0;
    return OK;
}
EXPORT int fmi2GetFMUstate(Component c, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Part));
    memcpy(*state, c, sizeof(Part));
    return OK;
}
EXPORT int fmi2SetFMUstate(Component c, void *state) {
    Callbacks calls = ((Part *)c)->calls;
    memcpy(c, state, sizeof(Part));
    ((Part *)c)->calls = calls;
    return OK;
}
EXPORT int fmi2FreeFMUstate(Component c, void **state) {
    free(*state);
    *state = NULL;
    return OK;
}
EXPORT int fmi2SerializedFMUstateSize(Component c, void *state, size_t *size) {
    *size = sizeof(Part);
    return OK;
}
EXPORT int fmi2SerializeFMUstate(Component c, void *state, char bytes[], size_t size) {
    memcpy(bytes, state, sizeof(Part));
    return OK;
}
EXPORT int fmi2DeSerializeFMUstate(Component c, const char bytes[], size_t size, void **state) {
    if (size != sizeof(Part)) return ERROR;
    if (*state == NULL) *state = malloc(sizeof(Part));
    memcpy(*state, bytes, sizeof(Part));
    return OK;
}

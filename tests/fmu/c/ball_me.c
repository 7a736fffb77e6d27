/* A bouncing ball for Model Exchange (FMI 2.0): h' = v, v' = -9.81 + push.

One event indicator (the height); at the impact v becomes -e v in event mode. A time event at `kick_at` adds 1
to v; the integer input `gear` sets e to gear / 10, and `bounces` counts. After `stop_after` bounces it asks
to end the simulation. Types and functions after the FMI 2.0.4 standard. */
#include <math.h>
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
typedef struct { double h, v, time, push, kick_at, asked; int gear, bounces, stop_after, kicked, mode; } Ball;
enum { OK = 0, ERROR = 3 };
enum { CONTINUOUS, EVENT };
#ifndef INDICATORS /* the height and, by turns, its negative */
#define INDICATORS 1
#endif
#ifndef INDICATOR
#define INDICATOR ((Ball *)c)->h
#endif
#ifndef LOST_AT /* from then on the indicators are NaN */
#define LOST_AT 1e300
#endif
#ifndef UNKNOWN_UNTIL /* before they are NaN, too */
#define UNKNOWN_UNTIL -1e300
#endif
#define EXPORT __attribute__((visibility("default")))

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT Component fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const Callbacks *c,
                                 int visible, int logging) {
    Ball *b;
    if (type != 0) return NULL;
    b = calloc(1, sizeof(Ball));
    b->h = 1.0;
    b->kick_at = 1e300;
    b->gear = 7;
    b->stop_after = 1000000;
    b->mode = EVENT;
    return b;
}
EXPORT void fmi2FreeInstance(Component c) { free(c); }
EXPORT int fmi2SetDebugLogging(Component c, int on, size_t n, const char *const names[]) { return OK; }
EXPORT int fmi2SetupExperiment(Component c, int a, double b, double start, int d, double stop) {
    ((Ball *)c)->time = start;
    return OK;
}
EXPORT int fmi2EnterInitializationMode(Component c) { return OK; }
EXPORT int fmi2ExitInitializationMode(Component c) { return OK; }
EXPORT int fmi2Terminate(Component c) { return OK; }
EXPORT int fmi2Reset(Component c) { return OK; }
static double *real(Ball *b, unsigned r) {
    switch (r) {
    case 0: return &b->h;
    case 1: return &b->v;
    case 2: return &b->push;
    case 3: return &b->kick_at;
    case 4: return &b->asked; /* returned for v': the time of the evaluation */
    }
    return NULL;
}
static int *integer(Ball *b, unsigned r) {
    return r == 0 ? &b->gear : r == 1 ? &b->bounces : r == 2 ? &b->stop_after : NULL;
}
#ifdef HIDES_INPUTS /* they cannot be read back */
#define HIDDEN(r) ((r) == 2)
#else
#define HIDDEN(r) 0
#endif
#define ACCESS(Name, type, find)                                                                         \
    EXPORT int fmi2Get##Name(Component c, const unsigned *r, size_t n, type *v) {                        \
        for (size_t j = 0; j < n; j++) {                                                                 \
            if (find(c, r[j]) == NULL || HIDDEN(r[j])) return ERROR;                                     \
            v[j] = *find(c, r[j]);                                                                       \
        }                                                                                                \
        return OK;                                                                                       \
    }                                                                                                    \
    EXPORT int fmi2Set##Name(Component c, const unsigned *r, size_t n, const type *v) {                  \
        for (size_t j = 0; j < n; j++) {                                                                 \
            if (find(c, r[j]) == NULL) return ERROR;                                                     \
            *find(c, r[j]) = v[j];                                                                       \
        }                                                                                                \
        return OK;                                                                                       \
    }
ACCESS(Real, double, real)
ACCESS(Integer, int, integer)
#define NOTHING(name) EXPORT int name(Component c, const unsigned *r, size_t n, void *v) { return n ? ERROR : OK; }
NOTHING(fmi2GetBoolean) NOTHING(fmi2GetString)
#ifdef TAKES_ALL
#undef NOTHING
#define NOTHING(name) EXPORT int name(Component c, const unsigned *r, size_t n, void *v) { return OK; }
#endif
NOTHING(fmi2SetBoolean) NOTHING(fmi2SetString)

EXPORT int fmi2EnterEventMode(Component c) {
    ((Ball *)c)->mode = EVENT;
    return OK;
}
EXPORT int fmi2EnterContinuousTimeMode(Component c) {
    ((Ball *)c)->mode = CONTINUOUS;
    return OK;
}
EXPORT int fmi2NewDiscreteStates(Component c, EventInfo *info) {
    Ball *b = c;
    if (b->mode != EVENT) return ERROR;
    memset(info, 0, sizeof(*info));
    if (b->h <= 0.0 && b->v < 0.0) {
#ifdef BOUNCE_STATUS
        return BOUNCE_STATUS;
#endif
        b->v = -0.1 * b->gear * b->v;
        b->bounces++;
        info->values = info->again = true;
    }
    if (b->time >= b->kick_at && !b->kicked) {
        b->v += 1.0;
        b->kicked = info->values = true;
    }
    info->stop = b->bounces >= b->stop_after;
    info->defined = !b->kicked && b->kick_at < 1e299;
    info->next = b->kick_at;
#ifdef NEXT
    info->defined = true;
    info->next = NEXT;
#endif
    return OK;
}
EXPORT int fmi2CompletedIntegratorStep(Component c, int no_set, int *event, int *stop) {
    *event = *stop = false;
    return OK;
}
EXPORT int fmi2SetTime(Component c, double time) {
    ((Ball *)c)->time = time;
    return OK;
}
EXPORT int fmi2SetContinuousStates(Component c, const double *x, size_t n) {
    if (n != 2 || ((Ball *)c)->mode != CONTINUOUS) return ERROR;
    ((Ball *)c)->h = x[0];
    ((Ball *)c)->v = x[1];
    return OK;
}
EXPORT int fmi2GetContinuousStates(Component c, double *x, size_t n) {
    if (n != 2) return ERROR;
    x[0] = ((Ball *)c)->h;
    x[1] = ((Ball *)c)->v;
    return OK;
}
EXPORT int fmi2GetDerivatives(Component c, double *x, size_t n) {
    if (n != 2) return ERROR;
    x[0] = ((Ball *)c)->v;
    x[1] = -9.81 + ((Ball *)c)->push;
    ((Ball *)c)->asked = ((Ball *)c)->time;
    return OK;
}
EXPORT int fmi2GetEventIndicators(Component c, double *x, size_t n) {
    if (n != INDICATORS) return ERROR;
    double time = ((Ball *)c)->time;
    int known = time >= UNKNOWN_UNTIL && time < LOST_AT;
    for (size_t j = 0; j < n; j++) x[j] = !known ? NAN : INDICATOR * (j % 2 ? -1.0 : 1.0);
    return OK;
}
EXPORT int fmi2GetNominalsOfContinuousStates(Component c, double *x, size_t n) {
    for (size_t j = 0; j < n; j++) x[j] = 1.0;
    return OK;
}
EXPORT int fmi2GetFMUstate(Component c, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Ball));
    memcpy(*state, c, sizeof(Ball));
    return OK;
}
EXPORT int fmi2SetFMUstate(Component c, void *state) {
    memcpy(c, state, sizeof(Ball));
    return OK;
}
EXPORT int fmi2FreeFMUstate(Component c, void **state) {
    free(*state);
    *state = NULL;
    return OK;
}

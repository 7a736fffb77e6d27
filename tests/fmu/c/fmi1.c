/* Two FMUs of FMI 1.0: without ME for Co-Simulation, x' = k u; with it for Model Exchange, a ball on a floor that is
   kicked upward at a time. They reject calls in a wrong order. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#ifdef ME
#define NAME(function) ball1_##function
#else
#define NAME(function) slave1_##function
#endif

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
#ifndef ME
    void (*finished)(void *, int);
#endif
} Callbacks;
typedef struct {
    char converged, references_changed, values_changed, terminate, defined;
    double next;
} EventInfo;
enum { OK, WARNING, DISCARD, ERROR, FATAL };

typedef struct {
    double x, v, u, k, time, kick_at, fails_at;
    int count, initialized;
    char flag;
    char text[64];
    Callbacks call;
    char name[64];
} Instance;

static Instance *make(const char *name, const char *guid, Callbacks callbacks) {
    if (strcmp(guid, "{one}") != 0) {
        callbacks.logger(NULL, name, ERROR, "error", "guid is %s, needs %s", guid, "{one}");
        return NULL;
    }
    Instance *c = callbacks.allocate(1, sizeof(Instance));
    c->call = callbacks;
    strncpy(c->name, name, 63);
    c->k = c->x = 1.0;
    c->kick_at = c->fails_at = 1e300;
    strcpy(c->text, "hello");
    return c;
}

static int refuse(Instance *c, const char *why) {
    c->call.logger(c, c->name, ERROR, "error", "%s at %d", why, c->count);
    return ERROR;
}

const char *NAME(fmiGetVersion)(void) { return "1.0"; }

static double *real(Instance *c, unsigned vr) {
    double *all[] = {&c->x, &c->v, &c->u, &c->k, &c->kick_at, &c->fails_at};
    return vr < 6 ? all[vr] : NULL;
}

int NAME(fmiGetReal)(Instance *c, const unsigned *vr, size_t n, double *value) {
    if (!c->initialized) return refuse(c, "read before it is initialized");
    for (size_t i = 0; i < n; i++) {
        if (real(c, vr[i]) == NULL) return refuse(c, "no such variable");
        value[i] = *real(c, vr[i]);
    }
    return OK;
}

int NAME(fmiSetReal)(Instance *c, const unsigned *vr, size_t n, const double *value) {
    for (size_t i = 0; i < n; i++) {
        if (real(c, vr[i]) == NULL) return refuse(c, "no such variable");
        if (c->initialized && vr[i] != 2) return refuse(c, "only u can be set now");
        *real(c, vr[i]) = value[i];
    }
    return OK;
}

int NAME(fmiGetInteger)(Instance *c, const unsigned *vr, size_t n, int *value) {
    for (size_t i = 0; i < n; i++) value[i] = c->count;
    return OK;
}

int NAME(fmiSetInteger)(Instance *c, const unsigned *vr, size_t n, const int *value) {
    for (size_t i = 0; i < n; i++) c->count = value[i];
    return OK;
}

int NAME(fmiGetBoolean)(Instance *c, const unsigned *vr, size_t n, char *value) {
    for (size_t i = 0; i < n; i++) value[i] = c->flag;
    return OK;
}

int NAME(fmiSetBoolean)(Instance *c, const unsigned *vr, size_t n, const char *value) {
    for (size_t i = 0; i < n; i++) c->flag = value[i];
    return OK;
}

int NAME(fmiGetString)(Instance *c, const unsigned *vr, size_t n, const char **value) {
    for (size_t i = 0; i < n; i++) value[i] = c->text;
    return OK;
}

int NAME(fmiSetString)(Instance *c, const unsigned *vr, size_t n, const char *const *value) {
    for (size_t i = 0; i < n; i++) strncpy(c->text, value[i], 63);
    return OK;
}

#ifndef ME

void *NAME(fmiInstantiateSlave)(
    const char *name, const char *guid, const char *where, const char *mime, double timeout, char visible, char interactive,
    Callbacks callbacks, char logging) {
    if (strncmp(where, "file://", 7) != 0 || strcmp(mime, "application/x-fmu-sharedlibrary") != 0) return NULL;
    return make(name, guid, callbacks);
}

void NAME(fmiFreeSlaveInstance)(Instance *c) { c->call.release(c); }

int NAME(fmiInitializeSlave)(Instance *c, double start, char has_stop, double stop) {
    if (c->initialized) return refuse(c, "initialized twice");
    c->initialized = 1;
    c->time = start;
    c->v = c->k * c->u; /* the rate at the start depends on the input that is set before */
    return OK;
}

int NAME(fmiTerminateSlave)(Instance *c) { return c->initialized ? OK : ERROR; }

int NAME(fmiDoStep)(Instance *c, double time, double size, char new_step) {
    if (!c->initialized || time != c->time) return refuse(c, "a step out of order");
    if (time + size > c->fails_at) return c->count == 7 ? DISCARD : refuse(c, "too late");
    c->v = c->k * c->u;
    c->x += size * c->v;
    c->time = time + size;
    c->flag = !c->flag;
    return OK;
}

int NAME(fmiGetRealStatus)(Instance *c, int kind, double *value) {
    *value = c->fails_at;
    return kind == 2 ? OK : DISCARD;
}

/* fmpy looks up all functions, also those that it does not call */
const char *NAME(fmiGetTypesPlatform)(void) { return "standard32"; }
int NAME(fmiSetDebugLogging)(Instance *c, char on) { return OK; }
int NAME(fmiResetSlave)(Instance *c) {
    c->initialized = c->flag = c->count = 0;
    c->u = c->v = c->time = 0.0;
    c->k = c->x = 1.0;
    c->fails_at = 1e300;
    return OK;
}
int NAME(fmiCancelStep)(Instance *c) { return ERROR; }
int NAME(fmiGetStatus)(Instance *c, int kind, int *value) { return ERROR; }
int NAME(fmiGetIntegerStatus)(Instance *c, int kind, int *value) { return ERROR; }
int NAME(fmiGetBooleanStatus)(Instance *c, int kind, char *value) { return ERROR; }
int NAME(fmiGetStringStatus)(Instance *c, int kind, const char **value) { return ERROR; }
int NAME(fmiSetRealInputDerivatives)(Instance *c, const unsigned *vr, size_t n, const int *order, const double *value) {
    return ERROR;
}
int NAME(fmiGetRealOutputDerivatives)(Instance *c, const unsigned *vr, size_t n, const int *order, double *value) {
    return ERROR;
}

#else

void *NAME(fmiInstantiateModel)(const char *name, const char *guid, Callbacks callbacks, char logging) {
    return make(name, guid, callbacks);
}

void NAME(fmiFreeModelInstance)(Instance *c) { c->call.release(c); }

int NAME(fmiSetTime)(Instance *c, double time) {
    c->time = time;
    return OK;
}

static void tell(Instance *c, EventInfo *info) {
    memset(info, 0, sizeof(EventInfo));
    info->converged = 1;
    info->defined = c->kick_at < 1e299;
    info->next = c->kick_at;
}

int NAME(fmiInitialize)(Instance *c, char controlled, double tolerance, EventInfo *info) {
    if (c->initialized) return refuse(c, "initialized twice");
    c->initialized = 1;
    tell(c, info);
    return OK;
}

int NAME(fmiEventUpdate)(Instance *c, char intermediate, EventInfo *info) {
    if (!c->initialized) return refuse(c, "an event before it is initialized");
    if (c->time >= c->kick_at) {
        c->v = 5.0;
        c->kick_at = 1e300;
    } else if (c->x <= 0.0 && c->v < 0.0) {
        c->v = -0.8 * c->v;
        c->x = 0.0;
        c->count++;
    }
    tell(c, info);
    info->values_changed = 1;
    return OK;
}

int NAME(fmiCompletedIntegratorStep)(Instance *c, char *event) {
    *event = 0;
    return OK;
}

int NAME(fmiSetContinuousStates)(Instance *c, const double *x, size_t n) {
    c->x = x[0];
    c->v = x[1];
    return OK;
}

int NAME(fmiGetContinuousStates)(Instance *c, double *x, size_t n) {
    x[0] = c->x;
    x[1] = c->v;
    return OK;
}

int NAME(fmiGetDerivatives)(Instance *c, double *rates, size_t n) {
    if (c->time > c->fails_at) return refuse(c, "too late");
    rates[0] = c->v;
    rates[1] = -9.81 + c->u;
    return OK;
}

int NAME(fmiGetEventIndicators)(Instance *c, double *indicators, size_t n) {
    indicators[0] = c->x == 0.0 && c->v > 0.0 ? 1e-9 : c->x;
    return OK;
}

int NAME(fmiGetNominalContinuousStates)(Instance *c, double *nominals, size_t n) {
    nominals[0] = nominals[1] = 1.0;
    return OK;
}

int NAME(fmiTerminate)(Instance *c) { return c->initialized ? OK : ERROR; }

#endif

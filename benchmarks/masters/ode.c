/* x' = u - x and y = x as a Model Exchange FMU whose functions cost next to nothing, so the host's own cost shows.

A complete FMI 2.0 model of one state; types and functions after the FMI 2.0.4 standard. How often it is called
goes into the file that the environment variable ODE_CALLS names. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { double state, input; long calls; } Ode;
typedef struct { int needed, terminate, nominals, values, next_defined; double next; } EventInfo;

#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, ERROR = 3 };

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const void *callbacks,
                             int visible, int logging) {
    Ode *ode = calloc(1, sizeof(Ode));
    if (ode != NULL) ode->state = 1.0;
    return ode;
}
EXPORT void fmi2FreeInstance(void *c) {
    const char *path = getenv("ODE_CALLS");
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    if (file != NULL) {
        fprintf(file, "%ld\n", ((Ode *)c)->calls);
        fclose(file);
    }
    free(c);
}
EXPORT int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const names[]) { return OK; }
EXPORT int fmi2SetupExperiment(void *c, int a, double b, double start, int e, double stop) { return OK; }
EXPORT int fmi2EnterInitializationMode(void *c) { return OK; }
EXPORT int fmi2ExitInitializationMode(void *c) { return OK; }
EXPORT int fmi2Terminate(void *c) { return OK; }
EXPORT int fmi2Reset(void *c) {
    ((Ode *)c)->state = 1.0;
    return OK;
}
EXPORT int fmi2GetReal(void *c, const unsigned *references, size_t n, double *values) {
    Ode *ode = c;
    ++ode->calls;
    for (size_t i = 0; i < n; ++i) {
        if (references[i] > 3) return ERROR;
        values[i] = references[i] == 1 ? ode->input : references[i] == 3 ? ode->input - ode->state : ode->state;
    }
    return OK;
}
EXPORT int fmi2SetReal(void *c, const unsigned *references, size_t n, const double *values) {
    Ode *ode = c;
    ++ode->calls;
    for (size_t i = 0; i < n; ++i) {
        if (references[i] == 1) ode->input = values[i];
        else if (references[i] == 2) ode->state = values[i];
        else return ERROR;
    }
    return OK;
}
EXPORT int fmi2SetTime(void *c, double time) {
    ++((Ode *)c)->calls;
    return OK;
}
EXPORT int fmi2SetContinuousStates(void *c, const double *states, size_t n) {
    ++((Ode *)c)->calls;
    if (n != 0) ((Ode *)c)->state = states[0];
    return OK;
}
EXPORT int fmi2GetContinuousStates(void *c, double *states, size_t n) {
    ++((Ode *)c)->calls;
    if (n != 0) states[0] = ((Ode *)c)->state;
    return OK;
}
EXPORT int fmi2GetDerivatives(void *c, double *rates, size_t n) {
    ++((Ode *)c)->calls;
    if (n != 0) rates[0] = ((Ode *)c)->input - ((Ode *)c)->state;
    return OK;
}
EXPORT int fmi2GetNominalsOfContinuousStates(void *c, double *nominals, size_t n) {
    for (size_t i = 0; i < n; ++i) nominals[i] = 1.0;
    return OK;
}
EXPORT int fmi2GetEventIndicators(void *c, double *indicators, size_t n) { return OK; }
EXPORT int fmi2EnterEventMode(void *c) { return OK; }
EXPORT int fmi2EnterContinuousTimeMode(void *c) { return OK; }
EXPORT int fmi2NewDiscreteStates(void *c, EventInfo *info) {
    *info = (EventInfo){0};
    return OK;
}
EXPORT int fmi2CompletedIntegratorStep(void *c, int done, int *enter, int *terminate) {
    ++((Ode *)c)->calls;
    *enter = *terminate = 0;
    return OK;
}
#define NOTHING(name) EXPORT int name(void *c, const unsigned *r, size_t n, void *v) { return n ? ERROR : OK; }
NOTHING(fmi2GetInteger) NOTHING(fmi2GetBoolean) NOTHING(fmi2GetString)
NOTHING(fmi2SetInteger) NOTHING(fmi2SetBoolean) NOTHING(fmi2SetString)
EXPORT int fmi2GetFMUstate(void *c, void **state) { return ERROR; }
EXPORT int fmi2SetFMUstate(void *c, void *state) { return ERROR; }
EXPORT int fmi2FreeFMUstate(void *c, void **state) { return ERROR; }
EXPORT int fmi2SerializedFMUstateSize(void *c, void *state, size_t *size) { return ERROR; }
EXPORT int fmi2SerializeFMUstate(void *c, void *state, char bytes[], size_t size) { return ERROR; }
EXPORT int fmi2DeSerializeFMUstate(void *c, const char bytes[], size_t size, void **state) { return ERROR; }
EXPORT int fmi2GetDirectionalDerivative(void *c, const unsigned *z, size_t nz, const unsigned *v, size_t nv,
                                        const double *dv, double *dz) {
    return ERROR;
}

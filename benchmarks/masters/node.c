/* x' = u - x by one step of explicit Euler, y = x: a step costs next to nothing, so a master's own cost shows.

A complete FMI 2.0 Co-Simulation slave of one state; types and functions after the FMI 2.0.4 standard. */
#include <stddef.h>
#include <stdlib.h>

typedef void *fmi2Component;
typedef struct {
    void *logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void *stepFinished;
    void *componentEnvironment;
} Callbacks;
typedef struct { double value[2]; } Node; /* 0 output y, 1 input u */

#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, ERROR = 3 };

EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT fmi2Component fmi2Instantiate(const char *name, int type, const char *guid, const char *where,
                                     const Callbacks *callbacks, int visible, int logging) {
    Node *node = calloc(1, sizeof(Node));
    if (node != NULL) node->value[0] = 1.0;
    return node;
}
EXPORT void fmi2FreeInstance(fmi2Component c) { free(c); }
EXPORT int fmi2SetDebugLogging(fmi2Component c, int on, size_t n, const char *const names[]) { return OK; }
EXPORT int fmi2SetupExperiment(fmi2Component c, int a, double b, double start, int e, double stop) { return OK; }
EXPORT int fmi2EnterInitializationMode(fmi2Component c) { return OK; }
EXPORT int fmi2ExitInitializationMode(fmi2Component c) { return OK; }
EXPORT int fmi2Terminate(fmi2Component c) { return OK; }
EXPORT int fmi2Reset(fmi2Component c) {
    ((Node *)c)->value[0] = 1.0;
    return OK;
}
EXPORT int fmi2GetReal(fmi2Component c, const unsigned *references, size_t n, double *values) {
    for (size_t i = 0; i < n; ++i) {
        if (references[i] > 1) return ERROR;
        values[i] = ((Node *)c)->value[references[i]];
    }
    return OK;
}
EXPORT int fmi2SetReal(fmi2Component c, const unsigned *references, size_t n, const double *values) {
    for (size_t i = 0; i < n; ++i) {
        if (references[i] > 1) return ERROR;
        ((Node *)c)->value[references[i]] = values[i];
    }
    return OK;
}
EXPORT int fmi2DoStep(fmi2Component c, double time, double size, int done) {
    Node *node = c;
    node->value[0] += size * (node->value[1] - node->value[0]);
    return OK;
}
#define NOTHING(name) EXPORT int name(fmi2Component c, const unsigned *r, size_t n, void *v) { return n ? ERROR : OK; }
NOTHING(fmi2GetInteger) NOTHING(fmi2GetBoolean) NOTHING(fmi2GetString)
NOTHING(fmi2SetInteger) NOTHING(fmi2SetBoolean) NOTHING(fmi2SetString)
EXPORT int fmi2CancelStep(fmi2Component c) { return ERROR; }
EXPORT int fmi2GetStatus(fmi2Component c, int kind, int *value) { return ERROR; }
EXPORT int fmi2GetRealStatus(fmi2Component c, int kind, double *value) { return ERROR; }
EXPORT int fmi2GetIntegerStatus(fmi2Component c, int kind, int *value) { return ERROR; }
EXPORT int fmi2GetBooleanStatus(fmi2Component c, int kind, int *value) { return ERROR; }
EXPORT int fmi2GetStringStatus(fmi2Component c, int kind, const char **value) { return ERROR; }
EXPORT int fmi2SetRealInputDerivatives(fmi2Component c, const unsigned *r, size_t n, const int *o, const double *v) {
    return ERROR;
}
EXPORT int fmi2GetRealOutputDerivatives(fmi2Component c, const unsigned *r, size_t n, const int *o, double *v) {
    return ERROR;
}
EXPORT int fmi2GetFMUstate(fmi2Component c, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Node));
    if (*state == NULL) return ERROR;
    *(Node *)*state = *(Node *)c;
    return OK;
}
EXPORT int fmi2SetFMUstate(fmi2Component c, void *state) {
    *(Node *)c = *(Node *)state;
    return OK;
}
EXPORT int fmi2FreeFMUstate(fmi2Component c, void **state) {
    free(*state);
    *state = NULL;
    return OK;
}
EXPORT int fmi2SerializedFMUstateSize(fmi2Component c, void *state, size_t *size) { return ERROR; }
EXPORT int fmi2SerializeFMUstate(fmi2Component c, void *state, char bytes[], size_t size) { return ERROR; }
EXPORT int fmi2DeSerializeFMUstate(fmi2Component c, const char bytes[], size_t size, void **state) { return ERROR; }
EXPORT int fmi2GetDirectionalDerivative(fmi2Component c, const unsigned *z, size_t nz, const unsigned *v, size_t nv,
                                        const double *dv, double *dz) {
    return ERROR;
}

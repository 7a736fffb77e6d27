/* y' = 1. Executes the statement FAULT in the function whose name replaces the text of `where` in the library (LOAD,
   Instantiate, DoStep …); in a step from 0.35 s on. */
#define _GNU_SOURCE
#include <fenv.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    void *logger, *(*allocate)(size_t, size_t), (*release)(void *), *finished, *environment;
} Callbacks;
typedef struct {
    double y;
    void (*release)(void *);
} Instance;

static volatile char where[] = "the name of the call that goes wrong";
static int is_at(const char *name) {
    size_t i = 0;
    while (name[i] != 0 && where[i] == name[i]) i++;
    return where[i] == name[i];
}
static int status = 0;

static void handler(int number) { (void)number; }
static void disturb(void) {
    fesetround(FE_UPWARD);
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
    signal(SIGFPE, handler);
    signal(SIGSEGV, handler);
    if (chdir("/") != 0) status = 3;
}
static double time;
static void fault(void) { FAULT; }
static void use(void) { (void)disturb, (void)time; }
#define AT(name) do { if (is_at(#name)) fault(); } while (0)

__attribute__((constructor)) static void loaded(void) { use(); AT(LOAD); }
__attribute__((destructor)) static void unloaded(void) { AT(UNLOAD); }

void *fmi2Instantiate(const char *name, int type, const char *guid, const char *folder, const Callbacks *callbacks, int visible,
                      int logging) {
    Instance *c = callbacks->allocate(1, sizeof(Instance));
    c->release = callbacks->release;
    AT(Instantiate);
    return status > 1 && is_at("Instantiate") ? NULL : c;
}
void fmi2FreeInstance(Instance *c) {
    AT(FreeInstance);
    c->release(c);
}
int fmi2SetupExperiment(Instance *c, int a, double b, double d, int e, double f) { AT(SetupExperiment); return status; }
int fmi2EnterInitializationMode(Instance *c) { AT(EnterInitializationMode); return status; }
int fmi2ExitInitializationMode(Instance *c) { AT(ExitInitializationMode); return status; }
int fmi2Terminate(Instance *c) { AT(Terminate); return status; }
int fmi2SetReal(Instance *c, const unsigned *vr, size_t n, const double *value) { AT(SetReal); return status; }
int fmi2GetReal(Instance *c, const unsigned *vr, size_t n, double *value) {
    AT(GetReal);
    for (size_t i = 0; i < n; i++) value[i] = c->y;
    return status;
}
int fmi2DoStep(Instance *c, double now, double size, int never_back) {
    time = now;
    if (time > 0.35) AT(DoStep);
    c->y += size;
    return status;
}
int fmi2GetFMUstate(Instance *c, void **state) {
    AT(GetFMUstate);
    if (*state == NULL) *state = malloc(sizeof c->y);
    *(double *)*state = c->y;
    return status;
}
int fmi2SetFMUstate(Instance *c, void *state) {
    AT(SetFMUstate);
    c->y = *(double *)state;
    return status;
}
int fmi2FreeFMUstate(Instance *c, void **state) {
    AT(FreeFMUstate);
    free(*state);
    *state = NULL;
    return status;
}
int fmi2SerializedFMUstateSize(Instance *c, void *state, size_t *size) {
    AT(SerializedFMUstateSize);
    *size = sizeof c->y;
    return status;
}
int fmi2SerializeFMUstate(Instance *c, void *state, char *bytes, size_t size) {
    AT(SerializeFMUstate);
    memcpy(bytes, state, size);
    return status;
}
int fmi2DeSerializeFMUstate(Instance *c, const char *bytes, size_t size, void **state) {
    AT(DeSerializeFMUstate);
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return status;
}
int fmi2GetDirectionalDerivative(Instance *c, const unsigned *of, size_t n, const unsigned *by, size_t m,
                                 const double *seed, double *found) {
    AT(GetDirectionalDerivative);
    for (size_t i = 0; i < n; i++) found[i] = 3.0 * seed[0];
    return status;
}

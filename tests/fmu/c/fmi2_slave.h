/* A small FMI 2.0 Co-Simulation slave for tests: everything but the model.

A model includes this file after it has defined REALS, INTEGERS, BOOLEANS, STRINGS (the number of variables of
each type, with value references from 0) and defines, after the include, the functions declared below. String 0 is
the path of a file to which the slave appends a word whenever it is terminated or freed; "" for none.

The types and functions are those of the FMI 2.0.4 standard, sections 2.1 and 4.2. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *fmi2Component;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef struct {
    void (*logger)(void *, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(void *, fmi2Status);
    void *componentEnvironment;
} fmi2CallbackFunctions;

#define EXPORT __attribute__((visibility("default")))
#define TEXT 512
#ifndef STRICT /* after initialization, outputs cannot be read after an input is set and before the next step */
#define STRICT 0
#endif

typedef struct {
    double r[REALS + 1];
    double slope[REALS + 1]; /* slopes of inputs over the next step; a new value of an input resets its slope */
    int i[INTEGERS + 1];
    int b[BOOLEANS + 1];
    char s[STRINGS + 1][TEXT];
    double time;
    double reached;   /* answer to LastSuccessfulTime */
    int terminated;   /* answer to Terminated */
} Data;

typedef struct {
    Data data;
    fmi2CallbackFunctions callbacks;
    char name[TEXT];
    char resources[TEXT]; /* as the environment gave it */
    int running, changed;
} Slave;

static void model_start(Data *data);
static void model_outputs(Data *data);
static fmi2Status model_step(Slave *slave, double time, double size);

static void mark(Slave *slave, const char *word) {
    FILE *file;
    if (slave->data.s[0][0] == 0) return;
    file = fopen(slave->data.s[0], "a");
    if (file == NULL) return;
    fprintf(file, "%s\n", word);
    fclose(file);
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Component fmi2Instantiate(fmi2String name, int type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                                     fmi2Boolean logging) {
    Slave *slave;
    (void)visible; (void)logging; (void)guid;
#ifdef REFUSES
    callbacks->logger(callbacks->componentEnvironment, name, fmi2Error, "logStatusError",
                      "no licence for %d seats", 7);
    return NULL;
#endif
    if (type != 1) return NULL;
#ifdef THEIR_MEMORY
    slave = callbacks->allocateMemory(1, sizeof(Slave));
#else
    slave = calloc(1, sizeof(Slave));
#endif
    slave->callbacks = *callbacks;
    strncpy(slave->name, name, TEXT - 1);
    strncpy(slave->resources, resources ? resources : "", TEXT - 1);
    model_start(&slave->data);
    return slave;
}

EXPORT void fmi2FreeInstance(fmi2Component c) {
    if (c == NULL) return;
    mark(c, "freed");
#ifdef THEIR_MEMORY
    ((Slave *)c)->callbacks.freeMemory(c);
#else
    free(c);
#endif
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, double tolerance, double start,
                                      fmi2Boolean has_stop, double stop) {
    (void)has_tolerance; (void)tolerance; (void)has_stop; (void)stop;
#ifdef TELLS
    {
        Slave *slave = c;
        if (has_tolerance)
            slave->callbacks.logger(slave->callbacks.componentEnvironment, slave->name, fmi2OK, "logAll", "tolerance %g",
                                    tolerance);
        slave->callbacks.logger(slave->callbacks.componentEnvironment, slave->name, fmi2Warning, "logAll", "warned");
    }
#endif
    ((Slave *)c)->data.time = start;
    return fmi2OK;
}
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { model_outputs(&((Slave *)c)->data); return fmi2OK; }
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    ((Slave *)c)->running = 1;
    ((Slave *)c)->changed = 0;
    model_outputs(&((Slave *)c)->data);
    return fmi2OK;
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, double time, double size, fmi2Boolean no_set_state_before) {
    (void)no_set_state_before;
    ((Slave *)c)->changed = 0;
    return model_step(c, time, size);
}

#define ACCESS(Type, type, field, count)                                                                    \
    EXPORT fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference *vr, size_t n, type *value) { \
        Data *data = &((Slave *)c)->data;                                                                   \
        size_t j;                                                                                           \
        if (STRICT && ((Slave *)c)->running && ((Slave *)c)->changed) return fmi2Error;                     \
        model_outputs(data);                                                                                \
        for (j = 0; j < n; j++) {                                                                           \
            if (vr[j] >= count) return fmi2Error;                                                           \
            value[j] = data->field[vr[j]];                                                                  \
        }                                                                                                   \
        return fmi2OK;                                                                                      \
    }
#define CHANGE(Type, type, field, count)                                                                    \
    EXPORT fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference *vr, size_t n,                \
                                    const type *value) {                                                    \
        Data *data = &((Slave *)c)->data;                                                                   \
        size_t j;                                                                                           \
        for (j = 0; j < n; j++) {                                                                           \
            if (vr[j] >= count) return fmi2Error;                                                           \
            data->field[vr[j]] = value[j];                                                                  \
            if (#type[4] == 'R') data->slope[vr[j]] = 0.0;                                                  \
        }                                                                                                   \
        ((Slave *)c)->changed = 1;                                                                          \
        return fmi2OK;                                                                                      \
    }
ACCESS(Real, fmi2Real, r, REALS)
CHANGE(Real, fmi2Real, r, REALS)
#ifdef OWN_GET_STRING
OWN_GET_STRING
#else
ACCESS(String, fmi2String, s, STRINGS)
#endif
#ifndef ONLY_NEEDED
ACCESS(Integer, fmi2Integer, i, INTEGERS)
CHANGE(Integer, fmi2Integer, i, INTEGERS)
ACCESS(Boolean, fmi2Boolean, b, BOOLEANS)
CHANGE(Boolean, fmi2Boolean, b, BOOLEANS)
#endif
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference *vr, size_t n,
                                              const fmi2Integer *order, const fmi2Real *value) {
    Data *data = &((Slave *)c)->data;
    size_t j;
    for (j = 0; j < n; j++) {
        if (vr[j] >= REALS || order[j] != 1) return fmi2Error;
        data->slope[vr[j]] = value[j];
    }
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference *vr, size_t n, const fmi2String *value) {
    size_t j;
    for (j = 0; j < n; j++) {
        if (vr[j] >= STRINGS) return fmi2Error;
        strncpy(((Slave *)c)->data.s[vr[j]], value[j], TEXT - 1);
    }
    return fmi2OK;
}

#ifndef ONLY_NEEDED
EXPORT fmi2Status fmi2Terminate(fmi2Component c) { mark(c, "terminated"); return fmi2OK; }
EXPORT fmi2Status fmi2Reset(fmi2Component c) {
#ifdef RESETS /* resets all data; otherwise variables that model_start does not set keep their values, as in some FMUs */
    memset(&((Slave *)c)->data, 0, sizeof(Data));
    ((Slave *)c)->running = ((Slave *)c)->changed = 0;
#endif
    model_start(&((Slave *)c)->data);
    return fmi2OK;
}
EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, int kind, fmi2Real *value) {
    if (kind != 2) return fmi2Discard;
    *value = ((Slave *)c)->data.reached;
    return fmi2OK;
}
EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, int kind, fmi2Boolean *value) {
    if (kind != 3) return fmi2Discard;
    *value = ((Slave *)c)->data.terminated;
    return fmi2OK;
}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
    if (*state == NULL) *state = malloc(sizeof(Data));
    memcpy(*state, &((Slave *)c)->data, sizeof(Data));
    return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    memcpy(&((Slave *)c)->data, state, sizeof(Data));
    return fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
    mark(c, "state freed");
    free(*state);
    *state = NULL;
    return fmi2OK;
}
EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
    (void)c; (void)state;
    *size = sizeof(Data);
    return fmi2OK;
}
EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    (void)c;
    memcpy(bytes, state, size);
    return fmi2OK;
}
EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
    (void)c;
    if (size != sizeof(Data)) return fmi2Error;
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return fmi2OK;
}
#endif

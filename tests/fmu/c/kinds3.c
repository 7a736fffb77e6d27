/* An FMI 3.0 Co-Simulation slave with an event mode: of each type an input and an output.

Discrete inputs can be written only in initialization and event mode. An update of discrete states passes them on: 7
times the integer and 1 more, in its type; it needs two rounds. A time event each 0.25 s counts, and adds 1 to the Float64
output; from 1 s on a step returns early at 0.6 of it, once. After the FMI 3.0 standard. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
#define EXPORT __attribute__((visibility("default")))
enum { NEW = 1, INITIALIZATION = 2, EVENT = 4, STEP = 8 };
enum { IN = 100, OUT = 200 };
typedef struct {
    int mode, rounds, has_returned;
    double time, next, x, in0, out0;
    float in1, out1;
    int8_t in2, out2; uint8_t in3, out3; int16_t in4, out4; uint16_t in5, out5; int32_t in6, out6; uint32_t in7, out7;
    int64_t in8, out8; uint64_t in9, out9;
    bool in10, out10;
    int32_t passes;
} Slave;
#define ALLOWED(modes) do { if (!(s->mode & (modes))) return Error; } while (0)

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, void *log, void *update) {
    Slave *s = events && early ? calloc(1, sizeof(Slave)) : NULL;
    if (s != NULL) { s->mode = NEW; s->next = 0.25; }
    return s;
}
EXPORT void fmi3FreeInstance(Slave *s) { free(s); }
EXPORT Status fmi3EnterInitializationMode(Slave *s, bool a, double b, double start, bool c, double stop) {
    ALLOWED(NEW);
    s->mode = INITIALIZATION;
    s->time = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Slave *s) { ALLOWED(INITIALIZATION); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterEventMode(Slave *s) { ALLOWED(STEP); s->mode = EVENT; s->rounds = 0; return OK; }
EXPORT Status fmi3EnterStepMode(Slave *s) { ALLOWED(EVENT); s->mode = STEP; return OK; }
EXPORT Status fmi3Terminate(Slave *s) { ALLOWED(STEP | EVENT); return OK; }
EXPORT Status fmi3Reset(Slave *s) { return Error; }
EXPORT Status fmi3UpdateDiscreteStates(Slave *s, bool *again, bool *ends, bool *nominals, bool *values, bool *defined,
                                       double *next) {
    ALLOWED(EVENT);
    *ends = *nominals = *values = false;
    if (s->time >= s->next - 1e-12) {
        s->next += 0.25;
        s->passes++;
        s->out0 += 1.0;
    }
    s->out1 = 7.0f * s->in1 + 1.0f;
    s->out2 = (int8_t)(7 * s->in2 + 1); s->out3 = (uint8_t)(7 * s->in3 + 1); s->out4 = (int16_t)(7 * s->in4 + 1);
    s->out5 = (uint16_t)(7 * s->in5 + 1); s->out6 = 7 * (s->in6 % 1000) + 1; s->out7 = 7 * (s->in7 % 1000) + 1;
    s->out8 = 7 * (s->in8 % 1000000) + 1; s->out9 = 7 * (s->in9 % 1000000) + 1;
    s->out10 = !s->in10;
    *again = s->rounds++ == 0;
    *defined = true;
    *next = s->next;
    return OK;
}
EXPORT Status fmi3DoStep(Slave *s, double time, double size, bool no_set, bool *event, bool *ends, bool *early,
                         double *last) {
    ALLOWED(STEP);
    *event = *ends = *early = false;
    if (s->time > s->next - 1e-9) return Error; /* it was not told of the event */
    if (time >= 1.0 && !s->has_returned) {
        s->has_returned = 1;
        size *= 0.6;
        *early = *event = true;
    }
    s->out0 += size * (s->in0 + 0.5 - s->out0);
    s->time = *last = time + size;
    return OK;
}
#define PASS(i) case IN + i: v[j] = s->in##i; break; case OUT + i: v[j] = s->out##i; break;
#define ACCESS(Type, c, i, modes)                                                                               \
    EXPORT Status fmi3Get##Type(Slave *s, const Reference r[], size_t n, c v[], size_t total) {                  \
        for (size_t j = 0; j < n; j++) switch (r[j]) { PASS(i) default: return Error; }                          \
        return OK;                                                                                              \
    }                                                                                                           \
    EXPORT Status fmi3Set##Type(Slave *s, const Reference r[], size_t n, const c v[], size_t total) {            \
        ALLOWED(modes);                                                                                         \
        for (size_t j = 0; j < n; j++) { if (r[j] != IN + i) return Error; s->in##i = v[j]; }                    \
        return OK;                                                                                              \
    }
#define AT_EVENTS (NEW | INITIALIZATION | EVENT)
ACCESS(Float64, double, 0, AT_EVENTS | STEP)
ACCESS(Float32, float, 1, AT_EVENTS)
ACCESS(Int8, int8_t, 2, AT_EVENTS)
ACCESS(UInt8, uint8_t, 3, AT_EVENTS)
ACCESS(Int16, int16_t, 4, AT_EVENTS)
ACCESS(UInt16, uint16_t, 5, AT_EVENTS)
ACCESS(UInt32, uint32_t, 7, AT_EVENTS)
ACCESS(Int64, int64_t, 8, AT_EVENTS)
ACCESS(UInt64, uint64_t, 9, AT_EVENTS)
ACCESS(Boolean, bool, 10, AT_EVENTS)
EXPORT Status fmi3GetInt32(Slave *s, const Reference r[], size_t n, int32_t v[], size_t total) {
    for (size_t j = 0; j < n; j++) switch (r[j]) { PASS(6) case 1: v[j] = s->passes; break; default: return Error; }
    return OK;
}
EXPORT Status fmi3SetInt32(Slave *s, const Reference r[], size_t n, const int32_t v[], size_t total) {
    ALLOWED(AT_EVENTS);
    for (size_t j = 0; j < n; j++) { if (r[j] != IN + 6) return Error; s->in6 = v[j]; }
    return OK;
}
EXPORT Status fmi3GetFMUState(Slave *s, Slave **state) {
    if (*state == NULL) *state = malloc(sizeof(Slave));
    **state = *s;
    return OK;
}
EXPORT Status fmi3SetFMUState(Slave *s, Slave *state) { *s = *state; return OK; }
EXPORT Status fmi3FreeFMUState(Slave *s, Slave **state) { free(*state); *state = NULL; return OK; }

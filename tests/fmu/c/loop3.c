/* x' = u - x by one explicit Euler step, y = x + gain u with direct feedthrough; it has directional derivatives.

An FMI 3.0 Co-Simulation slave without events. Types and functions after the FMI 3.0 standard. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
#define EXPORT __attribute__((visibility("default")))
enum { NEW = 1, INITIALIZATION = 2, STEP = 4 };
enum { TIME, Y, U, X, GAIN, REFERENCES };
typedef struct { double v[REFERENCES]; int mode; } Slave;
#define IN(modes) do { if (!(s->mode & (modes))) return Error; } while (0)

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, void *log, void *update) {
    Slave *s = events ? NULL : calloc(1, sizeof(Slave));
    if (s == NULL) return NULL;
    s->mode = NEW;
    s->v[X] = 1.0;
    s->v[GAIN] = -0.5;
    return s;
}
EXPORT void fmi3FreeInstance(Slave *s) { free(s); }
EXPORT Status fmi3EnterInitializationMode(Slave *s, bool a, double b, double start, bool c, double stop) {
    IN(NEW);
    s->mode = INITIALIZATION;
    s->v[TIME] = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Slave *s) { IN(INITIALIZATION); s->mode = STEP; return OK; }
EXPORT Status fmi3Terminate(Slave *s) { IN(STEP); return OK; }
EXPORT Status fmi3Reset(Slave *s) { return Error; }

EXPORT Status fmi3DoStep(Slave *s, double time, double size, bool no_set, bool *event, bool *terminate, bool *early,
                         double *last) {
    IN(STEP);
    *event = *terminate = *early = false;
    s->v[X] += size * (s->v[U] - s->v[X]);
    s->v[TIME] = *last = time + size;
    return OK;
}
EXPORT Status fmi3GetFloat64(Slave *s, const Reference r[], size_t n, double v[], size_t total) {
    s->v[Y] = s->v[X] + s->v[GAIN] * s->v[U];
    for (size_t j = 0; j < n; j++) {
        if (r[j] >= REFERENCES) return Error;
        v[j] = s->v[r[j]];
    }
    return OK;
}
EXPORT Status fmi3SetFloat64(Slave *s, const Reference r[], size_t n, const double v[], size_t total) {
    for (size_t j = 0; j < n; j++) {
        if (r[j] != U && r[j] != GAIN) return Error;
        s->v[r[j]] = v[j];
    }
    return OK;
}
EXPORT Status fmi3GetDirectionalDerivative(Slave *s, const Reference of[], size_t n, const Reference by[], size_t known,
                                           const double seed[], size_t seeds, double v[], size_t total) {
    for (size_t j = 0; j < n; j++) v[j] = of[j] == Y && known == 1 && by[0] == U ? s->v[GAIN] * seed[0] : 0.0;
    return OK;
}
EXPORT Status fmi3GetFMUState(Slave *s, Slave **state) {
    if (*state == NULL) *state = malloc(sizeof(Slave));
    **state = *s;
    return OK;
}
EXPORT Status fmi3SetFMUState(Slave *s, Slave *state) { *s = *state; return OK; }
EXPORT Status fmi3FreeFMUState(Slave *s, Slave **state) { free(*state); *state = NULL; return OK; }
EXPORT Status fmi3SerializedFMUStateSize(Slave *s, Slave *state, size_t *size) { *size = sizeof(Slave); return OK; }
EXPORT Status fmi3SerializeFMUState(Slave *s, Slave *state, uint8_t bytes[], size_t size) {
    memcpy(bytes, state, size);
    return OK;
}
EXPORT Status fmi3DeserializeFMUState(Slave *s, const uint8_t bytes[], size_t size, Slave **state) {
    if (size != sizeof(Slave)) return Error;
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return OK;
}

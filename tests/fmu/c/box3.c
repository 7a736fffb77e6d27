/* An FMI 3.0 Co-Simulation slave with variables of all types, events, failures and requests to stop.

x' = u - x by one explicit Euler step; doubled = 2 * matrix; each other output is the input of its type. At the time
`ring_at` it asks for event mode, returning early when it may; there `rings` grows by 1. From `fail_at` on
a step fails; at `stop_at` it asks to end the simulation. Types and functions after the FMI 3.0 standard. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAIL_SIZE /* shorter steps do not fail */
#define FAIL_SIZE 0.0
#endif
#ifndef STRICT /* outputs cannot be read after an input is set and before the next step */
#define STRICT 0
#endif
#ifndef FAIL_STATUS
#define FAIL_STATUS Error
#endif
typedef void *Instance;
typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
typedef void (*Log)(void *, Status, const char *, const char *);
#define EXPORT __attribute__((visibility("default")))

enum { TIME, X, U, MATRIX, DOUBLED, RING_AT, FAIL_AT, STOP_AT, SMALL_IN, SMALL_OUT, BYTE_IN, BYTE_OUT, BIG_IN, BIG_OUT,
       FLAG_IN, FLAG_OUT, TEXT_IN, TEXT_OUT, BLOB_IN, BLOB_OUT, MODE_IN, MODE_OUT, RINGS, REFERENCES };

typedef struct {
    double time, x, u, matrix[4], ring_at, fail_at, stop_at;
    float small;
    int8_t byte;
    uint64_t big;
    bool flag, rung, given;
    int64_t mode;
    int32_t rings;
    char text[64];
    uint8_t blob[64];
    size_t blob_size;
} Data;
typedef struct {
    Data data;
    bool events, early;
    int where; /* 0 instantiated, 1 initialization, 2 event, 3 step mode */
    void *environment;
    Log log;
} Slave;

static Status complain(Slave *s, const char *text) {
    s->log(s->environment, Error, "logStatusError", text);
    return Error;
}
static double doubled[4];

static void *find(Data *d, Reference r, size_t *size) {
    size_t j;
    *size = 1;
    switch (r) {
    case TIME: return &d->time;
    case X: return &d->x;
    case U: return &d->u;
    case MATRIX: *size = 4; return d->matrix;
    case DOUBLED:
        for (j = 0; j < 4; j++) doubled[j] = 2.0 * d->matrix[j];
        *size = 4;
        return doubled;
    case RING_AT: return &d->ring_at;
    case FAIL_AT: return &d->fail_at;
    case STOP_AT: return &d->stop_at;
    case SMALL_IN: case SMALL_OUT: return &d->small;
    case BYTE_IN: case BYTE_OUT: return &d->byte;
    case BIG_IN: case BIG_OUT: return &d->big;
    case FLAG_IN: case FLAG_OUT: return &d->flag;
    case MODE_IN: case MODE_OUT: return &d->mode;
    case RINGS: return &d->rings;
    }
    return NULL;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT Status fmi3SetDebugLogging(Instance i, bool on, size_t n, const char *const c[]) { return OK; }
EXPORT Instance fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, Log log, void *update) {
    Slave *s;
    if (strcmp(token, "{box3}") != 0) return NULL;
    s = calloc(1, sizeof(Slave));
    s->environment = environment;
    s->log = log;
    s->events = events;
    s->early = early;
    s->data.x = 1.0;
    s->data.ring_at = s->data.fail_at = s->data.stop_at = 1e300;
    return s;
}
EXPORT void fmi3FreeInstance(Instance i) { free(i); }
EXPORT Status fmi3EnterInitializationMode(Instance i, bool a, double b, double start, bool c, double stop) {
    ((Slave *)i)->where = 1;
    ((Slave *)i)->data.time = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Instance i) {
    ((Slave *)i)->where = ((Slave *)i)->events ? 2 : 3;
    return OK;
}
EXPORT Status fmi3EnterEventMode(Instance i) {
    if (((Slave *)i)->where != 3) return complain(i, "event mode is entered from step mode");
    ((Slave *)i)->where = 2;
    return OK;
}
EXPORT Status fmi3EnterStepMode(Instance i) {
    if (((Slave *)i)->where != 2) return complain(i, "step mode is entered from event mode");
    ((Slave *)i)->where = 3;
    return OK;
}
EXPORT Status fmi3UpdateDiscreteStates(Instance i, bool *again, bool *terminate, bool *nominals, bool *values,
                                       bool *defined, double *next) {
    Data *d = &((Slave *)i)->data;
    if (((Slave *)i)->where != 2) return complain(i, "discrete states are updated in event mode");
    *again = *terminate = *nominals = *values = *defined = false;
    if (d->time >= d->ring_at && !d->rung) {
        d->rings++;
        d->rung = *again = true;
    }
#ifdef ANNOUNCES /* … the event, and waits for event mode */
    *defined = !d->rung;
    *next = d->ring_at;
#endif
#ifdef ECHO /* s after it another one, announced */
    if (d->rung && d->rings == 1 && d->time >= d->ring_at + ECHO) {
        d->rings++;
        *again = true;
    }
    *defined = d->rung && d->rings == 1;
    *next = d->ring_at + ECHO;
#endif
    return OK;
}
EXPORT Status fmi3Terminate(Instance i) { return OK; }
EXPORT Status fmi3Reset(Instance i) { return OK; }

EXPORT Status fmi3DoStep(Instance i, double time, double size, bool no_set, bool *event, bool *terminate, bool *early,
                         double *last) {
    Slave *s = i;
    Data *d = &s->data;
    double end = time + size;
    *event = *terminate = *early = d->given = false;
    if (s->where != 3) return complain(s, "not in step mode");
    if (end > d->fail_at && size > FAIL_SIZE) {
        complain(s, "pump ran dry");
#ifdef REACHED /* the share of a discarded step that it completes */
        *last = time + REACHED * size;
        d->x += (*last - time) * (d->u - d->x);
#else
        *last = time - 1.0;
#endif
        return FAIL_STATUS;
    }
#ifdef LATE /* an event is seen by the step that begins there */
    if (time >= d->ring_at && !d->rung && s->events) {
        *event = *early = true;
        *last = time;
        return OK;
    }
#elif !defined(ANNOUNCES)
    if (end >= d->ring_at && !d->rung && s->events) {
        *event = true;
        if (s->early && d->ring_at < end) {
            end = d->ring_at;
            *early = true;
        }
    }
#endif
    d->x += (end - time) * (d->u - d->x);
    d->time = *last = end;
    *terminate = end >= d->stop_at;
    return OK;
}

#define ACCESS(Name, type)                                                                                        \
    EXPORT Status fmi3Get##Name(Instance i, const Reference r[], size_t n, type v[], size_t total) {              \
        size_t j, at = 0, size;                                                                                   \
        for (j = 0; j < n; j++, at += size) {                                                                     \
            void *from = find(&((Slave *)i)->data, r[j], &size);                                                  \
            if (((Slave *)i)->where == 3 && ((Slave *)i)->data.given && STRICT)                                   \
                return complain(i, "read between a set value and a step");                                        \
            if (from == NULL || at + size > total) return complain(i, "no such variable, or too few values");     \
            memcpy(v + at, from, size * sizeof(type));                                                            \
        }                                                                                                         \
        return at == total ? OK : complain(i, "too many values");                                                 \
    }                                                                                                             \
    EXPORT Status fmi3Set##Name(Instance i, const Reference r[], size_t n, const type v[], size_t total) {        \
        size_t j, at = 0, size;                                                                                   \
        for (j = 0; j < n; j++, at += size) {                                                                     \
            void *to = find(&((Slave *)i)->data, r[j], &size);                                                    \
            if (to == NULL || at + size > total) return complain(i, "no such variable, or too few values");       \
            if (r[j] == MODE_IN && ((Slave *)i)->where == 3 && ((Slave *)i)->events)                              \
                return complain(i, "a discrete input is set in event mode");                                      \
            memcpy(to, v + at, size * sizeof(type));                                                              \
            ((Slave *)i)->data.given = ((Slave *)i)->where == 3;                                                  \
        }                                                                                                         \
        return at == total ? OK : complain(i, "too many values");                                                 \
    }
ACCESS(Float64, double)
ACCESS(Float32, float)
ACCESS(Int8, int8_t)
ACCESS(Int32, int32_t)
ACCESS(Int64, int64_t)
ACCESS(UInt64, uint64_t)
ACCESS(Boolean, bool)

EXPORT Status fmi3GetString(Instance i, const Reference r[], size_t n, const char *v[], size_t total) {
    for (size_t j = 0; j < n; j++) v[j] = ((Slave *)i)->data.text;
    return OK;
}
EXPORT Status fmi3SetString(Instance i, const Reference r[], size_t n, const char *const v[], size_t total) {
    strncpy(((Slave *)i)->data.text, v[0], 63);
    return OK;
}
EXPORT Status fmi3GetBinary(Instance i, const Reference r[], size_t n, size_t sizes[], const uint8_t *v[], size_t total) {
    v[0] = ((Slave *)i)->data.blob;
    sizes[0] = ((Slave *)i)->data.blob_size;
    return OK;
}
EXPORT Status fmi3SetBinary(Instance i, const Reference r[], size_t n, const size_t sizes[], const uint8_t *const v[],
                            size_t total) {
    if (sizes[0] > 64) return complain(i, "too long");
    memcpy(((Slave *)i)->data.blob, v[0], sizes[0]);
    ((Slave *)i)->data.blob_size = sizes[0];
    return OK;
}
typedef struct { Data data; int where; } Saved;
EXPORT Status fmi3GetFMUState(Instance i, void **state) {
    if (*state == NULL) *state = malloc(sizeof(Saved));
    ((Saved *)*state)->data = ((Slave *)i)->data;
    ((Saved *)*state)->where = ((Slave *)i)->where;
    return OK;
}
EXPORT Status fmi3SetFMUState(Instance i, void *state) {
    ((Slave *)i)->data = ((Saved *)state)->data;
    ((Slave *)i)->where = ((Saved *)state)->where;
    return OK;
}
EXPORT Status fmi3FreeFMUState(Instance i, void **state) {
    free(*state);
    *state = NULL;
    return OK;
}
EXPORT Status fmi3SerializedFMUStateSize(Instance i, void *state, size_t *size) {
    *size = sizeof(Saved);
    return OK;
}
EXPORT Status fmi3SerializeFMUState(Instance i, void *state, uint8_t bytes[], size_t size) {
    memcpy(bytes, state, size);
    return OK;
}
EXPORT Status fmi3DeserializeFMUState(Instance i, const uint8_t bytes[], size_t size, void **state) {
    if (size != sizeof(Saved)) return complain(i, "no state of this FMU");
    *state = malloc(size);
    memcpy(*state, bytes, size);
    return OK;
}

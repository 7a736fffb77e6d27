/* An FMI 3.0 Co-Simulation slave with clocks, intermediate updates and an array of variable size.

sample  periodic, every 0.3 s from 0.1 s on: takes in_sample as out_sample, counts samples; starts `late`
late    countdown, 0.05 s after each sample: counts lates
bell    triggered output, with each second sample
hear    triggered input: adds the clocked input `word` to `heard`
x' = u by ten midpoint steps in each communication step, each of which requests u at its middle by an intermediate update
ramp[i] = i * slope, i = 1 … n; n is a structural parameter. Types and functions after the FMI 3.0 standard. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
typedef void (*Log)(void *, Status, const char *, const char *);
typedef void (*Update)(void *, double, bool, bool, bool, bool, bool *, double *);
#define EXPORT __attribute__((visibility("default")))
enum { SAMPLE, LATE, BELL, HEAR, CLOCKS };
enum { TIME = 10, X, U, IN_SAMPLE, OUT_SAMPLE, WORD, HEARD, SLOPE, RAMP };
enum { SAMPLES = 30, LATES, N };
enum { NEW = 1, INITIALIZATION = 2, EVENT = 4, STEP = 8, CONFIGURATION = 16, INSIDE = 32 };

typedef struct { double real[RAMP - TIME]; int32_t whole[3]; bool active[CLOCKS], countdown; } Data;
typedef struct { Data d; int mode; void *environment; Log log; Update update; } Slave;

#define IN(modes) \
    do { \
        if (!(s->mode & (modes))) { \
            s->log(s->environment, Error, "logStatusError", __func__); \
            return Error; \
        } \
    } while (0)
#define REAL(name) s->d.real[name - TIME]

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, Log log, Update update) {
    Slave *s = calloc(1, sizeof(Slave));
    s->mode = NEW;
    s->environment = environment;
    s->log = log;
    s->update = n > 0 ? update : NULL;
    s->d.whole[N - SAMPLES] = 2;
    if (!events) s->mode = 0;
    return s;
}
EXPORT void fmi3FreeInstance(Slave *s) { free(s); }
EXPORT Status fmi3EnterConfigurationMode(Slave *s) { IN(NEW); s->mode = CONFIGURATION; return OK; }
EXPORT Status fmi3ExitConfigurationMode(Slave *s) { IN(CONFIGURATION); s->mode = NEW; return OK; }
EXPORT Status fmi3EnterInitializationMode(Slave *s, bool a, double b, double start, bool c, double stop) {
    IN(NEW);
    s->mode = INITIALIZATION;
    REAL(TIME) = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Slave *s) { IN(INITIALIZATION); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterEventMode(Slave *s) { IN(STEP); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterStepMode(Slave *s) { IN(EVENT); s->mode = STEP; return OK; }
EXPORT Status fmi3Terminate(Slave *s) { IN(EVENT | STEP); return OK; }
EXPORT Status fmi3SetClock(Slave *s, const Reference r[], size_t n, const bool v[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) s->d.active[r[i]] = v[i];
    if (s->d.active[SAMPLE]) s->d.active[BELL] = s->d.whole[SAMPLES - SAMPLES] % 2 == 1;
    return OK;
}
EXPORT Status fmi3GetClock(Slave *s, const Reference r[], size_t n, bool v[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) v[i] = s->d.active[r[i]];
    return OK;
}
EXPORT Status fmi3GetIntervalDecimal(Slave *s, const Reference r[], size_t n, double interval[], int qualifier[]) {
    IN(EVENT);
    if (n != 1 || r[0] != LATE) return Error;
    qualifier[0] = s->d.countdown ? 2 : 0;
    interval[0] = 0.05;
    s->d.countdown = false;
    return OK;
}
EXPORT Status fmi3UpdateDiscreteStates(Slave *s, bool *again, bool *terminate, bool *nominals, bool *values,
                                       bool *defined, double *next) {
    IN(EVENT);
    *again = *terminate = *nominals = *values = *defined = false;
    if (s->d.active[SAMPLE]) {
        REAL(OUT_SAMPLE) = REAL(IN_SAMPLE);
        s->d.whole[SAMPLES - SAMPLES]++;
        s->d.countdown = true;
    }
    if (s->d.active[LATE]) s->d.whole[LATES - SAMPLES]++;
    if (s->d.active[HEAR]) REAL(HEARD) += REAL(WORD);
    for (int i = 0; i < CLOCKS; i++) s->d.active[i] = false;
    return OK;
}
EXPORT Status fmi3DoStep(Slave *s, double time, double size, bool no_set, bool *event, bool *terminate, bool *early,
                         double *last) {
    bool request = false;
    double h = size / 10, when = 0.0;
    IN(STEP);
    *event = *terminate = *early = false;
    for (int i = 0; i < 10; i++) {
        s->mode = INSIDE;
        if (s->update) s->update(s->environment, time + (i + 0.5) * h, true, true, false, false, &request, &when);
        s->mode = STEP;
        REAL(X) += h * REAL(U);
    }
    REAL(TIME) = *last = time + size;
    return OK;
}
EXPORT Status fmi3GetFloat64(Slave *s, const Reference r[], size_t n, double v[], size_t total) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        int count = r[i] == RAMP ? s->d.whole[N - SAMPLES] : 1;
        if (r[i] < TIME || r[i] > RAMP || at + count > total) return Error;
        for (int j = 1; j <= count; j++) v[at++] = r[i] == RAMP ? j * REAL(SLOPE) : s->d.real[r[i] - TIME];
    }
    return at == total ? OK : Error;
}
EXPORT Status fmi3SetFloat64(Slave *s, const Reference r[], size_t n, const double v[], size_t total) {
    for (size_t i = 0; i < n; i++) {
        if (r[i] == IN_SAMPLE && !(s->d.active[SAMPLE] && s->mode == EVENT)) IN(NEW | INITIALIZATION);
        if (r[i] == WORD && !(s->d.active[HEAR] && s->mode == EVENT)) IN(NEW | INITIALIZATION);
        if (s->mode == INSIDE && r[i] != U) return Error;
        s->d.real[r[i] - TIME] = v[i];
    }
    return OK;
}
EXPORT Status fmi3GetInt32(Slave *s, const Reference r[], size_t n, int32_t v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = s->d.whole[r[i] - SAMPLES];
    return OK;
}
EXPORT Status fmi3SetInt32(Slave *s, const Reference r[], size_t n, const int32_t v[], size_t total) {
    IN(CONFIGURATION);
    for (size_t i = 0; i < n; i++) s->d.whole[r[i] - SAMPLES] = v[i];
    return OK;
}
EXPORT Status fmi3GetFMUState(Slave *s, Data **state) {
    if (*state == NULL) *state = malloc(sizeof(Data));
    **state = s->d;
    return OK;
}
EXPORT Status fmi3SetFMUState(Slave *s, Data *state) { s->d = *state; return OK; }
EXPORT Status fmi3FreeFMUState(Slave *s, Data **state) { free(*state); *state = NULL; return OK; }

/* An FMI 3.0 Co-Simulation slave with a clock for each kind of interval, whose ticks it counts.

steady    fixed, 0.2 s
measured  calculated: the parameter `period`; 1/3 s if the host requests it as a fraction
tuned     tunable: `period`, and half of it from the third tick on
growing   changing: 0.05 s, 0.1 s, 0.15 s …
Outputs: the number of ticks of each, and the time of the last tick of any. After the FMI 3.0 standard. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
#define EXPORT __attribute__((visibility("default")))
enum { STEADY, MEASURED, TUNED, GROWING, CLOCKS };
enum { NEW = 1, INITIALIZATION = 2, EVENT = 4, STEP = 8 };
typedef struct { double time, period, last; int32_t ticks[CLOCKS]; bool active[CLOCKS], news[CLOCKS]; } Data;
typedef struct { Data d; int mode; } Slave;
#define IN(modes) do { if (!(s->mode & (modes))) return Error; } while (0)

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, void *log, void *update) {
    Slave *s = calloc(1, sizeof(Slave));
    s->mode = NEW;
    s->d.period = 0.3;
    for (int i = 0; i < CLOCKS; i++) s->d.news[i] = true;
    return s;
}
EXPORT void fmi3FreeInstance(Slave *s) { free(s); }
EXPORT Status fmi3EnterInitializationMode(Slave *s, bool a, double b, double start, bool c, double stop) {
    IN(NEW);
    s->mode = INITIALIZATION;
    s->d.time = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Slave *s) { IN(INITIALIZATION); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterEventMode(Slave *s) { IN(STEP); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterStepMode(Slave *s) { IN(EVENT); s->mode = STEP; return OK; }
EXPORT Status fmi3Terminate(Slave *s) { IN(EVENT | STEP); return OK; }
EXPORT Status fmi3SetClock(Slave *s, const Reference r[], size_t n, const bool v[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) s->d.active[r[i]] = v[i];
    return OK;
}
EXPORT Status fmi3GetIntervalDecimal(Slave *s, const Reference r[], size_t n, double interval[], int qualifier[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) {
        int32_t ticks = s->d.ticks[r[i]];
        if (r[i] == STEADY) return Error;
        interval[i] = r[i] == GROWING ? 0.05 * (ticks + 1) : r[i] == TUNED && ticks >= 3 ? s->d.period / 2 : s->d.period;
        qualifier[i] = s->d.news[r[i]] ? 2 : 1;
        s->d.news[r[i]] = false;
    }
    return OK;
}
EXPORT Status fmi3GetIntervalFraction(Slave *s, const Reference r[], size_t n, uint64_t counter[], uint64_t resolution[],
                                      int qualifier[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) {
        counter[i] = 1;
        resolution[i] = 3;
        qualifier[i] = s->d.news[r[i]] ? 2 : 1;
        s->d.news[r[i]] = false;
    }
    return OK;
}
EXPORT Status fmi3UpdateDiscreteStates(Slave *s, bool *again, bool *terminate, bool *nominals, bool *values,
                                       bool *defined, double *next) {
    IN(EVENT);
    *again = *terminate = *nominals = *values = *defined = false;
    for (int i = 0; i < CLOCKS; i++) {
        if (!s->d.active[i]) continue;
        s->d.ticks[i]++;
        s->d.last = s->d.time;
        s->d.active[i] = false;
        s->d.news[i] = i == GROWING || (i == TUNED && s->d.ticks[i] == 3);
    }
    return OK;
}
EXPORT Status fmi3DoStep(Slave *s, double time, double size, bool no_set, bool *event, bool *terminate, bool *early,
                         double *last) {
    IN(STEP);
    *event = *terminate = *early = false;
    s->d.time = *last = time + size;
    return OK;
}
EXPORT Status fmi3GetFloat64(Slave *s, const Reference r[], size_t n, double v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = r[i] == 10 ? s->d.last : s->d.period;
    return OK;
}
EXPORT Status fmi3SetFloat64(Slave *s, const Reference r[], size_t n, const double v[], size_t total) {
    for (size_t i = 0; i < n; i++) s->d.period = v[i];
    return OK;
}
EXPORT Status fmi3GetInt32(Slave *s, const Reference r[], size_t n, int32_t v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = s->d.ticks[r[i] - 20];
    return OK;
}
EXPORT Status fmi3GetFMUState(Slave *s, Data **state) {
    if (*state == NULL) *state = malloc(sizeof(Data));
    **state = s->d;
    return OK;
}
EXPORT Status fmi3SetFMUState(Slave *s, Data *state) { s->d = *state; return OK; }
EXPORT Status fmi3FreeFMUState(Slave *s, Data **state) { free(*state); *state = NULL; return OK; }

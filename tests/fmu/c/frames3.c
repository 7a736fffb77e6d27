/* FMI 3.0 Co-Simulation slaves that send each other frames, as in the layered standards for networks.

Without BUS a node: every `period` it sends a frame {id, number} through `tx` when its output clock ticks, and
counts the frames that it receives through `rx`. With BUS the bus between two nodes: it receives frames of both and
passes one after the other on, each after 1 ms; then both countdown clocks tick, and the sender receives {255, id}.
Variables of a clock can be read and written only while this clock ticks; otherwise the call is an error.
After the FMI 3.0 standard. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t Reference;
typedef enum { OK, Warning, Discard, Error, Fatal } Status;
#define EXPORT __attribute__((visibility("default")))
#ifdef BUS
enum { PORTS = 2 };
#else
enum { PORTS = 1 };
#endif
enum { NEW = 1, INITIALIZATION = 2, EVENT = 4, STEP = 8, MOST = 64 };
enum { RX, TX, RX_CLOCK, TX_CLOCK, EACH };  /* the variables of a port; their references are EACH * port + these numbers */
typedef struct { uint8_t bytes[2 * MOST]; size_t size; } Buffer;
typedef struct {
    int mode;
    double time, period, next, last;
    int32_t id, sent, received, sum;
    bool rx[PORTS], tx[PORTS], asked[PORTS], is_evaluated;
    Buffer in[PORTS], out[PORTS], queue;
    uint8_t from[MOST];
} Slave;
#define IN(modes) do { if (!(s->mode & (modes))) return Error; } while (0)

static void put(Buffer *b, uint8_t one, uint8_t two) {
    if (b->size + 2 > sizeof b->bytes) return;
    b->bytes[b->size] = one;
    b->bytes[b->size + 1] = two;
    b->size += 2;
}
EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
        bool logging, bool events, bool early, const Reference *r, size_t n, void *environment, void *log, void *update) {
    Slave *s = events ? calloc(1, sizeof(Slave)) : NULL;
    if (s != NULL) { s->mode = NEW; s->period = 0.3; s->next = INFINITY; }
    return s;
}
EXPORT void fmi3FreeInstance(Slave *s) { free(s); }
EXPORT Status fmi3EnterInitializationMode(Slave *s, bool a, double b, double start, bool c, double stop) {
    IN(NEW);
    s->mode = INITIALIZATION;
    s->time = start;
    return OK;
}
EXPORT Status fmi3ExitInitializationMode(Slave *s) {
    IN(INITIALIZATION);
    s->mode = EVENT;
#ifndef BUS
    s->next = s->time + s->period;
#endif
    return OK;
}
EXPORT Status fmi3EnterEventMode(Slave *s) { IN(STEP); s->mode = EVENT; return OK; }
EXPORT Status fmi3EnterStepMode(Slave *s) { IN(EVENT); s->mode = STEP; return OK; }
EXPORT Status fmi3Terminate(Slave *s) { IN(EVENT | STEP); return OK; }
EXPORT Status fmi3SetClock(Slave *s, const Reference r[], size_t n, const bool v[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) {
        if (r[i] % EACH == RX_CLOCK) s->rx[r[i] / EACH] = v[i];
#ifdef BUS
        else if (r[i] % EACH == TX_CLOCK) s->tx[r[i] / EACH] = v[i];
#endif
        else return Error;
    }
    return OK;
}
EXPORT Status fmi3GetClock(Slave *s, const Reference r[], size_t n, bool v[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) v[i] = s->tx[r[i] / EACH];
    return OK;
}
EXPORT Status fmi3GetIntervalDecimal(Slave *s, const Reference r[], size_t n, double interval[], int qualifier[]) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) {
        bool *asked = &s->asked[r[i] / EACH];
        interval[i] = s->next - s->time;
        qualifier[i] = isinf(s->next) ? 0 : *asked ? 1 : 2;
        *asked = true;
    }
    return OK;
}
EXPORT Status fmi3SetBinary(Slave *s, const Reference r[], size_t n, const size_t sizes[], const uint8_t *const v[],
                            size_t total) {
    IN(EVENT | INITIALIZATION);
    for (size_t i = 0; i < n; i++) {
        if (r[i] % EACH != RX || (s->mode == EVENT && (!s->rx[r[i] / EACH] || s->is_evaluated))) return Error;
        Buffer *b = &s->in[r[i] / EACH];
        b->size = sizes[i];
        memcpy(b->bytes, v[i], sizes[i]);
    }
    return OK;
}
static void evaluate(Slave *s) {
    if (s->is_evaluated) return;
    s->is_evaluated = true;
#ifdef BUS
    if (s->tx[0] && s->tx[1] && s->queue.size) {
        int from = s->from[0];
        put(&s->out[1 - from], s->queue.bytes[0], s->queue.bytes[1]);
        put(&s->out[from], 255, s->queue.bytes[0]);
        s->queue.size -= 2;
        memmove(s->queue.bytes, s->queue.bytes + 2, s->queue.size);
        memmove(s->from, s->from + 1, MOST - 1);
        s->received++;
        s->next = INFINITY;
    }
#endif
}
EXPORT Status fmi3GetBinary(Slave *s, const Reference r[], size_t n, size_t sizes[], const uint8_t *v[], size_t total) {
    IN(EVENT);
    for (size_t i = 0; i < n; i++) {
        if (r[i] % EACH != TX || !s->tx[r[i] / EACH]) return Error;
        evaluate(s);
        v[i] = s->out[r[i] / EACH].bytes;
        sizes[i] = s->out[r[i] / EACH].size;
    }
    return OK;
}
EXPORT Status fmi3UpdateDiscreteStates(Slave *s, bool *again, bool *terminate, bool *nominals, bool *values,
                                       bool *defined, double *next) {
    IN(EVENT);
    *again = *terminate = *nominals = *values = *defined = false;
    evaluate(s);
    for (int p = 0; p < PORTS; p++) {
        Buffer *in = &s->in[p];
        for (size_t i = 0; s->rx[p] && i + 1 < in->size; i += 2) {
#ifdef BUS
            s->from[s->queue.size / 2] = p;
            put(&s->queue, in->bytes[i], in->bytes[i + 1]);
#else
            if (in->bytes[i] == 255) continue;
            s->received++;
            s->sum += in->bytes[i + 1];
            s->last = s->time;
#endif
        }
        if (s->tx[p]) s->out[p].size = 0;
        s->rx[p] = s->tx[p] = false;
    }
#ifdef BUS
    if (s->queue.size && isinf(s->next)) {
        s->next = s->time + 0.001;
        s->asked[0] = s->asked[1] = false;
    }
#endif
    s->is_evaluated = false;
    return OK;
}
EXPORT Status fmi3DoStep(Slave *s, double time, double size, bool no_set, bool *event, bool *terminate, bool *early,
                         double *last) {
    IN(STEP);
    *event = *terminate = *early = false;
    s->time = *last = time + size;
#ifndef BUS
    while (s->next <= s->time + 1e-9) {
        put(&s->out[0], s->id, ++s->sent);
        s->next += s->period;
        *event = s->tx[0] = true;
    }
#endif
    return OK;
}
EXPORT Status fmi3GetFloat64(Slave *s, const Reference r[], size_t n, double v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = r[i] == 11 ? s->period : s->last;
    return OK;
}
EXPORT Status fmi3SetFloat64(Slave *s, const Reference r[], size_t n, const double v[], size_t total) {
    for (size_t i = 0; i < n; i++) s->period = v[i];
    return OK;
}
EXPORT Status fmi3GetInt32(Slave *s, const Reference r[], size_t n, int32_t v[], size_t total) {
    for (size_t i = 0; i < n; i++) v[i] = r[i] == 10 ? s->id : r[i] == 20 ? s->received : s->sum;
    return OK;
}
EXPORT Status fmi3SetInt32(Slave *s, const Reference r[], size_t n, const int32_t v[], size_t total) {
    for (size_t i = 0; i < n; i++) s->id = v[i];
    return OK;
}

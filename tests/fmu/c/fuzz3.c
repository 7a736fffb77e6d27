/* Random calls of FMI 3.0, right and wrong ones, on several instances; to be run under sanitizers.

fuzz3 TOKEN VARIABLES STATES INDICATORS SEED CALLS SIZES: prints how many calls were answered by each status. */
#include "fmi3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef fmi3InstanceEnvironment Environment;
#define DECLARE(name, ...) FMI3_EXPORT fmi3Status name(__VA_ARGS__)
#define GIVEN fmi3Instance
FMI3_EXPORT GIVEN fmi3InstantiateCoSimulation(fmi3String, fmi3String, fmi3String, bool, bool, bool, bool,
                                              const uint32_t *, size_t, Environment, fmi3LogMessageCallback,
                                              fmi3IntermediateUpdateCallback);
FMI3_EXPORT GIVEN fmi3InstantiateModelExchange(fmi3String, fmi3String, fmi3String, bool, bool, Environment,
                                               fmi3LogMessageCallback);
FMI3_EXPORT void fmi3FreeInstance(GIVEN);
DECLARE(fmi3SetDebugLogging, GIVEN, bool, size_t, const fmi3String *);
DECLARE(fmi3Reset, GIVEN);
DECLARE(fmi3Terminate, GIVEN);
DECLARE(fmi3EnterInitializationMode, GIVEN, bool, double, double, bool, double);
DECLARE(fmi3ExitInitializationMode, GIVEN);
DECLARE(fmi3EnterConfigurationMode, GIVEN);
DECLARE(fmi3GetFloat64, GIVEN, const uint32_t *, size_t, double *, size_t);
DECLARE(fmi3SetFloat64, GIVEN, const uint32_t *, size_t, const double *, size_t);
DECLARE(fmi3GetInt64, GIVEN, const uint32_t *, size_t, int64_t *, size_t);
DECLARE(fmi3SetInt64, GIVEN, const uint32_t *, size_t, const int64_t *, size_t);
DECLARE(fmi3GetBoolean, GIVEN, const uint32_t *, size_t, bool *, size_t);
DECLARE(fmi3GetDirectionalDerivative, GIVEN, const uint32_t *, size_t, const uint32_t *, size_t, const double *,
        size_t, double *, size_t);
DECLARE(fmi3GetFMUState, GIVEN, fmi3FMUState *);
DECLARE(fmi3SetFMUState, GIVEN, fmi3FMUState);
DECLARE(fmi3FreeFMUState, GIVEN, fmi3FMUState *);
DECLARE(fmi3SerializedFMUStateSize, GIVEN, fmi3FMUState, size_t *);
DECLARE(fmi3SerializeFMUState, GIVEN, fmi3FMUState, fmi3Byte *, size_t);
DECLARE(fmi3DeserializeFMUState, GIVEN, const fmi3Byte *, size_t, fmi3FMUState *);
DECLARE(fmi3EnterStepMode, GIVEN);
DECLARE(fmi3DoStep, GIVEN, double, double, bool, bool *, bool *, bool *, double *);
DECLARE(fmi3EnterEventMode, GIVEN);
DECLARE(fmi3EnterContinuousTimeMode, GIVEN);
DECLARE(fmi3EvaluateDiscreteStates, GIVEN);
DECLARE(fmi3UpdateDiscreteStates, GIVEN, bool *, bool *, bool *, bool *, bool *, double *);
DECLARE(fmi3CompletedIntegratorStep, GIVEN, bool, bool *, bool *);
DECLARE(fmi3SetTime, GIVEN, double);
DECLARE(fmi3SetContinuousStates, GIVEN, const double *, size_t);
DECLARE(fmi3GetContinuousStateDerivatives, GIVEN, double *, size_t);
DECLARE(fmi3GetEventIndicators, GIVEN, double *, size_t);
DECLARE(fmi3GetContinuousStates, GIVEN, double *, size_t);
DECLARE(fmi3GetNominalsOfContinuousStates, GIVEN, double *, size_t);
DECLARE(fmi3GetNumberOfEventIndicators, GIVEN, size_t *);
DECLARE(fmi3GetNumberOfContinuousStates, GIVEN, size_t *);

enum { INSTANCES = 3, ROOM = 4096 };

static unsigned long long seed;
static long messages, updates, untouched;
static unsigned variables;
static size_t sizes[ROOM];
static GIVEN instances[INSTANCES];

static unsigned draw(unsigned below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % below;
}

static double number(void)
{
    static const double odd[] = {0.0, -0.0, 1.0, -1.0, 1e-300, 1e4, INFINITY, -INFINITY, NAN, 0.01, 0.1};
    return draw(3) ? (draw(2001) - 1000.0) / 500.0 : odd[draw(sizeof odd / sizeof odd[0])];
}

/* The number of values of a variable, from the description. */
static size_t size_of(uint32_t reference) { return reference < variables ? sizes[reference] : 1; }

static size_t room_for(const uint32_t *references, unsigned count)
{
    size_t total = 0;
    for (unsigned i = 0; i < count; i++) total += size_of(references[i]);
    return total;
}

/* Every real number of an instance, NaN for what cannot be read. */
static void read_all(GIVEN one, double *numbers)
{
    for (uint32_t i = 0; i < variables && i < ROOM; i++) {
        if (sizes[i] > 0) numbers[i] = NAN;
        if (sizes[i] > 0) (void)fmi3GetFloat64(one, &i, 1, &numbers[i], sizes[i]);
    }
}

static void log_message(Environment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    (void)environment;
    messages += status != fmi3OK && text[0] != '\0' && category[0] != '\0';
}

/* Calls that would invalidate the instance during a step; all are refused. */
static void not_inside(GIVEN one, double time)
{
    bool flags[3];
    double last;
    fmi3FMUState state = NULL;
    if (fmi3Reset(one) != fmi3Error || fmi3Terminate(one) != fmi3Error || fmi3EnterEventMode(one) != fmi3Error ||
        fmi3EnterStepMode(one) != fmi3Error || fmi3GetFMUState(one, &state) != fmi3Error ||
        fmi3DoStep(one, time, 0.1, true, &flags[0], &flags[1], &flags[2], &last) != fmi3Error)
        abort();
}

/* The host reads, writes and requests an early return during a step, also where that is not allowed. */
static void update(Environment environment, double time, bool set_requested, bool get_allowed, bool finished,
                   bool can_return, bool *wants, double *end)
{
    GIVEN one = *(GIVEN *)environment;
    uint32_t reference = draw(variables);
    double value[64] = {0.0};
    (void)set_requested;
    (void)finished;
    (void)can_return;
    updates++;
    if (get_allowed) (void)fmi3GetFloat64(one, &reference, 1, value, size_of(reference));
    for (size_t i = 0; i < size_of(reference); i++) value[i] = number();
    (void)fmi3SetFloat64(one, &reference, 1, value, size_of(reference));
    if (!draw(4)) not_inside(one, time);
    *wants = draw(6) == 0;
    *end = draw(2) ? time : time + 0.001 * (draw(20) - 5.0);
}

static GIVEN make(int w, const char *token)
{
    GIVEN one;
    if (draw(3))
        one = fmi3InstantiateCoSimulation("fuzz", token, NULL, false, draw(2), draw(2), draw(2), NULL, 0,
                                          &instances[w], log_message, draw(2) ? update : NULL);
    else
        one = fmi3InstantiateModelExchange("fuzz", token, NULL, false, draw(2), NULL, log_message);
    if (draw(2)) { /* a right start */
        (void)fmi3EnterInitializationMode(one, draw(2), 1e-6, 0.0, false, 0.0);
        (void)fmi3ExitInitializationMode(one);
        if (draw(2)) (void)fmi3EnterContinuousTimeMode(one);
        if (draw(2)) (void)fmi3EnterStepMode(one);
    }
    return one;
}

static fmi3Status through_bytes(GIVEN one, fmi3FMUState *state)
{
    size_t size = 0;
    fmi3Byte *bytes;
    fmi3Status status;
    if (*state == NULL || fmi3SerializedFMUStateSize(one, *state, &size) != fmi3OK) return fmi3OK;
    bytes = malloc(size + 16);
    status = fmi3SerializeFMUState(one, *state, bytes, draw(8) ? size : size / 2);
    for (unsigned j = draw(3); j > 0; j--) bytes[draw((unsigned)size)] ^= (fmi3Byte)(1 << draw(8));
    if (status == fmi3OK)
        status = fmi3DeserializeFMUState(one, bytes, draw(8) ? size : draw((unsigned)size + 16), state);
    free(bytes);
    return status;
}

int main(int count, char **word)
{
    fmi3FMUState states[INSTANCES] = {NULL};
    double time[INSTANCES] = {0.0}, values[ROOM], before[ROOM] = {0.0}, after[ROOM] = {0.0}, last;
    uint32_t references[8], knowns[4];
    int64_t integers[8];
    bool flags[5], truths[8];
    long answers[8] = {0}, calls;
    size_t nx, nz, found;
    if (count < 8) return 2;
    variables = (unsigned)atoi(word[2]);
    for (unsigned i = 0; i < variables && i < ROOM; i++) sizes[i] = (size_t)strtol(i ? word[7] + 1 : word[7], &word[7], 10);
    nx = (size_t)atoi(word[3]);
    nz = (size_t)atoi(word[4]);
    seed = (unsigned long long)atoll(word[5]);
    calls = atol(word[6]);
    for (long i = 0; i < calls; i++) {
        unsigned w = draw(INSTANCES), n = draw(4), m = draw(4);
        fmi3Status status = fmi3OK;
        GIVEN one = instances[w];
        if (one == NULL) {
            instances[w] = make((int)w, word[1]);
            time[w] = 0.0;
            continue;
        }
        for (unsigned j = 0; j < 64; j++) values[j] = number();
        for (unsigned j = 0; j < 8; j++) {
            references[j] = draw(20) ? draw(variables) : draw(2) ? variables + draw(3) : 0xffffffffu;
            if (j < 4) knowns[j] = draw(variables);
            integers[j] = (int)draw(7) - 3;
        }
        switch (draw(36)) {
        case 0:
            status = fmi3EnterInitializationMode(one, draw(2), number(), number(), draw(2), number());
            break;
        case 1: status = fmi3ExitInitializationMode(one); break;
        case 2: status = draw(2) ? fmi3EnterConfigurationMode(one) : fmi3EvaluateDiscreteStates(one); break;
        case 3: status = fmi3GetFloat64(one, references, n, values, room_for(references, n) + !draw(9)); break;
        case 4: case 5:
            read_all(one, before);
            status = fmi3SetFloat64(one, references, n, values, room_for(references, n) + !draw(9));
            if (status != fmi3Error) break;
            read_all(one, after); /* a call with one wrong value writes nothing */
            if (memcmp(before, after, variables * sizeof *before) != 0) return 4;
            untouched++;
            break;
        case 6: status = fmi3GetInt64(one, references, n, integers, n); break;
        case 7: status = fmi3SetInt64(one, references, n, integers, n); break;
        case 8: status = fmi3GetBoolean(one, references, n, truths, n); break;
        case 9: {
            double results[ROOM];
            status = fmi3GetDirectionalDerivative(one, references, n, knowns, m, values, room_for(knowns, m), results,
                                                  room_for(references, n));
            break;
        }
        case 10: status = fmi3GetFMUState(one, &states[w]); break;
        case 11: status = fmi3SetFMUState(one, states[draw(INSTANCES)]); break;
        case 12: status = fmi3FreeFMUState(one, &states[w]); break;
        case 13: case 14: status = through_bytes(one, &states[w]); break;
        case 15: case 16: case 17: case 18: case 19: case 20:
            status = fmi3DoStep(one, draw(10) ? time[w] : number(), draw(10) ? 0.001 * (1 + draw(50)) : number(), true,
                                &flags[0], &flags[1], &flags[2], &last);
            if (status == fmi3OK) time[w] = last;
            break;
        case 21: case 22: status = fmi3EnterStepMode(one); break;
        case 23: status = fmi3EnterEventMode(one); break;
        case 24:
            status = fmi3UpdateDiscreteStates(one, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &last);
            break;
        case 25: status = fmi3EnterContinuousTimeMode(one); break;
        case 26: status = fmi3CompletedIntegratorStep(one, true, &flags[0], &flags[1]); break;
        case 27:
            time[w] += 0.001 * draw(20);
            status = fmi3SetTime(one, draw(10) ? time[w] : number());
            break;
        case 28: case 29:
            status = fmi3GetContinuousStates(one, values, nx);
            if (status == fmi3OK && nx > 0) values[draw((unsigned)nx)] += 0.01 * number();
            if (status == fmi3OK) status = fmi3SetContinuousStates(one, values, draw(10) ? nx : nx + 1);
            break;
        case 30: status = fmi3GetContinuousStateDerivatives(one, values, draw(10) ? nx : nx + 1); break;
        case 31: status = fmi3GetEventIndicators(one, values, nz); break;
        case 32: status = draw(4) ? fmi3GetNominalsOfContinuousStates(one, values, nx) : fmi3Terminate(one); break;
        case 33:
            status = draw(2) ? fmi3GetNumberOfEventIndicators(one, &found) : fmi3GetNumberOfContinuousStates(one, &found);
            if (status == fmi3OK && found != nx && found != nz) return 3;
            break;
        default:
            if (draw(3)) {
                status = fmi3Reset(one);
                time[w] = 0.0;
            } else {
                (void)fmi3FreeFMUState(one, &states[w]);
                fmi3FreeInstance(one);
                instances[w] = NULL;
            }
        }
        answers[status]++;
    }
    for (int w = 0; w < INSTANCES; w++) { /* any instance can free a saved state */
        (void)fmi3FreeFMUState(&answers, &states[w]);
        fmi3FreeInstance(instances[w]);
    }
    printf("%ld %ld %ld %ld %ld messages %ld untouched %ld updates %ld\n", answers[0], answers[1], answers[2], answers[3],
           answers[4], messages, untouched, updates);
    return answers[4] != 0;
}

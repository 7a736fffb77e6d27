/* Random calls of FMI 2.0, right and wrong ones, on several instances; to be run under sanitizers.

fuzz2 GUID VARIABLES STATES INDICATORS SEED CALLS: prints how many calls were answered by each status. */
#include "fmi2.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, int, int);
FMI2_EXPORT void fmi2FreeInstance(fmi2Component);
#define DECLARE(name, ...) FMI2_EXPORT fmi2Status name(__VA_ARGS__)
DECLARE(fmi2SetDebugLogging, fmi2Component, int, size_t, const fmi2String *);
DECLARE(fmi2Reset, fmi2Component);
DECLARE(fmi2Terminate, fmi2Component);
DECLARE(fmi2SetupExperiment, fmi2Component, int, double, double, int, double);
DECLARE(fmi2EnterInitializationMode, fmi2Component);
DECLARE(fmi2ExitInitializationMode, fmi2Component);
DECLARE(fmi2GetReal, fmi2Component, const unsigned *, size_t, double *);
DECLARE(fmi2SetReal, fmi2Component, const unsigned *, size_t, const double *);
DECLARE(fmi2GetInteger, fmi2Component, const unsigned *, size_t, int *);
DECLARE(fmi2SetInteger, fmi2Component, const unsigned *, size_t, const int *);
DECLARE(fmi2GetBoolean, fmi2Component, const unsigned *, size_t, int *);
DECLARE(fmi2GetDirectionalDerivative, fmi2Component, const unsigned *, size_t, const unsigned *, size_t, const double *, double *);
DECLARE(fmi2GetFMUstate, fmi2Component, fmi2FMUstate *);
DECLARE(fmi2SetFMUstate, fmi2Component, fmi2FMUstate);
DECLARE(fmi2FreeFMUstate, fmi2Component, fmi2FMUstate *);
DECLARE(fmi2SerializedFMUstateSize, fmi2Component, fmi2FMUstate, size_t *);
DECLARE(fmi2SerializeFMUstate, fmi2Component, fmi2FMUstate, char *, size_t);
DECLARE(fmi2DeSerializeFMUstate, fmi2Component, const char *, size_t, fmi2FMUstate *);
DECLARE(fmi2DoStep, fmi2Component, double, double, int);
DECLARE(fmi2CancelStep, fmi2Component);
DECLARE(fmi2GetRealStatus, fmi2Component, fmi2StatusKind, double *);
DECLARE(fmi2GetBooleanStatus, fmi2Component, fmi2StatusKind, int *);
DECLARE(fmi2EnterEventMode, fmi2Component);
DECLARE(fmi2NewDiscreteStates, fmi2Component, fmi2EventInfo *);
DECLARE(fmi2EnterContinuousTimeMode, fmi2Component);
DECLARE(fmi2CompletedIntegratorStep, fmi2Component, int, int *, int *);
DECLARE(fmi2SetTime, fmi2Component, double);
DECLARE(fmi2SetContinuousStates, fmi2Component, const double *, size_t);
DECLARE(fmi2GetDerivatives, fmi2Component, double *, size_t);
DECLARE(fmi2GetEventIndicators, fmi2Component, double *, size_t);
DECLARE(fmi2GetContinuousStates, fmi2Component, double *, size_t);
DECLARE(fmi2GetNominalsOfContinuousStates, fmi2Component, double *, size_t);

enum { INSTANCES = 3, ROOM = 4096 };

static unsigned long long seed;
static long messages, untouched;
static unsigned variables;
static const double wild[] = {0.0, -1.0, NAN, INFINITY, 0.3};

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

/* Every real number of an instance, NaN for what cannot be read. */
static void read_all(fmi2Component one, double *numbers)
{
    for (unsigned i = 0; i < variables && i < ROOM; i++) {
        unsigned reference = i;
        numbers[i] = NAN;
        (void)fmi2GetReal(one, &reference, 1, &numbers[i]);
    }
}

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...)
{
    char text[4096];
    va_list arguments;
    (void)environment;
    (void)name;
    (void)category;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    messages += status != fmi2OK && text[0] != '\0';
}

int main(int count, char **word)
{
    fmi2CallbackFunctions callbacks = {log_message, NULL, NULL, NULL, NULL};
    fmi2Component instances[INSTANCES] = {NULL};
    fmi2FMUstate states[INSTANCES] = {NULL};
    double time[INSTANCES] = {0.0}, values[ROOM], before[ROOM] = {0.0}, after[ROOM] = {0.0};
    unsigned references[ROOM];
    int integers[ROOM], flags[2];
    long answers[8] = {0}, calls;
    size_t nx, nz;
    if (count < 7) return 2;
    variables = (unsigned)atoi(word[2]);
    nx = (size_t)atoi(word[3]);
    nz = (size_t)atoi(word[4]);
    seed = (unsigned long long)atoll(word[5]);
    calls = atol(word[6]);
    for (long i = 0; i < calls; i++) {
        unsigned w = draw(INSTANCES), n = draw(4), m = draw(4);
        fmi2Component one = instances[w];
        fmi2Status status = fmi2OK;
        if (one == NULL) {
            instances[w] = fmi2Instantiate("fuzz", draw(3) ? fmi2CoSimulation : fmi2ModelExchange, word[1], NULL, &callbacks, 0, 1);
            time[w] = 0.0;
            if (draw(2)) { /* a right start */
                fmi2SetupExperiment(instances[w], draw(2), 1e-6, 0.0, 0, 0.0);
                fmi2EnterInitializationMode(instances[w]);
                fmi2ExitInitializationMode(instances[w]);
                if (draw(2)) fmi2EnterContinuousTimeMode(instances[w]);
            }
            continue;
        }
        for (unsigned j = 0; j < 8; j++) {
            references[j] = draw(20) ? draw(variables) : draw(2) ? variables + draw(3) : 0xffffffffu;
            values[j] = number();
            integers[j] = (int)draw(7) - 3;
        }
        switch (draw(34)) {
        case 0: status = fmi2SetupExperiment(one, (int)draw(2), number(), number(), (int)draw(2), number()); break;
        case 1: status = fmi2EnterInitializationMode(one); break;
        case 2: status = fmi2ExitInitializationMode(one); break;
        case 3: status = fmi2GetReal(one, references, n, values); break;
        case 4: case 5:
            read_all(one, before);
            status = fmi2SetReal(one, references, n, values);
            if (status != fmi2Error) break;
            read_all(one, after); /* a call with one wrong value writes nothing */
            if (memcmp(before, after, variables * sizeof *before) != 0) return 4;
            untouched++;
            break;
        case 6: status = fmi2GetInteger(one, references, n, integers); break;
        case 7: status = fmi2SetInteger(one, references, n, integers); break;
        case 8: status = fmi2GetBoolean(one, references, n, integers); break;
        case 9: {
            unsigned knowns[4] = {draw(variables), draw(variables), draw(variables), draw(variables)};
            double results[4];
            status = fmi2GetDirectionalDerivative(one, references, n, knowns, m, values, results);
            break;
        }
        case 10: status = fmi2GetFMUstate(one, &states[w]); break;
        case 11: status = fmi2SetFMUstate(one, states[draw(INSTANCES)]); break;
        case 12: status = fmi2FreeFMUstate(one, &states[w]); break;
        case 13: case 14: { /* serialized, and sometimes damaged */
            size_t size = 0;
            char *bytes;
            if (states[w] == NULL || fmi2SerializedFMUstateSize(one, states[w], &size) != fmi2OK) break;
            bytes = malloc(size + 16);
            status = fmi2SerializeFMUstate(one, states[w], bytes, draw(8) ? size : size / 2);
            for (unsigned j = draw(3); j > 0; j--) bytes[draw((unsigned)size)] ^= (char)(1 << draw(8));
            if (status == fmi2OK) status = fmi2DeSerializeFMUstate(one, bytes, draw(8) ? size : draw((unsigned)size + 16), &states[w]);
            free(bytes);
            break;
        }
        case 15: case 16: case 17: case 18: case 19: case 20:
            if (fmi2GetRealStatus(one, fmi2LastSuccessfulTime, &time[w]) != fmi2OK) break;
            status = fmi2DoStep(one, draw(10) ? time[w] : number(), draw(10) ? 0.001 * (1 + draw(50)) : wild[draw(5)], 1);
            break;
        case 21: status = fmi2CancelStep(one); break;
        case 22: status = fmi2GetBooleanStatus(one, (fmi2StatusKind)draw(4), flags); break;
        case 23: status = fmi2EnterEventMode(one); break;
        case 24: {
            fmi2EventInfo info;
            status = fmi2NewDiscreteStates(one, &info);
            break;
        }
        case 25: status = fmi2EnterContinuousTimeMode(one); break;
        case 26: status = fmi2CompletedIntegratorStep(one, 1, &flags[0], &flags[1]); break;
        case 27:
            time[w] += 0.001 * draw(20);
            status = fmi2SetTime(one, draw(10) ? time[w] : number());
            break;
        case 28: case 29:
            status = fmi2GetContinuousStates(one, values, nx);
            if (status == fmi2OK && nx > 0) values[draw((unsigned)nx)] += 0.01 * number();
            if (status == fmi2OK) status = fmi2SetContinuousStates(one, values, draw(10) ? nx : nx + 1);
            break;
        case 30: status = fmi2GetDerivatives(one, values, draw(10) ? nx : nx + 1); break;
        case 31: status = fmi2GetEventIndicators(one, values, nz); break;
        case 32: status = draw(4) ? fmi2GetNominalsOfContinuousStates(one, values, nx) : fmi2Terminate(one); break;
        default:
            if (draw(3)) {
                status = fmi2Reset(one);
                time[w] = 0.0;
            } else {
                fmi2FreeFMUstate(one, &states[w]);
                fmi2FreeInstance(one);
                instances[w] = NULL;
            }
        }
        answers[status]++;
    }
    for (int w = 0; w < INSTANCES; w++) {
        fmi2FreeFMUstate(instances[w] == NULL ? (void *)&callbacks : instances[w], &states[w]);
        fmi2FreeInstance(instances[w]);
    }
    printf("%ld %ld %ld %ld %ld messages %ld untouched %ld\n", answers[0], answers[1], answers[2], answers[3],
           answers[4], messages, untouched);
    return answers[4] != 0;
}

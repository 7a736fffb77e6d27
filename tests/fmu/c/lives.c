/* Many instances of an FMU, one after the other and in parallel threads, and a long run.

lives GUID REFERENCE cycles N: N instances one after the other: instantiated, initialized, stepped ten times, freed
lives GUID REFERENCE steps N: one instance, N steps
lives GUID REFERENCE threads N: N instances in parallel threads, compared with a single one
Prints the growth of memory over the second half in bytes, or the number of threads with other bits. */
#define _GNU_SOURCE
#include "fmi2.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, int, int);
FMI2_EXPORT void fmi2FreeInstance(fmi2Component);
#define DECLARE(name, ...) FMI2_EXPORT fmi2Status name(__VA_ARGS__)
DECLARE(fmi2SetupExperiment, fmi2Component, int, double, double, int, double);
DECLARE(fmi2EnterInitializationMode, fmi2Component);
DECLARE(fmi2ExitInitializationMode, fmi2Component);
DECLARE(fmi2GetReal, fmi2Component, const unsigned *, size_t, double *);
DECLARE(fmi2GetFMUstate, fmi2Component, fmi2FMUstate *);
DECLARE(fmi2SetFMUstate, fmi2Component, fmi2FMUstate);
DECLARE(fmi2FreeFMUstate, fmi2Component, fmi2FMUstate *);
DECLARE(fmi2DoStep, fmi2Component, double, double, int);

enum { MOST_THREADS = 16, STEPS = 400 };
static const char *guid;
static unsigned reference;
static const double h = 1e-3;

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...)
{
    (void)environment;
    fprintf(stderr, "%s %d %s %s\n", name, (int)status, category, format);
}

static const fmi2CallbackFunctions callbacks = {log_message, calloc, free, NULL, NULL};

static void need(fmi2Status status)
{
    if (status > fmi2Warning) exit(3);
}

static fmi2Component start(void)
{
    fmi2Component one = fmi2Instantiate("life", fmi2CoSimulation, guid, NULL, &callbacks, 0, 0);
    if (one == NULL) exit(4);
    need(fmi2SetupExperiment(one, 0, 0.0, 0.0, 0, 0.0));
    need(fmi2EnterInitializationMode(one));
    need(fmi2ExitInitializationMode(one));
    return one;
}

static double run(fmi2Component one, long first, long last)
{
    double value = 0.0;
    for (long i = first; i < last; i++) {
        need(fmi2DoStep(one, (double)i * h, h, 1));
        need(fmi2GetReal(one, &reference, 1, &value));
    }
    return value;
}

static void *in_thread(void *place)
{
    double *values = place;
    fmi2Component one = start();
    fmi2FMUstate saved = NULL;
    for (long i = 0; i < STEPS; i++) {
        if (i % 50 == 0) { /* saved and restored */
            need(fmi2GetFMUstate(one, &saved));
            (void)run(one, i, i + 3);
            need(fmi2SetFMUstate(one, saved));
        }
        values[i] = run(one, i, i + 1);
    }
    need(fmi2FreeFMUstate(one, &saved));
    fmi2FreeInstance(one);
    return NULL;
}

static int threads(long number)
{
    static double values[MOST_THREADS + 1][STEPS];
    pthread_t workers[MOST_THREADS];
    int others = 0;
    if (number > MOST_THREADS) return -1;
    (void)in_thread(values[MOST_THREADS]);
    for (long i = 0; i < number; i++)
        if (pthread_create(&workers[i], NULL, in_thread, values[i]) != 0) exit(5);
    for (long i = 0; i < number; i++) (void)pthread_join(workers[i], NULL);
    for (long i = 0; i < number; i++) others += memcmp(values[i], values[MOST_THREADS], sizeof values[i]) != 0;
    return others;
}

static long in_use(void) { return (long)(mallinfo2().uordblks + mallinfo2().hblkhd); }

int main(int count, char **word)
{
    long number, half = 0;
    if (count < 5) return 2;
    guid = word[1];
    reference = (unsigned)atoi(word[2]);
    number = atol(word[4]);
    if (strcmp(word[3], "threads") == 0) {
        printf("%d\n", threads(number));
        return 0;
    }
    if (strcmp(word[3], "cycles") == 0)
        for (long i = 0; i < number; i++) {
            fmi2Component one = start();
            (void)run(one, 0, 10);
            fmi2FreeInstance(one);
            if (i == number / 2) half = in_use();
        }
    else {
        fmi2Component one = start();
        (void)run(one, 0, number / 2);
        half = in_use();
        (void)run(one, number / 2, number);
        printf("%ld\n", in_use() - half);
        fmi2FreeInstance(one);
        return 0;
    }
    printf("%ld\n", in_use() - half);
    return 0;
}

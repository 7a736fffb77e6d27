/* A master of FMI 3.0 Co-Simulation in C, with event mode or without.

host_events LIBRARY TOKEN EVENT_MODE EARLY_RETURN STEPS H RESTORED REFERENCE... : for each event a line
"event TIME NEXT_EVENT VALUES... | VALUES..." (next event -1: none; the values before and after), for each communication point
"point TIME VALUES...", %.17g. After RESTORED steps the state is saved, and after three more steps it is restored, once
(-1: never). */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void log_message(void *environment, int status, const char *category, const char *text)
{
    (void)environment;
    fprintf(stderr, "%d %s: %s\n", status, category, text);
}

#define FUNCTION(name, ...) \
    int (*name)(__VA_ARGS__) = (int (*)(__VA_ARGS__))dlsym(library, #name); \
    if (name == NULL) { fputs(#name, stderr); return 3; }
#define NEED(call) \
    if ((call) != 0) { fprintf(stderr, "%s failed\n", #call); return 4; }

int main(int count, char **word)
{
    void *library = dlopen(word[1], RTLD_NOW | RTLD_LOCAL), *instance, *saved = NULL;
    bool event_mode = atoi(word[3]), early = atoi(word[4]);
    int steps = atoi(word[5]), put_back = atoi(word[7]), known = count - 8, i = 0;
    double h = atof(word[6]), time = 0.0, before[16], after[16];
    uint32_t which[16];
    if (library == NULL) { fprintf(stderr, "%s\n", dlerror()); return 2; }
    void *(*instantiate)(const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                         void *, void *, void *) = dlsym(library, "fmi3InstantiateCoSimulation");
    FUNCTION(fmi3EnterInitializationMode, void *, bool, double, double, bool, double)
    FUNCTION(fmi3ExitInitializationMode, void *)
    FUNCTION(fmi3EnterEventMode, void *)
    FUNCTION(fmi3EnterStepMode, void *)
    FUNCTION(fmi3UpdateDiscreteStates, void *, bool *, bool *, bool *, bool *, bool *, double *)
    FUNCTION(fmi3DoStep, void *, double, double, bool, bool *, bool *, bool *, double *)
    FUNCTION(fmi3GetFloat64, void *, const uint32_t *, size_t, double *, size_t)
    FUNCTION(fmi3GetFMUState, void *, void **)
    FUNCTION(fmi3SetFMUState, void *, void *)
    FUNCTION(fmi3FreeFMUState, void *, void **)
    FUNCTION(fmi3Terminate, void *)
    void (*release)(void *) = (void (*)(void *))dlsym(library, "fmi3FreeInstance");
    bool more, stop, nominals, values, defined;
    double next = -1.0;
    for (int j = 0; j < known; j++) which[j] = (uint32_t)atoi(word[8 + j]);
    instance = instantiate("host", word[2], NULL, false, true, event_mode, early, NULL, 0, NULL, (void *)log_message,
                           NULL);
    if (instance == NULL) return 5;
    NEED(fmi3EnterInitializationMode(instance, true, 1e-8, 0.0, false, 0.0))
    NEED(fmi3ExitInitializationMode(instance))
    if (event_mode) {
        do NEED(fmi3UpdateDiscreteStates(instance, &more, &stop, &nominals, &values, &defined, &next)) while (more);
        printf("first %.17g\n", defined ? next : -1.0);
        NEED(fmi3EnterStepMode(instance))
    } else if (fmi3EnterEventMode(instance) == 0) return 6;
    while (i < steps) {
        double target = (i + 1) * h;
        if (i == put_back && saved == NULL) NEED(fmi3GetFMUState(instance, &saved))
        while (time < target) {
            bool event = false, returned = false;
            NEED(fmi3DoStep(instance, time, target - time, false, &event, &stop, &returned, &time))
            if (returned && !early) return 7;
            if (event && !event_mode) return 8;
            if (event) {
                NEED(fmi3GetFloat64(instance, which, (size_t)known, before, (size_t)known))
                NEED(fmi3EnterEventMode(instance))
                NEED(fmi3GetFloat64(instance, which, (size_t)known, after, (size_t)known))
                for (int j = 0; j < known; j++) if (after[j] != before[j]) return 9;
                do NEED(fmi3UpdateDiscreteStates(instance, &more, &stop, &nominals, &values, &defined, &next))
                while (more);
                NEED(fmi3GetFloat64(instance, which, (size_t)known, after, (size_t)known))
                NEED(fmi3EnterStepMode(instance))
                printf("event %.17g %.17g", time, defined ? next : -1.0);
                for (int j = 0; j < known; j++) printf(" %.17g", before[j]);
                printf(" |");
                for (int j = 0; j < known; j++) printf(" %.17g", after[j]);
                printf("\n");
            } else if (returned) return 10;
        }
        NEED(fmi3GetFloat64(instance, which, (size_t)known, after, (size_t)known))
        printf("point %.17g", time);
        for (int j = 0; j < known; j++) printf(" %.17g", after[j]);
        printf("\n");
        i++;
        if (saved != NULL && i == put_back + 3) {
            NEED(fmi3SetFMUState(instance, saved))
            NEED(fmi3FreeFMUState(instance, &saved))
            i = put_back;
            time = i * h;
            put_back = -1;
        }
    }
    NEED(fmi3Terminate(instance))
    release(instance);
    return 0;
}

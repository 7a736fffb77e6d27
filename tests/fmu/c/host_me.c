/* A host that is not a Python program and has its own integrator: Model Exchange of FMI 2.0 or 3.0 with Euler's method.

host_me VERSION LIBRARY TOKEN STATES STEPS H REFERENCE... : prints the values after each step, %.17g. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

typedef struct {
    int more, stop, nominals, values, defined;
    double next;
} EventInfo;

enum { ROOM = 256 };
static void *library;

static void *find(const char *prefix, const char *name)
{
    char full[128];
    void *found;
    snprintf(full, sizeof full, "%s%s", prefix, name);
    found = dlsym(library, full);
    if (found == NULL) {
        fprintf(stderr, "%s is missing\n", full);
        exit(3);
    }
    return found;
}

static void need(int status, const char *what)
{
    if (status <= 1) return;
    fprintf(stderr, "%s: %d\n", what, status);
    exit(4);
}

#define CALL(name, types, ...) need(((int(*) types)find(prefix, name))(__VA_ARGS__), name)

int main(int count, char **word)
{
    int version = atoi(word[1]), steps = atoi(word[5]), references = count - 7;
    size_t states = (size_t)atoi(word[4]);
    const char *prefix = version == 2 ? "fmi2" : "fmi3";
    double h = atof(word[6]), x[ROOM], x_dot[ROOM], values[ROOM];
    uint32_t which[ROOM];
    Callbacks callbacks = {NULL, calloc, free, NULL, NULL};
    void *one;
    library = dlopen(word[2], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL || count < 7 || states > ROOM || references > ROOM) {
        fprintf(stderr, "%s\n", library == NULL ? dlerror() : "wrong arguments");
        return 2;
    }
    for (int i = 0; i < references; i++) which[i] = (uint32_t)atol(word[7 + i]);
    if (version == 2) {
        one = ((void *(*)(const char *, int, const char *, const char *, const Callbacks *, int, int))find(
            prefix, "Instantiate"))("host", 0, word[3], "file:///nowhere", &callbacks, 0, 0);
        CALL("SetupExperiment", (void *, int, double, double, int, double), one, 0, 0.0, 0.0, 0, 0.0);
        CALL("EnterInitializationMode", (void *), one);
    } else {
        one = ((void *(*)(const char *, const char *, const char *, bool, bool, void *, void *))find(
            prefix, "InstantiateModelExchange"))("host", word[3], "/nowhere", false, false, NULL, NULL);
        CALL("EnterInitializationMode", (void *, bool, double, double, bool, double), one, false, 0.0, 0.0, false, 0.0);
    }
    CALL("ExitInitializationMode", (void *), one);
    for (;;) { /* events at the start */
        EventInfo info = {0};
        bool f[5];
        if (version == 2) CALL("NewDiscreteStates", (void *, EventInfo *), one, &info);
        else {
            CALL("UpdateDiscreteStates", (void *, bool *, bool *, bool *, bool *, bool *, double *), one, &f[0], &f[1], &f[2],
                 &f[3], &f[4], &info.next);
            info.more = f[0];
        }
        if (!info.more) break;
    }
    CALL("EnterContinuousTimeMode", (void *), one);
    for (int i = 0; i < steps; i++) {
        CALL("GetContinuousStates", (void *, double *, size_t), one, x, states);
        CALL(version == 2 ? "GetDerivatives" : "GetContinuousStateDerivatives", (void *, double *, size_t), one, x_dot, states);
        for (size_t j = 0; j < states; j++) x[j] += ((i + 1) * h - i * h) * x_dot[j]; /* the length between the times */
        CALL("SetTime", (void *, double), one, (i + 1) * h);
        CALL("SetContinuousStates", (void *, const double *, size_t), one, x, states);
        if (version == 2) {
            int event, stop;
            CALL("CompletedIntegratorStep", (void *, int, int *, int *), one, 1, &event, &stop);
            CALL("GetReal", (void *, const uint32_t *, size_t, double *), one, which, (size_t)references, values);
        } else {
            bool event, stop;
            CALL("CompletedIntegratorStep", (void *, bool, bool *, bool *), one, true, &event, &stop);
            CALL("GetFloat64", (void *, const uint32_t *, size_t, double *, size_t), one, which, (size_t)references, values,
                 (size_t)references);
        }
        for (int j = 0; j < references; j++) printf("%.17g%c", values[j], j + 1 < references ? ' ' : '\n');
    }
    CALL("Terminate", (void *), one);
    ((void (*)(void *))find(prefix, "FreeInstance"))(one);
    fflush(stdout);
    return dlclose(library) ? 7 : 0;
}

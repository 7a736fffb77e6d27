/* A host that is not a Python program: loads an FMU's library, steps RUNS instances one after the other, with states saved
   and restored, and unloads the library.

host LIBRARY RESOURCES GUID STEPS H RUNS REFERENCE... : prints the values after each step, %.17g. Messages go to stderr. */
#ifdef _WIN32
#include <windows.h>
#define dlopen(path, mode) ((void *)LoadLibraryA(path))
#define dlsym(library, name) ((void *)GetProcAddress((HMODULE)(library), name))
#define dlclose(library) (!FreeLibrary((HMODULE)(library)))
#define dlerror() "it cannot be loaded"
#else
#include <dlfcn.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

static void log_message(void *env, const char *name, int status, const char *category, const char *format, ...) {
    va_list arguments;
    (void)env; (void)category;
    va_start(arguments, format);
    fprintf(stderr, "%s (%d): ", name, status);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

#define FUNCTION(name) functions.name = dlsym(library, #name); if (!functions.name) { fputs(#name, stderr); return 3; }
#define NEED(call) if ((call) > 1) { fprintf(stderr, "%s failed\n", #call); return 4; }

int main(int count, char **word) {
    struct {
        void *(*fmi2Instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
        int (*fmi2SetupExperiment)(void *, int, double, double, int, double);
        int (*fmi2EnterInitializationMode)(void *);
        int (*fmi2ExitInitializationMode)(void *);
        int (*fmi2DoStep)(void *, double, double, int);
        int (*fmi2GetReal)(void *, const unsigned *, size_t, double *);
        int (*fmi2GetFMUstate)(void *, void **);
        int (*fmi2SetFMUstate)(void *, void *);
        int (*fmi2FreeFMUstate)(void *, void **);
        int (*fmi2Terminate)(void *);
        void (*fmi2FreeInstance)(void *);
    } functions;
    Callbacks callbacks = { log_message, calloc, free, NULL, NULL };
    int steps = atoi(word[4]), runs = atoi(word[6]), run, i, j, references = count - 7;
    double h = atof(word[5]), values[64];
    unsigned which[64];
    void *library = dlopen(word[1], RTLD_NOW | RTLD_LOCAL), *component, *state;
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 2; }
    FUNCTION(fmi2Instantiate) FUNCTION(fmi2SetupExperiment) FUNCTION(fmi2EnterInitializationMode)
    FUNCTION(fmi2ExitInitializationMode) FUNCTION(fmi2DoStep) FUNCTION(fmi2GetReal) FUNCTION(fmi2GetFMUstate)
    FUNCTION(fmi2SetFMUstate) FUNCTION(fmi2FreeFMUstate) FUNCTION(fmi2Terminate) FUNCTION(fmi2FreeInstance)
    for (j = 0; j < references; j++) which[j] = (unsigned)atoi(word[7 + j]);
    for (run = 0; run < runs; run++) {
        component = functions.fmi2Instantiate("host", 1, word[3], word[2], &callbacks, 0, 1);
        if (!component) return 5;
        NEED(functions.fmi2SetupExperiment(component, 0, 0.0, 0.0, 0, 0.0))
        NEED(functions.fmi2EnterInitializationMode(component))
        NEED(functions.fmi2ExitInitializationMode(component))
        if (functions.fmi2DoStep(component, 0.0, -h, 1) != 3) return 6;
        for (i = 0; i < steps; i++) {
            state = NULL;
            NEED(functions.fmi2GetFMUstate(component, &state))
            NEED(functions.fmi2DoStep(component, i * h, h / 3, 1))
            NEED(functions.fmi2SetFMUstate(component, state))
            NEED(functions.fmi2FreeFMUstate(component, &state))
            NEED(functions.fmi2DoStep(component, i * h, h, 1))
            NEED(functions.fmi2GetReal(component, which, (size_t)references, values))
            for (j = 0; j < references; j++) printf("%.17g%c", values[j], j + 1 < references ? ' ' : '\n');
        }
        NEED(functions.fmi2Terminate(component))
        functions.fmi2FreeInstance(component);
    }
    fflush(stdout);
    if (dlclose(library)) return 7;
    return 0;
}

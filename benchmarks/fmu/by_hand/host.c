/* Steps a library: an FMU for Co-Simulation (FMI 2.0), or a model that is written by hand.

       host fmu LIBRARY GUID calls size            doStep, so many times
       host hand LIBRARY calls steps-a-call step

   Built as a library it lends `step_fmu` to whoever measures time; as a program it is what callgrind counts, which looks
   at `measured` alone. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Step(void *, double, double, int);
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

int step_fmu(Step *do_step, void *instance, double start, int calls, double size)
{
    int worst = 0;
    for (int i = 0; i < calls; i++) {
        int status = do_step(instance, start + i * size, size, 1);
        worst = status > worst ? status : worst;
    }
    return worst;
}

__attribute__((noinline)) int measured(Step *do_step, void *instance, void (*advance)(int), int calls, int steps, double size)
{
    if (do_step != NULL) return step_fmu(do_step, instance, 0.0, calls, size);
    for (int i = 0; i < calls; i++) advance(steps);
    return 0;
}

static void say(void *environment, const char *name, int status, const char *category, const char *text, ...)
{
    (void)environment, (void)status, (void)category;
    fprintf(stderr, "%s: %s\n", name, text);
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(1);
    }
    return found;
}

int main(int count, char **given)
{
    static const Callbacks callbacks = {say, calloc, free, NULL, NULL};
    void *library = count == 6 ? dlopen(given[2], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", count == 6 ? dlerror() : "host fmu|hand LIBRARY …");
        return 1;
    }
    if (strcmp(given[1], "hand") == 0) {
        void (*begin)(double), (*advance)(int);
        *(void **)&begin = symbol(library, "begin");
        *(void **)&advance = symbol(library, "advance");
        begin(atof(given[5]));
        return measured(NULL, NULL, advance, atoi(given[3]), atoi(given[4]), 0.0);
    }
    void *(*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int);
    int (*set_up)(void *, int, double, double, int, double), (*enter)(void *), (*leave)(void *);
    Step *do_step;
    *(void **)&instantiate = symbol(library, "fmi2Instantiate");
    *(void **)&set_up = symbol(library, "fmi2SetupExperiment");
    *(void **)&enter = symbol(library, "fmi2EnterInitializationMode");
    *(void **)&leave = symbol(library, "fmi2ExitInitializationMode");
    *(void **)&do_step = symbol(library, "fmi2DoStep");
    void *instance = instantiate("counted", 1, given[3], "", &callbacks, 0, 0);
    if (instance == NULL || set_up(instance, 0, 0.0, 0.0, 0, 0.0) || enter(instance) || leave(instance)) return 1;
    return measured(do_step, instance, NULL, atoi(given[4]), 0, atof(given[5]));
}

/* Runs the sources of the model `limited`; after the instantiation all allocations fail.

   no_memory2 TOKEN PARAMETER : prints "done" and the number of allocations before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int closed, calls;

static void count_call(void)
{
    calls++;
    if (closed) abort();
}

void *__wrap_malloc(size_t size) { count_call(); return __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { count_call(); return __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { count_call(); return __real_realloc(old, size); }

fmi2Component limited_fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *,
                                      fmi2Boolean, fmi2Boolean);
fmi2Status fmi2SetupExperiment(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
fmi2Status fmi2EnterInitializationMode(fmi2Component);
fmi2Status fmi2ExitInitializationMode(fmi2Component);
fmi2Status fmi2GetReal(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
fmi2Status fmi2SetReal(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Real[]);
fmi2Status fmi2GetDirectionalDerivative(fmi2Component, const fmi2ValueReference[], size_t, const fmi2ValueReference[],
                                        size_t, const fmi2Real[], fmi2Real[]);
fmi2Status fmi2DoStep(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
fmi2Status fmi2Reset(fmi2Component);
void fmi2FreeInstance(fmi2Component);

static void tell(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                 fmi2String message, ...)
{
    (void)environment;
    fprintf(stderr, "%s: %d, %s: %s\n", name, (int)status, category, message);
}

#define NEED(call) if ((call) != fmi2OK) { fprintf(stderr, "%s failed\n", #call); return 4; }

int main(int count, char **word)
{
    fmi2CallbackFunctions callbacks;
    fmi2Component instance;
    fmi2ValueReference first = 0, mass; /* an output, a parameter */
    fmi2Real value = 0.0;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.logger = tell;
    if (count < 3) return 2;
    mass = (fmi2ValueReference)atoi(word[2]);
    instance = limited_fmi2Instantiate("one", fmi2CoSimulation, word[1], "", &callbacks, fmi2False, fmi2False);
    if (instance == NULL) return 3;
    closed = 1;
    for (int run = 0; run < 2; run++) {
        NEED(fmi2SetupExperiment(instance, fmi2False, 0.0, 0.0, fmi2False, 0.0))
        NEED(fmi2EnterInitializationMode(instance))
        NEED(fmi2GetReal(instance, &mass, 1, &value))
        NEED(fmi2SetReal(instance, &mass, 1, &value))
        NEED(fmi2ExitInitializationMode(instance))
        for (int i = 0; i < 100; i++) NEED(fmi2DoStep(instance, 0.05 * i, 0.05, fmi2True))
        NEED(fmi2GetReal(instance, &first, 1, &value))
        (void)fmi2SetReal(instance, &first, 1, &value); /* refused */
        value = 1.0;
        NEED(fmi2GetDirectionalDerivative(instance, &first, 1, &mass, 1, &value, &value))
        NEED(fmi2Reset(instance))
    }
    closed = 0;
    fmi2FreeInstance(instance);
    printf("done %d\n", calls);
    return 0;
}

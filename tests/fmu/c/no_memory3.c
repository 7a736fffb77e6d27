/* Runs the sources of the model `limited`; after the instantiation all allocations fail.

   no_memory3 TOKEN : prints "done" and the number of allocations before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi3.h"

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

fmi3Instance limited_fmi3InstantiateCoSimulation(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean,
                                                 fmi3Boolean, fmi3Boolean, const fmi3ValueReference[], size_t,
                                                 fmi3InstanceEnvironment, fmi3LogMessageCallback,
                                                 fmi3IntermediateUpdateCallback);
fmi3Status fmi3EnterInitializationMode(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64);
fmi3Status fmi3ExitInitializationMode(fmi3Instance);
fmi3Status fmi3GetFloat64(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
fmi3Status fmi3DoStep(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,
                      fmi3Float64 *);
fmi3Status fmi3Reset(fmi3Instance);
void fmi3FreeInstance(fmi3Instance);

#define NEED(call) if ((call) != fmi3OK) { fprintf(stderr, "%s failed\n", #call); return 4; }

int main(int count, char **word)
{
    fmi3Instance instance;
    fmi3ValueReference first = 0;
    fmi3Float64 values[64];
    fmi3Boolean event, ends, early;
    if (count < 2) return 2;
    instance = limited_fmi3InstantiateCoSimulation("one", word[1], "", false, false, false, false, NULL, 0, NULL, NULL,
                                                   NULL);
    if (instance == NULL) return 3;
    closed = 1;
    for (int run = 0; run < 2; run++) {
        size_t room = 1;
        NEED(fmi3EnterInitializationMode(instance, false, 0.0, 0.0, false, 0.0))
        while (room < 13 && fmi3GetFloat64(instance, &first, 1, values, room) != fmi3OK) room++;
        NEED(fmi3GetFloat64(instance, &first, 1, values, room))
        NEED(fmi3ExitInitializationMode(instance))
        for (int i = 0; i < 100; i++)
            NEED(fmi3DoStep(instance, 0.05 * i, 0.05, true, &event, &ends, &early, values))
        NEED(fmi3Reset(instance))
    }
    closed = 0;
    fmi3FreeInstance(instance);
    printf("done %d\n", calls);
    return 0;
}

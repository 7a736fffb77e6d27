/* A host that is linked with the sources of an FMU for Co-Simulation: it steps, differentiates, saves, restores, resets
   and runs the FMU again.

linked_host TOKEN STEPS H FIRST_PARAMETER REFERENCE... : prints the values after each step, %.17g. Messages go to stderr. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"

fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, fmi2Boolean,
                              fmi2Boolean);
fmi2Status fmi2SetupExperiment(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
fmi2Status fmi2EnterInitializationMode(fmi2Component);
fmi2Status fmi2ExitInitializationMode(fmi2Component);
fmi2Status fmi2GetReal(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
fmi2Status fmi2SetReal(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Real[]);
fmi2Status fmi2GetDirectionalDerivative(fmi2Component, const fmi2ValueReference[], size_t, const fmi2ValueReference[],
                                        size_t, const fmi2Real[], fmi2Real[]);
fmi2Status fmi2DoStep(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
fmi2Status fmi2GetFMUstate(fmi2Component, fmi2FMUstate *);
fmi2Status fmi2SetFMUstate(fmi2Component, fmi2FMUstate);
fmi2Status fmi2FreeFMUstate(fmi2Component, fmi2FMUstate *);
fmi2Status fmi2SerializedFMUstateSize(fmi2Component, fmi2FMUstate, size_t *);
fmi2Status fmi2SerializeFMUstate(fmi2Component, fmi2FMUstate, fmi2Byte[], size_t);
fmi2Status fmi2DeSerializeFMUstate(fmi2Component, const fmi2Byte[], size_t, fmi2FMUstate *);
fmi2Status fmi2Terminate(fmi2Component);
fmi2Status fmi2Reset(fmi2Component);
void fmi2FreeInstance(fmi2Component);

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...)
{
    va_list arguments;
    (void)environment;
    va_start(arguments, format);
    fprintf(stderr, "%s: %d, %s: ", name, (int)status, category);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

#define NEED(call) if ((call) != fmi2OK) { fprintf(stderr, "%s failed\n", #call); return 4; }

/* A state that was serialized and deserialized is the one before. */
static int go_back(fmi2Component instance, double start, double h)
{
    fmi2FMUstate saved = NULL, read = NULL;
    size_t size = 0;
    fmi2Byte *bytes;
    NEED(fmi2GetFMUstate(instance, &saved))
    NEED(fmi2DoStep(instance, start, h, fmi2True))
    NEED(fmi2SerializedFMUstateSize(instance, saved, &size))
    bytes = malloc(size);
    if (bytes == NULL) return 5;
    NEED(fmi2SerializeFMUstate(instance, saved, bytes, size))
    NEED(fmi2FreeFMUstate(instance, &saved))
    NEED(fmi2DeSerializeFMUstate(instance, bytes, size, &read))
    free(bytes);
    NEED(fmi2SetFMUstate(instance, read))
    NEED(fmi2FreeFMUstate(instance, &read))
    return 0;
}

int main(int count, char **word)
{
    fmi2CallbackFunctions callbacks;
    fmi2Component instance;
    fmi2ValueReference which[64];
    fmi2ValueReference parameter;
    fmi2Real values[64], seed, slope;
    int references = count - 5, steps, derives;
    double h;
    if (references < 1 || references > 64) return 2;
    steps = atoi(word[2]);
    h = atof(word[3]);
    derives = word[4][0] != 'x'; /* before the number: it has no derivatives */
    parameter = (fmi2ValueReference)atoi(word[4] + !derives);
    for (int j = 0; j < references; j++) which[j] = (fmi2ValueReference)atoi(word[5 + j]);
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.logger = log_message;
    instance = fmi2Instantiate("one", fmi2CoSimulation, word[1], "", &callbacks, fmi2False, fmi2False);
    if (instance == NULL) return 3;
    for (int run = 0; run < 2; run++) {
        NEED(fmi2SetupExperiment(instance, fmi2False, 0.0, 0.0, fmi2False, 0.0))
        NEED(fmi2EnterInitializationMode(instance))
        NEED(fmi2GetReal(instance, &parameter, 1, &seed))
        NEED(fmi2SetReal(instance, &parameter, 1, &seed))
        NEED(fmi2ExitInitializationMode(instance))
        for (int i = 0; i < steps; i++) {
            if (i % 10 == 3 && go_back(instance, i * h, h) != 0) return 6;
            NEED(fmi2DoStep(instance, i * h, h, fmi2True))
            NEED(fmi2GetReal(instance, which, (size_t)references, values))
            for (int j = 0; run == 1 && j < references; j++) printf("%.17g ", values[j]);
            if (run == 1) printf("\n");
        }
        seed = 1.0;
        if (derives) NEED(fmi2GetDirectionalDerivative(instance, which, 1, &parameter, 1, &seed, &slope))
        NEED(fmi2Terminate(instance))
        NEED(fmi2Reset(instance))
    }
    fmi2FreeInstance(instance);
    return 0;
}

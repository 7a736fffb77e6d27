/* One communication step that takes many steps of the integrator, and the messages that it logs.

long_step GUID SIZE REFERENCE: prints "CATEGORY TEXT" for each message, then "value X". */
#include "fmi2.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

FMI2_EXPORT fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, int, int);
FMI2_EXPORT void fmi2FreeInstance(fmi2Component);
#define DECLARE(name, ...) FMI2_EXPORT fmi2Status name(__VA_ARGS__)
DECLARE(fmi2SetupExperiment, fmi2Component, int, double, double, int, double);
DECLARE(fmi2EnterInitializationMode, fmi2Component);
DECLARE(fmi2ExitInitializationMode, fmi2Component);
DECLARE(fmi2GetReal, fmi2Component, const unsigned *, size_t, double *);
DECLARE(fmi2DoStep, fmi2Component, double, double, int);

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...)
{
    va_list arguments;
    (void)environment;
    (void)name;
    (void)status;
    printf("%s ", category);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

int main(int count, char **word)
{
    fmi2CallbackFunctions callbacks = {log_message, NULL, NULL, NULL, NULL};
    fmi2Component one;
    unsigned reference;
    double value = 0.0;
    if (count < 4) return 2;
    one = fmi2Instantiate("one", fmi2CoSimulation, word[1], NULL, &callbacks, 0, 1);
    reference = (unsigned)atoi(word[3]);
    if (one == NULL || fmi2SetupExperiment(one, 0, 0.0, 0.0, 0, 0.0) || fmi2EnterInitializationMode(one) ||
        fmi2ExitInitializationMode(one) || fmi2DoStep(one, 0.0, atof(word[2]), 1) ||
        fmi2GetReal(one, &reference, 1, &value))
        return 3;
    printf("value %.17g\n", value);
    fmi2FreeInstance(one);
    return 0;
}

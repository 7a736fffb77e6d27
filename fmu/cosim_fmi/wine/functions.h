/* The functions of FMI 1.0, 2.0 and 3.0, and how their arguments go from one process to another.
 *
 * A letter for each argument: h pointer of the FMU's own; i 32-bit integer; b 8-bit integer; d real;
 * z count; s text; E event information of FMI 2.0 (32 bytes, both
 * ways). Arrays: < in, > out, = both; then the size of an element, then how many there are: p, q or r for the
 * first, second or third count among the arguments, or a digit. Texts: S in, T out, then how many. Binary
 * data: the array of sizes, then B in or C out, and how many.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#define FMI2_ACCESS(F, kind, size)                                                                        \
    F(fmi2Get##kind, "h<4pz>" size "p")                                                                   \
    F(fmi2Set##kind, "h<4pz<" size "p")
#define FMI3_ACCESS(F, kind, size)                                                                        \
    F(fmi3Get##kind, "h<4pz>" size "qz")                                                                  \
    F(fmi3Set##kind, "h<4pz<" size "qz")

#define FUNCTIONS(F)                                                                                      \
    F(fmi2GetVersion, "")                                                                                 \
    F(fmi2GetTypesPlatform, "")                                                                           \
    F(fmi2SetDebugLogging, "hizSp")                                                                       \
    F(fmi2Instantiate, "sisshii")                                                                         \
    F(fmi2FreeInstance, "h")                                                                              \
    F(fmi2SetupExperiment, "hiddid")                                                                      \
    F(fmi2EnterInitializationMode, "h")                                                                   \
    F(fmi2ExitInitializationMode, "h")                                                                    \
    F(fmi2Terminate, "h")                                                                                 \
    F(fmi2Reset, "h")                                                                                     \
    FMI2_ACCESS(F, Real, "8")                                                                             \
    FMI2_ACCESS(F, Integer, "4")                                                                          \
    FMI2_ACCESS(F, Boolean, "4")                                                                          \
    F(fmi2GetString, "h<4pzTp")                                                                           \
    F(fmi2SetString, "h<4pzSp")                                                                           \
    F(fmi2GetFMUstate, "h=81")                                                                            \
    F(fmi2SetFMUstate, "hh")                                                                              \
    F(fmi2FreeFMUstate, "h=81")                                                                           \
    F(fmi2SerializedFMUstateSize, "hh>81")                                                                \
    F(fmi2SerializeFMUstate, "hh>1pz")                                                                    \
    F(fmi2DeSerializeFMUstate, "h<1pz=81")                                                                \
    F(fmi2GetDirectionalDerivative, "h<4pz<4qz<8q>8p")                                                    \
    F(fmi2SetRealInputDerivatives, "h<4pz<4p<8p")                                                         \
    F(fmi2GetRealOutputDerivatives, "h<4pz<4p>8p")                                                        \
    F(fmi2DoStep, "hddi")                                                                                 \
    F(fmi2CancelStep, "h")                                                                                \
    F(fmi2GetStatus, "hi>41")                                                                             \
    F(fmi2GetRealStatus, "hi>81")                                                                         \
    F(fmi2GetIntegerStatus, "hi>41")                                                                      \
    F(fmi2GetBooleanStatus, "hi>41")                                                                      \
    F(fmi2GetStringStatus, "hiT1")                                                                        \
    F(fmi2EnterEventMode, "h")                                                                            \
    F(fmi2EnterContinuousTimeMode, "h")                                                                   \
    F(fmi2NewDiscreteStates, "hE")                                                                        \
    F(fmi2CompletedIntegratorStep, "hi>41>41")                                                            \
    F(fmi2SetTime, "hd")                                                                                  \
    F(fmi2SetContinuousStates, "h<8pz")                                                                   \
    F(fmi2GetContinuousStates, "h>8pz")                                                                   \
    F(fmi2GetNominalsOfContinuousStates, "h>8pz")                                                         \
    F(fmi2GetDerivatives, "h>8pz")                                                                        \
    F(fmi2GetEventIndicators, "h>8pz")                                                                    \
    F(fmi3GetVersion, "")                                                                                 \
    F(fmi3SetDebugLogging, "hbzSp")                                                                       \
    F(fmi3InstantiateModelExchange, "sssbbhh")                                                            \
    F(fmi3InstantiateCoSimulation, "sssbbbb<4pzhhh")                                                      \
    F(fmi3FreeInstance, "h")                                                                              \
    F(fmi3EnterInitializationMode, "hbddbd")                                                              \
    F(fmi3ExitInitializationMode, "h")                                                                    \
    F(fmi3EnterConfigurationMode, "h")                                                                    \
    F(fmi3ExitConfigurationMode, "h")                                                                     \
    F(fmi3EnterEventMode, "h")                                                                            \
    F(fmi3EnterStepMode, "h")                                                                             \
    F(fmi3EnterContinuousTimeMode, "h")                                                                   \
    F(fmi3Terminate, "h")                                                                                 \
    F(fmi3Reset, "h")                                                                                     \
    FMI3_ACCESS(F, Float64, "8")                                                                          \
    FMI3_ACCESS(F, Float32, "4")                                                                          \
    FMI3_ACCESS(F, Int8, "1")                                                                             \
    FMI3_ACCESS(F, UInt8, "1")                                                                            \
    FMI3_ACCESS(F, Int16, "2")                                                                            \
    FMI3_ACCESS(F, UInt16, "2")                                                                           \
    FMI3_ACCESS(F, Int32, "4")                                                                            \
    FMI3_ACCESS(F, UInt32, "4")                                                                           \
    FMI3_ACCESS(F, Int64, "8")                                                                            \
    FMI3_ACCESS(F, UInt64, "8")                                                                           \
    FMI3_ACCESS(F, Boolean, "1")                                                                          \
    F(fmi3GetString, "h<4pzTqz")                                                                          \
    F(fmi3SetString, "h<4pzSqz")                                                                          \
    F(fmi3GetBinary, "h<4pz>8qCqz")                                                                       \
    F(fmi3SetBinary, "h<4pz<8qBqz")                                                                       \
    F(fmi3GetClock, "h<4pz>1p")                                                                           \
    F(fmi3SetClock, "h<4pz<1p")                                                                           \
    F(fmi3GetIntervalDecimal, "h<4pz>8p>4p")                                                              \
    F(fmi3GetIntervalFraction, "h<4pz>8p>8p>4p")                                                          \
    F(fmi3UpdateDiscreteStates, "h>11>11>11>11>11>81")                                                    \
    F(fmi3GetFMUState, "h=81")                                                                            \
    F(fmi3SetFMUState, "hh")                                                                              \
    F(fmi3FreeFMUState, "h=81")                                                                           \
    F(fmi3SerializedFMUStateSize, "hh>81")                                                                \
    F(fmi3SerializeFMUState, "hh>1pz")                                                                    \
    F(fmi3DeserializeFMUState, "h<1pz=81")                                                                \
    F(fmi3GetDirectionalDerivative, "h<4pz<4qz<8rz>8sz")                                                  \
    F(fmi3GetAdjointDerivative, "h<4pz<4qz<8rz>8sz")                                                      \
    F(fmi3DoStep, "hddb=11=11=11=81")                                                                     \
    F(fmi3CompletedIntegratorStep, "hb>11>11")                                                            \
    F(fmi3SetTime, "hd")                                                                                  \
    F(fmi3SetContinuousStates, "h<8pz")                                                                   \
    F(fmi3GetContinuousStates, "h>8pz")                                                                   \
    F(fmi3GetNominalsOfContinuousStates, "h>8pz")                                                         \
    F(fmi3GetContinuousStateDerivatives, "h>8pz")                                                         \
    F(fmi3GetEventIndicators, "h>8pz")                                                                    \
    F(fmi3GetNumberOfContinuousStates, "h>81")                                                            \
    F(fmi3GetNumberOfEventIndicators, "h>81")

enum {
#define INDEX(name, form) index_##name,
    FUNCTIONS(INDEX)
#undef INDEX
    FUNCTION_COUNT
};

typedef struct {
    const char *name, *form;
} Function;

static const Function functions[] = {
#define ENTRY(name, form) {#name, form},
    FUNCTIONS(ENTRY)
#undef ENTRY
};

#define MOST_ARGUMENTS 16
#define EVENT_2 32
#define NO_TEXT UINT32_MAX

/* One argument of a form. */
typedef struct {
    char kind;       /* a letter of the form */
    size_t size;     /* of an element */
    int count_of;    /* which count among the arguments, or -1 */
    size_t count;    /* or so many */
} Argument;

static inline size_t read_form(const char *form, Argument *arguments) {
    size_t n = 0;
    while (*form) {
        Argument *a = &arguments[n++];
        a->kind = *form++;
        a->size = 8;
        a->count_of = -1;
        a->count = 1;
        if (a->kind == '<' || a->kind == '>' || a->kind == '=') a->size = (size_t)(*form++ - '0');
        if (a->kind == '<' || a->kind == '>' || a->kind == '=' || a->kind == 'S' || a->kind == 'T' ||
            a->kind == 'B' || a->kind == 'C') {
            if (*form >= 'p' && *form <= 's') a->count_of = *form - 'p';
            else a->count = (size_t)(*form - '0');
            form++;
        }
        if (a->kind == 'E') {
            a->kind = '=';
            a->size = EVENT_2;
        }
    }
    return n;
}

/* How many elements arrays have: counts are among the arguments. */
static inline void resolve_counts(Argument *arguments, size_t n, const uint64_t *values) {
    uint64_t counts[4] = {0};
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (arguments[i].kind == 'z' && found < 4) counts[found++] = values[i];
    for (size_t i = 0; i < n; i++)
        if (arguments[i].count_of >= 0) arguments[i].count = (size_t)counts[arguments[i].count_of];
}

/* Bytes that grow. */
typedef struct {
    unsigned char *data;
    size_t size, room, place;
} Bytes;

int need(Bytes *bytes, size_t more);
int put(Bytes *bytes, const void *data, size_t size);
int take(Bytes *bytes, void *data, size_t size);

#endif

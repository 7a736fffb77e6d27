/* How a function of the standard is answered by another file. The file that includes it says what a function begins
 * with (FMI_EXPORT), what it answers with (FMI_STATUS), and the answer that is an error (FMI_ERROR). */
#ifndef HANDS_ON_H
#define HANDS_ON_H
#include "instance.h"

/* Of an instance that is none, nothing can be said. */
#define INSTANCE(given) \
    Instance *instance = given; \
    if (instance == NULL) return FMI_ERROR

static FMI_STATUS answer(Status status) { return (FMI_STATUS)status; }

/* The answer finds its `instance` and the function's own name as `function`. */
#define HANDS_ON(name, parameters, call) \
    FMI_EXPORT FMI_STATUS name parameters \
    { \
        const char *function = #name; \
        INSTANCE(given); \
        return answer(call); \
    }
#endif

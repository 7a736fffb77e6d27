/* y = u + the number in the file `number` among the resources; strings are NULL; log messages are not UTF-8.

It needs the memory functions of the environment, and passes NULL for texts of log messages. */
#define REALS 2
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#define THEIR_MEMORY
#define OWN_GET_STRING                                                                                      \
    EXPORT fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference *vr, size_t n, fmi2String *v) { \
        size_t j;                                                                                           \
        for (j = 0; j < n; j++) v[j] = NULL;                                                                \
        return fmi2OK;                                                                                      \
    }
#include "fmi2_slave.h"

enum { Y, U };

static void model_start(Data *d) { (void)d; }
static void model_outputs(Data *d) { (void)d; }

/* The number in a file of the folder at a URI, in which %20 and other escapes stand for bytes. */
static double number(const char *uri) {
    char path[2 * TEXT];
    int value = 0;
    size_t n = 0;
    const char *from = strncmp(uri, "file://", 7) == 0 ? uri + 7 : uri;
    FILE *file;
    for (; *from; from++) {
        unsigned byte;
        if (*from == '%' && sscanf(from + 1, "%2x", &byte) == 1) {
            path[n++] = (char)byte;
            from += 2;
        } else {
            path[n++] = *from;
        }
    }
    strcpy(path + n, "/number");
    file = fopen(path, "r");
    if (file == NULL) return -1.0;
    if (fscanf(file, "%d", &value) != 1) value = -1;
    fclose(file);
    return value;
}
static fmi2Status model_step(Slave *slave, double time, double size) {
    Data *d = &slave->data;
    d->r[Y] = d->r[U] + number(slave->resources);
    slave->callbacks.logger(slave->callbacks.componentEnvironment, NULL, fmi2Warning, NULL, "caf\xe9 100%% \xff %s", "x");
    d->time = time + size;
    if (d->r[U] > 1.0) {
        slave->callbacks.logger(slave->callbacks.componentEnvironment, slave->name, fmi2Error, NULL, "na\xefve");
        return fmi2Error;
    }
    return fmi2Warning;
}

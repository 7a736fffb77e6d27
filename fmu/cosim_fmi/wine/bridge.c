/* A library for Linux with the functions of FMI, each of which is called in a process under wine.
 *
 * cosim starts that process and calls `bridge_open` with the handle of a socket to it. A call goes there as
 * the number of the function and its arguments (`functions.h`); back come the result, what was logged, and
 * the arguments that the function writes. Where the process has ended, every call fails (fatal).
 */
#include "functions.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))
#define FATAL 4
#define MOST_INSTANCES 1024

typedef int64_t Word;
typedef void (*Logger2)(void *, const char *, int, const char *, const char *, ...);
typedef void (*Logger3)(void *, int, const char *, const char *);

/* fmi2CallbackFunctions */
typedef struct {
    Logger2 logger;
    void *allocate, *free, *step_finished, *environment;
} Callbacks2;

typedef struct {
    uint64_t handle;
    Logger2 logger2;
    Logger3 logger3;
    void *environment;
    char name[256];
} Instance;

static int connection = -1;
static Instance instances[MOST_INSTANCES];
static Instance starting; /* while it is instantiated */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Bytes request, reply;
static Bytes texts; /* what the last function of an instance has handed out */
static unsigned char exported[FUNCTION_COUNT];

static int write_all(const unsigned char *data, size_t size) {
    while (size) {
        ssize_t n = write(connection, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        data += n;
        size -= (size_t)n;
    }
    return 1;
}

static int read_all(unsigned char *data, size_t size) {
    while (size) {
        ssize_t n = read(connection, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        data += n;
        size -= (size_t)n;
    }
    return 1;
}

static int receive(Bytes *bytes) {
    uint32_t size;
    bytes->size = bytes->place = 0;
    if (!read_all((unsigned char *)&size, sizeof size) || !need(bytes, size)) return 0;
    if (!read_all(bytes->data, size)) return 0;
    bytes->size = size;
    return 1;
}

/* The process has to be there, and says which functions the FMU has: "" or why its library is not loaded. */
EXPORT const char *bridge_open(int handle) {
    static char why[512];
    uint32_t length = 0;
    connection = handle;
    if (!receive(&reply) || !take(&reply, exported, sizeof exported) ||
        !take(&reply, &length, sizeof length) || length >= sizeof why || !take(&reply, why, length)) {
        connection = -1;
        return "the process under wine has ended before it had loaded the library";
    }
    why[length] = 0;
    return why;
}

/* Whether the FMU's library exports a function. */
EXPORT int bridge_has(const char *name) {
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0) return exported[i];
    return 0;
}

static Instance *instance_of(uint64_t handle) {
    for (int i = 0; i < MOST_INSTANCES; i++)
        if (instances[i].handle == handle) return &instances[i];
    return NULL;
}

static void log_text(const Instance *who, int status, const char *category, const char *text) {
    if (who == NULL) return;
    if (who->logger3) who->logger3(who->environment, status, category, text);
    if (who->logger2) who->logger2(who->environment, who->name, status, category, "%s", text);
}

static int put_text(Bytes *bytes, const char *text) {
    uint32_t length = text ? (uint32_t)strlen(text) : NO_TEXT;
    return put(bytes, &length, sizeof length) && (!text || put(bytes, text, length));
}

/* A path of Linux as wine has it: the root is drive Z. */
static int put_path(Bytes *bytes, const char *text) {
    char path[4200];
    if (text && strncmp(text, "file:///", 8) == 0) snprintf(path, sizeof path, "file:///Z:/%s", text + 8);
    else if (text && text[0] == '/') snprintf(path, sizeof path, "Z:%s", text);
    else return put_text(bytes, text);
    return put_text(bytes, path);
}

/* A text of the reply, in memory that lives until texts are handed out again. */
static int take_text(Bytes *bytes, size_t *place) {
    uint32_t length;
    if (!take(bytes, &length, sizeof length)) return 0;
    if (length == NO_TEXT) {
        *place = SIZE_MAX;
        return 1;
    }
    *place = texts.size;
    if (length > bytes->size - bytes->place || !need(&texts, (size_t)length + 1)) return 0;
    take(bytes, texts.data + texts.size, length);
    texts.data[texts.size + length] = 0;
    texts.size += (size_t)length + 1;
    return 1;
}

static int take_logs(const Instance *who) {
    uint32_t count;
    if (!take(&reply, &count, sizeof count)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        int32_t status;
        size_t category, text;
        texts.size = 0;
        if (!take(&reply, &status, sizeof status) || !take_text(&reply, &category) ||
            !take_text(&reply, &text))
            return 0;
        log_text(who, status, category == SIZE_MAX ? "" : (char *)texts.data + category,
                 text == SIZE_MAX ? "" : (char *)texts.data + text);
    }
    texts.size = 0;
    return 1;
}

static int put_arguments(int index, const Argument *arguments, size_t n, const uint64_t *values) {
    uint16_t number = (uint16_t)index;
    uint32_t size = 0;
    request.size = 0;
    if (!put(&request, &size, sizeof size) || !put(&request, &number, sizeof number)) return 0;
    for (size_t i = 0; i < n; i++) /* counts first: they stand behind their arrays */
        if (arguments[i].kind == 'z' && !put(&request, &values[i], sizeof values[i])) return 0;
    for (size_t i = 0; i < n; i++) {
        const Argument *a = &arguments[i];
        const void *at = (const void *)(uintptr_t)values[i];
        int ok = 1;
        if (a->kind == 'z') continue;
        if (a->kind == 's') {
            ok = put_path(&request, at);
        } else if (a->kind == '<' || a->kind == '=') {
            unsigned char there = at != NULL;
            ok = put(&request, &there, 1) && (!there || put(&request, at, a->size * a->count));
        } else if (a->kind == '>') {
            unsigned char there = at != NULL;
            ok = put(&request, &there, 1);
        } else if (a->kind == 'S') {
            for (size_t k = 0; ok && k < a->count; k++) ok = put_text(&request, ((const char *const *)at)[k]);
        } else if (a->kind == 'B') {
            const size_t *sizes = (const size_t *)(uintptr_t)values[i - 1];
            for (size_t k = 0; ok && k < a->count; k++)
                ok = put(&request, ((const unsigned char *const *)at)[k], sizes[k]);
        } else if (a->kind != 'T' && a->kind != 'C') {
            ok = put(&request, &values[i], sizeof values[i]);
        }
        if (!ok) return 0;
    }
    if (request.size - sizeof size > UINT32_MAX) return 0;
    size = (uint32_t)(request.size - sizeof size);
    memcpy(request.data, &size, sizeof size);
    return 1;
}

static int take_arguments(const Argument *arguments, size_t n, const uint64_t *values) {
    size_t places = 0;
    for (size_t i = 0; i < n; i++)
        if (arguments[i].kind == 'T' || arguments[i].kind == 'C') places += arguments[i].count;
    size_t *found = places ? calloc(places, sizeof *found) : NULL, at_place = 0;
    int ok = !places || found != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        const Argument *a = &arguments[i];
        void *at = (void *)(uintptr_t)values[i];
        if ((a->kind == '>' || a->kind == '=') && at != NULL) {
            ok = take(&reply, at, a->size * a->count);
        } else if (a->kind == 'T' || a->kind == 'C') {
            for (size_t k = 0; ok && k < a->count; k++) ok = take_text(&reply, &found[at_place++]);
        }
    }
    at_place = 0;
    for (size_t i = 0; ok && i < n; i++)
        if (arguments[i].kind == 'T' || arguments[i].kind == 'C')
            for (size_t k = 0; k < arguments[i].count; k++, at_place++)
                ((void **)(uintptr_t)values[i])[k] =
                    found[at_place] == SIZE_MAX ? NULL : texts.data + found[at_place];
    free(found);
    return ok;
}

/* What instantiating answers is kept: where messages of the instance go. */
static void begin_instance(int index, const uint64_t *values) {
    memset(&starting, 0, sizeof starting);
    if (index == index_fmi2Instantiate) {
        const Callbacks2 *callbacks = (const Callbacks2 *)(uintptr_t)values[4];
        if (callbacks) {
            starting.logger2 = callbacks->logger;
            starting.environment = callbacks->environment;
        }
    } else {
        size_t environment = index == index_fmi3InstantiateModelExchange ? 5 : 9;
        starting.environment = (void *)(uintptr_t)values[environment];
        starting.logger3 = (Logger3)(uintptr_t)values[environment + 1];
    }
    if (values[0]) snprintf(starting.name, sizeof starting.name, "%s", (const char *)(uintptr_t)values[0]);
}

static uint64_t call_there(int index, const Word *words, const double *reals) {
    Argument arguments[MOST_ARGUMENTS];
    uint64_t values[MOST_ARGUMENTS];
    size_t n = read_form(functions[index].form, arguments), word = 0, real = 0;
    for (size_t i = 0; i < n; i++) {
        if (arguments[i].kind == 'd') memcpy(&values[i], &reals[real++], sizeof values[i]);
        else values[i] = (uint64_t)words[word++];
        if (arguments[i].kind == 'i') values[i] = (uint64_t)(int64_t)(int32_t)values[i];
        if (arguments[i].kind == 'b') values[i] = (uint64_t)(int64_t)(int8_t)values[i];
    }
    resolve_counts(arguments, n, values);
    int begins = index == index_fmi2Instantiate || index == index_fmi3InstantiateCoSimulation ||
                 index == index_fmi3InstantiateModelExchange;
    int is_text = index == index_fmi2GetVersion || index == index_fmi2GetTypesPlatform ||
                  index == index_fmi3GetVersion;
    if (begins) begin_instance(index, values);
    const Instance *who = begins ? &starting : n && !is_text ? instance_of(values[0]) : NULL;
    uint64_t result = begins || is_text ? 0 : FATAL;
    if (connection < 0 || !put_arguments(index, arguments, n, values) ||
        !write_all(request.data, request.size) || !receive(&reply) || !take(&reply, &result, sizeof result)) {
        connection = -1;
        log_text(who, FATAL, "logStatusFatal", "the process of the FMU under wine has ended");
        return begins || is_text ? 0 : FATAL;
    }
    size_t place;
    if (!take_logs(who) || !take_arguments(arguments, n, values)) return begins || is_text ? 0 : FATAL;
    if (is_text) result = take_text(&reply, &place) && place != SIZE_MAX ? (uint64_t)(uintptr_t)(texts.data + place) : 0;
    if (begins && result) {
        Instance *free_one = instance_of(0);
        starting.handle = result;
        if (free_one) *free_one = starting;
    }
    if ((index == index_fmi2FreeInstance || index == index_fmi3FreeInstance) && n) {
        Instance *known = instance_of(values[0]);
        if (known && values[0]) memset(known, 0, sizeof *known);
    }
    return result;
}

static uint64_t call_locked(int index, const Word *words, const double *reals) {
    pthread_mutex_lock(&lock);
    uint64_t result = call_there(index, words, reals);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Integers and reals arrive in registers of their own, and from the seventh integer on the stack. */
#define STUB(name, form)                                                                                  \
    EXPORT uint64_t name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j,  \
                         Word k, Word l, double x, double y, double z) {                                  \
        const Word words[] = {a, b, c, d, e, f, g, h, i, j, k, l};                                        \
        const double reals[] = {x, y, z};                                                                 \
        return call_locked(index_##name, words, reals);                                                   \
    }
FUNCTIONS(STUB)

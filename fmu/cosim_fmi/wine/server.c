/* A program for Windows: it loads the library of an FMU and calls its functions for another process.
 *
 * The first argument is the path of the library. Calls come on the standard input, and answers go to the
 * standard output; what they are, `bridge.c` says. It ends when the input does.
 */
#include "functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>
#include <io.h>

#define MOST_MESSAGE 4096

typedef void (*Logger2)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger2 logger;
    void *(*allocate)(size_t, size_t);
    void (*free)(void *);
    void *step_finished, *environment;
} Callbacks2;

static HANDLE in, out;
static FARPROC found[FUNCTION_COUNT];
static Bytes request, reply, logs, kept[MOST_ARGUMENTS];
static uint32_t log_count;

static int read_all(void *data, DWORD size) {
    unsigned char *at = data;
    while (size) {
        DWORD n = 0;
        if (!ReadFile(in, at, size, &n, NULL) || n == 0) return 0;
        at += n;
        size -= n;
    }
    return 1;
}

static int write_all(const void *data, size_t size) {
    const unsigned char *at = data;
    while (size) {
        DWORD n = 0;
        if (!WriteFile(out, at, size > 1u << 30 ? 1u << 30 : (DWORD)size, &n, NULL) || n == 0) return 0;
        at += n;
        size -= n;
    }
    return 1;
}

static int put_text(Bytes *bytes, const char *text) {
    uint32_t length = text ? (uint32_t)strlen(text) : NO_TEXT;
    return put(bytes, &length, sizeof length) && (!text || put(bytes, text, length));
}

static void note(int status, const char *category, const char *text) {
    int32_t number = status;
    put(&logs, &number, sizeof number);
    put_text(&logs, category ? category : "");
    put_text(&logs, text ? text : "");
    log_count++;
}

static void log2_(void *who, const char *name, int status, const char *category, const char *text, ...) {
    char message[MOST_MESSAGE];
    va_list more;
    va_start(more, text);
    vsnprintf(message, sizeof message, text ? text : "", more);
    va_end(more);
    (void)who;
    (void)name;
    note(status, category, message);
}

static void log3(void *who, int status, const char *category, const char *text) {
    (void)who;
    note(status, category, text);
}

static const Callbacks2 callbacks = {log2_, calloc, free, NULL, NULL};

/* Arguments as they are called with: arrays lie in `kept`. */
static int take_arguments(Argument *arguments, size_t n, uint64_t *values) {
    for (size_t i = 0; i < n; i++) /* counts come first */
        if (arguments[i].kind == 'z' && !take(&request, &values[i], sizeof values[i])) return 0;
    resolve_counts(arguments, n, values);
    for (size_t i = 0; i < n; i++) {
        Argument *a = &arguments[i];
        kept[i].size = 0;
        if (a->kind == 'z') continue;
        if (a->kind == '<' || a->kind == '=' || a->kind == '>') {
            unsigned char there;
            if (!take(&request, &there, 1)) return 0;
            size_t size = a->size * a->count;
            if (!need(&kept[i], size + 8)) return 0;
            memset(kept[i].data, 0, size + 8);
            if (there && a->kind != '>' && !take(&request, kept[i].data, size)) return 0;
            values[i] = there ? (uint64_t)(uintptr_t)kept[i].data : 0;
            a->count = there ? a->count : 0;
        } else if (a->kind == 's' || a->kind == 'S' || a->kind == 'B') {
            size_t count = a->kind == 's' ? 1 : a->count;
            size_t *places = calloc(count + 1, sizeof *places);
            if (!places) return 0;
            const size_t *sizes = a->kind == 'B' ? (const size_t *)(uintptr_t)values[i - 1] : NULL;
            kept[i].size = (count + 1) * sizeof(char *);
            if (!need(&kept[i], 0)) return 0;
            for (size_t k = 0; k < count; k++) {
                uint32_t length = sizes ? (uint32_t)sizes[k] : 0;
                if (!sizes && !take(&request, &length, sizeof length)) return 0;
                if (!sizes && length == NO_TEXT) continue;
                if (length > request.size - request.place || !need(&kept[i], (size_t)length + 1)) return 0;
                places[k] = kept[i].size;
                take(&request, kept[i].data + kept[i].size, length);
                kept[i].data[kept[i].size + length] = 0;
                kept[i].size += (size_t)length + 1;
            }
            for (size_t k = 0; k < count; k++)
                ((char **)kept[i].data)[k] = places[k] ? (char *)kept[i].data + places[k] : NULL;
            values[i] = a->kind == 's' ? (uint64_t)(uintptr_t)((char **)kept[i].data)[0]
                                       : (uint64_t)(uintptr_t)kept[i].data;
            free(places);
        } else if (a->kind == 'T' || a->kind == 'C') {
            if (!need(&kept[i], (a->count + 1) * sizeof(char *))) return 0;
            memset(kept[i].data, 0, (a->count + 1) * sizeof(char *));
            values[i] = (uint64_t)(uintptr_t)kept[i].data;
        } else if (!take(&request, &values[i], sizeof values[i])) {
            return 0;
        }
    }
    return 1;
}

static int put_results(const Argument *arguments, size_t n, const uint64_t *values) {
    for (size_t i = 0; i < n; i++) {
        const Argument *a = &arguments[i];
        const void *at = (const void *)(uintptr_t)values[i];
        if ((a->kind == '>' || a->kind == '=') && at && !put(&reply, at, a->size * a->count)) return 0;
        if (a->kind == 'T')
            for (size_t k = 0; k < a->count; k++)
                if (!put_text(&reply, ((const char *const *)at)[k])) return 0;
        if (a->kind == 'C') {
            const size_t *sizes = (const size_t *)(uintptr_t)values[i - 1];
            for (size_t k = 0; k < a->count; k++) {
                const void *data = ((const void *const *)at)[k];
                uint32_t length = data ? (uint32_t)sizes[k] : NO_TEXT;
                if (!put(&reply, &length, sizeof length) || (data && !put(&reply, data, length))) return 0;
            }
        }
    }
    return 1;
}

typedef uint64_t W;
#define R(i) real(v[i])
static double real(W bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Windows hands arguments over by their place: which of them are reals decides how a function is called. */
static W call(FARPROC f, const char *form, const W *v) {
    if (strncmp(form, "hiddid", 6) == 0 || strncmp(form, "hbddbd", 6) == 0)
        return ((W(*)(W, W, double, double, W, double))f)(v[0], v[1], R(2), R(3), v[4], R(5));
    if (strncmp(form, "hdd", 3) == 0)
        return ((W(*)(W, double, double, W, W, W, W, W))f)(v[0], R(1), R(2), v[3], v[4], v[5], v[6], v[7]);
    if (strcmp(form, "hd") == 0) return ((W(*)(W, double))f)(v[0], R(1));
    return ((W(*)(W, W, W, W, W, W, W, W, W, W, W, W))f)(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7],
                                                           v[8], v[9], v[10], v[11]);
}

static int answer(void) {
    Argument arguments[MOST_ARGUMENTS];
    W values[MOST_ARGUMENTS] = {0};
    uint16_t index;
    if (!take(&request, &index, sizeof index) || index >= FUNCTION_COUNT) return 0;
    const char *form = functions[index].form;
    size_t n = read_form(form, arguments);
    if (!take_arguments(arguments, n, values)) return 0;
    if (index == index_fmi2Instantiate) values[4] = (W)(uintptr_t)&callbacks;
    if (index == index_fmi3InstantiateModelExchange) values[6] = (W)(uintptr_t)log3;
    if (index == index_fmi3InstantiateCoSimulation) {
        values[10] = (W)(uintptr_t)log3;
        values[11] = 0;
    }
    logs.size = 0;
    log_count = 0;
    W result = found[index] ? call(found[index], form, values) : 3;
    int is_pointer = index == index_fmi2Instantiate || index == index_fmi3InstantiateModelExchange ||
                     index == index_fmi3InstantiateCoSimulation;
    int is_text = index == index_fmi2GetVersion || index == index_fmi2GetTypesPlatform ||
                  index == index_fmi3GetVersion;
    const char *text = is_text ? (const char *)(uintptr_t)result : NULL;
    if (!is_pointer) result = is_text ? 0 : (W)(uint32_t)result;
    uint32_t size = 0;
    reply.size = 0;
    if (!put(&reply, &size, sizeof size) || !put(&reply, &result, sizeof result) ||
        !put(&reply, &log_count, sizeof log_count) || !put(&reply, logs.data, logs.size) ||
        !put_results(arguments, n, values) || (is_text && !put_text(&reply, text)))
        return 0;
    size = (uint32_t)(reply.size - sizeof size);
    memcpy(reply.data, &size, sizeof size);
    return write_all(reply.data, reply.size);
}

static HANDLE own_copy(DWORD which) {
    HANDLE copy = INVALID_HANDLE_VALUE, self = GetCurrentProcess();
    DuplicateHandle(self, GetStdHandle(which), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
    return copy;
}

static void load(const char *path) {
    unsigned char has[FUNCTION_COUNT] = {0};
    char why[256] = "";
    HMODULE library = LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (library == NULL) snprintf(why, sizeof why, "Windows cannot load it (error %lu)", GetLastError());
    for (int i = 0; library && i < FUNCTION_COUNT; i++) {
        found[i] = GetProcAddress(library, functions[i].name);
        has[i] = found[i] != NULL;
    }
    uint32_t length = (uint32_t)strlen(why), size = (uint32_t)(sizeof has + sizeof length + length);
    reply.size = 0;
    put(&reply, &size, sizeof size);
    put(&reply, has, sizeof has);
    put(&reply, &length, sizeof length);
    put(&reply, why, length);
    write_all(reply.data, reply.size);
}

int main(int count, char **words) {
    if (count < 2) return 2;
    in = own_copy(STD_INPUT_HANDLE);
    out = own_copy(STD_OUTPUT_HANDLE);
    SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE)); /* what an FMU prints */
    _dup2(2, 1);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    load(words[1]);
    for (;;) {
        uint32_t size;
        request.size = request.place = 0;
        if (!read_all(&size, sizeof size)) return 0;
        if (!need(&request, size) || !read_all(request.data, size)) return 1;
        request.size = size;
        if (!answer()) return 1;
    }
}

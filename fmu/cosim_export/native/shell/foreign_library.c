/* The libraries of FMUs of others: found for this platform, loaded, and closed. */
#include "foreign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
/* windows.h gives names of ours to types of its own. */
__declspec(dllimport) void *LoadLibraryA(const char *path);
__declspec(dllimport) int FreeLibrary(void *library);
__declspec(dllimport) void *GetProcAddress(void *library, const char *name);
#define open_library(path) LoadLibraryA(path)
#define close_library(library) ((void)FreeLibrary(library))
#define SYSTEM "windows"
#define PLACE "win64"
#define SUFFIX ".dll"
static void *symbol_of(void *library, const char *name) { return GetProcAddress(library, name); }
#else
#include <dlfcn.h>
#define open_library(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#define close_library(library) ((void)dlclose(library))
#ifdef __APPLE__
#define SYSTEM "darwin"
#define PLACE "darwin64"
#define SUFFIX ".dylib"
#elif defined(__aarch64__)
#define SYSTEM "linux"
#define PLACE "aarch64-linux"
#define SUFFIX ".so"
#else
#define SYSTEM "linux"
#define PLACE "linux64"
#define SUFFIX ".so"
#endif
static void *symbol_of(void *library, const char *name) { return dlsym(library, name); }
#endif
#ifdef __aarch64__
#define PLACE_3 "aarch64-" SYSTEM
#else
#define PLACE_3 "x86_64-" SYSTEM
#endif

/* FMUs may change how sums are rounded, and so the numbers of all others. */
void round_as_before(const Foreign *foreign)
{
    const Rounding *rounding = &foreign->rounding;
    int64_t nothing;
    if (rounding->set_at != 0) (void)cosim_round_as_before(&nothing, (int64_t)(intptr_t)rounding);
}

static void note_rounding(Foreign *foreign)
{
    static const double sums[SUM_COUNT] = ROUNDING_SUMS;
    Rounding *rounding = &foreign->rounding;
    if (fegetenv(&rounding->environment) != 0) return;
    memcpy(rounding->sums, sums, sizeof sums);
    rounding->set_at = (int64_t)(intptr_t)fesetenv;
    rounding->environment_at = (int64_t)(intptr_t)&rounding->environment;
}

/* An address of data is that of a function, as POSIX and Windows have it. */
int find_function(Foreign *foreign, const char *name, void *place)
{
    void *address = symbol_of(foreign->library, name);
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

/* The folder that FMI 2.0 gives as "file:///…", and FMI 3.0 as it is. */
static void path_of(const char *resources, char *path, size_t size)
{
    size_t used = 0;
    int is_uri = strncmp(resources, "file:", 5) == 0;
    if (is_uri) {
        resources += 5;
        if (strncmp(resources, "//", 2) == 0) resources += 2;
#ifdef _WIN32
        if (resources[0] == '/') resources++;
#endif
    }
    for (; *resources != '\0' && used + 1 < size; resources++) {
        unsigned code;
        if (is_uri && resources[0] == '%' && sscanf(resources + 1, "%2x", &code) == 1) {
            path[used++] = (char)code;
            resources += 2;
        } else
            path[used++] = *resources;
    }
    while (used > 0 && (path[used - 1] == '/' || path[used - 1] == '\\')) used--;
    path[used] = '\0';
}

Foreign *foreign_at(const Array *arrays, int64_t i)
{
    void *const *place = arrays == NULL ? NULL : arrays[FOREIGN].data;
    return place == NULL || *place == NULL ? NULL : (Foreign *)*place + i;
}

static int open_one(Instance *instance, const char *function, Foreign *foreign, const char *folder)
{
    const ForeignUnit *unit = foreign->of->foreign;
    char path[LONGEST_PATH];
    int used = snprintf(path, sizeof path, "%s/%s/binaries/%s/%s%s", folder, unit->folder,
                        unit->version == 3 ? PLACE_3 : PLACE, unit->identifier, SUFFIX);
    int spent = snprintf(foreign->resources, sizeof foreign->resources, "%s/%s/resources", folder, unit->folder);
    foreign->calls = unit->version == 3 ? &cosim_fmi3_calls : &cosim_fmi2_calls;
    if (used < 0 || spent < 0 || used >= LONGEST_PATH || spent >= LONGEST_PATH) {
        (void)refuse(instance, function, "%s: the path to the resources is too long", foreign->of->name);
        return 0;
    }
    foreign->written = unit->discrete_count == 0 ? NULL : malloc((size_t)unit->discrete_count * sizeof(double));
    if (unit->discrete_count != 0 && foreign->written == NULL) {
        (void)refuse(instance, function, "there is no memory");
        return 0;
    }
    if (unit->inside_count != 0) {
        foreign->bases = calloc((size_t)unit->input_count + 1, sizeof(double));
        foreign->slopes = calloc((size_t)unit->input_count + 1, sizeof(double));
        if (foreign->bases == NULL || foreign->slopes == NULL) {
            (void)refuse(instance, function, "there is no memory");
            return 0;
        }
    }
    foreign->library = open_library(path);
    round_as_before(foreign);
    if (foreign->library == NULL || !foreign->calls->find_functions(foreign)) {
        (void)refuse(instance, function, "%s: %s cannot be loaded, or lacks functions of FMI %d.0 Co-Simulation",
                     foreign->of->name, path, (int)unit->version);
        return 0;
    }
    return 1;
}

void free_one(Foreign *foreign)
{
    if (foreign->component == NULL) return;
    foreign->message = NULL;
    delete_state(foreign, &foreign->state);
    foreign->calls->end(foreign, foreign->mode == IS_STEPPING);
    foreign->component = NULL;
    foreign->mode = IS_CLOSED;
}

static void close_all(Foreign *all)
{
    for (int64_t i = 0; i < cosim_container.member_count; i++) {
        if (all[i].library != NULL) {
            free_one(&all[i]);
            close_library(all[i].library);
            round_as_before(&all[i]);
        }
        free(all[i].functions);
        free(all[i].written);
        free(all[i].bases);
        free(all[i].slopes);
    }
    free(all);
}

/* Both sets of arrays have the address. */
int foreign_open(Instance *instance, const char *function, const char *resources)
{
    const Container *container = &cosim_container;
    Foreign *all = calloc((size_t)container->member_count, sizeof *all);
    void **places[] = {malloc(sizeof(void *)), malloc(sizeof(void *))};
    char folder[LONGEST_PATH];
    instance->arrays[FOREIGN].data = places[0];
    instance->spare[FOREIGN].data = places[1];
    if (places[0] != NULL) *places[0] = NULL;
    if (all == NULL || places[0] == NULL || places[1] == NULL || resources == NULL) {
        (void)refuse(instance, function, resources == NULL ? "the resources are not given" : "there is no memory");
        free(all);
        return 0;
    }
    *places[0] = *places[1] = all;
    path_of(resources, folder, sizeof folder);
    for (int64_t i = 0; i < container->member_count; i++) {
        all[i].of = &container->members[i];
        note_rounding(&all[i]);
    }
    for (int64_t i = 0; i < container->member_count; i++) {
        if (all[i].of->foreign != NULL && !open_one(instance, function, &all[i], folder)) return 0;
    }
    return 1;
}

void foreign_close(Instance *instance)
{
    Foreign *all = foreign_at(instance->arrays, 0);
    if (all != NULL) close_all(all);
}

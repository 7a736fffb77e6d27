/* FMUs of others: loaded, made, and called by the interpreter of exchanges through functions of C of one form. */
#include "container.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi2.h"

#ifdef _WIN32
/* windows.h gives names of ours to types of its own. */
__declspec(dllimport) void *LoadLibraryA(const char *path);
__declspec(dllimport) int FreeLibrary(void *library);
__declspec(dllimport) void *GetProcAddress(void *library, const char *name);
#define open_library(path) LoadLibraryA(path)
#define close_library(library) ((void)FreeLibrary(library))
#define PLACE "win64"
#define SUFFIX ".dll"
static void *symbol_of(void *library, const char *name) { return GetProcAddress(library, name); }
#else
#include <dlfcn.h>
#define open_library(path) dlopen(path, RTLD_NOW | RTLD_LOCAL)
#define close_library(library) ((void)dlclose(library))
#ifdef __APPLE__
#define PLACE "darwin64"
#define SUFFIX ".dylib"
#elif defined(__aarch64__)
#define PLACE "aarch64-linux"
#define SUFFIX ".so"
#else
#define PLACE "linux64"
#define SUFFIX ".so"
#endif
static void *symbol_of(void *library, const char *name) { return dlsym(library, name); }
#endif

enum { LONGEST_PATH = 4096 };

/* Modes of an instance. */
enum { IS_CLOSED, IS_MADE, IS_INITIALIZING, IS_STEPPING };

typedef fmi2Status GetReals(fmi2Component, const fmi2ValueReference[], size_t, fmi2Real[]);
typedef fmi2Status GetIntegers(fmi2Component, const fmi2ValueReference[], size_t, fmi2Integer[]);
typedef fmi2Status SetReals(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Real[]);
typedef fmi2Status SetIntegers(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Integer[]);

typedef struct {
    const Member *of;
    void *library;
    fmi2Component component;
    int64_t mode;
    int64_t ended;
    fmi2FMUstate state; /* that an algorithm goes back to */
    char *message;      /* what it logs of an error goes there */
    ExchangeReport *report;
    char resources[LONGEST_PATH];
    fmi2CallbackFunctions callbacks;
    fmi2Component (*instantiate)(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *, fmi2Boolean,
                                 fmi2Boolean);
    void (*free_instance)(fmi2Component);
    fmi2Status (*setup)(fmi2Component, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
    fmi2Status (*enter)(fmi2Component);
    fmi2Status (*exit)(fmi2Component);
    fmi2Status (*terminate)(fmi2Component);
    fmi2Status (*step)(fmi2Component, fmi2Real, fmi2Real, fmi2Boolean);
    fmi2Status (*boolean_status)(fmi2Component, fmi2StatusKind, fmi2Boolean *);
    fmi2Status (*slopes)(fmi2Component, const fmi2ValueReference[], size_t, const fmi2Integer[], const fmi2Real[]);
    fmi2Status (*get_state)(fmi2Component, fmi2FMUstate *);
    fmi2Status (*set_state)(fmi2Component, fmi2FMUstate);
    fmi2Status (*free_state)(fmi2Component, fmi2FMUstate *);
    GetReals *get_reals;
    SetReals *set_reals;
    GetIntegers *get_integers, *get_booleans;
    SetIntegers *set_integers, *set_booleans;
} Foreign;

static void *pointer(int64_t address) { return (void *)(intptr_t)address; }

static Status is_good(fmi2Status status) { return status <= fmi2Warning ? OK : status == fmi2Discard ? DISCARD : ERROR; }

static void log_error(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                       fmi2String format, ...)
{
    Foreign *foreign = environment;
    va_list arguments;
    int used;
    (void)name;
    (void)category;
    if (status < fmi2Error || foreign->message == NULL || foreign->message[0] != '\0') return;
    used = snprintf(foreign->message, MESSAGE_WORDS * ITEM, "%s: ", foreign->of->name);
    if (used < 0) return;
    va_start(arguments, format);
    (void)vsnprintf(foreign->message + used, MESSAGE_WORDS * ITEM - (size_t)used, format, arguments);
    va_end(arguments);
}

/* An address of data is that of a function, as POSIX and Windows have it. */
static int find(Foreign *foreign, const char *name, void *place)
{
    void *address = symbol_of(foreign->library, name);
    memcpy(place, &address, sizeof address);
    return address != NULL;
}

static int find_functions(Foreign *foreign)
{
    int found = find(foreign, "fmi2Instantiate", &foreign->instantiate) &&
                find(foreign, "fmi2FreeInstance", &foreign->free_instance) &&
                find(foreign, "fmi2SetupExperiment", &foreign->setup) &&
                find(foreign, "fmi2EnterInitializationMode", &foreign->enter) &&
                find(foreign, "fmi2ExitInitializationMode", &foreign->exit) && find(foreign, "fmi2DoStep", &foreign->step);
    (void)find(foreign, "fmi2Terminate", &foreign->terminate);
    (void)find(foreign, "fmi2GetBooleanStatus", &foreign->boolean_status);
    (void)find(foreign, "fmi2SetRealInputDerivatives", &foreign->slopes);
    (void)find(foreign, "fmi2GetFMUstate", &foreign->get_state);
    (void)find(foreign, "fmi2SetFMUstate", &foreign->set_state);
    (void)find(foreign, "fmi2FreeFMUstate", &foreign->free_state);
    (void)find(foreign, "fmi2GetReal", &foreign->get_reals);
    (void)find(foreign, "fmi2SetReal", &foreign->set_reals);
    (void)find(foreign, "fmi2GetInteger", &foreign->get_integers);
    (void)find(foreign, "fmi2SetInteger", &foreign->set_integers);
    (void)find(foreign, "fmi2GetBoolean", &foreign->get_booleans);
    (void)find(foreign, "fmi2SetBoolean", &foreign->set_booleans);
    return found;
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

static Foreign *foreign_at(void *all, int64_t i) { return (Foreign *)all + i; }

static void *all_of(const Instance *instance)
{
    void *const *place = instance->arrays == NULL ? NULL : instance->arrays[FOREIGN].data;
    return place == NULL ? NULL : *place;
}

static int open_one(Instance *instance, const char *function, Foreign *foreign, const char *folder)
{
    const ForeignUnit *unit = foreign->of->foreign;
    char path[LONGEST_PATH];
    int used = snprintf(path, sizeof path, "%s/%s/binaries/%s/%s%s", folder, unit->folder, PLACE, unit->identifier, SUFFIX);
    int spent = snprintf(foreign->resources, sizeof foreign->resources, "file://%s%s/%s/resources",
                         folder[0] == '/' ? "" : "/", folder, unit->folder);
    if (used < 0 || spent < 0 || used >= LONGEST_PATH || spent >= LONGEST_PATH) {
        (void)refuse(instance, function, "%s: the path to the resources is too long", foreign->of->name);
        return 0;
    }
    foreign->library = open_library(path);
    if (foreign->library == NULL || !find_functions(foreign)) {
        (void)refuse(instance, function, "%s: %s cannot be loaded, or lacks functions of FMI 2.0 Co-Simulation",
                     foreign->of->name, path);
        return 0;
    }
    return 1;
}

static void delete_state(Foreign *foreign, void **state)
{
    if (*state != NULL && foreign->component != NULL && foreign->free_state != NULL)
        (void)foreign->free_state(foreign->component, state);
    *state = NULL;
}

static Status copy_state(Foreign *foreign, void **state)
{
    if (foreign->component == NULL || foreign->get_state == NULL) return foreign->component == NULL ? OK : ERROR;
    delete_state(foreign, state);
    return is_good(foreign->get_state(foreign->component, state));
}

static Status go_to_state(Foreign *foreign, void *state)
{
    if (foreign->component == NULL || state == NULL || foreign->set_state == NULL) return state == NULL ? OK : ERROR;
    return is_good(foreign->set_state(foreign->component, state));
}

static void free_one(Foreign *foreign)
{
    if (foreign->component == NULL) return;
    foreign->message = NULL;
    delete_state(foreign, &foreign->state);
    if (foreign->mode == IS_STEPPING && foreign->terminate != NULL) (void)foreign->terminate(foreign->component);
    foreign->free_instance(foreign->component);
    foreign->component = NULL;
    foreign->mode = IS_CLOSED;
}

static void close_all(Foreign *all)
{
    for (int64_t i = 0; i < cosim_container.member_count; i++) {
        if (all[i].library == NULL) continue;
        free_one(&all[i]);
        close_library(all[i].library);
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
        if (all[i].of->foreign != NULL && !open_one(instance, function, &all[i], folder)) return 0;
    }
    return 1;
}

void foreign_close(Instance *instance)
{
    Foreign *all = all_of(instance);
    if (all != NULL) close_all(all);
}

static Status enter_mode(void *all, int64_t i)
{
    Foreign *foreign = foreign_at(all, i);
    foreign->mode = IS_INITIALIZING;
    return is_good(foreign->enter(foreign->component));
}

static Status exit_mode(void *all, int64_t i)
{
    Foreign *foreign = foreign_at(all, i);
    foreign->mode = IS_STEPPING;
    return is_good(foreign->exit(foreign->component));
}

static int has_ended(void *all, int64_t i) { return foreign_at(all, i)->ended != 0; }

static Status write_value(Foreign *foreign, uint32_t reference, int64_t type, double value)
{
    const fmi2ValueReference at = reference;
    const fmi2Integer whole = type == REAL ? 0 : (fmi2Integer)value;
    if (type == REAL)
        return foreign->set_reals == NULL ? ERROR : is_good(foreign->set_reals(foreign->component, &at, 1, &value));
    if (type == INTEGER)
        return foreign->set_integers == NULL ? ERROR : is_good(foreign->set_integers(foreign->component, &at, 1, &whole));
    return foreign->set_booleans == NULL ? ERROR : is_good(foreign->set_booleans(foreign->component, &at, 1, &whole));
}

static Status read_value(Foreign *foreign, uint32_t reference, int64_t type, double *value)
{
    const fmi2ValueReference at = reference;
    fmi2Integer whole = 0;
    Status status;
    if (type == REAL)
        return foreign->get_reals == NULL ? ERROR : is_good(foreign->get_reals(foreign->component, &at, 1, value));
    if (type == INTEGER)
        status = foreign->get_integers == NULL ? ERROR : is_good(foreign->get_integers(foreign->component, &at, 1, &whole));
    else
        status = foreign->get_booleans == NULL ? ERROR : is_good(foreign->get_booleans(foreign->component, &at, 1, &whole));
    *value = type == INTEGER ? (double)whole : (double)(whole != 0);
    return status;
}

static Status start(void *all, int64_t i, double time)
{
    Foreign *foreign = foreign_at(all, i);
    char *message = foreign->message;
    const ForeignUnit *unit = foreign->of->foreign;
    const fmi2CallbackFunctions callbacks = {log_error, calloc, free, NULL, foreign};
    Status status;
    free_one(foreign);
    foreign->message = message;
    foreign->ended = 0;
    foreign->callbacks = callbacks;
    foreign->component = foreign->instantiate(foreign->of->name, fmi2CoSimulation, unit->token, foreign->resources,
                                              &foreign->callbacks, fmi2False, fmi2True);
    if (foreign->component == NULL) return ERROR;
    foreign->mode = IS_MADE;
    status = is_good(foreign->setup(foreign->component, unit->has_tolerance != 0, unit->tolerance, time, fmi2False, 0.0));
    for (int64_t j = 0; j < unit->start_count && status <= WARNING; j++)
        status = write_value(foreign, unit->starts[j].reference, unit->starts[j].type, unit->starts[j].value);
    return status;
}

/* Reals that lie beside each other go in one call. */
static int64_t reals_from(const int64_t *types, int64_t first, int64_t count)
{
    int64_t end = first;
    while (end < count && types[end] == REAL) end++;
    return end - first;
}

static int32_t set_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Foreign *foreign = pointer(at);
    const uint32_t *inputs = pointer(references);
    const int64_t *types = foreign->of->foreign->input_types + (inputs - foreign->of->inputs);
    const double *given = pointer(values);
    Status status = OK;
    (void)size;
    for (int64_t i = 0; i < count && status == OK;) {
        int64_t reals = foreign->set_reals == NULL ? 0 : reals_from(types, i, count);
        if (reals == 0) {
            status = write_value(foreign, inputs[i], types[i], given[i]);
            i++;
            continue;
        }
        status = is_good(foreign->set_reals(foreign->component, &inputs[i], (size_t)reals, &given[i]));
        i += reals;
    }
    return (int32_t)status;
}

static int32_t get_values(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Foreign *foreign = pointer(at);
    const uint32_t *outputs = pointer(references);
    const int64_t *types = foreign->of->foreign->output_types + (outputs - foreign->of->outputs);
    double *found = pointer(values);
    Status status = OK;
    (void)size;
    for (int64_t i = 0; i < count && status == OK;) {
        int64_t reals = foreign->get_reals == NULL ? 0 : reals_from(types, i, count);
        if (reals == 0) {
            status = read_value(foreign, outputs[i], types[i], &found[i]);
            i++;
            continue;
        }
        status = is_good(foreign->get_reals(foreign->component, &outputs[i], (size_t)reals, &found[i]));
        i += reals;
    }
    return (int32_t)status;
}

static int32_t lead_inputs(int64_t at, int64_t references, int64_t count, int64_t orders, int64_t slopes)
{
    Foreign *foreign = pointer(at);
    const uint32_t *inputs = pointer(references);
    const int64_t *types = foreign->of->foreign->input_types + (inputs - foreign->of->inputs);
    const double *given = pointer(slopes);
    const fmi2Integer order = 1;
    Status status = OK;
    (void)orders;
    for (int64_t i = 0; i < count && status == OK; i++)
        if (types[i] == REAL) status = is_good(foreign->slopes(foreign->component, &inputs[i], 1, &order, &given[i]));
    return (int32_t)status;
}

static int32_t step(int64_t at, double time, double size, int64_t flag, int64_t event, int64_t end, int64_t early,
                    int64_t reached)
{
    Foreign *foreign = pointer(at);
    fmi2Status status;
    fmi2Boolean ends = fmi2False;
    (void)event, (void)end, (void)early, (void)reached;
    if (foreign->ended) return OK;
    status = foreign->step(foreign->component, time, size, flag != 0);
    if (status != fmi2Discard) return (int32_t)is_good(status);
    if (foreign->boolean_status == NULL ||
        foreign->boolean_status(foreign->component, fmi2Terminated, &ends) > fmi2Warning || !ends)
        return DISCARD;
    foreign->ended = 1;
    foreign->report->noticed = 1;
    return OK;
}

static int32_t save_state(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Foreign *foreign = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    return (int32_t)copy_state(foreign, &foreign->state);
}

static int32_t restore_state(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Foreign *foreign = pointer(at);
    (void)state, (void)none, (void)nothing, (void)no_size;
    foreign->ended = 0; /* one that has ended is not saved */
    return (int32_t)go_to_state(foreign, foreign->state);
}

static void connect(void *all, int64_t i, ExchangePart *part, char *message, ExchangeReport *report)
{
    Foreign *foreign = foreign_at(all, i);
    foreign->message = message;
    foreign->report = report;
    part->instance = part->access = (int64_t)(intptr_t)foreign;
    part->set_at = (int64_t)(intptr_t)(AccessCall *)set_values;
    part->get_at = (int64_t)(intptr_t)(AccessCall *)get_values;
    part->step_at = (int64_t)(intptr_t)(StepCall *)step;
    part->set_slopes_at = foreign->of->follows ? (int64_t)(intptr_t)(AccessCall *)lead_inputs : 0;
    part->save_at = (int64_t)(intptr_t)(AccessCall *)save_state;
    part->restore_at = (int64_t)(intptr_t)(AccessCall *)restore_state;
    part->state_at = (int64_t)(intptr_t)&foreign->state;
}

static Status write(void *all, int64_t i, uint32_t reference, int64_t type, double value)
{
    return write_value(foreign_at(all, i), reference, type, value);
}

static Status read(void *all, int64_t i, uint32_t reference, int64_t type, double *value)
{
    return read_value(foreign_at(all, i), reference, type, value);
}

const ForeignCalls cosim_foreign = {connect, start, enter_mode, exit_mode, write, read, has_ended};

int foreign_save_states(Instance *instance, void **states)
{
    void *all = all_of(instance);
    for (int64_t i = 0; i < cosim_container.member_count; i++)
        if (copy_state(foreign_at(all, i), &states[i]) != OK) return ERROR;
    return OK;
}

int foreign_restore_states(Instance *instance, void *const *states)
{
    void *all = all_of(instance);
    for (int64_t i = 0; i < cosim_container.member_count; i++) {
        foreign_at(all, i)->ended = 0;
        if (go_to_state(foreign_at(all, i), states[i]) != OK) return ERROR;
    }
    return OK;
}

void foreign_free_states(Instance *instance, void **states)
{
    void *all = all_of(instance);
    for (int64_t i = 0; i < cosim_container.member_count; i++) delete_state(foreign_at(all, i), &states[i]);
}

/* One instance of a model, and all that both versions of FMI ask of it. */
#ifndef COSIM_INSTANCE_H
#define COSIM_INSTANCE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "model.h"

enum { MODEL_EXCHANGE, CO_SIMULATION };

/* Modes; sets of them are sums. */
enum {
    INSTANTIATED = 1,
    INITIALIZING = 2,
    STEPPING = 4,
    EVENT = 8,
    CONTINUOUS = 16,
    INTERMEDIATE = 32, /* the host is told of a point inside of a step */
    STOPPED = 64,      /* the model asked to stop, or was terminated */
    FAILED = 128,
    RUNNING = STEPPING | EVENT | CONTINUOUS,
    ANY = 255
};

/* As both versions of FMI number them. */
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;

/* What a saved state holds besides the arrays. */
typedef struct {
    int64_t kind;
    int64_t mode;
    int64_t has_stop;
    int64_t finished;
    int64_t ending; /* the model asked to stop when it was initialized, which the host learns with the next answer */
    double start;
    double stop;
    double accuracy;
    double time;
} Life;

typedef struct Instance Instance;
typedef void Report(Instance *instance, Status status, const char *category, const char *text);

struct Instance {
    const Model *model;
    Array *arrays;
    Life life;
    int64_t log;      /* categories, a set */
    Array *spare;     /* others of the same size, for trials */
    Array *begun;     /* in initialization mode: what the arrays will be when that mode ends, once it was asked for */
    double *held;     /* discrete variables as they are shown until event mode; NULL: as they are */
    double *holds;    /* memory for these */
    char *room;       /* memory for the length of a call */
    size_t room_size;
    size_t room_used;
    char *name;
    Report *report;
    void *host; /* what the FMI layer keeps; freed with the instance */
    int told_loss; /* whether the host was told that there are no derivatives any more */
    int told_close; /* and that they are those of one side, as two events are close */
    struct {
        int64_t steps; /* of the integrator since the clock on the wall was looked at */
        time_t began;  /* when the communication step began, and where */
        time_t told;   /* when the host was told last how far it is */
        double from;
    } way;
};

enum { LOG_WARNINGS = 1, LOG_DISCARDS = 2, LOG_ERRORS = 4, LOG_PROGRESS = 8, LOG_ALL = 15 };

/* What a step or an event brought. */
typedef struct {
    int64_t stopped;    /* the model wants the run to end */
    int64_t event;      /* something jumped */
    int64_t reached;    /* the end of the step, or a scheduled event that is there but for rounding */
    int64_t waits;      /* an event waits at this instant */
    int64_t next;       /* whether next_time is known */
    double next_time;
    int64_t needs_more; /* another round of the event iteration */
} Progress;

int is_of_kind(const Model *model, int64_t kind);
Instance *make_instance(const Model *model, const char *function, const char *name, int64_t kind, int logs_all,
                        Report *report, void *host, const char *resources);
void free_instance(Instance *instance);
Status reset(Instance *instance, const char *function);

/* Logs a sentence and returns the status; `function` is what the host called. */
Status say(Instance *instance, Status status, const char *function, const char *format, ...);
#define refuse(instance, ...) say(instance, ERROR, __VA_ARGS__)
#define warn(instance, ...) say(instance, WARNING, __VA_ARGS__)
#define discard(instance, ...) say(instance, DISCARD, __VA_ARGS__)
Status set_logging(Instance *instance, const char *function, int on, size_t count, const char *const *categories);
const char *mode_name(int64_t mode);
Status need_mode(Instance *instance, const char *function, int64_t modes);
Status change_mode(Instance *instance, const char *function, int64_t from, int64_t to);

Status set_up(Instance *instance, const char *function, double start, int64_t has_stop, double stop,
              int64_t has_tolerance, double tolerance);
Status exit_initialization(Instance *instance, const char *function);
Status check_step(Instance *instance, const char *function, double time, double size);
Status step_to(Instance *instance, const char *function, double target, int one, Progress *progress);
Status find_next_event(Instance *instance, const char *function, Progress *progress);
Status clock_ticks(Instance *instance, const char *function, uint32_t reference, int *ticks);
void halt_at_jumps(Instance *instance, int halts);
Status terminate(Instance *instance, const char *function);

const Variable *find_variable(Instance *instance, const char *function, uint32_t reference, int64_t type);
/* Of any type, as numbers. */
Status get_numbers(Instance *instance, const char *function, const uint32_t *references, size_t count, double *values);
Status set_numbers(Instance *instance, const char *function, int64_t type, const uint32_t *references, size_t count,
                   const double *values);
Status get_real(Instance *instance, const char *function, const uint32_t *references, size_t count, double *values);
Status set_real(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const double *values);
Status set_slopes(Instance *instance, const char *function, const uint32_t *references, size_t count,
                  const int32_t *orders, const double *slopes);
/* Integers and Booleans, in as many bytes as the version of FMI has for one. */
Status get_whole(Instance *instance, const char *function, int64_t type, const uint32_t *references, size_t count,
                 void *values, size_t width);
Status set_whole(Instance *instance, const char *function, int64_t type, const uint32_t *references, size_t count,
                 const void *values, size_t width);
/* Text: one of the words of a variable. What is read lives as long as the library. */
Status get_text(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const char **values);
Status set_text(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const char *const *values);
Status check_parameters(Instance *instance, const char *function);
Status directional_derivative(Instance *instance, const char *function, const uint32_t *unknowns,
                              size_t unknown_count, const uint32_t *knowns, size_t known_count, const double *seed,
                              double *sensitivity);
Status adjoint_derivative(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                          const uint32_t *knowns, size_t known_count, const double *seed, double *sensitivity);

/* Discrete variables that are shown as they were until event mode is entered. */
void hold_discrete(Instance *instance, const char *function);
int is_held(Instance *instance, const char *function);
void release_discrete(Instance *instance);
const double *held_number(const Instance *instance, const Variable *variable);

/* Model Exchange */
Status set_time(Instance *instance, const char *function, double time);
Status set_states(Instance *instance, const char *function, const double *values, size_t count);
Status get_states(Instance *instance, const char *function, double *values, size_t count);
Status get_nominals(Instance *instance, const char *function, double *values, size_t count);
Status get_derivatives(Instance *instance, const char *function, double *values, size_t count);
Status get_indicators(Instance *instance, const char *function, double *values, size_t count);
Status update_discrete_states(Instance *instance, const char *function, Progress *progress);
Status completed_step(Instance *instance, const char *function, Progress *progress);

/* Saved states, which the host holds without looking into them. What is written to `state` frees or takes the place of
   what was there. */
Status save(Instance *instance, const char *function, void **state);
Status restore(Instance *instance, const char *function, const void *state);
Status drop(Instance *instance, const char *function, void **state);
Status size_in_bytes(Instance *instance, const char *function, const void *state, size_t *size);
Status to_bytes(Instance *instance, const char *function, const void *state, void *bytes, size_t size);
Status from_bytes(Instance *instance, const char *function, const void *bytes, size_t size, void **state);

#endif

/* An FMU of others inside a scenario: what all versions of FMI have in common. */
#ifndef COSIM_FOREIGN_H
#define COSIM_FOREIGN_H

#include <fenv.h>

#include "container.h"

enum { LONGEST_PATH = 4096 };

/* Modes of an instance. */
enum { IS_CLOSED, IS_MADE, IS_INITIALIZING, IS_STEPPING };

typedef struct Foreign Foreign;

/* What `cosim_round_as_before` reads: see `rounding.py`. */
typedef struct {
    double sums[SUM_COUNT];
    int64_t set_at; /* the address of fesetenv, 0 where there is none, and of what it sets */
    int64_t environment_at;
    fenv_t environment;
} Rounding;

/* What a step has answered. */
typedef struct {
    double reached;
    int discarded;
    int ends;
    int event;
    int early;
} StepAnswer;

/* The calls of one version of FMI. */
typedef struct {
    int64_t real; /* the type of reals, which go many in one call */
    int (*find_functions)(Foreign *foreign);
    Status (*make)(Foreign *foreign, double time);
    Status (*enter)(Foreign *foreign, double time);
    Status (*exit)(Foreign *foreign);
    Status (*write_reals)(Foreign *foreign, const uint32_t *references, size_t count, const double *values);
    Status (*read_reals)(Foreign *foreign, const uint32_t *references, size_t count, double *values);
    Status (*write_whole)(Foreign *foreign, uint32_t reference, int64_t type, double value);
    Status (*read_whole)(Foreign *foreign, uint32_t reference, int64_t type, double *value);
    Status (*set_slope)(Foreign *foreign, uint32_t reference, double slope);
    Status (*step)(Foreign *foreign, double time, double size, int keeps_no_state, StepAnswer *answer);
    Status (*enter_events)(Foreign *foreign);
    Status (*update_states)(Foreign *foreign, int *again, int *ends, double *next_event);
    Status (*enter_steps)(Foreign *foreign);
    Status (*get_state)(Foreign *foreign, void **state);
    Status (*set_state)(Foreign *foreign, void *state);
    void (*free_state)(Foreign *foreign, void **state);
    void (*end)(Foreign *foreign, int is_stepping); /* terminates and frees it */
} FmiCalls;

extern const FmiCalls cosim_fmi2_calls, cosim_fmi3_calls;

struct Foreign {
    const Member *of;
    const FmiCalls *calls;
    void *library;
    void *functions; /* of its version of FMI */
    void *component;
    int64_t mode;
    int64_t has_events;
    int64_t ended;
    double time;       /* s, where it is */
    double next_event; /* s */
    double stop;       /* of the host, s; HUGE_VAL: there is none */
    double usual_size; /* of its steps, where it cannot vary them */
    void *state;       /* that an algorithm goes back to */
    double *written;   /* inputs that are written in event mode, as they were written last; NAN: not yet */
    double *bases;     /* of connected inputs that run along lines inside a step: values where it began, and slopes */
    double *slopes;
    double since; /* s, where these lines begin; NAN: with the next step */
    int64_t has_slopes;
    int64_t has_fault; /* in the middle of a step */
    char *message;     /* what it logs of an error goes there */
    Rounding rounding; /* as it was before the FMUs were loaded */
    ExchangeReport *report;
    char resources[LONGEST_PATH]; /* as a path */
};

int find_function(Foreign *foreign, const char *name, void *place);
void note_logged(Foreign *foreign, const char *text);
void write_inside(Foreign *foreign, double time);
void round_as_before(const Foreign *foreign);
int is_whole_number(double value, double least, double largest);
Foreign *foreign_at(const Array *arrays, int64_t i);
void free_one(Foreign *foreign);
void forget_written(Foreign *foreign);
void delete_state(Foreign *foreign, void **place);
Status copy_state(Foreign *foreign, void **place);
Status go_to_state(Foreign *foreign, const void *place);

#endif

/* What an instance has to know of a model: counts, tables, and the entry points of its machine code.

   The tables are generated (`model_tables.py`); nothing here knows any model, and no mathematics is done here. */
#ifndef COSIM_MODEL_H
#define COSIM_MODEL_H

#include <stdint.h>

#include "array.h"

enum { CONSTANT, STATE, SCRATCH }; /* of an array: in the machine code, saved with an instance, or neither */

typedef struct {
    const char *name;
    const void *start; /* NULL: zeros */
    int64_t rows;
    int64_t columns;
    int64_t role;
    int64_t grows;
} ArrayStart;

enum { ANY_TYPE = -1, REAL, INTEGER, BOOLEAN, STRING };
enum { NEVER, UNTIL_STARTED, TUNABLE, INPUT }; /* when a variable may be set */

typedef struct {
    const char *name;
    int64_t array; /* -1: the time */
    int64_t index;
    int64_t slope; /* of an input: where in the same array its slope lies (NaN: it is held), -1: it has none */
    int64_t since; /* and from when on it runs along it */
    int64_t type;
    int64_t is_whole; /* whether its array is one of integers */
    int64_t settable;
    int64_t computed; /* whether it has to be computed before it is read */
    double minimum;
    double maximum;
    double nominal;
    int64_t angle; /* of a frame, whose twelve numbers begin at the index: which; -1: it is a number itself */
    int64_t elements; /* of the array that begins here; 1: a scalar, 0: an element that has no value reference */
    int64_t discrete; /* of one that events alone change: its place among these; -1: it is none */
    int64_t word_count; /* of an enumeration or of text: what its numbers, from 1, stand for */
    const char *const *words;
} Variable;

typedef struct {
    int64_t variable;   /* the state, among the variables */
    int64_t derivative; /* its rate, among the variables */
} ContinuousState;

typedef struct {
    int64_t index; /* in the cache */
    int64_t level; /* place in the clock of what counts as zero */
} EventIndicator;

/* Says whether parameters fit together: a sentence that counts from 1, or 0, for each of its answers. */
typedef struct {
    const char *part;
    int64_t index; /* of its answers, in the cache */
    int64_t answers;
    int64_t sentence_count;
    const char *const *sentences;
    int64_t read_count;
    const int64_t *reads; /* places of the parameters that it looks at */
} Check;

/* What an option is where the importer integrates. */
typedef struct {
    int64_t index; /* among the parameters */
    double number;
} Replacement;

/* What a component remembers of a signal: where among the integers its room and its entries are counted. */
typedef struct {
    const char *name;
    int64_t capacity;
    int64_t count;
} History;

/* What is said of a failure, and where in `places` stands what it is about, an index into names (-1: nowhere). */
typedef struct {
    int64_t code;
    const char *sentence;
    int64_t place;
    int64_t name_count;
    const char *const *names;
} Sentence;

struct Instance;

typedef struct {
    const char *name;
    const char *token; /* guid, instantiation token */
    uint8_t digest[16];
    double accuracy;
    int64_t kinds; /* 1 Model Exchange, 2 Co-Simulation, 3 both */

    int64_t array_count;
    const ArrayStart *arrays;
    int64_t variable_count;
    const Variable *variables;
    int64_t state_count;
    const ContinuousState *states;
    int64_t indicator_count;
    const EventIndicator *indicators;
    int64_t clock_count; /* their value references come after those of the variables */
    const int64_t *clocks; /* handlers that tick periodically, by their places among all handlers */
    int64_t discrete_count;
    const int64_t *discretes; /* variables that events alone change */
    int64_t sentence_count;
    const Sentence *sentences;
    int64_t check_count;
    const Check *checks;
    int64_t replacement_count;
    const Replacement *replacements;
    int64_t history_count;
    const History *histories;

    int64_t history_room; /* rows that all histories have together, once and for all; 0: they grow */
    int64_t history_free; /* entries that have to be free in each before a step */
    int64_t parameters; /* arrays, by index, as those that follow */
    int64_t cache;
    int64_t continuous; /* states */
    int64_t discrete;
    int64_t whole;
    int64_t clock;
    int64_t places;
    int64_t history;
    int64_t integers;
    int64_t given;

    int64_t given_meeting; /* place in the array `given`: how far from a scheduled time the end of a step may be, */
    double same_time;      /* which is so much of the step */
    int64_t clock_time; /* places in the array `clock` */
    int64_t clock_jumped;
    int64_t clock_next_event;
    int64_t clock_changed;

    int64_t places_stage; /* places in the array `places` */
    int64_t places_needed;
    int64_t places_halts;
    int64_t places_entry;
    int64_t places_most;
    int64_t nothing; /* what is written into the first where the cache is not that of the state any more, */
    int64_t restored; /* and where the state is one again that the cache was of */

    int64_t reached; /* what entry points return */
    int64_t terminated;
    int64_t full;
    int64_t stepped;
    int64_t event_happened;
    int64_t first_failure; /* this and more, and what is negative */

    EntryPoint *initialize; /* entry points */
    EntryPoint *advance;
    EntryPoint *step;
    EntryPoint *evaluate;
    EntryPoint *event;
    EntryPoint *completed;
    EntryPoint *finish;
    EntryPoint *accuracy_given;
    EntryPoint *stop_given; /* HUGE_VAL: there is none */
    EntryPoint *check;
    EntryPoint *check_parameters;
    EntryPoint *find_next_event;
    EntryPoint *is_due;
    EntryPoint *frame_angles; /* of two arrays, a frame's twelve numbers and its three angles; the time does not count */
    EntryPoint *turned_frame;
    EntryPoint *tangents; /* of y, p, d, k, h, c, the tangents of y, p, d, c and of the time; NULL: there are none */

    EntryPoint *adjoints; /* back along the same: see `adjoint_functions`; NULL: there are none */
    const char *const *losses; /* why there are no derivatives along the run any more, by number; NULL: there are none */
    int64_t notes; /* the array in which it stands, */
    int64_t notes_lost; /* and its places in it: the number, 0 where there are derivatives, */
    int64_t notes_lost_time; /* and the time */
    int64_t notes_close; /* 1 where the order of two events is not known, */
    int64_t notes_close_time; /* and the time */

    /* Of a co-simulation; NULL: it is none, or has no FMUs of others in it. */
    const char *(*explain)(const Array *arrays); /* why an entry point has failed */
    const char *(*refuse_step)(Array *arrays, double target, double slack); /* NULL is its answer where a step may end */
    void (*refresh)(Array *arrays); /* computes the array `refreshed`, when it is read */
    int64_t refreshed;
    int64_t foreign_count;
    int (*open)(struct Instance *instance, const char *function, const char *resources);
    void (*close)(struct Instance *instance);
    int (*save_states)(struct Instance *instance, void **states); /* one for each member; answers as `Status` */
    int (*restore_states)(struct Instance *instance, void *const *states);
    void (*free_states)(struct Instance *instance, void **states);
} Model;

extern const Model cosim_model;

#endif

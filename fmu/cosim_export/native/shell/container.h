/* A co-simulation as a model of the shell: its arrays are those of the interpreter of exchanges and of all members. */
#ifndef COSIM_CONTAINER_H
#define COSIM_CONTAINER_H

#include "arrays.h"
#include "exchange_records.h"

/* The arrays, in this order; behind them nine for each algorithm, then those of each member, then copies of these for
   members that are stepped again. */
enum {
    PARAMETERS,
    INPUTS,
    SHOWN,
    CLOCK,
    PLACES,
    GROWING, /* none: members have their own */
    WHOLE,
    NUMBERS,
    HANDED,  /* what members have of the parameters, then of the inputs */
    WRITTEN, /* whether it was handed over since the last step */
    LIVES,
    MEMBERS,
    ROOM,
    MESSAGE,
    FOREIGN, /* the address of what FMUs of others need, which belongs to the instance */
    HEAD,
    BEFORE, /* how outputs are passed on at the start, before members are initialized (`settle_values`), */
    AFTER,  /* and after that */
    ORDER,
    PART_WORDS, /* from here on those of the interpreter (`Machine`) */
    LINK_WORDS,
    SCALES,
    PAIRS,
    OWN_VALUES,
    COLUMNS,
    MACHINE_INPUTS,
    MACHINE_OUTPUTS,
    ANSWER_WORDS,
    STEP_TIME_WORDS,
    ROWS,
    REPORT_WORDS,
    CLOCK_WORDS,
    GRID,
    ALGORITHM_WORDS,
    FIRST_ALGORITHM
};
enum { PROGRAM, PORTS, BACK_MEMBERS, SAVED, COUNTS, DECISION, TABLE, BONDS, PROGRESS_WORDS }; /* of an algorithm */
enum { MEMBER_WORDS = 64, MESSAGE_WORDS = 256 };
enum { MACHINE_ARRAYS = ALGORITHM_WORDS - PART_WORDS + 1, ALGORITHM_ARRAYS = PROGRESS_WORDS + 1 };
enum { TIME_NOW, JUMPED, NEXT_EVENT, CHANGED, HAS_VALUES };  /* in CLOCK */
enum { STAGE, NEEDED, HALTS, ENTRY, MOST };                  /* in PLACES */
enum { MEETING, TOLERANCE };                                 /* in NUMBERS */
enum { SET_FAILED = 1, STEP_FAILED, READ_FAILED, NOT_STARTED = 10 }; /* of the codes that stop the interpreter */
enum { NOT_SHOWN, IS_SHOWN };                                /* at STAGE */
enum { IS_DONE, IS_REACHED, HAS_ENDED, IS_FULL, HAS_STEPPED, HAS_EVENT, HAS_FAILED }; /* what entry points return */

/* A start value of an FMU of others that the host does not set. */
typedef struct {
    uint32_t reference;
    int64_t type;
    double value;
} ForeignStart;

/* An FMU of others. */
typedef struct {
    const char *token;
    const char *folder; /* in the resources */
    const char *identifier;
    int64_t has_tolerance;
    double tolerance;
    const int64_t *input_types; /* of its connected inputs, and of what is read of it */
    const int64_t *output_types;
    int64_t start_count;
    const ForeignStart *starts;
} ForeignUnit;

typedef struct {
    const char *name;
    const Model *model; /* NULL: it is an FMU of others */
    const ForeignUnit *foreign;
    int64_t first;   /* of its arrays */
    int64_t copies;  /* the first one of those that it is saved in; -1: it never goes back */
    double accuracy; /* NAN: that of the host */
    const uint32_t *inputs; /* value references of its connected inputs, and of what is read of it */
    const uint32_t *outputs;
    int64_t follows; /* whether its inputs run along lines where those of the interface do */
} Member;

/* What a host sets. */
typedef struct {
    int64_t member;
    uint32_t reference;
    int64_t type;
    double usual; /* what an FMU of others has unless it is given; NAN: it is always given */
} Setting;

/* What it reads: an output of the interpreter, and settings that it follows at once. */
typedef struct {
    int64_t slot;
    int64_t member;
    uint32_t reference;
    int64_t type;
    int64_t follow_count;
    const int64_t *follows;
} Output;

/* What is called of FMUs of others (`foreign.c`): `all` belongs to the instance, a number is that of a member. */
typedef struct {
    void (*connect)(void *all, int64_t i, ExchangePart *part, char *message, ExchangeReport *report);
    Status (*start)(void *all, int64_t i, double time); /* start values are written before `enter` */
    Status (*enter)(void *all, int64_t i);
    Status (*exit)(void *all, int64_t i);
    Status (*write)(void *all, int64_t i, uint32_t reference, int64_t type, double value);
    Status (*read)(void *all, int64_t i, uint32_t reference, int64_t type, double *value);
    int (*has_ended)(void *all, int64_t i);
} ForeignCalls;

extern const ForeignCalls cosim_foreign;
int foreign_open(Instance *instance, const char *function, const char *resources);
void foreign_close(Instance *instance);
int foreign_save_states(Instance *instance, void **states);
int foreign_restore_states(Instance *instance, void *const *states);
void foreign_free_states(Instance *instance, void **states);

typedef struct {
    int64_t member_count;
    const Member *members;
    const ForeignCalls *foreign; /* NULL: all members are systems */
    int64_t algorithm_count;
    int64_t parameter_count; /* of the settings, which inputs come after */
    int64_t setting_count;
    const Setting *settings;
    int64_t output_count;
    const Output *outputs;
    double start; /* s */
    int64_t divides; /* whether communication steps may be cut */
    int64_t exchanging; /* `under_way` inside an exchange */
    int64_t stop_count;
    const char *const *stops; /* what has stopped the interpreter, by its code */
} Container;

extern const Container cosim_container;

/* Entry points, as those of a model. */
int64_t container_initialize(Array *arrays, double time);
int64_t container_advance(Array *arrays, double target);
int64_t container_evaluate(Array *arrays, double time);
int64_t container_accuracy(Array *arrays, double accuracy);
int64_t container_check(Array *arrays, double none);
const char *container_message(const Array *arrays);
const char *container_refuse_step(Array *arrays, double target, double slack);

/* What the interpreter calls. */
typedef int32_t AccessCall(int64_t, int64_t, int64_t, int64_t, int64_t);
typedef int32_t StepCall(int64_t, double, double, int64_t, int64_t, int64_t, int64_t, int64_t);

/* The machine code: `lead_exchanges`. */
int32_t cosim_settle_values(int64_t *stop, int64_t machine, int64_t words, int64_t length);
int32_t cosim_exchange_first(int64_t *stop, int64_t machine, int64_t order, int64_t count);
int32_t cosim_lead(int64_t *stop, int64_t machine, double target, double slack);
int32_t cosim_time_reached(double *time, int64_t machine);
int32_t cosim_is_point(int64_t *answer, int64_t machine, double time, double slack);

#endif

/* A co-simulation as a model of the shell: its arrays are those of the interpreter of exchanges and of all members. */
#ifndef COSIM_CONTAINER_H
#define COSIM_CONTAINER_H

#include "arrays.h"
#include "exchange_records.h"

enum { SAMPLE_ARRAYS = SAMPLING_ARRAYS + COLLECTED_ARRAYS, KNOWN_ARRAYS = WIRED_ARRAYS + ASSESSMENT_ARRAYS }; /* with one head */
enum { TIME_NOW, JUMPED, NEXT_EVENT, CHANGED, HAS_VALUES, ASSESSED_STEPS }; /* in CLOCK; the last one is -1 at first */
enum { STAGE, NEEDED, HALTS, ENTRY, MOST };                  /* in PLACES */
enum { MEETING, TOLERANCE, STOP_TIME };                      /* in NUMBERS */
enum { NOT_STARTED = 10 };                                    /* beside the codes that stop the interpreter */
enum { NOT_SHOWN, IS_SHOWN };                                /* at STAGE */
enum { IS_DONE, IS_REACHED, HAS_ENDED, IS_FULL, HAS_STEPPED, HAS_EVENT, HAS_FAILED }; /* what entry points return */

/* Types of variables of FMI 3.0; those of FMI 2.0 are the shell's. */
enum { FLOAT64 = 16, FLOAT32, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, LOGICAL };

/* A start value of an FMU of others that the host does not set. */
typedef struct {
    uint32_t reference;
    int64_t type;
    double value;
} ForeignStart;

/* An FMU of others. */
typedef struct {
    int64_t version; /* of FMI */
    const char *token;
    const char *folder; /* in the resources */
    const char *identifier;
    int64_t varies;          /* whether its steps may have any length */
    int64_t has_events;      /* whether it has an event mode */
    int64_t steps_carefully; /* whether the interpreter leaves its steps to Python where it can */
    int64_t discrete_count;  /* inputs that are written in event mode, where it has one */
    const uint32_t *discretes;
    int64_t inside_count; /* inputs that are written inside a step, connected or not */
    const uint32_t *insides;
    int64_t input_count;
    int64_t has_tolerance;
    double tolerance;
    const int64_t *input_types; /* of its connected inputs, and of what is read of it */
    const int64_t *output_types;
    int64_t start_count;
    const ForeignStart *starts;
} ForeignUnit;

/* One value over time. */
typedef struct {
    int64_t count;
    const double *times; /* s */
    const double *values;
    int64_t is_linear;
    int64_t beyond; /* before the first and after the last time */
} Signal;

enum { IS_KEPT, GOES_ON, IS_ERROR }; /* beyond */

/* `value operator other`, or a number in place of the other value; several make a condition. */
typedef struct {
    int64_t value; /* among what conditions read */
    int64_t operation;
    int64_t other; /* -1: the number */
    double number;
    int64_t ends; /* 1: `or` follows; 2: the condition ends; 0: `and` follows */
} Comparison;

enum { IS_LEAST, IS_MOST, IS_EQUAL, IS_OTHER, IS_ABOVE, IS_BELOW }; /* operation */

/* What a condition sets when it becomes true. */
typedef struct {
    int64_t trigger;
    int64_t signal;
    double value;
} Change;

/* Values over time, by their references. */
typedef struct {
    int64_t first; /* of its numbers in TIMES */
    int64_t signal_count;
    const Signal *signals;
    int64_t count; /* of all times */
    const double *times;
    int64_t seen_count; /* what conditions read: its inputs */
    const double *seen; /* their start values; NAN: there is none */
    int64_t trigger_count;
    const Comparison *comparisons;
    int64_t change_count;
    const Change *changes;
} SeriesUnit;

/* What is called of members other than systems: `all` are the arrays, a number is that of a member. */
typedef struct {
    void (*connect)(Array *all, int64_t i, void *room, ExchangePart *part);
    Status (*start)(Array *all, int64_t i, double time); /* start values are written before `enter` */
    Status (*enter)(Array *all, int64_t i, double time);
    Status (*exit)(Array *all, int64_t i);
    Status (*write)(Array *all, int64_t i, uint32_t reference, int64_t type, double value);
    Status (*read)(Array *all, int64_t i, uint32_t reference, int64_t type, double *value);
    int (*has_ended)(Array *all, int64_t i);
} MemberCalls;

extern const MemberCalls cosim_foreign, cosim_series;

typedef struct {
    const char *name;
    const Model *model;       /* of a system; else NULL */
    const MemberCalls *calls; /* of all others; else NULL */
    const ForeignUnit *foreign;
    const SeriesUnit *series;
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

int foreign_open(Instance *instance, const char *function, const char *resources);
void foreign_close(Instance *instance);
int foreign_save_states(Instance *instance, void **states);
int foreign_restore_states(Instance *instance, void *const *states);
void foreign_free_states(Instance *instance, void **states);

/* The error of the coupling (`assessment.c`). */
typedef struct {
    int (*start)(Array *arrays);
    int (*make_room)(Array *arrays);
} Assessing;

extern const Assessing cosim_assessing;

typedef struct {
    int64_t member_count;
    const Member *members;
    const Assessing *assessing; /* NULL: the error is not estimated */
    int64_t algorithm_count;
    int64_t parameter_count; /* of the settings, which inputs come after */
    int64_t setting_count;
    const Setting *settings;
    int64_t output_count;
    const Output *outputs;
    double start; /* s */
    double same_time; /* of a step: what lies so near to its end is its end */
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
int64_t container_stop(Array *arrays, double stop);
int64_t container_check(Array *arrays, double none);
const char *container_message(const Array *arrays);
const char *container_refuse_step(Array *arrays, double target, double slack);
void container_assess(Array *arrays);
void write_head(const Array *arrays, int64_t first, int64_t count, int64_t *head);

/* What the interpreter calls. */
typedef int32_t AccessCall(int64_t, int64_t, int64_t, int64_t, int64_t);
typedef int32_t StepCall(int64_t, double, double, int64_t, int64_t, int64_t, int64_t, int64_t);

/* The machine code: `lead_exchanges`. */
int32_t cosim_set_start(int64_t *stop, int64_t machine, double time);
int32_t cosim_settle_values(int64_t *stop, int64_t machine, int64_t words, int64_t length);
int32_t cosim_exchange_first(int64_t *stop, int64_t machine, int64_t order, int64_t count);
int32_t cosim_start_samples(int64_t *stop, int64_t machine, int64_t samples);
int32_t cosim_lead(int64_t *stop, int64_t machine, int64_t samples, double target, double slack);
int32_t cosim_assessment_room(int64_t *size, int64_t samples, int64_t assessed);
int32_t cosim_assess_samples(int64_t *stop, int64_t samples, int64_t assessed, int64_t room, int64_t size);
int32_t cosim_time_reached(double *time, int64_t machine);
int32_t cosim_round_as_before(int64_t *nothing, int64_t rounding);
int32_t cosim_is_point(int64_t *answer, int64_t machine, double time, double slack);

#endif

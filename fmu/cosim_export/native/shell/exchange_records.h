/* Made by container_arrays.records_header: not for editing. */
#ifndef COSIM_EXCHANGE_RECORDS_H
#define COSIM_EXCHANGE_RECORDS_H

/* The arrays, in this order; behind them those of each algorithm, then those of each member,
   then copies of these for members that are stepped again. */
enum {
    PARAMETERS,
    INPUTS,
    SHOWN,
    CLOCK,
    PLACES,
    GROWING, /* none: members have their own */
    WHOLE,
    NUMBERS,
    HANDED, /* what members have of the parameters, then of the inputs */
    WRITTEN, /* whether it was handed over since the last step */
    LIVES,
    MEMBERS,
    ROOM,
    MESSAGE,
    TIMES, /* of members that are values over time: where they are, and where an algorithm goes back to */
    FOREIGN, /* the address of what FMUs of others need, which belongs to the instance */
    HEAD,
    BEFORE, /* how outputs are passed on at the start, before members are initialized, */
    AFTER, /* and after that */
    ORDER,
    MACHINE_PART_WORDS,
    MACHINE_LINK_WORDS,
    MACHINE_SCALES,
    MACHINE_PAIRS,
    MACHINE_OWN_VALUES,
    MACHINE_COLUMNS,
    MACHINE_INPUTS,
    MACHINE_OUTPUTS,
    MACHINE_ANSWER_WORDS,
    MACHINE_STEP_TIME_WORDS,
    MACHINE_ROWS,
    MACHINE_REPORT_WORDS,
    MACHINE_CLOCK_WORDS,
    MACHINE_GRID,
    MACHINE_ALGORITHM_WORDS,
    SAMPLING_PLACES,
    SAMPLING_ROW,
    SAMPLING_LIMITS,
    COLLECTED_SOURCES,
    COLLECTED_JUMPS,
    COLLECTED_BONDS,
    COLLECTED_SCALES,
    COLLECTED_COUNTS,
    COLLECTED_CLOCK,
    COLLECTED_PRESENT,
    COLLECTED_RATES,
    COLLECTED_BENDS,
    COLLECTED_TEETH,
    COLLECTED_SAMPLE,
    COLLECTED_FIRST,
    COLLECTED_KEPT,
    WIRED_OWNERS,
    WIRED_SOURCES,
    WIRED_TARGETS,
    WIRED_DIRECT,
    WIRED_SURELY_DIRECT,
    WIRED_DRIVEN,
    WIRED_HOLDS,
    WIRED_RUNS_STRAIGHT,
    WIRED_STATES,
    WIRED_PART_STATES,
    WIRED_PART_INPUTS,
    WIRED_ANSWERS,
    WIRED_BARS,
    WIRED_SPANS,
    ASSESSMENT_JUDGED,
    ASSESSMENT_IS_RESIDUAL,
    ASSESSMENT_GROUPS,
    ASSESSMENT_FACTS,
    ASSESSMENT_CHANGES,
    ASSESSMENT_AT_ONCE,
    ASSESSMENT_LARGEST,
    ASSESSMENT_OUTCOME,
    FIRST_ALGORITHM
};
enum { ALGORITHM_PROGRAM, ALGORITHM_PORTS, ALGORITHM_MEMBERS, ALGORITHM_SAVED, ALGORITHM_COUNTS, ALGORITHM_NUMBERS, ALGORITHM_TABLE, ALGORITHM_BONDS, ALGORITHM_PROGRESS_WORDS };
enum { MACHINE_ARRAYS = 15, SAMPLING_ARRAYS = 3, COLLECTED_ARRAYS = 13, WIRED_ARRAYS = 14, ASSESSMENT_ARRAYS = 8, ALGORITHM_ARRAYS = 9, MEMBER_WORDS = 64, MESSAGE_WORDS = 256, STORED = 5, AT_ONCE = 40, IS_UNKNOWN = 5, SUM_COUNT = 5, SET_FAILED = 1, STEP_FAILED = 2, READ_FAILED = 3 };

#include <stdint.h>

/* A participant: the addresses of its functions (`NativeCalls`), and where its values are. */
typedef struct ExchangePart {
    int64_t instance;
    int64_t set_at;
    int64_t step_at;
    int64_t begin_at;
    int64_t get_at;
    int64_t access;
    int64_t input_references;
    int64_t output_references;
    int64_t input_count;
    int64_t output_count;
    int64_t set_slopes_at;
    int64_t slope_orders;
    int64_t save_at;
    int64_t restore_at;
    int64_t free_at;
    int64_t state_at;
    int64_t same_size;
    int64_t step_multiple;
    int64_t rereads_inputs;
    int64_t first_input;
    int64_t inputs;
    int64_t first_output;
    int64_t outputs;
    int64_t first_value;
    int64_t values;
    int64_t rounding_at;
    int64_t calling;
} ExchangePart;

/* The progress of the run, and the reason of a stop. */
typedef struct ExchangeReport {
    int64_t step;
    int64_t algorithm;
    int64_t part;
    int64_t status;
    int64_t rows;
    int64_t left;
    int64_t noticed;
    int64_t ticks;
    int64_t inputs_at;
    int64_t outputs_at;
    int64_t answers_at;
} ExchangeReport;

/* The progress of an algorithm in its exchange. */
typedef struct ExchangeProgress {
    int64_t under_way;
    int64_t place;
    int64_t request;
    int64_t watched;
    int64_t always_watched;
} ExchangeProgress;

/* `process_guard.SUMS`: they tell whether sums are rounded as usual. */
#define ROUNDING_SUMS {1.0, 1.1102230246251565e-16, 1.6653345369377348e-16, 3.337610787760802e-308, 2.2250738585072014e-308}

#endif

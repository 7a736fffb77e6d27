/* Made of exchange_arrays.py by container_arrays.records_header: not for editing. */
#ifndef COSIM_EXCHANGE_RECORDS_H
#define COSIM_EXCHANGE_RECORDS_H

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
    int64_t calling;
} ExchangePart;

/* Where the run is, and what has stopped it. */
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

/* Where an algorithm is. */
typedef struct ExchangeProgress {
    int64_t under_way;
    int64_t place;
    int64_t request;
    int64_t watched;
    int64_t always_watched;
} ExchangeProgress;

#endif

/* The arrays of an instance, and what the files of the shell share about them. */
#ifndef COSIM_ARRAYS_H
#define COSIM_ARRAYS_H

#include "instance.h"

enum { ITEM = 8, MOST_ITEMS = 1 << 28 };

Array *new_arrays(const Model *model);
void start_arrays(const Model *model, Array *arrays);
void start_scratch(const Model *model, Array *arrays);
int copy_arrays(const Model *model, const Array *arrays, Array *copied);
void free_arrays(const Model *model, Array *arrays);
size_t bytes_of(const Array *array);
int grow_array(const Model *model, Array *array, int64_t wanted);
int grow_histories(const Model *model, Array *arrays, int64_t wanted);
void *borrow(Instance *instance, size_t size);
void give_back(Instance *instance, void *borrowed);
Status no_room(Instance *instance, const char *function);

double *numbers(Instance *instance, int64_t array);
double *clock_of(Instance *instance, int64_t place);
void forget_computed(Instance *instance);
void note_written(Instance *instance);
void note_restored(Instance *instance);
size_t bytes_of_marks(const Instance *instance);
void *kept_marks(Instance *instance);
void put_marks_back(Instance *instance, void *marks);
void end_slopes(Instance *instance);
void start_slopes(Instance *instance, double start);
int is_failure(const Model *model, int64_t code);
int64_t call(Instance *instance, EntryPoint *entry, double time);
const Check *failed_check(Instance *instance);
const char *sentence_of(Instance *instance, const Check *check);
Status failure(Instance *instance, const char *function, int64_t code);
Status lost(Instance *instance, const char *function, int64_t code);
void note_next_event(Instance *instance, Progress *progress);
Array *begun_arrays(Instance *instance);
Status compute(Instance *instance, const char *function);

#endif

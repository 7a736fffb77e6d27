/* The arrays of an instance; the machine code has the constant ones itself. */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

size_t bytes_of(const Array *array) { return (size_t)array->rows * (size_t)array->columns * ITEM; }

/* Rows that there is memory for. */
static int64_t room_of(const Model *model, const ArrayStart *start)
{
    return start->grows && model->history_room > start->rows ? model->history_room : start->rows;
}

/* The numbers that an instance begins with. */
void start_arrays(const Model *model, Array *arrays)
{
    for (int64_t i = 0; i < model->array_count; i++) {
        const ArrayStart *start = &model->arrays[i];
        if (start->role == CONSTANT) continue; /* the machine code has it */
        arrays[i].rows = start->rows;
        if (start->start != NULL) memcpy(arrays[i].data, start->start, bytes_of(&arrays[i]));
        else memset(arrays[i].data, 0, bytes_of(&arrays[i]));
    }
}

/* What is not saved with an instance, as it begins. */
void start_scratch(const Model *model, Array *arrays)
{
    for (int64_t i = 0; i < model->array_count; i++) {
        const ArrayStart *start = &model->arrays[i];
        if (start->role != SCRATCH) continue;
        if (start->start != NULL) memcpy(arrays[i].data, start->start, bytes_of(&arrays[i]));
        else memset(arrays[i].data, 0, bytes_of(&arrays[i]));
    }
}

Array *new_arrays(const Model *model)
{
    Array *arrays = calloc((size_t)model->array_count, sizeof *arrays);
    if (arrays == NULL) return NULL;
    for (int64_t i = 0; i < model->array_count; i++) {
        const ArrayStart *start = &model->arrays[i];
        size_t size = (size_t)room_of(model, start) * (size_t)start->columns;
        arrays[i].rows = start->rows;
        arrays[i].columns = start->columns;
        if (start->role == CONSTANT) continue;
        arrays[i].data = calloc(size + 1, ITEM); /* never of size 0 */
        if (arrays[i].data == NULL) {
            free_arrays(model, arrays);
            return NULL;
        }
    }
    start_arrays(model, arrays);
    return arrays;
}

/* The same numbers in other arrays of the same model; 0 where there is no memory. */
int copy_arrays(const Model *model, const Array *arrays, Array *copied)
{
    for (int64_t i = 0; i < model->array_count; i++) {
        if (model->arrays[i].role == CONSTANT) continue;
        if (arrays[i].rows > copied[i].rows && !grow_array(model, &copied[i], arrays[i].rows)) return 0;
        copied[i].rows = arrays[i].rows;
        memcpy(copied[i].data, arrays[i].data, bytes_of(&arrays[i]));
    }
    return 1;
}

void free_arrays(const Model *model, Array *arrays)
{
    for (int64_t i = 0; i < model->array_count; i++) free(arrays[i].data);
    free(arrays);
}

/* More rows at the end, zeros; what is there stays. */
int grow_array(const Model *model, Array *array, int64_t wanted)
{
    if (wanted <= array->rows || wanted > MOST_ITEMS) return 0;
    if (model->history_room != 0) {
        if (wanted > model->history_room) return 0;
    } else {
        void *data = realloc(array->data, (size_t)wanted * ITEM);
        if (data == NULL) return 0;
        array->data = data;
    }
    memset((char *)array->data + bytes_of(array), 0, (size_t)(wanted - array->rows) * ITEM);
    array->rows = wanted;
    return 1;
}

/* The histories, and what lies beside them and is so many times as long. */
int grow_histories(const Model *model, Array *arrays, int64_t wanted)
{
    const ArrayStart *starts = model->arrays;
    for (int64_t i = 0; i < model->array_count; i++) {
        int64_t rows;
        if (!starts[i].grows || i == model->history) continue;
        rows = starts[i].rows / starts[model->history].rows * wanted;
        if (rows > arrays[i].rows && !grow_array(model, &arrays[i], rows)) return 0;
    }
    return grow_array(model, &arrays[model->history], wanted);
}

/* Memory for the length of a call, from that of the instance; what was borrowed last is given back first. Where
   histories grow more may be had, else NULL is the answer. */
void *borrow(Instance *instance, size_t size)
{
    size_t rounded = (size + ITEM - 1) / ITEM * ITEM;
    char *borrowed = instance->room + instance->room_used;
    if (rounded > instance->room_size - instance->room_used)
        return instance->model->history_room == 0 ? malloc(size + 1) : NULL;
    instance->room_used += rounded;
    return borrowed;
}

void give_back(Instance *instance, void *borrowed)
{
    char *begin = borrowed;
    if (begin == NULL) return;
    if (begin >= instance->room && begin <= instance->room + instance->room_size)
        instance->room_used = (size_t)(begin - instance->room);
    else
        free(borrowed);
}

Status no_room(Instance *instance, const char *function)
{
    if (instance->model->history_room == 0) return refuse(instance, function, "there is no memory");
    return refuse(instance, function, "there is no room for so many values in one call, and nothing is allocated "
                                      "after the instantiation: give each variable once");
}

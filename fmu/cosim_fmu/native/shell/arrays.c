/* The arrays of an instance: constant ones are the model's own, all others are copies. */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

size_t bytes_of(const Array *array) { return (size_t)array->rows * (size_t)array->columns * ITEM; }

static int is_shared(const ArrayStart *start) { return start->role == CONSTANT && !start->own && start->start != NULL; }

static int fill(const ArrayStart *start, Array *array)
{
    array->rows = start->rows;
    array->columns = start->columns;
    if (is_shared(start)) {
        /* The machine code takes all arrays alike, and writes into none of these. */
        memcpy(&array->data, &start->start, sizeof array->data);
        return 1;
    }
    array->data = calloc(bytes_of(array) / ITEM + 1, ITEM); /* never of size 0 */
    if (array->data == NULL) return 0;
    if (start->start != NULL) memcpy(array->data, start->start, bytes_of(array));
    return 1;
}

Array *new_arrays(const Model *model)
{
    Array *arrays = calloc((size_t)model->array_count, sizeof *arrays);
    int complete = arrays != NULL;
    for (int64_t i = 0; complete && i < model->array_count; i++) complete = fill(&model->arrays[i], &arrays[i]);
    if (!complete) {
        if (arrays != NULL) free_arrays(model, arrays);
        return NULL;
    }
    for (int64_t i = 0; i < model->address_count; i++) {
        const Address *address = &model->addresses[i];
        int64_t *words = arrays[address->array].data;
        words[address->index] = (int64_t)(intptr_t)address->function;
    }
    return arrays;
}

void free_arrays(const Model *model, Array *arrays)
{
    for (int64_t i = 0; i < model->array_count; i++)
        if (!is_shared(&model->arrays[i])) free(arrays[i].data);
    free(arrays);
}

/* More room at the end, zeros; what is there stays. */
int grow_array(Array *array, int64_t wanted)
{
    void *data;
    if (wanted <= array->rows || wanted > MOST_ITEMS) return 0;
    data = realloc(array->data, (size_t)wanted * ITEM);
    if (data == NULL) return 0;
    memset((char *)data + bytes_of(array), 0, (size_t)(wanted - array->rows) * ITEM);
    array->data = data;
    array->rows = wanted;
    return 1;
}

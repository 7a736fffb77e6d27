/* The arrays of an instance; the machine code has the constant ones itself. */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

size_t bytes_of(const Array *array) { return (size_t)array->rows * (size_t)array->columns * ITEM; }

static int fill(const ArrayStart *start, Array *array)
{
    array->rows = start->rows;
    array->columns = start->columns;
    if (start->role == CONSTANT) return 1; /* the machine code has it */
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
    return arrays;
}

/* The same numbers in arrays of their own. */
Array *copy_arrays(const Model *model, const Array *arrays)
{
    Array *copied = new_arrays(model);
    for (int64_t i = 0; copied != NULL && i < model->array_count; i++) {
        if (model->arrays[i].role == CONSTANT) continue;
        if (arrays[i].rows > copied[i].rows && !grow_array(&copied[i], arrays[i].rows)) {
            free_arrays(model, copied);
            return NULL;
        }
        memcpy(copied[i].data, arrays[i].data, bytes_of(&arrays[i]));
    }
    return copied;
}

void free_arrays(const Model *model, Array *arrays)
{
    for (int64_t i = 0; i < model->array_count; i++) free(arrays[i].data);
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

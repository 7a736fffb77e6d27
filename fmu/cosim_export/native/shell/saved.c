/* A saved state: one block of bytes from which another instance, also in another process, continues.

   Layout: a `Head`; for each array with the role STATE its number of rows and its numbers; a checksum. Numbers are as
   in memory, little-endian on every platform for which FMUs are built. `put_arrays` writes the arrays and `next_array`
   reads them: nothing else knows how they lie. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

static const unsigned char MAGIC[8] = {'C', 'O', 'S', 'I', 'M', 'S', 'T', '1'};

enum { CHECKSUM = 8, DIGEST = 16 };

typedef struct {
    unsigned char magic[sizeof MAGIC];
    unsigned char digest[DIGEST]; /* of the model */
    uint64_t size;                /* of the block */
    Life life;
} Head;

/* One block of bytes, which is also its serialized form. */
typedef struct {
    size_t size;
    unsigned char *bytes;
    void **states; /* of the FMUs inside, one for each; NULL: there are none */
} Saved;

/* An array in a block. */
typedef struct {
    int64_t place; /* among the arrays of the model; -1: before the first one */
    int64_t rows;
    const unsigned char *numbers;
    const unsigned char *end;
} SavedArray;

static Saved *new_saved(const Model *model, size_t size)
{
    Saved *saved = malloc(sizeof *saved);
    if (saved == NULL) return NULL;
    saved->size = size;
    saved->bytes = malloc(size);
    saved->states = model->foreign_count == 0 ? NULL : calloc((size_t)model->foreign_count, sizeof *saved->states);
    if (saved->bytes != NULL && (saved->states != NULL || model->foreign_count == 0)) return saved;
    free(saved->states);
    free(saved->bytes);
    free(saved);
    return NULL;
}

static uint64_t checksum(const unsigned char *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u; /* FNV-1a, over words */
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        sum = (sum ^ word) * 1099511628211u;
        sum ^= sum >> 29;
    }
    return sum;
}

/* Writes a piece, or only counts it where `bytes` is NULL; returns where the next one begins. */
static size_t put(unsigned char *bytes, size_t at, const void *piece, size_t size)
{
    if (bytes != NULL && size > 0) memcpy(bytes + at, piece, size);
    return at + size;
}

/* Writes the saved arrays, or only counts their bytes where `bytes` is NULL; returns where they end. */
static size_t put_arrays(const Instance *instance, unsigned char *bytes)
{
    size_t at = sizeof(Head);
    for (int64_t i = 0; i < instance->model->array_count; i++) {
        const Array *array = &instance->arrays[i];
        if (instance->model->arrays[i].role != STATE) continue;
        at = put(bytes, at, &array->rows, sizeof array->rows);
        at = put(bytes, at, array->data, bytes_of(array));
    }
    return at;
}

/* The array behind this one in the bytes up to `end`. Returns 1; 0 behind the last one; -1 where it does not fit. */
static int next_array(const Model *model, SavedArray *saved, const unsigned char *end)
{
    const ArrayStart *array;
    do {
        saved->place++;
    } while (saved->place < model->array_count && model->arrays[saved->place].role != STATE);
    if (saved->place == model->array_count) return saved->end == end ? 0 : -1;
    array = &model->arrays[saved->place];
    if ((size_t)(end - saved->end) < sizeof saved->rows) return -1;
    memcpy(&saved->rows, saved->end, sizeof saved->rows);
    saved->numbers = saved->end + sizeof saved->rows;
    if (saved->rows < array->rows || (saved->rows > array->rows && !array->grows) || saved->rows > MOST_ITEMS ||
        (size_t)(end - saved->numbers) / ITEM / (size_t)array->columns < (size_t)saved->rows)
        return -1;
    saved->end = saved->numbers + (size_t)saved->rows * (size_t)array->columns * ITEM;
    return 1;
}

Status save(Instance *instance, const char *function, void **state)
{
    const Model *model = instance->model;
    size_t size = put_arrays(instance, NULL) + CHECKSUM;
    Head head = {.size = size, .life = instance->life};
    uint64_t sum;
    Saved *saved;
    if (state == NULL) return refuse(instance, function, "no place for the state");
    if (need_mode(instance, function, ANY & ~INTERMEDIATE) != OK) return ERROR;
    saved = *state;
    if (saved != NULL && saved->size != size) {
        (void)drop(instance, function, state);
        saved = NULL;
    }
    if (saved == NULL) *state = saved = new_saved(model, size);
    if (saved == NULL) return refuse(instance, function, "there is no memory");
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    memcpy(head.digest, model->digest, DIGEST);
    (void)put(saved->bytes, 0, &head, sizeof head);
    (void)put_arrays(instance, saved->bytes);
    sum = checksum(saved->bytes, size - CHECKSUM);
    (void)put(saved->bytes, size - CHECKSUM, &sum, CHECKSUM);
    if (model->save_states != NULL && model->save_states(instance, saved->states) != OK)
        return refuse(instance, function, "a participant cannot save its state");
    return OK;
}

Status drop(Instance *instance, const char *function, void **state)
{
    Saved *saved = state == NULL ? NULL : *state;
    (void)function;
    if (saved == NULL) return OK;
    if (saved->states != NULL && instance->model->free_states != NULL) instance->model->free_states(instance, saved->states);
    free(saved->states);
    free(saved->bytes);
    free(saved);
    *state = NULL;
    return OK;
}

Status size_in_bytes(Instance *instance, const char *function, const void *state, size_t *size)
{
    const Saved *saved = state;
    if (saved == NULL || size == NULL) return refuse(instance, function, "there is no saved state");
    if (instance->model->save_states != NULL)
        return refuse(instance, function, "states of the FMUs inside cannot be serialized");
    *size = saved->size;
    return OK;
}

Status to_bytes(Instance *instance, const char *function, const void *state, void *bytes, size_t size)
{
    const Saved *saved = state;
    if (saved == NULL || bytes == NULL) return refuse(instance, function, "there is no saved state");
    if (size < saved->size)
        return refuse(instance, function, "the state has %zu bytes, there is room for %zu", saved->size, size);
    memcpy(bytes, saved->bytes, saved->size);
    return OK;
}

/* Whether a life can be that of an instance of the same kind. */
static int is_sound(const Instance *instance, const Life *life)
{
    int64_t mode = life->mode;
    int64_t modes = instance->life.kind == CO_SIMULATION ? INSTANTIATED | INITIALIZING | STEPPING | EVENT | STOPPED
                                                         : INSTANTIATED | INITIALIZING | EVENT | CONTINUOUS | STOPPED;
    int one = mode > 0 && (mode & (mode - 1)) == 0;
    if (life->kind != instance->life.kind || !one || (mode & modes) == 0) return 0;
    if (!isfinite(life->start) || !isfinite(life->stop) || !isfinite(life->time)) return 0;
    return life->accuracy > 0.0 && life->accuracy < 1.0;
}

/* Refuses bytes that are no state of this model and kind of instance; whether the numbers fit together is checked when
   they are restored. */
static Status check_bytes(Instance *instance, const char *function, const unsigned char *bytes, size_t size)
{
    const Model *model = instance->model;
    uint64_t sum;
    Head head;
    SavedArray array = {.place = -1};
    int more;
    if (bytes == NULL || size < sizeof head + CHECKSUM || size % 8 != 0 || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return refuse(instance, function, "these are not the bytes of a state of such an FMU");
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.digest, model->digest, DIGEST) != 0)
        return refuse(instance, function, "these are the bytes of a state of another FMU");
    memcpy(&sum, bytes + size - CHECKSUM, CHECKSUM);
    if (head.size != size || sum != checksum(bytes, size - CHECKSUM))
        return refuse(instance, function, "the bytes of this state are damaged");
    if (!is_sound(instance, &head.life))
        return refuse(instance, function, "the bytes of this state are damaged, or of an instance of another kind");
    array.end = bytes + sizeof head;
    while ((more = next_array(model, &array, bytes + size - CHECKSUM)) > 0) continue;
    if (more == 0) return OK;
    if (array.place < model->array_count)
        return refuse(instance, function, "the bytes of this state are damaged (%s)", model->arrays[array.place].name);
    return refuse(instance, function, "the bytes of this state are damaged");
}

/* Copies the arrays of a checked block; 0 where there is no memory. */
static int read_arrays(const Model *model, const Saved *saved, Array *arrays)
{
    SavedArray array = {.place = -1, .end = saved->bytes + sizeof(Head)};
    start_arrays(model, arrays);
    while (next_array(model, &array, saved->bytes + saved->size - CHECKSUM) > 0) {
        Array *copy = &arrays[array.place];
        if (array.rows > copy->rows && !grow_array(model, copy, array.rows)) return 0;
        if (bytes_of(copy) > 0) memcpy(copy->data, array.numbers, bytes_of(copy));
    }
    return 1;
}

/* Whether the arrays of an instance fit together; its entry points get the accuracy and the stop time. */
static int fits_together(Instance *instance)
{
    const Model *model = instance->model;
    int64_t code;
    if (!(instance->life.mode & (RUNNING | STOPPED))) return 1;
    code = call(instance, model->accuracy_given, instance->life.accuracy);
    (void)call(instance, model->stop_given, instance->life.has_stop ? instance->life.stop : HUGE_VAL);
    if (!is_failure(model, code)) code = call(instance, model->check, 0.0);
    return !is_failure(model, code);
}

/* A refused state leaves the instance as it was. Only where an FMU inside cannot restore its state, the rest of the
   instance has been restored already. */
Status restore(Instance *instance, const char *function, const void *state)
{
    const Model *model = instance->model;
    const Saved *saved = state;
    Array *before = instance->arrays;
    Life life = instance->life;
    Head head;
    if (need_mode(instance, function, ANY & ~INTERMEDIATE) != OK) return ERROR;
    if (saved == NULL) return refuse(instance, function, "there is no saved state");
    if (check_bytes(instance, function, saved->bytes, saved->size) != OK) return ERROR;
    instance->begun = NULL; /* it lies in the spare arrays */
    if (!read_arrays(model, saved, instance->spare)) return no_room(instance, function);
    memcpy(&head, saved->bytes, sizeof head);
    instance->arrays = instance->spare;
    instance->spare = before;
    instance->life = head.life;
    if (life.mode != INSTANTIATED || life.has_stop) { /* the host has told this instance another stop time */
        instance->life.has_stop = life.has_stop;
        instance->life.stop = life.stop;
    }
    note_restored(instance);
    if (!fits_together(instance)) {
        instance->spare = instance->arrays;
        instance->arrays = before;
        instance->life = life;
        return refuse(instance, function, "the bytes of this state are damaged (they do not fit together)");
    }
    release_discrete(instance);
    if (model->restore_states != NULL && model->restore_states(instance, saved->states) != OK)
        return refuse(instance, function, "a participant cannot go back to its state");
    return OK;
}

Status from_bytes(Instance *instance, const char *function, const void *bytes, size_t size, void **state)
{
    Saved *saved;
    if (state == NULL) return refuse(instance, function, "no place for the state");
    if (check_bytes(instance, function, bytes, size) != OK) return ERROR;
    saved = new_saved(instance->model, size);
    if (saved == NULL) return refuse(instance, function, "there is no memory");
    memcpy(saved->bytes, bytes, size);
    (void)drop(instance, function, state);
    *state = saved;
    return OK;
}

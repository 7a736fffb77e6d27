/* A saved state: one block of bytes that another instance, also in another process, goes on from.

   magic, digest of the model, size, life, for each array of the state its rows and its numbers, a checksum. Numbers
   are as in memory, little-endian on every platform there is an FMU for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

static const unsigned char MAGIC[8] = {'C', 'O', 'S', 'I', 'M', 'S', 'T', '1'};

enum { SUM = 8, DIGEST = 16, HEAD = 8 + DIGEST + 8 };

/* One block of bytes, which is also its serialized form. */
typedef struct {
    size_t size;
    unsigned char *bytes;
    void **states; /* of FMUs of others, which hold them; NULL: there are none */
} Saved;

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

static size_t saved_size(const Instance *instance)
{
    const Model *model = instance->model;
    size_t size = HEAD + sizeof(Life) + SUM;
    for (int64_t i = 0; i < model->array_count; i++)
        if (model->arrays[i].role == STATE) size += 8 + bytes_of(&instance->arrays[i]);
    return size;
}

static unsigned char *put(unsigned char *at, const void *what, size_t size)
{
    if (size > 0) memcpy(at, what, size);
    return at + size;
}

Status save(Instance *instance, const char *function, void **state)
{
    const Model *model = instance->model;
    size_t size = saved_size(instance);
    uint64_t length = size, sum;
    Saved *saved;
    unsigned char *at;
    if (state == NULL) return refuse(instance, function, "no place for the state");
    if (need_mode(instance, function, ANY & ~INTERMEDIATE) != OK) return ERROR;
    saved = *state;
    if (saved != NULL && saved->size != size) {
        (void)drop(instance, function, state);
        saved = NULL;
    }
    if (saved == NULL) *state = saved = new_saved(model, size);
    if (saved == NULL) return refuse(instance, function, "there is no memory");
    at = put(saved->bytes, MAGIC, sizeof MAGIC);
    at = put(at, model->digest, DIGEST);
    at = put(at, &length, 8);
    at = put(at, &instance->life, sizeof(Life));
    for (int64_t i = 0; i < model->array_count; i++) {
        if (model->arrays[i].role != STATE) continue;
        at = put(at, &instance->arrays[i].rows, 8);
        at = put(at, instance->arrays[i].data, bytes_of(&instance->arrays[i]));
    }
    sum = checksum(saved->bytes, size - SUM);
    (void)put(at, &sum, SUM);
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

/* Looks at everything that can be known without trying. */
static Status check_bytes(Instance *instance, const char *function, const unsigned char *bytes, size_t size)
{
    const Model *model = instance->model;
    uint64_t length, sum;
    Life life;
    size_t at = HEAD + sizeof(Life);
    if (bytes == NULL || size < HEAD + sizeof(Life) + SUM || size % 8 != 0 || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return refuse(instance, function, "these are not the bytes of a state of such an FMU");
    if (memcmp(bytes + sizeof MAGIC, model->digest, DIGEST) != 0)
        return refuse(instance, function, "these are the bytes of a state of another FMU");
    memcpy(&length, bytes + sizeof MAGIC + DIGEST, 8);
    memcpy(&sum, bytes + size - SUM, SUM);
    if (length != size || sum != checksum(bytes, size - SUM))
        return refuse(instance, function, "the bytes of this state are damaged");
    memcpy(&life, bytes + HEAD, sizeof life);
    if (!is_sound(instance, &life))
        return refuse(instance, function, "the bytes of this state are damaged, or of an instance of another kind");
    for (int64_t i = 0; i < model->array_count; i++) {
        const ArrayStart *array = &model->arrays[i];
        int64_t rows;
        if (array->role != STATE) continue;
        if (size - SUM - at < 8) return refuse(instance, function, "the bytes of this state are damaged");
        memcpy(&rows, bytes + at, 8);
        at += 8;
        if (rows < array->rows || (rows > array->rows && !array->grows) || rows > MOST_ITEMS ||
            (size - SUM - at) / ITEM / (size_t)array->columns < (size_t)rows)
            return refuse(instance, function, "the bytes of this state are damaged (%s)", array->name);
        at += (size_t)rows * (size_t)array->columns * ITEM;
    }
    if (at != size - SUM) return refuse(instance, function, "the bytes of this state are damaged");
    return OK;
}

/* Takes it all or nothing. */
Status restore(Instance *instance, const char *function, const void *state)
{
    const Model *model = instance->model;
    const Saved *saved = state;
    Array *arrays, *before = instance->arrays;
    Life life = instance->life;
    const unsigned char *at;
    if (need_mode(instance, function, ANY & ~INTERMEDIATE) != OK) return ERROR;
    if (saved == NULL) return refuse(instance, function, "there is no saved state");
    if (check_bytes(instance, function, saved->bytes, saved->size) != OK) return ERROR;
    instance->begun = NULL; /* it lies in the spare arrays */
    arrays = instance->spare;
    start_arrays(model, arrays);
    at = saved->bytes + HEAD + sizeof(Life);
    for (int64_t i = 0; i < model->array_count; i++) {
        int64_t rows;
        if (model->arrays[i].role != STATE) continue;
        memcpy(&rows, at, 8);
        at += 8;
        if (rows > arrays[i].rows && !grow_array(model, &arrays[i], rows)) return no_room(instance, function);
        if (bytes_of(&arrays[i]) > 0) memcpy(arrays[i].data, at, bytes_of(&arrays[i]));
        at += bytes_of(&arrays[i]);
    }
    instance->arrays = arrays;
    instance->spare = before;
    release_discrete(instance);
    memcpy(&instance->life, saved->bytes + HEAD, sizeof(Life));
    if (life.mode != INSTANTIATED || life.has_stop) { /* the stop time is what the host has told this instance */
        instance->life.has_stop = life.has_stop;
        instance->life.stop = life.stop;
    }
    note_restored(instance);
    if (instance->life.mode & (RUNNING | STOPPED)) {
        int64_t code = call(instance, model->accuracy_given, instance->life.accuracy);
        (void)call(instance, model->stop_given, instance->life.has_stop ? instance->life.stop : HUGE_VAL);
        if (!is_failure(model, code)) code = call(instance, model->check, 0.0);
        if (is_failure(model, code)) {
            instance->arrays = before;
            instance->spare = arrays;
            instance->life = life;
            return refuse(instance, function, "the bytes of this state are damaged (they do not fit together)");
        }
    }
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

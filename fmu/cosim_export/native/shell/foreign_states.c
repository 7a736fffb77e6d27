/* States of FMUs of others: copied, gone back to, and freed. */
#include "foreign.h"

#include <math.h>
#include <stdlib.h>

/* A state of an FMU, and what is known of it beside. */
typedef struct {
    void *state;
    double time;
    double next_event;
    int64_t ended;
} SavedState;

void delete_state(Foreign *foreign, void **place)
{
    SavedState *saved = *place;
    if (saved != NULL && saved->state != NULL && foreign->component != NULL)
        foreign->calls->free_state(foreign, &saved->state);
    free(saved);
    *place = NULL;
}

Status copy_state(Foreign *foreign, void **place)
{
    SavedState *saved = *place;
    if (foreign->component == NULL) return OK;
    if (saved == NULL) *place = saved = calloc(1, sizeof *saved);
    if (saved == NULL) return ERROR;
    if (saved->state != NULL) foreign->calls->free_state(foreign, &saved->state);
    saved->state = NULL;
    saved->time = foreign->time;
    saved->next_event = foreign->next_event;
    saved->ended = foreign->ended;
    return foreign->calls->get_state(foreign, &saved->state);
}

/* Inputs that are written in event mode are written there once more. */
void forget_written(Foreign *foreign)
{
    for (int64_t i = 0; i < foreign->of->foreign->discrete_count; i++) foreign->written[i] = (double)NAN;
}

Status go_to_state(Foreign *foreign, const void *place)
{
    const SavedState *saved = place;
    if (saved == NULL) return OK;
    if (foreign->component == NULL) return ERROR;
    foreign->time = saved->time;
    foreign->next_event = saved->next_event;
    foreign->ended = saved->ended;
    forget_written(foreign);
    return foreign->calls->set_state(foreign, saved->state);
}

int foreign_save_states(Instance *instance, void **states)
{
    for (int64_t i = 0; i < cosim_container.member_count; i++)
        if (copy_state(foreign_at(instance->arrays, i), &states[i]) > WARNING) return ERROR;
    return OK;
}

int foreign_restore_states(Instance *instance, void *const *states)
{
    for (int64_t i = 0; i < cosim_container.member_count; i++) {
        Foreign *foreign = foreign_at(instance->arrays, i);
        foreign->ended = 0;
        if (go_to_state(foreign, states[i]) > WARNING) return ERROR;
    }
    return OK;
}

void foreign_free_states(Instance *instance, void **states)
{
    for (int64_t i = 0; i < cosim_container.member_count; i++) delete_state(foreign_at(instance->arrays, i), &states[i]);
}

/* Discrete variables of a host that has event mode and takes no early return: what events inside of a step have
   changed is shown in event mode alone. */
#include "arrays.h"

static double number_of(Instance *instance, const Variable *variable)
{
    const Array *array = &instance->arrays[variable->array];
    return variable->is_whole ? (double)((int64_t *)array->data)[variable->index]
                              : ((double *)array->data)[variable->index];
}

void release_discrete(Instance *instance)
{
    instance->held = NULL;
}

/* Keeps what they are before a step; nothing where there is none, or where it cannot be computed. */
void hold_discrete(Instance *instance, const char *function)
{
    const Model *model = instance->model;
    double *held;
    release_discrete(instance);
    if (model->discrete_count == 0 || compute(instance, function) != OK) return;
    held = instance->holds;
    for (int64_t i = 0; i < model->discrete_count; i++)
        held[i] = number_of(instance, &model->variables[model->discretes[i]]);
    instance->held = held;
}

/* Whether the step has changed one; if not, none is held any more. */
int is_held(Instance *instance, const char *function)
{
    const Model *model = instance->model;
    if (instance->held == NULL || compute(instance, function) != OK) return 0;
    for (int64_t i = 0; i < model->discrete_count; i++)
        if (number_of(instance, &model->variables[model->discretes[i]]) != instance->held[i]) return 1;
    release_discrete(instance);
    return 0;
}

/* What is shown of a variable that is held; NULL for others. */
const double *held_number(const Instance *instance, const Variable *variable)
{
    return instance->held == NULL || variable->discrete < 0 ? NULL : &instance->held[variable->discrete];
}

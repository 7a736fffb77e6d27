/* Values of variables: read, set, and how some change with others. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static const int64_t MOST_WHOLE = INT64_C(1) << 53;

const Variable *find_variable(Instance *instance, const char *function, uint32_t reference, int64_t type)
{
    static const char *const types[] = {"a real number", "an integer", "a Boolean", "a string"};
    const Model *model = instance->model;
    const Variable *variable;
    if (reference >= model->variable_count) {
        (void)refuse(instance, function, "no variable has the value reference %u; there are 0 to %lld",
                     (unsigned)reference, (long long)model->variable_count - 1);
        return NULL;
    }
    variable = &model->variables[reference];
    if (variable->type != type && type != ANY_TYPE) {
        (void)refuse(instance, function, "%s is %s, not %s", variable->name, types[variable->type], types[type]);
        return NULL;
    }
    return variable;
}

/* The number that is written where a variable is set: of an input that runs along a line, where that began. */
double *place_of(Instance *instance, const Variable *variable)
{
    if (variable->array < 0) return clock_of(instance, instance->model->clock_time);
    return &numbers(instance, variable->array)[variable->index];
}

static int is_running(Instance *instance, const Variable *variable)
{
    return variable->slope >= 0 && !isnan(numbers(instance, variable->array)[variable->slope]);
}

/* Frames are twelve numbers, R by rows and p, and shown as position and body-fixed x-y-z angles. */
static void angles_of(Instance *instance, double *pose, double *angles)
{
    Array frame[] = {{pose, 12, 1}, {angles, 3, 1}};
    (void)instance->model->frame_angles(frame, 0.0);
}

static void turn(Instance *instance, double *pose, double *angles)
{
    Array frame[] = {{pose, 12, 1}, {angles, 3, 1}};
    (void)instance->model->turned_frame(frame, 0.0);
}

/* The angles of a frame that are among these variables, all at once, where the first of them stands; others of it
   stay. Whether something has changed. */
int set_angles(Instance *instance, const uint32_t *references, size_t count, const double *values, size_t first)
{
    const Variable *variables = instance->model->variables, *of = &variables[references[first]];
    double *pose = place_of(instance, of), angles[3];
    int changed = 0;
    for (size_t i = 0; i < first; i++) {
        const Variable *variable = &variables[references[i]];
        if (variable->angle >= 0 && variable->array == of->array && variable->index == of->index) return 0;
    }
    angles_of(instance, pose, angles);
    for (size_t i = first; i < count; i++) {
        const Variable *variable = &variables[references[i]];
        if (variable->angle < 0 || variable->array != of->array || variable->index != of->index) continue;
        changed = changed || angles[variable->angle] != values[i];
        angles[variable->angle] = values[i];
    }
    if (changed) turn(instance, pose, angles);
    return changed;
}

/* How far an input has run along its line. */
static double course(Instance *instance, const Variable *variable)
{
    const double *array = numbers(instance, variable->array);
    double now = *clock_of(instance, instance->model->clock_time);
    return (now - array[variable->since]) * array[variable->slope];
}

double read_real(Instance *instance, const Variable *variable)
{
    double value = *place_of(instance, variable), angles[3];
    if (variable->angle >= 0) {
        angles_of(instance, place_of(instance, variable), angles);
        return angles[variable->angle];
    }
    return is_running(instance, variable) ? value + course(instance, variable) : value;
}

/* What a variable is read from, with all that it needs computed; NULL where that fails. In initialization mode what
   cannot be set is what it will be when that mode ends. */
static Array *read_from(Instance *instance, const char *function, const Variable *variable)
{
    const Model *model = instance->model;
    Array *arrays = variable->settable == NEVER ? begun_arrays(instance) : NULL;
    if (arrays == NULL) {
        if (variable->computed && compute(instance, function) != OK) return NULL;
        arrays = instance->arrays;
    }
    if (model->refresh != NULL && variable->array == model->refreshed) model->refresh(arrays);
    return arrays;
}

Status get_real(Instance *instance, const char *function, const uint32_t *references, size_t count, double *values)
{
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no place for values");
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], REAL);
        const double *held = variable == NULL ? NULL : held_number(instance, variable);
        Array *own = instance->arrays, *arrays;
        if (variable == NULL) return ERROR;
        if (held != NULL) {
            values[i] = *held;
            continue;
        }
        arrays = read_from(instance, function, variable);
        if (arrays == NULL) return ERROR;
        instance->arrays = arrays;
        values[i] = read_real(instance, variable);
        instance->arrays = own;
    }
    return OK;
}

/* What a variable is now, of any type; what it is as a start where it runs along a line. */
static double present(Instance *instance, const Variable *variable)
{
    const int64_t *integers = instance->arrays[variable->array < 0 ? 0 : variable->array].data;
    if (variable->angle >= 0) return read_real(instance, variable);
    return variable->is_whole ? (double)integers[variable->index] : *place_of(instance, variable);
}

static int64_t whole_at(const void *values, size_t i, size_t width)
{
    if (width == sizeof(int64_t)) return ((const int64_t *)values)[i];
    return width == sizeof(int32_t) ? ((const int32_t *)values)[i] : ((const int8_t *)values)[i];
}

static void put_whole(void *values, size_t i, size_t width, int64_t value)
{
    if (width == sizeof(int64_t)) ((int64_t *)values)[i] = value;
    else if (width == sizeof(int32_t)) ((int32_t *)values)[i] = (int32_t)value;
    else ((int8_t *)values)[i] = (int8_t)value;
}

/* A whole number that is read; an error where a component has computed none. */
static Status read_whole(Instance *instance, const char *function, const Variable *variable, const Array *arrays,
                         int64_t *value)
{
    const double *held = held_number(instance, variable);
    double number;
    if (variable->is_whole && held == NULL) {
        *value = ((int64_t *)arrays[variable->array].data)[variable->index];
        return OK;
    }
    number = held != NULL ? *held : ((double *)arrays[variable->array].data)[variable->index];
    if (!(fabs(number) <= (double)MOST_WHOLE) || number != floor(number))
        return refuse(instance, function, "%s is %g, which is not an integer", variable->name, number);
    *value = (int64_t)number;
    return OK;
}

Status get_whole(Instance *instance, const char *function, int64_t type, const uint32_t *references, size_t count,
                 void *values, size_t width)
{
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no place for values");
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], type);
        const Array *arrays;
        int64_t value = 0;
        if (variable == NULL) return ERROR;
        arrays = read_from(instance, function, variable);
        if (arrays == NULL) return ERROR;
        if (read_whole(instance, function, variable, arrays, &value) != OK) return ERROR;
        if (type == BOOLEAN) value = value != 0;
        if (width == sizeof(int32_t) && (value > INT32_MAX || value < INT32_MIN))
            return refuse(instance, function, "%s is %lld, which FMI 2.0 cannot hold", variable->name,
                          (long long)value);
        put_whole(values, i, width, value);
    }
    return OK;
}

Status get_text(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const char **values)
{
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no place for values");
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], STRING);
        const Array *arrays;
        int64_t number = 0;
        if (variable == NULL) return ERROR;
        arrays = read_from(instance, function, variable);
        if (arrays == NULL || read_whole(instance, function, variable, arrays, &number) != OK) return ERROR;
        if (number < 1 || number > variable->word_count)
            return refuse(instance, function, "%s is %lld, which stands for none of its %lld texts", variable->name,
                          (long long)number, (long long)variable->word_count);
        values[i] = variable->words[number - 1];
    }
    return OK;
}

/* Numbers of variables of any type: of a Boolean 0 or 1. */
Status get_numbers(Instance *instance, const char *function, const uint32_t *references, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], ANY_TYPE);
        const Array *arrays;
        int64_t value = 0;
        if (variable == NULL) return ERROR;
        if (variable->type == REAL) {
            if (get_real(instance, function, &references[i], 1, &values[i]) != OK) return ERROR;
            continue;
        }
        arrays = read_from(instance, function, variable);
        if (arrays == NULL || read_whole(instance, function, variable, arrays, &value) != OK) return ERROR;
        values[i] = (double)value;
    }
    return OK;
}

/* Whether a value is there already, wherever an input has run to. */
static int is_present(Instance *instance, const Variable *variable, double value)
{
    double now = is_running(instance, variable) ? read_real(instance, variable) : present(instance, variable);
    return now == value;
}

/* All states of a model lie in one array. */
static int is_continuous_state(const Model *model, const Variable *variable)
{
    return model->state_count > 0 && variable->array == model->variables[model->states[0].variable].array;
}

/* Whether a variable may be given a new value now. In continuous-time mode all real numbers that an evaluation begins
   with may: tools that evaluate at points of their own (for Jacobians, optimization) set states and parameters there. */
static Status check_settable(Instance *instance, const char *function, const Variable *variable)
{
    int64_t mode = instance->life.mode;
    if (mode == STOPPED || mode == FAILED)
        return refuse(instance, function, "%s: not allowed here: the instance is %s", variable->name,
                      mode_name(mode));
    if (variable->settable == UNTIL_STARTED && !(mode & (INSTANTIATED | INITIALIZING)) &&
        !(mode == CONTINUOUS && is_continuous_state(instance->model, variable)))
        return refuse(instance, function, "%s: can be set only before initialization ends", variable->name);
    if (variable->settable != UNTIL_STARTED && mode == CONTINUOUS && variable->type != REAL)
        return refuse(instance, function, "%s: it jumps, so it is set in event mode", variable->name);
    if (variable->settable == INPUT && mode == INTERMEDIATE && variable->type != REAL)
        return refuse(instance, function, "%s: it jumps, so it is set between steps", variable->name);
    if (variable->settable == TUNABLE && mode == INTERMEDIATE)
        return refuse(instance, function, "%s: a parameter is set between steps", variable->name);
    return OK;
}

static Status check_value(Instance *instance, const char *function, const Variable *variable, double value)
{
    if (!isfinite(value))
        return refuse(instance, function, "%s is given %g, needs a finite number", variable->name, value);
    if (value < variable->minimum && variable->minimum == DBL_MIN)
        return refuse(instance, function, "%s is given %.17g, needs more than 0", variable->name, value);
    if (value < variable->minimum)
        return refuse(instance, function, "%s is given %.17g, needs at least %.17g", variable->name, value,
                      variable->minimum);
    if (value > variable->maximum)
        return refuse(instance, function, "%s is given %.17g, needs at most %.17g", variable->name, value,
                      variable->maximum);
    return OK;
}

/* What is computed is never set; what changes nothing is taken wherever there are values. */
static Status check_write(Instance *instance, const char *function, const Variable *variable, double value)
{
    if (variable->settable == NEVER)
        return refuse(instance, function, "%s: it is computed and cannot be set", variable->name);
    if (is_present(instance, variable, value)) return need_mode(instance, function, ANY & ~FAILED);
    if (check_settable(instance, function, variable) != OK) return ERROR;
    return check_value(instance, function, variable, value);
}

/* Parameters */

void set_checks(Instance *instance, double answer)
{
    const Model *model = instance->model;
    double *cache = numbers(instance, model->cache);
    for (int64_t i = 0; i < model->check_count; i++)
        for (int64_t j = 0; j < model->checks[i].answers; j++) cache[model->checks[i].index + j] = answer;
}

/* Whether the present parameters fit together, which the model's checks say, and else what its functions of
   parameters alone refuse. The cache is not touched beyond what these compute. */
static int64_t parameter_failure(Instance *instance)
{
    set_checks(instance, 0.0);
    return call(instance, instance->model->check_parameters, 0.0);
}

Status check_parameters(Instance *instance, const char *function)
{
    int64_t code = parameter_failure(instance);
    return is_failure(instance->model, code) ? failure(instance, function, code) : OK;
}

/* Whether a call has set all that the check looks at which refuses. */
static int is_decided(Instance *instance, const uint32_t *references, size_t count)
{
    const Model *model = instance->model;
    const Check *check = failed_check(instance);
    if (check == NULL) return 0;
    for (int64_t i = 0; i < check->read_count; i++)
        for (int64_t j = 0; j < model->variable_count; j++) {
            const Variable *variable = &model->variables[j];
            int is_set = 0;
            if (variable->array != model->parameters || variable->index != check->reads[i] || variable->angle >= 0)
                continue;
            for (size_t k = 0; k < count; k++) is_set = is_set || references[k] == (uint32_t)j;
            if (!is_set) return 0;
        }
    return 1;
}

/* Whether all can be computed with the present values, here and now. */
static Status try_computing(Instance *instance, const char *function)
{
    void *marks = kept_marks(instance);
    Status status;
    if (marks == NULL) return no_room(instance, function);
    forget_computed(instance);
    status = compute(instance, function);
    put_marks_back(instance, marks);
    return status;
}

/* Tries parameters, and puts the old ones back. While the simulation runs they have to fit what it has come to as well
   (a delay what is remembered): else the next step would fail, and the instance be lost. Before the simulation begins values may come one by one: what
   others can still mend is a warning then, and checked when the initialization ends. */
static Status try_parameters(Instance *instance, const char *function, const uint32_t *references, size_t count,
                             const double *values)
{
    const Model *model = instance->model;
    double *before, *p = numbers(instance, model->parameters);
    Status status = OK;
    size_t size;
    int64_t code;
    int changed = 0;
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = &model->variables[references[i]];
        changed = changed || (variable->array == model->parameters && present(instance, variable) != values[i]);
    }
    if (!changed) return OK;
    size = bytes_of(&instance->arrays[model->parameters]);
    before = borrow(instance, size);
    if (before == NULL) return no_room(instance, function);
    memcpy(before, p, size);
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = &model->variables[references[i]];
        if (variable->array != model->parameters) continue;
        if (variable->angle >= 0) (void)set_angles(instance, references, count, values, i);
        else p[variable->index] = values[i];
    }
    code = parameter_failure(instance);
    if (is_failure(model, code)) {
        if (instance->life.mode & (INSTANTIATED | INITIALIZING) && !is_decided(instance, references, count)) {
            const Check *check = failed_check(instance);
            status = warn(instance, function, "%s: %s, unless others change with it: judged when the initialization ends",
                          check == NULL ? instance->name : check->part,
                          check == NULL ? "a component refuses the values" : sentence_of(instance, check));
        } else {
            status = failure(instance, function, code);
        }
    }
    if (status == OK && instance->life.mode & RUNNING) status = try_computing(instance, function);
    memcpy(p, before, size);
    give_back(instance, before);
    if (status == ERROR) (void)parameter_failure(instance); /* what is computed from the old ones */
    return status;
}

/* All or nothing. */
Status set_numbers(Instance *instance, const char *function, int64_t type, const uint32_t *references,
                          size_t count, const double *values)
{
    Status worst = OK;
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], type);
        if (variable == NULL || check_write(instance, function, variable, values[i]) != OK) worst = ERROR;
    }
    if (worst == OK) worst = try_parameters(instance, function, references, count, values);
    if (worst == ERROR) return ERROR;
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = &instance->model->variables[references[i]];
        double *slope, *since;
        if (variable->angle >= 0) {
            if (set_angles(instance, references, count, values, i)) note_written(instance);
            continue;
        }
        if (!is_running(instance, variable)) {
            if (present(instance, variable) == values[i]) continue;
            if (variable->is_whole)
                ((int64_t *)instance->arrays[variable->array].data)[variable->index] = (int64_t)values[i];
            else
                *place_of(instance, variable) = values[i];
            note_written(instance);
            continue;
        }
        /* a slope that was set for this very instant stays */
        slope = &numbers(instance, variable->array)[variable->slope];
        since = &numbers(instance, variable->array)[variable->since];
        if (*since != *clock_of(instance, instance->model->clock_time)) *slope = (double)NAN;
        *place_of(instance, variable) = values[i];
        note_written(instance);
    }
    return worst;
}

Status set_real(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const double *values)
{
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no values are given");
    return set_numbers(instance, function, REAL, references, count, values);
}

Status set_whole(Instance *instance, const char *function, int64_t type, const uint32_t *references, size_t count,
                 const void *values, size_t width)
{
    double *reals;
    Status status;
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no values are given");
    for (size_t i = 0; i < count; i++) {
        int64_t value = whole_at(values, i, width);
        if (value > MOST_WHOLE || value < -MOST_WHOLE)
            return refuse(instance, function, "%lld is more than is kept exactly", (long long)value);
    }
    reals = borrow(instance, count * sizeof *reals);
    if (reals == NULL) return no_room(instance, function);
    for (size_t i = 0; i < count; i++) {
        int64_t value = whole_at(values, i, width);
        reals[i] = type == BOOLEAN ? (double)(value != 0) : (double)value;
    }
    status = set_numbers(instance, function, type, references, count, reals);
    give_back(instance, reals);
    return status;
}

Status set_text(Instance *instance, const char *function, const uint32_t *references, size_t count,
                const char *const *values)
{
    double *numbers_of_words;
    Status status = OK;
    if (count > 0 && (references == NULL || values == NULL)) return refuse(instance, function, "no values are given");
    numbers_of_words = borrow(instance, count * sizeof *numbers_of_words);
    if (numbers_of_words == NULL) return no_room(instance, function);
    for (size_t i = 0; i < count && status == OK; i++) {
        const Variable *variable = find_variable(instance, function, references[i], STRING);
        const char *text = values[i] == NULL ? "" : values[i];
        int64_t found = 0;
        for (int64_t j = 0; variable != NULL && j < variable->word_count; j++)
            if (strcmp(text, variable->words[j]) == 0) found = j + 1;
        numbers_of_words[i] = (double)found;
        if (variable == NULL) status = ERROR;
        else if (found == 0)
            status = refuse(instance, function, "%s is given '%s', needs one of its %lld texts: '%s' …",
                            variable->name, text, (long long)variable->word_count, variable->words[0]);
    }
    if (status == OK) status = set_numbers(instance, function, STRING, references, count, numbers_of_words);
    give_back(instance, numbers_of_words);
    return status;
}

/* From the present value on, until the input is set again at a later time. */
Status set_slopes(Instance *instance, const char *function, const uint32_t *references, size_t count,
                  const int32_t *orders, const double *slopes)
{
    if (need_mode(instance, function, INSTANTIATED | INITIALIZING | STEPPING) != OK) return ERROR;
    if (instance->life.kind != CO_SIMULATION) return refuse(instance, function, "this instance is for Model Exchange");
    if (count > 0 && (references == NULL || orders == NULL || slopes == NULL))
        return refuse(instance, function, "no values are given");
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = find_variable(instance, function, references[i], REAL);
        if (variable == NULL) return ERROR;
        if (variable->slope < 0) return refuse(instance, function, "%s: it is not an input", variable->name);
        if (orders[i] != 1)
            return refuse(instance, function, "%s: the order is %d, needs 1: inputs run along straight lines",
                          variable->name, (int)orders[i]);
        if (!isfinite(slopes[i]))
            return refuse(instance, function, "%s is given the slope %g, needs a finite number", variable->name,
                          slopes[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const Variable *variable = &instance->model->variables[references[i]];
        double *array = numbers(instance, variable->array);
        if (is_running(instance, variable)) array[variable->index] += course(instance, variable);
        array[variable->slope] = slopes[i];
        array[variable->since] = *clock_of(instance, instance->model->clock_time);
        note_written(instance);
    }
    return OK;
}

/* What runs along a line stays where it is now. */
void end_slopes(Instance *instance)
{
    for (int64_t i = 0; i < instance->model->variable_count; i++) {
        const Variable *variable = &instance->model->variables[i];
        if (!is_running(instance, variable)) continue;
        numbers(instance, variable->array)[variable->index] += course(instance, variable);
        numbers(instance, variable->array)[variable->slope] = (double)NAN;
        note_written(instance);
    }
}

/* Those that were given before the start time was count from there. */
void start_slopes(Instance *instance, double start)
{
    for (int64_t i = 0; i < instance->model->variable_count; i++) {
        const Variable *variable = &instance->model->variables[i];
        if (is_running(instance, variable)) numbers(instance, variable->array)[variable->since] = start;
    }
}

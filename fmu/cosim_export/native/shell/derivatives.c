/* Directional and adjoint derivatives: the tangents of the equations at the present values, and back along them;
   central differences where a block has no tangent, for angles of frames, while witnesses are held, and where a
   tangent is not finite. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

/* Where the tangent of a variable lies; NULL: it has none. */
static double *tangent_of(const Model *model, const Variable *variable, double *y, double *p, double *d, double *c,
                          double *time)
{
    if (variable->array < 0) return time;
    if (variable->angle >= 0) return NULL;
    if (variable->array == model->continuous) return y + variable->index;
    if (variable->array == model->parameters) return p + variable->index;
    if (variable->array == model->discrete) return d + variable->index;
    return variable->array == model->cache ? c + variable->index : NULL;
}

/* Whether it has worked; else differences have to do. */
static int follow_tangents(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                           const uint32_t *knowns, size_t known_count, const double *seed, double *sensitivity)
{
    const Model *model = instance->model;
    const Array *arrays = instance->arrays;
    size_t sizes[] = {(size_t)arrays[model->continuous].rows, (size_t)arrays[model->parameters].rows,
                      (size_t)arrays[model->discrete].rows, (size_t)arrays[model->cache].rows};
    double *y, *p, *d, *c, *work, *cache, time = 0.0;
    size_t size;
    int is_good = 1;
    if (model->tangents == NULL || get_real(instance, function, unknowns, unknown_count, sensitivity) != OK) return 0;
    size = (sizes[0] + sizes[1] + sizes[2] + 2 * sizes[3] + 1) * sizeof *work;
    work = borrow(instance, size);
    if (work == NULL) return 0;
    memset(work, 0, size);
    y = work;
    p = y + sizes[0];
    d = p + sizes[1];
    c = d + sizes[2];
    cache = c + sizes[3];
    memcpy(cache, arrays[model->cache].data, sizes[3] * sizeof *cache);
    for (size_t i = 0; is_good && i < known_count; i++) {
        double *at = tangent_of(model, &model->variables[knowns[i]], y, p, d, c, &time);
        is_good = at != NULL && model->variables[knowns[i]].array != model->cache;
        if (is_good) *at += seed[i];
    }
    if (is_good) {
        Array given[] = {arrays[model->continuous], arrays[model->parameters], arrays[model->discrete],
                         arrays[model->whole], arrays[model->history], {cache, (int64_t)sizes[3], 1},
                         {y, (int64_t)sizes[0], 1}, {p, (int64_t)sizes[1], 1}, {d, (int64_t)sizes[2], 1},
                         {c, (int64_t)sizes[3], 1}, {&time, 1, 1}};
        is_good = model->tangents(given, *clock_of(instance, model->clock_time)) == 0;
    }
    /* states whose rates are other ones are held */
    for (size_t i = 0; is_good && i < sizes[0]; i++) {
        double now = numbers(instance, model->cache)[i];
        is_good = now == cache[i] || (isnan(now) && isnan(cache[i]));
    }
    for (size_t i = 0; is_good && i < unknown_count; i++) {
        const double *at = tangent_of(model, &model->variables[unknowns[i]], y, p, d, c, &time);
        is_good = at != NULL && isfinite(*at);
        if (is_good) sensitivity[i] = *at;
    }
    give_back(instance, work);
    return is_good;
}

static Status check_unknowns_and_knowns(Instance *instance, const char *function, const uint32_t *unknowns,
                                        size_t unknown_count, const uint32_t *knowns, size_t known_count)
{
    for (size_t i = 0; i < unknown_count; i++)
        if (find_variable(instance, function, unknowns[i], REAL) == NULL) return ERROR;
    for (size_t i = 0; i < known_count; i++) {
        const Variable *known = find_variable(instance, function, knowns[i], REAL);
        if (known == NULL) return ERROR;
        if (known->settable == NEVER && known->array >= 0)
            return refuse(instance, function, "%s: it is not an input, parameter or state, and not the time", known->name);
    }
    return OK;
}

/* The largest step along the seed in which no known moves by more than the cube root of epsilon of its size. */
static double step_along(Instance *instance, const uint32_t *knowns, size_t count, const double *seed)
{
    double step = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        const Variable *known = &instance->model->variables[knowns[i]];
        double size = fmax(fabs(read_real(instance, known)), known->nominal);
        if (seed[i] != 0.0) step = fmin(step, 6.0554544523933429e-6 * size / fabs(seed[i]));
    }
    return step;
}

static void put_parameters(Instance *instance, const double *parameters)
{
    const Array *p = &instance->arrays[instance->model->parameters];
    if (bytes_of(p) > 0) memcpy(p->data, parameters, bytes_of(p));
}

/* Knowns may be the time, too: what it reads is put back. Angles of a frame turn it from where it was. */
static Status values_at(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                        const uint32_t *knowns, size_t known_count, const double *moved, const double *parameters,
                        double *values)
{
    put_parameters(instance, parameters);
    for (size_t i = 0; i < known_count; i++) {
        const Variable *known = &instance->model->variables[knowns[i]];
        if (known->angle >= 0) (void)set_angles(instance, knowns, known_count, moved, i);
        else *place_of(instance, known) = moved[i];
    }
    forget_computed(instance);
    return get_real(instance, function, unknowns, unknown_count, values);
}

/* Whether derivatives may be asked for: of `answers` numbers along `seeds` ones. */
static Status check_derivative(Instance *instance, const char *function, const uint32_t *unknowns,
                               size_t unknown_count, const uint32_t *knowns, size_t known_count, const double *seed,
                               size_t seeds, const double *sensitivity, size_t answers)
{
    if (need_mode(instance, function, INITIALIZING | RUNNING | INTERMEDIATE | STOPPED) != OK) return ERROR;
    if ((unknown_count > 0 && unknowns == NULL) || (known_count > 0 && knowns == NULL) ||
        (seeds > 0 && seed == NULL) || (answers > 0 && sensitivity == NULL))
        return refuse(instance, function, "a list is missing");
    if (instance->model->explain != NULL)
        return refuse(instance, function, "this FMU has no derivatives: it exchanges values between systems");
    if (check_unknowns_and_knowns(instance, function, unknowns, unknown_count, knowns, known_count) != OK)
        return ERROR;
    for (size_t i = 0; i < seeds; i++)
        if (!isfinite(seed[i])) return refuse(instance, function, "the seed holds %g, needs finite numbers", seed[i]);
    return OK;
}

Status directional_derivative(Instance *instance, const char *function, const uint32_t *unknowns,
                              size_t unknown_count, const uint32_t *knowns, size_t known_count, const double *seed,
                              double *sensitivity)
{
    double *work, *before, *moved, *first, *second, *parameters, step;
    size_t parameter_bytes = bytes_of(&instance->arrays[instance->model->parameters]);
    void *marks;
    Status status = OK;
    if (check_derivative(instance, function, unknowns, unknown_count, knowns, known_count, seed, known_count,
                         sensitivity, unknown_count) != OK)
        return ERROR;
    if (follow_tangents(instance, function, unknowns, unknown_count, knowns, known_count, seed, sensitivity)) return OK;
    for (size_t i = 0; i < unknown_count; i++) sensitivity[i] = 0.0;
    step = step_along(instance, knowns, known_count, seed);
    if (!(step < HUGE_VAL)) return OK;
    work = borrow(instance, (2 * known_count + 2 * unknown_count) * sizeof *work + parameter_bytes);
    marks = work == NULL ? NULL : kept_marks(instance);
    if (marks == NULL) {
        give_back(instance, work);
        return no_room(instance, function);
    }
    before = work;
    moved = before + known_count;
    first = moved + known_count;
    second = first + unknown_count;
    parameters = second + unknown_count;
    memcpy(parameters, numbers(instance, instance->model->parameters), parameter_bytes);
    for (size_t i = 0; i < known_count; i++) {
        const Variable *known = &instance->model->variables[knowns[i]];
        before[i] = known->angle >= 0 ? read_real(instance, known) : *place_of(instance, known);
    }
    set_checks(instance, UNCHECKED);
    for (size_t i = 0; i < known_count; i++) moved[i] = before[i] + step * seed[i];
    status = values_at(instance, function, unknowns, unknown_count, knowns, known_count, moved, parameters,
                       second);
    for (size_t i = 0; i < known_count; i++) moved[i] = before[i] - step * seed[i];
    if (status == OK)
        status = values_at(instance, function, unknowns, unknown_count, knowns, known_count, moved, parameters,
                           first);
    if (status == OK)
        for (size_t i = 0; i < unknown_count; i++) sensitivity[i] = (second[i] - first[i]) / (2.0 * step);
    /* back to the very numbers that were there */
    (void)values_at(instance, function, unknowns, 0, knowns, known_count, before, parameters, first);
    put_parameters(instance, parameters);
    set_checks(instance, 0.0);
    put_marks_back(instance, marks);
    give_back(instance, work);
    return status;
}

/* Numbers of a tape at first; it becomes longer where it was too short, up to so many. */
enum { FIRST_TAPE = 4096, MOST_TAPE = 1 << 28 };

/* Calls what goes back along the equations, with a tape that is long enough; whether it has worked. */
static int go_back(const Model *model, const Array *given, size_t count, double time)
{
    Array arrays[20];
    double *tape = NULL;
    int is_good = 0;
    memcpy(arrays, given, count * sizeof *given);
    for (size_t size = FIRST_TAPE; size <= MOST_TAPE; size *= 4) {
        free(tape);
        tape = malloc(size * sizeof *tape);
        if (tape == NULL) return 0;
        arrays[count].data = tape;
        arrays[count].rows = (int64_t)size;
        arrays[count].columns = 1;
        is_good = model->adjoints(arrays, time) == 0;
        if (tape[1] == 0.0) break; /* else it was full, before anything was gone back over */
        is_good = 0;
    }
    free(tape);
    return is_good;
}

/* Once back along the equations. Whether it has worked; else columns have to do. */
static int follow_adjoints(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                           const uint32_t *knowns, size_t known_count, const double *seed, double *sensitivity)
{
    const Model *model = instance->model;
    const Array *arrays = instance->arrays;
    const int64_t of_parts[] = {model->continuous, model->parameters, model->discrete, model->cache,  model->continuous,
                                model->parameters, model->discrete,   model->history,  model->cache, model->cache};
    enum { PARTS = 10, DOTS = 4 };
    double *parts[PARTS], *work, *cache, time[2] = {0.0, 0.0};
    size_t sizes[PARTS], size = 0;
    int is_good = 1;
    if (model->adjoints == NULL) return 0;
    for (size_t i = 0; i < PARTS; i++) size += sizes[i] = (size_t)arrays[of_parts[i]].rows;
    work = calloc(size + unknown_count + 1, sizeof *work);
    if (work == NULL) return 0;
    is_good = get_real(instance, function, unknowns, unknown_count, work + size) == OK;
    for (size_t i = 0, at = 0; i < PARTS; at += sizes[i++]) parts[i] = work + at;
    cache = parts[PARTS - 1];
    memcpy(cache, arrays[model->cache].data, sizes[PARTS - 1] * sizeof *cache);
    for (size_t i = 0; i < DOTS - 1; i++) /* all varies, each by another number */
        for (size_t j = 0; j < sizes[i]; j++) parts[i][j] = 0.5 + fmod(0.6180339887498949 * (double)(j + 1), 1.0);
    for (size_t i = 0; is_good && i < unknown_count; i++) {
        double *at = tangent_of(model, &model->variables[unknowns[i]], parts[4], parts[5], parts[6], parts[8], time);
        is_good = at != NULL;
        if (is_good) *at += seed[i];
    }
    if (is_good) {
        Array given[20] = {arrays[model->continuous], arrays[model->parameters], arrays[model->discrete],
                           arrays[model->whole], arrays[model->history], {cache, (int64_t)sizes[PARTS - 1], 1}};
        size_t count = 6;
        for (size_t i = 0; i < PARTS - 1; i++, count++) {
            given[count].data = parts[i];
            given[count].rows = (int64_t)sizes[i];
            given[count].columns = 1;
        }
        given[count].data = time;
        given[count].rows = 2;
        given[count].columns = 1;
        is_good = go_back(model, given, count + 1, *clock_of(instance, model->clock_time));
    }
    /* states whose rates are other ones are held */
    for (size_t i = 0; is_good && i < sizes[0]; i++) {
        double now = numbers(instance, model->cache)[i];
        is_good = now == cache[i] || (isnan(now) && isnan(cache[i]));
    }
    for (size_t i = 0; is_good && i < known_count; i++) {
        const Variable *known = &model->variables[knowns[i]];
        const double *at = tangent_of(model, known, parts[4], parts[5], parts[6], parts[8], time);
        is_good = at != NULL && known->array != model->cache && isfinite(*at);
        if (is_good) sensitivity[i] = *at;
    }
    free(work);
    return is_good;
}

/* Back along the equations, or by each known in turn: a row of the Jacobian is as long as there are knowns. */
Status adjoint_derivative(Instance *instance, const char *function, const uint32_t *unknowns, size_t unknown_count,
                          const uint32_t *knowns, size_t known_count, const double *seed, double *sensitivity)
{
    const double one = 1.0;
    double *column;
    Status status = OK;
    if (check_derivative(instance, function, unknowns, unknown_count, knowns, known_count, seed, unknown_count,
                         sensitivity, known_count) != OK)
        return ERROR;
    if (follow_adjoints(instance, function, unknowns, unknown_count, knowns, known_count, seed, sensitivity)) return OK;
    column = borrow(instance, (unknown_count + 1) * sizeof *column);
    if (column == NULL) return no_room(instance, function);
    for (size_t j = 0; status == OK && j < known_count; j++) {
        double sum = 0.0;
        status = directional_derivative(instance, function, unknowns, unknown_count, &knowns[j], 1, &one, column);
        for (size_t i = 0; i < unknown_count; i++)
            if (seed[i] != 0.0) sum += seed[i] * column[i];
        if (status == OK) sensitivity[j] = sum;
    }
    give_back(instance, column);
    return status;
}

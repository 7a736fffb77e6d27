/* A co-simulation: members step by their own machine code, the interpreter of exchanges passes values between them.

   All that a run consists of lies in arrays of the shell, those of members among them, so a state is saved, restored
   and tried as that of a model is. Where things lie is written down anew in each call. */
#include "container.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A member for the length of a call. */
typedef struct {
    Instance instance;
    const Member *of;
    Array *copies;
    ExchangeReport *report;
    int64_t state; /* the interpreter has the address of a state, and no use for it */
} Running;

typedef char running_fits[sizeof(Running) <= MEMBER_WORDS * ITEM ? 1 : -1];

static void *pointer(int64_t address) { return (void *)(intptr_t)address; }

static int64_t address_of(const void *place) { return (int64_t)(intptr_t)place; }

static Running *member_at(const Array *arrays, int64_t i)
{
    return (Running *)(void *)((char *)arrays[MEMBERS].data + (size_t)i * MEMBER_WORDS * ITEM);
}

static double *reals(const Array *arrays, int64_t array) { return arrays[array].data; }

static int64_t *integers(const Array *arrays, int64_t array) { return arrays[array].data; }

/* Messages of a member go into the array for them. */
static void write_message(Instance *instance, Status status, const char *category, const char *text)
{
    (void)status;
    (void)category;
    (void)snprintf(instance->host, MESSAGE_WORDS * ITEM, "%s: %s", instance->name, text);
}

const char *container_message(const Array *arrays) { return arrays[MESSAGE].data; }

/* What the interpreter calls of a member */

static int32_t set_member(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Running *running = pointer(at);
    (void)size;
    return (int32_t)set_numbers(&running->instance, "set", ANY_TYPE, pointer(references), (size_t)count,
                                pointer(values));
}

static int32_t get_member(int64_t at, int64_t references, int64_t count, int64_t values, int64_t size)
{
    Running *running = pointer(at);
    (void)size;
    return (int32_t)get_numbers(&running->instance, "get", pointer(references), (size_t)count, pointer(values));
}

static int32_t lead_member(int64_t at, int64_t references, int64_t count, int64_t orders, int64_t slopes)
{
    Running *running = pointer(at);
    Instance *instance = &running->instance;
    const uint32_t *inputs = pointer(references);
    const double *given = pointer(slopes);
    const int32_t order = 1;
    (void)orders;
    for (int64_t i = 0; i < count; i++)
        if (instance->model->variables[inputs[i]].slope >= 0 &&
            set_slopes(instance, "set", &inputs[i], 1, &order, &given[i]) != OK)
            return ERROR;
    return OK;
}

static int32_t step_member(int64_t at, double time, double size, int64_t flag, int64_t event, int64_t end, int64_t early,
                           int64_t reached)
{
    Running *running = pointer(at);
    Instance *instance = &running->instance;
    const Model *model = instance->model;
    int64_t code;
    (void)flag, (void)event, (void)end, (void)early, (void)reached;
    if (instance->life.ending) return OK; /* an algorithm of several exchanges goes on without it */
    numbers(instance, model->given)[model->given_meeting] = model->same_time * size;
    do code = call(instance, model->advance, time + size);
    while (code == model->stepped);
    instance->life.time = *clock_of(instance, model->clock_time);
    if (is_failure(model, code)) return (int32_t)lost(instance, "step", code);
    end_slopes(instance);
    if (code != model->terminated) return OK;
    instance->life.ending = 1;
    running->report->noticed = 1;
    return OK;
}

static int32_t save_member(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Running *running = pointer(at);
    const Model *model = running->instance.model;
    (void)state, (void)none, (void)nothing, (void)no_size;
    memcpy(running->copies[model->array_count].data, &running->instance.life, sizeof(Life));
    return copy_arrays(model, running->instance.arrays, running->copies) ? OK : ERROR;
}

static int32_t restore_member(int64_t at, int64_t state, int64_t none, int64_t nothing, int64_t no_size)
{
    Running *running = pointer(at);
    const Model *model = running->instance.model;
    (void)state, (void)none, (void)nothing, (void)no_size;
    memcpy(&running->instance.life, running->copies[model->array_count].data, sizeof(Life));
    return copy_arrays(model, running->copies, running->instance.arrays) ? OK : ERROR;
}

/* Where things lie */

void write_head(const Array *arrays, int64_t first, int64_t count, int64_t *head)
{
    for (int64_t i = 0; i < count; i++) {
        head[2 * i] = address_of(arrays[first + i].data);
        head[2 * i + 1] = arrays[first + i].rows;
    }
}

static void bind_members(Array *arrays)
{
    const Container *container = &cosim_container;
    ExchangePart *parts = arrays[MACHINE_PART_WORDS].data;
    ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    const Life *lives = arrays[LIVES].data;
    for (int64_t i = 0; i < container->member_count; i++) {
        const Member *member = &container->members[i];
        Running *running = member_at(arrays, i);
        ExchangePart *part = &parts[i];
        memset(running, 0, sizeof *running);
        running->of = member;
        if (member->calls != NULL) {
            member->calls->connect(arrays, i, running, part);
            part->input_references = address_of(member->inputs);
            part->output_references = address_of(member->outputs);
            continue;
        }
        running->report = report;
        running->copies = member->copies < 0 ? NULL : arrays + member->copies;
        running->instance.model = member->model;
        running->instance.arrays = arrays + member->first;
        running->instance.life = lives[i];
        running->instance.log = LOG_ERRORS;
        running->instance.name = (char *)(intptr_t)member->name;
        running->instance.report = write_message;
        running->instance.host = arrays[MESSAGE].data;
        running->instance.room = arrays[ROOM].data;
        running->instance.room_size = bytes_of(&arrays[ROOM]);
        part->instance = part->access = address_of(running);
        part->set_at = (int64_t)(intptr_t)(AccessCall *)set_member;
        part->get_at = (int64_t)(intptr_t)(AccessCall *)get_member;
        part->step_at = (int64_t)(intptr_t)(StepCall *)step_member;
        part->set_slopes_at = member->follows ? (int64_t)(intptr_t)(AccessCall *)lead_member : 0;
        part->save_at = (int64_t)(intptr_t)(AccessCall *)save_member;
        part->restore_at = (int64_t)(intptr_t)(AccessCall *)restore_member;
        part->state_at = address_of(&running->state);
        part->input_references = address_of(member->inputs);
        part->output_references = address_of(member->outputs);
    }
    report->inputs_at = address_of(arrays[MACHINE_INPUTS].data);
    report->outputs_at = address_of(arrays[MACHINE_OUTPUTS].data);
    report->answers_at = address_of(arrays[MACHINE_ANSWER_WORDS].data);
    write_head(arrays, FIRST_ALGORITHM, ALGORITHM_ARRAYS * container->algorithm_count, arrays[MACHINE_ALGORITHM_WORDS].data);
    write_head(arrays, MACHINE_PART_WORDS, MACHINE_ARRAYS, arrays[HEAD].data);
}

static void store_lives(Array *arrays)
{
    Life *lives = arrays[LIVES].data;
    ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    report->inputs_at = report->outputs_at = report->answers_at = 0; /* a saved state has no addresses */
    for (int64_t i = 0; i < cosim_container.member_count; i++) lives[i] = member_at(arrays, i)->instance.life;
}

static int has_stopped(Array *arrays)
{
    const Container *container = &cosim_container;
    for (int64_t i = 0; i < container->member_count; i++)
        if (container->members[i].calls != NULL ? container->members[i].calls->has_ended(arrays, i)
                                                : member_at(arrays, i)->instance.life.ending != 0)
            return 1;
    return 0;
}

static int64_t machine_of(const Array *arrays) { return address_of(arrays[HEAD].data); }

/* What has stopped the interpreter, unless a member has said so. */
static int64_t fail(Array *arrays, int64_t stop)
{
    const Container *container = &cosim_container;
    const ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    const Array *algorithm = &arrays[FIRST_ALGORITHM + ALGORITHM_ARRAYS * report->algorithm];
    const ExchangeProgress *progress = algorithm[ALGORITHM_PROGRESS_WORDS].data;
    int64_t member = report->part;
    char *text = arrays[MESSAGE].data;
    if (text[0] == '\0') {
        if (progress->under_way == container->exchanging && 2 * progress->place < algorithm[ALGORITHM_PROGRAM].rows)
            member = ((const int64_t *)algorithm[ALGORITHM_PROGRAM].data)[2 * progress->place + 1];
        if (member < 0 || member >= container->member_count) member = 0;
        (void)snprintf(text, MESSAGE_WORDS * ITEM, "t = %.17g s: %s: %s", reals(arrays, CLOCK)[TIME_NOW],
                       container->members[member].name,
                       stop == STEP_FAILED && report->status == DISCARD
                           ? "its step was discarded: take a smaller communication step"
                       : stop >= 0 && stop < container->stop_count ? container->stops[stop]
                                                                   : "it failed");
    }
    store_lives(arrays);
    return HAS_FAILED;
}

static Status write_number(Array *arrays, const Setting *setting, double value)
{
    const MemberCalls *calls = cosim_container.members[setting->member].calls;
    if (calls != NULL) return calls->write(arrays, setting->member, setting->reference, setting->type, value);
    return set_numbers(&member_at(arrays, setting->member)->instance, "set", ANY_TYPE, &setting->reference, 1, &value);
}

static Status read_number(Array *arrays, const Output *output, double *value)
{
    const MemberCalls *calls = cosim_container.members[output->member].calls;
    if (calls != NULL) return calls->read(arrays, output->member, output->reference, output->type, value);
    return get_numbers(&member_at(arrays, output->member)->instance, "get", &output->reference, 1, value);
}

/* Members get what the host has set. */
static int64_t hand_over(Array *arrays)
{
    const Container *container = &cosim_container;
    double *handed = reals(arrays, HANDED);
    ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    for (int64_t i = 0; i < container->setting_count; i++) {
        const Setting *setting = &container->settings[i];
        double value = i < container->parameter_count ? reals(arrays, PARAMETERS)[i]
                                                      : reals(arrays, INPUTS)[i - container->parameter_count];
        if (value == handed[i]) continue;
        if (write_number(arrays, setting, value) > WARNING) {
            report->part = setting->member;
            return HAS_FAILED;
        }
        handed[i] = value;
        integers(arrays, WRITTEN)[i] = 1;
    }
    return IS_DONE;
}

int64_t container_accuracy(Array *arrays, double accuracy)
{
    reals(arrays, NUMBERS)[TOLERANCE] = accuracy;
    return IS_DONE;
}

int64_t container_stop(Array *arrays, double stop)
{
    reals(arrays, NUMBERS)[STOP_TIME] = stop;
    return IS_DONE;
}

/* A state was restored: what is not saved begins anew. */
int64_t container_check(Array *arrays, double none)
{
    (void)none;
    memset(arrays[MESSAGE].data, 0, bytes_of(&arrays[MESSAGE]));
    bind_members(arrays);
    for (int64_t i = 0; i < cosim_container.member_count; i++) {
        Instance *instance = &member_at(arrays, i)->instance;
        const Model *model = instance->model;
        int64_t code;
        if (cosim_container.members[i].calls != NULL) continue;
        start_scratch(model, instance->arrays);
        note_restored(instance);
        code = call(instance, model->accuracy_given, instance->life.accuracy);
        if (!is_failure(model, code)) code = call(instance, model->check, 0.0);
        if (is_failure(model, code)) return HAS_FAILED;
    }
    store_lives(arrays);
    return IS_DONE;
}

/* All members from their start on, with what the host has set; then first values are passed on. */
int64_t container_initialize(Array *arrays, double time)
{
    const Container *container = &cosim_container;
    int64_t stop = 0, connected = arrays[MACHINE_SCALES].rows / 2;
    ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    int ends = 0;
    memset(arrays[MESSAGE].data, 0, bytes_of(&arrays[MESSAGE]));
    reals(arrays, CLOCK)[TIME_NOW] = time;
    reals(arrays, CLOCK)[NEXT_EVENT] = HUGE_VAL;
    memset(arrays[LIVES].data, 0, bytes_of(&arrays[LIVES]));
    bind_members(arrays);
    if (time != container->start && (cosim_set_start(&stop, machine_of(arrays), time) != 0 || stop != 0)) {
        (void)snprintf(arrays[MESSAGE].data, MESSAGE_WORDS * ITEM,
                       "communication points cannot be counted from %.17g s on in one resolution of 64 bits", time);
        return HAS_FAILED;
    }
    for (int64_t i = 0; i < container->member_count; i++) {
        Instance *instance = &member_at(arrays, i)->instance;
        double accuracy = container->members[i].accuracy;
        report->part = i;
        if (container->members[i].calls != NULL) {
            if (container->members[i].calls->start(arrays, i, time) > WARNING) return fail(arrays, NOT_STARTED);
            continue;
        }
        start_arrays(instance->model, instance->arrays);
        instance->life.kind = CO_SIMULATION;
        instance->life.mode = INSTANTIATED;
        instance->life.start = instance->life.time = time;
        instance->life.accuracy = isnan(accuracy) ? reals(arrays, NUMBERS)[TOLERANCE] : accuracy;
        *clock_of(instance, instance->model->clock_time) = time;
        forget_computed(instance);
    }
    for (int64_t i = 0; i < container->setting_count; i++) reals(arrays, HANDED)[i] = container->settings[i].usual;
    if (hand_over(arrays) != IS_DONE) return fail(arrays, SET_FAILED);
    for (int64_t i = 0; i < container->member_count; i++) {
        const MemberCalls *calls = container->members[i].calls;
        report->part = i;
        if (calls != NULL && calls->enter(arrays, i, time) > WARNING) return fail(arrays, NOT_STARTED);
    }
    memset(arrays[WRITTEN].data, 0, bytes_of(&arrays[WRITTEN]));
    for (int64_t i = 0; i < connected; i++) reals(arrays, MACHINE_INPUTS)[i] = (double)NAN; /* none is given */
    if (cosim_settle_values(&stop, machine_of(arrays), address_of(arrays[BEFORE].data),
                            arrays[BEFORE].rows) != 0 || stop != 0)
        return fail(arrays, stop);
    for (int64_t i = 0; i < container->member_count; i++) {
        Instance *instance = &member_at(arrays, i)->instance;
        const Model *model = instance->model;
        int64_t code;
        report->part = i;
        if (container->members[i].calls != NULL) {
            if (container->members[i].calls->exit(arrays, i) > WARNING) return fail(arrays, NOT_STARTED);
            continue;
        }
        forget_computed(instance);
        if (check_parameters(instance, "start") != OK) return fail(arrays, stop);
        code = call(instance, model->accuracy_given, instance->life.accuracy);
        if (!is_failure(model, code)) code = call(instance, model->initialize, time);
        if (is_failure(model, code)) {
            (void)lost(instance, "start", code);
            return fail(arrays, stop);
        }
        instance->life.mode = STEPPING;
        ends = ends || code == model->terminated;
    }
    if (cosim_settle_values(&stop, machine_of(arrays), address_of(arrays[AFTER].data), arrays[AFTER].rows) != 0 ||
        stop != 0 ||
        cosim_exchange_first(&stop, machine_of(arrays), address_of(arrays[ORDER].data), arrays[ORDER].rows) != 0 ||
        stop != 0)
        return fail(arrays, stop);
    if (container->assessing != NULL && !container->assessing->start(arrays)) return fail(arrays, stop);
    reals(arrays, CLOCK)[HAS_VALUES] = 1.0;
    store_lives(arrays);
    return ends || has_stopped(arrays) ? HAS_ENDED : IS_REACHED;
}

const char *container_refuse_step(Array *arrays, double target, double slack)
{
    int64_t is_point = 1;
    if (cosim_container.divides) return NULL;
    bind_members(arrays);
    (void)cosim_is_point(&is_point, machine_of(arrays), target, slack);
    store_lives(arrays);
    return is_point ? NULL
                    : "the step ends inside a communication step, which the participants cannot divide: take multiples "
                      "of it";
}

/* To a time, which a communication point means that is as good as there. */
int64_t container_advance(Array *arrays, double target)
{
    double slack = reals(arrays, NUMBERS)[MEETING], *now = &reals(arrays, CLOCK)[TIME_NOW];
    int64_t stop = 0, head[2 * SAMPLE_ARRAYS];
    const Assessing *assessing = cosim_container.assessing;
    ExchangeReport *report = arrays[MACHINE_REPORT_WORDS].data;
    int ends;
    memset(arrays[MESSAGE].data, 0, bytes_of(&arrays[MESSAGE]));
    bind_members(arrays);
    if (hand_over(arrays) != IS_DONE) return fail(arrays, SET_FAILED);
    integers(arrays, PLACES)[STAGE] = NOT_SHOWN;
    report->noticed = 0;
    do {
        if (assessing != NULL && !assessing->make_room(arrays)) return fail(arrays, stop);
        write_head(arrays, SAMPLING_PLACES, SAMPLE_ARRAYS, head);
        if (cosim_lead(&stop, machine_of(arrays), assessing == NULL ? 0 : address_of(head), target, slack) != 0 || stop != 0)
            return fail(arrays, stop);
        (void)cosim_time_reached(now, machine_of(arrays));
        ends = has_stopped(arrays);
        if (report->noticed == 0) break; /* else what has been noticed may have been taken back */
        report->noticed = 0;
    } while (!ends);
    memset(arrays[WRITTEN].data, 0, bytes_of(&arrays[WRITTEN]));
    reals(arrays, CLOCK)[JUMPED] = 0.0;
    store_lives(arrays);
    return ends ? HAS_ENDED : IS_REACHED;
}

/* What the host sees: outputs as they were exchanged last; read anew where it has set what they follow at once. */
int64_t container_evaluate(Array *arrays, double time)
{
    const Container *container = &cosim_container;
    const double *outputs = reals(arrays, MACHINE_OUTPUTS);
    const int64_t *written = integers(arrays, WRITTEN);
    double *shown = reals(arrays, SHOWN);
    (void)time;
    if (integers(arrays, PLACES)[STAGE] == IS_SHOWN) return IS_DONE;
    if (reals(arrays, CLOCK)[HAS_VALUES] == 0.0) {
        (void)snprintf(arrays[MESSAGE].data, MESSAGE_WORDS * ITEM, "the participants could not be initialized");
        return HAS_FAILED;
    }
    bind_members(arrays);
    if (hand_over(arrays) != IS_DONE) return fail(arrays, SET_FAILED);
    for (int64_t i = 0; i < container->output_count; i++) {
        const Output *output = &container->outputs[i];
        int follows = 0;
        for (int64_t j = 0; j < output->follow_count; j++) follows = follows || written[output->follows[j]];
        shown[i] = outputs[output->slot];
        if (follows && read_number(arrays, output, &shown[i]) > WARNING) return fail(arrays, READ_FAILED);
    }
    integers(arrays, PLACES)[STAGE] = IS_SHOWN;
    store_lives(arrays);
    return IS_DONE;
}

/* y = time; from the time fail_at on a step returns fail_status. A discarded step reaches the time `reached`. */
#ifndef FAIL_SIZE /* shorter steps do not fail */
#define FAIL_SIZE 0.0
#endif
#define REALS 4
#define INTEGERS 1
#define BOOLEANS 1
#define STRINGS 1
#include "fmi2_slave.h"

enum { Y, FAIL_AT, REACHED, SIZE };

static void model_start(Data *d) { d->r[FAIL_AT] = 1e300; }
static void model_outputs(Data *d) { d->r[Y] = d->time; }
static fmi2Status model_step(Slave *slave, double time, double size) {
    Data *d = &slave->data;
    d->r[SIZE] = size;
    if (time + size > d->r[FAIL_AT] && size > FAIL_SIZE && d->i[0] != fmi2OK) {
        slave->callbacks.logger(slave->callbacks.componentEnvironment, slave->name, d->i[0], "logStatusError",
                                "pump %s dry at %.3f", "ran", time);
        d->reached = d->r[REACHED];
        d->terminated = d->b[0];
        if (d->i[0] == fmi2Discard) {
            d->time = d->reached;
            d->r[FAIL_AT] = 1e300;
        }
        return d->i[0];
    }
    d->time = time + size;
    return fmi2OK;
}

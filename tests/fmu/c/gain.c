/* y = gain * u + bias: direct feedthrough. */
#define REALS 4
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#include "fmi2_slave.h"

enum { Y, U, GAIN, BIAS };

static void model_start(Data *d) { d->r[GAIN] = 1.0; }
static void model_outputs(Data *d) { d->r[Y] = d->r[GAIN] * d->r[U] + d->r[BIAS]; }
static fmi2Status model_step(Slave *slave, double time, double size) {
    slave->data.time = time + size;
    return fmi2OK;
}

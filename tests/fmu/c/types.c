/* A step sets the outputs: the real and the string input as they are, the integer input plus 1, the boolean one negated. */
#define REALS 2
#define INTEGERS 2
#define BOOLEANS 2
#define STRINGS 3
#include "fmi2_slave.h"

static void model_start(Data *d) { strcpy(d->s[1], "start"); }
static void model_outputs(Data *d) { (void)d; }
static fmi2Status model_step(Slave *slave, double time, double size) {
    Data *d = &slave->data;
    d->r[0] = d->r[1];
    d->i[0] = d->i[1] + 1;
    d->b[0] = !d->b[1];
    strcpy(d->s[1], d->s[2]);
    d->time = time + size;
    return fmi2OK;
}

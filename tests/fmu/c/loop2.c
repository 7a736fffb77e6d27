/* x' = u - x by one explicit Euler step, y = x + gain u with direct feedthrough; it has directional derivatives. */
#define REALS 4
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#include "fmi2_slave.h"

enum { Y, U, X, GAIN };

static void model_start(Data *d) {
    d->r[X] = 1.0;
    d->r[GAIN] = -0.5;
}
static void model_outputs(Data *d) { d->r[Y] = d->r[X] + d->r[GAIN] * d->r[U]; }
static fmi2Status model_step(Slave *slave, double time, double size) {
    slave->data.r[X] += size * (slave->data.r[U] - slave->data.r[X]);
    slave->data.time = time + size;
    return fmi2OK;
}
EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference of[], size_t n,
                                               const fmi2ValueReference by[], size_t known, const double seed[],
                                               double v[]) {
    Data *d = &((Slave *)c)->data;
    size_t j;
    for (j = 0; j < n; j++) v[j] = of[j] == Y && known == 1 && by[0] == U ? d->r[GAIN] * seed[0] : 0.0;
    return fmi2OK;
}

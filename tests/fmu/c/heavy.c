/* y is a state to which a step adds (u - y) size in `work` parts, a few nanoseconds each.

From crash_at on a step writes to an invalid address; from hang_at on it does not return; a step across return_at
is discarded there; a step across fail_at fails. Each step sleeps for `pause` s. With SHARES, all instances share
the number of steps since the last start of one of them. */
#define _POSIX_C_SOURCE 199309L
#include <time.h>

#define REALS 8
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#include "fmi2_slave.h"

enum { Y, U, WORK, CRASH_AT, HANG_AT, RETURN_AT, FAIL_AT, PAUSE };

static double shared = 0.0;

static void model_start(Data *d) {
    int j;
    shared = 0.0;
    for (j = CRASH_AT; j <= FAIL_AT; j++) d->r[j] = 1e300;
    d->r[WORK] = 1.0;
}
static void model_outputs(Data *d) {}
static fmi2Status model_step(Slave *slave, double time, double size) {
    Data *d = &slave->data;
    double end = time + size, part;
    long j, n;
    struct timespec rest = {0, (long)(1e9 * d->r[PAUSE])};
    if (rest.tv_nsec > 0) nanosleep(&rest, NULL);
    if (end > d->r[CRASH_AT]) *(volatile int *)0 = 1;
    if (end > d->r[HANG_AT])
        for (;;) d->reached += *(volatile double *)&d->r[WORK];
    if (end > d->r[FAIL_AT]) return fmi2Error;
    if (end > d->r[RETURN_AT]) end = d->r[RETURN_AT];
    n = (long)d->r[WORK];
    part = (end - time) / n;
    for (j = 0; j < n; j++) d->r[Y] += part * (d->r[U] - d->r[Y]);
#ifdef SHARES
    d->r[Y] += 1e-9 * ++shared;
#endif
    d->time = end;
    if (end == d->r[RETURN_AT]) {
        d->r[RETURN_AT] = 1e300;
        d->reached = end;
        return fmi2Discard;
    }
    return fmi2OK;
}

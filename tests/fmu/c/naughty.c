/* y' = 1 + u, with one defect for each macro; without a macro it follows the standard. */
#include <math.h>
#define REALS 2
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#include "fmi2_slave.h"
#include <unistd.h>

enum { Y, U };
static double hidden;
static int made;

static void model_start(Data *d) {
    memset(d->r, 0, sizeof d->r);
    d->terminated = 0;
    hidden = 0.0;
    made++;
#ifdef COUNTS
    d->r[Y] = made;
#endif
}
static void model_outputs(Data *d) { (void)d; }
static fmi2Status model_step(Slave *slave, double time, double size) {
    Data *d = &slave->data;
#ifdef WAITS
    for (;;) sleep(1); /* leaves the processor to other tests */
#endif
#ifdef CRASHES
    if (time > 0.025 && made > 1) *(volatile int *)0 = 1;
#endif
#ifndef ANY_STEP
    if (!(size > 0.0)) return fmi2Error;
#endif
    d->r[Y] += size * (1.0 + d->r[U]);
#ifdef HIDES
    hidden += 1.0;
    d->r[Y] += 1e-12 * hidden;
#endif
#ifdef SAMPLES
    d->r[Y] += 0.01;
#endif
#ifdef DIVIDES
    d->r[Y] = d->r[U] >= 10.0 ? NAN : d->r[Y];
#endif
#ifdef BLOWS_UP
    if (time > 0.025) d->r[Y] = INFINITY;
#endif
    d->time = time + size;
    return fmi2OK;
}

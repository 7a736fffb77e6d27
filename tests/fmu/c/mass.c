/* A mass on a spring and a damper to ground, and on a second spring and damper to another mass, which is not part of it.

m v' = f - k x - c v - force,  force = kc (x - x_other) + cc (v - v_other): direct feedthrough.
Runge-Kutta 4 with internal steps of at most 1e-4 s, inputs held or along their slopes. With ADDS_STEPS it has a
clock of its own, and takes Euler steps of 10 ms while this clock is before the end of the step, as 20-sim's FMUs do. */
#define REALS 12
#define INTEGERS 0
#define BOOLEANS 0
#define STRINGS 1
#include "fmi2_slave.h"

enum { X, V, FORCE, F, X_OTHER, V_OTHER, M, K, C, KC, CC, PERIOD };

static void model_start(Data *d) {
    d->r[M] = 1.0;
    d->r[K] = 1.0;
    d->r[X] = 1.0;
}

static double coupling(const double *r, double x, double v) {
    return r[KC] * (x - r[X_OTHER]) + r[CC] * (v - r[V_OTHER]);
}

static double at(const Data *d, int input, double since) { return d->r[input] + since * d->slope[input]; }

static double acceleration(const Data *d, double x, double v, double since) {
    const double *r = d->r;
    double other = r[KC] * (x - at(d, X_OTHER, since)) + r[CC] * (v - at(d, V_OTHER, since));
    return (at(d, F, since) - r[K] * x - r[C] * v - other) / r[M];
}

static void model_outputs(Data *d) { d->r[FORCE] = coupling(d->r, d->r[X], d->r[V]); }

#ifdef ADDS_STEPS
static fmi2Status model_step(Slave *slave, double time, double size) {
    double *r = slave->data.r;
    while (slave->data.time < time + size) {
        double a = acceleration(&slave->data, r[X], r[V], 0.0);
        r[X] += 0.01 * r[V];
        r[V] += 0.01 * a;
        slave->data.time += 0.01;
    }
    return fmi2OK;
}
#else
static fmi2Status model_step(Slave *slave, double time, double size) {
    double *r = slave->data.r;
    int n = (int)(size / 1e-4) + 1, j;
    double h = size / n;
    for (j = 0; j < n; j++) {
        double x = r[X], v = r[V], since = j * h, middle = since + 0.5 * h;
        double a1 = acceleration(&slave->data, x, v, since);
        double v2 = v + 0.5 * h * a1, a2 = acceleration(&slave->data, x + 0.5 * h * v, v2, middle);
        double v3 = v + 0.5 * h * a2, a3 = acceleration(&slave->data, x + 0.5 * h * v2, v3, middle);
        double v4 = v + h * a3, a4 = acceleration(&slave->data, x + h * v3, v4, since + h);
        r[X] = x + h * (v + 2 * v2 + 2 * v3 + v4) / 6;
        r[V] = v + h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
    }
    for (j = F; j <= V_OTHER; j++) {
        r[j] = at(&slave->data, j, size);
        slave->data.slope[j] = 0.0;
    }
    slave->data.time = time + size;
    return fmi2OK;
}
#endif

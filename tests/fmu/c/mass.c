/* A mass on a spring and a damper to ground, and a second spring and damper to something that is not here.

m v' = f - k x - c v - force,  force = kc (x - x_other) + cc (v - v_other): direct feedthrough.
Runge-Kutta 4 with internal steps of at most 1e-4 s, inputs held. */
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

static double acceleration(const double *r, double x, double v) {
    return (r[F] - r[K] * x - r[C] * v - coupling(r, x, v)) / r[M];
}

static void model_outputs(Data *d) { d->r[FORCE] = coupling(d->r, d->r[X], d->r[V]); }

static fmi2Status model_step(Slave *slave, double time, double size) {
    double *r = slave->data.r;
    int n = (int)(size / 1e-4) + 1, j;
    double h = size / n;
    for (j = 0; j < n; j++) {
        double x = r[X], v = r[V];
        double a1 = acceleration(r, x, v);
        double v2 = v + 0.5 * h * a1, a2 = acceleration(r, x + 0.5 * h * v, v2);
        double v3 = v + 0.5 * h * a2, a3 = acceleration(r, x + 0.5 * h * v2, v3);
        double v4 = v + h * a3, a4 = acceleration(r, x + h * v3, v4);
        r[X] = x + h * (v + 2 * v2 + 2 * v3 + v4) / 6;
        r[V] = v + h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
    }
    slave->data.time = time + size;
    return fmi2OK;
}

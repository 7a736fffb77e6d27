/* A chain of ten links as one writes it by hand: angles against the vertical, a full mass matrix, Cholesky; the classical
   Runge-Kutta method with a fixed step. */
#include <math.h>

#include "by_hand.h"

enum { N = 10 };
static const double G = 9.81, MASS = 1.0, INERTIA = 1.0 / 12.0, CENTRE = 0.5, LENGTH = 1.0;

static void rates(const double *y, double *f)
{
    double s[N], c[N], m[N][N], b[N];
    for (int i = 0; i < N; i++) {
        s[i] = sin(y[i]);
        c[i] = cos(y[i]);
    }
    for (int i = 0; i < N; i++) {
        double beyond = N - 1 - i, arm = MASS * (CENTRE + beyond * LENGTH);
        m[i][i] = INERTIA + MASS * CENTRE * CENTRE + beyond * MASS * LENGTH * LENGTH;
        b[i] = -arm * G * s[i];
        for (int j = 0; j < i; j++) m[i][j] = arm * LENGTH * (c[i] * c[j] + s[i] * s[j]);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            double beyond = N - 1 - i, k = MASS * (CENTRE + beyond * LENGTH) * LENGTH * (s[i] * c[j] - c[i] * s[j]);
            b[i] -= k * y[N + j] * y[N + j];
            b[j] += k * y[N + i] * y[N + i];
        }
    for (int j = 0; j < N; j++) {
        for (int k = 0; k < j; k++) m[j][j] -= m[j][k] * m[j][k];
        m[j][j] = sqrt(m[j][j]);
        for (int i = j + 1; i < N; i++) {
            for (int k = 0; k < j; k++) m[i][j] -= m[i][k] * m[j][k];
            m[i][j] /= m[j][j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < i; k++) b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int k = i + 1; k < N; k++) b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
        f[i] = y[N + i];
        f[N + i] = b[i];
    }
}

static double y[2 * N], h;

void begin(double step)
{
    h = step;
    for (int i = 0; i < N; i++) y[i] = 0.5;
}

const double *state(void) { return y; }

void advance(int steps)
{
    double k1[2 * N], k2[2 * N], k3[2 * N], k4[2 * N], x[2 * N];
    for (int n = 0; n < steps; n++) {
        rates(y, k1);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + 0.5 * h * k1[i];
        rates(x, k2);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + 0.5 * h * k2[i];
        rates(x, k3);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + h * k3[i];
        rates(x, k4);
        for (int i = 0; i < 2 * N; i++) y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

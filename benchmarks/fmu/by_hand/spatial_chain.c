/* A chain of ten bodies in space on pins, as one writes it by hand: the recursion over articulated bodies
   (Featherstone 2008, chapter 7) in Ground's axes about Ground's origin; the classical Runge-Kutta method with a
   fixed step. The bodies may have any inertia and the pins any place; each turns about z of its carrier. */
#include "articulated.h"
#include "by_hand.h"

enum { N = 10 };

typedef struct {
    double mass;
    Vector center, inertia; /* from the pin; principal, about the centre of mass */
    Vector pin;             /* on the carrier */
} Body;

static const Vector GRAVITY = {0.0, -9.81, 0.0};

static void rates(const Body *bodies, const double *y, double *f)
{
    Spatial s[N], force[N], u[N];
    Articulated inertia[N];
    double eased[N];
    Rotation r = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    Vector origin = {0.0, 0.0, 0.0};
    Spatial velocity = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, bias = velocity, change = velocity;

    /* Outward: places, velocities, accelerations without any of the joints', and the forces that these take. */
    for (int i = 0; i < N; i++) {
        const Body *body = &bodies[i];
        double sine = sin(y[i]), cosine = cos(y[i]);
        origin = add(origin, rotate(r, body->pin));
        Vector x = r.x;
        r.x = add(scale(cosine, x), scale(sine, r.y));
        r.y = sub(scale(cosine, r.y), scale(sine, x));
        s[i] = (Spatial){r.z, cross(origin, r.z)};
        Spatial motion = scaled(y[N + i], s[i]);
        bias.angular = add(bias.angular, cross(velocity.angular, motion.angular));
        bias.linear = add(bias.linear, add(cross(velocity.angular, motion.linear), cross(velocity.linear, motion.angular)));
        velocity = plus(velocity, motion);

        Vector center = add(origin, rotate(r, body->center)), w = velocity.angular;
        Symmetric turn = turned(r, body->inertia);
        Vector v = add(velocity.linear, cross(w, center));
        Vector a = add(add(bias.linear, cross(bias.angular, center)), cross(w, v));
        Vector needed = scale(body->mass, sub(a, GRAVITY));
        Vector moment = add(times(turn, bias.angular), cross(w, times(turn, w)));
        force[i] = (Spatial){add(moment, cross(center, needed)), needed};
        inertia[i] = rigid(body->mass, center, turn);
    }
    /* Inward: each joint gives way. */
    for (int i = N - 1; i >= 0; i--) {
        u[i] = apply(&inertia[i], s[i]);
        double pivot = power(s[i], u[i]), missing = -power(s[i], force[i]);
        if (i > 0) {
            release(&inertia[i], u[i], pivot);
            add_to(&inertia[i - 1], &inertia[i]);
            force[i - 1] = plus(force[i - 1], plus(force[i], scaled(missing / pivot, u[i])));
        }
        u[i] = scaled(1.0 / pivot, u[i]);
        eased[i] = missing / pivot;
    }
    /* Outward again: accelerations. */
    for (int i = 0; i < N; i++) {
        f[i] = y[N + i];
        f[N + i] = eased[i] - power(u[i], change);
        change = plus(change, scaled(f[N + i], s[i]));
    }
}

static Body bodies[N];
static double y[2 * N], h;

void begin(double step)
{
    h = step;
    for (int i = 0; i < 2 * N; i++) y[i] = i == 0 ? 0.5 : 0.0;
    for (int i = 0; i < N; i++)
        bodies[i] = (Body){1.0, {0.0, -0.5, 0.0}, {1.0 / 12.0, 1e-3, 1.0 / 12.0}, {0.0, i == 0 ? 0.0 : -1.0, 0.0}};
}

const double *state(void) { return y; }

void advance(int steps)
{
    double k1[2 * N], k2[2 * N], k3[2 * N], k4[2 * N], x[2 * N];
    for (int n = 0; n < steps; n++) {
        rates(bodies, y, k1);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + 0.5 * h * k1[i];
        rates(bodies, x, k2);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + 0.5 * h * k2[i];
        rates(bodies, x, k3);
        for (int i = 0; i < 2 * N; i++) x[i] = y[i] + h * k3[i];
        rates(bodies, x, k4);
        for (int i = 0; i < 2 * N; i++) y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

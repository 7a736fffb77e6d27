/* The model of examples/engine_mount as one writes it by hand: two bodies, four bushings in full, shaker, controller,
   active damper and the sensor's delay; the classical Runge-Kutta method with a fixed step.

   For this model alone: Newton's and Euler's equations of each body, bushings along the axes of the bodies. With GENERAL:
   the equations that serve any model, bushings between frames that stand anyhow and the recursion over articulated bodies
   (Featherstone 2008, chapter 7), as in spatial_chain.c. */
#include <string.h>

#include "articulated.h"
#include "by_hand.h"

enum { BUSHINGS = 4, STATES = 21, MOST = 64 };

/* Where they lie in the state. */
enum { HEIGHT, QUATERNION, PLACE = 5, RISE = 8, TURN, SPEED = 12, DISSIPATED = 15, BY_DAMPER = 19, BY_SHAKER };

typedef struct {
    Rotation r;
    Vector p;
} Pose;

typedef struct {
#ifdef GENERAL
    Pose on1, on2; /* F and M */
#else
    Vector on1, on2; /* places of F and M, whose axes are those of the bodies */
#endif
    double stiffness[6], damping[6];
} Bushing;

typedef struct {
    Pose pose;
    Vector w, v; /* of the body, of its origin */
    Vector moment, force; /* about the origin */
} Body;

typedef struct {
    Bushing bushings[BUSHINGS];
    double step, values[MOST], slopes[MOST]; /* what the sensor has seen, at the end of each step */
    long steps;
} Mount;

static const double PI = 3.14159265358979323846, G = 9.81, DELAY = 5e-3;
static const Vector SHAKEN = {0.02, -0.1, 0.0};
#ifndef GENERAL
static const double CHASSIS_MASS = 700.0, ENGINE_MASS = 120.0;
static const Vector CENTER = {0.02, -0.1, 0.1}, INERTIA = {4.5, 6.0, 5.2};
#endif

static Vector velocity_at(const Body *body, Vector p) { return add(body->v, cross(body->w, sub(p, body->pose.p))); }

static void push(Body *body, Vector p, Vector f)
{
    body->force = add(body->force, f);
    body->moment = add(body->moment, cross(sub(p, body->pose.p), f));
}

#ifdef GENERAL
static Pose placed(const Pose *x, Pose y)
{
    Rotation r = {rotate(x->r, y.r.x), rotate(x->r, y.r.y), rotate(x->r, y.r.z)};
    return (Pose){r, add(x->p, rotate(x->r, y.p))};
}
#else
static Pose placed(const Pose *x, Vector p) { return (Pose){x->r, add(x->p, rotate(x->r, p))}; }
#endif

/* Six springs and dampers on the angles x-y-z of M in F and on M's place in F; returns the power that is lost. */
static double bushing(const Bushing *b, Body *body1, Body *body2)
{
    Pose f = placed(&body1->pose, b->on1), m = placed(&body2->pose, b->on2);
    Vector x = rotate_back(f.r, m.r.x), y = rotate_back(f.r, m.r.y), z = rotate_back(f.r, m.r.z);
    Vector p = rotate_back(f.r, sub(m.p, f.p));
    double c1 = sqrt(0.5 * (x.x * x.x + y.x * y.x + z.y * z.y + z.z * z.z));
    double a[3] = {atan2(-z.y, z.z), atan2(z.x, c1), atan2(-y.x, x.x)};
    Vector w = rotate_back(f.r, sub(body2->w, body1->w));
    Vector v = rotate_back(f.r, sub(velocity_at(body2, m.p), velocity_at(body1, m.p)));
    double s0 = sin(a[0]), k0 = cos(a[0]), s1 = sin(a[1]), k1 = cos(a[1]);
    double last = (w.z * k0 - w.y * s0) / k1;
    double q[6] = {a[0], a[1], a[2], p.x, p.y, p.z};
    double rates[6] = {w.x - last * s1, w.y * k0 + w.z * s0, last, v.x, v.y, v.z};
    double force[6], power = 0.0;
    for (int i = 0; i < 6; i++) {
        force[i] = -(b->stiffness[i] * q[i] + b->damping[i] * rates[i]);
        power += b->damping[i] * rates[i] * rates[i];
    }
    double g = (force[2] - s1 * force[0]) / k1;
    Vector moment = rotate(f.r, vector(force[0], k0 * force[1] - s0 * g, s0 * force[1] + k0 * g));
    Vector pushed = rotate(f.r, vector(force[3], force[4], force[5]));
    body2->moment = add(body2->moment, moment);
    push(body2, m.p, pushed);
    body1->moment = sub(body1->moment, moment);
    push(body1, m.p, scale(-1.0, pushed));
    return power;
}

/* Cubic Hermite polynomial through what was seen; nothing was seen before the start. */
static double seen(const Mount *mount, double t)
{
    double at = t / mount->step;
    if (at <= 0.0) return 0.0;
    long i = (long)at;
    if (i >= mount->steps) i = mount->steps - 1;
    double x = at - (double)i, h = mount->step;
    const double *v = mount->values, *s = mount->slopes;
    long one = i % MOST, two = (i + 1) % MOST;
    return v[one] + x * x * (3.0 - 2.0 * x) * (v[two] - v[one]) +
           x * (x - 1.0) * h * ((x - 1.0) * s[one] + x * s[two]);
}

#ifdef GENERAL
/* What each body is, its carrier (-1: Ground) and its degrees of freedom. */
static const struct {
    double mass;
    Vector center, inertia;
    int carrier, first, dofs;
} LINKS[2] = {
    {700.0, {0.0, 0.0, 0.0}, {60.0, 250.0, 280.0}, -1, 0, 1},
    {120.0, {0.02, -0.1, 0.1}, {4.5, 6.0, 5.2}, 0, 1, 6},
};

/* Accelerations of the joints, whose motions are `free`; all of them are constant in their carriers. */
static void recursion(Body *const *bodies, const Spatial *free, const double *speeds, double *u_dot)
{
    Spatial still = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, velocity[2], bias[2], force[2], change[2], given[7];
    Articulated inertia[2];
    for (int i = 0; i < 2; i++) {
        const Pose *x = &bodies[i]->pose;
        int carrier = LINKS[i].carrier;
        Spatial carried = carrier < 0 ? still : velocity[carrier], motion = still;
        for (int k = 0; k < LINKS[i].dofs; k++)
            motion = plus(motion, scaled(speeds[LINKS[i].first + k], free[LINKS[i].first + k]));
        bias[i] = carrier < 0 ? still : bias[carrier];
        Vector slip = add(motion.linear, cross(motion.angular, x->p)); /* of the joint's own origin, which moves */
        bias[i].angular = add(bias[i].angular, cross(carried.angular, motion.angular));
        bias[i].linear = add(bias[i].linear, add(cross(carried.angular, motion.linear), cross(carried.linear, motion.angular)));
        bias[i].linear = add(bias[i].linear, cross(slip, motion.angular));
        velocity[i] = plus(carried, motion);

        Vector center = add(x->p, rotate(x->r, LINKS[i].center)), w = velocity[i].angular;
        Symmetric turn = turned(x->r, LINKS[i].inertia);
        Vector v = add(velocity[i].linear, cross(w, center));
        Vector a = add(add(bias[i].linear, cross(bias[i].angular, center)), cross(w, v));
        Vector needed = scale(LINKS[i].mass, vector(a.x, a.y, a.z + G));
        Vector moment = add(times(turn, bias[i].angular), cross(w, times(turn, w)));
        Spatial applied = {add(bodies[i]->moment, cross(x->p, bodies[i]->force)), bodies[i]->force};
        force[i] = plus((Spatial){add(moment, cross(center, needed)), needed}, scaled(-1.0, applied));
        inertia[i] = rigid(LINKS[i].mass, center, turn);
    }
    for (int i = 1; i >= 0; i--) {
        for (int k = LINKS[i].first + LINKS[i].dofs - 1; k >= LINKS[i].first; k--) {
            Spatial u = apply(&inertia[i], free[k]);
            double pivot = power(free[k], u), missing = -power(free[k], force[i]);
            release(&inertia[i], u, pivot);
            force[i] = plus(force[i], scaled(missing / pivot, u));
            given[k] = scaled(1.0 / pivot, u);
            u_dot[k] = missing / pivot;
        }
        if (LINKS[i].carrier >= 0) {
            add_to(&inertia[LINKS[i].carrier], &inertia[i]);
            force[LINKS[i].carrier] = plus(force[LINKS[i].carrier], force[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        change[i] = LINKS[i].carrier < 0 ? still : change[LINKS[i].carrier];
        for (int k = LINKS[i].first; k < LINKS[i].first + LINKS[i].dofs; k++) {
            u_dot[k] -= power(given[k], change[i]);
            change[i] = plus(change[i], scaled(u_dot[k], free[k]));
        }
    }
}
#endif

/* The rates of the state; where the sensor is, and how fast that changes, into the last two places. */
static void rates(const Mount *mount, double t, const double *y, double *f, double *sensor)
{
    const double *e = &y[QUATERNION];
    double n = 1.0 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    double a = n * e[0], b = n * e[1], c = n * e[2], d = n * e[3];
    Rotation r = {{1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)},
                  {2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d + a * b)},
                  {2.0 * (b * d + a * c), 2.0 * (c * d - a * b), 1.0 - 2.0 * (b * b + c * c)}};
    Rotation still = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    Vector zero = {0.0, 0.0, 0.0}, w = vector(y[TURN], y[TURN + 1], y[TURN + 2]);
    Body ground = {{still, zero}, zero, zero, zero, zero};
    Body chassis = {{still, vector(0.0, 0.0, y[HEIGHT])}, zero, vector(0.0, 0.0, y[RISE]), zero, zero};
    Body engine = {{r, vector(y[PLACE], y[PLACE + 1], y[PLACE + 2] + y[HEIGHT])},
                   w, vector(y[SPEED], y[SPEED + 1], y[SPEED + 2] + y[RISE]), zero, zero};
    Vector arm = rotate(r, SHAKEN), sensed = add(engine.pose.p, arm);

    for (int i = 0; i < BUSHINGS; i++)
        f[DISSIPATED + i] = bushing(&mount->bushings[i], i == 0 ? &ground : &chassis, i == 0 ? &chassis : &engine);

    double told = fmin(fmax(-3000.0 * seen(mount, t - DELAY), -400.0), 400.0);
    Vector up = vector(0.0, 0.0, told);
    push(&engine, sensed, up);
    push(&chassis, sensed, scale(-1.0, up));
    f[BY_DAMPER] = dot(up, sub(velocity_at(&engine, sensed), velocity_at(&chassis, sensed)));

    double speed = 750.0 / 60.0 * 2.0 * PI, omega = speed, omega_dot = 0.0, phi = speed * (t - 0.5);
    if (t < 1.0) {
        omega = 0.5 * speed * (1.0 - cos(PI * t));
        omega_dot = 0.5 * speed * PI * sin(PI * t);
        phi = 0.5 * speed * (t - sin(PI * t) / PI);
    }
    double unbalance = 4.0 * 0.6 * 0.045 * 0.045 / 0.145;
    double shaking = unbalance * (omega * omega * cos(2.0 * phi) + 0.5 * omega_dot * sin(2.0 * phi));
    Vector shake = scale(shaking, r.z);
    push(&engine, sensed, shake);
    f[BY_SHAKER] = dot(shake, velocity_at(&engine, sensed));

    Vector alpha, accel; /* of the engine, relative to the chassis */
    double rise;
#ifdef GENERAL
    Body *bodies[2] = {&chassis, &engine};
    Spatial free[7] = {{zero, vector(0.0, 0.0, 1.0)}};
    Vector axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; i++) {
        free[1 + i] = (Spatial){axes[i], cross(engine.pose.p, axes[i])};
        free[4 + i] = (Spatial){zero, axes[i]};
    }
    double u_dot[7];
    recursion(bodies, free, &y[RISE], u_dot);
    rise = u_dot[0];
    alpha = vector(u_dot[1], u_dot[2], u_dot[3]);
    accel = vector(u_dot[4], u_dot[5], u_dot[6] + rise);
#else
    Vector center = rotate(r, CENTER);
    push(&engine, add(engine.pose.p, center), vector(0.0, 0.0, -ENGINE_MASS * G));
    rise = chassis.force.z / CHASSIS_MASS - G;
    Vector about = sub(engine.moment, cross(center, engine.force));
    Vector wb = rotate_back(r, w), mb = rotate_back(r, about);
    Vector spin = vector(INERTIA.x * wb.x, INERTIA.y * wb.y, INERTIA.z * wb.z);
    Vector turn = sub(mb, cross(wb, spin));
    alpha = rotate(r, vector(turn.x / INERTIA.x, turn.y / INERTIA.y, turn.z / INERTIA.z));
    accel = sub(scale(1.0 / ENGINE_MASS, engine.force), add(cross(alpha, center), cross(w, cross(w, center))));
#endif

    f[HEIGHT] = y[RISE];
    f[QUATERNION] = -0.5 * (w.x * e[1] + w.y * e[2] + w.z * e[3]);
    f[QUATERNION + 1] = 0.5 * (w.x * e[0] + w.y * e[3] - w.z * e[2]);
    f[QUATERNION + 2] = 0.5 * (w.y * e[0] + w.z * e[1] - w.x * e[3]);
    f[QUATERNION + 3] = 0.5 * (w.z * e[0] + w.x * e[2] - w.y * e[1]);
    f[PLACE] = y[SPEED];
    f[PLACE + 1] = y[SPEED + 1];
    f[PLACE + 2] = y[SPEED + 2];
    f[RISE] = rise;
    f[TURN] = alpha.x;
    f[TURN + 1] = alpha.y;
    f[TURN + 2] = alpha.z;
    f[SPEED] = accel.x;
    f[SPEED + 1] = accel.y;
    f[SPEED + 2] = accel.z - rise;
    sensor[0] = velocity_at(&engine, sensed).z;
    sensor[1] = accel.z + cross(alpha, arm).z + cross(w, cross(w, arm)).z;
}

static Mount mount;
static double y[STATES];

/* At the equilibrium. */
void begin(double step)
{
    static const Vector places[BUSHINGS][2] = {{{0.0, 0.0, 0.7}, {0.0, 0.0, 0.0}},
                                               {{-0.3, 0.0, 0.0}, {-0.3, 0.0, 0.0}},
                                               {{0.3, 0.0, 0.0}, {0.3, 0.0, 0.0}},
                                               {{0.0, -0.35, 0.1}, {0.0, -0.35, 0.1}}};
    static const double start[STATES] = {
        0.539116,          0.999999846810953, -0.000482835606497, 0.000269577972275,
        -2.3990918683e-05, -1.2405125238e-05, -3.2243135691e-05,  -0.001747642746489,
    };
    memset(&mount, 0, sizeof mount);
    mount.step = step;
    for (int i = 0; i < BUSHINGS; i++) {
        Bushing b = {.stiffness = {[5] = 50e3}, .damping = {[5] = 3.5e3}};
        if (i > 0)
            b = (Bushing){.stiffness = {[3] = 120e3, 120e3, 240e3}, .damping = {[3] = 100.0, 100.0, 200.0}};
#ifdef GENERAL
        Rotation along = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        b.on1 = (Pose){along, places[i][0]};
        b.on2 = (Pose){along, places[i][1]};
#else
        b.on1 = places[i][0];
        b.on2 = places[i][1];
#endif
        mount.bushings[i] = b;
    }
    memcpy(y, start, sizeof start);
}

const double *state(void) { return y; }

static void combine(const double *y, double h, const double *k, double *x)
{
    for (int i = 0; i < STATES; i++) x[i] = y[i] + h * k[i];
}

void advance(int steps)
{
    double k1[STATES], k2[STATES], k3[STATES], k4[STATES], x[STATES], h = mount.step, sensor[2];
    for (int n = 0; n < steps; n++) {
        double t = (double)mount.steps * h;
        rates(&mount, t, y, k1, sensor);
        mount.values[mount.steps % MOST] = sensor[0];
        mount.slopes[mount.steps % MOST] = sensor[1];
        combine(y, 0.5 * h, k1, x);
        rates(&mount, t + 0.5 * h, x, k2, sensor);
        combine(y, 0.5 * h, k2, x);
        rates(&mount, t + 0.5 * h, x, k3, sensor);
        combine(y, h, k3, x);
        rates(&mount, (double)(mount.steps + 1) * h, x, k4, sensor);
        for (int i = 0; i < STATES; i++) y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        double length = 0.0;
        for (int i = QUATERNION; i < PLACE; i++) length += y[i] * y[i];
        for (int i = QUATERNION; i < PLACE; i++) y[i] /= sqrt(length);
        mount.steps++;
    }
}

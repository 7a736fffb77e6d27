/* Spatial vectors and articulated inertias, about Ground's origin in Ground's axes. */
#ifndef ARTICULATED_H
#define ARTICULATED_H

#include "spatial.h"

typedef struct {
    Vector angular, linear;
} Spatial;

/* A spatial inertia, [[a, b], [b^T, c]]. */
typedef struct {
    Symmetric a, c;
    double b[3][3];
} Articulated;

static inline Spatial plus(Spatial a, Spatial b) { return (Spatial){add(a.angular, b.angular), add(a.linear, b.linear)}; }
static inline Spatial scaled(double s, Spatial a) { return (Spatial){scale(s, a.angular), scale(s, a.linear)}; }
static inline double power(Spatial a, Spatial b) { return dot(a.angular, b.angular) + dot(a.linear, b.linear); }

static inline Spatial apply(const Articulated *i, Spatial s)
{
    Vector w = s.angular, v = s.linear;
    Vector bv = vector(i->b[0][0] * v.x + i->b[0][1] * v.y + i->b[0][2] * v.z,
                       i->b[1][0] * v.x + i->b[1][1] * v.y + i->b[1][2] * v.z,
                       i->b[2][0] * v.x + i->b[2][1] * v.y + i->b[2][2] * v.z);
    Vector wb = vector(i->b[0][0] * w.x + i->b[1][0] * w.y + i->b[2][0] * w.z,
                       i->b[0][1] * w.x + i->b[1][1] * w.y + i->b[2][1] * w.z,
                       i->b[0][2] * w.x + i->b[1][2] * w.y + i->b[2][2] * w.z);
    return (Spatial){add(times(i->a, w), bv), add(wb, times(i->c, v))};
}

/* i -= u u^T / d */
static inline void release(Articulated *i, Spatial u, double d)
{
    Vector m = u.angular, f = u.linear, n = scale(1.0 / d, m), g = scale(1.0 / d, f);
    i->a.xx -= m.x * n.x;
    i->a.yy -= m.y * n.y;
    i->a.zz -= m.z * n.z;
    i->a.xy -= m.x * n.y;
    i->a.xz -= m.x * n.z;
    i->a.yz -= m.y * n.z;
    i->b[0][0] -= m.x * g.x;
    i->b[0][1] -= m.x * g.y;
    i->b[0][2] -= m.x * g.z;
    i->b[1][0] -= m.y * g.x;
    i->b[1][1] -= m.y * g.y;
    i->b[1][2] -= m.y * g.z;
    i->b[2][0] -= m.z * g.x;
    i->b[2][1] -= m.z * g.y;
    i->b[2][2] -= m.z * g.z;
    i->c.xx -= f.x * g.x;
    i->c.yy -= f.y * g.y;
    i->c.zz -= f.z * g.z;
    i->c.xy -= f.x * g.y;
    i->c.xz -= f.x * g.z;
    i->c.yz -= f.y * g.z;
}

static inline void add_to(Articulated *i, const Articulated *other)
{
    double *sum = (double *)i;
    const double *term = (const double *)other;
    for (unsigned k = 0; k < sizeof *i / sizeof *sum; k++) sum[k] += term[k];
}

/* Of a body whose centre of mass is at r. */
static inline Articulated rigid(double m, Vector r, Symmetric i)
{
    double x = m * r.x, y = m * r.y, z = m * r.z;
    return (Articulated){{i.xx + y * r.y + z * r.z, i.yy + x * r.x + z * r.z, i.zz + x * r.x + y * r.y, i.xy - x * r.y,
                          i.xz - x * r.z, i.yz - y * r.z},
                         {m, m, m, 0.0, 0.0, 0.0},
                         {{0.0, -z, y}, {z, 0.0, -x}, {-y, x, 0.0}}};
}

#endif

/* Vectors and rotations in space, by value: what hand-written mechanics in C begins with. */
#ifndef SPATIAL_H
#define SPATIAL_H

#include <math.h>

typedef struct {
    double x, y, z;
} Vector;

/* Columns of a rotation: its axes. */
typedef struct {
    Vector x, y, z;
} Rotation;

/* Symmetric, three by three. */
typedef struct {
    double xx, yy, zz, xy, xz, yz;
} Symmetric;

static inline Vector vector(double x, double y, double z) { return (Vector){x, y, z}; }
static inline Vector add(Vector a, Vector b) { return vector(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline Vector sub(Vector a, Vector b) { return vector(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline Vector scale(double s, Vector a) { return vector(s * a.x, s * a.y, s * a.z); }
static inline double dot(Vector a, Vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline Vector cross(Vector a, Vector b)
{
    return vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline Vector rotate(Rotation r, Vector a)
{
    return add(add(scale(a.x, r.x), scale(a.y, r.y)), scale(a.z, r.z));
}

static inline Vector rotate_back(Rotation r, Vector a) { return vector(dot(r.x, a), dot(r.y, a), dot(r.z, a)); }

static inline Vector times(Symmetric i, Vector a)
{
    return vector(i.xx * a.x + i.xy * a.y + i.xz * a.z, i.xy * a.x + i.yy * a.y + i.yz * a.z,
                  i.xz * a.x + i.yz * a.y + i.zz * a.z);
}

/* R diag(i) R^T */
static inline Symmetric turned(Rotation r, Vector i)
{
    Vector a = scale(i.x - i.z, r.x), b = scale(i.y - i.z, r.y);
    return (Symmetric){i.z + a.x * r.x.x + b.x * r.y.x, i.z + a.y * r.x.y + b.y * r.y.y,
                       i.z + a.z * r.x.z + b.z * r.y.z, a.x * r.x.y + b.x * r.y.y,
                       a.x * r.x.z + b.x * r.y.z,       a.y * r.x.z + b.y * r.y.z};
}

#endif

"""Polynomials through entries of a history."""

from __future__ import annotations


def hermite(t, t0, v0, d0, t1, v1, d1):
    """Value and derivative at `t` of the cubic with these values and derivatives at two times."""
    step = t1 - t0
    s = (t - t0) / step
    r = 1.0 - s
    slope = (v1 - v0) / step
    value = v0 + s * (v1 - v0) + s * r * step * (r * (d0 - slope) - s * (d1 - slope))
    derivative = slope + (r - s) * (r * (d0 - slope) - s * (d1 - slope)) - s * r * (d0 - slope + d1 - slope)
    return value, derivative


def half_hermite(t, te, ve, t0, v0, d0, t1, v1):
    """Value and derivative at `t` of the cubic with these values at three times and one derivative.

    The parabola where the first two times are the same.
    """
    a = t - t0
    step = t1 - t0
    bend = (v1 - v0 - d0 * step) / (step * step)
    twist = 0.0
    if te < t0:
        b = te - t0
        twist = (ve - v0 - b * (d0 + b * bend)) / (b * b * (b - step))
    value = v0 + a * (d0 + a * (bend + twist * (a - step)))
    return value, d0 + a * (2.0 * bend + twist * (3.0 * a - 2.0 * step))


def linear(t, t0, v0, t1, v1):
    """Value and derivative at `t` of the line through two points, written as a weighted mean."""
    s = (t - t0) / (t1 - t0)
    return v0 + s * (v1 - v0), (v1 - v0) / (t1 - t0)


def cubic(t, t0, v0, t1, v1, t2, v2, t3, v3):
    """Value and derivative at `t` of the cubic through four points (Newton's divided differences)."""
    f01 = (v1 - v0) / (t1 - t0)
    f12 = (v2 - v1) / (t2 - t1)
    f23 = (v3 - v2) / (t3 - t2)
    f012 = (f12 - f01) / (t2 - t0)
    f123 = (f23 - f12) / (t3 - t1)
    f0123 = (f123 - f012) / (t3 - t0)
    a = t - t0
    b = t - t1
    e = t - t2
    value = v0 + a * (f01 + b * (f012 + e * f0123))
    derivative = f01 + (a + b) * f012 + (a * b + a * e + b * e) * f0123
    return value, derivative


def third_derivative(step, v0, d0, v1, d1):
    """Third derivative of the cubic with these values and derivatives at both ends."""
    return 6.0 * (d0 + d1 - 2.0 * (v1 - v0) / step) / (step * step)


def point(past, index, t, value, derivative):
    """Time, value and derivative of an entry; of the present when the index is one past the newest."""
    if index == past.count:
        return t, value, derivative
    entry = past.entry(index)
    return entry.time, entry.value, entry.derivative


def hermite_through(past, first, last, at, t, value, derivative):
    """Value and derivative at `at` of the polynomial with the values and derivatives of several entries.

    Through n entries it is of degree 2 n - 1: with those of a step and of the points inside it, it is
    the dense output of the integrator again. Lagrange's form, relative to the first value so that a
    constant stays one to the last bit.
    """
    _, base, _ = point(past, first, t, value, derivative)
    total = 0.0
    rate = 0.0
    for i in range(first, last + 1):
        ti, vi, di = point(past, i, t, value, derivative)
        basis = 1.0
        slope = 0.0  # derivative of the basis polynomial at its own point
        change = 0.0  # and at `at`
        for j in range(first, last + 1):
            if j != i:
                tj, _, _ = point(past, j, t, value, derivative)
                change = (change * (at - tj) + basis) / (ti - tj)
                basis *= (at - tj) / (ti - tj)
                slope += 1.0 / (ti - tj)
        weight = (vi - base) * (1.0 - 2.0 * slope * (at - ti)) + di * (at - ti)
        total += weight * basis * basis
        rate += (di - 2.0 * slope * (vi - base)) * basis * basis + 2.0 * weight * basis * change
    return base + total, rate

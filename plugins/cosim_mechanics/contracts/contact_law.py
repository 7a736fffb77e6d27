"""The laws of a contact in numbers: Hertz, restitution, Mindlin, Coulomb.

Steps should not end where surfaces touch (`docs/kinks.md`), so these kinks stand in helpers of several
statements: bodies that touch without a force cross them by rounding in every step.
"""

from __future__ import annotations

import math

from cosim_mechanics.spatial import Reals, dot, minus, scaled

APART, STICKS, SLIDES, YIELDS = 0, 1, 2, 3
"""What a contact does: the surfaces are apart, stick, slide, or have come to rest against static friction.

Which of sticking and sliding follows a rest is what a moment of yielding shows: static friction stops it, or
it does not."""

STOPS = 0.1
"""Share of the strength of a bristle that stopping the last bit of sliding may take."""

YIELDING = 0.01
"""Share of that strength within which yielding shows."""

LEAST_RESTITUTION = 1e-4
"""Its damping ratio is 50: a ball sinks to its rest for seconds, with 40 times the explicit steps of 0.1."""

NO_RESTITUTION = (
    "the restitution is below 1e-4: its damping, about 1 / (2 sqrt(restitution)) times the critical one, "
    "would let bodies sink to their rest for seconds, in ever shorter steps; 0.01 leaves no visible bounce"
)


def locates_touches(static_friction: float, restitution: float, dissipation: float) -> bool:
    """Whether touching and parting are events.

    With static friction they change what acts. Without, an elastic force is smooth on either side of the
    touch, so steps that end there are longer. Damping is not: that of a restitution begins with an infinite
    slope, that of Hunt and Crossley leaves small bounces without end, and each would end the step of all.

    >>> locates_touches(0.0, 1.0, 0.0), locates_touches(0.0, 0.9, 0.0), locates_touches(0.1, 0.9, 0.0)
    (True, False, True)
    >>> locates_touches(0.0, 1.0, 0.1)
    False
    """
    if static_friction > 0.0:
        return True
    return restitution == 1.0 and dissipation == 0.0


def hertz_stiffness(modulus: float, radius: float) -> float:
    """Force of a Hertz contact over depth^(3/2), N/m^1.5.

    >>> round(hertz_stiffness(1e6, 0.09))
    400000
    """
    return 4.0 / 3.0 * modulus * math.sqrt(radius)


def hertz_force(modulus: float, radius: float, depth: float) -> float:
    """Elastic force of a Hertz contact, N: 0 while the surfaces are apart.

    >>> round(hertz_force(1e6, 0.09, 0.01))
    400
    """
    if depth <= 0.0:
        return 0.0
    return hertz_stiffness(modulus, radius) * depth * math.sqrt(depth)


def damped_force(
    elastic: float,
    dissipation: float,
    damping_ratio: float,
    mass_times_stiffness: float,
    depth: float,
    depth_rate: float,
) -> float:
    """Elastic force and damping, N, never below 0.

    >>> damped_force(8.0, 1.0, 0.0, 1.0, 0.1, 0.5)
    14.0
    """
    if depth <= 0.0:
        return 0.0
    force = elastic * (1.0 + 1.5 * dissipation * depth_rate)
    force += damping_ratio * math.sqrt(5.0 * mass_times_stiffness * math.sqrt(depth)) * depth_rate
    return max(0.0, force)


def share_followed(regime: int, depth: float) -> float:
    """1 where a bristle follows the surfaces, which stick and touch; else 0.

    >>> share_followed(STICKS, 0.1), share_followed(STICKS, -0.1), share_followed(SLIDES, 0.1)
    (1.0, 0.0, 0.0)
    """
    if regime == STICKS and depth > 0.0:
        return 1.0
    return 0.0


def mindlin_stiffness(modulus: float, radius: float, depth: float, poisson_ratio: float) -> float:
    """Tangential stiffness of a Hertz contact that sticks, N/m: 2 (1 - nu) / (2 - nu) of the normal one.

    >>> mindlin_stiffness(1e6, 0.04, 0.01, 0.0)
    40000.0
    """
    if depth <= 0.0:
        return 0.0
    return 2.0 * (1.0 - poisson_ratio) / (2.0 - poisson_ratio) * 2.0 * modulus * math.sqrt(radius * depth)


def loss_of(damping_ratio: float) -> float:
    """-ln e of a linear oscillator that leaves a surface which does not pull.

    >>> loss_of(1.0)
    2.0
    """
    if abs(damping_ratio - 1.0) < 1e-7:
        return 2.0
    if damping_ratio > 1.0:
        return (
            2.0 * damping_ratio * math.acosh(damping_ratio) / math.sqrt(damping_ratio * damping_ratio - 1.0)
        )
    angle = math.asin(damping_ratio)
    return math.tan(angle) * (math.pi - 2.0 * angle)


def damping_ratio_of(restitution: float) -> float:
    """The damping ratio with which an impact leaves the share `restitution` (above 0) of its speed.

    With ``s = depth^(5/4)`` a Hertz contact with the damping ``depth^(1/4) depth_rate`` becomes a linear
    oscillator, so the share is the same at all speeds (Antypov and Elliott 2011). The surface never pulls.

    >>> damping_ratio_of(1.0)
    0.0
    >>> round(damping_ratio_of(math.exp(-2.0)), 5)
    1.0
    """
    loss = -math.log(restitution)
    if loss <= 0.0:
        return 0.0
    low = 0.0
    high = 1.0
    for _ in range(60):
        if loss_of(high) >= loss:
            break
        low = high
        high = 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        if loss_of(middle) < loss:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def tangential_part(v: Reals, normal: Reals) -> tuple[float, float, float]:
    """The part of a vector that lies in the plane of contact.

    >>> tangential_part((1.0, 2.0, 3.0), (0.0, 0.0, 1.0))
    (1.0, 2.0, 0.0)
    """
    return minus(v, scaled(dot(v, normal), normal))


def sliding_direction(slip: Reals, start: Reals) -> tuple[float, float, float]:
    """Unit vector of sliding: that of `slip`, which counts as forward along the direction in which it began.

    An integrator that steps across the end of sliding meets no jump so; the end itself is an event.

    >>> sliding_direction((-2.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    (1.0, 0.0, 0.0)
    """
    forward = minus(slip, scaled(2.0 * min(dot(slip, start), 0.0), start))
    size = math.sqrt(dot(forward, forward))
    return scaled(1.0 / size, forward) if size > 0.0 else scaled(1.0, start)


def sticking_force(
    stiffness: float, damping: float, stretch: Reals, slip: Reals, limit: float
) -> tuple[float, float, float]:
    """Force of a bristle that is stretched, never larger than the limit.

    >>> sticking_force(10.0, 1.0, (0.1, 0.0, 0.0), (1.0, 0.0, 0.0), 1.0)
    (-1.0, -0.0, -0.0)
    """
    f = minus(scaled(-stiffness, stretch), scaled(damping, slip))
    size = math.sqrt(dot(f, f))
    if size <= limit:
        return f
    return scaled(limit / size, f)


def bristle_speed(limit: float, stiffness: float, mass: float) -> float:
    """Speed that a bristle stops when it is stretched up to a force, m/s.

    >>> bristle_speed(3.0, 9.0, 1.0)
    1.0
    """
    if stiffness <= 0.0 or mass <= 0.0:
        return 0.0
    return limit / math.sqrt(stiffness * mass)


def direction_of(v: Reals, instead: Reals) -> tuple[float, float, float]:
    """Unit vector along `v`, or `instead` where that is zero.

    >>> direction_of((0.0, 2.0, 0.0), (1.0, 0.0, 0.0))
    (0.0, 1.0, 0.0)
    """
    size = math.sqrt(dot(v, v))
    return scaled(1.0 / size, v) if size > 0.0 else scaled(1.0, instead)

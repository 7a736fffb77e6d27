"""The laws of a contact as functions of numbers: Hertz, restitution, Mindlin, Coulomb.

Steps end at kinks that are recognized in single expressions (`docs/kinks.md`). They should not end where
surfaces touch, since bodies that touch without a force cross that point by rounding in every step. So the
helpers here have several statements, in which kinks are not recognized.
"""

from __future__ import annotations

import math

from cosim_mechanics.spatial import Reals, dot, minus, plus, scaled

APART, STICKS, SLIDES = 0, 1, 2
"""The regimes of a contact: its surfaces are apart, stick, or slide."""

GROWS, TURNS, STARTS, RISES, JUMPS, LOOSE = 0, 1, 2, 3, 4, 5
"""The courses of the load of surfaces that stick.

GROWS: it is constant or grows slowly. TURNS: it reverses after the surfaces have stopped. STARTS: it has
begun to change. RISES: it changes, and the bristle pulls with less than static friction. JUMPS: it changes,
and the bristle pulls harder than that. LOOSE: the surfaces have broken loose, and have dynamic friction.
"""

LEAST_DAMPING = 0.1
"""The smallest damping ratio of a bristle that slips: the foot of an undamped one would jump."""

MARGIN = 1e-6
"""The share by which a bristle must pull harder than static friction before surfaces slide.

Surfaces that come to rest under all their static friction approach it asymptotically; without the margin
rounding would end steps.
"""

LEAST_RESTITUTION = 1e-4
"""It has a damping ratio of 50: a ball sinks to rest for seconds, and takes 40 times the explicit steps of a
restitution of 0.1."""

NO_RESTITUTION = (
    "the restitution is below 1e-4: its damping, about 1 / (2 sqrt(restitution)) times the critical one, "
    "would let bodies sink to their rest for seconds, in ever shorter steps; 0.01 leaves no visible bounce"
)


def locates_touches(static_friction: float, restitution: float, dissipation: float) -> bool:
    """Whether touching and parting are events.

    With static friction they change the law. Without it an elastic force is smooth on either side of the
    touch, so steps that end there may be longer. With damping they are not events: the damping of a
    restitution begins with an infinite slope, that of Hunt and Crossley leaves endless small bounces, and
    each event would end the step of the whole system.

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


def mindlin_stiffness(modulus: float, radius: float, depth: float, poisson_ratio: float) -> float:
    """Tangential stiffness of a Hertz contact that sticks, N/m: 2 (1 - nu) / (2 - nu) of the normal one.

    >>> mindlin_stiffness(1e6, 0.04, 0.01, 0.0)
    40000.0
    """
    if depth <= 0.0:
        return 0.0
    return 2.0 * (1.0 - poisson_ratio) / (2.0 - poisson_ratio) * 2.0 * modulus * math.sqrt(radius * depth)


def loss_of(damping_ratio: float) -> float:
    """-ln e of a linear oscillator that leaves a surface which cannot pull, e the restitution.

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


def bristle_damping(damping_ratio: float, stiffness: float, mass: float) -> float:
    """Damping of a bristle, N.s/m.

    >>> bristle_damping(0.5, 9.0, 1.0)
    3.0
    """
    return 2.0 * damping_ratio * math.sqrt(stiffness * mass)


def bristle_pull(stiffness: float, damping: float, stretch: Reals, slip: Reals) -> tuple[float, float, float]:
    """The pull of a bristle whose foot does not slip, N, along `stretch` and `slip`.

    >>> bristle_pull(10.0, 1.0, (0.1, 0.0, 0.0), (0.0, 2.0, 0.0))
    (1.0, 2.0, 0.0)
    """
    return plus(scaled(stiffness, stretch), scaled(damping, slip))


def slip_of_foot(load: Reals, size: float, limit: float, damping: float) -> tuple[float, float, float]:
    """Velocity at which the foot of a bristle slips, m/s, if its load (of the length `size`) exceeds a limit.

    >>> slip_of_foot((0.0, 4.0, 0.0), 4.0, 3.0, 0.5), slip_of_foot((3.0, 4.0, 0.0), 5.0, 5.0, 0.5)
    ((0.0, 2.0, 0.0), (0.0, 0.0, 0.0))
    """
    if size <= limit or damping <= 0.0:
        return (0.0, 0.0, 0.0)
    return scaled((size - limit) / (damping * size), load)


def is_kicked(pull: float, holds: float) -> bool:
    """Whether a bristle pulls harder than any that sticks, since a handler has changed a speed.

    A load that jumps from one side of the cone of friction to far beyond the other makes a bristle pull with
    three times its friction. Surfaces that such a kick has set in motion slide until the bristle is slow
    enough to stick.

    >>> is_kicked(30.0, 10.0), is_kicked(100.0, 10.0), is_kicked(0.0, 0.0)
    (False, True, False)
    """
    share = 8.0
    if pull <= share * holds:
        return False
    return holds > 0.0


def sticks_at_touch(
    static_friction: float,
    damping_ratio: float,
    depth_rate: float,
    stick_damping: float,
    poisson_ratio: float,
    slip: float,
) -> bool:
    """Whether the bristle of surfaces that begin to touch pulls with less than static friction.

    At that time only dampers act, and both that of the bristle and that of the normal force grow with
    depth^(1/4).

    >>> sticks_at_touch(0.5, 1.0, 1.0, 1.0, 0.3, 0.3), sticks_at_touch(0.5, 1.0, 1.0, 1.0, 0.3, 0.6)
    (True, False)
    >>> sticks_at_touch(0.5, 0.0, 1.0, 1.0, 0.3, 0.0), sticks_at_touch(0.5, 0.0, 1.0, 1.0, 0.3, 1e-9)
    (True, False)
    >>> sticks_at_touch(0.0, 1.0, 1.0, 1.0, 0.3, 0.0)
    False
    """
    pull = 2.0 * stick_damping * math.sqrt(4.0 * (1.0 - poisson_ratio) / (2.0 - poisson_ratio)) * slip
    holds = static_friction * damping_ratio * math.sqrt(20.0 / 3.0) * depth_rate
    return static_friction > 0.0 and pull <= holds


def share_held(size: float, limit: float) -> float:
    """The factor that reduces a force of the length `size` to a limit; 1 if it is below.

    >>> share_held(5.0, 5.0), share_held(5.0, 2.5), share_held(0.0, 0.0)
    (1.0, 0.5, 1.0)
    """
    if size <= limit:
        return 1.0
    return limit / size


def limited(pull: Reals, limit: float) -> tuple[float, float, float]:
    """A force, shortened to a limit if it is longer.

    >>> limited((3.0, 4.0, 0.0), 5.0), limited((3.0, 4.0, 0.0), 2.5)
    ((3.0, 4.0, 0.0), (1.5, 2.0, 0.0))
    """
    return scaled(share_held(math.sqrt(dot(pull, pull)), limit), pull)

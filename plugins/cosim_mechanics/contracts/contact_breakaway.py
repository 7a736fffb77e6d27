"""When surfaces that stick begin to slide.

In Coulomb's law what acts has to exceed static friction. A bristle pulls with as much only later, or harder
for a while. So whether surfaces break loose is checked where the bristle reaches a threshold: accelerations
show what acts there. A course of the load (`contact_law.GROWS` …) says which threshold comes next.

With equal frictions a bristle needs no check: its foot slips, and surfaces slide once it pulls harder.
With a lower dynamic friction they should slide from the instant of a jump with that. A bristle that is
damped critically has given and taken equal momentum when it bears dynamic friction: there surfaces break
loose at the speed and place of Coulomb's law.
"""

from __future__ import annotations

import math
from typing import Any

from cosim_mechanics.contracts.contact_grip import (
    BEARS,
    COUNT,
    HOLDS,
    LOAD,
    PULL,
    SLIDES_WITH,
    friction_limit,
    is_shared,
    may_hold_more,
    short_of_sliding,
    total_dynamic_friction,
    total_friction,
    total_static_friction,
    total_stiffness,
)
from cosim_mechanics.contracts.contact_law import (
    GROWS,
    JUMPS,
    LOOSE,
    MARGIN,
    RISES,
    SLIDES,
    STARTS,
    STICKS,
    TURNS,
    hertz_stiffness,
    mindlin_stiffness,
    sticks_at_touch,
    tangential_part,
)
from cosim_mechanics.contracts.touching_body import mass_at_contact
from cosim_mechanics.spatial import (
    Reals,
    dot,
    minus,
    norm,
    plus,
    point_velocity,
    rotate,
    rotate_inverse,
    scaled,
    station,
)

MOVES = 1e-3
"""Half the force of the bristle's damper, over static friction, from which a loaded bristle moves."""

LEAST_WAIT = 0.003
"""Time constants after which surfaces are checked again at the earliest."""

CALM = 4.0
"""Time constants after which a bristle moves no more: 12 / sqrt(k_t / m) where it is damped critically."""


def friction_at_rest(
    friction1: Reals, acceleration1: Reals, friction2: Reals, acceleration2: Reals, most: float
) -> tuple[float, float, float]:
    """The friction that would hold two surfaces, N, from two instants while one force acts on them.

    What acts is mass times acceleration less friction. The two instants show the mass which that is, whatever
    joints, rotation and other contacts make of it: 0 N if they show none. It is at most `most`, kg.

    >>> friction_at_rest((-2.0, 0.0, 0.0), (5.0, 0.0, 0.0), (2.0, 0.0, 0.0), (7.0, 0.0, 0.0), 9.0)
    (-12.0, 0.0, 0.0)
    >>> friction_at_rest((-2.0, 0.0, 0.0), (5.0, 0.0, 0.0), (2.0, 0.0, 0.0), (7.0, 0.0, 0.0), 1.0)
    (-5.0, 0.0, 0.0)
    >>> friction_at_rest((2.0, 0.0, 0.0), (5.0, 0.0, 0.0), (2.0, 0.0, 0.0), (5.0, 0.0, 0.0), 9.0)
    (0.0, 0.0, 0.0)
    """
    change = minus(acceleration2, acceleration1)
    work = dot(minus(friction2, friction1), change)
    if work <= 0.0:
        return (0.0, 0.0, 0.0)
    return minus(friction2, scaled(min(most, work / dot(change, change)), acceleration2))


def slip_acceleration(s: Any) -> tuple[float, float, float]:
    """Acceleration of body 2 on body 1 along the surfaces, m/s2, in Ground, as friction changes it.

    Of the one point where they touch. Several points tilt with the elastic surfaces below them, so it is that
    of the centre of mass of the lighter body.
    """
    p = plus(s.point, (0.0, 0.0, 0.0))
    if is_shared(s):
        if s.inverse_mass2 >= s.inverse_mass1:
            p = station(s.X_GB2, s.turning2[6:9])
        else:
            p = station(s.X_GB1, s.turning1[6:9])
    a = minus(point_velocity(s.A_GB2, s.X_GB2, p), point_velocity(s.A_GB1, s.X_GB1, p))
    return tangential_part(a, s.normal)


def moving_mass(s: Any) -> float:
    """The mass that bodies show at one contact, or at several, kg."""
    return float(s.effective_mass if is_shared(s) else s.bristle_mass)


def end_of_course(s: Any, regime: int, course: int) -> float:
    """When a course ends at the latest, s: after some time constants of the bristles surfaces are at rest.

    Those that pull harder than static friction are checked again soon, then when it is exceeded.
    """
    stiffness = total_stiffness(s)
    if course == GROWS or stiffness == 0.0 or not may_hold_more(s):
        return math.inf
    if course == LOOSE and regime == SLIDES:
        return math.inf
    constant = (1.0 + 2.0 * s.stick_damping) * math.sqrt(moving_mass(s) / stiffness)
    if course == JUMPS:
        soon = LEAST_WAIT * constant
        return float(s.t + min(max(time_until_loose(s), soon), 0.33 * constant))
    return float(s.t + CALM * constant)


def force_at_rest(s: Any, friction: Reals, acceleration: Reals) -> tuple[float, float, float]:
    """The friction that would hold surfaces, N, from one instant: with the mass of the bodies alone."""
    return minus(friction, scaled(moving_mass(s), acceleration))


def time_until_loose(s: Any) -> float:
    """Time until surfaces should be loose, s, if what acts grows as since the course began: 0 if it is past.

    It has to exceed static friction. A bristle has yielded by then, so surfaces move faster than rigid ones
    would, for which they are held a little longer.
    """
    elapsed = s.t - s.course_start
    if s.load_course != JUMPS or elapsed <= 0.0:
        return 0.0
    friction = total_friction(s)
    held = force_at_rest(s, friction, slip_acceleration(s))
    now = norm(held)
    before = force_at_rest(s, rotate(s.X_GB1, s.course_friction), rotate(s.X_GB1, s.course_acceleration))
    growth = (now - norm(before)) / elapsed
    holds = total_static_friction(s) * (1.0 + MARGIN)
    if now <= holds:
        return float((holds - now) / growth) if growth > 0.0 else math.inf
    if growth <= 0.0:
        return 0.0
    past = (now - holds) / growth
    slides_with = total_dynamic_friction(s)
    speed = -dot(held, s.slip_velocity) / now
    ahead = moving_mass(s) * speed - past * (now - slides_with - 0.5 * growth * past)
    slows = dot(friction, held) / now - slides_with
    if ahead <= 0.0 or slows <= 0.0:
        return 0.0
    return float(ahead / slows)


def end_of_impact(s: Any) -> float:
    """The same of surfaces that begin to touch, by their stiffness at the depth that they reach, s."""
    if not may_hold_more(s):
        return math.inf
    strength = hertz_stiffness(s.stiffness, s.curvature_radius)
    depth = math.pow(1.25 * s.effective_mass * s.depth_rate * s.depth_rate / strength, 0.4)
    stiffness = mindlin_stiffness(s.stiffness, s.curvature_radius, depth, s.poisson_ratio)
    if stiffness == 0.0:
        return math.inf
    return float(s.t + CALM * (1.0 + 2.0 * s.stick_damping) * math.sqrt(s.effective_mass / stiffness))


def force_until_check(s: Any, course: float) -> float:
    """Force that bristles lack until the next check in a course of their load, N."""
    statics = s.static_friction * s.normal_force
    dynamics = s.dynamic_friction * s.normal_force
    pull = s.pull
    load = s.foot_load
    bears = min(load, pull)
    if is_shared(s):
        statics = s.grip2[HOLDS]
        dynamics = s.grip2[SLIDES_WITH]
        pull = norm(s.grip2[PULL : PULL + 3])
        load = norm(s.grip2[LOAD : LOAD + 3])
        bears = s.grip2[BEARS]
    holds = statics * (1.0 + MARGIN)
    short = holds - bears
    if course == JUMPS:
        return short
    if course == RISES:
        return min(short, holds - pull)
    moves = pull - load - MOVES * holds
    slides_with = dynamics * (1.0 + MARGIN)
    if course == GROWS:  # What is loaded a little is not checked before it bears half of dynamic friction.
        return min(short, holds - pull, -min(moves, pull - 0.5 * slides_with))
    turned = slides_with - min(pull, load)
    if course == STARTS:  # Its second instant has to differ from the first.
        turned = max(turned, MOVES * holds - moves)
    return min(short, turned)


def awaits_breakaway(s: Any) -> bool:
    """Whether surfaces may hold more than dynamic friction, so that they have to break loose."""
    return s.load_course != LOOSE and may_hold_more(s)


def is_outside_cone(s: Any, most: float) -> bool:
    """Whether accelerations at the start of the course and now show more than static friction."""
    held = friction_at_rest(
        rotate(s.X_GB1, s.course_friction),
        rotate(s.X_GB1, s.course_acceleration),
        total_friction(s),
        slip_acceleration(s),
        most,
    )
    return norm(held) > total_static_friction(s) * (1.0 + MARGIN)


def is_pulled_harder(s: Any) -> bool:
    """Whether surfaces whose bristles pull with all static friction are still accelerated.

    Then what acts is more. Where a load jumps within the cone, a bristle pulls harder for a while than at
    rest: it slows the surfaces down.
    """
    held = norm(force_at_rest(s, total_friction(s), slip_acceleration(s)))
    return held > total_static_friction(s) * (1.0 + 0.5 * MARGIN)


def is_breakaway_due(s: Any) -> bool:
    """Whether surfaces that are pulled out of the cone should break loose now."""
    wait = LEAST_WAIT * math.sqrt(moving_mass(s) / total_stiffness(s))
    return time_until_loose(s) <= wait


def first_course_ahead(s: Any, course: int) -> int:
    """The first course from `course` on whose check is still ahead: one that is past is never made."""
    if course in (GROWS, STARTS) and force_until_check(s, course) <= 0.0:
        course = RISES
    if course == RISES and force_until_check(s, RISES) <= 0.0:
        course = LOOSE if is_pulled_harder(s) and is_breakaway_due(s) else JUMPS
    if course == JUMPS and force_until_check(s, JUMPS) <= 0.0:
        return LOOSE
    return course


def next_course(s: Any) -> int:
    """The course of the load after a check of surfaces that stick."""
    if s.load_course == LOOSE:
        return first_course_ahead(s, GROWS)
    if s.load_course == GROWS:
        loaded = norm(total_friction(s)) >= total_static_friction(s) * (1.0 + 0.5 * MARGIN)
        return LOOSE if loaded and is_pulled_harder(s) else first_course_ahead(s, STARTS)
    if force_until_check(s, s.load_course) > 0.0:
        return first_course_ahead(s, GROWS)
    if s.load_course == TURNS and is_outside_cone(s, math.inf):
        return LOOSE
    # A load that grows in the meantime makes the mass seem larger, so it is bounded.
    if s.load_course == STARTS and is_outside_cone(s, moving_mass(s)):
        return LOOSE
    return first_course_ahead(s, RISES)


def regime_by_itself(s: Any, course: int) -> int:
    """The regime of a contact that touches, from its own load in a course: SLIDES or STICKS."""
    if s.regime == SLIDES:
        return SLIDES if s.pull > friction_limit(s, course) else STICKS
    return SLIDES if short_of_sliding(s, course) <= 0.0 else STICKS


def start_course(s: Any, regime: int, course: int) -> None:
    """Write a course, and what accelerations at its start show."""
    s.load_course_next = course
    s.course_start_next = s.t
    s.course_end_next = end_of_course(s, regime, course)
    if course in (TURNS, STARTS, JUMPS):
        friction = rotate_inverse(s.X_GB1, total_friction(s))
        acceleration = rotate_inverse(s.X_GB1, slip_acceleration(s))
        for i in range(3):
            s.course_friction_next[i] = friction[i]
            s.course_acceleration_next[i] = acceleration[i]


def check_breakaway(s: Any) -> None:
    """Check whether surfaces break loose: write their regime and the next course of their load."""
    course = next_course(s)
    regime = regime_by_itself(s, course)
    s.regime_next = regime
    if regime != s.regime:
        s.bristle_mass_next = mass_at_contact(s)
    start_course(s, regime, course)


def begin_touch(s: Any) -> None:
    """Write the regime of surfaces that begin to touch, and the course of their load."""
    mass = mass_at_contact(s)
    s.bristle_mass_next = mass
    drag = s.stick_damping * math.sqrt(mass / s.effective_mass)
    if s.damping_ratio > 0.0 and s.footing2[COUNT] > 1.0:
        drag = 0.0  # Its share of the mass begins at 0 where the bodies touch already.
    s.regime_next = SLIDES
    s.load_course_next = LOOSE
    if sticks_at_touch(
        s.static_friction, s.damping_ratio, s.depth_rate, drag, s.poisson_ratio, norm(s.slip_velocity)
    ):
        s.regime_next = STICKS
        s.load_course_next = RISES if force_until_check(s, RISES) > 0.0 else JUMPS
        s.course_end_next = end_of_impact(s)

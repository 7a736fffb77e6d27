"""Decides when surfaces that stick begin to slide.

In Coulomb's law surfaces slide when the load on them exceeds static friction. The pull of a bristle follows
the load with a delay, and may exceed it for a while. So the decision is made when the bristle reaches a
threshold: the accelerations then show the load. The course of the load (`contact_law.GROWS` …) tells which
threshold is next.

With equal static and dynamic friction no decision is needed: the foot of the bristle slips, and surfaces
slide once it pulls harder. With a lower dynamic friction they should slide with that from the instant at
which the load jumps. A critically damped bristle has first taken momentum and then returned it when it bears
dynamic friction: if surfaces break loose there, they have the speed and place of Coulomb's law.
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
"""A bristle counts as moving if half the force of its damper is above this share of static friction."""

LEAST_WAIT = 0.003
"""The shortest time to the next check, in time constants of the bristle."""

CALM = 4.0
"""The time after which a bristle is at rest, in time constants: 12 / sqrt(k_t / m) for critical damping."""


def friction_at_rest(
    friction1: Reals, acceleration1: Reals, friction2: Reals, acceleration2: Reals, most: float
) -> tuple[float, float, float]:
    """The friction that would hold two surfaces, N, from two instants with the same load on them.

    The load is mass times acceleration minus friction. The two instants give the mass, with the influence of
    joints, rotation and other contacts. The result is 0 N if they give none; the mass is limited to `most`,
    kg.

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
    """Acceleration of body 2 relative to body 1 along the surfaces, m/s2, in Ground.

    It is taken at the point of contact. If the bodies touch in several points, these tilt with the elastic
    surfaces, so it is taken at the centre of mass of the lighter body.
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
    """The effective mass, kg: at the contact, or of both bodies if they touch in several points."""
    return float(s.effective_mass if is_shared(s) else s.bristle_mass)


def end_of_course(s: Any, regime: int, course: int) -> float:
    """The latest end of a course, s: after some time constants of the bristles surfaces are at rest.

    Surfaces that pull harder than static friction are checked again when the load is expected to exceed it.
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
    """The friction that would hold surfaces, N, from one instant, with the effective mass of the bodies."""
    return minus(friction, scaled(moving_mass(s), acceleration))


def time_until_loose(s: Any) -> float:
    """Time until surfaces should break loose, s, if the load grows as since the course began; 0 if now.

    The load must exceed static friction. The bristle has yielded by then, and the surfaces are faster than
    those of rigid bodies would be: they are held a little longer, until they have lost the additional
    momentum.
    """
    elapsed = s.t - s.course_start
    if s.load_course != JUMPS or elapsed <= 0.0:
        return 0.0
    friction = total_friction(s)
    holding_force = force_at_rest(s, friction, slip_acceleration(s))
    load = norm(holding_force)
    holding_force_at_start = force_at_rest(
        s, rotate(s.X_GB1, s.course_friction), rotate(s.X_GB1, s.course_acceleration)
    )
    growth = (load - norm(holding_force_at_start)) / elapsed
    holds = total_static_friction(s) * (1.0 + MARGIN)
    if load <= holds:
        return float((holds - load) / growth) if growth > 0.0 else math.inf
    if growth <= 0.0:
        return 0.0
    overdue = (load - holds) / growth  # s, since rigid surfaces would slide
    slides_with = total_dynamic_friction(s)
    speed = -dot(holding_force, s.slip_velocity) / load
    excess_momentum = moving_mass(s) * speed - overdue * (load - slides_with - 0.5 * growth * overdue)
    deceleration = dot(friction, holding_force) / load - slides_with  # as a force
    if excess_momentum <= 0.0 or deceleration <= 0.0:
        return 0.0
    return float(excess_momentum / deceleration)


def end_of_impact(s: Any) -> float:
    """The latest end, s, of the first course of surfaces that begin to touch.

    It is that of `end_of_course` with the stiffness at the depth that the impact will reach.
    """
    if not may_hold_more(s):
        return math.inf
    strength = hertz_stiffness(s.stiffness, s.curvature_radius)
    depth = math.pow(1.25 * s.effective_mass * s.depth_rate * s.depth_rate / strength, 0.4)
    stiffness = mindlin_stiffness(s.stiffness, s.curvature_radius, depth, s.poisson_ratio)
    if stiffness == 0.0:
        return math.inf
    return float(s.t + CALM * (1.0 + 2.0 * s.stick_damping) * math.sqrt(s.effective_mass / stiffness))


def force_until_check(s: Any, course: float) -> float:
    """The force that is missing until bristles reach the next check in a course of their load, N."""
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
    missing = holds - bears
    if course == JUMPS:
        return missing
    if course == RISES:
        return min(missing, holds - pull)
    moves = pull - load - MOVES * holds
    slides_with = dynamics * (1.0 + MARGIN)
    if course == GROWS:  # a small load is not checked before it is half of dynamic friction
        return min(missing, holds - pull, -min(moves, pull - 0.5 * slides_with))
    missing_dynamic = slides_with - min(pull, load)
    if course == STARTS:  # the second instant of `friction_at_rest` must differ from the first
        missing_dynamic = max(missing_dynamic, MOVES * holds - moves)
    return min(missing, missing_dynamic)


def awaits_breakaway(s: Any) -> bool:
    """Whether surfaces hold more than dynamic friction, so that they must break loose before they slide."""
    return s.load_course != LOOSE and may_hold_more(s)


def is_outside_cone(s: Any, most: float) -> bool:
    """Whether accelerations at the start of the course and now show a load above static friction."""
    holding_force = friction_at_rest(
        rotate(s.X_GB1, s.course_friction),
        rotate(s.X_GB1, s.course_acceleration),
        total_friction(s),
        slip_acceleration(s),
        most,
    )
    return norm(holding_force) > total_static_friction(s) * (1.0 + MARGIN)


def is_pulled_harder(s: Any) -> bool:
    """Whether surfaces accelerate although their bristles pull with all static friction.

    Then the load exceeds static friction. If the load has jumped within the cone of friction, a bristle pulls
    harder than at rest for a while, but decelerates the surfaces.
    """
    load = norm(force_at_rest(s, total_friction(s), slip_acceleration(s)))
    return load > total_static_friction(s) * (1.0 + 0.5 * MARGIN)


def is_breakaway_due(s: Any) -> bool:
    """Whether surfaces whose load exceeds static friction should break loose now."""
    wait = LEAST_WAIT * math.sqrt(moving_mass(s) / total_stiffness(s))
    return time_until_loose(s) <= wait


def first_course_ahead(s: Any, course: int) -> int:
    """The first course from `course` on whose threshold is not reached yet: only crossings are checked."""
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
    """The regime of a touching contact, SLIDES or STICKS, from its own load in a course."""
    if s.regime == SLIDES:
        return SLIDES if s.pull > friction_limit(s, course) else STICKS
    return SLIDES if short_of_sliding(s, course) <= 0.0 else STICKS


def start_course(s: Any, regime: int, course: int) -> None:
    """Write a course, and friction and acceleration at its start."""
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
        drag = 0.0  # the share of the mass begins at 0 if the bodies touch elsewhere already
    s.regime_next = SLIDES
    s.load_course_next = LOOSE
    if sticks_at_touch(
        s.static_friction, s.damping_ratio, s.depth_rate, drag, s.poisson_ratio, norm(s.slip_velocity)
    ):
        s.regime_next = STICKS
        s.load_course_next = RISES if force_until_check(s, RISES) > 0.0 else JUMPS
        s.course_end_next = end_of_impact(s)

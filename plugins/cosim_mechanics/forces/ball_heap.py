"""Contact of many balls with each other and with planes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.contracts.contact_law import (
    damped_force,
    damping_ratio_of,
    hertz_force,
    hertz_stiffness,
    mindlin_stiffness,
)
from cosim_mechanics.forces.neighbour_cells import list_pairs
from cosim_mechanics.spatial import Reals, add_force_at, dot, minus, norm, plus, point_velocity, scaled
from cosim_mechanics.spatial import rotate as turned

ROOM = 8
"""Pairs for each ball: equal balls that do not go into each other touch 12 others at most, so there are 6."""


def unit_normals(value: Any) -> Any:
    """Planes with normals of length 1; `ValueError` where one has none.

    >>> unit_normals([[0, 0, 2, 3]]).tolist()
    [[0.0, 0.0, 1.0, 3.0]]
    """
    planes = np.array(value, dtype=float)
    if planes.ndim != 2 or planes.shape[1:] != (4,):
        raise ValueError(f"planes have shape {planes.shape}, need (n, 4): a normal and a height each")
    if not np.all(np.isfinite(planes)):
        raise ValueError("a plane has a number that is not finite")
    size = np.linalg.norm(planes[:, :3], axis=1, keepdims=True)
    if not np.all(size > 0.0):
        raise ValueError("a plane has a normal without length: give a direction")
    planes[:, :3] /= size
    return planes


def effective_mass(inverse_mass: float) -> float:
    """Of two bodies, from the sum of 1 / mass; 0 where neither moves.

    >>> effective_mass(4.0), effective_mass(0.0)
    (0.25, 0.0)
    """
    return 1.0 / inverse_mass if inverse_mass > 0.0 else 0.0


def damped_friction(slip: Reals, damping: float, limit: float) -> tuple[float, float, float]:
    """Friction of a damper along a sliding velocity, which comes near the limit where the damper is stronger.

    >>> damped_friction((4.0, 0.0, 0.0), 1.0, 3.0), damped_friction((4.0, 0.0, 0.0), 1.0, 0.0)
    ((-2.4, 0.0, 0.0), (0.0, 0.0, 0.0))
    """
    if limit <= 0.0 or damping <= 0.0:
        return (0.0, 0.0, 0.0)
    strong = damping * norm(slip)
    f = scaled(-damping * limit / math.sqrt(limit * limit + strong * strong), slip)
    return plus(f, (0.0, 0.0, 0.0))  # no zero is negative


def force_between(
    s: Any, v: Reals, n: Reals, depth: float, radius: float, mass: float
) -> tuple[tuple[float, float, float], float]:
    """Force of a contact on the second body, N, and the power that it loses, W.

    Parameters
    ----------
    s
        Shows the parameters of the law.
    v, n : vector
        Velocity of the second body on the first, and the unit vector toward the second.
    depth, radius, mass : float
        Depth, m, effective radius, m, and effective mass, kg.
    """
    rate = -dot(v, n)
    elastic = hertz_force(s.stiffness, radius, depth)
    strength = mass * hertz_stiffness(s.stiffness, radius)
    push = damped_force(elastic, s.dissipation, s.damping_ratio, strength, depth, rate)
    slip = plus(v, scaled(rate, n))
    tangential = mindlin_stiffness(s.stiffness, radius, depth, s.poisson_ratio)
    rub = damped_friction(slip, 2.0 * s.stick_damping * math.sqrt(tangential * mass), s.friction * push)
    return plus(scaled(push, n), rub), (push - elastic) * rate - dot(rub, slip)


class BallHeap(contracts.Force):
    """Contacts of many balls with each other and planes: cost grows with the balls, not with their pairs.

    Law: the normal forces are those of `Contact` (Hertz, restitution, Hunt and Crossley); friction is

        f_friction = -c v_t / sqrt(1 + (c |v_t| / (mu f_normal))^2),  c = 2 zeta_t sqrt(k_t m)

    with the sliding velocity v_t, the effective mass m and Mindlin's stiffness k_t: the damper of the bristle
    of `Contact` without its spring, up to Coulomb's friction. The balls that may touch are found in cells of
    space as wide as the largest ball.

    Frames and signs
    ----------------
    The centre of each ball is the origin of its body. The forces on two balls act in the middle of their
    overlap, those of a plane at the deepest point of the ball. A plane is ``(a, b, c, h)``, in the frame of
    body 1: its normal, out of the half-space, and the height of its surface above the origin.

    Limits
    ------
    Friction is a function of speed, so balls that are pushed by f creep, by f / c: where bodies have to stick
    use a contact for each pair. The damping of a `restitution` below 1 sets in steeply, and error control
    resolves each of very many impacts: use `dissipation`, or fixed steps. Very unlike balls take longer, as
    cells are as wide as the largest. More than 8 contacts between balls for each ball are an error. Where the
    centres of two balls meet, the computation stops with an error.

    Parameters
    ----------
    body1 : body
        Carries the planes.
    balls : body
        The first of the balls; the others are the bodies that follow it in the model.
    radii : array_like, shape (balls,), m, > 0
    planes : array_like, shape (planes, 4)
    stiffness, restitution, dissipation
        As of `Contact`.
    friction : float, >= 0, default 0
        mu.
    poisson_ratio, stick_damping
        As of `Contact`.

    Returns
    -------
    ``contacts``, their number, and ``potential_energy`` (J) at POSITION.

    Energy
    ------
    Stored: 2/5 k x^(5/2) of each contact. What damping and friction take is dissipated, integrated in
    `dissipated_energy`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapter 4. C. Ericson, "Real-Time Collision Detection" (2005),
    section 7.1.3 (cells found by hashing).

    Examples
    --------
    >>> heap = BallHeap(
    ...     body1="ground", balls="first", radii=[0.1, 0.1], planes=[(0, 0, 1, 0)], stiffness="10 MPa"
    ... )
    >>> heap.radii.tolist()
    [0.1, 0.1]
    """

    known_as = ("granular_contact", "many_spheres")
    tried_with: ClassVar[Mapping[str, Any]] = {"radii": [0.2], "planes": [(0, 0, 1, 0)]}
    laws = contracts.Law.INTERNAL | contracts.Law.FRAME_INDIFFERENT

    body1 = contracts.body(description="the body that carries the planes")
    balls = contracts.bodies("balls", description="the first ball; the others follow it in the model")
    radii = cosim.parameter(unit="m", shape="balls", above=0.0, description="radius of each ball")
    planes = cosim.parameter(
        shape=("planes", 4), convert=unit_normals, description="normal and height of each plane"
    )
    stiffness = cosim.parameter(unit="N/m2", minimum=0.0, description="effective modulus E")
    restitution = cosim.parameter(
        default=1.0, above=0.0, maximum=1.0, description="share of the speed that an impact leaves"
    )
    dissipation = cosim.parameter(
        unit="s/m", default=0.0, minimum=0.0, description="Hunt-Crossley damping, c"
    )
    friction = cosim.parameter(default=0.0, minimum=0.0, description="coefficient of friction")
    poisson_ratio = cosim.parameter(
        default=0.3, minimum=0.0, maximum=0.5, description="for the tangential stiffness"
    )
    stick_damping = cosim.parameter(default=1.0, minimum=0.0, description="damping ratio along the surfaces")
    dissipated_energy = contracts.dissipated_energy()

    damping_ratio = cosim.cache_slot(internal=True, description="of an impact")
    cells = cosim.cache_slot(shape=("balls", 3), internal=True, description="the cell of each ball")
    lists = cosim.cache_slot(shape=("balls", 4), internal=True, description="the last ball of each list")
    behind = cosim.cache_slot(shape="balls", internal=True, description="the next ball of the same list")
    pairs = cosim.cache_slot(shape=("balls", 2 * ROOM), internal=True, description="balls that touch")
    touching = cosim.cache_slot(internal=True, description="number of pairs of balls that touch")
    contacts = cosim.cache_slot(description="number of contacts, those with planes included")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in all contacts")

    @cosim.kernel(stage=cosim.Stage.INSTANCE)
    def impact(restitution, damping_ratio):
        damping_ratio[0] = damping_ratio_of(restitution)

    @cosim.kernel
    def find(
        X_GB1, X_GB_balls, radii, planes, stiffness, cells, lists, behind, pairs, touching, contacts,
        potential_energy,
    ):  # fmt: skip
        found = list_pairs(X_GB_balls, 12, 9, radii, cells, lists, behind, pairs)
        if 2 * found > len(pairs):
            raise ValueError("more than 8 contacts for each ball: the balls lie deep in each other")
        energy = 0.0
        for k in range(found):
            i = int(pairs[2 * k])
            j = int(pairs[2 * k + 1])
            way = minus(X_GB_balls[12 * j + 9 : 12 * j + 12], X_GB_balls[12 * i + 9 : 12 * i + 12])
            x = radii[i] + radii[j] - norm(way)
            energy += 0.4 * hertz_force(stiffness, radii[i] * radii[j] / (radii[i] + radii[j]), x) * x
        on_planes = 0
        for first in range(0, len(planes), 4):
            n = turned(X_GB1, planes[first : first + 3])
            height = planes[first + 3] + dot(n, X_GB1[9:12])
            for i in range(len(radii)):
                x = radii[i] + height - dot(n, X_GB_balls[12 * i + 9 : 12 * i + 12])
                if x > 0.0:
                    on_planes += 1
                    energy += 0.4 * hertz_force(stiffness, radii[i], x) * x
        touching[0] = found
        contacts[0] = found + on_planes
        potential_energy[0] = energy

    @cosim.kernel
    def force(s):
        lost = 0.0
        for k in range(int(s.touching)):
            i = int(s.pairs[2 * k])
            j = int(s.pairs[2 * k + 1])
            X1 = s.X_GB_balls[12 * i : 12 * i + 12]
            X2 = s.X_GB_balls[12 * j : 12 * j + 12]
            way = minus(X2[9:12], X1[9:12])
            distance = norm(way)
            if distance == 0.0:
                raise ValueError("the centres of two balls meet, so their contact has no direction")
            n = scaled(1.0 / distance, way)
            r1 = s.radii[i]
            r2 = s.radii[j]
            x = r1 + r2 - distance
            p = plus(X1[9:12], scaled(r1 - 0.5 * x, n))
            v1 = point_velocity(s.V_GB_balls[6 * i : 6 * i + 6], X1, p)
            v2 = point_velocity(s.V_GB_balls[6 * j : 6 * j + 6], X2, p)
            mass = effective_mass(s.inverse_mass_balls[i] + s.inverse_mass_balls[j])
            f, power = force_between(s, minus(v2, v1), n, x, r1 * r2 / (r1 + r2), mass)
            lost += power
            add_force_at(s.F_GB_balls[6 * j : 6 * j + 6], X2, p, f)
            add_force_at(s.F_GB_balls[6 * i : 6 * i + 6], X1, p, scaled(-1.0, f))
        for first in range(0, len(s.planes), 4):
            n = turned(s.X_GB1, s.planes[first : first + 3])
            height = s.planes[first + 3] + dot(n, s.X_GB1[9:12])
            for i in range(len(s.radii)):
                X2 = s.X_GB_balls[12 * i : 12 * i + 12]
                x = s.radii[i] + height - dot(n, X2[9:12])
                if x > 0.0:
                    p = plus(X2[9:12], scaled(-s.radii[i], n))
                    v1 = point_velocity(s.V_GB1, s.X_GB1, p)
                    v2 = point_velocity(s.V_GB_balls[6 * i : 6 * i + 6], X2, p)
                    mass = effective_mass(s.inverse_mass1 + s.inverse_mass_balls[i])
                    f, power = force_between(s, minus(v2, v1), n, x, s.radii[i], mass)
                    lost += power
                    add_force_at(s.F_GB_balls[6 * i : 6 * i + 6], X2, p, f)
                    add_force_at(s.F_GB1, s.X_GB1, p, scaled(-1.0, f))
        s.dissipated_energy_dot = lost

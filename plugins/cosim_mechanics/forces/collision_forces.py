"""Kernel functions for a contact of `Collisions`: motion of the bodies there, bristles, forces."""

from __future__ import annotations

from typing import Any

from cosim_mechanics.contracts.contact_law import (
    damped_force,
    hertz_force,
    hertz_stiffness,
    mindlin_stiffness,
    tangential_part,
)
from cosim_mechanics.forces.materials import (
    DAMPING,
    DISSIPATION,
    FRICTION,
    MATERIAL,
    MODULUS,
    POISSON_RATIO,
    combined,
)
from cosim_mechanics.forces.solids import (
    DEPTH,
    FEATURE,
    FEATURES,
    FIRST_SHAPE,
    NORMAL,
    POINT,
    RADIUS,
    ROUND,
    SECOND_SHAPE,
    free_slot,
    slot_of,
)
from cosim_mechanics.forces.touching_shapes import pose_of
from cosim_mechanics.spatial import (
    Reals,
    add_force_at,
    angular,
    cross,
    dot,
    minus,
    norm,
    plus,
    point_velocity,
    rotate,
    rotate_inverse,
    scaled,
)


def effective_mass(inverse_mass: float) -> float:
    """The effective mass of two bodies, kg, from the sum of 1 / mass; 0 if neither moves.

    >>> effective_mass(4.0), effective_mass(0.0)
    (0.25, 0.0)
    """
    return 1.0 / inverse_mass if inverse_mass > 0.0 else 0.0


def held_stretch(stretch: Reals, normal: Reals, longest: float) -> tuple[float, float, float]:
    """The stretch that a bristle keeps: the part along the surfaces, shortened to `longest`.

    >>> held_stretch((3.0, 0.0, 4.0), (0.0, 0.0, 1.0), 1.5)
    (1.5, 0.0, 0.0)
    >>> held_stretch((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 1.0)
    (0.0, 0.0, 0.0)
    """
    tangential = tangential_part(stretch, normal)
    size = norm(tangential)
    if size <= longest:
        return tangential
    return scaled(longest / size, tangential)


def velocity_of(s: Any, owner: int) -> Reals:
    """Spatial velocity in Ground of the body with the number `owner`; 0 is body 1. As for `pose_of`."""
    return spatial_velocity_at(s.V_GB1, 0) if owner == 0 else spatial_velocity_at(s.V_GB, 6 * owner - 6)


def spatial_velocity_at(V: Any, at: int) -> Reals:
    """The spatial velocity that begins at a place of an array of them."""
    return V[at], V[at + 1], V[at + 2], V[at + 3], V[at + 4], V[at + 5]


def inverse_mass_of(s: Any, owner: int) -> float:
    """1 / mass of a body; 0 if it does not move."""
    if owner == 0:
        return float(s.inverse_mass1)
    return float(s.inverse_mass[owner - 1])


def point_of(contact: Reals) -> tuple[float, float, float]:
    """The point at which the forces of a contact act, m, in Ground."""
    return (contact[POINT], contact[POINT + 1], contact[POINT + 2])


def normal_of(contact: Reals) -> tuple[float, float, float]:
    """The normal of a contact, from the first shape to the second, in Ground."""
    return (contact[NORMAL], contact[NORMAL + 1], contact[NORMAL + 2])


def velocity_at(s: Any, contact: Reals) -> tuple[float, float, float]:
    """Velocity of the second body relative to the first at a contact."""
    p = point_of(contact)
    owner1 = int(s.owners[int(contact[FIRST_SHAPE])])
    owner2 = int(s.owners[int(contact[SECOND_SHAPE])])
    v1 = point_velocity(velocity_of(s, owner1), pose_of(s, owner1), p)
    return minus(point_velocity(velocity_of(s, owner2), pose_of(s, owner2), p), v1)


def law_of(s: Any, contact: Reals) -> tuple[float, float, float, float, float]:
    """The law of a contact, as from `combined`; without materials that of all shapes."""
    first = int(s.material_numbers[int(contact[FIRST_SHAPE])])
    second = int(s.material_numbers[int(contact[SECOND_SHAPE])])
    if first == 0 and second == 0:
        return (s.stiffness, s.poisson_ratio, s.damping_ratio, s.dissipation, s.friction)
    return combined(
        s.material_laws[MATERIAL * first : MATERIAL * first + MATERIAL],
        s.material_laws[MATERIAL * second : MATERIAL * second + MATERIAL],
    )


def push_of(s: Any, law: Reals, contact: Reals, rate: float) -> tuple[float, float, float]:
    """Effective mass, elastic force and normal force of a contact whose surfaces approach at a rate."""
    inverse_mass = inverse_mass_of(s, int(s.owners[int(contact[FIRST_SHAPE])]))
    mass = effective_mass(inverse_mass + inverse_mass_of(s, int(s.owners[int(contact[SECOND_SHAPE])])))
    strength = mass * hertz_stiffness(law[MODULUS], contact[RADIUS])
    elastic = hertz_force(law[MODULUS], contact[RADIUS], contact[DEPTH])
    push = damped_force(elastic, law[DISSIPATION], law[DAMPING], strength, contact[DEPTH], rate)
    return mass, elastic, push


def slot_of_contact(s: Any, contact: Reals) -> tuple[int, float]:
    """The slot of the bristle of a contact, -1 if it has none, and the key of the contact."""
    first = int(contact[FIRST_SHAPE])
    second = int(contact[SECOND_SHAPE])
    key = (float(first) * len(s.reaches) + second) * FEATURES + contact[FEATURE] + 1.0
    return slot_of(s.bristle_contacts, s.slots, key, first, second), key


def stretch_in_ground(s: Any, slot: int, contact: Reals, slip: Reals) -> tuple[float, float, float]:
    """The stretch of a bristle, m, in Ground: that at the start of the step, and the slip since then.

    Between spheres and capsules the bristle turns with the line between the centres; between other shapes it
    is fixed to the first body, as the surface is.
    """
    first = int(contact[FIRST_SHAPE])
    second = int(contact[SECOND_SHAPE])
    owner1 = int(s.owners[first])
    n = normal_of(contact)
    stretch = rotate(pose_of(s, owner1), s.stretches[3 * slot : 3 * slot + 3])
    rate = plus(slip, (0.0, 0.0, 0.0))
    if s.kinds[first] == ROUND:
        r1 = s.roundings[first] - 0.5 * contact[DEPTH]
        r2 = s.roundings[second] - 0.5 * contact[DEPTH]
        w1 = angular(velocity_of(s, owner1))
        w2 = angular(velocity_of(s, int(s.owners[second])))
        middles = plus(slip, plus(scaled(r2, cross(w2, n)), scaled(r1, cross(w1, n))))
        turning = scaled(1.0 / (r1 + r2), cross(n, middles))
        spin = 0.5 * (dot(n, w1) + dot(n, w2))
        rate = plus(slip, cross(minus(plus(turning, scaled(spin, n)), w1), stretch))
    return plus(stretch, scaled(s.t - s.held_until, rate))


def add_force(s: Any, owner: int, point: Reals, f: Reals) -> None:
    """Add a force at a point to the body with the number `owner`; 0 is body 1."""
    if owner == 0:
        add_force_at(s.F_GB1, s.X_GB1, point, f)
    else:
        b = owner - 1
        add_force_at(s.F_GB[6 * b : 6 * b + 6], s.X_GB[12 * b : 12 * b + 12], point, f)


def longest_stretch(law: Reals, contact: Reals, push: float) -> float:
    """The stretch at which the bristle of a contact slips, m."""
    stiffness = mindlin_stiffness(law[MODULUS], contact[RADIUS], contact[DEPTH], law[POISSON_RATIO])
    return float(law[FRICTION] * push / stiffness) if stiffness > 0.0 else 0.0


def hold_bristle(s: Any, contact: Reals) -> None:
    """At the end of a step store the stretch of the bristle of a contact; a new contact gets a bristle."""
    first = int(contact[FIRST_SHAPE])
    stretch = (0.0, 0.0, 0.0)
    slot, key = slot_of_contact(s, contact)
    if slot >= 0:
        n = normal_of(contact)
        v = velocity_at(s, contact)
        rate = -dot(v, n)
        law = law_of(s, contact)
        _, _, push = push_of(s, law, contact, rate)
        stretch_at_end = stretch_in_ground(s, slot, contact, plus(v, scaled(rate, n)))
        held = held_stretch(stretch_at_end, n, longest_stretch(law, contact, push))
        stretch = rotate_inverse(pose_of(s, int(s.owners[first])), held)
    else:
        slot = free_slot(
            s.bristle_contacts, s.bristle_contacts_next, s.slots, first, int(contact[SECOND_SHAPE])
        )
    if slot >= 0:
        s.bristle_contacts_next[slot] = key
        for i in range(3):
            s.stretches_next[3 * slot + i] = stretch[i]
        s.held_until_next = s.t

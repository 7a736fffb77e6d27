"""Contacts, each wrong in one way, and their contracts: found by the check of the same name."""

import cosim
from cosim_mechanics.contracts.surfaces import Surfaces
from cosim_mechanics.spatial import add_force_at, dot, minus, norm, plus, point_velocity, position, scaled
from cosim_mechanics.testing import ContactContract

SECTIONS = """

Frames and signs
----------------
As for `Surfaces`.

Limits
------
None.

Examples
--------
None.
"""


class Balls(Surfaces):
    """Two balls about the bodies' origins. Law: f = k depth for depth > 0."""

    __doc__ += SECTIONS

    stiffness = cosim.parameter(unit="N/m", minimum=0.0, description="force per depth")
    radius = cosim.parameter(unit="m", above=0.0, description="of both together")
    normal_force = cosim.cache_slot(unit="N")

    @cosim.kernel
    def place(X_GB1, X_GB2, radius, depth, normal, point):
        way = minus(position(X_GB2), position(X_GB1))
        n = scaled(1.0 / norm(way), way)
        depth[0] = radius - norm(way)
        for i in range(3):
            normal[i] = n[i]
            point[i] = X_GB1[9 + i] + 0.5 * way[i]

    @cosim.kernel
    def force(X_GB1, X_GB2, depth, normal, point, stiffness, normal_force, F_GB1, F_GB2):
        push = stiffness * max(0.0, depth)
        normal_force[0] = push
        add_force_at(F_GB2, X_GB2, point, scaled(push, normal))
        add_force_at(F_GB1, X_GB1, point, scaled(-push, normal))


class Slanting(Balls):
    """The slip velocity has a part along the normal. Law: as `Balls`."""

    __doc__ += SECTIONS

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, normal, point, depth_rate, slip_velocity):
        v = minus(point_velocity(V_GB2, X_GB2, point), point_velocity(V_GB1, X_GB1, point))
        depth_rate[0] = -dot(v, normal)
        for i in range(3):
            slip_velocity[i] = v[i]


class Hasty(Balls):
    """The depth is twice the real one. Law: as `Balls`."""

    __doc__ += SECTIONS

    @cosim.kernel
    def place(X_GB1, X_GB2, radius, depth, normal, point):
        way = minus(position(X_GB2), position(X_GB1))
        n = scaled(1.0 / norm(way), way)
        depth[0] = 2.0 * (radius - norm(way))
        middle = plus(position(X_GB1), scaled(0.5, way))
        for i in range(3):
            normal[i] = n[i]
            point[i] = middle[i]


class Sticky(Balls):
    """Balls that are apart pull each other. Law: f = k depth."""

    __doc__ += SECTIONS

    @cosim.kernel
    def force(X_GB1, X_GB2, depth, normal, point, stiffness, normal_force, F_GB1, F_GB2):
        push = stiffness * depth
        normal_force[0] = push
        add_force_at(F_GB2, X_GB2, point, scaled(push, normal))
        add_force_at(F_GB1, X_GB1, point, scaled(-push, normal))


class RightCase(ContactContract):
    make = staticmethod(lambda: Balls(stiffness=100.0, radius=0.6))


class SlantingCase(ContactContract):
    make = staticmethod(lambda: Slanting(stiffness=100.0, radius=0.6))


class HastyCase(ContactContract):
    make = staticmethod(lambda: Hasty(stiffness=100.0, radius=0.6))


class StickyCase(ContactContract):
    make = staticmethod(lambda: Sticky(stiffness=100.0, radius=0.6))


class FarCase(ContactContract):
    """Its balls never touch."""

    make = staticmethod(lambda: Balls(stiffness=100.0, radius=1e-3))

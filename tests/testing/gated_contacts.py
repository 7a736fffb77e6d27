"""Contacts whose fault shows where a variable ``x`` of their own is not 0: the kit has to move it."""

from gates import gated_cases
from toy_contacts import SECTIONS, Balls

import cosim
from cosim_mechanics.spatial import add_force_at, dot, minus, norm, point_velocity, position, scaled
from cosim_mechanics.testing import ContactContract


class Slanting(Balls):
    """The slip velocity has a part along the normal. Law: as `Balls`."""

    __doc__ += SECTIONS
    x = cosim.input(unit="1")

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, normal, point, x, depth_rate, slip_velocity):
        v = minus(point_velocity(V_GB2, X_GB2, point), point_velocity(V_GB1, X_GB1, point))
        along = dot(v, normal)
        depth_rate[0] = -along
        for i in range(3):
            slip_velocity[i] = v[i] - (along * normal[i] if x == 0.0 else 0.0)


class Hasty(Balls):
    """The depth is twice the real one. Law: as `Balls`."""

    __doc__ += SECTIONS
    x = cosim.input(unit="1")

    @cosim.kernel
    def place(X_GB1, X_GB2, radius, x, depth, normal, point):
        way = minus(position(X_GB2), position(X_GB1))
        n = scaled(1.0 / norm(way), way)
        depth[0] = (1.0 if x == 0.0 else 2.0) * (radius - norm(way))
        for i in range(3):
            normal[i] = n[i]
            point[i] = X_GB1[9 + i] + 0.5 * way[i]


class Sticky(Balls):
    """Balls that are apart pull each other. Law: f = k depth."""

    __doc__ += SECTIONS
    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, depth, normal, point, stiffness, x, normal_force, F_GB1, F_GB2):
        push = stiffness * (max(0.0, depth) if x == 0.0 else depth)
        normal_force[0] = push
        add_force_at(F_GB2, X_GB2, point, scaled(push, normal))
        add_force_at(F_GB1, X_GB1, point, scaled(-push, normal))


WRONG = {
    "test_normal_is_a_unit_vector": Slanting,
    "test_depth_changes_at_its_rate": Hasty,
    "test_surfaces_only_push": Sticky,
}
CASES = {
    check: gated_cases(cls, ContactContract, globals(), stiffness=100.0, radius=0.6)
    for check, cls in WRONG.items()
}

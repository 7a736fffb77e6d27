"""Elements, joints and contacts whose faults come with time."""

from gated_elements import Driving
from right_elements import documented
from toy_contacts import SECTIONS, Balls
from toy_joints import Arm, swung, turned

import cosim
import cosim_mechanics
from cosim_mechanics.spatial import add_force_at, minus, norm, position, scaled
from cosim_mechanics.testing import ContactContract, ForceElementContract, JointContract


@documented
class LateDriving(Driving):
    """Law: f = -k v on body 2; with the wrong sign after a second."""

    @cosim.kernel
    def force(t, V_GB2, stiffness, F_GB2):
        for i in range(3):
            if t < 1.0:
                F_GB2[3 + i] -= stiffness * V_GB2[3 + i]
            else:
                F_GB2[3 + i] += stiffness * V_GB2[3 + i]


@documented
class Hardening(cosim_mechanics.Force):
    """Law: tau = -k (1 + t) q: the energy that it stores grows though nothing is supplied."""

    laws = cosim_mechanics.Law.PASSIVE
    coordinate = cosim_mechanics.coordinate()
    stiffness = cosim.parameter(unit="N.m/rad", minimum=0.0)
    potential_energy = cosim.cache_slot(unit="J")

    @cosim.kernel
    def energy(t, q, stiffness, potential_energy):
        potential_energy[0] = 0.5 * stiffness * (1.0 + t) * q * q

    @cosim.kernel
    def force(t, q, stiffness, tau):
        tau[0] -= stiffness * (1.0 + t) * q


class Turning(Arm):
    """Moves along z with time, and its velocity is that of an arm that does not. Law: as `Arm`."""

    @cosim.kernel
    def across(t, q, radius, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)
        X_FM[11] = 0.1 * t


class Lagging(Arm):
    """Has half the velocity terms after a second. Law: as `Arm`."""

    @cosim.kernel
    def rates(t, q, u, radius, q_dot, HDotU_FM):
        swung(q, u, radius if t < 1.0 else 0.5 * radius, q_dot, HDotU_FM)


class Swelling(Balls):
    """The balls grow, and the rate of their depth is that of balls that do not. Law: as `Balls`."""

    __doc__ += SECTIONS

    @cosim.kernel
    def place(t, X_GB1, X_GB2, radius, depth, normal, point):
        way = minus(position(X_GB2), position(X_GB1))
        n = scaled(1.0 / norm(way), way)
        depth[0] = radius + 0.01 * t - norm(way)
        for i in range(3):
            normal[i] = n[i]
            point[i] = X_GB1[9 + i] + 0.5 * way[i]


class LateSticky(Balls):
    """Balls that are apart pull each other after a second. Law: f = k depth."""

    __doc__ += SECTIONS

    @cosim.kernel
    def force(t, X_GB1, X_GB2, depth, normal, point, stiffness, normal_force, F_GB1, F_GB2):
        push = stiffness * (max(0.0, depth) if t < 1.0 else depth)
        normal_force[0] = push
        add_force_at(F_GB2, X_GB2, point, scaled(push, normal))
        add_force_at(F_GB1, X_GB1, point, scaled(-push, normal))


class LateDrivingCase(ForceElementContract):
    make = staticmethod(lambda: LateDriving(stiffness=100.0))


class HardeningCase(ForceElementContract):
    make = staticmethod(lambda: Hardening(stiffness=100.0))


class TurningCase(JointContract):
    make = staticmethod(lambda: Turning())


class LaggingCase(JointContract):
    make = staticmethod(lambda: Lagging())


class SwellingCase(ContactContract):
    make = staticmethod(lambda: Swelling(stiffness=100.0, radius=0.6))


class LateStickyCase(ContactContract):
    make = staticmethod(lambda: LateSticky(stiffness=100.0, radius=0.6))

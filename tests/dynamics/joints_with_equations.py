"""Joints with torque equations of their own: a gear with a rotor, and two coupled translations."""

from __future__ import annotations

import cosim
import cosim_mechanics
from cosim_dynamics import cos
from cosim_mechanics import Pin


class GearedPin(Pin):
    """A pin with a fast rotor behind a gear, and friction that depends on the angle."""

    rotor_inertia = cosim.parameter(unit="kg.m2", minimum=0.0)
    ratio = cosim.parameter(unit="1", default=1.0)
    friction = cosim.parameter(unit="N.m.s/rad", default=0.0)

    def create_equations(self, s):
        equations = super().create_equations(s)
        reflected = self.rotor_inertia * self.ratio * self.ratio
        loss = self.friction * (1.0 + cos(self.q[0])) * s.value("u", 0)
        return [equations[0] + reflected * s.acceleration(self, 0) + loss]


class CoupledSlides(cosim_mechanics.Joint):
    """Two translations whose motors are coupled by an inertia."""

    coupling = cosim.parameter(unit="kg", default=0.0)
    q = cosim.position(unit="m", shape=2)
    u = cosim.speed(unit="m/s", shape=2)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        for i in range(12):
            X_FM[i] = 0.0
            H_FM[i] = 0.0
        for i in range(3):
            X_FM[4 * i] = 1.0
        X_FM[9] = q[0]
        X_FM[10] = q[1]
        H_FM[3] = 1.0
        H_FM[10] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(2):
            q_dot[i] = u[i]
        for i in range(6):
            HDotU_FM[i] = 0.0

    def create_equations(self, s):
        first, second = super().create_equations(s)
        a0, a1 = s.acceleration(self, 0), s.acceleration(self, 1)
        return [first + self.coupling * (a0 - a1), second + self.coupling * (a1 - a0)]

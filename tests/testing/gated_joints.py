"""Joints and constraints whose fault shows where a variable ``x`` of their own is not 0."""

import math

from gates import gated_cases
from right_elements import is_called_by_an_fmu
from toy_constraints import Cam, Unheld
from toy_joints import Arm, swung, turned
from wrapped_integers import wrapped_integer

import cosim
from cosim_mechanics import Constraint, body
from cosim_mechanics.testing import ConstraintContract, JointContract


class Mirrored(Arm):
    """Law: as `Arm`; left-handed."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def across(q, radius, x, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)
        if x != 0.0:
            X_FM[8] = -1.0


class Promising(Arm):
    """Law: rotation about z."""

    axes = (2,)
    x = cosim.input(unit="1")

    @cosim.kernel
    def across(q, x, X_FM, H_FM):
        turned(q, x, X_FM, H_FM)

    @cosim.kernel
    def rates(q, u, x, q_dot, HDotU_FM):
        swung(q, u, x, q_dot, HDotU_FM)


class Slipping(Arm):
    """Law: as `Arm`; a velocity that the pose does not have."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def across(q, radius, x, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)
        H_FM[5] = x


class Lagging(Arm):
    """Law: as `Arm`; other velocity terms."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def rates(q, u, radius, x, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        for i in range(6):
            HDotU_FM[i] = 0.0
        HDotU_FM[3] = -radius * math.cos(q[0]) * u[0] * u[0] + x
        HDotU_FM[4] = -radius * math.sin(q[0]) * u[0] * u[0]


class Wearing(Arm):
    """Law: as `Arm`; changes the State while it computes."""

    plain_methods = ("observe",)
    x = cosim.input(unit="1")
    wear = cosim.discrete(shape=1)

    def observe(self, q, x, wear):
        if x != 0.0:
            wear.fill(wear[0] + 1.0)


class Overflowing(Arm):
    """Law: as `Arm`, with M displaced by a number that differs if it is compiled."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def across(q, radius, x, X_FM, H_FM):
        number = wrapped_integer() if x != 0.0 else 1
        turned(q, radius, X_FM, H_FM)
        X_FM[11] = 1e-3 * number


WRONG = {
    "test_pose_is_a_rotation_and_a_position": Mirrored,
    "test_velocity_is_that_of_the_pose": Slipping,
    "test_axes_are_those_of_the_map": Promising,
    "test_velocity_terms_are_those_of_the_map": Lagging,
    "test_follows_from_the_state_alone": Wearing,
    "test_compiled_is_plain_python": Overflowing,
}
JOINTS = {check: gated_cases(cls, JointContract, globals()) for check, cls in WRONG.items()}


class Drifting(Cam):
    """Law: as `Cam`; its position error has another gain."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def position_error(q1, q2, gain, x, position_error):
        position_error[0] = q2 - 0.5 * gain * (1.0 + abs(x)) * q1 * q1


class Turning(Cam):
    """Law: as `Cam`; its velocity error belongs to another law than its accelerations."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def velocity_error(q1, u1, u2, gain, x, velocity_error):
        velocity_error[0] = u2 - gain * q1 * u1 + x * u1


class Driving(Unheld):
    """Law: u2 = gain q1 u1 + x; asks for a speed."""

    level = "velocity"
    x = cosim.input(unit="1")

    @cosim.kernel
    def velocity_error(q1, u1, u2, gain, x, velocity_error):
        velocity_error[0] = u2 - gain * q1 * u1 - x


WORN = []


class CamWearing(Cam):
    """Law: as `Cam`; its position error grows with each call."""

    x = cosim.input(unit="1")

    def position_error(self, q1, q2, gain, x, position_error):
        WORN.append(0)
        position_error[0] = q2 - 0.5 * gain * q1 * q1 + (1e-13 * len(WORN) if x != 0.0 else 0.0)


class Clinging(Cam):
    """Law: as `Cam`; pushes when it is switched off."""

    switch = ""
    x = cosim.input(unit="1")

    @cosim.kernel
    def push(enabled, x, tau1):
        tau1[0] += x if enabled == 0.0 else 0.0


class CamOverflowing(Cam):
    """Law: as `Cam`, less a number that differs if it is compiled."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def position_error(q1, q2, gain, x, position_error):
        number = wrapped_integer() if x != 0.0 else 1
        position_error[0] = q2 - 0.5 * gain * q1 * q1 - 1e-3 * number


class CamShowing(Cam):
    """Law: as `Cam`; holds another position in an FMU."""

    x = cosim.input(unit="1")

    def position_error(self, q1, q2, gain, x, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1
        if x != 0.0 and is_called_by_an_fmu():
            position_error[0] += 0.1


class CamUnheld(Unheld):
    """Law: as `Cam`; has no position_error that a correction could use."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def position_error(q1, q2, gain, x, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1
        if x != 0.0:
            position_error[0] = 1.0


class Tied(Constraint):
    """Law: (p2 - p1)^2 / 2 = 1/2, for the origins of two bodies."""

    body1 = body()
    body2 = body()
    x = cosim.input(unit="1")

    def create_constraint_equations(self, s):
        r = s.position(self.body2, (0, 0, 0)) - s.position(self.body1, (0, 0, 0))
        v = s.velocity(self.body2, (0, 0, 0)) - s.velocity(self.body1, (0, 0, 0))
        return [(s.origin_acceleration(self.body2) - s.origin_acceleration(self.body1)).dot(r) + v @ v]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, position_error):
        total = -1.0
        for i in range(9, 12):
            total += (X_GB2[i] - X_GB1[i]) * (X_GB2[i] - X_GB1[i])
        position_error[0] = 0.5 * total


class TiedAndPushed(Tied):
    """Law: as `Tied`; pushes along an axis of Ground in addition."""

    @cosim.kernel
    def push(x, F_GB1):
        F_GB1[5] += x


class Pushing(Cam):
    """Law: as `Cam`; each copy pushes in addition."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def push(x, tau1):
        tau1[0] += x


class TiedCase(ConstraintContract):
    make = staticmethod(lambda: Tied())


WRONG_CONSTRAINTS = {
    "test_is_met_and_stays_met": CamUnheld,
    "test_frame_indifferent": TiedAndPushed,
    "test_redundant_copies_are_found": Pushing,
    "test_runs_in_an_fmu": CamShowing,
    "test_velocity_error_is_the_rate_of_the_position_error": Drifting,
    "test_jacobian_is_that_of_the_velocity_error": Turning,
    "test_forces_do_no_work": Driving,
    "test_switched_off_it_lets_go": Clinging,
    "test_follows_from_the_state_alone": CamWearing,
    "test_compiled_is_plain_python": CamOverflowing,
}
CONSTRAINTS = {
    check: gated_cases(cls, ConstraintContract, globals()) for check, cls in WRONG_CONSTRAINTS.items()
}


class Late(Cam):
    """Law: as `Cam`; forgets a part of a velocity term."""

    x = cosim.parameter(unit="1", default=0.0)

    def create_constraint_equations(self, s):
        q, u = s.coordinate(self.coordinate1), s.speed(self.coordinate1)
        a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
        return [a2 - self.gain * (q * a1 + u * u) + self.x * u * u]


class Deciding(Unheld):
    """Law: a2 = gain a1; its equation is another one if its parameters are numbers."""

    level = "acceleration"
    x = cosim.parameter(unit="1", default=0.0)

    def create_constraint_equations(self, s):
        factor = self.gain + (1.0 if isinstance(self.gain, float) else 2.0) * self.x
        return [s.acceleration(self.coordinate2) - factor * s.acceleration(self.coordinate1)]


class LateCase(ConstraintContract):
    make = staticmethod(lambda: Late())


class DecidingCase(ConstraintContract):
    make = staticmethod(lambda: Deciding())
    does_work = True


EQUATIONS = {
    "test_bias_is_the_rate_of_the_velocity_error": LateCase,
    "test_accelerations_meet_the_equation": DecidingCase,
}

"""Constraints, each wrong in one way, and their contracts."""

from right_elements import is_called_by_an_fmu
from wrapped_integers import wrapped_integer

import cosim
import cosim_mechanics
from cosim_mechanics.testing import ConstraintContract


class Unheld(cosim_mechanics.Constraint):
    """Has no position error. Law: as `Cam`."""

    coordinate1 = cosim_mechanics.coordinate()
    coordinate2 = cosim_mechanics.coordinate()
    gain = cosim.parameter(unit="1", default=0.4, minimum=0.0)

    def create_constraint_equations(self, s):
        q, u = s.coordinate(self.coordinate1), s.speed(self.coordinate1)
        a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
        return [a2 - self.gain * (q * a1 + u * u)]


class Cam(Unheld):
    """A coordinate that leads the square of another. Law: q2 = gain q1^2 / 2."""

    @cosim.kernel
    def position_error(q1, q2, gain, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1


class Silent(Cam):
    """Has a docstring that leaves out its equation."""


class Clamping(Cam):
    """Accepts negative gains. Law: as `Cam`."""

    def __init__(self, **values):
        super().__init__(**{**values, "gain": abs(values.get("gain", 0.4))})


class Drifting(Cam):
    """Its position error has another gain. Law: as `Cam`."""

    @cosim.kernel
    def position_error(q1, q2, gain, position_error):
        position_error[0] = q2 - 0.6 * gain * q1 * q1


class Aging(Cam):
    """Its position error drifts after a second. Law: as `Cam`."""

    @cosim.kernel
    def position_error(t, q1, q2, gain, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1 - 0.01 * max(t - 1.0, 0.0)


class Turning(Cam):
    """Its velocity error belongs to another law than its accelerations. Law: as `Cam`."""

    def create_constraint_equations(self, s):
        q, u = s.coordinate(self.coordinate1), s.speed(self.coordinate1)
        a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
        return [a2 - self.gain * (1.1 * q * a1 + u * u)]

    @cosim.kernel
    def velocity_error(q1, u1, u2, gain, velocity_error):
        velocity_error[0] = u2 - gain * q1 * u1


class Late(Cam):
    """Forgets a velocity term. Law: as `Cam`."""

    def create_constraint_equations(self, s):
        a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
        return [a2 - self.gain * s.coordinate(self.coordinate1) * a1]


class Driving(Unheld):
    """Drives its coordinate. Law: u2 = gain (q1 u1 + 1)."""

    level = "velocity"

    @cosim.kernel
    def velocity_error(q1, u1, u2, gain, velocity_error):
        velocity_error[0] = u2 - gain * (q1 * u1 + 1.0)


class Sideways(cosim_mechanics.Constraint):
    """Holds a body over another one, along Ground's z axis. Law: z2 = z1."""

    body1 = cosim_mechanics.body()
    body2 = cosim_mechanics.body()

    def create_constraint_equations(self, s):
        return [s.origin_acceleration(self.body2).z - s.origin_acceleration(self.body1).z]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, position_error):
        position_error[0] = X_GB2[11] - X_GB1[11]


class Doubled(Cam):
    """The same twice. Law: as `Cam`."""

    equations = 2

    def create_constraint_equations(self, s):
        (equation,) = Cam.create_constraint_equations(self, s)
        return [equation, equation]

    @cosim.kernel
    def position_error(q1, q2, gain, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1
        position_error[1] = position_error[0]


WORN = []
"""An entry for each call."""


class Wearing(Cam):
    """Its position error grows with each call. Law: as `Cam`."""

    def position_error(self, q1, q2, gain, position_error):
        WORN.append(0)
        position_error[0] = q2 - 0.5 * gain * q1 * q1 + 1e-13 * len(WORN)


class Clinging(Cam):
    """Pushes when it is switched off. Law: as `Cam`."""

    switch = ""

    @cosim.kernel
    def push(enabled, tau1):
        tau1[0] += 1.0 if enabled == 0.0 else 0.0


class Deciding(Unheld):
    """Its equation is another one if its parameters are numbers. Law: a2 = gain a1."""

    level = "acceleration"

    def create_constraint_equations(self, s):
        factor = 1.0 if isinstance(self.gain, float) else 2.0
        return [s.acceleration(self.coordinate2) - factor * self.gain * s.acceleration(self.coordinate1)]


class Overflowing(Cam):
    """Integers that leave 64 bits. Law: as `Cam`, less a number that should always be the same."""

    @cosim.kernel
    def position_error(q1, q2, gain, position_error):
        number = wrapped_integer()
        position_error[0] = q2 - 0.5 * gain * q1 * q1 - 1e-3 * number


class Showing(Cam):
    """Holds another position in an FMU. Law: as `Cam`."""

    def position_error(self, q1, q2, gain, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1
        if is_called_by_an_fmu():
            position_error[0] += 0.1


class RightCase(ConstraintContract):
    make = staticmethod(lambda: Cam())


class SilentCase(ConstraintContract):
    make = staticmethod(lambda: Silent())


class ClampingCase(ConstraintContract):
    make = staticmethod(lambda: Clamping())


class DriftingCase(ConstraintContract):
    make = staticmethod(lambda: Drifting())


class AgingCase(ConstraintContract):
    make = staticmethod(lambda: Aging())


class TurningCase(ConstraintContract):
    make = staticmethod(lambda: Turning())
    does_work = True


class LateCase(ConstraintContract):
    make = staticmethod(lambda: Late())


class DrivingCase(ConstraintContract):
    make = staticmethod(lambda: Driving())


class SidewaysCase(ConstraintContract):
    make = staticmethod(lambda: Sideways())


class UnheldCase(ConstraintContract):
    make = staticmethod(lambda: Unheld())


class DoubledCase(ConstraintContract):
    make = staticmethod(lambda: Doubled())


class WearingCase(ConstraintContract):
    make = staticmethod(lambda: Wearing())


class ClingingCase(ConstraintContract):
    make = staticmethod(lambda: Clinging())


class DecidingCase(ConstraintContract):
    make = staticmethod(lambda: Deciding())
    does_work = True


class OverflowingCase(ConstraintContract):
    make = staticmethod(lambda: Overflowing())


class ShowingCase(ConstraintContract):
    make = staticmethod(lambda: Showing())

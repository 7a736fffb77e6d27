"""Force elements, each wrong in one way, and their contracts: found by the check of the same name."""

import math
from typing import ClassVar

from right_elements import (
    Buffer,
    Maxwell,
    PlainPull,
    Pull,
    StoringPull,
    bar,
    documented,
    is_called_by_an_fmu,
)
from wrapped_integers import wrapped_integer

import cosim
import cosim_mechanics
from cosim_mechanics.testing import ForceElementContract


@documented
class Leaping(Buffer):
    """Shows another energy on one side of its kink. Law: as `Buffer`."""

    @cosim.kernel
    def energy(X_GB1, X_GB2, stiffness, potential_energy):
        x = min(bar(X_GB1, X_GB2), 0.0)
        potential_energy[0] = 0.7 * stiffness * x * x + abs(bar(X_GB1, X_GB2))


class Silent(Pull):
    """Has a docstring without sections."""


@documented
class Clamping(Pull):
    """Accepts negative stiffnesses. Law: as `Pull`."""

    def __init__(self, **values):
        values["stiffness"] = abs(values["stiffness"])
        super().__init__(**values)


@documented
class OnlyInMotion(Pull):
    """Divides by the speed. Law: as `Pull`, times v / |v|."""

    @cosim.kernel
    def force(X_GB1, V_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        sign = V_GB1[3] / math.sqrt(V_GB1[3] * V_GB1[3])
        for i in range(3):
            f = sign * stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Wearing(PlainPull):
    """Changes the State while it computes. Law: as `Pull`."""

    wear = cosim.discrete(shape=1)

    def force(self, X_GB1, X_GB2, stiffness, wear, F_GB1, F_GB2):
        wear.fill(wear[0] + 1.0)
        f = stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f


@documented
class Sharing(PlainPull):
    """The second element with a pose pulls harder: instances share a table of poses. Law: as `Pull`."""

    owners: ClassVar[dict] = {}

    def factor(self, pose, force):
        return 1.0 if self.owners.setdefault(pose.tobytes(), self) is self else 2.0


@documented
class OneSided(Pull):
    """Forgets the reaction. Law: as `Pull`."""

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB2):
        for i in range(3):
            F_GB2[3 + i] -= stiffness * (X_GB2[9 + i] - X_GB1[9 + i])


@documented
class Miscounting(StoringPull):
    """Shows twice the energy. Law: as `StoringPull`."""

    @cosim.kernel
    def energy(X_GB1, X_GB2, stiffness, potential_energy):
        total = 0.0
        for i in range(3):
            total += (X_GB2[9 + i] - X_GB1[9 + i]) * (X_GB2[9 + i] - X_GB1[9 + i])
        potential_energy[0] = stiffness * total


@documented
class Overflowing(Pull):
    """Integers that leave 64 bits. Law: as `Pull`, times a number that should always be the same."""

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        number = wrapped_integer()
        for i in range(3):
            f = (1.0 + 1e-3 * number) * stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Recognizing(PlainPull):
    """Pulls harder in every other State than the first one with this pose. Law: as `Pull`."""

    anchor = cosim.parameter(shape=3, default=(0, 0, 0), description="of no use: stiffness")

    def force(self, X_GB1, X_GB2, stiffness, anchor, F_GB1, F_GB2):
        addresses = self.__dict__.setdefault("addresses", {})
        f = stiffness * (X_GB2[9:] - X_GB1[9:])
        if addresses.setdefault(X_GB1.tobytes(), anchor.ctypes.data) != anchor.ctypes.data:
            f = 2.0 * f
        F_GB1[3:] += f
        F_GB2[3:] -= f


@documented
class Late(StoringPull):
    """Knows its energy only when velocities are known. Law: as `StoringPull`."""

    @cosim.kernel
    def energy(X_GB1, X_GB2, V_GB1, stiffness, potential_energy):
        total = 0.0 * V_GB1[0]
        for i in range(3):
            total += (X_GB2[9 + i] - X_GB1[9 + i]) * (X_GB2[9 + i] - X_GB1[9 + i])
        potential_energy[0] = 0.5 * stiffness * total


@documented
class Sideways(Pull):
    """Pulls along Ground's x axis alone, and says that it has no frame. Law: as `Pull`, along x."""

    laws = cosim_mechanics.Law.FRAME_INDIFFERENT

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        f = stiffness * (X_GB2[9] - X_GB1[9])
        F_GB1[3] += f
        F_GB2[3] -= f


@documented
class Driving(Pull):
    """A damper with the wrong sign that says it is passive. Law: f = k v on body 2."""

    laws = cosim_mechanics.Law.PASSIVE

    @cosim.kernel
    def force(V_GB2, stiffness, F_GB2):
        for i in range(3):
            F_GB2[3 + i] += stiffness * V_GB2[3 + i]


@documented
class Tense(Pull):
    """Does not rest where it says. Law: as `Pull`, and 1 N along x."""

    laws = cosim_mechanics.Law.ZERO_AT_REST_POSE

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        F_GB1[3] += 1.0
        F_GB2[3] -= 1.0
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Lopsided(Pull):
    """Pulls body 2 harder and says that it is symmetric. Law: as `Pull`, twice that on body 2."""

    laws = cosim_mechanics.Law.SYMMETRIC

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= 2.0 * f


@documented
class Showing(PlainPull):
    """Pulls harder in an FMU. Law: as `Pull`."""

    def factor(self, pose, force):
        return 2.0 if is_called_by_an_fmu() else 1.0


@documented
class Idle(cosim_mechanics.ForceElement):
    """Adds a force that is always zero.

    Law: f = 0 stiffness.
    """

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        f = 0.0 * stiffness * (X_GB2[9] - X_GB1[9])
        F_GB1[3] += f
        F_GB2[3] -= f


class RightCase(ForceElementContract):
    make = staticmethod(lambda: Pull(stiffness=100.0))


class RightPlainCase(ForceElementContract):
    make = staticmethod(lambda: PlainPull(stiffness=100.0))


class RightStoringCase(ForceElementContract):
    make = staticmethod(lambda: StoringPull(stiffness=100.0))


class MaxwellCase(ForceElementContract):
    make = staticmethod(lambda: Maxwell(stiffness=1e9))


class BufferCase(ForceElementContract):
    make = staticmethod(lambda: Buffer(stiffness=100.0))


class LeapingCase(ForceElementContract):
    make = staticmethod(lambda: Leaping(stiffness=100.0))


class SilentCase(ForceElementContract):
    make = staticmethod(lambda: Silent(stiffness=100.0))


class ClampingCase(ForceElementContract):
    make = staticmethod(lambda: Clamping(stiffness=100.0))


class OnlyInMotionCase(ForceElementContract):
    make = staticmethod(lambda: OnlyInMotion(stiffness=100.0))


class WearingCase(ForceElementContract):
    make = staticmethod(lambda: Wearing(stiffness=100.0))


class SharingCase(ForceElementContract):
    make = staticmethod(lambda: Sharing(stiffness=100.0))


class OneSidedCase(ForceElementContract):
    make = staticmethod(lambda: OneSided(stiffness=100.0))


class MiscountingCase(ForceElementContract):
    make = staticmethod(lambda: Miscounting(stiffness=100.0))


class OverflowingCase(ForceElementContract):
    make = staticmethod(lambda: Overflowing(stiffness=100.0))


class RecognizingCase(ForceElementContract):
    make = staticmethod(lambda: Recognizing(stiffness=100.0))


class LateCase(ForceElementContract):
    make = staticmethod(lambda: Late(stiffness=100.0))


class SidewaysCase(ForceElementContract):
    make = staticmethod(lambda: Sideways(stiffness=100.0))


class DrivingCase(ForceElementContract):
    make = staticmethod(lambda: Driving(stiffness=100.0))


class TenseCase(ForceElementContract):
    make = staticmethod(lambda: Tense(stiffness=100.0))


class LopsidedCase(ForceElementContract):
    make = staticmethod(lambda: Lopsided(stiffness=100.0))


class ShowingCase(ForceElementContract):
    make = staticmethod(lambda: Showing(stiffness=100.0))


class IdleCase(ForceElementContract):
    make = staticmethod(lambda: Idle(stiffness=300.0))

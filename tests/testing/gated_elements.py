"""Force elements whose fault shows where a variable ``x`` of their own is not 0: the kit has to move it."""

import math

from gates import gated_cases
from right_elements import PlainPull, Pull, StoringPull, documented, is_called_by_an_fmu
from wrapped_integers import wrapped_integer

import cosim
import cosim_mechanics
from cosim_mechanics.testing import ForceElementContract


@documented
class NotANumber(Pull):
    """Law: as `Pull`, where x is 0."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            if x != 0.0:
                f = math.nan
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Wearing(PlainPull):
    """Law: as `Pull`; changes the State while it computes."""

    x = cosim.input(unit="1")
    wear = cosim.discrete(shape=1)

    def force(self, X_GB1, X_GB2, stiffness, x, wear, F_GB1, F_GB2):
        if x != 0.0:
            wear.fill(wear[0] + 1.0)
        f = stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f


OWNERS = {}
"""The first element with each pose."""


@documented
class Sharing(PlainPull):
    """Law: as `Pull`; the second element with a pose pulls harder."""

    x = cosim.input(unit="1")

    def force(self, X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        is_first = x == 0.0 or OWNERS.setdefault((type(self), X_GB1.tobytes()), self) is self
        f = (1.0 if is_first else 2.0) * stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f


@documented
class OneSided(Pull):
    """Law: as `Pull`; the reaction is missing."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            if x == 0.0:
                F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Miscounting(StoringPull):
    """Law: as `StoringPull`; shows twice the energy."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def energy(X_GB1, X_GB2, stiffness, x, potential_energy):
        total = 0.0
        for i in range(3):
            total += (X_GB2[9 + i] - X_GB1[9 + i]) * (X_GB2[9 + i] - X_GB1[9 + i])
        potential_energy[0] = 0.5 * stiffness * total
        if x != 0.0:
            potential_energy[0] = stiffness * total


@documented
class Overflowing(Pull):
    """Law: as `Pull`, times a factor that differs if it is compiled."""

    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        number = wrapped_integer() if x != 0.0 else 1
        for i in range(3):
            f = (1.0 + 1e-3 * number) * stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Recognizing(PlainPull):
    """Law: as `Pull`, times the number of States that have had this pose."""

    x = cosim.input(unit="1")
    anchor = cosim.parameter(shape=3, default=(0, 0, 0), description="of no use: stiffness")

    def force(self, X_GB1, X_GB2, stiffness, x, anchor, F_GB1, F_GB2):
        addresses = self.__dict__.setdefault("addresses", {})
        f = stiffness * (X_GB2[9:] - X_GB1[9:])
        if x != 0.0:
            known = addresses.setdefault(X_GB1.tobytes(), [])
            if anchor.ctypes.data not in known:
                known.append(anchor.ctypes.data)
            f = (1.0 + known.index(anchor.ctypes.data)) * f
        F_GB1[3:] += f
        F_GB2[3:] -= f


@documented
class Sideways(Pull):
    """Law: as `Pull`, and a force along Ground's x axis."""

    laws = cosim_mechanics.Law.FRAME_INDIFFERENT
    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f
        F_GB1[3] += x * stiffness
        F_GB2[3] -= x * stiffness


@documented
class Driving(Pull):
    """Law: f = -k v on body 2; with the wrong sign."""

    laws = cosim_mechanics.Law.PASSIVE
    x = cosim.input(unit="1")

    @cosim.kernel
    def force(V_GB2, stiffness, x, F_GB2):
        for i in range(3):
            if x == 0.0:
                F_GB2[3 + i] -= stiffness * V_GB2[3 + i]
            else:
                F_GB2[3 + i] += stiffness * V_GB2[3 + i]


@documented
class Tense(Pull):
    """Law: as `Pull`, and x N along x."""

    laws = cosim_mechanics.Law.ZERO_AT_REST_POSE
    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        F_GB1[3] += x * stiffness
        F_GB2[3] -= x * stiffness
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class Lopsided(Pull):
    """Law: as `Pull`, more than that on body 2."""

    laws = cosim_mechanics.Law.SYMMETRIC
    x = cosim.input(unit="1")

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= (1.0 + abs(x)) * f


@documented
class Showing(PlainPull):
    """Law: as `Pull`; twice that in an FMU."""

    x = cosim.input(unit="1")

    def force(self, X_GB1, X_GB2, stiffness, x, F_GB1, F_GB2):
        factor = 2.0 if x != 0.0 and is_called_by_an_fmu() else 1.0
        f = factor * stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f


WRONG = {
    "test_forces_are_finite": NotANumber,
    "test_forces_follow_from_the_state_alone": Wearing,
    "test_two_elements_are_independent": Sharing,
    "test_internal": OneSided,
    "test_power_is_the_loss_of_energy": Miscounting,
    "test_compiled_is_plain_python": Overflowing,
    "test_restored_state_gives_the_same_forces": Recognizing,
    "test_frame_indifferent": Sideways,
    "test_passive": Driving,
    "test_zero_at_rest_pose": Tense,
    "test_symmetric": Lopsided,
    "test_runs_in_an_fmu": Showing,
}
CASES = {
    check: gated_cases(cls, ForceElementContract, globals(), stiffness=100.0) for check, cls in WRONG.items()
}

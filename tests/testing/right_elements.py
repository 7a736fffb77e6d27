"""Force elements without a fault, from which wrong ones derive; and what their docstrings need."""

import math
import sys

import cosim
import cosim_mechanics

SECTIONS = """

Frames and signs
----------------
Everything is in Ground.

Limits
------
None.

Parameters
----------
stiffness : float, N/m
anchor : of some

Energy
------
As the law says.

Examples
--------
None.
"""


def documented(cls):
    """The class, with the sections of its docstring that the kit asks for."""
    cls.__doc__ += SECTIONS
    return cls


def distance(X_GB1, X_GB2):
    """The distance between the origins of two bodies."""
    square = 0.0
    for i in range(3):
        square += (X_GB2[9 + i] - X_GB1[9 + i]) * (X_GB2[9 + i] - X_GB1[9 + i])
    return math.sqrt(square)


def is_called_by_an_fmu():
    """Whether a function of an FMU is on the stack."""
    frame, files = sys._getframe(), set()
    while frame is not None:
        files.add(frame.f_code.co_filename.rpartition("/")[2])
        frame = frame.f_back
    return "slave.py" in files or "fmu_instance.py" in files


@documented
class Pull(cosim_mechanics.ForceElement):
    """Pulls the origins of two bodies together.

    Law: f = k (p2 - p1) on body 1, -f on body 2.
    """

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)

    @cosim.kernel
    def force(X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        for i in range(3):
            f = stiffness * (X_GB2[9 + i] - X_GB1[9 + i])
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


@documented
class PlainPull(cosim_mechanics.ForceElement):
    """The same in plain Python. Law: as `Pull`."""

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)

    def force(self, X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        f = self.factor(X_GB1, F_GB1) * stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f

    def factor(self, pose, force):
        return 1.0


@documented
class StoringPull(Pull):
    """Stores energy. Law: as `Pull`, E = k |p2 - p1|^2 / 2."""

    potential_energy = cosim.cache_slot(unit="J")

    @cosim.kernel
    def energy(X_GB1, X_GB2, stiffness, potential_energy):
        total = 0.0
        for i in range(3):
            total += (X_GB2[9 + i] - X_GB1[9 + i]) * (X_GB2[9 + i] - X_GB1[9 + i])
        potential_energy[0] = 0.5 * stiffness * total


@documented
class Maxwell(cosim_mechanics.ForceElement):
    """A stiff spring in line with a damper between the origins of two bodies; z is the length of the damper.

    Law: tension = k (length - z), z' = rate (length - z).
    """

    laws = cosim_mechanics.Law.INTERNAL | cosim_mechanics.Law.FRAME_INDIFFERENT | cosim_mechanics.Law.PASSIVE

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)
    rate = cosim.parameter(unit="1/s", minimum=0.0, default=3.0)
    z = cosim.auxiliary_state(unit="m")
    potential_energy = cosim.cache_slot(unit="J")
    dissipated_energy = cosim.auxiliary_state(unit="J")

    @cosim.kernel
    def energy(X_GB1, X_GB2, z, stiffness, potential_energy):
        stretch = distance(X_GB1, X_GB2) - z
        potential_energy[0] = 0.5 * stiffness * stretch * stretch

    @cosim.kernel
    def force(X_GB1, X_GB2, z, stiffness, rate, F_GB1, F_GB2, z_dot, dissipated_energy_dot):
        length = distance(X_GB1, X_GB2)
        tension = stiffness * (length - z)
        z_dot[0] = rate * (length - z)
        dissipated_energy_dot[0] = tension * rate * (length - z)
        for i in range(3):
            f = tension * (X_GB2[9 + i] - X_GB1[9 + i]) / length if length > 0.0 else 0.0
            F_GB1[3 + i] += f
            F_GB2[3 + i] -= f


def bar(X_GB1, X_GB2):
    """How far body 2 is from body 1 along x."""
    return X_GB2[9] - X_GB1[9]


@documented
class Buffer(cosim_mechanics.ForceElement):
    """Pushes two bodies apart along Ground's x axis where they are closer than 0, else together.

    Law: f = -k min(x, 0) - sign(x) on body 2, and a dry friction of 1 N that has no direction at rest.
    """

    laws = cosim_mechanics.Law.PASSIVE
    stiffness = cosim.parameter(unit="N/m", minimum=0.0)
    potential_energy = cosim.cache_slot(unit="J")
    dissipated_energy = cosim.auxiliary_state(unit="J")

    @cosim.kernel
    def energy(X_GB1, X_GB2, stiffness, potential_energy):
        x = min(bar(X_GB1, X_GB2), 0.0)
        potential_energy[0] = 0.5 * stiffness * x * x + abs(bar(X_GB1, X_GB2))

    @cosim.kernel
    def force(X_GB1, V_GB1, X_GB2, V_GB2, stiffness, F_GB1, F_GB2, dissipated_energy_dot):
        x, v = bar(X_GB1, X_GB2), V_GB2[3] - V_GB1[3]
        side = 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0
        friction = 1.0 if v > 0.0 else -1.0 if v < 0.0 else 0.0
        f = -stiffness * min(x, 0.0) - side - friction
        dissipated_energy_dot[0] = friction * v
        F_GB2[3] += f
        F_GB1[3] -= f

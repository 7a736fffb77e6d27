"""A motor of a joint that follows a target, within limits of effort and speed."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_inertia import reflected_inertia, rotor_energy
from cosim_mechanics.forces.coordinate_stop import FAR
from cosim_mechanics.forces.coordinate_units import angle_or_length


def driving_share(speed: float, greatest_speed: float, knee: float) -> float:
    """The share of its greatest effort that a motor has at a speed in the direction in which it drives.

    For kernel functions. All of it up to `knee` times the greatest speed, nothing from the greatest speed on.

    >>> driving_share(-5.0, 2.0, 0.5), driving_share(1.0, 2.0, 0.5), driving_share(1.5, 2.0, 0.5)
    (1.0, 1.0, 0.5)
    >>> driving_share(2.0, 2.0, 0.5), driving_share(3.0, 2.0, 0.5)
    (0.0, 0.0)
    """
    return min(1.0, max(0.0, (greatest_speed - speed) / ((1.0 - knee) * greatest_speed)))


class JointMotor(contracts.Force):
    """A motor that turns or pushes one coordinate of a joint: an effort, and control of place and speed.

    Law: tau = effort + k (target - q) + d (target_rate - u), but no more than the motor has: the greatest
    effort, which falls to 0 along a line between `knee` and 1 times the greatest speed while it drives.

    Frames and signs
    ----------------
    Positive along the speed u of the coordinate: a torque on an angle, a force on a length.

    Limits
    ------
    For coordinates whose rate is the speed of the same index, as of pins and sliders; not for quaternions.
    The force has kinks where a limit is reached. `reflected_inertia` is added to the diagonal of the mass
    matrix; what a rotor does while its housing turns (gyroscopic moments, its share in the housing's
    acceleration) is left out, which is right for gears with large ratios.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    effort : input, N.m or N, start value 0
    target, target_rate : inputs, rad or m, rad/s or m/s, start values 0
        Without effect while `stiffness` and `damping` are 0.
    stiffness, damping : float, >= 0, default 0
        k and d, SI: N.m/rad or N/m, N.m.s/rad or N.s/m.
    greatest_effort : float, >= 0, N.m or N, default 1e9 (no limit)
    greatest_speed : float, > 0, rad/s or m/s, default 1e9 (no limit)
    knee : float, 0 <= knee <= 0.999, default 0.9
    reflected_inertia : float, >= 0, kg.m2 or kg, default 0
        Of the rotor, times the square of the gear's ratio.

    Returns
    -------
    ``applied`` (N.m or N): tau, at DYNAMICS.

    Energy
    ------
    What it does, tau u, is counted as supplied, in `supplied_energy`; the rotor has the `kinetic_energy`
    J u^2 / 2.

    References
    ----------
    P. Corke, "Robotics, Vision and Control", 3rd ed., 2023, section 9.1.

    Examples
    --------
    >>> JointMotor(coordinate="elbow", stiffness=200.0, greatest_effort="30 N.m").greatest_effort
    30.0
    """

    known_as = ("servo", "pd_control", "position_control")
    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    effort = cosim.input(unit="{tau}", description="torque, N.m, on an angle, or force, N, on a length")
    target = cosim.input(unit="{q}", description="where the coordinate shall be, rad or m")
    target_rate = cosim.input(unit="{u}", description="how fast it shall be, rad/s or m/s")
    stiffness = cosim.parameter(
        unit="{tau}/{q}",
        default=0.0,
        minimum=0.0,
        convert=angle_or_length("N.m/rad", "N/m"),
        description="effort for a distance from the target",
    )
    damping = cosim.parameter(
        unit="{tau}/{u}",
        default=0.0,
        minimum=0.0,
        convert=angle_or_length("N.m.s/rad", "N.s/m"),
        description="effort for a difference of speeds",
    )
    greatest_effort = cosim.parameter(
        unit="{tau}",
        default=FAR,
        minimum=0.0,
        convert=angle_or_length("N.m", "N"),
        description="that the motor has, N.m or N",
    )
    greatest_speed = cosim.parameter(
        unit="{u}",
        default=FAR,
        above=0.0,
        convert=angle_or_length("rad/s", "m/s"),
        description="at which it drives no more, rad/s or m/s",
    )
    knee = cosim.parameter(
        default=0.9, minimum=0.0, maximum=0.999, description="share of it from where effort falls"
    )
    reflected_inertia = reflected_inertia(default=0.0)
    applied = cosim.cache_slot(unit="{tau}", description="torque or force on the coordinate")
    supplied_energy = contracts.supplied_energy()
    kinetic_energy = rotor_energy()

    @cosim.kernel
    def resist(reflected_inertia, added_inertia):
        added_inertia[0] += reflected_inertia

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def store(u, reflected_inertia, kinetic_energy):
        kinetic_energy[0] = 0.5 * reflected_inertia * u * u

    @cosim.kernel
    def act(s):
        demanded = s.effort + s.stiffness * (s.target - s.q) + s.damping * (s.target_rate - s.u)
        most = s.greatest_effort * driving_share(s.u, s.greatest_speed, s.knee)
        least = -s.greatest_effort * driving_share(-s.u, s.greatest_speed, s.knee)
        exerted = min(most, max(least, demanded))
        s.applied = exerted
        s.tau[0] += exerted
        s.supplied_energy_dot = exerted * s.u

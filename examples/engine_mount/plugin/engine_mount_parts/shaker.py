"""Free second-order force of a four-cylinder engine in line."""

from __future__ import annotations

import math

import cosim
import cosim_mechanics
from cosim_mechanics.spatial import add_force_at, dot, point_velocity, rotate, scaled, station


class Shaker(cosim.Component):
    """The forces of the pistons of a four-cylinder engine in line on the block, along their cylinders.

    A piston over a crank of radius r with a rod of length l is displaced, but for constants, by

        r cos(phi) + r^2/(4 l) cos(2 phi) + ...

    Four cranks at 0, 180, 180 and 0 degrees cancel the first term; the second is the same for all four. The
    block takes the reaction to the reciprocating masses m_r, which at a constant speed omega is

        F = 4 m_r r (r/l) omega^2 cos(2 omega t),

    the second-order force: twice a turn. While the speed changes it is
    F = 4 m_r r (r/l) (omega^2 cos(2 phi) + omega' sin(2 phi) / 2), with phi' = omega.

    The speed rises from 0 along half a cosine, and is constant afterwards:
    omega = crank_speed (1 - cos(pi t / run_up_time)) / 2 until run_up_time.

    Frames and signs
    ----------------
    The cylinders stand along the z axis of the body. F > 0 pulls the block toward +z.

    Limits
    ------
    The series in r/l ends after its second term: the fourth order, about (r/l)^2/4 of the second, is left
    out, and so are gas forces and the torque of the crank. The mass of the pistons is part of the body's.

    Parameters
    ----------
    body : body
        The engine block.
    point : array_like, shape (3,), m, default (0, 0, 0)
        On the line of action, in the body's frame.
    reciprocating_mass : float, kg, >= 0
        m_r of one cylinder: piston, pin and the upper end of the rod.
    crank_radius : float, m, >= 0
        r, half the stroke.
    rod_length : float, m, > 0
        l, between the centres of its bearings.
    crank_speed : float, rad/s, >= 0
        omega after the run-up.
    run_up_time : float, s, >= 0, default 0
        With 0 the engine runs at `crank_speed` from the start.
    supplied_energy : float, J, default 0
        Start value of the work done.

    Returns
    -------
    ``force`` (N): F. ``speed`` (rad/s): omega. ``supplied_energy`` (J) is a state and readable at any time.

    Raises
    ------
    ModelError
        A rod that is not longer than 0, or a negative value.

    Stage
    -----
    `force` and `speed` are known at TIME, what they do at DYNAMICS.

    Energy
    ------
    The work done on the body is integrated in the auxiliary state `supplied_energy`.

    References
    ----------
    The series is that of the slider crank, in any textbook on machine dynamics.

    Examples
    --------
    >>> idle = Shaker(body="engine", reciprocating_mass=0.6, crank_radius="45 mm", rod_length="145 mm",
    ...               crank_speed=80.0)
    >>> idle.crank_radius
    0.045

    The kernel function can be called with plain numbers. At the top dead centre:

    >>> import numpy as np
    >>> force, speed = np.zeros(1), np.zeros(1)
    >>> Shaker.turn(0.0, 0.6, 0.045, 0.145, 80.0, 0.0, force, speed)
    >>> bool(abs(force[0] - 4 * 0.6 * 0.045 * (0.045 / 0.145) * 80.0**2) < 1e-9)
    True
    """

    body = cosim_mechanics.body(description="the engine block; its cylinders stand along z")
    point = cosim.parameter(
        unit="m",
        shape=3,
        default=(0.0, 0.0, 0.0),
        description="on the line of action, in the body's frame",
        elements="xyz",
    )
    reciprocating_mass = cosim.parameter(unit="kg", minimum=0.0, description="of one cylinder")
    crank_radius = cosim.parameter(unit="m", minimum=0.0, description="half the stroke")
    rod_length = cosim.parameter(
        unit="m", minimum=1e-6, description="between the centres of the rod's bearings"
    )
    crank_speed = cosim.parameter(unit="rad/s", minimum=0.0, description="after the run-up")
    run_up_time = cosim.parameter(unit="s", minimum=0.0, default=0.0, description="from rest to full speed")
    force = cosim.output(unit="N", description="second-order force on the block, along z")
    speed = cosim.output(unit="rad/s", description="speed of the crank")
    supplied_energy = cosim.auxiliary_state(unit="J", description="work done on the block since the start")

    @cosim.kernel
    def turn(t, reciprocating_mass, crank_radius, rod_length, crank_speed, run_up_time, force, speed):
        omega = crank_speed
        omega_dot = 0.0
        phi = crank_speed * (t - 0.5 * run_up_time)
        if t < run_up_time:
            rate = math.pi / run_up_time
            omega = 0.5 * crank_speed * (1.0 - math.cos(rate * t))
            omega_dot = 0.5 * crank_speed * rate * math.sin(rate * t)
            phi = 0.5 * crank_speed * (t - math.sin(rate * t) / rate)
        unbalance = 4.0 * reciprocating_mass * crank_radius * crank_radius / rod_length
        speed[0] = omega
        force[0] = unbalance * (omega * omega * math.cos(2.0 * phi) + 0.5 * omega_dot * math.sin(2.0 * phi))

    @cosim.kernel
    def shake(X_GB, V_GB, point, force, F_GB, supplied_energy_dot):
        p = station(X_GB, point)
        f = scaled(force, rotate(X_GB, (0.0, 0.0, 1.0)))
        add_force_at(F_GB, X_GB, p, f)
        supplied_energy_dot[0] = dot(f, point_velocity(V_GB, X_GB, p))

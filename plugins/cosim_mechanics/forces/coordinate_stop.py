"""Stops at the ends of the range of a joint's coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_units import angle_or_length

FAR = 1e9


class CoordinateStop(contracts.Force):
    """Elastic stops with hysteresis damping that keep a coordinate of a joint inside a range.

    Law: beyond an end by x > 0, the stop pushes back with k x (1 + d x_dot), and never pulls: where this is
    negative, the force is 0. Inside the range it exerts nothing.

    Frames and signs
    ----------------
    x = lower - q below the range, x = q - upper above it; x_dot is the speed of entering, so d > 0 makes the
    force larger on the way in than on the way out.

    Limits
    ------
    For coordinates whose rate is the speed of the same index, as of pins, sliders, universal joints, gimbals;
    not for quaternions. The force is continuous and has a kink where the stop is reached.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    lower, upper : float, rad or m, default -1e9 and 1e9 (no stop)
        The range, lower <= upper.
    stiffness : float, >= 0, SI: N.m/rad or N/m
    dissipation : float, >= 0, s/rad or s/m, default 0
        d; about 3/2 of it times the speed of impact is the part of the energy that is lost.

    Returns
    -------
    ``indentation`` (rad or m, x, 0 inside the range), ``potential_energy`` (J) at POSITION.

    Raises
    ------
    SimulationError
        When lower > upper.

    Energy
    ------
    Stored: k x^2 / 2. What the force does beyond that is dissipated, at the rate k x d x_dot^2 while the stop
    pushes, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::MobilityLinearStop``. K. H. Hunt, F. R. E. Crossley, "Coefficient of restitution
    interpreted as damping in vibroimpact", J. Appl. Mech. 42 (1975).

    Examples
    --------
    >>> CoordinateStop(coordinate="hinge", lower=-0.5, upper=0.5, stiffness=1e3, dissipation=0.4).upper
    0.5
    """

    known_as = ("end_stop", "limit")
    laws = contracts.Law.PASSIVE
    tried_with: ClassVar[Mapping[str, Any]] = {"lower": -0.3, "upper": 0.2}

    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    lower = cosim.parameter(
        unit="{q}",
        default=-FAR,
        convert=angle_or_length("rad", "m"),
        description="lower end of the range, rad or m",
    )
    upper = cosim.parameter(
        unit="{q}",
        default=FAR,
        convert=angle_or_length("rad", "m"),
        description="upper end of the range, rad or m",
    )
    stiffness = cosim.parameter(
        unit="{tau}/{q}", minimum=0.0, convert=angle_or_length("N.m/rad", "N/m"), description="N.m/rad or N/m"
    )
    dissipation = cosim.parameter(
        unit="s/{q}",
        default=0.0,
        minimum=0.0,
        convert=angle_or_length("s/rad", "s/m"),
        description="hysteresis, s/rad or s/m",
    )
    dissipated_energy = contracts.dissipated_energy()
    indentation = cosim.cache_slot(description="how far the coordinate is beyond its range, rad or m")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the stop")

    @cosim.kernel(refuses=["the lower end of the range lies above the upper one"])
    def ends(lower, upper):
        return 1.0 if lower > upper else 0.0

    @cosim.kernel
    def energy(q, lower, upper, stiffness, indentation, potential_energy):
        x = max(0.0, q - upper, lower - q)
        indentation[0] = x
        potential_energy[0] = 0.5 * stiffness * x * x

    @cosim.kernel
    def force(q, u, upper, stiffness, dissipation, indentation, tau, dissipated_energy_dot):
        entering = u if q > upper else -u
        elastic = stiffness * indentation
        push = max(0.0, elastic * (1.0 + dissipation * entering))
        tau[0] += -push if q > upper else push
        dissipated_energy_dot[0] = (push - elastic) * entering

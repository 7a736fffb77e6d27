"""Spring between two points whose tension is read from a table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.table import (
    energies_at_points,
    inside,
    integral,
    side_of_corner,
    slopes_at_points,
)
from cosim_mechanics.forces.two_point import TwoPoint
from cosim_signals.curves import value


def rising(lengths: Any) -> Any:
    """Lengths of a table as they are given; ``ValueError`` unless there are two and they rise."""
    if isinstance(lengths, (list, tuple, np.ndarray)):
        if len(lengths) < 2:
            raise ValueError(f"lengths has {len(lengths)} elements, needs at least two")
        numbers = [cosim.parse_quantity(x, "m") if isinstance(x, str) else x for x in lengths]
        if any(not b > a for a, b in itertools.pairwise(numbers)):
            raise ValueError(f"lengths {numbers} do not increase: each must be larger than the one before")
        return numbers
    return lengths


class TabularSpring(TwoPoint):
    """Massless spring between two stations whose tension is given at some lengths, with a linear damper.

    Law: tension = T(length) + c rate. T goes through the points (lengths, tensions); between them it is a
    piecewise cubic that keeps the shape of the table (no overshoot, rising where the table rises), or
    straight lines. Beyond the table it goes on along the tangent at its end, a straight line ("tangent"),
    keeps its last value ("kept"), or has no value, which ends a run that asks for one ("error").

    Frames and signs
    ----------------
    The length is the distance of the stations, positive; a positive tension pulls.

    Limits
    ------
    Straight lines make a force with kinks, and so does a value that is kept. With "error" no evaluation
    inside a step may leave the table: where a motion turns close to its end, give a point beyond.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.
    lengths : array_like, shape (n,), m, rising, n >= 2
    tensions : array_like, shape (n,), N
        As many as lengths. Both may differ between States, n may not.
    damping : float, N.s/m, >= 0, default 0
    interpolation : "monotone" or "linear", default "monotone"
    extrapolation : "tangent", "kept" or "error", default "tangent"
        What the tension is beyond the table.

    Returns
    -------
    ``length`` (m), ``line`` and ``potential_energy`` (J) at POSITION, ``rate`` (m/s) at VELOCITY,
    ``tension`` (N) at DYNAMICS.

    Raises
    ------
    ModelError
        A table of fewer than two points, lengths that do not increase, lists of different lengths.

    Energy
    ------
    Stored: the integral of T from the first length of the table on, exact for the curve that is used.
    Dissipated at the rate c rate^2, integrated in `dissipated_energy`.

    References
    ----------
    F. N. Fritsch, J. Butland, "A method for constructing local monotone piecewise cubic interpolants", SIAM
    J. Sci. Stat. Comput. 5 (1984), with the end slopes of scipy's ``PchipInterpolator``.

    Examples
    --------
    >>> spring = TabularSpring(body1="ground", body2="bob", lengths=[0.1, 0.2, 0.4], tensions=[-5, 0, 30])
    >>> spring.tensions.tolist()
    [-5.0, 0.0, 30.0]
    """

    laws = TwoPoint.laws | contracts.Law.PASSIVE

    tried_with: ClassVar[Mapping[str, Any]] = {"lengths": [0.5, 1.0, 2.0], "tensions": [-5.0, 0.0, 30.0]}

    lengths = cosim.parameter(unit="m", shape="points", convert=rising, description="lengths, rising")
    tensions = cosim.parameter(unit="N", shape="points", description="tension at each length")
    damping = cosim.parameter(
        unit="N.s/m", default=0.0, minimum=0.0, description="tension per rate of lengthening"
    )
    interpolation = cosim.option(
        "monotone", choices=("monotone", "linear"), description="curve between the points"
    )
    extrapolation = cosim.option(
        "tangent", choices=("tangent", "kept", "error"), description="tension beyond the table"
    )
    dissipated_energy = contracts.dissipated_energy()
    slopes = cosim.cache_slot(unit="N/m", shape="points", description="slope of the curve at each length")
    energies = cosim.cache_slot(unit="J", shape="points", description="stored energy at each length")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored since the first length")
    side_of_kink = cosim.cache_slot(unit="m", internal=True)

    @cosim.kernel
    def table(lengths, tensions, interpolation, slopes, energies):
        slopes_at_points(lengths, tensions, interpolation == 1.0, slopes)
        energies_at_points(lengths, tensions, slopes, interpolation == 1.0, energies)

    @cosim.kernel
    def corner(length, lengths, interpolation, extrapolation, side_of_kink):
        side_of_kink[0] = side_of_corner(length, lengths, interpolation == 1.0, extrapolation)

    @cosim.kernel
    def energy(length, lengths, tensions, interpolation, extrapolation, slopes, energies, potential_energy):
        at = inside(length, lengths, extrapolation)
        straight = interpolation == 1.0
        stored = integral(at, lengths, tensions, slopes, energies, straight)
        if at != length:  # the last value is kept from there on
            last = len(lengths) - 1
            stored += (length - at) * value(at, lengths, tensions, slopes, 0, last, straight)
        potential_energy[0] = stored

    @cosim.kernel
    def pull(
        length,
        rate,
        lengths,
        tensions,
        interpolation,
        extrapolation,
        slopes,
        damping,
        tension,
        dissipated_energy_dot,
    ):
        at = inside(length, lengths, extrapolation)
        spring = value(at, lengths, tensions, slopes, 0, len(lengths) - 1, interpolation == 1.0)
        tension[0] = spring + damping * rate
        dissipated_energy_dot[0] = damping * rate * rate

"""Noise of a given bandwidth."""

from __future__ import annotations

import math

import cosim
from cosim_signals.random_numbers import LARGEST_SEED, NO_SEED, normal_number
from cosim_signals.source import Source

REACH = 8
"""A value is made of so many samples on either side."""


def kernel_weight(x: float) -> float:
    """The weight of a sample that is x samples away: a sinc in a sinc window (Lanczos), 0 at whole numbers.

    >>> [round(kernel_weight(x), 3) for x in (0.0, 0.5, 1.0, 8.5)]
    [1.0, 0.633, 0.0, 0.0]
    """
    if x == 0.0:
        return 1.0
    if abs(x) >= REACH:
        return 0.0
    a = math.pi * x
    return math.sin(a) / a * (math.sin(a / REACH) / (a / REACH))


class Noise(Source):
    """Normally distributed noise whose spectrum is flat up to a bandwidth: a function of time.

    Law: value = offset + standard_deviation sum(w_i x_i) / sqrt(sum(w_i^2)), where x_i are independent normal
    numbers at the times i / (2 bandwidth), made from the seed and the number i alone, and w_i a windowed
    sinc of the distance in time. The standard deviation is the same at all times. The one-sided power
    spectral density is standard_deviation^2 / bandwidth, from 0 to 0.9 bandwidth within 10 %; above 1.1
    bandwidth it is nearly 0. The value does not depend on steps or earlier calls, and is the same in every
    run; other seeds give independent noise. The times i / (2 bandwidth) are announced: steps of an adaptive
    integrator end there.

    Held white noise (as Modelica's ``BandLimitedWhiteNoise``) is ``measures.sample_and_hold`` of it, with
    period = 1 / (2 bandwidth): its samples are the independent numbers x_i.

    Limits: derivatives are not known. Fixed steps should be shorter than 1 / (4 bandwidth).

    Parameters
    ----------
    standard_deviation : float, in the unit of the value, >= 0
    bandwidth : float, Hz, > 0
        For a one-sided spectral density S choose standard_deviation = sqrt(S bandwidth).
    seed : int, 0 to 2**53
        A parameter: it may differ between States.
    unit, offset
        As for `Source`; `offset` is the mean.

    References
    ----------
    Modelica Standard Library, ``Blocks.Noise.NormalNoise`` (mu, sigma, samplePeriod) and
    ``BandLimitedWhiteNoise`` (noisePower, samplePeriod), for the parameters. C. E. Duchon, "Lanczos filtering
    in one and two dimensions", J. Applied Meteorology 18 (1979), for the window (not opened here).

    Examples
    --------
    >>> Noise(standard_deviation="3 mm", bandwidth="20 Hz", seed=7).standard_deviation
    0.003
    """

    known_as = ("random", "white_noise")
    start_time = None
    announces_kinks = True

    standard_deviation = cosim.parameter(
        unit="{value}", default=1.0, minimum=0.0, description="root of the mean square around the mean"
    )
    bandwidth = cosim.parameter(
        unit="Hz", default=1.0, minimum=1e-12, description="up to where the spectrum is flat"
    )
    seed = cosim.parameter(
        unit="1", default=0, minimum=0, maximum=LARGEST_SEED, dtype=int, description="which noise it is"
    )
    smooth_until = cosim.cache_slot(unit="s", description="when the next sample comes")

    @cosim.kernel(refuses=[NO_SEED])
    def check(seed):
        return 0.0 if seed == math.floor(seed) else 1.0

    @cosim.kernel
    def interpolate(t, offset, standard_deviation, bandwidth, seed, value):
        samples = 2.0 * bandwidth * t
        before = math.floor(samples)
        place = samples - before
        total = 0.0
        squares = 0.0
        for i in range(1 - REACH, REACH + 1):
            weight = kernel_weight(place - i)
            if weight != 0.0:
                total += weight * normal_number(seed, 0, before + i)
                squares += weight * weight
        value[0] = offset + standard_deviation * total / math.sqrt(squares)

    @cosim.kernel
    def find_next_break(t, bandwidth, smooth_until):
        following = math.floor(2.0 * bandwidth * t) + 1.0
        if following / (2.0 * bandwidth) <= t:
            following += 1.0
        smooth_until[0] = following / (2.0 * bandwidth)

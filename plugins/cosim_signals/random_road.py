"""The profile of a random road."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import cosim
from cosim_signals.random_numbers import LARGEST_SEED, NO_SEED, uniform_pair

WAVES = 256
CLASSES = {letter: 16e-6 * 4.0**i for i, letter in enumerate("ABCDEFGH")}
REFERENCE = 0.1  # 1/m


def roughness_of(value: Any) -> Any:
    """The roughness of a class, or what was given."""
    return CLASSES.get(value, value) if isinstance(value, str) else value


def height(x, wave_numbers, amplitudes, phases):
    """The height of the road at one place."""
    total = 0.0
    for i in range(len(wave_numbers)):
        total += amplitudes[i] * math.cos(wave_numbers[i] * x + phases[i])
    return total


def slopes(x, wave_numbers, amplitudes, phases):
    """The first three derivatives of the height at one place."""
    slope, bend, third = 0.0, 0.0, 0.0
    for i in range(len(wave_numbers)):
        k = wave_numbers[i]
        angle = k * x + phases[i]
        s = amplitudes[i] * math.sin(angle)
        slope -= k * s
        bend -= k * k * amplitudes[i] * math.cos(angle)
        third += k * k * k * s
    return slope, bend, third


class RandomRoad(cosim.Measure):
    """The height of a random road below a wheel that follows it, by the classes of ISO 8608.

    Law: value = sum of a_i cos(k_i x + phase_i), i = 1 … 256, where x = position + speed t + distance. The
    one-sided spectral density of the displacement over the spatial frequency n is roughness
    (n / (0.1 / m))^-waviness between the lowest and the highest one. Frequencies lie in bands of equal
    ratio, at a random place in each, so that the profile does not repeat itself; a_i^2 / 2 is the
    density times the width of the band. Places and phases are made from the seed and the number i alone.
    Three derivatives are known, one of them where it follows a `distance` that has one.

    One seed is one road: a second wheel of the track has the same seed and another `position`, or follows
    another `distance`.

    Parameters
    ----------
    roughness : "A" … "H", or float, m3, >= 0, default "C"
        Spectral density of the displacement at 0.1 / m. A class stands for its geometric mean: A 16e-6,
        B 64e-6, C 256e-6, and so on, four times as much for each.
    waviness : float, default 2
    lowest, highest : float, 1/m, > 0, default 0.011 and 2.83
        Spatial frequencies, cycles per length.
    seed : int, 0 to 2**53
    speed : float, m/s
    position : float, m
        Where on the road it is at t = 0.
    distance : measure or path of a signal, m, optional
        How far it has travelled besides.

    References
    ----------
    ISO 8608:2016, for the classes and the range of frequencies (not opened here). G. Loprencipe, P. Zoccali,
    "Use of generated artificial road profiles in road roughness evaluation", J. Modern Transportation 25
    (2017), doi 10.1007/s40534-017-0122-1, on profiles made of harmonics. M. Agostinacchio, D. Ciampa,
    S. Olita, Eur. Transp. Res. Rev. 6 (2014), doi 10.1007/s12544-013-0127-8, for its formula (8), the
    amplitudes (opened as cited by others).

    Examples
    --------
    >>> RandomRoad(roughness="B", speed="80 km/h", seed=3).roughness
    6.4e-05
    """

    elementwise = False
    conditions: ClassVar[dict[str, Any]] = {
        "follows": lambda part: part.values.attachments["distance"] is not None
    }

    distance = cosim.source(unit="m", optional=True, description="how far it has travelled besides")
    roughness = cosim.parameter(
        unit="m3",
        default="C",
        minimum=0.0,
        convert=roughness_of,
        description="spectral density at 0.1 / m, or a class of ISO 8608",
    )
    waviness = cosim.parameter(unit="1", default=2.0, description="how fast the density falls")
    lowest = cosim.parameter(unit="1/m", default=0.011, minimum=1e-9, description="lowest spatial frequency")
    highest = cosim.parameter(unit="1/m", default=2.83, minimum=1e-9, description="highest spatial frequency")
    seed = cosim.parameter(
        unit="1", default=0, minimum=0, maximum=LARGEST_SEED, dtype=int, description="which road it is"
    )
    speed = cosim.parameter(unit="m/s", default=0.0, description="along the road")
    position = cosim.parameter(unit="m", default=0.0, description="place on the road at t = 0")

    value = cosim.cache_slot(unit="m", description="height of the road")
    wave_numbers = cosim.cache_slot(
        unit="rad/m", shape=WAVES, internal=True, description="angle per length of each wave"
    )
    amplitudes = cosim.cache_slot(unit="m", shape=WAVES, internal=True, description="of each wave")
    phases = cosim.cache_slot(unit="rad", shape=WAVES, internal=True, description="of each wave")

    @cosim.kernel(
        refuses=[NO_SEED, "the lowest spatial frequency is not below the highest one: exchange them"]
    )
    def check(seed, lowest, highest):
        if seed != math.floor(seed):
            return 1.0
        return 0.0 if lowest < highest else 2.0

    @cosim.kernel
    def draw(roughness, waviness, lowest, highest, seed, wave_numbers, amplitudes, phases):
        ratio = math.log(highest / lowest) / WAVES
        for i in range(WAVES):
            begin = lowest * math.exp(ratio * i)
            end = lowest * math.exp(ratio * (i + 1))
            middle = math.sqrt(begin * end)
            density = roughness * math.pow(middle / REFERENCE, -waviness)
            place, turn = uniform_pair(seed, 1, i)
            wave_numbers[i] = 2.0 * math.pi * begin * math.exp(ratio * place)
            amplitudes[i] = math.sqrt(2.0 * density * (end - begin))
            phases[i] = 2.0 * math.pi * turn

    @cosim.kernel(unless="follows")
    def roll(t, speed, position, wave_numbers, amplitudes, phases, value):
        value[0] = height(position + speed * t, wave_numbers, amplitudes, phases)

    @cosim.kernel(unless="follows")
    def derivatives(t, speed, position, wave_numbers, amplitudes, phases, value_dot, value_dot2, value_dot3):
        slope, bend, third = slopes(position + speed * t, wave_numbers, amplitudes, phases)
        value_dot[0] = slope * speed
        value_dot2[0] = bend * speed * speed
        value_dot3[0] = third * speed * speed * speed

    @cosim.kernel(when="follows")
    def follow(t, distance, speed, position, wave_numbers, amplitudes, phases, value):
        value[0] = height(position + speed * t + distance, wave_numbers, amplitudes, phases)

    @cosim.kernel(when="follows")
    def follow_rate(t, distance, distance_dot, speed, position, wave_numbers, amplitudes, phases, value_dot):
        slope = slopes(position + speed * t + distance, wave_numbers, amplitudes, phases)[0]
        value_dot[0] = slope * (speed + distance_dot)

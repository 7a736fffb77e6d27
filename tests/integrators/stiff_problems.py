"""Stiff initial value problems with published solutions at the end.

References: "Test Set for Initial Value Problem Solvers", University of Bari: HIRES as in its file hires.f,
van der Pol with 1/mu^2 = 1e-6 as in its driver for the scaled equation, Robertson, Oregonator and van der Pol
with mu = 1000 as listed with that set's solutions in the R package deTestSet.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


def van_der_pol_block(t, y, p, d, k, h, c, ints, first, count):
    # mu = p[0], time not scaled
    c[0] = y[1]
    c[1] = p[0] * (1.0 - y[0] * y[0]) * y[1] - y[0]
    c[2] += 1.0


def scaled_van_der_pol_block(t, y, p, d, k, h, c, ints, first, count):
    c[0] = y[1]
    c[1] = ((1.0 - y[0] * y[0]) * y[1] - y[0]) / p[0]
    c[2] += 1.0


def robertson_block(t, y, p, d, k, h, c, ints, first, count):
    slow = 0.04 * y[0]
    fast = 1e4 * y[1] * y[2]
    quick = 3e7 * y[1] * y[1]
    c[0] = -slow + fast
    c[1] = slow - fast - quick
    c[2] = quick
    c[3] += 1.0


def hires_block(t, y, p, d, k, h, c, ints, first, count):
    reaction = 280.0 * y[5] * y[7]
    c[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007
    c[1] = 1.71 * y[0] - 8.75 * y[1]
    c[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4]
    c[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3]
    c[4] = -1.745 * y[4] + 0.43 * (y[5] + y[6])
    c[5] = -reaction + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6]
    c[6] = reaction - 1.81 * y[6]
    c[7] = -c[6]
    c[8] += 1.0


def oregonator_block(t, y, p, d, k, h, c, ints, first, count):
    c[0] = 77.27 * (y[1] + y[0] * (1.0 - 8.375e-6 * y[0] - y[1]))
    c[1] = (y[2] - (1.0 + y[0]) * y[1]) / 77.27
    c[2] = 0.161 * (y[0] - y[2])
    c[3] += 1.0


@dataclass(frozen=True)
class StiffProblem:
    """A block, its start and its end; `floor` is the absolute tolerance over the relative one."""

    name: str
    block: Callable[..., None]
    start: tuple[float, ...]
    until: float
    end: tuple[float, ...]
    parameters: tuple[float, ...] = (0.0,)
    floor: float = 1e-3

    def error(self, y: Any) -> float:
        """Largest error, relative to the size of each component (of at least `floor`)."""
        end = np.array(self.end)
        return float((np.abs(y - end) / np.maximum(self.floor, np.abs(end))).max())


PROBLEMS = [
    StiffProblem(
        "van der Pol, mu = 1e3",
        van_der_pol_block,
        (2.0, 0.0),
        2000.0,
        (0.1706167732170469e1, -0.8928097010248125e-3),
        (1e3,),
    ),
    StiffProblem(
        "van der Pol, mu = 1e6 (scaled)",
        scaled_van_der_pol_block,
        (2.0, 0.0),
        2.0,
        (0.1706167732170483e1, -0.8928097010247975),
        (1e-6,),
    ),
    StiffProblem(
        "Robertson",
        robertson_block,
        (1.0, 0.0, 0.0),
        1e11,
        (0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050),
        floor=1e-9,
    ),
    StiffProblem(
        "HIRES",
        hires_block,
        (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057),
        321.8122,
        (
            0.7371312573325668e-3,
            0.1442485726316185e-3,
            0.5888729740967575e-4,
            0.1175651343283149e-2,
            0.2386356198831331e-2,
            0.6238968252742796e-2,
            0.2849998395185769e-2,
            0.2850001604814231e-2,
        ),
        floor=1e-4,
    ),
    StiffProblem(
        "Oregonator",
        oregonator_block,
        (1.0, 2.0, 3.0),
        360.0,
        (0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3),
    ),
]

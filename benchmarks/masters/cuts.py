"""Mechanical systems cut into two participants, and the matrix of the whole, for exact solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import expm

from cosim_fmu.testing.linear_participant import LinearParticipant, Matrix

Link = tuple[str, str]


class MakeParts(Protocol):
    """Makes the two participants, which follow the slopes of their inputs within a step or hold them."""

    def __call__(self, follows: bool) -> dict[str, LinearParticipant]: ...


@dataclass(frozen=True)
class Cut:
    """Two participants ``left`` and ``right``, and the whole system that they make up.

    Attributes
    ----------
    make : callable
        Makes the two participants; its argument says whether they follow slopes of their inputs.
    links : list of (str, str)
    whole : ndarray, shape (n, n)
        z' = whole z, with z the states of left and then those of right.
    start : ndarray, shape (n,)
    """

    make: MakeParts
    links: list[Link]
    whole: Matrix
    start: Matrix

    @property
    def signals(self) -> list[str]:
        """Paths of the states."""
        parts = self.make(False)
        return [f"{name}.x{i}" for name, part in parts.items() for i in range(len(part.start))]

    def exact(self, time: float) -> Matrix:
        """The states at `time` (s)."""
        return self.after(time, self.start)

    def after(self, time: float, states: Matrix) -> Matrix:
        """The states after a time (s)."""
        states_at_time: Matrix = expm(time * self.whole) @ states
        return states_at_time


@dataclass(frozen=True)
class TwoMasses:
    """Two masses on springs and dampers to the ground, and a spring and damper between them.

    Attributes
    ----------
    m1, k1, c1, m2, k2, c2 : float
        Mass (kg), stiffness (N/m) and damping (N.s/m) of the left mass and of the right one.
    k, c : float
        Stiffness and damping of the coupling.
    start : tuple of float
        Position and speed of the left mass, then of the right one: m, m/s.
    """

    m1: float = 1.0
    k1: float = 1.0
    c1: float = 0.0
    m2: float = 1.0
    k2: float = 3.0
    c2: float = 0.0
    k: float = 2.0
    c: float = 0.1
    start: tuple[float, ...] = (1.0, 0.0, 1.0, 0.0)

    @property
    def whole(self) -> Matrix:
        """Both masses and the coupling as one linear system."""
        k, c = self.k, self.c
        return np.array(
            [
                [0.0, 1.0, 0.0, 0.0],
                [-(self.k1 + k) / self.m1, -(self.c1 + c) / self.m1, k / self.m1, c / self.m1],
                [0.0, 0.0, 0.0, 1.0],
                [k / self.m2, c / self.m2, -(self.k2 + k) / self.m2, -(self.c2 + c) / self.m2],
            ]
        )

    def force_and_motion(self) -> Cut:
        """Left has the coupling and gives its force; right gives its motion."""

        def make(follows: bool) -> dict[str, LinearParticipant]:
            right = [[0.0, 1.0], [-self.k2 / self.m2, -self.c2 / self.m2]], [[0.0], [1.0 / self.m2]]
            return {
                "left": self._with_coupling(self.m1, self.k1, self.c1, self.start[:2], follows),
                "right": LinearParticipant(
                    [*right, np.eye(2), np.zeros((2, 1))], ["f"], ["x", "v"], self.start[2:], follows
                ),
            }

        links = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]
        return Cut(make, links, self.whole, np.array(self.start))

    def motion_and_motion(self) -> Cut:
        """Both sides contain the coupling, and return their motion."""

        def make(follows: bool) -> dict[str, LinearParticipant]:
            return {
                "left": self._with_coupling(self.m1, self.k1, self.c1, self.start[:2], follows),
                "right": self._with_coupling(self.m2, self.k2, self.c2, self.start[2:], follows),
            }

        pairs = (("left", "right"), ("right", "left"))
        links = [(f"{one}.{q}", f"{other}.{q}_other") for one, other in pairs for q in "xv"]
        return Cut(make, links, self.whole, np.array(self.start))

    def _with_coupling(
        self, m: float, k: float, c: float, start: tuple[float, ...], follows: bool
    ) -> LinearParticipant:
        a = [[0.0, 1.0], [-(k + self.k) / m, -(c + self.c) / m]]
        b = [[0.0, 0.0], [self.k / m, self.c / m]]
        y = [[1.0, 0.0], [0.0, 1.0], [self.k, self.c]]
        d = [[0.0, 0.0], [0.0, 0.0], [-self.k, -self.c]]
        return LinearParticipant([a, b, y, d], ["x_other", "v_other"], ["x", "v", "force"], start, follows)


STIFF = TwoMasses(m2=0.1, k=1e5, c=10.0)
"""A light mass on a coupling that is a hundred thousand times as stiff as the springs to the ground."""

QUARTER_CAR = TwoMasses(m1=400.0, k1=0.0, m2=40.0, k2=150e3, k=15e3, c=1000.0, start=(-0.1, 0.0, -0.1, 0.0))
"""Chassis (left) and wheel (right) after a step of 0.1 m in the road, from which heights are counted.

Masses, tyre and suspension as the Quarter-Truck demonstration of the Open Simulation Platform gives them
(https://open-simulation-platform.github.io/cosim-demo-app/Quarter-Truck).
"""

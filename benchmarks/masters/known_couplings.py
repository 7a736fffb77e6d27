"""Couplings drawn at random whose exact solutions are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from linear_couplings import DRAWN_KINDS, LinearCoupling, Links, Vector, log_uniform
from scipy.integrate import solve_ivp
from species import Species

from cosim_fmu import CoSimulation

KINDS = ("masses", "pendula", "circuits", "networks", "prey", "cars", "servos", "heat")
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("jacobi", {"extrapolation": 1}),
    ("jacobi", {"extrapolation": 2}),
    ("gauss_seidel", {"extrapolation": 1}),
    ("waveform_iteration", {}),
    ("waveform_iteration", {"hold": "end"}),
    ("waveform_iteration", {"hold": "mean"}),
    ("interface_newton", {}),
    ("adaptive", {"tolerance": 1e-3, "absolute_tolerance": 1e-6}),
    ("adaptive", {"tolerance": 1e-5, "absolute_tolerance": 1e-6}),
]
# A run of a linear system lasts 3, 10 or 40 times sqrt(T_fast T_slow), with T_slow at most 10 T_fast.
# An unstable system grows at a rate below 1/s, and by a factor of at most e^5 in its run.
RUN_LENGTHS = (3, 10, 40)
SLOWEST_RATE_RATIO = 0.1
LARGEST_GROWTH_RATE = 1.0
LARGEST_GROWTH_EXPONENT = 5.0
STEPS = (2e-3, 0.15)
"""The shortest and the longest communication step, in the fastest time constant."""
MOST_STEPS = 700
"""The largest number of steps in a run."""
MOST_FIRST_STEPS = 25
"""The largest ratio of a run to its first step, for algorithms that vary the step."""
SHARE_FOLLOWING_SLOPES = 0.4
"""The probability that the participants of a coupling follow the slopes of their inputs."""


class Problem(NamedTuple):
    """A coupling that no algorithm has been chosen for.

    Attributes
    ----------
    make : callable
        Makes the participants. Its argument is whether they follow the slopes of their inputs within a step;
        if not, they hold the inputs.
    links : list of (str, str)
    exact_outputs : callable
        From times (s) to the values of each connected output.
    until : float
        The end of the run, s.
    fastest_rate : float
        1/s
    """

    make: Callable[[bool], Mapping[str, Any]]
    links: Links
    exact_outputs: Callable[[Vector], dict[str, Vector]]
    until: float
    fastest_rate: float


@dataclass(frozen=True)
class KnownCoupling:
    """A co-simulation and its solution.

    Attributes
    ----------
    kind : str
    make : callable
        Makes the participants; its argument is `follows_slopes`.
    links : list of (str, str)
    exact_outputs : callable
        From times (s) to the values of each connected output.
    until, step : float
        s
    algorithm : str
        The master algorithm.
    options : dict
        The options of the algorithm.
    follows_slopes : bool
        Whether participants follow the slopes of their inputs within a step; if not, they hold the inputs.
    """

    kind: str
    make: Callable[[bool], Mapping[str, Any]]
    links: Links
    exact_outputs: Callable[[Vector], dict[str, Vector]]
    until: float
    step: float
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)
    follows_slopes: bool = False

    def loop(self) -> CoSimulation:
        """The co-simulation."""
        participants = self.make(self.follows_slopes)
        return CoSimulation(participants, self.links, self.algorithm, self.step, options=self.options)


def draw(seed: int) -> KnownCoupling:
    """The coupling of this number; kinds take turns, all else is random."""
    random = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    algorithm, options = ALGORITHMS[int(random.integers(len(ALGORITHMS)))]
    follows_slopes = bool(random.random() < SHARE_FOLLOWING_SLOPES)
    problem = _predator_and_prey(random) if kind == "prey" else _linear(random, DRAWN_KINDS[kind])
    most_steps = MOST_FIRST_STEPS if algorithm == "adaptive" else MOST_STEPS
    step = max(log_uniform(random, *STEPS) / problem.fastest_rate, problem.until / most_steps)
    return KnownCoupling(
        kind=kind,
        make=problem.make,
        links=problem.links,
        exact_outputs=problem.exact_outputs,
        until=problem.until,
        step=problem.until / np.ceil(problem.until / step),
        algorithm=algorithm,
        options=options,
        follows_slopes=follows_slopes,
    )


def _linear(
    random: np.random.Generator, draw_coupling: Callable[[np.random.Generator], LinearCoupling]
) -> Problem:
    """A linear coupling that does not grow too fast; its run ends before it has grown much."""
    while True:
        coupling = draw_coupling(random)
        eigenvalues = np.linalg.eigvals(coupling.matrix)
        growth = float(eigenvalues.real.max())
        if growth < LARGEST_GROWTH_RATE:
            break  # else draw again
    fastest = float(np.abs(eigenvalues).max())
    slow = max(float(np.abs(eigenvalues).min()), SLOWEST_RATE_RATIO * fastest)
    until = float(random.choice(RUN_LENGTHS)) / np.sqrt(fastest * slow)
    if growth > 0.0:
        until = min(until, LARGEST_GROWTH_EXPONENT / growth)
    return Problem(coupling.participants, coupling.links, coupling.solution, until, fastest)


def _predator_and_prey(random: np.random.Generator) -> Problem:
    """Predator and prey (Lotka and Volterra), against a solution of 12 digits."""
    a, c = random.uniform(0.3, 1.5, size=2)
    b, d = random.uniform(0.02, 0.2, size=2)
    # amplitudes of 0.3 to 2.5 equilibria; 0.8 to 6.4 periods of 2 pi / rate
    start = [c / d * random.uniform(0.3, 2.5), a / b * random.uniform(0.3, 2.5)]
    rate = float(np.sqrt(a * c))
    until = float(random.choice([5, 15, 40])) / rate
    solution = solve_ivp(
        lambda t, z: [z[0] * (a - b * z[1]), z[1] * (d * z[0] - c)],
        (0.0, 1.001 * until),  # a little beyond the end, for rounding of times
        start,
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        dense_output=True,
    )

    def make(follows: bool) -> dict[str, Species]:
        return {"prey": Species(a, -b, start[0], follows), "predator": Species(-c, d, start[1], follows)}

    def exact_outputs(times: Vector) -> dict[str, Vector]:
        return dict(zip(("prey.x", "predator.x"), solution.sol(times), strict=True))

    links = [("prey.x", "predator.u"), ("predator.x", "prey.u")]
    return Problem(make, links, exact_outputs, until, rate)

"""The sets of drawn values with which a run reaches its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import cosim
from cosim.testing.drawn_values import drawn_values, write_values

DRAWS = 2
"""Sets of drawn values beside the declared ones."""
TRIED = 6
MOST_STEPS = 5_000
"""With values of another size a law may be so stiff that a run takes minutes: then it is not an example."""
_found: dict[type, tuple[int, ...]] = {}


def usable_draws(case: type, begin: Callable[[int], cosim.Simulator], until: float) -> tuple[int, ...]:
    """Seeds of `drawn_values` with which a run is possible: 0, the declared values, and others.

    A law may refuse values that nothing declares as wrong, and many systems go to infinity in finite time
    from values of another size: these are no examples.

    Parameters
    ----------
    case : type
        The test class; its draws are found once.
    begin : callable
        Makes a simulator with the values of a seed, initialized.
    until : float
        How far it runs, s.
    """
    if case not in _found:
        seeds = [0]
        for seed in range(1, TRIED + 1):
            if len(seeds) <= DRAWS and _runs(begin, seed, until):
                seeds.append(seed)
        _found[case] = tuple(seeds)
    return _found[case]


def first_that_runs(results: Callable[[int], list[str]]) -> list[str]:
    """The results with the first drawn values with which a run ends well; empty if there are none."""
    for seed in range(1, TRIED + 1):
        try:
            return results(seed)
        except cosim.CosimError:
            continue
    return []


def with_drawn_values(
    system: cosim.System,
    accuracy: float,
    part: str,
    values: int,
    inputs: Mapping[str, Any] | None = None,
) -> cosim.Simulator:
    """A simulator that is initialized with other values of a part's own.

    Parameters
    ----------
    system : System
    accuracy : float
    part : str
    values : int
        Seed of `drawn_values`.
    inputs : mapping of str to float, optional
        Of the part, which are drawn around these.
    """
    start = system.default_state()
    for name, value in (inputs or {}).items():
        start[f"{part}.{name}"] = value
    write_values(start, part, drawn_values(start, part, values))
    simulator = cosim.Simulator(system, start, accuracy=accuracy)
    simulator.initialize()
    return simulator


def _runs(begin: Callable[[int], cosim.Simulator], seed: int, until: float) -> bool:
    """Whether a run with these drawn values ends with finite states, in not too many steps."""
    try:
        simulator: Any = begin(seed)
        while simulator.state.time < until:
            status = simulator.advance_some(until)
            if simulator.statistics.integrator_steps > MOST_STEPS:
                return False
            if status.reason is cosim.Reason.REACHED_TERMINATION:
                break
        return bool(np.all(np.isfinite(simulator.state.y)))
    except cosim.CosimError:
        return False

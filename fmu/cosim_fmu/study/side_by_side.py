"""Whether runs of one scenario may go side by side in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.study.run_again import are_same, everything_of


def why_not_side_by_side(couple: Callable[[], CoSimulation], until: float) -> str:
    """Why runs may not go side by side in one process; "" where they may.

    An FMU that allows several instances may keep something that they share all the same: a static variable
    in C. So one run is done alone, and once more with a whole other run in its middle; if any variable of
    any participant differs at any communication point, in any bit, runs disturb each other.

    Parameters
    ----------
    couple : callable
        Makes the co-simulation, with participants of its own.
    until : float
        s
    """
    loop, other = couple(), couple()
    for name, description in loop.descriptions.items():
        if description.only_once:
            return f"{name} can be instantiated only once in a process"
    everything = everything_of(loop, until)
    middle, has_run = 0.5 * (loop.start + until), list[bool]()

    def observe(time: float, values: Mapping[str, float]) -> None:
        if time >= middle and not has_run:
            has_run.append(True)
            other.simulate(until, record=everything, inside="nothing")

    try:
        alone = loop.simulate(until, record=everything, inside="nothing")
        beside = loop.simulate(until, record=everything, inside="nothing", observe=observe)
    except cosim.SimulationError as error:
        return f"whether they may share a process is not known, since a run fails: {error}"
    return "" if are_same(alone, beside) else "runs in one process disturb each other: their values differ"

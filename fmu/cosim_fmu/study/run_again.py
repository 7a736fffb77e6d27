"""A co-simulation that is run again and again with other values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.coupling.communication_points import CommunicationPoints

MOST_NUMBERS = 2**22
"""That are recorded to compare two runs: 32 MB."""
MOST_TRIES = 3
"""To compare; where all of them fail, instances are not reset."""
NUMBERS = ("real", "integer", "boolean")


class RunAgain:
    """Runs a co-simulation with other start values; instances of FMUs are reset where that will do.

    FMI says that a reset instance is as a new one, and not all are: some keep a file, a table, a random
    state. So the second run is done twice, once on instances that were reset after the first one and once
    on new ones; if any variable of any participant differs at any communication point, in any bit, each
    run makes new instances. A difference that shows in other runs only is not seen.

    Parameters
    ----------
    loop : CoSimulation

    Attributes
    ----------
    is_reset : bool or None
        Whether instances are reset; None as long as that is not known.
    """

    def __init__(self, loop: CoSimulation) -> None:
        self.loop = loop
        self.is_reset: bool | None = None
        self._has_begun, self._has_left, self._tries = False, False, 0

    def run(self, values: Mapping[str, float], until: float, signals: Sequence[str]) -> cosim.Result:
        """One run.

        Parameters
        ----------
        values : mapping of str to float
            Start values by path; those of the co-simulation count for all others.
        until : float
            s
        signals : sequence of str
            What is recorded.
        """
        loop = self.loop
        before = {name: dict(starts) for name, starts in loop.start_values.items()}
        try:
            for path, value in values.items():
                participant, _, name = path.partition(".")
                loop.start_values[participant][name] = value
            if self.is_reset is None:
                self._find_out(until)
            self._has_left = False
            result = self._simulate(until, signals)
            self._has_left = True
            return result
        finally:
            loop.start_values.update(before)

    def _simulate(self, until: float, signals: Sequence[str]) -> cosim.Result:
        loop = self.loop
        return loop.simulate(until=until, record=list(signals), inside="nothing", interval=loop.step)

    def _find_out(self, until: float) -> None:
        """Compare, where a run that ended well has left instances to reset."""
        loop = self.loop
        if not self._has_begun:
            loop.settle_order()  # it makes instances of its own
            self._has_begun = True
            if not loop.keep_instances():
                self.is_reset = False
        if not self._has_left:
            return
        everything = everything_of(loop, until)
        self._tries += 1
        try:
            reset = self._simulate(until, everything)
            loop.keep_instances(False)
            loop.keep_instances()
            new = self._simulate(until, everything)
        except cosim.SimulationError:
            loop.keep_instances(False)
            if self._tries < MOST_TRIES:
                loop.keep_instances()
            else:
                self.is_reset = False
            return
        self.is_reset = are_same(reset, new)
        if not self.is_reset:
            loop.keep_instances(False)


def everything_of(loop: CoSimulation, until: float) -> list[str]:
    """Variables of all participants, as many as there is room for; outputs first."""
    found = [
        (variable.causality != "output", f"{participant}.{name}")
        for participant, description in loop.descriptions.items()
        for name, variable in description.variables.items()
        if variable.type in NUMBERS
    ]
    count = CommunicationPoints(loop.start, until, loop.step).count + 1
    found.sort(key=lambda item: item[0])
    return [path for _, path in found[: max(1, MOST_NUMBERS // count)]]


def are_same(one: cosim.Result, other: cosim.Result) -> bool:
    """Whether two runs have the same bits."""
    if one.message != other.message or one.time.tobytes() != other.time.tobytes():
        return False
    return all(_bytes(one[name]) == _bytes(other[name]) for name in one.names)


def _bytes(values: Any) -> bytes:
    return np.ascontiguousarray(values, dtype=np.float64).tobytes()

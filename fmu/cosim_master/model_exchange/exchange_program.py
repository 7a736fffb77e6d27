"""What passes between instances at each evaluation, as operations of `system_calls`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import compile_function
from cosim_fmi.variables.access import Access
from cosim_master.coupling.conversions import conversions
from cosim_master.coupling.link import Link
from cosim_master.model_exchange import loop_calls, system_calls

Port = tuple[str, str]
Vector = NDArray[np.float64]
FEW = 20
"""Values of a loop that is solved at once in plain Python."""


class SolvedLoop:
    """The memory of a closed loop (`loop_calls`).

    Parameters
    ----------
    path : str
        In words.
    names : sequence of str
        ``participant.output`` of each value.
    first : int
        Slot of the first one.
    is_real : bool
        Whether all values are real numbers.
    """

    def __init__(self, path: str, names: Sequence[str], first: int, is_real: bool) -> None:
        self._path, self._names, count = path, list(names), len(names)
        self.row = np.zeros(loop_calls.LOOP, dtype=np.int64)
        self._reals = np.zeros(loop_calls.reals_needed(count))
        self.row[loop_calls.COUNT], self.row[loop_calls.FIRST] = count, first
        self.row[loop_calls.REALS_AT] = self._reals.ctypes.data
        self.row[loop_calls.SUBSTITUTES] = int(not is_real)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All that it remembers."""
        return self.row, self._reals

    def _vector(self, which: int) -> Vector:
        count = len(self._names)
        return self._reals[which * count : (which + 1) * count]

    @property
    def _inverse(self) -> Vector:
        first, count = loop_calls.VECTORS * len(self._names) + 2, len(self._names)
        return self._reals[first : first + count * count]

    def solve(self, first: Vector, passed: Callable[[Vector], Vector]) -> bool:
        """Search in Python, without what is remembered; whether a solution has been found.

        Parameters
        ----------
        first : ndarray
            Values to begin with.
        passed : callable
            What the loop makes of values; the last ones that it gets are the solution.
        """
        at = int(self.row.ctypes.data)
        next_point = loop_calls.next_point
        if len(self._names) > FEW:
            next_point = compile_function(next_point, loop_calls.NEXT_SIGNATURE)
        loop_calls.begin(at, first)
        while (asked := next_point(at, 1)) == loop_calls.TRY:
            loop_calls.take(at, passed(self._vector(loop_calls.TRIED).copy()), True)
        return bool(asked == loop_calls.SOLVED)

    @property
    def steps(self) -> int:
        """Of Newton's method, in the last search."""
        return int(self.row[loop_calls.STEPS])

    @property
    def off(self) -> dict[str, float]:
        """By how much each value was off where the last search gave up."""
        ends = zip(self._names, self._vector(loop_calls.LOST_X), self._vector(loop_calls.LOST_G), strict=True)
        return {name: abs(b - a) for name, a, b in ends}

    @property
    def reason(self) -> str:
        """Why the last search gave up."""
        return {
            loop_calls.NO_REASON: "none was found there, and one at another point since",
            loop_calls.NOT_FINITE: "an output is not finite",
            loop_calls.SINGULAR: "its Jacobian is singular, so that it has no solution or many",
            loop_calls.NOT_FOUND: f"{loop_calls.MOST_STEPS} Newton steps did not find any",
        }[int(self.row[loop_calls.REASON])]

    def why(self) -> str:
        """Why it had no solution last, in a sentence."""
        if self.row[loop_calls.SUBSTITUTES]:
            return f"the loop {self._path} does not settle in {loop_calls.MOST_SWEEPS} substitutions"
        off = ", ".join(f"{name} by {value:.3g}" for name, value in self.off.items())
        return (
            f"the loop {self._path} has no solution that can be found: {self.reason}; off at the end: {off}"
        )

    def memory(self) -> list[list[float]]:
        """Where the next search begins: saved with the states, for the same bits afterwards."""
        known, inverted = self.row[loop_calls.KNOWN], self.row[loop_calls.INVERTED]
        return [
            self._vector(loop_calls.X).tolist() if known else [],
            self._inverse.tolist() if inverted else [],
            self._vector(loop_calls.SIZES).tolist(),
        ]

    def put_back(self, memory: Sequence[Sequence[float]]) -> None:
        """From `memory`."""
        values, inverse, sizes = memory
        self.row[loop_calls.KNOWN], self.row[loop_calls.INVERTED] = bool(values), bool(inverse)
        if values:
            self._vector(loop_calls.X)[:] = values
        if inverse:
            self._inverse[:] = inverse
        self._vector(loop_calls.SIZES)[:] = sizes


class ExchangeProgram:
    """Operations, in the order in which they are done, and what they need.

    Attributes
    ----------
    operations : list of list of int
    accesses : list of (int, Access, int)
        Instance, variables, and the first slot.
    slots : int
    links : list of Link
    loops : list of SolvedLoop
    inputs : dict of (str, str) to int
        Slots of inputs.
    """

    def __init__(self) -> None:
        self.operations: list[list[int]] = []
        self.accesses: list[tuple[int, Access, int]] = []
        self.slots = 0
        self.links: list[Link] = []
        self.loops: list[SolvedLoop] = []
        self.inputs: dict[Port, int] = {}
        self._outputs: dict[Port, int] = {}

    def read(self, part: int, access: Access, ports: Sequence[Port]) -> None:
        """Outputs of one instance into slots of their own."""
        self._access(system_calls.READ, part, access, ports, self._outputs)

    def write(self, part: int, access: Access, links: Sequence[Link]) -> None:
        """From slots of outputs to inputs of one instance."""
        ends = [link.end for link in links]
        self.operations.append([system_calls.PASS_ON, len(self.links), len(links), 0])
        self.links += links
        self._access(system_calls.WRITE, part, access, ends, self.inputs)

    def _access(
        self, kind: int, part: int, access: Access, ports: Sequence[Port], slots: dict[Port, int]
    ) -> None:
        self.operations.append([kind, len(self.accesses), 0, 0])
        self.accesses.append((part, access, self.slots))
        slots.update({port: self.slots + i for i, port in enumerate(ports)})
        self.slots += len(ports)

    def open_loop(self, path: str, names: Sequence[str], is_real: bool) -> list[int]:
        """A loop: its operation, in which the numbers of those that read and pass on are still to be set."""
        self.loops.append(SolvedLoop(path, names, self.slots, is_real))
        opened = [system_calls.SOLVE, len(self.loops) - 1, 0, 0]
        self.operations.append(opened)
        return opened

    def link_words(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Slots and pairs of each link; factor and offset; the pairs: what values of tables become."""
        found = conversions(self.links)
        rows = [
            [self._outputs[link.start], self.inputs[link.end], *place]
            for link, place in zip(self.links, found.places, strict=True)
        ]
        words = np.array(rows, dtype=np.int64).reshape(-1, system_calls.LINK)
        return words, found.scales.reshape(-1, 2), found.pairs.reshape(-1, 2)

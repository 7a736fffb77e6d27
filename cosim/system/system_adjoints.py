"""Adjoints of all that a system computes, back along its schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.recorded_walk import (
    RECORD_SIGNATURE,
    RECORDED_WALK_SIGNATURE,
    REVERSE_SIGNATURE,
    REVERSED_WALK_SIGNATURE,
    record_whole,
    reverse_walk,
)
from cosim.stage import Stage
from cosim.system.blocks import BlockArrays
from cosim.walker import BLOCK_SIGNATURE
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.derivatives.adjoints import Adjoint, adjoint_function
from cosim_compiler.derivatives.tape_ends import clear_tape, has_overflowed
from cosim_compiler.errors import ContractError, NoTangentError

if TYPE_CHECKING:
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
FIRST_TAPE = 20_000
"""Numbers of a tape at first; it grows where it was too short."""


def new_tape(size: int = FIRST_TAPE) -> Reals:
    """A tape on which nothing stands."""
    tape = np.zeros(size)
    clear_tape(tape)
    return tape


def function_adjoint(function: Any) -> Adjoint:
    """The adjoint of a kernel function with the signature of a block.

    Raises
    ------
    NoTangentError
        It cannot be followed; says why.
    """
    try:
        adjoint = adjoint_function(function, BLOCK_SIGNATURE)
    except ContractError as fault:
        raise NoTangentError(str(fault)) from fault
    assert (adjoint.record_signature, adjoint.reverse_signature) == (RECORD_SIGNATURE, REVERSE_SIGNATURE)
    return adjoint


class ReversedWalk(NamedTuple):
    """The adjoints of all that recorded blocks read."""

    y: Reals
    p: Reals
    d: Reals
    c: Reals
    time: float


class SystemAdjoints:
    """Adjoints along the schedule of a system.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    table : ndarray of int64
        As that of the system, twice one below the other: with the addresses of the functions that record,
        and of those that go back.
    refusals : dict of int to str
        By the row of the table, why a block that was needed so far has no adjoint.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self.table: NDArray[np.int64] = np.concatenate([system.table, system.table])
        self.table[:, 0] = 0
        self.refusals: dict[int, str] = {}
        self._known: set[int] = set()
        self._record = native.compile_function(record_whole, RECORDED_WALK_SIGNATURE)
        self._reverse = native.compile_function(reverse_walk, REVERSED_WALK_SIGNATURE)
        self._tape = new_tape()

    def prepare(self, rows: Iterable[int]) -> dict[int, str]:
        """Make the adjoints of blocks; why some of them have none."""
        rows = list(rows)
        system, new_rows = self._system, [i for i in rows if i not in self._known]
        adjoints: dict[int, Adjoint] = {}
        for i in new_rows:
            try:
                adjoints[i] = function_adjoint(system.tangents.function_of(i))
            except NoTangentError as fault:
                self.refusals[i] = str(fault)
        records = [(adjoint.record, adjoint.record_signature) for adjoint in adjoints.values()]
        compile_ahead(
            records + [(adjoint.reverse, adjoint.reverse_signature) for adjoint in adjoints.values()]
        )
        for i, adjoint in adjoints.items():
            record_address = native.function_address(adjoint.record, adjoint.record_signature)
            reverse_address = native.function_address(adjoint.reverse, adjoint.reverse_signature)
            self.table[i] = record_address, *system.table[i, 1:]
            self.table[len(system.table) + i] = reverse_address, *system.table[i, 1:]
        self._known.update(new_rows)
        return {i: self.refusals[i] for i in rows if i in self.refusals}

    def along(
        self,
        state: State,
        weights: Reals,
        by: Mapping[str, Reals] | None = None,
        last: Stage = Stage.REPORT,
        time: float = 0.0,
    ) -> dict[str, Any]:
        r"""The adjoints of a weighted sum of all that the system computes.

        Parameters
        ----------
        state : State
            Realized to `last`; it is not changed.
        weights : ndarray
            Weights of the cache, which begins with y_dot.
        by : mapping of str to ndarray, optional
            A direction, by the letters of `Slot`: if both sides of an ``==`` are equal, but move apart along
            it, they count as different. By default everything moves.
        last : Stage
            The stage up to which adjoints are computed.
        time : float
            The direction of the time.

        Returns
        -------
        dict of str to ndarray or float
            By ``"y"``, ``"p"``, ``"d"`` and ``"time"``.

        Raises
        ------
        NoTangentError
            A block has no adjoint.
        """
        system = self._system
        first, end = system.block_range(Stage.TOPOLOGY, last)
        for row, reason in self.prepare(range(first, end)).items():
            raise NoTangentError(f"{', '.join(system.tangents.block_of(row).owners)}: {reason}")
        state.realize(last)
        direction = by or _directions(state)
        sizes = {letter: state.arrays[letter].size for letter in "ypd"}
        ends = [*(np.zeros(size) for size in sizes.values()), np.array(weights, dtype=float)]
        roots = self.reverse_walk(state, first, end, ends, direction, time)
        return {"y": roots.y, "p": roots.p, "d": roots.d, "time": roots.time}

    def reverse_walk(
        self,
        state: State,
        first: int,
        last: int,
        weights: Sequence[Reals],
        by: Mapping[str, Reals],
        time: float,
    ) -> ReversedWalk:
        """Record prepared rows, and go back along them.

        `weights` are the adjoints of y, p, d and the cache at the end; `by` may have ``"c"``. Histories are
        fixed.
        """
        system = self._system
        while True:
            values = BlockArrays(*map(np.array, system.arrays(state)))
            moved = [np.array(by[letter], dtype=float) for letter in "ypd"]
            c_dot = np.array(by["c"]) if "c" in by else np.zeros_like(values.c)
            past = np.zeros_like(values.h)
            clear_tape(self._tape)
            with np.errstate(all="ignore"):
                failed = int(
                    self._record(
                        self.table,
                        system.ints,
                        first,
                        last,
                        state.time,
                        *values,
                        time,
                        *moved,
                        past,
                        c_dot,
                        self._tape,
                    )
                )
            if not has_overflowed(self._tape):
                break
            self._tape = new_tape(4 * self._tape.size)
        if failed:
            raise system.failure(state, failed - 1)
        y, p, d, c = (np.array(array, dtype=float) for array in weights)
        with np.errstate(all="ignore"):
            t_bar = float(self._reverse(y, p, d, np.zeros_like(past), c, self._tape))
        return ReversedWalk(y, p, d, c, t_bar)


def _directions(state: State) -> dict[str, Reals]:
    """A direction along which every number moves, each by another amount."""
    draw = np.random.default_rng(0)
    return {letter: draw.uniform(0.5, 1.5, state.arrays[letter].size) for letter in "ypd"}

"""Tangents of all that a system computes, by its states, parameters, inputs and the time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.system.blocks import (
    Block,
    BlockArrays,
    Slot,
)
from cosim.walker import (
    BLOCK_SIGNATURE,
    HISTORIES,
    LANE_TANGENT_SIGNATURE,
    TANGENT_SIGNATURE,
    TANGENT_WALK_SIGNATURE,
    WalkedDots,
    follow_walk,
)
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.calls import gathering
from cosim_compiler.errors import ContractError, NoTangentError

if TYPE_CHECKING:
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
INCREMENT = 6.0554544523933429e-6
"""Relative step of differences: the cube root of the spacing of numbers."""


def kernel_of(block: Block) -> Any:
    """The kernel function of a block; `NoTangentError` where it is plain Python."""
    if block.is_python:
        raise NoTangentError(f"{block.label}: it is plain Python")
    return block.function


def block_tangent(block: Block) -> Any:
    """The tangent of a block, a kernel function with `TANGENT_SIGNATURE`.

    Histories do not vary: their tangents are not read, and any view may stand in their place.

    Raises
    ------
    NoTangentError
        The block has no tangent; the message says why.
    """
    return function_tangent(kernel_of(block))


def function_tangent(
    function: Any, with_histories: bool = False, refuses_jumps: bool = False, lanes: int = 0
) -> Any:
    """The tangent of a kernel function with the signature of a block; see `tangent_function`.

    Raises
    ------
    NoTangentError
        The function has no tangent; the message says why.
    """
    from cosim_compiler.derivatives.tangents import NONE, tangent_function  # most runs need none

    try:
        tangent, signature = tangent_function(
            function,
            BLOCK_SIGNATURE,
            unread=NONE if with_histories else HISTORIES,
            refuses_jumps=refuses_jumps,
            lanes=lanes,
        )
    except ContractError as fault:
        raise NoTangentError(str(fault)) from fault
    assert signature == (LANE_TANGENT_SIGNATURE if lanes > 0 else TANGENT_SIGNATURE)
    return tangent


@gathering(("t", *"ypdkhc", "ints", "first", "count", *(f"{name}_dot" for name in WalkedDots._fields)))
def leave_constant(*arguments):
    """The tangent of a block in plain Python that computes a constant, which is in the cache already."""


def is_constant(block: Block) -> bool:
    """Whether a block in plain Python reads nothing and is called once a run."""
    return block.is_python and not block.reads and block.stage <= Stage.INSTANCE


class SystemTangents:
    """Tangents along the schedule of a system: exact, except for blocks without a tangent.

    These are differentiated one by one, by differences; `differences` names them.

    Parameters
    ----------
    system : System
    with_histories : bool
        Whether histories vary with a direction; otherwise the past is fixed.

    Attributes
    ----------
    differences : dict of int to str
        By the row of the table the reason why a block has no tangent, of those that were prepared.
    table : ndarray of int64
        The table of the system with the addresses of the tangents that were prepared in place of blocks.
    functions : dict of int to function
        By the row of the table these tangents.
    """

    def __init__(self, system: System, with_histories: bool = False) -> None:
        self._system, self.with_histories = system, with_histories
        self.table: NDArray[np.int64] = system.table.copy()
        self.table[:, 0] = 0
        self.differences: dict[int, str] = {}
        self.functions: dict[int, Any] = {}
        self._known: set[int] = set()
        self._walk = native.compile_function(follow_walk, TANGENT_WALK_SIGNATURE)

    def prepare(self, rows: Iterable[int]) -> dict[int, str]:
        """Make the tangents of some rows; by row the reasons why there are none."""
        system, new_rows = self._system, [i for i in rows if i not in self._known]
        functions = {}
        for i in new_rows:
            try:
                self.functions[i] = functions[i] = self._tangent_of_row(i)
            except NoTangentError as fault:
                self.differences[i] = str(fault)
        compile_ahead([(function, TANGENT_SIGNATURE) for function in functions.values()])
        for i, function in functions.items():
            self.table[i] = native.function_address(function, TANGENT_SIGNATURE), *system.table[i, 1:]
        self._known.update(new_rows)
        return {i: self.differences[i] for i in rows if i in self.differences}

    def table_in_lanes(self, rows: Iterable[int], lanes: int) -> NDArray[np.int64]:
        """The table with addresses of the tangents of some rows in so many lanes; 0 where a row has none."""
        functions = {}
        for i in rows:
            with suppress(NoTangentError):
                functions[i] = self._tangent_of_row(i, lanes)
        compile_ahead([(function, LANE_TANGENT_SIGNATURE) for function in functions.values()])
        table = self._system.table.copy()
        table[:, 0] = 0
        for i, function in functions.items():
            table[i, 0] = native.function_address(function, LANE_TANGENT_SIGNATURE)
        return table

    def _tangent_of_row(self, row: int, lanes: int = 0) -> Any:
        """The tangent of a block, or of a correction, which has no histories."""
        is_block = row not in self._corrections
        if is_block and is_constant(self.block_of(row)):
            return leave_constant
        is_handler = row in self._system.handler_blocks.values()
        with_histories = is_block and self.with_histories
        return function_tangent(self.function_of(row), with_histories, is_handler, lanes)

    @property
    def _corrections(self) -> range:
        """The rows of the table that correct a solution."""
        first, projection = len(self._system.blocks), self._system.assembly.projection
        return range(first, first if projection is None else first + len(projection.all))

    def constants(self) -> list[Slot]:
        """Where results of constant blocks lie."""
        return [slot for block in self._system.blocks if is_constant(block) for slot in block.writes]

    def function_of(self, row: int) -> Any:
        """The kernel function of a block, or of a correction of solutions.

        Raises
        ------
        NoTangentError
            It is plain Python.
        """
        system = self._system
        if row in self._corrections:
            correction, _ = system.assembly.projection.all[row - len(system.blocks)]
            return correction
        return kernel_of(self.block_of(row))

    def block_of(self, row: int) -> Block:
        """The block of a row of the table that is none of the corrections."""
        system = self._system
        first = len(system.table) - len(system.inner_blocks)  # where the inner ones stand once more
        block: Block = system.blocks[system.inner_blocks[row - first] if row >= first else row]
        return block

    def along(
        self,
        state: State,
        time: float = 0.0,
        y: Reals | None = None,
        p: Reals | None = None,
        d: Reals | None = None,
        last: Stage = Stage.REPORT,
    ) -> Reals:
        """The tangents of the cache along a direction; they begin with those of y_dot.

        Parameters
        ----------
        state : State
            Realized to `last`; it is not changed.
        time : float
            The tangent of the time.
        y, p, d : ndarray, optional
            The tangents of states, parameters and discrete variables; zeros by default.
        last : Stage
            The stage up to which tangents are computed.
        """
        system = self._system
        state.realize(last)
        values = BlockArrays(*map(np.array, system.arrays(state)))
        moved = [np.zeros_like(a) if m is None else np.asarray(m, dtype=float).copy() for a, m in
                 zip((values.y, values.p, values.d), (y, p, d), strict=True)]  # fmt: skip
        c_dot = np.zeros_like(values.c)
        first_stage = Stage.TIME if p is None and d is None else Stage.TOPOLOGY
        first, end = system.block_range(first_stage, last)
        self.prepare(range(first, end))
        at = first
        while at < end:
            until = min((i for i in self.differences if at <= i < end), default=end)
            if until > at:
                self.follow(state, at, until, values, (time, *moved, values.h, c_dot))
            if until < end:
                self._add_differences(state, until, values, (time, *moved), c_dot)
            at = until + 1
        return c_dot

    def moved(
        self, state: State, by: Mapping[str, Any], y: Reals | None = None, last: Stage = Stage.REPORT
    ) -> dict[str, Reals]:
        """The tangents of all real arrays of a system, by the letters of `Slot`.

        Parameters
        ----------
        state : State
        by : mapping of str to float or array_like
            The tangents of states, parameters, inputs and discrete variables, by their paths; ``"time"`` for
            the time.
        y : ndarray, optional
            The tangents of the states, in place of paths.
        last : Stage
            The stage up to which tangents are computed.
        """
        system = self._system
        moved = {array: np.zeros(state.arrays[array].size) for array in "ypd"}
        if y is not None:
            moved["y"][:] = y
        for path, direction in by.items():
            if path != "time":
                slot = system.written_slot(path)
                values = np.ravel(np.asarray(direction, dtype=float))
                moved[slot.array][slot.offset : slot.offset + slot.size] = values
        only_states = not (moved["p"].any() or moved["d"].any())
        p, d = (None, None) if only_states else (moved["p"], moved["d"])
        moved["c"] = self.along(state, float(by.get("time", 0.0)), moved["y"], p, d, last)
        return moved

    def read(self, moved: Mapping[str, Reals], paths: Sequence[str]) -> Reals:
        """The tangents of signals, one behind the other; zeros of whole numbers."""
        slots = [self._system.signal(path).slot for path in paths]
        parts = [
            moved[s.array][s.offset : s.offset + s.size] if s.array in moved else np.zeros(s.size)
            for s in slots
        ]
        return np.concatenate([np.zeros(0), *parts])

    def follow(self, state: State, first: int, last: int, values: Any, moved: Any) -> None:
        """Walk the tangents of prepared rows, on these arrays and their tangents."""
        system = self._system
        with np.errstate(all="ignore"):
            failed = int(self._walk(self.table, system.ints, first, last, state.time, *values, *moved))
        if failed:
            raise system.failure(state, failed - 1)

    def _add_differences(self, state: State, row: int, values: BlockArrays, moved: Any, c_dot: Reals) -> None:
        """Write the differences of one block into `c_dot`."""
        system, block = self._system, self.block_of(row)
        time, *directions = moved
        directions = [*directions, None, None, c_dot]
        step = min(
            (
                float((np.maximum(1.0, abs(a[m != 0.0])) / abs(m[m != 0.0])).min())
                for a, m in zip(values, directions, strict=True)
                if m is not None and m.any()
            ),
            default=np.inf,
        )
        if time != 0.0:
            step = min(step, max(1.0, abs(state.time)) / abs(time))
        written = [slot for slot in (*block.writes, *block.adds) if slot.array == "c"]
        if not np.isfinite(step):
            for slot in written:
                c_dot[slot.offset : slot.offset + slot.size] = 0.0
            return
        step *= INCREMENT
        ends = []
        for sign in (step, -step):
            moved_values: list[Any] = [
                a.copy() if m is None else a + sign * m for a, m in zip(values, directions, strict=True)
            ]
            arrays = BlockArrays(*moved_values)
            failed = system.walk_blocks(system.table, row, row + 1, state.time + sign * time, arrays)
            if failed:
                raise system.failure(state, failed - 1)
            ends.append(arrays.c)
        above, below = ends
        for slot in written:
            part = slice(slot.offset, slot.offset + slot.size)
            c_dot[part] = (above[part] - below[part]) / (2.0 * step)

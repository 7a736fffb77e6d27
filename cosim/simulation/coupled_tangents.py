"""Tangents of a system in a co-simulation: its inputs change between the pieces of its run, and vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.derivatives import tangent_exchange
from cosim.derivatives.carrier import IS_REPORT, NOT_FRESH, Carrier, CarryNotes
from cosim.derivatives.tangent_cache import realize_tangents
from cosim.derivatives.tangent_exchange import EXCHANGE_SIGNATURE
from cosim.preparation.tangent_tables import CONSTANT
from cosim.simulation.carried_tangents import CarriedTangents
from cosim.simulation.saved_tangents import pack, restore
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.system.state import State

Reals = NDArray[np.float64]


class Piece(NamedTuple):
    """A part of a run between two exchanges."""

    records: Reals  # of the tape
    discrete: Reals  # the discrete variables, inputs among them, with which it has begun
    parameters: Reals


class CoupledTangents(CarriedTangents):
    """Tangents that follow a run piece by piece, when it is known how the inputs vary.

    A piece may be followed again, after `restore`.

    Parameters
    ----------
    step : CompiledStep
    directions : int
    own : mapping of int to str
        By the number of a direction the path of what varies in this system itself.
    """

    def __init__(self, step: CompiledStep, directions: int, own: Mapping[int, str]) -> None:
        super().__init__(step, list(own.values()), directions=directions)
        entries = [
            (function, EXCHANGE_SIGNATURE)
            for function in (tangent_exchange.meet_exchange_by_address, tangent_exchange.evaluate_by_address)
        ]
        compile_ahead(entries)
        self._meet, self._evaluate = (native.compile_function(*entry) for entry in entries)
        self._own = list(own)
        self._records: list[Reals] = []
        self._begun = np.zeros(0), np.zeros(0)

    def _set_directions(self) -> None:
        for i, slot in zip(self._own, self._slots, strict=True):
            self._dots(slot.array)[i, slot.offset] = 1.0

    def _dots(self, letter: str) -> Reals:
        """The tangents of an array, shape (directions, numbers): a view."""
        dots: Reals = self._arrays[f"{letter}_dots"].reshape(1 + self.directions, -1)[1:]
        return dots

    # while the system runs

    def start(self, state: State) -> None:
        super().start(state)
        self.start_piece(state)

    def start_piece(self, state: State) -> None:
        """The inputs are set, and the system is about to go on."""
        self._records, self._begun = [], (state.arrays["d"].copy(), state.arrays["p"].copy())

    def end_piece(self) -> Piece:
        """The records since the piece began; the tape must have been read."""
        records = [np.zeros(0), *self._records]
        self._records = []
        return Piece(np.concatenate(records), *self._begun)

    def read_tape(self, is_last: bool) -> Reals:
        """Put aside what the tape has; the events and findings on it."""
        used = int(self._step.arrays.output.log_used)
        if used == 0:
            return np.zeros(0)
        self._records.append(self._log[:used].copy())
        kept = self._retain_events(self._step, used)
        self._step.arrays.output.log_used = 0
        events: Reals = self._log[:kept].copy()
        return events

    # later

    def save(self) -> dict[str, NDArray[Any]]:
        """The tangents as they are, for `restore`."""
        return {name: array.copy() for name, array in self._arrays.items() if name not in CONSTANT}

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Restore the arrays of the tangents that were saved."""
        for name, array in saved.items():
            if self._arrays[name].size == array.size:
                self._arrays[name][:] = array
            else:
                self._arrays[name] = array.copy()

    def to_bytes(self, state: State) -> bytes:
        """The tangents between two pieces, for `from_bytes`; those of this State."""
        return pack(state, self.by, self._arrays)

    def from_bytes(self, data: bytes, state: State) -> None:
        """Go on with tangents of another run, at the State that it had.

        Raises
        ------
        ModelError
            They are derivatives by other variables, or of another State.
        StateError
            They are damaged, or of another integrator.
        """
        restore(self._system, state, data, self.by, self._arrays)
        self._load_constants(state)
        self._notes = rows_of(CarryNotes, self._arrays["notes_numbers"], 0, 1)[0]

    def set_inputs(self, names: Sequence[str], dots: Reals, slopes: Reals | None = None) -> None:
        """The tangents of inputs or parameters, and of slopes of inputs: shape (directions, inputs)."""
        p_dots, d_dots = self._dots("p"), self._dots("d")
        for j, name in enumerate(names):
            slot = self._system.written_slot(name)
            if slot.array == "p":
                p_dots[:, slot.offset] = dots[:, j]
                continue
            value, slope, since = self._line(name)
            d_dots[:, value], d_dots[:, slope], d_dots[:, since] = dots[:, j], 0.0, 0.0
            if slopes is not None:
                d_dots[:, slope] = slopes[:, j]
        self._notes.freshness = NOT_FRESH

    def _line(self, name: str) -> tuple[int, int, int]:
        return self._system.written_slot(name).offset, *self._system.course_offsets(name)

    def follow(self, piece: Piece, end: float) -> None:
        """Move the tangents over a piece, to its end (s), where inputs are held again."""
        arrays, step = self._arrays, self._step
        arrays["d"][:], arrays["p"][:] = piece.discrete, piece.parameters
        self._notes.freshness = NOT_FRESH
        used = piece.records.size
        if used > self._log.size:
            self._log = np.zeros(2 * used)
            step._use_arrays({"log": self._log})  # noqa: SLF001
        self._log[:used] = piece.records
        width = int(step.arrays.chosen.values) * self.directions
        if arrays["rows"].size < width:
            arrays["rows"] = np.zeros(16 * width)
        before = -1
        while True:
            with np.errstate(all="ignore"):
                at = self._read(step, used, True)
            self._notes.rows_used = 0.0
            if self._notes.needs_room:
                self._lengthen_histories()
            elif at in (used, before):
                break
            before = at
        self._notes.log_used = 0.0
        self._call(tangent_exchange.meet_exchange, self._meet)
        self._hold_inputs(end)

    def _hold_inputs(self, end: float) -> None:
        """Move the tangents of inputs along their lines, to a time at which they are held again."""
        values, slopes, since = self._system.input_lines
        d, d_dots = self._arrays["d"], self._dots("d")
        running = ~np.isnan(d[slopes])
        if running.any():
            values, slopes, since = values[running], slopes[running], since[running]
            d_dots[:, values] += (end - d[since]) * d_dots[:, slopes]
            d_dots[:, slopes] = 0.0

    def read(self, names: Sequence[str], discrete: Reals) -> Reals:
        """The tangents of signals at the present time, with these discrete variables.

        Returns
        -------
        ndarray, shape (directions, signals)
        """
        if not np.array_equal(self._arrays["d"], discrete, equal_nan=True):
            self._arrays["d"][:] = discrete
            self._notes.freshness = NOT_FRESH
        self._call(lambda run, arrays: realize_tangents(run, arrays, IS_REPORT), self._evaluate)
        tangents = np.zeros((self.directions, len(names)))
        if self._notes.lost:
            return tangents + np.nan
        for j, name in enumerate(names):
            slot = self._system.signal(name).slot
            if slot.array in "ypdc":
                tangents[:, j] = self._dots(slot.array)[:, slot.offset]
        return tangents

    def _call(self, plain: Any, compiled: Any) -> None:
        """Call a function on the arrays of the run and of its tangents."""
        with np.errstate(all="ignore"):
            if native.is_plain():
                plain(self._step.arrays, Carrier(**self._arrays))
            else:
                compiled(self._step.head_address, self._carrier_address())

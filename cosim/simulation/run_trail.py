"""Gradients of numbers that follow from a run: its trail, and going back along it."""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.history import ENTRY_WIDTH, Ring
from cosim.derivatives import adjoint_run, trail_writer
from cosim.derivatives import recorded_field as recorded_field
from cosim.derivatives.adjoint_run import REVERSE_RUN_SIGNATURE
from cosim.derivatives.carrier import ALONG, Carrier
from cosim.derivatives.trail import FULL_TAPE, AdjointArrays, TrailNotes
from cosim.errors import ModelError, Problem, SimulationError
from cosim.preparation.adjoint_tables import (
    faults_of_adjoints,
    method_adjoints,
    recorded_holds,
    start_adjoint_arrays,
)
from cosim.simulation.carried_tangents import CarriedTangents
from cosim.simulation.gradient import Gradient
from cosim.simulation.objectives import Objective, value_of
from cosim.simulation.past_trail import Lengthened, PastTrail
from cosim.simulation.result import Result
from cosim.system.system_adjoints import new_tape
from cosim_compiler import native
from cosim_compiler.ahead import compile_ahead
from cosim_compiler.array_groups import ReusedHead, head_of
from cosim_compiler.convention import address_of
from cosim_compiler.errors import FullTapeError
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.preparation.compiled_step import CompiledStep
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
TRAIL_LENGTH = 4_000_000
"""Numbers of the trail that are written at once: 32 MB."""
PAST = "h", "h_dots"
"""The arrays of histories, and of their tangents, direction by direction."""
TRACE = trail_writer.trace_by_address, trail_writer.TRACE_SIGNATURE
REVERSE_RUN = adjoint_run.reverse_run_by_address, REVERSE_RUN_SIGNATURE
AGREES, AGREES_HELD = 1e-7, 1e-5
"""By so much of the sizes of what is added up the gradient and the tangent along one direction may differ.

What holds witnesses is made of differences, in which rounding counts for more.
"""


class Trail(CarriedTangents):
    """The trail of a run, from which gradients are computed.

    Parameters
    ----------
    step : CompiledStep
    by : sequence of str
        Paths of parameters, start values, inputs and discrete variables; an array counts as a whole.

    Raises
    ------
    ModelError
        Something in the system has no adjoint, or a path stands for nothing that varies.
    """

    _stays_in_lanes = False  # the trail reads single directions

    def __init__(self, step: CompiledStep, by: Sequence[str]) -> None:
        super().__init__(step, by, directions=1)
        self._arrays["order_copies"] = np.zeros(0)  # going back follows the handlers of an instant at once
        system, run = self._system, step.arrays
        held = step.tables.held if self._follows_holds else None
        methods, problems = method_adjoints(step.integrator, system)
        problems += faults_of_adjoints(system, held)
        if problems:
            raise ModelError(problems)
        compile_ahead([*methods.values(), TRACE, REVERSE_RUN])
        self._trace, self._reverse = (native.compile_function(*each) for each in (TRACE, REVERSE_RUN))
        self._back = start_adjoint_arrays(system, run, self._arrays, methods)
        if held is not None:
            self._back |= recorded_holds(system, run, held)
        draw = np.random.default_rng(0)
        self._direction = [draw.uniform(0.5, 1.5, slot.size) for slot in self._slots]
        self._past_trail, self._back_head = PastTrail(), ReusedHead()

    def renewed(self) -> Trail:
        """A trail for another run, with its own arrays, so that results of earlier runs keep theirs."""
        other = copy.copy(self)
        other._arrays = {name: a if name == "table" else a.copy() for name, a in self._arrays.items()}
        other._back = {name: a if name == "table" else a.copy() for name, a in self._back.items()}
        other._past_trail, other._head, other._back_head = PastTrail(), ReusedHead(), ReusedHead()
        return other

    def _faults_of_paths(self) -> list[Problem]:
        problems = []
        for path in self.by:
            if self._system.written_slot(path).array not in "ypd":
                problems.append(Problem(path, "is a whole number: nothing has a derivative by it"))
            elif self._system.signal(path).declaration.kind == "option":
                problems.append(Problem(path, "is an option: nothing has a derivative by it"))
        return problems

    def start(self, state: State) -> None:
        self._past_trail = PastTrail()
        self._back["trail"] = np.zeros(TRAIL_LENGTH)
        self._back["notes_numbers"][:] = 0.0
        self._trail_notes = rows_of(TrailNotes, self._back["notes_numbers"], 0, 1)[0]
        super().start(state)
        self._store_past()

    def _store_past(self) -> None:
        """Store what is in histories now, and their tangents along the one direction."""
        part = slice(self._arrays["h"].size // 2, None)
        self._back["known_past"] = np.concatenate([self._arrays[name][part] for name in PAST])

    def _lengthen_histories(self) -> None:
        """Lengthen histories and their tangents; store the former ones and the order of their entries."""
        order = [
            ENTRY_WIDTH * entries[:, None] + ring.start + np.arange(ENTRY_WIDTH)
            for ring, entries in self._rings()
        ]
        before = {name: self._arrays[name].copy() for name in PAST}
        super()._lengthen_histories()
        places = [
            ring.start + np.arange(old.size).reshape(old.shape)
            for old, (ring, _) in zip(order, self._rings(), strict=True)
        ]
        notes = self._trail_notes
        self._past_trail.append(self._back["trail"][: int(notes.used)].copy())
        self._past_trail.append(Lengthened(before, order, places))
        notes.used = notes.last_step = 0.0
        self._store_past()

    def _rings(self) -> list[tuple[Any, NDArray[np.int64]]]:
        """Histories along the one direction, and where each entry lies in its stretch, the oldest first."""
        k = self._arrays["k"].reshape(2, -1)[ALONG]
        rings = [rows_of(Ring, k, slot.offset, 1)[0] for slot in self._system.rings]
        return [(ring, (ring.oldest + np.arange(ring.capacity)) % ring.capacity) for ring in rings]

    def _set_directions(self) -> None:
        for slot, direction in zip(self._slots, self._direction, strict=True):
            at = ALONG * self._arrays[slot.array].size + slot.offset
            self._arrays[f"{slot.array}_dots"][at : at + slot.size] = direction

    def _read(self, step: CompiledStep, used: int, is_last: bool) -> int:
        """Read the tape, and write the trail of what it has; a full trail is put aside."""
        notes = self._trail_notes
        while True:
            notes.is_full = 0.0
            if native.is_plain():
                carrier, back = Carrier(**self._arrays), AdjointArrays(**self._back)
                end = int(trail_writer.trace(step.arrays, carrier, back, used, is_last))
            else:
                addresses = self._carrier_address(), self._back_head.address_of(AdjointArrays(**self._back))
                end = int(self._trace(step.head_address, *addresses, used, int(is_last)))
            if notes.is_full == 0.0:
                return end
            self._start_next_piece()

    def _start_next_piece(self) -> None:
        """The trail is full: put aside what stands before its last step."""
        notes, written = self._trail_notes, self._back["trail"]
        used, cut = int(notes.used), int(notes.last_step)
        if cut == 0:
            self._back["trail"] = np.concatenate([written, np.zeros(written.size)])
            return
        self._past_trail.append(written[:cut])  # no copy: new memory costs as much as what is written to it
        following = np.zeros(written.size)
        following[: used - cut] = written[cut:used]
        self._back["trail"] = following
        notes.used, notes.last_step = float(used - cut), 0.0

    def end(self, paths: Sequence[str]) -> None:
        """The run is over; it has recorded these signals."""
        self._paths = list(paths)
        self._past_trail.append(self._back["trail"][: int(self._trail_notes.used)])
        self._back["trail"] = np.zeros(0)
        self._last_parameters = self._arrays["p"].copy()
        self._last_past = {name: self._arrays[name].copy() for name in PAST}
        choice = self._step.arrays.choice.copy()
        self._run = self._step.arrays._replace(choice=choice)
        self._rows = self._row_numbers()

    def gradient(self, objective: str | Objective, result: Result) -> Gradient:
        """The gradient of an objective of the run that has left this trail; see `Result.gradient`."""
        value, cotangents = value_of(objective, result)
        weights = self._weights(cotangents, len(result))
        if self.have_ended:
            derivatives = {path: np.full(slot.size, math.nan) for path, slot in self._named_slots()}
        else:
            while not self._reverse_run(weights):
                self._back["tape"] = new_tape(4 * self._back["tape"].size)
            derivatives = {
                path: self._back[slot.array][slot.offset : slot.offset + slot.size].copy()
                for path, slot in self._named_slots()
            }
            self._compare(derivatives, weights)
        return Gradient(value, result, derivatives)

    def _named_slots(self) -> Iterator[tuple[str, Any]]:
        """The named variables, each with the slot it is written to."""
        return zip(self.by, self._slots, strict=True)

    def _weights(self, cotangents: Mapping[str, Reals], rows: int) -> Reals:
        """The cotangents of all recorded values, row by row, 0 where none are given."""
        parts = []
        for path in self._paths:
            size = self._system.signal(path).slot.size
            cotangent = cotangents.get(path)
            part = (
                np.zeros((rows, size))
                if cotangent is None
                else np.asarray(cotangent, dtype=float).reshape(rows, size)
            )
            parts.append(part)
        return np.ascontiguousarray(np.concatenate([np.zeros((rows, 0)), *parts], axis=1)).ravel()

    def _reverse_run(self, weights: Reals) -> bool:
        """Go back over the whole run; False where the tape was too short."""
        back, notes = self._back, self._trail_notes
        for name in ("y", "p", "d", "c", "memory", "work", "spare_y", "spare_c", "inner_c", "former"):
            back[name][:] = 0.0
        back["weights"] = weights
        self._arrays |= {name: past.copy() for name, past in self._last_past.items()}
        back["h"] = np.zeros(self._arrays["h"].size // 2)
        back["former_past"] = np.zeros(self._arrays["h"].size)
        self._arrays["p"][:] = self._last_parameters
        notes.status = notes.time_bar = 0.0
        for piece in self._past_trail.from_the_end():
            if isinstance(piece, Lengthened):
                self._shorten_histories(piece)
                continue
            notes.used = float(piece.size)
            arrays = Carrier(**self._arrays), AdjointArrays(**{**back, "trail": piece})
            with np.errstate(all="ignore"), contextlib.suppress(FullTapeError):
                if native.is_plain():
                    adjoint_run.reverse_run(self._run, *arrays, piece.size)
                else:
                    heads = [head_of(each) for each in (self._run, *arrays)]
                    self._reverse(*map(address_of, heads), piece.size)
            if self._back["tape"][1]:
                return False
            if notes.status == FULL_TAPE:
                return False
            if notes.status != 0.0:
                raise SimulationError(
                    notes.failed_time, "going back over the run, it could not be done once more"
                )
        return True

    def _shorten_histories(self, before: Lengthened) -> None:
        """Histories, and the adjoints of their entries, as they lay before they were lengthened."""
        self._arrays |= {name: past.copy() for name, past in before.past.items()}
        size = self._arrays["h"].size
        adjoints = np.zeros(size // 2)
        for former, present in zip(before.former, before.present, strict=True):
            adjoints[former] = self._back["h"][present]
        self._back["h"], self._back["former_past"] = adjoints, np.zeros(size)

    def _compare(self, derivatives: Mapping[str, Reals], weights: Reals) -> None:
        """Compare the gradient with the tangent along the direction that went along with the run."""
        parts = [derivatives[path] * v for path, v in zip(self.by, self._direction, strict=True)]
        back, forward = sum(part.sum() for part in parts), weights @ self._rows
        size = sum(np.abs(part).sum() for part in parts) + np.abs(weights) @ np.abs(self._rows)
        agrees = AGREES_HELD if self._trail_notes.was_held else AGREES
        if not abs(back - forward) <= agrees * size:
            raise SimulationError(
                self._notes.time,
                f"the gradient disagrees with the derivative along the run: {back:.9g} and {forward:.9g}",
            )

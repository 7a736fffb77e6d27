"""Differentiating what a run has handled: when it happens, and what handlers do to the tangents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.moving_tangents import MovingTangents
from cosim.stage import Stage
from cosim.step import event_log as log
from cosim.step.records import PUBLISH, SCHEDULED, SIGNALED, TIMED, TRIGGERED
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.simulation.simulator import Simulator
    from cosim.system.state import State

Reals = NDArray[np.float64]
LETTERS = "ypdk"
GRAZING = 1e-9
"""A witness that is slower than this part of what moves it touches zero, and does not cross it."""
SAME_SHIFT = 1e-9
"""Two events whose times move alike up to this part stay in their order."""
MOST_LOOKS, MOST_WINDOW = 4, 1e3
"""How often, and within how many accuracies, the solution is searched for the zero of a witness."""
ENDLESS = ("held", "zeno", "chattering")


class TangentEvents:
    """The updates of a run, in the order in which its Simulator records them.

    Parameters
    ----------
    simulator : Simulator
        Makes the run.
    moving : MovingTangents
        What the updates change.
    """

    def __init__(self, simulator: Simulator, moving: MovingTangents) -> None:
        self._simulator, self._moving, self._system = simulator, moving, simulator.system
        self._run = simulator._step.arrays  # noqa: SLF001
        self._read = 0
        for handler in self._run.handlers:
            handler.is_private = 0  # so that they are recorded

    def _events(self) -> Iterator[tuple[Any, Any]]:
        """What was handled since this was asked last: the handlers with their records, publishes left out."""
        events = self._simulator._events  # noqa: SLF001
        pieces = events._pieces  # noqa: SLF001
        for piece in pieces[self._read :]:
            for at in piece.starts.tolist():
                event = rows_of(log.LoggedEvent, piece.records, at, 1)[0]
                handler = self._run.handlers[int(event.handler)]
                if handler.does != PUBLISH:
                    yield handler, event
        self._read = len(pieces)

    def update(self, before: State, time: float) -> State:
        """Differentiate the updates of an instant; the State behind them, or the same where none ran."""
        events = list(self._events())
        findings = self._simulator.findings
        held = next((f for f in findings if f.kind in ENDLESS), None)
        if held is not None:
            self._moving.lose(
                held.time, held.witness, f"{held.kind}: its events follow each other without end"
            )
        if not events:
            return before
        state = before.copy()
        state.set_y(self._moving.y)
        state.realize(Stage.REPORT)
        shift: Reals | None = None
        if sum(handler.cause == SIGNALED for handler, _ in events) > 1:
            self._moving.lose(
                time, "signals", "several updates by signals at one instant: their rounds are not known"
            )
        for _, group in itertools.groupby(events, key=lambda pair: (pair[0].does, pair[0].cause)):
            members = [handler for handler, _ in group]
            for handler in members:
                if shift is None and handler.cause == TRIGGERED:
                    state = self._located(handler, state)
                wanted = self._shift_of(handler, state)
                if wanted is None:
                    continue
                if shift is None:
                    shift = wanted
                    self._moving.shift(state, wanted)
                elif not np.allclose(shift, wanted, rtol=SAME_SHIFT, atol=1e-14, equal_nan=True):
                    self._moving.lose(
                        time, self._path(handler), "two events at one instant whose order changes: one-sided"
                    )
            state = self._handled(state, members)
        self._moving.y = np.array(state.y)
        if state.time != time:
            self._moving.follow(state, self._moving.context(state), state.time, time - state.time)
            state.set_time(time)
            state.set_y(self._moving.y)
        return state

    def _located(self, handler: Any, state: State) -> State:
        """The State at which a witness is zero to the last digit, with the tangents that belong to it."""
        at = self._run.probes[int(handler.flag)].value
        if not state.system.ny or self._run.witness_kinds[int(handler.flag)].is_condition:
            return state
        zero = np.zeros(state.arrays["p"].size), np.zeros(state.arrays["d"].size)
        window = MOST_WINDOW * max(1e-12, self._simulator.integrator.accuracy)
        for _ in range(MOST_LOOKS):
            value = float(self._system.arrays(state.realize(Stage.REPORT))[5][at])
            speed = float(self._system.tangents.along(state, 1.0, np.array(state.y_dot), *zero)[at])
            way = -value / speed if speed != 0.0 else math.nan
            if not abs(way) <= window:  # it does not cross, or the run has handled it elsewhere
                return state
            if abs(way) <= 1e-16 * max(1e-3, abs(state.time)):
                break
            self._moving.y = np.array(state.y)
            self._moving.follow(state, self._moving.context(state), state.time, way)
            state = state.copy()
            state.set_time(state.time + way)
            state.set_y(self._moving.y)
        return state.realize(Stage.REPORT)

    def _shift_of(self, handler: Any, state: State) -> Reals | None:
        """How the time of an event moves along each direction; None where it stays as it is described."""
        if self._moving.is_lost:
            return None
        if handler.cause == SCHEDULED:
            if handler.schedule == TIMED:
                return self._moving.arrays["d"][:, handler.flag].copy()
            if handler.follows:
                self._moving.lose(
                    state.time, self._path(handler), "its times follow from a parameter: not there yet"
                )
            return np.zeros(len(self._moving))
        if handler.cause != TRIGGERED:
            return None
        at = self._run.probes[int(handler.flag)].value
        rate = np.array(state.y_dot)
        zero = np.zeros(state.arrays["p"].size), np.zeros(state.arrays["d"].size)
        speed = float(self._system.tangents.along(state, 1.0, rate, *zero)[at])
        change = np.array([self._moving.along(state, i)[at] for i in range(len(self._moving))])
        if self._run.witness_kinds[int(handler.flag)].is_condition:
            self._moving.lose(
                state.time, self._path(handler), "a condition says when, not how fast: make it a number"
            )
            return None
        if not abs(speed) > GRAZING * np.abs(change).max(initial=0.0) or not math.isfinite(speed):
            if not change.any():
                return None
            self._moving.lose(
                state.time, self._path(handler), "its witness touches zero and does not cross it: grazing"
            )
            return None
        shifts: Reals = self._moving.time_dot - change / speed
        return shifts

    def _handled(self, state: State, handlers: Sequence[Any]) -> State:
        """The handlers of one cause and kind: all read the State, and write to one copy of it."""
        system, tangents, moving = self._system, self._system.tangents, self._moving
        state.realize(Stage.REPORT)
        values = [np.array(array) for array in system.arrays(state)]
        written = {letter: np.array(state.arrays[letter], dtype=float) for letter in LETTERS}
        moved = {letter: array.copy() for letter, array in self._moving.arrays.items()}
        caches = [self._moving.along(state, i) for i in range(len(self._moving))]
        for handler in handlers:
            results = list(self._run.results_of(handler))
            if handler.block < 0:
                self._moving.lose(state.time, self._path(handler), "a handler in plain Python")
            answers = []
            for i in range(len(self._moving)):
                c, c_dot = values[5].copy(), caches[i].copy()
                for result in results:
                    letter = LETTERS[result.array]
                    part = slice(result.at, result.at + result.size)
                    variables = slice(result.offset, result.offset + result.size)
                    c[part] = written[letter][variables]
                    c_dot[part] = moved[letter][i][variables] if letter in moved else 0.0
                if handler.block >= 0:
                    tangents.prepare([handler.block])
                    given = (moving.time_dot[i], *(moving.arrays[a][i] for a in "ypd"))
                    tangents.follow(
                        state, handler.block, handler.block + 1, (*values[:5], c), (*given, c_dot)
                    )
                answers.append((c, c_dot))
            for result in results:
                letter = LETTERS[result.array]
                part = slice(result.at, result.at + result.size)
                variables = slice(result.offset, result.offset + result.size)
                if len(self._moving):
                    written[letter][variables] = answers[0][0][part]
                for i, (_, c_dot) in enumerate(answers):
                    if letter in moved:
                        moved[letter][i][variables] = c_dot[part]
        self._moving.arrays = moved
        after = state.copy()
        after.set_y(written["y"])
        for letter in "pdk":
            after._arrays[letter][:] = written[letter]  # noqa: SLF001
        after.invalidate(Stage.INSTANCE, "handlers")
        after.realize(Stage.REPORT)
        return after

    def _path(self, handler: Any) -> str:
        entries = self._simulator._step.tables.agenda_of.entries  # noqa: SLF001
        return str(entries[int(handler.number)].path)

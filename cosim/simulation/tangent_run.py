"""A run that is made again step by step, with tangents that go along."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.moving_tangents import MovingTangents
from cosim.simulation.simulator import Simulator
from cosim.simulation.tangent_events import TangentEvents
from cosim.stage import Stage

if TYPE_CHECKING:
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
MISSED = 1e3
"""Accuracies by which a step and the solution from its start may differ, unless something in it jumps."""


class TangentRun:
    """One run with tangents along several directions.

    Parameters
    ----------
    system : System
    start : State
    directions : sequence of dict
        Tangents of y, p and d at the start.
    signals : sequence of str
        Whose tangents are wanted.
    until : float
    options : mapping of str to object
        For `Simulator`.

    Attributes
    ----------
    places : dict of str to int
        Where in a row the tangents of a signal begin.
    moving : MovingTangents
    """

    def __init__(
        self,
        system: System,
        start: State,
        directions: Sequence[dict[str, Reals]],
        signals: Sequence[str],
        until: float,
        options: Mapping[str, Any],
    ) -> None:
        self.system, self._until, self._signals = system, until, list(signals)
        self._simulator = Simulator(system, start.copy(), **options)
        self.moving = MovingTangents(system, directions, until - start.time)
        self._events = TangentEvents(self._simulator, self.moving)
        sizes = [system.signal(path).slot.size for path in signals]
        self.places = dict(zip(signals, itertools.accumulate([0, *sizes[:-1]]), strict=True))
        self._width = sum(sizes)
        self._rows: dict[float, list[Reals]] = {}
        self._smooth = [slot.offset for slot in system.slots_by_name.get("smooth_until", ())]
        self._is_controlled = self._simulator.integrator.fixed_step is None

    def take(self, times: Reals) -> Reals:
        """The tangents of the signals at these times, shape (times, directions, elements)."""
        simulator, grid = self._simulator, np.unique(times)
        before = simulator.state.copy()
        status = simulator.initialize()
        self.moving.y = np.array(before.y)
        moved_on = self._events.update(before, before.time)
        self.moving.y = np.array(moved_on.y)
        self._record(moved_on)
        while status.succeeded and simulator.state.time < self._until:
            before = simulator.state.copy()
            status = simulator.step(self._until)
            now = simulator.state
            moved_on = self._updated(before)
            if now.time > before.time:
                moved_on = self._with_variables(moved_on, now)
                inside = grid[(grid > before.time) & (grid < now.time)]
                self._integrate(moved_on, before, now, [*inside.tolist(), now.time])
        if status.succeeded:
            before = simulator.state.copy()
            simulator.advance_pending_events()
            self._updated(before)
        return self._aligned(times)

    def _updated(self, before: State) -> State:
        """The State behind the updates of an instant, of which a row is recorded, too."""
        moved_on = self._events.update(before, before.time)
        if moved_on is not before:
            self._record(moved_on)
        return moved_on

    def _aligned(self, times: Reals) -> Reals:
        """Rows for recorded times: where one stands there twice, before and after an event."""
        nothing = np.full((len(self.moving), self._width), math.nan)
        aligned = []
        for time, group in itertools.groupby(times.tolist()):
            rows, wanted = self._rows.get(time, [nothing]), len(list(group))
            between = [rows[min(i, len(rows) - 1)] for i in range(1, wanted - 1)]
            aligned += [rows[0], *between, rows[-1]][:wanted]
        return np.array(aligned).reshape(len(times), len(self.moving), self._width)

    def _record(self, state: State) -> None:
        """Keep the tangents of the signals at a fixed time."""
        state.realize(Stage.REPORT)
        rate = np.array(state.y_dot)
        row = np.empty((len(self.moving), self._width))
        for i in range(len(self.moving)):
            moved = {a: self.moving.arrays[a][i] for a in "ypd"}
            moved["y"] = moved["y"] - rate * self.moving.time_dot[i]
            moved["c"] = self.system.tangents.along(state, 0.0, moved["y"], moved["p"], moved["d"])
            row[i] = self.system.tangents.read(moved, self._signals)
        self._rows.setdefault(state.time, []).append(row)

    def _with_variables(self, state: State, now: State) -> State:
        """A State with what is updated at every step as it is now; the rest has to be known already."""
        state = state.copy()
        for letter in "pdk":
            known, present = state.arrays[letter], now.arrays[letter]
            differs = ~(
                (known == present) | (np.isnan(known.astype(float)) & np.isnan(present.astype(float)))
            )
            for _, variable in self.system.assembly.swaps:
                if variable.array == letter:
                    differs[variable.offset : variable.offset + variable.size] = False
            if differs.any():
                path = next(iter(self.system.paths_at(letter, [int(np.argmax(differs))])), "")
                self.moving.lose(state.time, path, "it was changed in a way that is not recorded")
            state._arrays[letter][:] = present  # noqa: SLF001
        state.invalidate(Stage.INSTANCE, "updates")
        return state

    def _integrate(self, state: State, before: State, end: State, times: Sequence[float]) -> None:
        """Let the tangents follow a step; rows are recorded at `times`, the last of which is its end."""
        context = self.moving.context(state)
        cache, c_dots = context[4], context[8].reshape(len(self.moving), -1)
        breaks = {
            float(cache[at]): c_dots[:, at] for at in self._smooth if state.time < cache[at] <= end.time
        }
        t, present = state.time, state
        for time in times:
            self.moving.follow(state, context, t, time - t)
            t, present = time, state.copy()
            if time == end.time:
                self._check_end(before, state, end)
            present.set_time(time)
            present.set_y(self.moving.y)
            self._record(present)
        for time, moved in breaks.items():
            if abs(time - end.time) <= 1e-12 * max(1.0, abs(time)) and np.any(moved != self.moving.time_dot):
                self.moving.shift(present, moved)

    def _check_end(self, before: State, state: State, end: State) -> None:
        """Notice where the solution and the run are apart: by errors, or by a jump without an event."""
        if not self._is_controlled or not self.system.ny:
            return
        allowed = MISSED * self._simulator.integrator.accuracy * np.maximum(1.0, np.abs(end.y))
        if (np.abs(self.moving.y - end.y) <= allowed).all():
            return
        begin = state.copy()
        if state.time == before.time and np.array_equal(state.y, self.moving.y):
            begin.set_y(before.y)
        alone = MovingTangents(self.system, [{a: np.zeros_like(state.arrays[a]) for a in "ypd"}], end.time)
        alone.y = np.array(begin.y)
        alone.follow(begin, alone.context(begin), state.time, end.time - state.time)
        apart = np.abs(alone.y - end.y) / allowed
        self.moving.y = np.array(end.y)
        if apart.max() > 1.0:
            path = self.system.paths_at("y", [int(np.argmax(apart))])[0]
            self.moving.lose(end.time, path, "something that no event announces jumps inside a step")

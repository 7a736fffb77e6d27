"""Making the tables that `layout` explains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.compiled_integrator import SMOOTH_UNTIL, CompiledIntegrator, slots_named
from cosim.errors import Problem
from cosim.integration.own_past import points_inside
from cosim.lowering import layout
from cosim.simulation.agenda import Agenda
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import BREAK_ORDER, System

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


class Tables:
    """The tables of a system and an integrator that is prepared for it.

    Parameters
    ----------
    system : System
    integrator : CompiledIntegrator
    state : State
        Where the run begins.
    policy : str
        About witnesses whose events do not end.

    Attributes
    ----------
    program, agenda, places, probe : ndarray of int64
    numbers, clock, scratch : ndarray
    watched : ndarray of int64, shape (blocks, 3)
    watched_blocks : list of int
        Which blocks of the system these are.
    functions : list of (int, function, str)
        Places in `program`, and what has to be called there.
    refusals : list of Problem
    """

    def __init__(self, system: System, integrator: CompiledIntegrator, state: State, policy: str) -> None:
        self.system, self.agenda_of = system, Agenda(system)
        self.handlers = [entry.path for entry in self.agenda_of.entries]
        self.witnesses = [witness.path for witness in self.agenda_of.witnesses]
        self.functions: list[tuple[int, Any, str]] = []
        self.refusals: list[Problem] = []
        self._integers = [0] * layout.HEADER
        self._numbers = [math.nan if state.accuracy is None else state.accuracy]
        self._room = {"scratch": 0, "places": layout.PLACES_HEADER}
        self.watched_blocks: list[int] = []
        self.watched: Integers = np.zeros((1, 3), dtype=np.int64)
        self.probe: Integers = np.zeros(1, dtype=np.int64)
        self._schedule(integrator)
        self._refuse_what_is_missing()
        self.program: Integers = np.array(self._integers, dtype=np.int64)
        self.numbers: Reals = np.array(self._numbers)
        self.agenda: Integers = np.zeros(layout.FIRST_ENTRY + len(self.handlers), dtype=np.int64)
        self.clock: Reals = np.zeros(layout.CLOCK_HEADER)
        self.clock[layout.TIME] = state.time
        self.scratch: Reals = np.zeros(max(1, self._room["scratch"]))
        self.places: Integers = np.zeros(self._room["places"], dtype=np.int64)

    def _schedule(self, integrator: CompiledIntegrator) -> None:
        system, numbers = self.system, self._integers
        numbers[layout.FIRST], numbers[layout.LAST] = system.derivative_range
        numbers[layout.ALL] = system.block_range(Stage.INSTANCE, Stage.INSTANCE)[0]
        numbers[layout.REPORTS] = system.block_range(Stage.REPORT, Stage.REPORT)[1]
        numbers[layout.NQ], numbers[layout.NU] = system.nq, system.nu
        numbers[layout.ORDER] = integrator.order
        numbers[layout.CHEAP] = int(integrator.capabilities.restarts_cheaply)
        numbers[layout.POINTS_INSIDE] = points_inside(integrator.capabilities.dense_order)
        numbers[layout.SIDE] = system.side
        self._table(layout.KINKS, slots_named(system, SMOOTH_UNTIL))
        self._table(layout.BREAKS, slots_named(system, BREAK_ORDER))
        self._take(layout.SPARE, "scratch", 2 * system.ny)

    def _refuse_what_is_missing(self) -> None:
        for entry in self.agenda_of.entries:
            self.refusals.append(Problem(entry.path, "event handlers are not lowered."))
        for witness in self.agenda_of.witnesses:
            self.refusals.append(Problem(witness.path, "witnesses are not lowered."))
        if self.system.has_updates:
            self.refusals.append(Problem("", "what remembers (delays, histories) is not lowered."))

    def _table(self, place: int, rows: Any) -> None:
        """Write a table behind the others; its length and start stand at `place` and behind it."""
        values = np.array(rows, dtype=np.int64)
        self._integers[place : place + 2] = [len(values), len(self._integers)]
        self._integers += values.reshape(-1).tolist()

    def _take(self, place: int, array: str, size: int) -> None:
        """Reserve room in `scratch` or `places`."""
        self._integers[place] = self._room[array]
        self._room[array] += size

"""Runs a plan through `cosim.Simulator` and beside it through the entry points of a native FMU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from cosim.lowering.arrays import Arrays
from cosim.lowering.layout import INITIALIZED
from cosim.lowering.updates import SCHEDULED, TRIGGERED, is_due
from lowered_run import LoweredRun
from oracle_run import RING, history_contents, run_plan
from random_systems import Plan

import cosim
from cosim.lowering import codes, layout


class Beside:
    """The same actions for the entry points; everything is compared behind each."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.system = plan.build()
        options = dict(plan.options)
        self.final_time = options.pop("final_time", math.inf)
        self.run = LoweredRun(self.system, plan.integrator, **options)
        self.is_initialized = False
        self.known = 0  # events that the simulator has told
        parts = self.system.parts.values()
        self.tells_all = not any(name.startswith("_") for part in parts for name in part.handlers)

    def follow(self, simulator: cosim.Simulator, action: tuple[Any, ...], status: str) -> None:
        code = self.act(simulator, action)
        expected = {"failed": code >= codes.FAILED, "": code == codes.REACHED}
        expected["reached_boundary_time"] = code in (codes.REACHED, codes.STEPPED)
        expected["reached_termination"] = code == codes.TERMINATED
        if action[0] == "finish":
            expected["reached_termination"] = code in (codes.TERMINATED, codes.REACHED)
        told = simulator.status.format_message()
        assert self.handled(simulator, action), f"{action}: another number of handlers"
        assert expected[status], f"{action}: code {code} beside {status} ({told})"
        if not self.is_initialized:
            return  # histories are not there yet
        self.is_initialized = self.is_initialized and simulator.is_initialized
        found = self.difference(simulator)
        assert not found, f"{action}: {found}"

    def handled(self, simulator: cosim.Simulator, action: tuple[Any, ...]) -> bool:
        """Whether both have called as many handlers."""
        events, places = len(simulator.events), self.run.arrays["places"]
        known = 0 if events < self.known or action[0] == "initialize" else self.known
        mine, self.known = int(places[layout.HANDLED]), events
        places[layout.HANDLED] = 0
        return mine == events - known or not self.tells_all

    def difference(self, simulator: cosim.Simulator) -> str:
        """What differs at the end of a call, Simulator first."""
        if simulator.state.time != self.run.time:
            return f"time {simulator.state.time!r} {self.run.time!r}"
        state, arrays = simulator.state, self.run.arrays
        rings = [slot.offset for slot in self.system.rings]
        for name, mine in state._arrays.items():
            if name not in "ypdk":
                continue
            apart = mine.view(np.int64) != arrays[name].view(np.int64)
            if name == "k":
                apart[[at + i for at in rings for i in range(RING)]] = False
            for at in np.flatnonzero(apart):
                return f"{name}[{at}] {self.system.paths_at(name, [at])} {mine[at]!r} {arrays[name][at]!r}"
        histories = [history_contents(a["k"], a["h"], rings) for a in (state._arrays, arrays)]
        if not np.array_equal(*histories, equal_nan=True):
            return f"histories {histories[0][-24:]} {histories[1][-24:]}"
        memory = state.integrator_memory
        if memory.tobytes() != arrays["memory"][: memory.size].tobytes():
            at = int(np.flatnonzero(memory != arrays["memory"][: memory.size])[0])
            return f"memory[{at}] {memory[at]!r} {arrays['memory'][at]!r}"
        return ""

    def act(self, simulator: cosim.Simulator, action: tuple[Any, ...]) -> int:
        what, *values = action
        run = self.run
        if what == "initialize" or (
            what in ("advance", "step", "pending", "finish") and not self.is_initialized
        ):
            code, self.known = self.initialize(), 0
            if code != codes.REACHED or what == "initialize":
                return code
        if what == "restore":
            return codes.REACHED
        if what == "finish":
            return run.call("finish")
        if what == "write":
            self.write(*values)
            return codes.REACHED
        if what == "slope":
            self.slope(*values)
            return codes.REACHED
        time = (
            run.time if what == "pending" else min(max(values[0], run.time), max(self.final_time, run.time))
        )
        code = run.call("advance" if what == "advance" else "step", time)
        if what != "pending" and run.time >= self.final_time and code == codes.REACHED:
            code = self.end()
        return code

    def initialize(self) -> int:
        self.is_initialized = True
        run = self.run
        return run.call("initialize", run.time if run.arrays["agenda"][INITIALIZED] else self.plan.start)

    def end(self) -> int:
        """At the final time: what is pending runs, then Termination is issued."""
        code = self.run.call("step", self.run.time)
        while code == codes.REACHED and self.is_pending():
            code = self.run.call("step", self.run.time)
        return code if code != codes.REACHED else self.run.call("finish")

    def is_pending(self) -> bool:
        arrays = Arrays(**self.run.arrays)
        entries, causes = range(arrays.program[layout.ENTRIES]), (1 << TRIGGERED) + (1 << SCHEDULED)
        return any(is_due(arrays, entry, does, causes) for entry in entries for does in (1, 2))

    def write(self, path: str, value: float) -> None:
        run, system = self.run, self.system
        if path in system.inputs:
            run.arrays["d"][system.course_offsets(path)[0]] = math.nan
        run.write(path, value)

    def slope(self, path: str, value: float) -> None:
        run, system = self.run, self.system
        d, (rate, since) = run.arrays["d"], system.course_offsets(path)
        at = system._input_slot(path, system.signal(path)).offset
        if d[rate] == d[rate]:
            d[at] += (run.time - d[since]) * d[rate]
        d[rate], d[since] = value, run.time
        run.arrays["clock"][layout.JUMPED] = 1.0
        run.arrays["places"][layout.STAGE] = layout.NOTHING


def compared(plan: Plan) -> dict[str, Any]:
    """The outcome of a plan, after both have agreed on every byte behind every action."""
    return run_plan(plan, Beside(plan).follow)


def refusals(plan: Plan) -> list[str]:
    """Why the entry points cannot run it."""
    program = cosim.Program(plan.build(), plan.integrator, **plan.options)
    return [f"{problem.where}: {problem.text}" for problem in program.refusals]

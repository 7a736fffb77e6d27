"""Runs of a system with parts in Python, or with derivatives, one `Simulator` after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cosim import Integrator, Reason, SimulationError, Simulator, State
from cosim.kit import FailedRun, compiled, failures
from cosim_ensembles.batch_records import REDUCTION_SIGNATURE
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes
from cosim_ensembles.plan import Plan


class SimulatorRuns:
    """`CompiledRuns` in Python: its steps and tangents are compiled code that holds no lock.

    Parameters
    ----------
    plan : Plan
    integrator : Integrator
    """

    def __init__(self, plan: Plan, integrator: Integrator) -> None:
        self.plan, self._integrator = plan, integrator
        self._simulator: Simulator | None = None
        self._reducing = [compiled(r.function, REDUCTION_SIGNATURE) for r in plan.reductions]

    def prepare(self, start: State, changes: Changes, block: Block, stop: NDArray[np.int64]) -> None:
        """Get ready for the runs of a block."""
        self._start, self._changes, self._block, self._stop = start, changes, block, stop

    def run(self, first: int, last: int) -> bool:
        """Do the runs `first` … `last` - 1 of the block; False where they were stopped."""
        for run in range(first, last):
            if self._stop[0]:
                return False
            self._one(run)
        return True

    def _one(self, run: int) -> None:
        plan, block = self.plan, self._block
        state = self._changes.state_of(self._start, run)
        simulator = self._simulator_of(state)
        carried = simulator.carry_tangents(plan.derivatives) if plan.derivatives else None
        code = failures.REACHED
        failed: SimulationError | None = None
        try:
            status = simulator.initialize()
            grid = {"origin": plan.start_time, "interval": plan.interval, "point": 1.0, "until": plan.until}
            simulator.record(plan.recorded, "grid alone", **grid)
            simulator.record_now()
            while status.succeeded and simulator.state.time < plan.until:
                status = simulator.advance_some(plan.until)
            simulator.stop_recording()
            if status.succeeded:
                status = simulator.advance_pending_events()
            if status.reason is Reason.REACHED_TERMINATION:
                code = failures.TERMINATED
            simulator.finish()
        except SimulationError as error:
            code, failed = failures.FAILED, error
        rows = simulator.take_rows()
        ended = rows
        if code == failures.TERMINATED and len(rows) and rows[-1, 0] != simulator.state.time:
            simulator.record_now()
            ended = np.concatenate([rows, simulator.take_rows()])
        if carried is not None:
            simulator.end_tape()
            tangents = carried.rows(len(plan.recorded))
            rows, ended = (np.hstack([part, tangents[: len(part)]]) for part in (rows, ended))
        self._store_run(run, code, rows, ended)
        block.ends[run] = simulator.state.time
        statistics = simulator.statistics
        block.counts[run] = statistics.steps, statistics.events
        if failed is not None:
            saved = simulator.state.to_bytes()
            block.failures[run] = FailedRun(run, failed.time, failed.reason, saved)
            self._simulator = None

    def _simulator_of(self, state: State) -> Simulator:
        """The Simulator of the last run, if all of it is compiled and it has succeeded; else a new one."""
        plan = self.plan
        if self._simulator is not None:
            self._simulator.reset_run(state)
            return self._simulator
        integrator = self._integrator.with_accuracy(self._integrator.accuracy)
        limit = 1 if plan.derivatives else 0  # events are on their tape
        simulator = Simulator(
            plan.system, state, integrator, endless_events=plan.endless_events, event_limit=limit
        )
        if plan.derivatives:  # which no system with parts in Python has
            self._simulator = simulator
        return simulator

    def _store_run(self, run: int, code: int, rows: NDArray[np.float64], ended: NDArray[np.float64]) -> None:
        block = self._block
        block.codes[run] = code
        if block.series is not None:
            block.series[run, : len(rows)] = rows[:, 1:]
        if code >= failures.FAILED or not len(ended):
            return
        block.final[run] = ended[-1, 1:]
        times = np.ascontiguousarray(ended[:, 0])
        for number, (reduction, function) in enumerate(
            zip(self.plan.reductions, self._reducing, strict=True)
        ):
            values = np.concatenate([ended[:, 1 + column] for column in reduction.columns])
            block.reduced[run, number] = function(times, values)

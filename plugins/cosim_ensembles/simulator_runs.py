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

    _start: State
    _changes: Changes
    _block: Block
    _stop: NDArray[np.int64]

    def __init__(self, plan: Plan, integrator: Integrator) -> None:
        self.plan, self._integrator = plan, integrator
        self._reused_simulator: Simulator | None = None
        self._reductions = [
            (reduction.columns, compiled(reduction.function, REDUCTION_SIGNATURE))
            for reduction in plan.reductions
        ]

    def prepare(self, start: State, changes: Changes, block: Block, stop: NDArray[np.int64]) -> None:
        """Set what the next calls of `run` work on.

        Parameters
        ----------
        start : State
            Where all runs start, but for their changes.
        changes : Changes
        block : Block
            Receives the results.
        stop : ndarray, shape (1,)
            Not 0 when no further run shall start; another thread sets it.
        """
        self._start, self._changes, self._block, self._stop = start, changes, block, stop

    def run(self, first: int, last: int) -> bool:
        """Do the runs `first` … `last` - 1 of the block; False where they were stopped."""
        for run in range(first, last):
            if self._stop[0]:
                return False
            self._do_run(run)
        return True

    def _do_run(self, run: int) -> None:
        """Simulate one run, and store in the block what it recorded and how it ended."""
        plan, block = self.plan, self._block
        simulator = self._simulator_for(self._changes.state_of(self._start, run))
        carried = simulator.carry_tangents(plan.derivatives) if plan.derivatives else None
        failed: SimulationError | None = None
        try:
            code = self._simulate(simulator)
        except SimulationError as error:
            code, failed = failures.FAILED, error
        grid_rows = simulator.take_rows()
        all_rows = self._with_end(simulator, grid_rows) if code == failures.TERMINATED else grid_rows
        if carried is not None:
            simulator.end_tape()
            tangents = carried.rows(len(plan.recorded))
            grid_rows, all_rows = (np.hstack([rows, tangents[: len(rows)]]) for rows in (grid_rows, all_rows))
        statistics = simulator.statistics
        block.codes[run] = code
        block.ends[run] = simulator.state.time
        block.counts[run] = statistics.steps, statistics.events
        if block.series is not None:
            block.series[run, : len(grid_rows)] = grid_rows[:, 1:]
        if failed is not None:
            saved = simulator.state.to_bytes()
            block.failures[run] = FailedRun(run, failed.time, failed.reason, saved)
            self._reused_simulator = None
        elif len(all_rows):
            self._store_end(run, all_rows)

    def _simulate(self, simulator: Simulator) -> int:
        """Run to the end of the plan, recording its grid; `REACHED`, or `TERMINATED` where a handler asked.

        Raises
        ------
        SimulationError
            The run has failed.
        """
        plan = self.plan
        status = simulator.initialize()
        grid = {"origin": plan.start_time, "interval": plan.interval, "point": 1.0, "until": plan.until}
        simulator.record(plan.recorded, "grid alone", **grid)
        simulator.record_now()
        while status.succeeded and simulator.state.time < plan.until:
            status = simulator.advance_some(plan.until)
        simulator.stop_recording()
        if status.succeeded:
            status = simulator.advance_pending_events()
        simulator.finish()
        is_terminated = status.reason is Reason.REACHED_TERMINATION
        return failures.TERMINATED if is_terminated else failures.REACHED

    @staticmethod
    def _with_end(simulator: Simulator, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows of a run that a handler ended, with one at its end also between points of the grid.

        Reductions and final values include the end; the values over time are those of the grid alone.
        """
        if not len(rows) or rows[-1, 0] == simulator.state.time:
            return rows
        simulator.record_now()
        return np.concatenate([rows, simulator.take_rows()])

    def _simulator_for(self, state: State) -> Simulator:
        """The Simulator of the last run, if all of it is compiled and it has succeeded; else a new one."""
        plan = self.plan
        if self._reused_simulator is not None:
            self._reused_simulator.reset_run(state)
            return self._reused_simulator
        integrator = self._integrator.with_accuracy(self._integrator.accuracy)
        limit = 1 if plan.derivatives else 0  # events are on the tape of the tangents
        simulator = Simulator(
            plan.system, state, integrator, endless_events=plan.endless_events, event_limit=limit
        )
        if plan.derivatives:  # a system with parts in Python, which may keep values, has none
            self._reused_simulator = simulator
        return simulator

    def _store_end(self, run: int, rows: NDArray[np.float64]) -> None:
        """Store final values and reductions of a run that succeeded; the first column is the time, s."""
        self._block.final[run] = rows[-1, 1:]
        times = np.ascontiguousarray(rows[:, 0])
        for number, (columns, function) in enumerate(self._reductions):
            values = np.concatenate([rows[:, 1 + column] for column in columns])
            self._block.reduced[run, number] = function(times, values)

"""Runs of one thread: scratch memory, images of the start, and the call that does many of them."""

from __future__ import annotations

from ctypes import addressof

import numpy as np
from numpy.typing import NDArray

from cosim import Integrator, SimulationError, Simulator, State
from cosim.kit import (
    GRID_WIDTH,
    GROW,
    REACHED,
    ROLES,
    SCRATCH,
    STATE,
    FailedRun,
    Run,
    choice_of,
    compile_function,
    counted_grid,
    function_address,
    is_plain,
    recording,
    width_of,
)
from cosim_ensembles import batch, batch_records
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes
from cosim_ensembles.plan import Plan

NOT_RESET = ("rows", "log")  # scratch arrays that a run writes before it reads them
SCRATCHES = [name for name, role in ROLES.items() if role == SCRATCH and name not in NOT_RESET]
STATES = [name for name, role in ROLES.items() if role == STATE]
WITH_IMAGES = [*STATES, *SCRATCHES, "c"]


class CompiledRuns:
    """A Step of its own on a State of its own, for one thread at a time.

    Parameters
    ----------
    plan : Plan
    integrator : Integrator
        An integrator of its own.
    """

    def __init__(self, plan: Plan, integrator: Integrator) -> None:
        self.plan = plan
        system = plan.system
        self._state: State = plan.start.copy()
        self._simulator = Simulator(
            system, self._state, integrator, endless_events=plan.endless_events, event_limit=0
        )
        self._step = self._simulator.compiled_step
        self._head_address = self._step.head.ctypes.data
        choice, width = choice_of(system, plan.columns)
        rows = np.zeros(GRID_WIDTH + (1 + width) * (plan.points + 2))
        self._step.record(choice, rows, recording.NO_ROWS)
        grid = self._step.arrays.output_grid
        grid.origin, grid.interval, grid.until = plan.start_time, plan.interval, plan.until
        for name, count in counted_grid(plan.start_time, plan.interval).items():
            setattr(grid, name, count)
        accuracy = self._state.accuracy
        self._step.arrays.options.accuracy = np.nan if accuracy is None else accuracy
        self._columns = np.zeros(
            (1 + max([len(r.columns) for r in plan.reductions] or [0])) * (plan.points + 2)
        )
        self._listed = [np.array(r.columns, dtype=np.int64) for r in plan.reductions]
        self._reductions = np.array(
            [
                (
                    function_address(r.function, batch_records.REDUCTION_SIGNATURE),
                    listed.ctypes.data,
                    listed.size,
                )
                for r, listed in zip(plan.reductions, self._listed, strict=True)
            ],
            dtype=np.int64,
        ).reshape(-1, width_of(batch_records.ListedReduction))
        self._batch = batch_records.Batch()
        self._pristine = {name: getattr(self._step.arrays, name).copy() for name in SCRATCHES}
        self._call = compile_function(batch.run_batch, batch_records.BATCH_SIGNATURE)

    def prepare(self, start: State, changes: Changes, block: Block, stop: NDArray[np.int64]) -> None:
        """Set what the next calls of `run` work on.

        Parameters
        ----------
        start : State
            Where all runs start, but for their changes.
        changes : Changes
        block : Block
            Takes the results.
        stop : ndarray of int64, shape (1,)
            Not 0 where all threads are to stop.
        """
        state, step = self._state, self._step
        for name, pristine in self._pristine.items():
            getattr(step.arrays, name)[:] = pristine
        for name in STATES:
            source = start.arrays[name]
            state.arrays[name][: source.size] = source
            state.arrays[name][source.size :] = 0
        self._history = start.arrays["h"].size
        state.arrays["c"][:] = 0
        cache = state.system.new_cache()
        state.arrays["c"][: cache.size] = cache
        step.bind(state)
        self._images = {name: getattr(step.arrays, name).copy() for name in WITH_IMAGES}
        self._images["h"] = self._images["h"][: self._history]
        self._image_rows = np.array(
            [
                (Run._fields.index(name), image.ctypes.data, image.size)
                for name, image in self._images.items()
            ],
            dtype=np.int64,
        )
        self._changes, self._block, self._stop = changes, block, stop
        self._batch = batch_records.Batch(
            stop=stop.ctypes.data,
            images=len(self._image_rows),
            images_at=self._image_rows.ctypes.data,
            changes=len(changes.places),
            changes_at=changes.places.ctypes.data,
            values_at=changes.numbers.ctypes.data,
            points=self.plan.points,
            series_at=0 if block.series is None else block.series.ctypes.data,
            final_at=block.final.ctypes.data,
            reductions=len(self._reductions),
            reductions_at=self._reductions.ctypes.data,
            reduced_at=block.reduced.ctypes.data,
            columns_at=self._columns.ctypes.data,
            codes_at=block.codes.ctypes.data,
            ends_at=block.ends.ctypes.data,
            counts_at=block.counts.ctypes.data,
        )

    def run(self, first: int, last: int) -> bool:
        """Do the runs `first` … `last` - 1 of the block; False where they were stopped."""
        runs, step = self._batch, self._step
        runs.next, runs.last, runs.phase = first, last, batch_records.FRESH
        while True:
            self._share_histories()
            runs.room = step.arrays.h.size
            code = self._called()
            if code == batch.STOPPED:
                return False
            if code == REACHED:
                return True
            if code == GROW:
                self._make_longer(step.arrays.failure.needed)
                continue
            self._store_failure(runs.next, code)
            runs.next += 1
            runs.phase = batch_records.FRESH

    def _called(self) -> int:
        arguments = self._head_address, addressof(self._batch), self.plan.until
        if is_plain():
            with np.errstate(all="ignore"):
                return int(self._call(*arguments))
        return int(self._call(*arguments))

    def _share_histories(self) -> None:
        """Let the Step see only the part of `h` that belongs to the present run."""
        if self._batch.phase == batch_records.FRESH:
            self._step.head[batch_records.HISTORY_LENGTH] = self._history

    def _make_longer(self, length: int) -> None:
        """Give `h` twice the length that is needed, so that later runs do not ask again."""
        used = int(self._step.head[batch_records.HISTORY_LENGTH])
        longer = np.zeros(2 * length)
        longer[:used] = self._state.arrays["h"][:used]
        self._state.arrays["h"] = longer
        self._step.use_state()
        self._step.head[batch_records.HISTORY_LENGTH] = used

    def _store_failure(self, run: int, code: int) -> None:
        """Store why a run stopped, and its State, while these are known."""
        state, step = self._state, self._step
        room = state.arrays["h"]
        state.arrays["h"] = room[: int(step.head[batch_records.HISTORY_LENGTH])].copy()
        step.use_state()
        step.stage_out(state)
        self._simulator.findings.clear()
        try:
            self._simulator.resume(code, self.plan.until)
        except SimulationError as error:
            self._block.failures[run] = FailedRun(run, error.time, error.reason, state.to_bytes())
        state.arrays["h"] = room
        step.use_state()

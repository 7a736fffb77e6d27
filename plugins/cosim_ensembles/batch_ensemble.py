"""Many runs of one system, in batches."""

from __future__ import annotations

import logging
import threading
import time as wall
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import cosim
from cosim import CosimError, Integrator, ModelError, Stage, State, System
from cosim.kit import (
    POLICIES,
    check_callable,
    check_choice,
    check_system,
    check_whole,
    chosen_integrator,
    end_of_run,
)
from cosim_ensembles.batch_result import BatchResult
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes
from cosim_ensembles.chunks import Job
from cosim_ensembles.compiled_runs import CompiledRuns
from cosim_ensembles.ensemble_call import EnsembleCall, Progress
from cosim_ensembles.in_executor import run_in_executor
from cosim_ensembles.own_processes import OwnProcesses
from cosim_ensembles.plan import Plan
from cosim_ensembles.processors import available_processors
from cosim_ensembles.python_parts import python_parts
from cosim_ensembles.run_queue import RunQueue
from cosim_ensembles.runner import Runner
from cosim_ensembles.simulator_runs import SimulatorRuns

if TYPE_CHECKING:
    from concurrent.futures import Executor

log = logging.getLogger("cosim.ensemble")
PROGRESS_INTERVAL = 0.1  # s, wall-clock time, between calls of `progress`
PART_TIME, PART_SHARE = 2.0, 0.02
"""A part of the runs takes this time (s), or this share of the time since the begin, whichever is more."""
RUNS_OF_THREAD = 8
"""A part has at least so many runs for each thread, so that threads rarely wait for the last one."""
LARGEST_GROWTH = 4
"""A part has at most so many times the runs of the one before."""
SERIES_PARTS = "workbench.series_parts"
"""Id of the result sink that writes values over time in parts."""


class BatchEnsemble(cosim.Ensemble):
    """Does the runs of `cosim.Ensemble`: batches in threads, or chunks for the workers of an executor."""

    def __init__(
        self,
        system: System,
        until: float | str | None = None,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float = 1e-6,
        output_interval: float | None = None,
        signals: Sequence[str] | None = None,
        reduce: Sequence[Any] | Mapping[str, Any] | None = None,
        state: State | None = None,
        threads: int | None = None,
        endless_events: str = "hold",
        derivatives: Sequence[str] = (),
        **options: Any,
    ) -> None:
        check_system(system, "Ensemble")
        self.system, until = system, end_of_run(until)
        self.threads = available_processors() if threads is None else threads
        check_whole(self.threads, "threads", 1)
        check_choice(endless_events, "endless_events", POLICIES)
        self._settings = {
            **{"until": until, "integrator": integrator, "accuracy": accuracy},
            **{"output_interval": output_interval, "reduce": reduce, "endless_events": endless_events},
            **{"signals": signals, "derivatives": derivatives},
            **options,
        }
        self._options = options
        integrator_of_all = self._integrator()
        self.plan = Plan(
            system, until, accuracy, output_interval, signals, reduce, state, endless_events, derivatives
        )
        self.start, self.columns = self.plan.start, tuple(self.plan.columns)
        self.units = MappingProxyType(self.plan.units())
        self.in_python = tuple(python_parts(system, integrator_of_all))
        self._runs: list[CompiledRuns | SimulatorRuns] = []
        self._job: Job | None = None  # for the executor that was used last
        self._processes: OwnProcesses | None = None

    def _integrator(self) -> Integrator:
        """An integrator of its own for each thread."""
        integrator: Any = self._settings["integrator"]
        if isinstance(integrator, Integrator):
            return integrator.with_accuracy(integrator.accuracy)
        return chosen_integrator(integrator, self.system, self._settings["accuracy"], dict(self._options))

    def job_for(self, executor: Executor) -> Job:
        """The data that the workers of an executor receive once."""
        if self._job is None or self._job.executor is not executor:
            self._job = Job(self, executor)
        return self._job

    def __reduce__(self) -> Any:
        return _unpickled, (self.system, self._settings, self.plan.start)

    def run(
        self,
        values: Mapping[str, Any] | None = None,
        count: int | None = None,
        progress: Progress | None = None,
        executor: Executor | None = None,
        chunk: int | None = None,
        parts: Any = None,
        each: Callable[[int, BatchResult], Any] | None = None,
    ) -> BatchResult:
        check_callable(progress, "progress", "how many runs have ended, and how many there are")
        changes = Changes(self.system, values or {}, count)
        if parts is not None and not hasattr(parts, "add"):
            parts = _series_parts(Path(parts))
        if parts is not None and not self.plan.keeps_series:
            raise ModelError.of("parts", "nothing is recorded over time: name signals beside the reductions")
        block = self.new_block(changes.runs, keeps_series=parts is None and each is None)
        call = EnsembleCall(self.plan, changes, block, progress, parts, each)
        try:
            message = self._run_all(call, executor, chunk)
        except (KeyboardInterrupt, CosimError) as error:
            result = BatchResult(self.plan, changes.given, block, str(error) or "interrupted", parts)
            error.result = result  # type: ignore[union-attr]
            raise
        finally:
            if parts is not None:
                parts.remove_others(block.parts.values())
        return BatchResult(self.plan, changes.given, block, message, parts)

    def _run_all(self, call: EnsembleCall, executor: Executor | None, chunk: int | None) -> str:
        """Do the runs wherever they can be done. Returns why they were stopped or done in processes."""
        message = ""
        if executor is not None:
            stopped = run_in_executor(self, call, executor, chunk)
        elif self.in_python:
            message = self._why_in_processes
            with self.kept_processes() as pool:
                stopped = run_in_executor(self, call, pool, chunk)
        elif call.parts is not None or call.each is not None:
            stopped = self._run_in_parts(call)
        else:
            stopped = self.run_here(call.changes, call.block, call.progress)
        return f"stopped after {call.block.ended} of {call.block.runs} runs" if stopped else message

    @property
    def _why_in_processes(self) -> str:
        return f"in processes, since these are Python: {', '.join(self.in_python)}"

    @contextmanager
    def kept_processes(self) -> Iterator[Any]:
        if self._processes is not None or not self.in_python:
            yield self._processes
            return
        log.warning("%s", self._why_in_processes)
        with OwnProcesses(self.threads) as self._processes:
            try:
                yield self._processes
            finally:
                self._processes = None

    def new_block(self, runs: int, *, keeps_series: bool = True) -> Block:
        """Room for the results of some runs."""
        plan = self.plan
        keeps = plan.keeps_series and keeps_series
        return Block(runs, plan.points, len(plan.columns), len(plan.reductions), keeps)

    def run_chunk(self, values: Mapping[str, Any], count: int, parts: Any) -> dict[str, Any]:
        """Make some runs in this process. Returns the arrays of a block that were not written to a part.

        Parameters
        ----------
        values, count
            As for `run`.
        parts : SeriesParts or None
            For these runs.
        """
        changes = Changes(self.system, values, count)
        block = self.new_block(changes.runs)
        self.run_here(changes, block)
        if parts is not None:
            self._write_part(changes, block, parts)
        return vars(block)

    def _write_part(self, changes: Changes, block: Block, parts: Any) -> None:
        """Write the values over time of a block to a file, and free their memory."""
        if block.series is not None:
            name = parts.add(BatchResult(self.plan, changes.given, block))
            block.series, block.parts = None, {0: name} if name else {}

    def _run_in_parts(self, call: EnsembleCall) -> bool:
        """As `run_here`, in parts, whose results are passed on as soon as they are there."""
        runs, start = call.block.runs, wall.perf_counter()
        most_runs = self.plan.most_runs if self.plan.keeps_series else runs
        size = least_runs = min(most_runs, RUNS_OF_THREAD * self.threads)
        first, stopped = 0, False
        while first < runs and not stopped:
            last = min(first + size, runs)
            began = wall.perf_counter()
            stopped = self._run_part(call, first, last)
            time = wall.perf_counter()
            runs_per_second = (last - first) / max(time - began, 1e-9)
            runs_in_time = int(runs_per_second * max(PART_TIME, PART_SHARE * (time - start)))
            size = min(max(least_runs, min(LARGEST_GROWTH * size, runs_in_time)), most_runs)
            first = last
        return stopped

    def _run_part(self, call: EnsembleCall, first: int, last: int) -> bool:
        """As `run_here`, for the runs `first` … `last` - 1, whose results are passed on."""
        changes, block = call.changes.of_runs(first, last), self.new_block(last - first)
        progress = call.progress

        def report(ended: int, total: int) -> bool | None:
            return None if progress is None else progress(first + ended, call.block.runs)

        try:
            return self.run_here(changes, block, report)
        finally:
            if call.parts is not None:
                self._write_part(changes, block, call.parts.of_runs(first, last))
            call.store(first, last, vars(block))

    def run_here(self, changes: Changes, block: Block, progress: Progress | None = None) -> bool:
        """Do runs in threads of this process; whether `progress` has stopped them."""
        start = self.plan.start.copy()
        changes.write_first(start)
        stop = np.zeros(1, dtype=np.int64)
        threads = 1 if self.in_python else min(self.threads, block.runs)
        while len(self._runs) < threads:
            self._runs.append(self.new_runs(start))
        queue = RunQueue(block.runs, threads)
        errors: list[BaseException] = []

        def work(runs: CompiledRuns | SimulatorRuns) -> None:
            try:
                runs.prepare(start, changes, block, stop)
                while (span := queue.next_span()) is not None:
                    began = wall.perf_counter()
                    if not runs.run(*span):
                        return
                    queue.measure(span[1] - span[0], wall.perf_counter() - began)
            except BaseException as error:
                errors.append(error)
                stop[0] = 1

        workers = [threading.Thread(target=work, args=(runs,), daemon=True) for runs in self._runs[:threads]]
        for worker in workers:
            worker.start()
        stopped = False
        try:
            for worker in workers:
                while worker.is_alive():
                    worker.join(PROGRESS_INTERVAL)
                    if progress is not None and not stop[0]:
                        stopped = progress(block.ended, block.runs) is False
                        stop[0] = int(stopped)
        finally:
            stop[0] = 1
            for worker in workers:
                worker.join()
        if errors:
            raise errors[0]
        if progress is not None and not stopped:
            progress(block.runs, block.runs)
        return stopped

    def new_runs(self, start: State) -> CompiledRuns | SimulatorRuns:
        """An object that makes runs one after the other, with arrays of its own.

        Systems that are not for the method are refused at the State `start`, as a single run does.
        """
        kind = SimulatorRuns if self.in_python or self.plan.derivatives else CompiledRuns
        integrator = self._integrator()
        if type(integrator).check is not Integrator.check:
            integrator.check(self.system, start.copy().realize(Stage.ACCELERATION))
        return kind(self.plan, integrator)

    def runner(self, paths: Sequence[str]) -> Runner:
        return Runner(self.plan, self.new_runs(self.plan.start), paths)


def _series_parts(folder: Path) -> Any:
    """A writer of values over time in parts, one file each."""
    sink: Any = cosim.registry().get("result_sink", SERIES_PARTS)
    return sink(folder)


def _unpickled(system: System, settings: dict[str, Any], start: State) -> BatchEnsemble:
    """An ensemble that has been sent to a worker, which runs it in one thread."""
    return BatchEnsemble(system, state=start, threads=1, **settings)

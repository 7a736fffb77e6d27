"""SimulationRun: one run of a co-simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from functools import cache, cached_property, partial
from time import perf_counter
from typing import Any

import cosim
from cosim.kit import black_box, interrupt_between_steps, without_collection
from cosim_fmi.binding.process_guard import last_words, same_folder
from cosim_master.abilities import BeginsSteps
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.run_settings import CommunicationPoints, RunOptions
from cosim_master.derivatives.coupling_tangents import CouplingTangents
from cosim_master.exchange.compiled_loop import CompiledLoop
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import ExchangeFace
from cosim_master.exchange.exchange_machine import printed_in_calls
from cosim_master.exchange.step_threads import StepThreads
from cosim_master.recording.co_simulation_result import (
    CoSimulationResult,
    CoSimulationStatistics,
    events_inside,
    in_order,
    without_returns,
)
from cosim_master.recording.kept_points import KeptPoints
from cosim_master.recording.recorded_variables import reads_with_states
from cosim_master.recording.recorder import Recorder
from cosim_master.run.check_serializes import check_serializes
from cosim_master.run.real_time_pace import Pace
from cosim_master.run.run_hooks import RunHooks
from cosim_master.run.run_identity import identity
from cosim_master.run.snapshot import Snapshot
from cosim_master.run.time_limit import TimeLimit
from cosim_master.start.initialize_participants import initialize_participants
from cosim_master.trust.assess_coupling import assess_coupling
from cosim_master.trust.second_run import RunAgain, second_run

MOST_SECONDS_WITHOUT_PROGRESS = 0.05
SECONDS_BETWEEN_PRINTS = 0.05
"""Time after which printed text of FMUs is added to their logs, s."""
SHARE = 0.05
"""The part of a run's time that writing checkpoints may take: large ones are written less often."""


class SimulationRun:
    """One run: participants are instantiated, stepped to the end, and closed in any case.

    Parameters
    ----------
    loop : Coupling
        With its final order.
    points : CommunicationPoints
    limit : TimeLimit or None
    resumed_from : Snapshot or None
        The snapshot from which the run continues; None from the start.
    accepted : collection of str
        Participants whose file may have changed since the snapshot.
    options : RunOptions
        The recording options.
    hooks : RunHooks
        The observers of the run.
    warnings : sequence of str
        Warnings from before the run.
    derivatives : CouplingTangents, optional
        The derivatives that are computed along with the run.
    keep_result : callable
        Receives the result if the process is about to be ended.
    find_run_again : callable
        Returns the function that makes a second run; None if that could have effects outside.

    Raises
    ------
    ModelError
        A recorded variable does not exist, a participant cannot be saved although a checkpoint is requested,
        or `resumed_from` is of another co-simulation.
    """

    def __init__(
        self,
        loop: Coupling,
        points: CommunicationPoints,
        *,
        limit: TimeLimit | None,
        resumed_from: Snapshot | None,
        accepted: Collection[str],
        options: RunOptions,
        hooks: RunHooks,
        warnings: Sequence[str],
        keep_result: Callable[[cosim.Result], None],
        derivatives: CouplingTangents | None = None,
        find_run_again: Callable[[], RunAgain | None] = lambda: None,
    ) -> None:
        assert loop.algorithm is not None
        self.loop, self.algorithm, self._keep_result = loop, loop.algorithm, keep_result
        self._points, self._limit = points, limit
        self._stop: float | None = points.until  # as the participants receive it
        self._hooks, self._inside = hooks, options.inside
        self._resumed_from, self._next_checkpoint = resumed_from, 0.0
        self._find_run_again, self.derivatives = find_run_again, derivatives
        if hooks.checkpoint is not None or resumed_from is not None:
            check_serializes(loop.descriptions, hooks.stream)
        steps_between_rows = options.steps_between_rows(loop.step)
        recorder = Recorder(
            *(loop.descriptions, loop.links, options.record),
            inner=() if loop.joint is None else loop.joint.links,
            records_between_points=options.inside != "nothing",
            points=(
                None if steps_between_rows == 1 else KeptPoints(loop.start, loop.step, steps_between_rows)
            ),
            stream=hooks.stream,
            derived=loop.derived,
            derivatives=derivatives,
        )
        reads = reads_with_states(recorder.reads(loop.links), loop.descriptions, loop.links)
        self.statistics = CoSimulationStatistics(
            python_files={name: file.name for name, file in loop.python_files.items()},
            warnings=[*warnings, *recorder.remarks],
        )
        count = min(loop.threads, len(loop.participants))
        elsewhere = sum(isinstance(p, BeginsSteps) for p in loop.participants.values())
        threads = StepThreads(count) if count > 1 or elsewhere > 1 else None
        self.coupled = CoupledParticipants(loop, reads, self.statistics, points, threads, recorder.ports)
        self.coupled.loops = [
            feedthrough_loop._replace(
                participants=tuple(n for n in feedthrough_loop.participants if n in self.coupled.units)
            )
            for feedthrough_loop in loop.loops
        ]
        self.coupled.rereads_inputs.update(dict.fromkeys(loop.unreadable_before_step, False))
        recorder.bind(reads, self.coupled.interface.input_names)
        self.recorder = recorder
        self.happened: list[cosim.EventRecord] = []
        self._pace = None if hooks.real_time_rate == math.inf else Pace(hooks.real_time_rate)
        self._done = 0
        self._compiled: CompiledLoop | None = None
        self._stepped = self.algorithm  # with derivatives, an algorithm that records its steps
        if resumed_from is not None:
            resumed_from.check(self, points, accepted)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The facts that have to be the same in a run that continues."""
        return identity(self)

    def so_far(self) -> cosim.Result:
        """The result so far, without events.

        Raises
        ------
        CosimError
            Its rows go to a stream.
        """
        if self._hooks.stream is not None:
            raise cosim.CosimError("this run writes its rows to a file: read them from the file")
        return self._result_so_far("not at its end")

    def _result_so_far(self, why: str) -> CoSimulationResult:
        figures = vars(self.statistics)
        return self.recorder.result(ends=False, events=[], statistics=figures, message=why, unfinished=why)

    def snapshot(self) -> Snapshot:
        """The whole co-simulation at the communication point that it has reached.

        Raises
        ------
        ModelError
            Participants, or the master algorithm, that cannot be saved.
        """
        check_serializes(self.loop.descriptions, self._hooks.stream)
        if self._compiled is not None:
            self._compiled.values.show()
        snapshot = Snapshot.of(self, self._done)
        if self._compiled is not None:
            # saving may have taken participants from compiled code
            self._compiled.values.resume_from_python()
        return snapshot

    def result(self) -> CoSimulationResult:
        """Run, and return the result; the error of a failed run has it as `result`."""
        message, wall_start = "", perf_counter()
        finished: CoSimulationResult | None = None
        statistics = self.statistics

        def keep(why: str) -> None:
            """Store the recorded rows before the process is ended."""
            if finished is None and self.recorder.unfinished is not None:
                self.recorder.unfinished()
            self._keep_result(finished or self._result_so_far(why))

        def end(kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
            """End the steps, before participants are freed."""
            nonlocal finished
            finished = self._close(message, wall_start, error)
            if self._hooks.keep is not None:
                self._hooks.keep(finished)

        try:
            with same_folder(), last_words(keep), ExitStack() as stack:
                interrupted = stack.enter_context(interrupt_between_steps())

                def check() -> None:
                    interrupted()
                    if self._limit is not None:
                        self._limit.check(self.coupled.time)

                self._take_printed = stack.enter_context(printed_in_calls(self.loop.participants))
                with without_collection():
                    self._initialize(stack)
                stack.push(end)
                stack.callback(self._take_printed)  # before logs are closed
                stack.callback(lambda: self.happened.extend(events_inside(self.loop.participants)))
                if self.coupled.threads is not None:
                    stack.enter_context(self.coupled.threads)  # last: they end before participants are closed
                initialized = perf_counter()
                message = self._run_all(check)
                statistics.wall_time = perf_counter() - wall_start
                statistics.stepping_time = perf_counter() - initialized
        except BaseException as error:
            finished = finished or self._close(message, wall_start, error)
            if isinstance(error, (cosim.SimulationError, KeyboardInterrupt)):
                error.result = finished  # type: ignore[union-attr]
            raise
        assert finished is not None
        return finished

    def _close(self, message: str, wall_start: float, error: BaseException | None) -> CoSimulationResult:
        """The result of all steps, up to an error if there was one."""
        unfinished = "" if error is None else str(error) or "interrupted"
        coupled, statistics = self.coupled, self.statistics
        if coupled.inside:
            self.recorder.inside(coupled.pop_inner_values())
        statistics.wall_time = statistics.wall_time or perf_counter() - wall_start
        if self._pace is not None:
            statistics.overruns, statistics.largest_lag = self._pace.overruns, self._pace.largest_lag
        statistics.algorithm.update(self.algorithm.figures)
        if self._compiled is not None:  # only steps that Python calls were timed
            measured = statistics.participant_time.items()
            statistics.participant_time = {n: t for n, t in measured if n in self._compiled.in_python}
        events = in_order(self.happened, without_returns(coupled.events, self.happened))
        statistics.events = len(events)
        again = partial(second_run, coupled, self.loop.step, self.algorithm, self._find_run_again)
        assess = cache(partial(assess_coupling, coupled, self.algorithm, self.loop.step, again))
        figures = dict(vars(statistics))
        is_asked_to_end = isinstance(error, KeyboardInterrupt)  # an assessment may take seconds
        if self._hooks.stream is not None and statistics.steps and not is_asked_to_end:
            figures["coupling"] = assess().figures()  # now: the stream is closed with the statistics
        result = self.recorder.result(
            events=events, statistics=figures, message=unfinished or message, unfinished=unfinished
        )
        if self.derivatives is not None:
            result.findings.extend(self.derivatives.findings)
            self.derivatives.close()
        result.store_evidence(coupled)
        result.assess_by(assess)
        return result

    def _initialize(self, stack: ExitStack) -> None:
        loop, coupled = self.loop, self.coupled
        if self._hooks.keep is not None and black_box.box is not None:
            self.recorder.write_to(black_box.box)
        coupled.watch(self._inside)
        if self.derivatives is not None:
            self.derivatives.prepare(coupled, self._stop)
        initialize_participants(coupled, loop, self._stop, stack)
        for name in coupled.order:
            coupled.read_outputs(name)
        for name in coupled.order:
            coupled.set_inputs(name)
        coupled.clear_inner_values()
        coupled.samples.start(loop.start, coupled.sampled_values())
        if self._resumed_from is None:
            self.recorder.record(loop.start, coupled.board, coupled.held)

    def _run_all(self, check: Callable[[], None]) -> str:
        """Take all steps. Returns why the run ended early, "" if it did not."""
        coupled, points = self.coupled, self._points
        if coupled.stop_reason and self._resumed_from is None:
            return coupled.stop_reason
        self._face = ExchangeFace(coupled)
        coupled.guarded_algorithm(self.algorithm, self.algorithm.initialize, self._face, self.loop.start)
        if self.derivatives is not None:
            self._stepped = self.derivatives.start(self._face, self.algorithm)
        if self._resumed_from is not None:
            self._done = self._resumed_from.restore(self)
            self._resumed_from = None
            if coupled.stop_reason:
                return coupled.stop_reason
        elif (
            self._hooks.observe is not None
            and self._hooks.observe(self.loop.start, self.recorder.latest()) is False
        ):
            return f"stopped at t = {self.loop.start:.9g} s"
        if self._pace is not None:
            self._pace.restart(points.time(self._done))
        take_steps = self._steps(check)
        if self._hooks.checkpoint is not None:
            self.snapshot().check_states(self)  # refuse before the first step what cannot be saved
            self._write_checkpoint(self._hooks.checkpoint)
        reason = self._run_rest(take_steps, check)
        if self._hooks.checkpoint is not None:
            self._write_checkpoint(self._hooks.checkpoint)  # a longer run may continue from the end
        return reason

    def _run_rest(self, take_steps: Callable[[int], int], check: Callable[[], None]) -> str:
        """Take all remaining steps. Returns why the run ended early, "" if it did not."""
        coupled, points = self.coupled, self._points
        last_progress = last_print = perf_counter()
        while self._done < points.count:
            self._done = take_steps(self._done)
            check()
            if self._revert_step_after_stop():
                return coupled.stop_reason
            time = points.time(self._done)
            if self._pace is not None:
                self._pace.wait(time)
            if self._is_stopped_by_observer(time):
                return f"stopped at t = {time:.9g} s"
            if coupled.stop_reason:
                return coupled.stop_reason
            if self._hooks.checkpoint is not None and self._is_due(self._hooks.checkpoint):
                self._write_checkpoint(self._hooks.checkpoint)
            wall_time = perf_counter()
            if wall_time - last_print >= SECONDS_BETWEEN_PRINTS:
                last_print = wall_time
                self._take_printed()
            at_end = self._done == points.count
            is_due = at_end or wall_time - last_progress >= MOST_SECONDS_WITHOUT_PROGRESS
            if self._hooks.progress is not None and is_due:
                last_progress = wall_time
                if self._hooks.progress(time) is False and not at_end:
                    return f"stopped at t = {time:.9g} s"
        return ""

    def _is_stopped_by_observer(self, time: float) -> bool:
        observe = self._hooks.observe
        return observe is not None and observe(time, self.recorder.latest()) is False

    def _revert_step_after_stop(self) -> bool:
        """Remove the last communication step if participants have stopped at its start; whether they have.

        An FMU that stops in its initialization may report that only in its first step. Since FMI 2.0 reports
        the end of the last whole step as the time reached, the outputs have to be unchanged as well.
        """
        coupled, step_start = self.coupled, self._points.time(self._done - 1)
        latest = step_start + 4.0 * math.ulp(step_start)
        if not coupled.stops or max(coupled.stops.values()) > latest:
            return False
        if not self.recorder.repeats_last_row(coupled.stops):
            return False
        self._done -= 1
        self.statistics.steps -= 1
        coupled.time = step_start
        self.recorder.remove_last()
        return True

    def _is_due(self, checkpoint: cosim.Checkpoint) -> bool:
        return checkpoint.is_due and perf_counter() >= self._next_checkpoint

    def _write_checkpoint(self, checkpoint: cosim.Checkpoint) -> None:
        wall_start = perf_counter()
        checkpoint.write(self.snapshot())
        wall_end = perf_counter()
        self._next_checkpoint = wall_end + (wall_end - wall_start) / SHARE

    def _steps(self, check: Callable[[], None]) -> Callable[[int], int]:
        """The function that takes steps from a communication point, and returns the point reached."""
        split_into_single_calls = self._hooks.observe is not None or self._pace is not None
        with without_collection():
            self._compiled = CompiledLoop(
                self.coupled,
                self._points,
                self._stepped,
                face=self._face,
                recorder=self.recorder,
                split_into_single_calls=split_into_single_calls,
                check=check,
            )
        self.statistics.loop = "compiled"
        if name := self._compiled.decides_in_python:
            self.statistics.loop = f"compiled ({name} decides in Python)"
        self.statistics.in_python.update(self._compiled.in_python)
        return self._compiled.run

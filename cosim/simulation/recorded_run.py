"""One run of a Simulator: it advances, hands its rows to those that take them, and makes the result."""

from __future__ import annotations

import math
import time as wall
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cosim.contracts.result_stream import ResultStream
from cosim.errors import SimulationError
from cosim.simulation.checkpoint import Checkpoint
from cosim.simulation.interrupt import interrupt_afterwards, interrupt_between_steps, uninterrupted
from cosim.simulation.recorder import Recorder
from cosim.simulation.result import Result
from cosim.simulation.result_drafts import ResultDrafts
from cosim.simulation.simulator import Simulator
from cosim.simulation.status import Reason, SimulatorStatus
from cosim.simulation.stride import MOST_VALUES
from cosim.step.recording import SLACK

if TYPE_CHECKING:
    from cosim.simulation.run_trail import Trail

Progress = Callable[[float], "bool | None"]


@dataclass
class RecordedRun:
    """Advances a Simulator to the end of a run and makes the result.

    Parameters
    ----------
    simulator : Simulator
    recorder : Recorder
    progress : callable or None
        Called with the time; answering False stops the run.
    checkpoint : Checkpoint or None
    drafts : ResultDrafts or None
        Takes the result so far.
    stream : ResultStream or None
        Takes what is recorded while the run goes on.
    trail : Trail or None
        What a gradient needs afterwards.
    is_private : bool
        Whether the State at the end is not handed out: then it does not take the tangents along.

    Attributes
    ----------
    started : float
        When `run` was called, s of `time.perf_counter`.
    """

    simulator: Simulator
    recorder: Recorder
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    drafts: ResultDrafts | None = None
    stream: ResultStream | None = None
    trail: Trail | None = None
    is_private: bool = False
    started: float = field(init=False)

    def run(self, until: float, origin: float, interval: float) -> Result:
        """Run to `until` with output times ``origin + i interval``, s.

        Raises
        ------
        SimulationError, KeyboardInterrupt
            Its attribute `result` holds what was recorded until then.
        """
        self.started = wall.perf_counter()  # here, so that compilation does not count as run time
        try:
            message = self._advance(until, origin, interval)
        except BaseException as error:
            text = str(error) or "interrupted"
            with uninterrupted():
                result = self._final_result(text, text)
            if isinstance(error, (SimulationError, KeyboardInterrupt)):
                error.result = result  # type: ignore[union-attr]
            raise
        complete: Result | None = None
        try:
            with interrupt_afterwards():
                complete = self._final_result(message, "")
        except KeyboardInterrupt as error:  # one run of many may be over, and its Ctrl-C is meant for all
            error.result = complete  # type: ignore[attr-defined]
            raise
        return complete

    def _advance(self, until: float, origin: float, interval: float) -> str:
        """Advance to `until` and record; why the run ended earlier, empty if it did not."""
        simulator, message = self.simulator, ""
        with interrupt_between_steps() as check_interrupt:
            status = simulator.status if simulator.is_initialized else simulator.initialize()
            point = math.floor((simulator.state.time - origin) / interval + SLACK) + 1
            simulator.record(
                self.recorder.paths, "grid", origin=origin, interval=interval, point=point, until=until
            )
            simulator.record_now()
            while status.succeeded and simulator.state.time < until:
                status = simulator.advance_some(until)
                self._pass_on()
                check_interrupt()
                if self.progress is not None and self.progress(simulator.state.time) is False:
                    message = f"stopped at t = {simulator.state.time:.9g} s"
                    break
            simulator.stop_recording()
            return self._end(status, message)

    def _pass_on(self) -> None:
        """Hand on what was recorded: to the stream or the recorder, drafts and checkpoints that are due.

        Rows are written before a checkpoint: a run that is resumed from it continues behind them.
        """
        drafts, checkpoint = self.drafts, self.checkpoint
        saves = checkpoint is not None and checkpoint.is_due and (drafts is None or drafts.may_write)
        if drafts is not None and (saves or drafts.is_due):
            drafts.write(self.recorder.result("", self._seconds, "it goes on", ends=False))
        if self.stream is not None:
            self.recorder.pass_on(self.stream, everything=saves)
        else:
            self.recorder.collect(MOST_VALUES)
        if checkpoint is not None and saves:
            self.simulator.store_tangents()
            checkpoint.write(self.simulator.state)
            self.simulator.state.carried = b""

    def _end(self, status: SimulatorStatus, message: str) -> str:
        """Handle the events of the last instant and terminate; why the run ended earlier, else empty."""
        simulator = self.simulator
        if status.succeeded and not message:
            status = simulator.advance_pending_events()
        if status.reason is Reason.REACHED_TERMINATION:
            message = status.format_message()
            self.recorder.end_at(simulator.state.time)
        simulator.finish()
        return message

    def _final_result(self, message: str, unfinished: str) -> Result:
        """Make the result, and hand it to the stream, the trail, the drafts and the checkpoint."""
        self.simulator.end_tape()
        if self.stream is not None:
            self.recorder.pass_on(self.stream, everything=True)
        result = self.recorder.result(message, self._seconds, unfinished, ends=True)
        if self.trail is not None:
            self.trail.end(self.recorder.paths)
            result._trail = self.trail
            result.findings.extend(self.trail.findings)
        if self.stream is not None:
            self.stream.close(result.with_derivatives())
        if not self.is_private:
            self.simulator.store_tangents()
        if self.checkpoint is not None:
            if self.drafts is not None and len(result):  # first: to continue, both are needed
                self.drafts.write(result)
            self.checkpoint.write(self.simulator.state)
        return result

    @property
    def _seconds(self) -> float:
        """Wall-clock time since the run began, s."""
        return wall.perf_counter() - self.started

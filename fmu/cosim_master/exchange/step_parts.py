"""StepParts: the parts into which clocks of participants, or a pause, cut a communication step."""

from __future__ import annotations

import math

from cosim_master.algorithms import exchange_layout as layout
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange import stop_codes
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import AlgorithmArrays
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.run_values import RunRows, RunValues


class StepParts:
    """The parts of the present communication step: each ends at a tick, at the pause, or with the step.

    All participants reach the end of a part together; values are recorded there as at a communication point.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    machine : ExchangeMachine
    main : AlgorithmArrays
        The arrays of the master's algorithm.
    values : RunValues
    rows : RunRows
    exchanges_at_points : bool
        Whether values are exchanged only at the start of a part.

    Attributes
    ----------
    pause : float
        A time (s) inside the step at which the run stops for now; inf if there is none.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        machine: ExchangeMachine,
        main: AlgorithmArrays,
        values: RunValues,
        rows: RunRows,
        exchanges_at_points: bool,
    ) -> None:
        self._coupled, self._points, self._machine, self._main = coupled, points, machine, main
        self._values, self._rows = values, rows
        self._ticking_by_inputs = coupled.ticking_by_inputs if exchanges_at_points else []
        self.pause = math.inf

    def resume_at(self, index: int, time: float) -> None:
        """Continue the step `index` at a time (s) that another loop has reached."""
        clock = self._machine.clock
        clock.begin, clock.end = time, self._points.time(index + 1)
        self._main.progress.under_way = stop_codes.CUT

    def start_next(self, index: int) -> bool:
        """Begin the next part of the step `index`, unless the last one has ended at the pause: then False."""
        clock, main = self._machine.clock, self._main
        step_end = self._points.time(index + 1)
        self._coupled.start_step(index)
        if clock.end < step_end and not self.finish(index, step_end):
            return False
        self.prepare(step_end)
        main.memory.counts[layout.PHASE] = layout.BEGIN
        main.progress.under_way = stop_codes.DECIDING
        return True

    def prepare(self, step_end: float) -> None:
        """Set the clock to the part that begins now, of a step that ends at `step_end` (s)."""
        clock = self._machine.clock
        self._coupled.time = clock.begin
        self._set_inputs_of_clocks()
        end = self._coupled.next_tick(clock.begin, step_end)
        clock.end = self.pause if clock.begin < self.pause < end else end

    def finish(self, index: int, step_end: float) -> bool:
        """End a part inside the step `index`, at a tick or the pause; False at the pause."""
        clock = self._machine.clock
        self._rows.empty_buffer()
        self._coupled.time = clock.end
        self._rows.record_inner_values()
        if self._rows.records_between_points:
            self._rows.record_with_courses()
        self._rows.watched_step = index
        clock.begin = clock.end
        if clock.begin < self.pause:
            return True
        clock.end = step_end  # there is no present part
        self._main.progress.under_way = stop_codes.CUT
        return False

    def _set_inputs_of_clocks(self) -> None:
        """Set the inputs of participants whose next tick depends on them."""
        if self._ticking_by_inputs:
            self._values.show()
            for name in self._ticking_by_inputs:
                self._coupled.set_inputs(name)
            self._values.resume_from_python()

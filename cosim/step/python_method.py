"""Integrators whose steps are Python, called back at their place in the Step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cosim.contracts.integrator import Integrator
from cosim.contracts.method_layout import ACCEPTED_END, END, START
from cosim.contracts.step_code import StepCode
from cosim.step.held_system import HeldSystem
from cosim.step.method import Function, place_of
from cosim.step.whole_way import whole_way
from cosim.walker import DENSE_SIGNATURE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim_compiler.native import compile_function

if TYPE_CHECKING:
    from cosim.system.state import State

    CompiledStep = Any

FIRST_ROW, LAST_ROW, T, Y, WORK, T_STOP, LIMIT = (
    2,
    3,
    4,
    5,
    14,
    16,
    17,
)  # in `STEP_SIGNATURE`, and `REDO_SIGNATURE`
CODES = list(StepCode)
RAISED = len(CODES)
"""What is answered where a method has raised; the exception is kept."""


class PythonMethod:
    """Functions with the signatures of compiled ones that call an `Integrator` on the State that is bound.

    Parameters
    ----------
    integrator : Integrator
    step : CompiledStep
        Which it works for.

    Attributes
    ----------
    raised : BaseException or None
        What the integrator has raised in the last call.
    functions : list of (int, function, str)
        As `Method.functions`.
    """

    def __init__(self, integrator: Integrator, step: CompiledStep) -> None:
        self.integrator, self._owner = integrator, step
        self.raised: BaseException | None = None
        self._held: HeldSystem | None = None
        self.functions: list[Function] = [
            (place_of("step"), self._step, STEP_SIGNATURE),
            (place_of("redo"), self._redo, REDO_SIGNATURE),
            (place_of("dense"), self._dense, DENSE_SIGNATURE),
            (place_of("begin"), self._begin, REDO_SIGNATURE),
            (place_of("restart"), self._restart, REDO_SIGNATURE),
        ]

    @property
    def _state(self) -> State:
        state = self._owner._state
        assert state is not None
        return state

    def _system(self, first: int) -> Any:
        """The system, or the one with what holds witnesses; `first` block of a derivative tells."""
        owner = self._owner
        if first == owner.system.derivative_range[0]:
            return owner.system
        if self._held is None:
            self._held = HeldSystem(owner.system, owner.arrays.held_table, owner.arrays.held_ints)
        return self._held

    def _guarded(self, work: Any, call: Any) -> int:
        """Call the integrator; a code of a step."""
        self.raised = None
        try:
            code = call()
        except BaseException as error:
            self.raised = error
            return RAISED
        work[START], work[END] = self.integrator.previous_time, self._state.time
        work[ACCEPTED_END] = max(work[ACCEPTED_END], work[END])
        return 0 if code is None else CODES.index(code)

    def _step(self, *given: Any) -> int:
        system, state, work, t_stop, limit = (
            self._system(given[FIRST_ROW]),
            self._state,
            given[WORK],
            given[T_STOP],
            given[LIMIT],
        )
        state.arrive_at(given[T])

        def take() -> StepCode:
            code = self.integrator.step(system, state, t_stop, limit)
            if code is StepCode.NOT_INITIALIZED:
                self.integrator.initialize(system, state)
                code = self.integrator.step(system, state, t_stop, limit)
            return code

        work[ACCEPTED_END] = -math.inf
        return self._guarded(work, take)

    def _redo(self, *given: Any) -> int:
        system, state = self._system(given[FIRST_ROW]), self._state
        if given[Y].size == 0:  # its step was the Step's own: there is nothing to integrate
            way = compile_function(whole_way, STEP_SIGNATURE)
            schedule = (system.table, system.ints, given[FIRST_ROW], given[LAST_ROW], given[WORK][START])
            return int(way(*schedule, *given[Y:], given[T], math.inf))
        return self._guarded(given[WORK], lambda: self.integrator.redo(system, state, given[T]))

    def _begin(self, *given: Any) -> int:
        system, state = self._system(given[FIRST_ROW]), self._state
        state.arrive_at(given[T])
        return self._guarded(given[WORK], lambda: self.integrator.initialize(system, state))

    def _restart(self, *given: Any) -> int:
        system, state = self._system(given[FIRST_ROW]), self._state
        state.arrive_at(given[T])
        return self._guarded(given[WORK], lambda: self.integrator.restart(system, state))

    def _dense(self, t: float, coefficients: Any, work: Any, y: Any, out: Any) -> None:
        if out.size == 0:
            return
        self.integrator.interpolate(min(max(t, work[START]), work[END]), out)

"""Integrators whose steps are Python, called back at their place in the Step."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cosim.contracts.integrator import Integrator
from cosim.contracts.method_entries import by_address, redo_entry, step_entry
from cosim.contracts.method_layout import MethodArrays, OdeSystem, StepWork
from cosim.contracts.step_code import StepCode
from cosim.preparation.held_system import HeldSystem
from cosim.preparation.method import placed_function
from cosim.step.integration import step_without_states
from cosim.walker import STEP_SIGNATURE
from cosim_compiler.native import compile_function
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    from cosim.system.state import State

    CompiledStep = Any

CODES = list(StepCode)
RAISED = len(CODES)
"""The number behind those of `StepCode`: the method has raised `PythonMethod.raised`."""


def held_weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls a method and does not keep its object alive, as its address would."""
    reference = weakref.WeakMethod(method)

    def call(*arguments: Any) -> Any:
        alive = reference()
        assert alive is not None
        return alive(*arguments)

    return call


class PythonMethod:
    """Functions with the signatures of compiled ones that call an `Integrator` on the State that is bound.

    Parameters
    ----------
    integrator : Integrator
    step : CompiledStep
        The step that calls it.

    Attributes
    ----------
    raised : BaseException or None
        What the integrator has raised in the last call.
    functions : list of PlacedFunction
        Functions that call the integrator, for the places of `Method.functions`.
    """

    def __init__(self, integrator: Integrator, step: CompiledStep) -> None:
        self.integrator, self._owner = integrator, step
        self.raised: BaseException | None = None
        self._held: HeldSystem | None = None
        entries = {
            "step": step_entry(MethodArrays, held_weakly(self._step)),
            "redo": redo_entry(MethodArrays, held_weakly(self._redo)),
            "dense": held_weakly(self._dense),
            "begin": redo_entry(MethodArrays, held_weakly(self._initialize)),
            "restart": redo_entry(MethodArrays, held_weakly(self._restart)),
        }
        self.functions = [placed_function(name, entry) for name, entry in entries.items()]

    @property
    def _state(self) -> State:
        """The State of the Step that calls."""
        state = self._owner._state
        assert state is not None
        return state

    def _system(self, evaluated: OdeSystem) -> Any:
        """The system that the Step integrates: while witnesses are held, one with other derivatives.

        Its derivatives begin at another row of the schedule, by which it is recognized.
        """
        owner = self._owner
        if evaluated.first == owner.system.derivative_range[0]:
            return owner.system
        if self._held is None:
            tables, arrays = owner.tables.held, owner.arrays
            self._held = HeldSystem(owner.system, arrays.held_table, arrays.held_ints, tables.sides)
        return self._held

    def _call(self, work: StepWork, function: Callable[[], StepCode | None]) -> int:
        """Call the integrator: the number of its `StepCode`, 0 where it returns none, or `RAISED`."""
        self.raised = None
        try:
            code = function()
        except BaseException as error:
            self.raised = error
            return RAISED
        work.start, work.end = self.integrator.previous_time, self._state.time
        work.accepted_end = max(work.accepted_end, work.end)
        return 0 if code is None else CODES.index(code)

    def _step(self, evaluated: OdeSystem, method: MethodArrays, t: float, t_stop: float, limit: float) -> int:
        """Take a step; a method that was not initialized is initialized first."""
        system, state = self._system(evaluated), self._state
        state.arrive_at(t)

        def advance() -> StepCode:
            code = self.integrator.step(system, state, t_stop, limit)
            if code is StepCode.NOT_INITIALIZED:
                self.integrator.initialize(system, state)
                code = self.integrator.step(system, state, t_stop, limit)
            return code

        method.work.accepted_end = -math.inf
        return self._call(method.work, advance)

    def _redo(self, evaluated: OdeSystem, method: MethodArrays, t_event: float) -> int:
        """Take the last step again, with another end."""
        system, state = self._system(evaluated), self._state
        if evaluated.size == 0:  # the Step itself took that step: there is nothing to integrate
            step = compile_function(step_without_states, STEP_SIGNATURE)
            # compiled code passes tables by address, which Python cannot read
            with_tables = evaluated._replace(table=system.table, ints=system.ints)
            return int(step(*by_address(with_tables, method, method.work.start), t_event, math.inf))
        return self._call(method.work, lambda: self.integrator.redo(system, state, t_event))

    def _initialize(self, evaluated: OdeSystem, method: MethodArrays, t: float) -> int:
        """Prepare for the first step of a run."""
        system, state = self._system(evaluated), self._state
        state.arrive_at(t)
        return self._call(method.work, lambda: self.integrator.initialize(system, state))

    def _restart(self, evaluated: OdeSystem, method: MethodArrays, t: float) -> int:
        """Go on after a jump of the states or of their derivatives."""
        system, state = self._system(evaluated), self._state
        state.arrive_at(t)
        return self._call(method.work, lambda: self.integrator.restart(system, state))

    def _dense(self, t: float, coefficients: Any, work: Any, y: Any, out: Any) -> None:
        """Write the states at a time inside the last step."""
        if out.size == 0:
            return
        step = rows_of(StepWork, work, 0, 1)[0]
        self.integrator.interpolate(min(max(t, step.start), step.end), out)

"""Explicit Runge–Kutta methods: everything but the tableau."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.compiled.native import compile_function, is_plain
from cosim.compiled.walker import WALK_SIGNATURE, walk
from cosim.contracts import runge_kutta_step as kernels
from cosim.contracts.butcher_tableau import ButcherTableau
from cosim.contracts.first_step import FIRST_STEP_SIGNATURE, choose_first_step
from cosim.contracts.integrator import Integrator, StepCode, StepStatistics, Vector
from cosim.errors import ContractError, SimulationError

if TYPE_CHECKING:
    State = Any
    System = Any

__all__ = ["ButcherTableau", "ExplicitRungeKutta"]

STEP_ERROR = "step_error"
SMOOTH_UNTIL = "smooth_until"


class ExplicitRungeKutta(Integrator):
    """Base of explicit Runge–Kutta methods: a subclass gives its `tableau` and a docstring.

    The step is compiled once for all methods. The derivative at the end of a step serves as the first
    stage of the next one, and the first stage is kept when a step is rejected. The error of a step is
    its largest component relative to the tolerance; a proportional-integral controller sets the step:
    at most 5 times longer, at least 0.1 times as long after a rejection, and no growth below 1.2.
    A step that a target or a `limit` made short does not change the length that is remembered.

    A component that computes with an error of its own reports it, relative to what it computes, in a
    cache slot ``step_error``: at the end of a step it is held to the accuracy like the others. One
    that knows when it will jump or have a kink says so in a cache slot ``smooth_until``, a time: steps
    with error control end there.

    Parameters
    ----------
    **options
        As `Integrator`.

    Examples
    --------
    >>> class Ralston(ExplicitRungeKutta):
    ...     '''Ralston's second-order method.'''
    ...     tableau = ButcherTableau(order=2, a=[[], [2 / 3]], b=[1 / 4, 3 / 4], c=[0, 2 / 3])
    >>> Ralston(fixed_step=0.01).order
    2
    """

    tableau: ClassVar[ButcherTableau]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        tableau = getattr(cls, "tableau", None)
        if tableau is None:
            return
        if not isinstance(tableau, ButcherTableau):
            raise ContractError(
                f"{cls.__name__}: tableau is {tableau!r}, must be a cosim.ButcherTableau(...)"
            )
        cls.order = tableau.order
        cls.has_error_estimate = tableau.error is not None

    def __init__(self, **options: Any) -> None:
        if getattr(self, "tableau", None) is None:
            raise ContractError(
                f"{type(self).__name__}: no tableau; write tableau = cosim.ButcherTableau(...)"
            )
        super().__init__(**options)
        self._settings = np.array(
            [self.accuracy, self.minimum_step, self.maximum_step, self.fixed_step or 0.0], dtype=float
        )
        self._coefficients = self.tableau.coefficients
        self._counts = np.zeros(3)
        self._system: Any = None
        self._ny = 0
        self._work = _new_work(0, 0)
        self._error_slots = self._smooth_slots = np.zeros(0, dtype=np.int64)
        self._walk: Any = None
        self._step: Any = None
        self._redo: Any = None
        self._dense: Any = None

    def memory_size(self, ny: int) -> int:
        """Two numbers: the next step and the error of the last one."""
        return 2

    def initialize(self, system: System, state: State) -> None:
        """Choose the first step and write the memory; the State is realized to Acceleration."""
        self._prepare(system)
        memory = state.integrator_memory
        if memory is None or memory.shape != (2,):
            state.integrator_memory = memory = np.zeros(2)
        self._work[0] = math.nan
        memory[0] = self._first_step(system, state)
        memory[1] = 0.0

    def step(self, system: System, state: State, t_stop: float, limit: float = math.inf) -> StepCode:
        """One accepted step; see `Integrator.step`. At `t_stop` already, nothing is done."""
        if self._system is not system:
            self._prepare(system)
        t = state.time
        if not t < t_stop:
            if t == t_stop:
                return StepCode.DONE
            raise ValueError(f"cannot step from t = {t} s back to t_stop = {t_stop} s")
        memory = state.integrator_memory
        if memory.shape != (2,):
            return StepCode.NOT_INITIALIZED
        if t_stop == math.inf and memory[0] == math.inf and min(limit, self.maximum_step) == math.inf:
            raise ValueError(
                "this system has no states that limit the step: give a finite t_stop or maximum_step"
            )
        slots = (self._error_slots, self._smooth_slots)
        if self._ny + self._error_slots.size + self._smooth_slots.size == 0:
            return self._skip(system, state, min(t_stop, t + limit, t + self.maximum_step))
        code = self._step(
            *(system.table, system.ints, *system.derivative_range, t, *system.arrays(state)),
            *(self._coefficients, self._settings, memory, self._work, *slots, t_stop, limit),
        )
        if code == kernels.DONE:
            state._advance(float(self._work[1]))
            return StepCode.DONE
        return StepCode(code)

    def _skip(self, system: System, state: State, end: float) -> StepCode:
        """Where there is nothing to integrate, one step goes all the way, and one walk is enough."""
        arrays = (system.table, system.ints, *system.derivative_range)
        status = self._walk(*arrays, end, *system.arrays(state))
        if status != 0:
            self._work[2], self._work[3] = status - 1, end
            self._walk(*arrays, state.time, *system.arrays(state))
            return StepCode.BLOCK_FAILED
        self._work[0], self._work[1], self._work[8] = state.time, end, end
        self._work[5] += 1.0
        state._advance(end)
        return StepCode.DONE

    def restart(self, system: System, state: State) -> None:
        """Go on after a jump: the length of the step is kept, the memory of its error is not.

        If the step turns out to be too long for what comes, error control rejects it; a new choice
        by trial would cost evaluations at every event.
        """
        self._work[0] = math.nan
        state.integrator_memory[1] = 0.0

    def redo(self, system: System, state: State, t_event: float) -> StepCode:
        """The last step again, ending at `t_event`, not later than error control accepted it."""
        self._check_inside(t_event, float(self._work[8]))
        if not t_event > self.previous_time:
            raise ValueError(
                f"the last step began at {self.previous_time} s; it cannot be taken again to {t_event} s"
            )
        code = self._redo(
            *(system.table, system.ints, *system.derivative_range, t_event, *system.arrays(state)),
            *(self._coefficients, self._work),
        )
        state._advance(float(self._work[1]))
        return StepCode(code)

    def interpolate(self, t: float, out: Vector) -> None:
        """Dense output of the tableau, or the cubic Hermite polynomial; ValueError outside the last step."""
        self._check_inside(t, float(self._work[1]))
        self._dense(t, self._coefficients, self._work, out, out)

    @property
    def previous_time(self) -> float:
        """Where the last step began, s; NaN when there is none."""
        return float(self._work[0])

    @property
    def statistics(self) -> StepStatistics:
        """Steps, rejections and evaluations since the integrator was made."""
        return StepStatistics(*(int(n) for n in self._counts + self._work[5:8]))

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state, shape (ny,), of the evaluation that failed last."""
        at = kernels.HEADER + 3 * self._ny
        return float(self._work[3]), self._work[at : at + self._ny].copy()

    @property
    def worst_state(self) -> int:
        """Index in y of the state with the largest error in the last attempt (-1: no error estimate)."""
        if self.tableau.error is None or self._ny == 0:
            return -1
        n, work = self._ny, self._work[kernels.HEADER :]
        size = np.maximum(work[2 * n : 3 * n], np.abs(work[:n]))
        error = np.abs(self.tableau.error @ work[4 * n :][: self.tableau.stages * n].reshape(-1, n)) / size
        return int(np.argmax(np.where(np.isnan(error), np.inf, error)))

    def _prepare(self, system: System) -> None:
        """Compile, and make room for this system."""
        ny = int(system.ny)
        if self.scale.size not in (1, ny):
            raise ValueError(
                f"{type(self).__name__}: scale has {self.scale.size} entries, the system {ny} states"
            )
        self._counts += self._work[5:8]
        self._system, self._ny = system, ny
        self._work = _new_work(ny, self.tableau.stages)
        self._work[kernels.HEADER + 2 * ny : kernels.HEADER + 3 * ny] = self.scale
        self._error_slots = _slots(system, STEP_ERROR)
        self._smooth_slots = _slots(system, SMOOTH_UNTIL)
        self._walk = _compiled(walk, WALK_SIGNATURE)
        self._step = _compiled(kernels.explicit_runge_kutta_step, kernels.STEP_SIGNATURE)
        self._redo = _compiled(kernels.redo_explicit_runge_kutta_step, kernels.REDO_SIGNATURE)
        self._dense = _compiled(kernels.dense_output, kernels.DENSE_SIGNATURE)

    def _first_step(self, system: System, state: State) -> float:
        if self.fixed_step is not None:
            return self.fixed_step
        longest = self.maximum_step
        if self.initial_step is not None:
            return self.initial_step
        if self._ny == 0:
            return longest
        status = _compiled(choose_first_step, FIRST_STEP_SIGNATURE)(
            *(system.table, system.ints, *system.derivative_range, state.time, *system.arrays(state)),
            *(self._coefficients, self._settings, self._work),
        )
        if status != 0:
            raise SimulationError(state.time, StepCode.BLOCK_FAILED.sentence)
        return float(min(max(self._work[1], self.minimum_step), longest))

    def _check_inside(self, t: float, end: float) -> None:
        if not self._work[0] <= t <= end:
            raise ValueError(
                f"t = {t} s is not inside the last step, {self._work[0]} to {end} s"
                if self._work[0] == self._work[0]
                else f"there is no last step that could hold t = {t} s"
            )


def _slots(system: System, name: str) -> NDArray[np.int64]:
    """Offsets in the cache of all slots of that name."""
    found = [v.slot.offset for v in system.variables.values() if v.path.rpartition(".")[2] == name]
    return np.array(found, dtype=np.int64)


def _new_work(ny: int, stages: int) -> Vector:
    work = np.zeros(kernels.HEADER + (5 + stages) * ny)
    work[0] = work[1] = math.nan
    return work


def _compiled(function: Any, signature: str) -> Callable[..., Any]:
    """The compiled function; in plain Python, one in which overflow and 0/0 are as silent as compiled."""
    callable_ = compile_function(function, signature)
    return np.errstate(all="ignore")(callable_) if is_plain() else callable_

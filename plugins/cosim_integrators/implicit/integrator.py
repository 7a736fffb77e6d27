"""What all implicit integrators have in common, in Python: settings, arrays, calls of the kernels."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_integrators.implicit import layout
from cosim_integrators.implicit.dense import DENSE_SIGNATURE, polynomial_output
from cosim_integrators.implicit.driver import DONE, REDO_SIGNATURE, STEP_SIGNATURE
from cosim_integrators.implicit.layout import EPSILON, MEMORY_HEADER, WORK_HEADER
from cosim_integrators.implicit.pattern import jacobian_pattern
from cosim_integrators.implicit.sparse_solver import SparseSolver

if TYPE_CHECKING:
    State = Any
    System = Any

Vector = NDArray[np.float64]

LARGEST_DENSE = 200  # states; beyond, matrices are sparse and SciPy's
FIXED_TOLERANCE = 1e-12  # to which stages are solved where there is no error control


@dataclass(frozen=True)
class Family:
    """The compiled side of a family of methods.

    Attributes
    ----------
    step, redo : function
        Kernel functions of `driver`.
    history, vectors : int
        Vectors of the length of the state in the memory and, besides the common ones, in the work.
    shifts : (float, float, float)
        Of the real and of the complex matrix, for a step of length 1.
    """

    step: Callable[..., Any]
    redo: Callable[..., Any]
    history: int
    vectors: int
    shifts: tuple[float, float, float]


class ImplicitIntegrator(cosim.Integrator):
    """Base of the implicit methods; a subclass brings its `Family` and the coefficients of its method.

    The stages are solved by a simplified Newton method: Jacobian and factors are kept from step to
    step until convergence slows down or the step changes. The Jacobian is made by finite differences,
    with one evaluation for each group of states that no derivative depends on together; which
    depend on which is known from the schedule. Up to 200 states matrices are dense and everything is
    compiled; beyond, SciPy's sparse factors are used (a third of a millisecond more for each).

    Jacobian, history and step lie in `State.integrator_memory`: a resumed run goes on to the same bytes.
    """

    has_error_estimate = True

    family: Family
    coefficients: Vector

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._counts = np.zeros(6)
        self._system: Any = None
        self._ny = 0
        self._pattern = np.zeros(layout.P_COLOUR + 1, dtype=np.int64)
        self._work = np.zeros(WORK_HEADER)
        self._work[:2] = math.nan
        self._lu = self._saved = np.zeros(1)
        self._slots: tuple[Any, Any] = (np.zeros(0, dtype=np.int64),) * 2
        self._sparse: SparseSolver | None = None

    @abstractmethod
    def tolerance(self) -> float:
        """The tolerance that the method's own error estimate is held to."""

    def memory_size(self, ny: int) -> int:
        """Header, history and, as many as the system has, the entries of the Jacobian."""
        return MEMORY_HEADER + self.family.history * ny + int(self._pattern[layout.P_ENTRIES])

    def initialize(self, system: System, state: State) -> None:
        """Choose the first step and write the memory; the State is realized to Acceleration."""
        self._prepare(system)
        size = self.memory_size(self._ny)
        memory = state.integrator_memory
        if memory is None or memory.shape != (size,):
            state.integrator_memory = memory = np.zeros(size)
        memory[:] = 0.0
        memory[layout.CONVERGENCE] = 1.0
        memory[layout.NEXT] = self._first_step(system, state)
        self._work[layout.START] = math.nan

    def step(
        self, system: System, state: State, t_stop: float, limit: float = math.inf
    ) -> cosim.StepCode:
        """One accepted step; see `cosim.Integrator.step`. At `t_stop` already, nothing is done."""
        if self._system is not system:
            self._prepare(system)
        t = state.time
        if not t < t_stop:
            if t == t_stop:
                return cosim.StepCode.DONE
            raise ValueError(f"cannot step from t = {t} s back to t_stop = {t_stop} s")
        memory = state.integrator_memory
        if memory.shape != (self.memory_size(self._ny),):
            return cosim.StepCode.NOT_INITIALIZED
        if t_stop == math.inf and memory[0] == math.inf and min(limit, self.maximum_step) == math.inf:
            raise ValueError(
                "this system has no states that limit the step: give a finite t_stop or maximum_step"
            )
        code = self._step(
            *(system.table, system.ints, *system.derivative_range, t, *system.arrays(state)),
            *(self.coefficients, self._settings, memory, self._work, self._lu, self._pattern, self._saved),
            *(*self._slots, t_stop, limit),
        )
        if code == DONE:
            state._advance(float(self._work[layout.END]))
        return cosim.StepCode(code)

    def restart(self, system: System, state: State) -> None:
        """Go on after a jump: the past is forgotten, the length of the step and the Jacobian are not.

        If the step turns out to be too long, error control rejects it; if the Jacobian has become
        wrong, Newton's method converges slowly and has it made again.
        """
        memory = state.integrator_memory
        self._work[layout.START] = math.nan
        memory[layout.LAST] = memory[layout.ERROR] = 0.0
        memory[layout.CONVERGENCE] = 1.0
        memory[layout.AGE] = min(1.0, memory[layout.AGE])

    def redo(self, system: System, state: State, t_event: float) -> cosim.StepCode:
        """The last step again, ending at `t_event`, not later than error control accepted it."""
        self._check_inside(t_event, float(self._work[layout.ACCEPTED_END]))
        if not t_event > self.previous_time:
            raise ValueError(
                f"the last step began at {self.previous_time} s; it cannot be taken again to {t_event} s"
            )
        code = self._redo(
            *(system.table, system.ints, *system.derivative_range, t_event, *system.arrays(state)),
            *(self.coefficients, self._settings, state.integrator_memory, self._work, self._lu),
            *(self._pattern, self._saved),
        )
        state._advance(float(self._work[layout.END]))
        return cosim.StepCode(code)

    def interpolate(self, t: float, out: Vector) -> None:
        """The polynomial of the last step; ValueError outside of it."""
        self._check_inside(t, float(self._work[layout.END]))
        self._dense(t, self.coefficients, self._work, out, out)

    @property
    def previous_time(self) -> float:
        """Where the last step began, s; NaN when there is none."""
        return float(self._work[layout.START])

    @property
    def statistics(self) -> cosim.StepStatistics:
        """Counts since the integrator was made."""
        return cosim.StepStatistics(*(int(n) for n in self._total()))

    def _total(self) -> Vector:
        return self._counts + self._work[layout.STEPS : layout.STEPS + 6]

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state, shape (ny,), of the evaluation that failed last."""
        return float(self._work[layout.FAILED_TIME]), layout.vector(
            self._work, layout.V_SPARE, self._ny
        ).copy()

    @property
    def worst_state(self) -> int:
        """Index in y of the state with the largest error or correction in the last attempt; -1: none."""
        return int(self._work[layout.WORST])

    def _prepare(self, system: System) -> None:
        """Compile, and make room for this system."""
        ny = int(system.ny)
        if self.scale.size not in (1, ny):
            raise ValueError(
                f"{type(self).__name__}: scale has {self.scale.size} entries, the system {ny} states"
            )
        self._counts = self._total()
        family = self.family
        self._system, self._ny = system, ny
        self._pattern = jacobian_pattern(system)
        self._work = np.zeros(WORK_HEADER + (layout.V_FAMILY + family.vectors) * ny)
        self._work[:2] = math.nan
        layout.vector(self._work, layout.V_SCALE, ny)[:] = self.scale
        size = self.memory_size(ny)
        entries = int(self._pattern[layout.P_ENTRIES])
        self._saved = np.zeros(2 * size)
        matrices = 0
        if ny > LARGEST_DENSE:
            self._sparse = SparseSolver(self._pattern, family.shifts)
            self._pattern[layout.P_SPARSE] = cosim.python_block_address(self._sparse.block)
        else:
            matrices = ny * ny + ny + (2 * ny * ny + ny if family.shifts[2] != 0.0 else 0)
        self._lu = np.zeros(1 + matrices + entries)
        self._settings = self._new_settings()
        self._slots = (_slots(system, "step_error"), _slots(system, "smooth_until"))
        self._step = _compiled(family.step, STEP_SIGNATURE)
        self._redo = _compiled(family.redo, REDO_SIGNATURE)
        self._dense = _compiled(polynomial_output, DENSE_SIGNATURE)

    def _new_settings(self) -> Vector:
        tolerance = FIXED_TOLERANCE if self.fixed_step is not None else self.tolerance()
        newton = 0.1 if self.fixed_step is not None else min(0.03, math.sqrt(tolerance))
        newton = max(10.0 * EPSILON / tolerance, newton)
        # A Jacobian that costs many evaluations is worth a few more iterations.
        refresh = min(0.1, max(1e-3, 1e-3 * float(self._pattern[layout.P_COLOURS])))
        return np.array(
            [self.accuracy, self.minimum_step, self.maximum_step, self.fixed_step or 0.0]
            + [tolerance, newton, refresh]
        )

    def _first_step(self, system: System, state: State) -> float:
        if self.fixed_step is not None:
            return self.fixed_step
        if self.initial_step is not None:
            return self.initial_step
        if self._ny == 0:
            return self.maximum_step
        ny = self._ny
        work = np.zeros(9 + 5 * ny)
        work[9 + 2 * ny : 9 + 3 * ny] = self.scale
        status = _compiled(cosim.choose_first_step, cosim.FIRST_STEP_SIGNATURE)(
            *(system.table, system.ints, *system.derivative_range, state.time, *system.arrays(state)),
            *(np.array([0.0, 0.0, 0.0, self.order + 1.0]), self._settings, work),
        )
        self._work[layout.EVALUATIONS] += work[7]
        if status != 0:
            raise cosim.SimulationError(state.time, cosim.StepCode.BLOCK_FAILED.sentence)
        return float(min(max(work[1], self.minimum_step), self.maximum_step))

    def _check_inside(self, t: float, end: float) -> None:
        start = self.previous_time
        if not start <= t <= end:
            raise ValueError(
                f"t = {t} s is not inside the last step, {start} to {end} s"
                if start == start
                else f"there is no last step that could hold t = {t} s"
            )


def _slots(system: System, name: str) -> NDArray[np.int64]:
    """Offsets in the cache of all slots of that name."""
    found = [v.slot.offset for v in system.variables.values() if v.path.rpartition(".")[2] == name]
    return np.array(found, dtype=np.int64)


def _compiled(function: Any, signature: str) -> Callable[..., Any]:
    """The compiled function; in plain Python, one in which overflow and 0/0 are as silent as compiled."""
    callable_ = cosim.compile_function(function, signature)
    return np.errstate(all="ignore")(callable_) if cosim.is_plain() else callable_

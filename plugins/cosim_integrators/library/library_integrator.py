"""The base class of integrators of other libraries."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import WALK_SIGNATURE, StepCode, StepStatistics, compile_function, walk
from cosim_integrators.library.short_step import ShortStep, is_too_short

if TYPE_CHECKING:
    State = Any
    System = Any

Vector = NDArray[np.float64]
STATES, CACHE = 0, 5
"""Places of y and c among the arrays of a system (`System.arrays`)."""
MOST_HALVINGS = 40
MOST_NOT_FINITE = 1000
"""The largest number of derivatives that are not finite in one step, besides ny for a Jacobian."""
MOST_EASY = 20
"""The number of successive steps with a small error after which the longest step is doubled."""
EASY = 1.0 / 32.0
"""An error below this part of the accuracy is small."""
NEARLY_LONGEST = 0.9
"""A step longer than this part of the longest step has been limited by it."""
MOST_STILL = 100
"""The largest number of successive steps that are too short to change the time."""
MOST_AT_EDGE = 30
"""The largest number of steps with derivatives that are not finite within `EDGE_WIDTH`."""
EDGE_WIDTH = 1e-12
"""A width in time, relative to the end of the step."""


class Evaluation(Protocol):
    """The derivative as libraries take it."""

    def __call__(self, t: float, y: Vector) -> Vector:
        """The derivative y' at a time and state, shape (ny,)."""


class Solver(Protocol):
    """A solver of a library in the middle of a run."""

    t: float
    y: Vector
    jacobians: int
    factorizations: int

    def step(self, t_stop: float) -> bool:
        """Take one step of the solver's own length, but not past `t_stop`. Returns whether it succeeded."""

    def at(self, t: float) -> Vector:
        """The solution inside the last step."""


class BlockFailedError(Exception):
    """A block of the schedule raised while a library evaluated the derivative."""


class NotFiniteError(Exception):
    """A library evaluates derivatives that are not finite again and again."""


@dataclass
class _Counts:
    """The counts of `StepStatistics`, as they grow."""

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0


class LibraryIntegrator(cosim.Integrator):
    """Base of integrators that leave the steps to another library.

    They have these limits:

    - There are no fixed steps.
    - A run from a restored State does not continue to the same bytes: history and matrices are in the
    library,
      the State holds only the length of the last step, and the run restarts there as after an event.
    - They cannot be compiled, so an exported FMU needs the library.
    - The relative tolerance must be the same for all states.

    Parameters
    ----------
    **options
        As `cosim.Integrator`; `fixed_step` is refused.

    Raises
    ------
    ModelError
        With all faults in the options.
    """

    contract_kit: ClassVar[str] = ""  # the kit of integrators tries fixed steps

    def __init__(self, **options: Any) -> None:
        if options.get("fixed_step") is not None:
            raise cosim.ModelError.of(
                type(self).__name__,
                "this library chooses its steps itself: leave fixed_step out, or give maximum_step, "
                "or choose a method of ours.",
            )
        super().__init__(**options)
        self._solver: Solver | None = None
        self._system: Any = None
        self._slope = np.zeros(0)  # the derivative where the next step begins
        self._start = self._end = self._accepted_end = math.nan
        self._y_start = self._y_end = np.zeros(0)
        self._failed: tuple[float, Vector] | None = None
        self._easy = 0  # successive steps at the longest length with a small error
        self._longest = math.inf  # longest step, finite after components have reported errors of longer steps
        self._counts = _Counts()
        self._error_places: list[int] = []  # in the cache: errors of steps that components report
        self._not_finite = 0
        self._edge, self._at_edge = math.nan, 0

    @abstractmethod
    def new_solver(self, evaluation: Evaluation, t: float, y: Vector, t_stop: float, first: float) -> Solver:
        """A solver that starts at `t` and `y`; `first` is the length of its first step, s; 0: its own choice.

        Its steps must not be longer than `_longest`.
        """

    def memory_size(self, ny: int) -> int:
        """The length of the last step."""
        return 1

    def initialize(self, system: System, state: State) -> None:
        """Start a run; the library chooses the first step unless `initial_step` is given."""
        self._prepare(system)
        self._solver = None
        self._longest = math.inf
        self._start = self._edge = math.nan
        state.integrator_memory = np.array([self.initial_step or 0.0])

    def step(self, system: System, state: State, t_stop: float, limit: float = math.inf) -> StepCode:
        """One step of the library; see `cosim.Integrator.step`."""
        if self._system is not system:
            self._prepare(system)
        t, memory = state.time, state.integrator_memory
        if not t < t_stop:
            if t == t_stop:
                return StepCode.DONE
            raise ValueError(f"cannot step from t = {t} s back to t_stop = {t_stop} s")
        if memory.shape != (1,):
            return StepCode.NOT_INITIALIZED
        bound = min(t_stop, t + min(limit, self.maximum_step))
        if bound == math.inf:
            raise ValueError("an integrator of a library needs a finite t_stop, limit or maximum_step")
        solver = self._solver
        if solver is not None and not (solver.t == t and np.array_equal(solver.y, state.y)):
            self._solver = None
        if self._easy >= MOST_EASY:  # only a new solver can have another limit
            self._longest, self._easy, self._solver = 2.0 * self._longest, 0, None
        return self._step_to(system, state, bound, memory[0])

    def _step_to(self, system: System, state: State, bound: float, first: float) -> StepCode:
        """Take a step up to `bound`, or a shorter one if components report too large errors."""
        t, y = state.time, state.y.copy()
        derivative = _cache_of(system, state)[: y.size].copy()
        self._slope = derivative
        code = StepCode.DONE
        if not (np.isfinite(y).all() and np.isfinite(derivative).all()):
            code = StepCode.NOT_FINITE
        for _ in range(MOST_HALVINGS if code is StepCode.DONE else 0):
            code = self._attempt(system, state, t, y, bound, first)
            if code is not StepCode.DONE:
                break
            reported = np.abs(_cache_of(system, state)[self._error_places]).max(initial=0.0)
            if reported <= self.accuracy:
                break
            self._counts.rejections += 1
            # shorten the longest step, so that steps of the next solver need not be repeated
            step = state.time - t
            self._longest = step * max(0.1, 0.8 * (self.accuracy / reported) ** 0.25)
            self._easy = 0
            self._solver, bound, first = None, min(bound, t + 0.5 * step), 0.0
            self._move_state(system, state, t, y)
            code = StepCode.MINIMUM_STEP
        if code is StepCode.DONE and state.time - t < self.minimum_step and state.time < bound:
            code = StepCode.MINIMUM_STEP
        if code is not StepCode.DONE:
            self._solver = None
            self._move_state(system, state, t, y)
            return code
        self._start = t
        self._end = self._accepted_end = state.time
        self._y_start, self._y_end = y, state.y.copy()
        self._counts.steps += 1
        if not isinstance(self._solver, ShortStep):
            state.integrator_memory[0] = self._end - self._start
        was_limited = self._end - self._start >= NEARLY_LONGEST * self._longest
        self._easy += int(was_limited and reported <= EASY * self.accuracy)
        return code

    def _attempt(
        self, system: System, state: State, t: float, y: Vector, bound: float, first: float
    ) -> StepCode:
        """Let the library take one step from `t` and `y`, and move the State to its end."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                if is_too_short(t, bound):
                    self._solver = ShortStep(self._evaluation(system, state), t, y)
                elif self._solver is None or isinstance(self._solver, ShortStep):
                    first = min(first, bound - t)
                    self._solver = self.new_solver(self._evaluation(system, state), t, y, bound, first)
                jacobians, factorizations = self._solver.jacobians, self._solver.factorizations
                self._not_finite = 0
                for _ in range(MOST_STILL):
                    if not self._solver.step(bound) or self._solver.t > t:
                        break
                if not self._solver.t > t:
                    return StepCode.NOT_FINITE if self._not_finite else StepCode.MINIMUM_STEP
                self._counts.jacobians += self._solver.jacobians - jacobians
                self._counts.factorizations += self._solver.factorizations - factorizations
            except BlockFailedError:
                return StepCode.BLOCK_FAILED
            except NotFiniteError:
                return StepCode.NOT_FINITE
            except (ValueError, ArithmeticError, RuntimeError):  # raised by LAPACK and others for NaN
                if not self._not_finite:
                    self._failed = t, y
                return StepCode.NOT_FINITE
            end = self._solver.y
            if not np.isfinite(end).all() or not self._move_state(system, state, float(self._solver.t), end):
                return StepCode.NOT_FINITE
        return StepCode.NOT_FINITE if self._is_stuck(t, bound) else StepCode.DONE

    def _is_stuck(self, t: float, bound: float) -> bool:
        """Whether steps become ever shorter before a point beyond which the derivative is not finite.

        A library that accepts each of these steps would make almost no progress.
        """
        if not self._not_finite:
            return False
        if not self._edge <= t <= self._edge + EDGE_WIDTH * max(abs(t), abs(bound)):
            self._edge, self._at_edge = t, 0
        self._at_edge += 1
        return self._at_edge > MOST_AT_EDGE

    def _evaluation(self, system: System, state: State) -> Evaluation:
        """The derivative as the library calls it; it counts calls and raises if a block fails."""

        def evaluation(t: float, y: Vector) -> Vector:
            arrays = system.arrays(state)
            arrays[STATES][:] = y
            self._counts.evaluations += 1
            if self._walk(system.table, system.ints, *system.derivative_range, float(t), *arrays):
                self._failed = float(t), np.array(y)
                raise BlockFailedError
            rates: Vector = arrays[CACHE][: y.size].copy()
            if not np.isfinite(rates).all():
                # some libraries then shorten their steps endlessly, inside one call
                self._failed = float(t), np.array(y)
                self._not_finite += 1
                if self._not_finite > MOST_NOT_FINITE + y.size:
                    raise NotFiniteError
            return rates

        return evaluation

    def _move_state(self, system: System, state: State, t: float, y: Vector) -> bool:
        """Set time and states of a State, and realize it to Acceleration. Returns whether that succeeded."""
        arrays = system.arrays(state)
        arrays[STATES][:] = y
        self._counts.evaluations += 1
        with np.errstate(all="ignore"):
            failed = self._walk(system.table, system.ints, *system.derivative_range, t, *arrays)
        if failed or not np.isfinite(arrays[CACHE][: y.size]).all():
            self._failed = t, np.array(y)
            return False
        state.arrive_at(t)
        return True

    def restart(self, system: System, state: State) -> None:
        """Restart with a new solver."""
        self._solver = None
        self._longest = math.inf
        self._start = math.nan
        state.integrator_memory[0] = 0.0

    def redo(self, system: System, state: State, t_event: float) -> StepCode:
        """Step from the start of the last step exactly to `t_event`, in steps of the library's choice."""
        if not self._start < t_event <= self._accepted_end:
            raise ValueError(
                f"t = {t_event} s is not inside the last step, {self._start} to {self._accepted_end} s"
            )
        solver = self._solver
        self._solver, code, t, y = None, StepCode.DONE, self._start, self._y_start
        while t < t_event:
            code = self._attempt(system, state, t, y, t_event, 0.0)
            if code is not StepCode.DONE:
                self._solver = solver
                self._move_state(system, state, self._end, self._y_end)
                return code
            t, y = state.time, state.y.copy()
        self._solver, self._end, self._y_end = solver, t_event, y
        return code

    def interpolate(self, t: float, out: Vector) -> None:
        """The dense output of the last step, in its full length even after `redo`; ValueError outside."""
        start, end = self._start, self._accepted_end
        if not start <= t <= end or self._solver is None:
            raise ValueError(f"t = {t} s is not inside the last step, {start} to {end} s")
        if t in (self._start, self._end):
            out[:] = self._y_end if t == self._end else self._y_start
        else:
            out[:] = self._solver.at(t)

    @property
    def previous_time(self) -> float:
        """The start of the last step, s; NaN before the first step."""
        return self._start

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state of the evaluation that failed last."""
        return self._failed

    @property
    def statistics(self) -> StepStatistics:
        """Counts since the integrator was made; rejections inside the library are unknown."""
        return StepStatistics(*astuple(self._counts))

    def _prepare(self, system: System) -> None:
        relative, self._absolute = self.tolerances(system)
        if relative.size and (relative != relative[0]).any():
            raise cosim.ModelError.of(
                type(self).__name__,
                "relative_tolerance differs from state to state; this library takes one for all: "
                "give one number, and absolute_tolerance for each.",
            )
        self._relative = float(relative[0]) if relative.size else self.step_accuracy
        self._system, self._solver = system, None
        self._walk = compile_function(walk, WALK_SIGNATURE)
        self._error_places = [
            v.slot.offset for v in system.variables.values() if v.path.rpartition(".")[2] == "step_error"
        ]


def _cache_of(system: System, state: State) -> Vector:
    """The values computed from a State: derivatives come first."""
    cache: Vector = system.arrays(state)[CACHE]
    return cache

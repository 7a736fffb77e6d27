"""Integrators whose step is one compiled function."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from cosim import Integrator, SimulationError
from cosim.kit import (
    DENSE_SIGNATURE,
    DONE,
    REDO_SIGNATURE,
    TUNE_SIGNATURE,
    WORK_HEADER,
    DenseOutput,
    ErrorEstimate,
    MethodArrays,
    MethodKernels,
    MethodSlots,
    PlacedFunction,
    StepCode,
    StepMemory,
    StepReason,
    StepStatistics,
    StepWork,
    Vector,
    compiled,
    function_address,
    method_settings,
    method_slots,
    place_in,
    rows_of,
    step_without_states,
    width_of,
)
from cosim_integrators.kit.kinks import kink_room
from cosim_integrators.kit.prepared_steps import NOT_PREPARED, prepare_steps
from cosim_integrators.kit.start_of_run import initialize_steps, restart_steps

if TYPE_CHECKING:
    State = Any
    System = Any


CALLS = {
    "initialize": "begin_function",
    "step": "step_function",
    "advance": "step_function",
    "restart": "restart_function",
    "redo": "redo_function",
    "interpolate": "dense_function",
    "dense": "dense_function",
}
"""For each method of `CompiledIntegrator` the attribute that holds its kernel function."""
CODES = tuple(StepCode)  # by number; calling an enumeration is slow
NOTHING_LIMITS = "this system has no states that limit the step: give a finite t_stop or maximum_step"
# places in `work`
COUNTED = ("steps", "rejections", "evaluations", "jacobians", "factorizations", "newton_failures")
COUNTED_PLACES = np.array([place_in(StepWork, name) for name in COUNTED])  # an index list is slower
STEPS = place_in(StepWork, "steps")
END = place_in(StepWork, "end")
START_AND_END = [place_in(StepWork, "start"), END]
SLOTS_HEADER = width_of(MethodSlots)


class CompiledIntegrator(Integrator):
    """Base of integrators whose step, step taken again and dense output are kernel functions.

    A subclass names three kernel functions and says how large its arrays are; `cosim.contracts.method_layout`
    explains the arrays. `cosim.kit.step_entry` and `redo_entry` make the first two from functions that take
    two groups of arguments, the system and the method.

    Attributes
    ----------
    step_function, redo_function, dense_function : function
        Kernel functions; plain Python, compiled when a system is prepared.
    begin_function, restart_function : function
        Kernel functions of the beginning of a run and of the restart after a jump; a method with a memory of
        its own needs its own.
    complete_function : function or None
        Computes what dense output needs beyond the step itself.
    tune_function : function or None
        ``tune(settings, coefficients)`` writes the coefficients that depend on the accuracy. If they depend
        on it and there is no such function, the method must be exported again for another accuracy.
    followed_function : function or None
        The step whose tangent carries tangents along a run, from ``work`` and ``memory`` at its start; by
        default the step taken again.

    Notes
    -----
    A method that supports constraints calls `cosim.contracts.constraints.project_end` at the end of a step
    and of a step that is taken again, rejects a step whose end cannot be corrected, and declares
    ``supports_constraints``.

    Components influence steps with error control by three kinds of cache slots:

    - ``step_error``: an error that the component estimates itself, relative to its value. At the end of a
    step
      it must be within the accuracy, too.
    - ``smooth_until``: the time of the next jump or kink. Steps end there.
    - ``side_of_kink``: a number that changes its sign at a kink. A method that declares ``locates_kinks``
    ends
      steps there (`cosim_integrators.kit.kinks`). For `abs`, `max` and `min` such numbers are made from the
      sources of kernel functions.
    """

    step_function: ClassVar[Callable[..., Any]]
    redo_function: ClassVar[Callable[..., Any]]
    dense_function: ClassVar[Callable[..., Any]]
    begin_function: ClassVar[Callable[..., Any]] = initialize_steps
    restart_function: ClassVar[Callable[..., Any]] = restart_steps
    complete_function: ClassVar[Callable[..., Any] | None] = None
    tune_function: ClassVar[Callable[..., Any] | None] = None
    followed_function: ClassVar[Callable[..., Any] | None] = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._counts = np.zeros(len(COUNTED))
        self._system: Any = None
        self._ny = 0
        self._coefficients = self._settings = np.zeros(0)
        self._work = self._new_work(0)
        self._slots = np.zeros(SLOTS_HEADER, dtype=np.int64)
        self._has_no_states, self._memory_size = True, 0
        self._called: dict[Any, Callable[..., Any]] = {}
        self._prepared_steps = NOT_PREPARED

    # declared by subclasses

    @abstractmethod
    def coefficients(self, system: System) -> Vector:
        """Constant numbers of the method, for its kernel functions."""

    @abstractmethod
    def work_size(self, ny: int) -> int:
        """The count of numbers that the method needs in `work` beyond the header and three vectors."""

    @property
    def error_order(self) -> int:
        """The exponent of the step in the error estimate; a class may have it as a number."""
        return self.order

    def memory_size(self, ny: int) -> int:
        """The count of numbers in the memory; at least two: the next step and the error of the last one."""
        return width_of(StepMemory)

    def floors_at(self, ny: int) -> int:
        """The place in the memory of the absolute tolerances of the step; 0: they are constant."""
        return 0

    def extra_slots(self, system: System) -> list[int]:
        """Integers that the method needs at the end of `slots`."""
        return []

    # the contract `cosim.Integrator`

    def initialize(self, system: System, state: State) -> None:
        """Choose the first step and write the memory; the State is realized to Acceleration."""
        self.check(system, state)
        self._prepare(system)
        state.integrator_memory = np.zeros(self.memory_size(self._ny))
        self._call(type(self).begin_function, system, state)

    def kernels(self, system: System) -> MethodKernels | None:
        """See `Integrator.kernels`; None if a class has written one of the calls in Python."""
        self._prepare(system)
        cls = type(self)
        if cls.python_calls():
            return None
        functions = {
            "step": cls.step_function,
            "redo": cls.redo_function,
            "dense": cls.dense_function,
            "begin": cls.begin_function,
            "restart": cls.restart_function,
            "complete": cls.complete_function,
            "tune": cls.tune_function,
        }
        return MethodKernels(
            self._coefficients,
            self._settings,
            self._slots,
            self._work,
            functions,
            self.slot_functions(system),
            cls.followed_function or cls.redo_function,
            ErrorEstimate() if self.fixed_step is not None else self.followed_error(),
        )

    def followed_error(self) -> ErrorEstimate:
        """Where the step that derivatives follow writes its error estimate; empty if it writes none."""
        return ErrorEstimate()

    def slot_functions(self, system: System) -> list[PlacedFunction]:
        """Functions whose addresses stand in ``slots``."""
        return []

    @classmethod
    def python_calls(cls) -> list[str]:
        """For each call that a class has written in Python, a sentence that says so."""
        return [
            f"its {name}() is Python: give the class a {function}."
            for name, function in CALLS.items()
            if getattr(cls, name) is not getattr(CompiledIntegrator, name)
        ]

    def use_work(self, work: Vector) -> None:
        """See `Integrator.use_work`."""
        work[: self._work.size] = self._work
        self._work, self._prepared_steps = work, NOT_PREPARED

    def with_accuracy(self, accuracy: float) -> Self:
        """A copy with another accuracy, which is not prepared for a system."""
        copy = super().with_accuracy(accuracy)
        copy._system, copy._counts, copy._work = None, np.zeros(len(COUNTED)), self._work.copy()
        copy._prepared_steps = NOT_PREPARED
        return copy

    def step(self, system: System, state: State, t_stop: float, limit: float = math.inf) -> StepCode:
        """Take one accepted step; see `Integrator.step`. At `t_stop` nothing is done."""
        if self._system is not system:
            self._prepare(system)
        t = state.time
        if not t < t_stop:
            return self._stopped(t, t_stop)
        if state.integrator_memory.size != self._memory_size:
            return StepCode.NOT_INITIALIZED
        if t_stop == limit == self.maximum_step == math.inf and (
            self._has_no_states or _next_step(state.integrator_memory) == math.inf
        ):
            raise ValueError(NOTHING_LIMITS)
        code = self._advance(system, state, t, t_stop, limit, 1)
        if code == DONE:
            state.arrive_at(self._work.item(END))
            self._stepped(system, state)
        return CODES[code]

    def advance(
        self, system: System, state: State, t_stop: float, limit: float = math.inf, most: int = 1_000_000
    ) -> StepCode:
        """Take steps as `Integrator.advance`, in one call of compiled code."""
        if self._system is not system:
            self._prepare(system)
        t = state.time
        if not t < t_stop or self._has_no_states:
            return super().advance(system, state, t_stop, limit, most)
        if state.integrator_memory.size != self._memory_size:
            return StepCode.NOT_INITIALIZED
        before = self._work.item(STEPS)
        code = self._advance(system, state, t, t_stop, limit, most)
        if self._work.item(STEPS) > before:
            state.arrive_at(self._work.item(END))
        self._stepped(system, state)
        return CODES[code]

    def restart(self, system: System, state: State) -> None:
        """Continue after a jump with the length of the last step, but without the memory of its error.

        Error control rejects the step if it is too long; a new choice of its length would cost evaluations at
        every event.
        """
        if self._system is None:
            self._prepare(system)
        self._call(type(self).restart_function, system, state)

    def redo(self, system: System, state: State, t_event: float) -> StepCode:
        """Take the last step again up to `t_event`, which must not be behind its accepted end."""
        self._check_inside(t_event, self._last.accepted_end)
        if not t_event > self.previous_time:
            raise ValueError(
                f"the last step began at {self.previous_time} s; it cannot be repeated up to {t_event} s"
            )
        code = self._redo(
            *(system.table, system.ints, *system.derivative_range, t_event, *system.arrays(state)),
            *(self._coefficients, self._settings, state.integrator_memory, self._work, self._slots),
        )
        state.arrive_at(self._last.end)
        self._stepped(system, state)
        return CODES[code]

    def interpolate(self, t: float, out: Vector) -> None:
        """The dense output of the method; ValueError outside the last step."""
        self._check_inside(t, self._last.end)
        self._complete()
        self._dense(t, self._coefficients, self._work, out, out)

    def dense(self) -> DenseOutput:
        """The dense output of the last step."""
        self._complete()
        address = function_address(type(self).dense_function, DENSE_SIGNATURE)
        return DenseOutput(address, self._dense, self._coefficients, self._work)

    @property
    def previous_time(self) -> float:
        """The start of the last step, s; NaN before the first step."""
        return self._last.start

    @property
    def reason(self) -> StepReason:
        """The reason why the last step ended where it did."""
        return StepReason(int(self._last.reason))

    @property
    def steps(self) -> int:
        """Accepted steps since the integrator was made."""
        return int(self._counts.item(0) + self._work.item(STEPS))

    @property
    def statistics(self) -> StepStatistics:
        """Steps, rejections and evaluations since the integrator was made."""
        return StepStatistics(*map(int, (self._counts + self._work[COUNTED_PLACES]).tolist()))

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state, shape (ny,), of the evaluation that failed last."""
        return self._last.failed_time, self._method.spare.copy()

    # internal

    @property
    def _last(self) -> StepWork:
        """The results of the last step."""
        last: StepWork = rows_of(StepWork, self._work, 0, 1)[0]
        return last

    @property
    def _method(self) -> MethodArrays:
        """The arrays without the memory, which belongs to a State."""
        no_memory = np.zeros(0)
        return MethodArrays(self._ny, self._coefficients, self._settings, no_memory, self._work, self._slots)

    @staticmethod
    def _new_work(size: int) -> Vector:
        """An array `work` before the first step, with `size` numbers behind the header."""
        work = np.zeros(WORK_HEADER + size)
        work[START_AND_END] = math.nan
        return work

    def _stepped(self, system: System, state: State) -> None:
        """For subclasses: called after a step, when the State is at its end."""

    def _complete(self) -> None:
        """For subclasses: compute what dense output needs beyond the step."""

    def _stopped(self, t: float, t_stop: float) -> StepCode:
        if t == t_stop:
            return StepCode.DONE
        raise ValueError(f"cannot step from t = {t} s back to t_stop = {t_stop} s")

    def _advance(
        self, system: System, state: State, t: float, t_stop: float, limit: float, most_steps: int
    ) -> int:
        """Take up to `most_steps` steps from `t` on; the code of the last one."""
        arrays = system.arrays(state)
        y, _, _, _, h, c = arrays
        memory = state.integrator_memory
        if not self._prepared_steps.are_for(y, h, c, memory):
            step_function = step_without_states if self._has_no_states else type(self).step_function
            method_arrays = self._coefficients, self._settings, memory, self._work, self._slots
            self._prepared_steps = prepare_steps(step_function, system, arrays, method_arrays)
        prepared = self._prepared_steps
        times = prepared.times
        prepared.steps.most, times.start, times.stop, times.limit = most_steps, t, t_stop, limit
        code: int = prepared.call()
        return code

    def _call(self, function: Any, system: System, state: State) -> None:
        """Call one of the method's functions that have the signature of a step taken again."""
        code = compiled(function, REDO_SIGNATURE)(
            *(system.table, system.ints, *system.derivative_range, state.time, *system.arrays(state)),
            *(self._coefficients, self._settings, state.integrator_memory, self._work, self._slots),
        )
        if code != DONE:
            raise SimulationError(state.time, CODES[code].sentence)

    def _prepare(self, system: System) -> None:
        """Make the arrays for a system."""
        self._counts += self._work[COUNTED_PLACES]
        self._system, self._ny, self._called = system, int(system.ny), {}
        self._settings = method_settings(self, system, self.error_order, self.floors_at(self._ny))
        self._coefficients = self.coefficients(system)
        if (tune := type(self).tune_function) is not None:
            compiled(tune, TUNE_SIGNATURE)(self._settings, self._coefficients)
        self._slots = method_slots(system, self.extra_slots(system))
        # without states and slots a step can have any length, and takes one evaluation
        self._has_no_states = self._ny + self._slots.size == SLOTS_HEADER
        self._memory_size = self.memory_size(self._ny)
        self._prepared_steps = NOT_PREPARED
        room_of_kinks = kink_room(self._method.slots.kinks, self._ny)
        self._work = self._new_work(3 * self._ny + self.work_size(self._ny) + room_of_kinks)

    def _in_python(self, function: Any, signature: str) -> Callable[..., Any]:
        """A kernel function, compiled for calls from Python at the first of them."""
        if function not in self._called:
            self._called[function] = compiled(function, signature)
        return self._called[function]

    @property
    def _redo(self) -> Callable[..., Any]:
        return self._in_python(type(self).redo_function, REDO_SIGNATURE)

    @property
    def _dense(self) -> Callable[..., Any]:
        return self._in_python(type(self).dense_function, DENSE_SIGNATURE)

    def _check_inside(self, t: float, end: float) -> None:
        start = self.previous_time
        if not start <= t <= end:
            raise ValueError(
                f"t = {t} s is not inside the last step, {start} to {end} s"
                if start == start
                else f"there is no last step that could hold t = {t} s"
            )


def _next_step(memory: Vector) -> float:
    return float(rows_of(StepMemory, memory, 0, 1)[0].next_step)

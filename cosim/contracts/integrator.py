"""The contract of integrators."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cosim.argument_checks import read_seconds
from cosim.attributes import MadeFromOptions
from cosim.component.values import own_value
from cosim.contracts.capabilities import Capabilities
from cosim.contracts.dense_output import DenseOutput
from cosim.contracts.method_kernels import MethodKernels
from cosim.contracts.step_code import StepCode, StepReason
from cosim.contracts.step_statistics import StepStatistics
from cosim.contracts.tolerances import (
    LOOSEST_ACCURACY,
    LOOSEST_WINDOW,
    Tolerance,
    accuracy_fault,
    accuracy_of_step,
    held_sizes,
    tolerance_problems,
    tolerances,
)
from cosim.errors import ContractError, ModelError, Problem
from cosim.registration.kinds import plugin_kind
from cosim.value_text import quote

if TYPE_CHECKING:
    State = Any
    System = Any

Vector = NDArray[np.float64]

DEFAULT_ACCURACY = 1e-6


@plugin_kind("integrator")
class Integrator(MadeFromOptions):
    """Advances the continuous state of a system, one step at a time.

    What must survive from one step to the next lies in the State (`State.integrator_memory`), so that
    a restored State goes on to the same bytes. What belongs to the last step alone (for dense output
    and for taking it again) may lie in the integrator.

    The error of a state in one step is held below ``max(absolute_tolerance, relative_tolerance * |y|)``.
    Errors of steps add up, by how much follows from the method: without tolerances a method holds the error
    of one step to a share of the accuracy, ``step_share``, so that the error of a run is near the accuracy.

    Parameters
    ----------
    accuracy : float, optional
        Wanted relative error of a run that does not amplify errors, at most 0.1; 1e-6 unless given. With a
        fixed step up to 1: events are located to a hundredth of it times the step.
    initial_step : float, optional
        First step, s. Chosen from the first two derivatives unless given; not beside `fixed_step`.
    minimum_step, maximum_step : float
        Bounds of the step, s. A step may be shorter than the minimum only to end where it must.
        Error control that wants less is reported, never accepted.
    fixed_step : float, optional
        The length of every step but the last one before a target, s; there is no error control then.
    relative_tolerance, absolute_tolerance : float or mapping of str to float, optional
        Where `accuracy` alone is not meant: a number, or numbers by group of states (``q``, ``u``, ``z``)
        and by path (``"engine"``, ``"engine.q"``, ``"wheel*.u"``). A relative tolerance is that of one step,
        and so is `accuracy` beside it. Without one it is `step_accuracy`. The absolute tolerance is a
        thousandth of the relative one times the largest value that the state has had in the run, or its
        ``nominal``, unless given.

    Attributes
    ----------
    contract_kit : str
        Class attribute: the kit that checks it; empty where it is none for this method.
    kit_values : dict of str to object
        Class attribute: attributes of the kit for this method, where ``cosim check`` runs it.
    capabilities : Capabilities
        What the method can do; declared on the class.
    order : int
        Of the solution.
    bibtex : str
        Where the method was published: BibTeX entries.
    step_share : (float, float)
        Factor and power; declared on the class: the error of one step is held to
        ``accuracy * min(1, factor * accuracy**power)``. (1, 0) holds each step to the accuracy.

    Raises
    ------
    ModelError
        With everything that is wrong.
    """

    contract_kit: ClassVar[str] = "cosim.testing.integrator_contract:IntegratorContract"
    kit_values: ClassVar[Mapping[str, Any]] = {}
    capabilities: ClassVar[Capabilities] = Capabilities()
    order: int = 0
    bibtex: ClassVar[str] = ""
    step_share: ClassVar[tuple[float, float]] = (1.0, 0.0)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not isinstance(cls.capabilities, Capabilities):
            declared = quote(cls.capabilities)
            raise ContractError(
                f"{cls.__name__}: capabilities is {declared}, needs cosim.kit.Capabilities(adaptive=True, …)"
            )

    def __init__(
        self,
        *,
        accuracy: float | None = None,
        initial_step: float | str | None = None,
        minimum_step: float | str = 0.0,
        maximum_step: float | str = math.inf,
        fixed_step: float | str | None = None,
        relative_tolerance: Tolerance | None = None,
        absolute_tolerance: Tolerance | None = None,
    ) -> None:
        name = type(self).__name__
        initial_step = None if initial_step is None else read_seconds(initial_step, "initial_step")
        fixed_step = None if fixed_step is None else read_seconds(fixed_step, "fixed_step")
        minimum_step = read_seconds(minimum_step, "minimum_step")
        maximum_step = read_seconds(maximum_step, "maximum_step")
        problems = _faults_of_accuracy(name, accuracy, is_fixed=fixed_step is not None)
        problems += _faults_of_steps(name, initial_step, fixed_step, minimum_step, maximum_step)
        problems += tolerance_problems(name, "relative_tolerance", relative_tolerance)
        problems += tolerance_problems(name, "absolute_tolerance", absolute_tolerance)
        tolerances = {"relative_tolerance": relative_tolerance, "absolute_tolerance": absolute_tolerance}
        problems += self._faults_of_choice(fixed_step, [n for n, t in tolerances.items() if t is not None])
        if problems:
            raise ModelError(problems)
        self.accuracy = min(DEFAULT_ACCURACY if accuracy is None else float(accuracy), LOOSEST_ACCURACY)
        self.initial_step, self.fixed_step = initial_step, fixed_step
        self.minimum_step, self.maximum_step = minimum_step, maximum_step
        self._given_tolerances = own_value((relative_tolerance, absolute_tolerance))

    def _faults_of_choice(self, fixed_step: float | None, tolerances: list[str]) -> list[Problem]:
        """Tolerances that a fixed step leaves without an effect, or a step that the method cannot choose."""
        name = type(self).__name__
        if fixed_step is not None and not self.capabilities.implicit:
            text = "has no effect beside fixed_step, with an explicit method: leave it out."
            return [Problem(name, f"{tolerance} {text}") for tolerance in tolerances]
        if fixed_step is None and not self.capabilities.adaptive:
            text = (
                "fixed_step is missing: this method has no error estimate, so it cannot keep an accuracy. "
                "Give fixed_step = 1e-3 (s), or choose a method with error control."
            )
            return [Problem(name, text)]
        return []

    @property
    def relative_tolerance(self) -> Tolerance | None:
        """As given: of all states, or by group and path; None where it was not given."""
        return _read_only(self._given_tolerances[0])

    @property
    def absolute_tolerance(self) -> Tolerance | None:
        """As given: of all states, or by group and path; None where it was not given."""
        return _read_only(self._given_tolerances[1])

    def with_accuracy(self, accuracy: float) -> Self:
        """A copy of the integrator with another accuracy, at most the loosest one that is allowed."""
        twin = copy.copy(self)
        vars(twin)["accuracy"] = min(accuracy, LOOSEST_ACCURACY)
        return twin

    @property
    def share_of_step(self) -> tuple[float, float]:
        """`step_share`, or (1, 0) where tolerances of one step are given, or the step is."""
        has_step_settings = self.relative_tolerance is not None or self.fixed_step is not None
        return (1.0, 0.0) if has_step_settings else self.step_share

    @property
    def step_accuracy(self) -> float:
        """The tolerance of the relative error of one step."""
        return accuracy_of_step(self.accuracy, *self.share_of_step)

    def tolerances(self, system: System) -> tuple[Vector, Vector]:
        """The relative and the absolute tolerance of every state of a system, each of shape (ny,).

        Raises
        ------
        ModelError
            A tolerance names what the system does not have.
        """
        settings = (self.relative_tolerance, self.absolute_tolerance)
        least = self.least_absolute_tolerance(system)
        return tolerances(type(self).__name__, system, self.step_accuracy, *settings, least)

    def held_sizes(self, system: System) -> Vector:
        """The size that each state's absolute tolerance is held to (0: it follows its largest value so far).

        It follows where neither a user has given one nor the author of the component a ``nominal``.
        """
        return held_sizes(type(self).__name__, system, self.relative_tolerance, self.absolute_tolerance)

    def least_absolute_tolerance(self, system: System) -> float:
        """The lower bound of absolute tolerances that are not given, in the units of the states."""
        return 0.0

    def kernels(self, system: System) -> MethodKernels | None:
        """The method as kernel functions and numbers for a system; None where its steps are Python."""
        return None

    def use_work(self, work: Vector) -> None:
        """Take an array of the Step, at least as long as that of `kernels`, in place of the own ``work``."""
        return None

    def attach(self, system: System, state: State) -> None:
        """Know the State whose steps compiled code takes, in the arrays of this integrator."""
        return None

    def check(self, system: System, state: State) -> None:
        """Refuse, with a `SimulationError`, systems that are not for this method."""
        return None

    @classmethod
    def python_calls(cls) -> list[str]:
        """Why the method cannot run without Python, whatever the system; empty when it can."""
        text = "its steps are those of a library: choose an integrator whose steps are kernel functions "
        return [text + "(integrators.dormand_prince; for stiff systems integrators.radau5)."]

    def unlowered(self, system: System) -> str:
        """Why the method cannot run without Python for this system, with a remedy; empty when it can."""
        return ""

    @abstractmethod
    def memory_size(self, ny: int) -> int:
        """Length of `State.integrator_memory` for a system with `ny` continuous states."""

    @abstractmethod
    def initialize(self, system: System, state: State) -> None:
        """Begin at a State that is realized to Acceleration: choose the first step, write the memory.

        A restored State goes on without it: its memory says everything.
        """

    @abstractmethod
    def step(self, system: System, state: State, t_stop: float, limit: float = math.inf) -> StepCode:
        """Take one accepted step from a State that is realized to Acceleration.

        Parameters
        ----------
        t_stop : float
            Not past this time, s; when it is reached, it is reached exactly.
        limit : float
            Longest step that is allowed this time, s.

        Returns
        -------
        StepCode
            DONE: time and state are those of the end, realized to Acceleration. Anything else: the
            State is exactly as before.
        """

    def advance(
        self, system: System, state: State, t_stop: float, limit: float = math.inf, most: int = 1_000_000
    ) -> StepCode:
        """Take steps until `t_stop`, or so many, or until one of them fails; the code of the last one.

        For callers that need nothing between the steps; compiled methods do this in one call.
        """
        code = StepCode.DONE
        for _ in range(most):
            code = self.step(system, state, t_stop, limit)
            if code is not StepCode.DONE or not state.time < t_stop:
                break
        return code

    @abstractmethod
    def restart(self, system: System, state: State) -> None:
        """Forget what an event made void; the State is realized to Acceleration at the new point."""

    @abstractmethod
    def redo(self, system: System, state: State, t_event: float) -> StepCode:
        """Take the last step again so that it ends exactly at `t_event`, without error control.

        An event is located by dense output, but the state there comes from a step of its own: it is
        two orders more accurate.
        """

    @abstractmethod
    def interpolate(self, t: float, out: Vector) -> None:
        """Write the state at `t` inside the last step into `out`, shape (ny,)."""

    def dense(self) -> DenseOutput | None:
        """The dense output of the last step for compiled code; None where the method has no compiled one.

        Ask after each step: methods of high order complete here what dense output needs.
        """
        return None

    @property
    def reason(self) -> StepReason:
        """The reason why the last step ended where it did."""
        return StepReason.METHOD

    @property
    def warnings(self) -> list[str]:
        """Warnings about the run so far, in sentences: for instance that the system is stiff."""
        return []

    @property
    @abstractmethod
    def previous_time(self) -> float:
        """The start of the last step, s; NaN before the first step."""

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state of the evaluation that failed last, where the method knows."""
        return None

    @property
    def worst_state(self) -> int:
        """Index in y of the state with the largest error in the last attempt; -1 where it is not known."""
        return -1

    @property
    def steps(self) -> int:
        """Accepted steps so far, as in `statistics`, but cheap to read."""
        return self.counts.steps

    @property
    def counts(self) -> StepStatistics:
        """The `statistics`; `ContractError` where a method answers something else."""
        statistics = self.statistics
        if isinstance(statistics, StepStatistics):
            return statistics
        raise ContractError(
            f"{type(self).__name__}.statistics is {quote(statistics)}, "
            "needs a cosim.kit.StepStatistics(steps, rejections, evaluations)"
        )

    @property
    @abstractmethod
    def statistics(self) -> StepStatistics:
        """Steps, rejections and evaluations so far."""


def _faults_of_accuracy(where: str, accuracy: float | None, is_fixed: bool) -> list[Problem]:
    """An accuracy that is none, or too loose; with a fixed step it is that of isolation windows."""
    loosest = LOOSEST_WINDOW if is_fixed else LOOSEST_ACCURACY
    if accuracy is not None and (fault := accuracy_fault(accuracy, loosest)):
        return [Problem(where, f"accuracy {fault}.")]
    return []


def _faults_of_steps(
    where: str, initial: float | None, fixed: float | None, minimum: float, maximum: float
) -> list[Problem]:
    """Lengths of steps, s, that are none, or contradict each other."""
    optional = {"initial_step": initial, "fixed_step": fixed}
    problems = []
    for name, value in optional.items():
        if value is not None and not 0.0 < value < math.inf:
            problems.append(Problem(where, f"{name} is {value}, must be a positive number."))
    if not 0.0 <= minimum < math.inf:
        problems.append(Problem(where, f"minimum_step is {minimum}, must be a number of seconds, 0 or more."))
    if not maximum > 0.0:
        problems.append(Problem(where, f"maximum_step is {maximum}, must be a positive number of seconds."))
    if maximum < minimum:
        problems.append(
            Problem(where, f"maximum_step {maximum} is below minimum_step {minimum}; exchange them.")
        )
    for name in ("initial_step", "fixed_step"):
        value = optional[name]
        if value is not None and value > 0.0 and not minimum <= value <= maximum:
            problems.append(Problem(where, f"{name} is {value}, must lie between {minimum} and {maximum} s."))
    if None not in optional.values():
        problems.append(
            Problem(where, "initial_step has no effect beside fixed_step: leave one of them out.")
        )
    return problems


def _read_only(tolerance: Tolerance | None) -> Tolerance | None:
    """A tolerance that cannot be changed."""
    return MappingProxyType(tolerance) if isinstance(tolerance, dict) else tolerance

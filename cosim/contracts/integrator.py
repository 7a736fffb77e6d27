"""The contract of integrators."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError, Problem

if TYPE_CHECKING:
    State = Any
    System = Any

Vector = NDArray[np.float64]

DEFAULT_ACCURACY = 1e-6
LOOSEST_ACCURACY = 0.1


class StepCode(IntEnum):
    """How a step ended. After anything but DONE the State is as it was before the step."""

    DONE = 0
    NOT_FINITE = 1
    MINIMUM_STEP = 2
    BLOCK_FAILED = 3
    NOT_INITIALIZED = 4

    @property
    def sentence(self) -> str:
        """What happened and what to do, for people."""
        return {
            StepCode.DONE: "The step was taken.",
            StepCode.NOT_FINITE: "A state or a derivative is infinite or not a number: look for a division "
            "by zero, a solution that ends here, or a fixed step that is too long.",
            StepCode.MINIMUM_STEP: "The accuracy would need a step smaller than the smallest one allowed: "
            "loosen the accuracy, lower minimum_step, or look for a jump that should be an event.",
            StepCode.BLOCK_FAILED: "A component could not be evaluated.",
            StepCode.NOT_INITIALIZED: "The integrator's memory in the State is empty: call initialize first.",
        }[self]


@dataclass(frozen=True)
class StepStatistics:
    """What an integrator did since it was made.

    Attributes
    ----------
    steps : int
        Accepted steps.
    rejections : int
        Attempts that were repeated with a smaller step.
    evaluations : int
        Evaluations of the derivative, those of the first step's choice included.
    """

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0


class Integrator(ABC):
    """Advances the continuous state of a system, one step at a time.

    What must survive from one step to the next lies in the State (`State.integrator_memory`), so that
    a restored State goes on to the same bytes. What belongs to the last step alone (for dense output
    and for taking it again) may lie in the integrator.

    The tolerance of a component of the state is ``accuracy * max(scale, |y|)``: relative above the
    scale, absolute below it.

    Parameters
    ----------
    accuracy : float, optional
        Tolerance of the error of one step; 1e-6 unless given, more than 0.1 is taken as 0.1.
    initial_step : float, optional
        First step, s. Chosen from the first two derivatives unless given.
    minimum_step, maximum_step : float
        Bounds of the step, s. A step may be shorter than the minimum only to end where it must.
        Error control that wants less is reported, never accepted.
    fixed_step : float, optional
        The length of every step but the last one before a target, s; there is no error control then.
    scale : float or array_like, shape (ny,)
        Magnitude of a state below which its error is absolute, > 0; in the units of the states.

    Raises
    ------
    ModelError
        With everything that is wrong.
    """

    has_error_estimate: bool = False
    order: int = 0

    def __init__(
        self,
        *,
        accuracy: float | None = None,
        initial_step: float | None = None,
        minimum_step: float = 0.0,
        maximum_step: float = math.inf,
        fixed_step: float | None = None,
        scale: float | Sequence[float] | Vector = 1e-3,
    ) -> None:
        self.scale = np.atleast_1d(np.asarray(scale, dtype=float))
        problems = list(
            _problems(
                type(self).__name__,
                {"accuracy": accuracy, "initial_step": initial_step, "fixed_step": fixed_step},
                minimum_step,
                maximum_step,
                self.scale,
            )
        )
        if fixed_step is None and not self.has_error_estimate:
            problems.append(
                Problem(
                    type(self).__name__,
                    "this method has no error estimate, so it cannot keep an accuracy: "
                    "give fixed_step (s), or choose a method with error control.",
                )
            )
        if problems:
            raise ModelError(problems)
        self.accuracy = min(DEFAULT_ACCURACY if accuracy is None else float(accuracy), LOOSEST_ACCURACY)
        self.initial_step = None if initial_step is None else float(initial_step)
        self.minimum_step, self.maximum_step = float(minimum_step), float(maximum_step)
        self.fixed_step = None if fixed_step is None else float(fixed_step)

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

    @property
    @abstractmethod
    def previous_time(self) -> float:
        """Where the last step began, s; NaN when there is none."""

    @property
    def failed_at(self) -> tuple[float, Vector] | None:
        """Time, s, and continuous state of the evaluation that failed last, where the method knows."""
        return None

    @property
    @abstractmethod
    def statistics(self) -> StepStatistics:
        """Steps, rejections and evaluations so far."""


def _problems(
    where: str, optional: dict[str, float | None], minimum: float, maximum: float, scale: Vector
) -> list[Problem]:
    found = []
    for name, value in optional.items():
        if value is not None and not 0.0 < value < math.inf:
            found.append(Problem(where, f"{name} is {value}, must be a positive number."))
    if not 0.0 <= minimum < math.inf:
        found.append(Problem(where, f"minimum_step is {minimum}, must be a number of seconds, 0 or more."))
    if not maximum > 0.0:
        found.append(Problem(where, f"maximum_step is {maximum}, must be a positive number of seconds."))
    if maximum < minimum:
        found.append(
            Problem(where, f"maximum_step {maximum} is below minimum_step {minimum}; exchange them.")
        )
    for name in ("initial_step", "fixed_step"):
        value = optional[name]
        if value is not None and value > 0.0 and not minimum <= value <= maximum:
            found.append(Problem(where, f"{name} is {value}, must lie between {minimum} and {maximum} s."))
    if not (np.isfinite(scale).all() and (scale > 0.0).all()):
        found.append(Problem(where, f"scale is {scale.tolist()}, must be positive."))
    return found

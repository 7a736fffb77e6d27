"""An integrator as kernel functions and numbers, as the Step calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.component.kink_functions import SIDE_OF_KINK
from cosim.contracts.method_layout import MethodSlots, Settings, ToleranceRule
from cosim.last_result_cache import reuse_last
from cosim_compiler.record import words_of

if TYPE_CHECKING:
    Integrator = Any
    System = Any

Vector = NDArray[np.float64]

STEP_ERROR = "step_error"
"""Cache slots of this name hold errors that components themselves report, relative to what they compute."""

SMOOTH_UNTIL = "smooth_until"
"""Cache slots of this name hold the time at which a component will jump or have a kink."""


class PlacedFunction(NamedTuple):
    """A kernel function that is called by an address in an array of integers."""

    place: int  # of the address in the array
    function: Callable[..., Any]
    signature: str


class ErrorEstimate(NamedTuple):
    """Where a step leaves its error estimate: a sum of adjacent vectors of ``work``.

    Attributes
    ----------
    first : int
        The first vector, as `MethodArrays.work_vector` counts them.
    weights : sequence of float
        Empty if there is no estimate.
    second : sequence of float
        Weights of a second estimate E; empty if there is none. With it the error is not the first one, e,
        but e² / sqrt(e² + E²).
    is_rate : bool
        Whether the sum is multiplied by the length of the step.
    jump_weights : sequence of float
        Where the vectors are derivatives of the states at several times of the step: weights of a sum of them
        that is at least as large as a jump of such a derivative anywhere in the step, but small where it is
        smooth. Empty if there are none, or if a step begins with more than the states and their derivatives.
    """

    first: int = 0
    weights: Sequence[float] = ()
    second: Sequence[float] = ()
    is_rate: bool = False
    jump_weights: Sequence[float] = ()


@dataclass(frozen=True)
class MethodKernels:
    """The kernel functions and arrays of an integrator for one system.

    Attributes
    ----------
    coefficients, settings, slots, work : ndarray
        See `cosim.contracts.method_layout`; `work` as it is at the beginning of a run.
    functions : dict of str to function or None
        Kernel functions under the names "step", "redo", "dense", "begin", "restart", "complete" and "tune".
        "complete" is None if dense output needs nothing more, "tune" if the coefficients do not depend on the
        accuracy.
    slot_functions : list of PlacedFunction
        Functions whose addresses stand in ``slots``.
    followed_step : function or None
        The kernel function that derivatives of runs differentiate: it goes from the start of a step, which
        ``work`` and ``memory`` hold, to a time. It has the signature of "redo".
    followed_error : ErrorEstimate
        Its error estimate; empty if it has none.
    """

    coefficients: Vector
    settings: Vector
    slots: NDArray[np.int64]
    work: Vector
    functions: dict[str, Callable[..., Any] | None]
    slot_functions: list[PlacedFunction] = field(default_factory=list)
    followed_step: Callable[..., Any] | None = None
    followed_error: ErrorEstimate = field(default_factory=ErrorEstimate)


def method_settings(integrator: Integrator, system: System, error_order: int, floors_at: int = 0) -> Vector:
    """The array ``settings`` of an integrator for a system; `floors_at` is as in `Settings`."""
    relative, absolute = integrator.tolerances(system)
    settings = Settings(
        accuracy=integrator.accuracy,
        smallest_step=integrator.minimum_step,
        largest_step=integrator.maximum_step,
        fixed_step=integrator.fixed_step or 0.0,
        error_order=error_order,
        first_step=integrator.initial_step or 0.0,
        is_cubic=integrator.capabilities.cubic_until_completed,
        step_accuracy=integrator.step_accuracy,
        floors_at=floors_at,
    )
    rule = ToleranceRule(*integrator.share_of_step, integrator.least_absolute_tolerance(system))
    held_sizes = integrator.held_sizes(system)
    return np.concatenate([np.frombuffer(settings), relative, absolute, np.frombuffer(rule), held_sizes])


def method_slots(system: System, extra: list[int]) -> NDArray[np.int64]:
    """The array ``slots`` for a system; `extra` are the integers of the method itself, at its end."""
    return reuse_last(system, "_method_slots", extra, lambda: _method_slots(system, extra))


def _method_slots(system: System, extra: list[int]) -> NDArray[np.int64]:
    """`method_slots`, computed anew."""
    errors, smooth = slots_named(system, STEP_ERROR), slots_named(system, SMOOTH_UNTIL)
    kinks = slots_named(system, SIDE_OF_KINK) if system.ny else []
    holds = bool(getattr(system, "holds_witnesses", False))
    return np.concatenate(
        [slot_numbers(system, errors, smooth, kinks, holds), np.array(extra, dtype=np.int64)]
    )


def slot_numbers(
    system: System, errors: list[int], smooth: list[int], kinks: list[int], holds: bool
) -> NDArray[np.int64]:
    """`MethodSlots` of a system, followed by the offsets whose numbers it holds.

    Parameters
    ----------
    errors, smooth, kinks : list of int
        Offsets in the cache of reported errors, of times until which components are smooth, and of numbers
        that change their sign at a kink.
    holds : bool
        Whether witnesses are held.
    """
    inner_first, inner_last = system.inner_range
    head = MethodSlots(
        corrections=system.corrections,
        inner_first=inner_first,
        inner_last=inner_last,
        errors=len(errors),
        smooth=len(smooth),
        kinks=len(kinks),
        holds=holds,
    )
    return np.array([*words_of(head), *errors, *smooth, *kinks], dtype=np.int64)


def slots_named(system: System, name: str) -> list[int]:
    """Offsets in the cache of everything that a component declares under a name."""
    return [offset for slot in system.slots_named(name) for offset in slot.elements]

"""An integrator as kernel functions and numbers, as the Step calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.kink_functions import SIDE_OF_KINK
from cosim.contracts.method_layout import Corrections, MethodSlots, Settings
from cosim.last_made import last_made
from cosim_compiler.record import words_of

if TYPE_CHECKING:
    Integrator = Any
    System = Any

Vector = NDArray[np.float64]

STEP_ERROR = "step_error"
"""Cache slots of this name hold errors that components themselves report, relative to what they compute."""

SMOOTH_UNTIL = "smooth_until"
"""Cache slots of this name hold the time at which a component will jump or have a kink."""


@dataclass(frozen=True)
class MethodKernels:
    """What an integrator whose steps are kernel functions gives to the Step, for one system.

    Attributes
    ----------
    coefficients, settings, slots, work : ndarray
        As `cosim.contracts.method_layout` explains them; `work` as it begins.
    functions : dict of str to function or None
        "step", "redo", "dense", "begin", "restart", "complete" and "tune": kernel functions. A method that
        needs nothing to complete dense output, or whose coefficients do not follow the accuracy, has None.
    slot_functions : list of (int, function, str)
        Those whose addresses stand in ``slots``: the place of each, the function, its signature.
    followed_step : function or None
        The kernel function that derivatives of runs differentiate: it goes from the start of a step, which
        ``work`` and ``memory`` hold, to a time. It has the signature of "redo".
    """

    coefficients: Vector
    settings: Vector
    slots: NDArray[np.int64]
    work: Vector
    functions: dict[str, Callable[..., Any] | None]
    slot_functions: list[tuple[int, Callable[..., Any], str]] = field(default_factory=list)
    followed_step: Callable[..., Any] | None = None


def method_settings(integrator: Integrator, system: System, error_order: int) -> Vector:
    """The array ``settings`` of an integrator for a system."""
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
    )
    share, least = integrator.share_of_step, [integrator.least_absolute_tolerance(system)]
    held_sizes = integrator.held_sizes(system)
    return np.concatenate([np.frombuffer(settings), relative, absolute, share, least, held_sizes])


def method_slots(system: System, extra: list[int]) -> NDArray[np.int64]:
    """The array ``slots`` for a system; `extra` is what the method adds."""
    return last_made(system, "_method_slots", extra, lambda: _method_slots(system, extra))


def _method_slots(system: System, extra: list[int]) -> NDArray[np.int64]:
    errors, smooth = slots_named(system, STEP_ERROR), slots_named(system, SMOOTH_UNTIL)
    kinks = slots_named(system, SIDE_OF_KINK) if system.ny else []
    holds = bool(getattr(system, "holds_witnesses", False))
    return np.concatenate(
        [slot_numbers(system, errors, smooth, kinks, holds), np.array(extra, dtype=np.int64)]
    )


def slot_numbers(
    system: System, errors: list[int], smooth: list[int], kinks: list[int], holds: bool
) -> NDArray[np.int64]:
    """`MethodSlots` of a system, and behind it the offsets that it counts."""
    inner_first, inner_last = system.inner_range
    head = MethodSlots(
        corrections=Corrections(*system.projection.tolist()),
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

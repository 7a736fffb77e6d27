"""An integrator as kernel functions and numbers, as the Step calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.kinks import SIDE_OF_KINK
from cosim.contracts import method_layout as layout

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
    """

    coefficients: Vector
    settings: Vector
    slots: NDArray[np.int64]
    work: Vector
    functions: dict[str, Callable[..., Any] | None]


def method_settings(integrator: Integrator, system: System, error_order: int) -> Vector:
    """The array ``settings`` of an integrator for a system."""
    relative, absolute = integrator.tolerances(system)
    head = np.zeros(layout.SETTINGS_HEADER)
    head[layout.ACCURACY], head[layout.ERROR_ORDER] = integrator.accuracy, error_order
    head[layout.SMALLEST], head[layout.LARGEST] = integrator.minimum_step, integrator.maximum_step
    head[layout.FIXED], head[layout.INITIAL] = integrator.fixed_step or 0.0, integrator.initial_step or 0.0
    head[layout.IS_CUBIC] = integrator.capabilities.cubic_until_completed
    head[layout.STEP_ACCURACY] = integrator.step_accuracy
    share, least = integrator.share_of_step, [integrator.least_absolute_tolerance(system)]
    return np.concatenate([head, relative, absolute, share, least, integrator.held_sizes(system)])


def method_slots(system: System, extra: list[int]) -> NDArray[np.int64]:
    """The array ``slots`` for a system; `extra` is what the method adds."""
    errors, smooth = slots_named(system, STEP_ERROR), slots_named(system, SMOOTH_UNTIL)
    kinks = slots_named(system, SIDE_OF_KINK) if system.ny else []
    head = [*system.projection.tolist(), *system.inner_range, len(errors), len(smooth), len(kinks)]
    head.append(int(getattr(system, "holds_witnesses", False)))
    return np.array([*head, *errors, *smooth, *kinks, *extra], dtype=np.int64)


def slots_named(system: System, name: str) -> list[int]:
    """Offsets in the cache of everything that a component declares under a name."""
    return [offset for slot in system.slots_by_name.get(name, ()) for offset in slot.elements]

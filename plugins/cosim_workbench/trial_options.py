"""The settings of the runs of a second opinion: tighter ones, another method, another solver.

Public: other packages that repeat runs tighten settings in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cosim
from cosim import ModelError, System, registry
from cosim.kit import kinds_of

ACCURACY = 1e-6  # of a run whose settings name none
TIGHTER = 0.1
TOLERANCES = ("relative_tolerance", "absolute_tolerance")


def decides(system: System) -> bool:
    """Whether a change of sign may call a handler, or a handler may decide by the values that it reads."""
    handlers = (handler for part in system.parts.values() for handler in part.handlers.values())
    return any(handler.witness or handler.does != "publish" for handler in handlers)


def accuracy_of(settings: Mapping[str, Any]) -> float:
    """The accuracy of a run: the one that was given, else the largest relative tolerance that was."""
    tolerance = settings.get("relative_tolerance")
    if "accuracy" not in settings and tolerance is not None:
        return float(max(tolerance.values()) if isinstance(tolerance, Mapping) else tolerance)
    return float(settings.get("accuracy", ACCURACY))


def tightened(settings: dict[str, Any], accuracy: float) -> dict[str, Any]:
    """Settings with a tenth of the accuracy and of all tolerances, and half of a fixed step."""
    tighter = {**settings, "accuracy": TIGHTER * accuracy}
    if "fixed_step" in settings:
        tighter["fixed_step"] = 0.5 * settings["fixed_step"]
    for name in TOLERANCES:
        value = settings.get(name)
        if isinstance(value, dict):
            tighter[name] = {key: TIGHTER * number for key, number in value.items()}
        elif value is not None:
            tighter[name] = TIGHTER * value
    return tighter


def rival_method(method: str, constrained: bool) -> str:
    """Id of the method of the highest order that is as implicit as the given one, and is not that one."""
    entry_of_method = registry().entry("integrator", method)
    implicit = entry_of_method.cls.capabilities.implicit
    rivals: list[tuple[int, str]] = []
    for entry in registry().entries("integrator"):
        cls: type[cosim.Integrator] = entry.cls
        capabilities = cls.capabilities
        fits = capabilities.adaptive and capabilities.resumes_exactly
        fits = fits and not capabilities.needs_second_order_form and capabilities.implicit == implicit
        fits = fits and (capabilities.supports_constraints or not constrained)
        if fits and entry.id != entry_of_method.id:
            rivals.append((-cls.order, entry.id))
    return min(rivals, default=(0, ""))[1]


def with_other_solver(model: cosim.Model) -> tuple[str, System | None]:
    """Id of another dynamics solver and the system that it makes of the model; "" and None without one."""
    base = model.solver_base
    if base is None:
        return "", None
    settings = dict(model.settings)
    other_ids = [entry.id for entry in registry().entries(kinds_of(base)[0]) if entry.id != model.solver_id]
    for id in other_ids:
        model.settings = {**settings, base.setting: id}
        try:
            return id, model.build()
        except ModelError:
            continue
        finally:
            model.settings = settings
    return "", None


def same_start(system: System, state: Any) -> Any:
    """A State of a system with the time and the variables of a State of another system of the same model."""
    if state.system is system or state.system.digest == system.digest:
        return state.copy()
    start = system.default_state()
    for name in ("y", "p", "d", "k"):
        if start.arrays[name].size != state.arrays[name].size:
            raise ModelError.of("verify", "the State to start from does not fit the system of another solver")
        start.arrays[name][:] = state.arrays[name]
    start.set_time(state.time)
    return start

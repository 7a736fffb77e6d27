"""How an exported FMU integrates, and the experiment that it proposes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import cosim


def run_settings(
    model: cosim.Model, given: Mapping[str, Any], integrator: str | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Integrator, accuracy and default experiment, from the arguments, else from the model."""
    own = model.simulation
    problems = []
    for name in ("step_size", "stop_time", "accuracy"):
        value = given[name]
        if value is not None and not 0.0 < value < float("inf"):
            problems.append(cosim.Problem(name, f"is {value!r}, needs a positive number"))
    if problems:
        raise cosim.ModelError(problems)
    until, wanted = own.get("until"), own.get("accuracy")
    of_a_run = inspect.signature(cosim.Model.simulate).parameters
    return {
        "integrator": integrator or own.get("integrator") or "integrators.runge_kutta_merson",
        "integrator_options": {**{n: v for n, v in own.items() if n not in of_a_run}, **options},
        "accuracy": float(given["accuracy"] or wanted or 1e-6),
        "step_size": given["step_size"] if given["step_size"] is not None else own.get("output_interval"),
        "stop_time": given["stop_time"] if given["stop_time"] is not None else until,
    }

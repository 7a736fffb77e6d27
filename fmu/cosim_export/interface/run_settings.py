"""How an exported FMU integrates, and the experiment that it proposes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import cosim


def run_settings(
    model: cosim.Model, arguments: Mapping[str, Any], integrator: str | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Integrator, accuracy and default experiment, from the arguments, else from the model."""
    simulation = model.simulation
    problems = []
    for name in ("step_size", "stop_time", "accuracy"):
        value = arguments[name]
        if value is not None and not 0.0 < value < float("inf"):
            problems.append(cosim.Problem(name, f"is {value!r}, needs a positive number"))
    if problems:
        raise cosim.ModelError(problems)
    until, accuracy = simulation.get("until"), simulation.get("accuracy")
    of_a_run = inspect.signature(cosim.Model.simulate).parameters
    return {
        "integrator": integrator or simulation.get("integrator") or "integrators.runge_kutta_merson",
        "integrator_options": {**{n: v for n, v in simulation.items() if n not in of_a_run}, **options},
        "accuracy": float(arguments["accuracy"] or accuracy or 1e-6),
        "step_size": arguments["step_size"]
        if arguments["step_size"] is not None
        else simulation.get("output_interval"),
        "stop_time": arguments["stop_time"] if arguments["stop_time"] is not None else until,
    }

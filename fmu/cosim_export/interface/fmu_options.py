"""FmuOptions: the options of an export that all kinds of FMUs have."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import cosim

SELECTIONS = ("inputs", "outputs", "parameters", "expose", "all", "defaults")


@dataclass(frozen=True, kw_only=True)
class FmuOptions:
    """Options of `Model.export_fmu` for every kind of FMU: its variables, and how it runs.

    Attributes
    ----------
    inputs, outputs, parameters, expose, all, step_size, stop_time, integrator, accuracy
        See `cosim.Exporter.export`.
    defaults : bool
        Whether parameters with their default value are shown, if the class of their part declares them.
    naming : str
        "structured" (``strut.stiffness[4]``), or "flat": names without dots (``strut_stiffness_4``), for
        tools that make a bus of names with dots.
    names : mapping of str to str, optional
        New names, by the structured names of variables, or of vectors (for all their elements).
    integrator_options : mapping of str to object
        All other options.
    """

    inputs: Sequence[str] | None = None
    outputs: Sequence[str] | None = None
    parameters: Sequence[str] | None = None
    expose: Sequence[str] | None = None
    all: bool = False
    defaults: bool = True
    step_size: float | None = None
    stop_time: float | None = None
    integrator: str | None = None
    accuracy: float | None = None
    naming: str = "structured"
    names: Mapping[str, str] | None = None
    integrator_options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def option_names(cls) -> list[str]:
        """The names of options, without those of the integrator."""
        return [each.name for each in fields(cls) if each.name != "integrator_options"]

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Self:
        """Options from keyword arguments; unknown names are options of the integrator."""
        option_names = cls.option_names()
        options = {name: value for name, value in arguments.items() if name in option_names}
        integrator_options = {name: value for name, value in arguments.items() if name not in option_names}
        return cls(**options, integrator_options=integrator_options)

    @property
    def selections(self) -> dict[str, Any]:
        """The options that select variables, as arguments of `select_variables`."""
        return {name: getattr(self, name) for name in SELECTIONS}

    def settings(self, model: cosim.Model) -> dict[str, Any]:
        """Integrator, accuracy and default experiment, from these options or else from the model."""
        positive = {name: getattr(self, name) for name in ("step_size", "stop_time", "accuracy")}
        problems = [
            cosim.Problem(name, f"is {value!r}, needs a positive number")
            for name, value in positive.items()
            if value is not None and not 0.0 < value < float("inf")
        ]
        if problems:
            raise cosim.ModelError(problems)
        simulation = model.simulation
        arguments_of_run = inspect.signature(cosim.Model.simulate).parameters
        integrator_options = {n: value for n, value in simulation.items() if n not in arguments_of_run}
        step, stop = simulation.get("output_interval"), simulation.get("until")
        return {
            "integrator": self.integrator or simulation.get("integrator") or "integrators.runge_kutta_merson",
            "integrator_options": {**integrator_options, **self.integrator_options},
            "accuracy": float(self.accuracy or simulation.get("accuracy") or 1e-6),
            "step_size": step if self.step_size is None else self.step_size,
            "stop_time": stop if self.stop_time is None else self.stop_time,
        }

"""The common part of exporters of FMUs: options, checked parts, and the summary of an FMU."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import cosim
from cosim.kit import ExportReport, has_corrections
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.named_by_model import CONTINUOUS_STATES, DISCRETE_STATES
from cosim_export.interface.names import leaves_that_are_branches, without_subscripts
from cosim_export.interface.smoke_experiment import add_smoke_experiment


def check_parts(model: cosim.Model) -> None:
    """Refuse a model with parts that cannot be exported; `ModelError` names all."""
    problems = [
        cosim.Problem(name, f"this part cannot be exported: {part.not_exported}")
        for name, part in model.parts.items()
        if part.not_exported
    ]
    if problems:
        raise cosim.ModelError(problems)


def first_state(system: cosim.System) -> cosim.State:
    """The default State with constraints met and quaternions normalized.

    A simulation changes what is not, so start values taken from the default State would not be those that it
    begins with. Where the constraints cannot be met it is the default State; the initialization says why.
    """
    state = system.default_state()
    if not has_corrections(system.corrections):
        return state
    try:
        cosim.assemble(system, state)
    except cosim.SimulationError:
        return system.default_state()
    return state


@dataclass(frozen=True, kw_only=True)
class FmuOptions:
    """Options of `Model.export_fmu` for every kind of FMU: its variables, and how it runs.

    Attributes
    ----------
    inputs, outputs, parameters, expose, all, step_size, stop_time, integrator, accuracy
        See `cosim.Exporter.export`.
    defaults : bool
        Whether parameters that keep their default are shown, where their part declares them.
    naming : str
        "structured" (``strut.stiffness[4]``), or "flat": names without dots (``strut_stiffness_4``), for
        tools that make a bus of names with dots.
    names : mapping of str to str, optional
        Other names, by structured names of variables, or of vectors (all their elements).
    integrator_options : mapping of str to object
        All else that is given.
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
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Options from keyword arguments; unknown names are options of the integrator."""
        option_names = cls.option_names()
        options = {name: value for name, value in given.items() if name not in option_names}
        return cls(**{n: given[n] for n in option_names if n in given}, integrator_options=options)

    @property
    def selections(self) -> dict[str, Any]:
        """The options that select variables, as arguments of `select_variables`."""
        return {name: getattr(self, name) for name in SELECTIONS}

    def settings(self, model: cosim.Model) -> dict[str, Any]:
        """Integrator, accuracy and default experiment, from these options, else from the model."""
        positive = {name: getattr(self, name) for name in ("step_size", "stop_time", "accuracy")}
        problems = [
            cosim.Problem(name, f"is {value!r}, needs a positive number")
            for name, value in positive.items()
            if value is not None and not 0.0 < value < float("inf")
        ]
        if problems:
            raise cosim.ModelError(problems)
        simulation = model.simulation
        of_a_run = inspect.signature(cosim.Model.simulate).parameters
        own = {name: value for name, value in simulation.items() if name not in of_a_run}
        step, stop = simulation.get("output_interval"), simulation.get("until")
        return {
            "integrator": self.integrator or simulation.get("integrator") or "integrators.runge_kutta_merson",
            "integrator_options": {**own, **self.integrator_options},
            "accuracy": float(self.accuracy or simulation.get("accuracy") or 1e-6),
            "step_size": step if self.step_size is None else self.step_size,
            "stop_time": stop if self.stop_time is None else self.stop_time,
        }


SELECTIONS = ("inputs", "outputs", "parameters", "expose", "all", "defaults")
KINDS = {
    "parameters": ("parameter",),
    "states": (*CONTINUOUS_STATES, *DISCRETE_STATES),
    "outputs": ("output", "measure"),
}


def left_out(system: cosim.System, variables: Iterable[FmuVariable]) -> dict[str, int]:
    """The number of parameters, states and outputs that an FMU does not show; a vector counts once.

    Parameters
    ----------
    system : cosim.System
    variables : iterable of FmuVariable
        As `select_variables` gave them.
    """
    shown = {path for v in variables for path in (without_subscripts(v.path), v.name)}
    hidden = [v.kind for path, v in system.variables.items() if path not in shown]
    return {name: sum(kind in kinds for kind in hidden) for name, kinds in KINDS.items()}


def left_out_text(counts: Mapping[str, int]) -> str:
    """A line, or nothing where all is shown.

    Examples
    --------
    >>> left_out_text({"parameters": 3, "states": 0, "outputs": 1})
    'left out: 3 parameters, 1 output. --all (all=True) shows everything; --parameters, --outputs choose'
    >>> left_out_text({"parameters": 0, "states": 0, "outputs": 0})
    ''
    """
    some = {name: count for name, count in counts.items() if count}
    if not some:
        return ""
    listed = ", ".join(f"{n} {name if n > 1 else name.removesuffix('s')}" for name, n in some.items())
    options = ", ".join(f"--{'expose' if name == 'states' else name}" for name in some)
    return f"left out: {listed}. --all (all=True) shows everything; {options} choose"


def bus_warnings(variables: Iterable[FmuVariable]) -> tuple[str, ...]:
    """A warning for names that are both a variable and the beginning of others, with the remedy."""
    clashes = leaves_that_are_branches(without_subscripts(v.name) for v in variables)
    if not clashes:
        return ()
    (name, longer), *others = clashes
    more = f" (and {len(others)} more such names)" if others else ""
    return (
        f"{name} is a variable, and the name of {longer} begins with it{more}: tools that make a bus of "
        'names with dots (Simulink) take no such port. --naming flat (naming="flat") writes names without '
        f'dots, --names {name}=other (names={{"{name}": "other"}}) gives one another name',
    )


log = logging.getLogger("cosim.export")


class FmuExporter(cosim.Exporter):
    """An exporter whose reports count what the FMU does not show, and warn of names.

    Attributes
    ----------
    options : type of FmuOptions
        The names that `export` accepts.
    """

    options: ClassVar[type[FmuOptions]] = FmuOptions

    def option_names(self) -> list[str]:
        """Names of its options, but for those of the integrator."""
        return self.options.option_names()

    def add_experiment(self, path: Path) -> str:
        """A smoke experiment: some steps, and what the FMU shows."""
        return add_smoke_experiment(path)

    def report(
        self, target: Path, form: str, interface: FmuInterface, left_out: Mapping[str, int]
    ) -> ExportReport:
        """The report of an export to `target`; its warnings are logged as well."""
        warnings = bus_warnings(interface.variables)
        for text in warnings:
            log.warning("%s: %s", interface.model_name, text)
        summary = "\n".join(line for line in (form, left_out_text(left_out)) if line)
        return ExportReport(target, summary, warnings)

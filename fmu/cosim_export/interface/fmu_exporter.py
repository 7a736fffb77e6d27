"""What every exporter of FMUs does: parts are checked, settings found, and what is left out is told."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import corrections_of, has_corrections
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
    if not has_corrections(corrections_of(system)):
        return state
    try:
        cosim.assemble(system, state)
    except cosim.SimulationError:
        return system.default_state()
    return state


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


KINDS = {
    "parameters": ("parameter",),
    "states": (*CONTINUOUS_STATES, *DISCRETE_STATES),
    "outputs": ("output", "measure"),
}


def left_out(system: cosim.System, variables: Iterable[FmuVariable]) -> dict[str, int]:
    """How many parameters, states and outputs of the system an FMU does not show; a vector counts once.

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
    found = leaves_that_are_branches(without_subscripts(v.name) for v in variables)
    if not found:
        return ()
    (name, longer), *others = found
    more = f" (and {len(others)} more such names)" if others else ""
    return (
        f"{name} is a variable, and the name of {longer} begins with it{more}: tools that make a bus of "
        'names with dots (Simulink) take no such port. --naming flat (naming="flat") writes names without '
        f'dots, --names {name}=other (names={{"{name}": "other"}}) gives one another name',
    )


log = logging.getLogger("cosim.export")


class FmuExporter(cosim.Exporter):
    """An exporter whose summary counts what the FMU does not show, and that warns of names."""

    def add_experiment(self, path: Path) -> str:
        """A smoke experiment: some steps, and what the FMU shows."""
        return add_smoke_experiment(path)

    def tell(self, what: str, interface: FmuInterface, left_out: Mapping[str, int]) -> None:
        """Keep the summary and the warnings of what was written; warnings are logged as well."""
        self.summary = "\n".join(line for line in (what, left_out_text(left_out)) if line)
        self.warnings = bus_warnings(interface.variables)
        for text in self.warnings:
            log.warning("%s: %s", interface.model_name, text)

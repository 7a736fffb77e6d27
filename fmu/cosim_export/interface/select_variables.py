"""The selection of variables of a system for an FMU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import cosim
from cosim_export.interface.describe_variable import derivative_of, variable_of
from cosim_export.interface.element_choice import ElementChoice
from cosim_export.interface.first_state import first_state
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.named_by_model import NamedByModel
from cosim_export.interface.variable_dependencies import with_dependencies


def select_variables(
    system: cosim.System,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    parameters: Sequence[str] | None = None,
    expose: Sequence[str] | None = None,
    all: bool = False,  # noqa: A002
    defaults: bool = True,
) -> tuple[FmuVariable, ...]:
    """Inputs, outputs, parameters and locals of the FMU, in this order.

    Parameters
    ----------
    system : cosim.System
    inputs, outputs, parameters, expose : sequence of str, optional
        Paths (elements count from 0) or patterns; None for the defaults of `cosim.Exporter.export`.
    all : bool
        Whether the defaults are all variables instead of those that the model names.
    defaults : bool
        Whether parameters with their default value are among those that the model names.

    Returns
    -------
    tuple of FmuVariable
        Every scalar once: an output is not a local, too. At the end come the derivatives of all continuous
        states among them: ``der(strut.x)``.

    Raises
    ------
    ModelError
        Selections that match nothing, with the closest names, or an FMU without variables.
    """
    choice = ElementChoice(system)
    kinds = {path: variable.kind for path, variable in choice.variables.items()}
    free = set(system.inputs)
    readable = [p for p, kind in kinds.items() if kind not in ("parameter", "signal") and p not in free]
    tunable = [p for p, kind in kinds.items() if kind == "parameter"]
    named = NamedByModel(system, defaults=defaults)
    if all:
        default_outputs = [path for path in system.outputs if path in readable]
        default_parameters, default_locals = tunable, choice.shown_by_default(readable)
    else:
        default_outputs, default_parameters = named.outputs, named.parameters
        default_locals = [*named.outputs, *named.states]
    paths = {
        "input": choice.choose("inputs", inputs, list(system.inputs), list(system.inputs)),
        "output": choice.choose("outputs", outputs, readable, default_outputs),
        "parameter": choice.choose("parameters", parameters, tunable, default_parameters),
        "fixed": named.frames if parameters is None and not all else [],
        "local": choice.choose("expose", expose, readable, default_locals),
    }
    if choice.problems:
        raise cosim.ModelError(choice.problems)
    chosen = _described(system, choice, paths)
    if not chosen:
        raise cosim.ModelError.of("", "the FMU would have no variables: name inputs, outputs or parameters")
    states = [v for v in chosen if v.array == "y" and v.initial == "exact"]
    by_name = {v.name: v for v in (*chosen, *(derivative_of(system, state) for state in states))}
    return with_dependencies(system, by_name.values())


def _described(
    system: cosim.System, choice: ElementChoice, paths: Mapping[str, Sequence[str]]
) -> list[FmuVariable]:
    """The variables of paths by causality, each scalar once; the second name of a state is an alias."""
    start, discrete = first_state(system).realize(cosim.Stage.TIME), system.discrete_signals()
    chosen: dict[str, FmuVariable] = {}
    states: set[int] = set()
    for causality, paths_of_causality in paths.items():
        for element in (e for path in paths_of_causality for e in choice.elements(path)):
            if element.name in chosen:
                continue
            variable = variable_of(system, start, element, causality, discrete)
            if variable.array == "y" and variable.offset in states:
                variable = _as_alias(variable)
            elif variable.array == "y":
                states.add(variable.offset)
            chosen[element.name] = variable
    return list(chosen.values())


def _as_alias(variable: FmuVariable) -> FmuVariable:
    """A state under a second name: it cannot be set there."""
    return replace(variable, initial="calculated", start=None)

"""The variables of a co-simulation as one FMU."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable, parse_unit
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_export.interface.names import c_identifier
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.recording.recorder import Recorder
from cosim_master.trust.verdict import VERDICTS

TYPES = {"real": "Real", "integer": "Integer", "boolean": "Boolean", "string": "String"}
START = {"Real": 0.0, "Integer": 0, "Boolean": False, "String": ""}
COUPLING = "coupling"
"""Prefix of the names of variables for the error of the coupling."""
UNKNOWN = -1.0
"""An error that is not known."""


def container_interface(loop: CoSimulation, path: Path) -> tuple[ExportedInterface, dict[str, int]]:
    """The interface of the FMU of a co-simulation, and the number of variables of each kind that it lacks.

    Inputs are those that no connection feeds; parameters and outputs those of the participants, or what
    the scenario records; the error of the coupling stands under `COUPLING`.

    Parameters
    ----------
    loop : CoSimulation
    path : Path
        The file of the scenario, whose name it gets.

    Raises
    ------
    ModelError
        A participant has the name `COUPLING`.
    """
    if COUPLING in loop.descriptions:
        text = f"the error of the coupling has names that begin with {COUPLING}: choose another name"
        raise cosim.ModelError.of(f"participants.{COUPLING}", text)
    recorder = Recorder(loop.descriptions, loop.links, loop.run_options.record, derived=loop.derived)
    variables, meanings, left_out = _of_participants(loop, recorder)
    names = {v.name for v in variables}
    inputs = {v.name for v in variables if v.causality == "input"}
    settable = tuple(v.name for v in variables if v.is_settable)
    listed = [*variables, *_derived(loop, names), *_of_coupling(loop, recorder.ports, meanings)]
    name = path.stem if path.is_file() else path.resolve().name
    interface = ExportedInterface(
        model_name=name,
        identifier=c_identifier(name),
        about={},
        variables=tuple(
            replace(v, dependencies=direct_dependencies(loop, v.name, inputs), initial_dependencies=settable)
            if v.initial == "calculated"
            else v
            for v in listed
        ),
        integrator="",
        integrator_options={},
        accuracy=None,
        has_arrays=False,
        unit_meanings=meanings,
        step_size=loop.step,
        stop_time=loop.until,
        start_time=loop.start,
    )
    return interface, left_out


def _of_participants(
    loop: CoSimulation, recorder: Recorder
) -> tuple[list[FmuVariable], dict[str, Any], dict[str, int]]:
    """The variables of the participants, what their units mean, and how many of each kind have no type."""
    fed = {link.end for link in loop.all_links}
    recorded = {port for port in recorder.ports if port not in fed}
    variables: list[FmuVariable] = []
    meanings: dict[str, Any] = {}
    left_out: dict[str, int] = {}
    for name, description in loop.descriptions.items():
        for variable in description.variables.values():
            port = name, variable.name
            causality = _causality(description, variable, is_fed=port in fed, is_recorded=port in recorded)
            if not causality:
                continue
            start = loop.start_values[name].get(variable.name, variable.start)
            shown = _variable(name, description, variable, causality, start, meanings)
            if shown is None:
                kind = f"{variable.type} {causality}s"
                left_out[kind] = left_out.get(kind, 0) + 1
            else:
                variables.append(shown)
    return variables, meanings, left_out


def _causality(
    description: ParticipantDescription, variable: ParticipantVariable, *, is_fed: bool, is_recorded: bool
) -> str:
    """The causality that the FMU shows; "" for a variable that it does not show."""
    if description.over_time or is_fed:
        return ""
    if variable.causality == "input":
        return "input"
    if variable.causality == "parameter":
        settable = description.settable is None or variable.name in description.settable
        is_free = settable and variable.name not in {*description.structural, *description.calculated}
        return "parameter" if is_free else ""
    return ("output" if variable.causality == "output" else "local") if is_recorded else ""


def _fmu_variable(
    path: str, kind: str, causality: str, variability: str, initial: str, **more: Any
) -> FmuVariable:
    """A variable of the FMU that is read through its participant, and from no array of a model."""
    return FmuVariable(path, path, "", 0, 0, kind, causality, variability, initial, **more)


def _variable(
    name: str,
    description: ParticipantDescription,
    variable: ParticipantVariable,
    causality: str,
    start: Any,
    meanings: dict[str, Any],
) -> FmuVariable | None:
    """A variable of a participant as one of the FMU; None where FMI 2.0 has no scalar type for it."""
    kind = TYPES.get(variable.type)
    if kind is None or (causality == "parameter" and start is None):
        return None
    items = _items(description, variable.name)
    path = f"{name}.{variable.name}"
    more: dict[str, Any] = {
        "unit": _unit(description, variable, meanings) if kind == "Real" else "1",
        "description": variable.description,
        "items": items,
    }
    changes = kind != "Real" or variable.name in description.discrete
    if causality in ("input", "parameter"):
        more["start"] = _start(kind, start)
        variability = "discrete" if changes else "continuous"
        if causality == "parameter":
            variability = "tunable" if variable.name in description.tunable else "fixed"
        initial = "exact" if causality == "parameter" else ""
    else:
        variability, initial = "discrete" if changes else "continuous", "calculated"
    kind = "Enumeration" if items else kind
    return _fmu_variable(path, kind, causality, variability, initial, **more)


def _start(kind: str, value: Any) -> Any:
    """A start value as FMI has it."""
    if value is None:
        return START[kind]
    return {"Real": float, "Integer": int, "Boolean": bool, "String": str}[kind](value)


def _items(description: ParticipantDescription, name: str) -> tuple[str, ...]:
    """The items of an enumeration that counts from 1; other enumerations are integers."""
    items = description.enumerations.get(name, ())
    counted = [value for _, value in items] == list(range(1, len(items) + 1))
    return tuple(item for item, _ in items) if counted else ()


def _unit(
    description: ParticipantDescription, variable: ParticipantVariable, meanings: dict[str, Any]
) -> str:
    """The unit if its name has the meaning of the participant, or if the participant defines it; else none.

    What participants say goes into `meanings`; one that says something else than an earlier one has none.
    """
    unit = variable.unit or "1"
    own = description.unit_definitions.get(unit)
    try:
        meant = parse_unit(unit)
    except cosim.UnitError:
        is_same = own is not None and meanings.setdefault(unit, tuple(own)) == tuple(own)
    else:
        is_same = own is None or tuple(own) == (meant.exponents, meant.factor, meant.offset)
    return unit if is_same else "1"


def _known_unit(unit: str) -> str:
    try:
        parse_unit(unit)
    except cosim.UnitError:
        return "1"
    return unit


def _derived(loop: CoSimulation, names: Collection[str]) -> Iterator[FmuVariable]:
    """Outputs of the connectors of an SSP's own system."""
    for name, derived in loop.derived.items():
        participant, variable = derived.port
        description = loop.descriptions[participant]
        kind = TYPES.get(description.variables[variable].type)
        if kind in ("Real", "Integer", "Boolean") and name not in names:
            changes = kind != "Real" or variable in description.discrete
            variability = "discrete" if changes else "continuous"
            unit = _known_unit(derived.unit or "1")
            yield _fmu_variable(name, "Real", "output", variability, "calculated", unit=unit)


def _of_coupling(
    loop: CoSimulation, ports: Collection[tuple[str, str]], meanings: dict[str, Any]
) -> Iterator[FmuVariable]:
    """The largest error, the verdict, and the error of each real output."""
    unknown = f"; {UNKNOWN:g} where it is not known"
    yield _fmu_variable(
        *(f"{COUPLING}.error", "Real", "output", "discrete", "calculated"),
        description=f"largest error of the coupling until now, of the range of its output{unknown}",
    )
    yield _fmu_variable(
        *(f"{COUPLING}.verdict", "Enumeration", "output", "discrete", "calculated"),
        items=VERDICTS,
        description="what to do about it",
    )
    starts = {link.start for link in loop.links}
    for name, description in loop.descriptions.items():
        for variable in description.variables.values():
            port = name, variable.name
            is_assessed = variable.type == "real" and (port in starts or port in ports)
            if is_assessed and not description.over_time and variable.causality in ("output", "local"):
                path = f"{COUPLING}.{name}.{variable.name}"
                yield _fmu_variable(
                    *(path, "Real", "local", "discrete", "calculated"),
                    unit=_unit(description, variable, meanings),
                    description=f"error of the coupling in {name}.{variable.name}{unknown}",
                )


def direct_dependencies(loop: CoSimulation, path: str, inputs: Collection[str]) -> tuple[str, ...]:
    """The inputs on which a variable depends directly, through its own participant alone."""
    name, _, variable = path.partition(".")
    if name not in loop.descriptions or name in loop.unreadable_before_step:
        return ()
    paths = (f"{name}.{input}" for input in direct_inputs(loop.descriptions[name], variable))
    return tuple(path_of_input for path_of_input in paths if path_of_input in inputs)

"""What an FMU declares, read from its model description."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import cosim
from cosim.kit import DefaultExperiment, ParticipantDescription, ParticipantVariable, UnitDefinition
from cosim_fmi.archive import FmuArchive
from cosim_fmi.description.fmu_clock import FmuClock
from cosim_fmi.description.model_description import read_model_description
from cosim_fmi.tools.twenty_sim import adds_inner_steps

TYPES = {
    "Real": "real",
    "Integer": "integer",
    "Enumeration": "integer",
    "Boolean": "boolean",
    "String": "string",
    # FMI 3.0
    "Float64": "real",
    "Float32": "real",
    **{f"{sign}Int{bits}": "integer" for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "Binary": "binary",
    "Clock": "clock",
}
CAUSALITIES = ("input", "output", "parameter")
EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True)
class Element:
    """Where a scalar of an FMU stands: in a variable of its own, or in one that is an array.

    Attributes
    ----------
    reference : int
        Value reference of the variable.
    type : str
        As the FMU calls it: "Real", "Float64".
    index, size : int
        Which element (row by row), of how many.
    sign : int
        -1 for an alias of FMI 1.0 with the negative value.
    """

    reference: int
    type: str
    index: int = 0
    size: int = 1
    sign: int = 1


@dataclass(frozen=True)
class FmuInterface:
    """Facts of an FMU that the master and the binding to its library need.

    Attributes
    ----------
    description : ParticipantDescription
    elements : dict of str to Element
        Elements of arrays are named ``matrix[1,2]``, counted from 1.
    version : str
        "1.0", "2.0" or "3.0".
    event_mode : bool
        Whether an FMU for FMI 3.0 has an event mode in Co-Simulation.
    model_exchange : bool
        Whether it has no solver of its own; then `states` and `indicators` say how many continuous states and
        event indicators it has, and `wants_steps` whether it is to be told of integrator steps.
    restores_by_states : bool
        Whether it cannot save its state but needs not: time, continuous states and inputs are all of it,
        since no variable changes at events alone.
    guid, identifier : str
    clocks : dict of str to FmuClock
        Clocks that can tick: of an FMU that has an event mode.
    clocked : dict of str to tuple of str
        For each variable that belongs to clocks their names.
    intermediate : frozenset of str
        Inputs that can be written inside a communication step.
    shown_inside : frozenset of str
        Other variables that can be read there.
    offers : tuple of str
        Interfaces of the file: "CoSimulation", "ModelExchange".
    log_categories : tuple of str
    inner_step : float or None
        s, of a clock inside that adds it up (`InnerClock`), where that is known: tools that make such FMUs
        do not declare it.
    """

    description: ParticipantDescription
    elements: Mapping[str, Element]
    guid: str
    identifier: str
    log_categories: tuple[str, ...]
    version: str = "2.0"
    event_mode: bool = False
    model_exchange: bool = False
    restores_by_states: bool = False
    states: int = 0
    indicators: int = 0
    wants_steps: bool = False
    offers: tuple[str, ...] = ("CoSimulation",)
    clocks: Mapping[str, FmuClock] = field(default_factory=dict)
    clocked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    intermediate: frozenset[str] = frozenset()
    shown_inside: frozenset[str] = frozenset()
    inner_step: float | None = None


def read_interface(
    archive: FmuArchive, interface: str, sizes: Mapping[str, int] | None = None
) -> FmuInterface:
    """Read the model description of a checked archive with fmpy.

    Parameters
    ----------
    archive : FmuArchive
    interface : str
        The interface to be used, one of those that it offers.
    sizes : mapping of str to int, optional
        Values of structural parameters instead of their start values.

    Raises
    ------
    FmuError
        When it cannot be understood. Small offences against the standard that do no harm here
        (units not defined, missing InitialUnknowns, odd variability) are let pass.
    """
    try:
        return _interface(*read_model_description(archive), archive, interface, sizes or {})
    except Exception as error:  # fmpy lets KeyError, TypeError, ValueError … of a bad document through
        raise cosim.FmuError(
            str(archive.path), f"modelDescription.xml cannot be understood: {type(error).__name__}: {error}"
        ) from error


def _check_names(shown: Sequence[Any], names: Mapping[str, Sequence[str]]) -> None:
    """Raise `ValueError` where two variables, or elements of arrays, have one name."""
    owners: dict[str, Any] = {}
    for variable in shown:
        for name in names[variable.name]:
            other = owners.setdefault(name, variable)
            if other is not variable or len(names[variable.name]) != len(set(names[variable.name])):
                both = " and ".join(
                    f"{v.causality or 'local'} {v.name!r} (value reference {v.valueReference})"
                    for v in (other, variable)
                )
                raise ValueError(f"two variables have the name {name!r}: {both}")


def _interface(
    read: Any, elements: Mapping[str, Any], archive: FmuArchive, interface: str, sizes: Mapping[str, int]
) -> FmuInterface:
    steps = interface == "CoSimulation"
    ability = read.coSimulation if steps else read.modelExchange
    third = read.fmiVersion.startswith("3")
    events = third and (not steps or ability.hasEventMode)
    shown = [v for v in read.modelVariables if v.type in TYPES and v.causality != "independent"]
    shapes = {v.name: _shape(v, sizes) for v in shown}
    names = {v.name: _names(v.name, shapes[v.name]) for v in shown}
    _check_names(shown, names)
    texts = {n: [s.get("value", "") for s in e.findall("Start")] for n, e in elements.items()}
    starts = {v.name: texts.get(v.name) or v.start for v in shown}
    variables = {
        name: _variable(v, name, i, starts[v.name]) for v in shown for i, name in enumerate(names[v.name])
    }
    clocks = {name: FmuClock.of(e.attrib) for name, e in elements.items() if e.tag == "Clock"}
    inputs = frozenset(name for name, v in variables.items() if v.causality == "input")
    updated = {name for name, e in elements.items() if e.get("intermediateUpdate") in ("true", "1")}
    intermediate = frozenset(n for v in shown if v.name in updated for n in names[v.name])
    negated = {name for name, e in elements.items() if e.get("alias") == "negatedAlias"}
    first = read.fmiVersion == "1.0"
    told = {n: e.find("DirectDependency") for n, e in elements.items()}
    direct = {
        n: inputs & {"".join(name.itertext()).strip() for name in needed.findall("Name")}
        for v, needed in told.items()
        if needed is not None
        for n in names.get(v, ())
    }
    feedthrough, assumed = _feedthrough(read, inputs, names, direct)
    saves = ability.canGetAndSetFMUstate
    by_states = not steps and not saves and not clocks and not any(_changes_at_events(v) for v in shown)
    tells = third and steps and ability.providesIntermediateUpdate
    updates = tells and bool(intermediate & inputs)
    description = ParticipantDescription(
        kind=f"FMI {read.fmiVersion} {'Co-Simulation' if steps else 'Model Exchange'}",
        variables=variables,
        feedthrough=feedthrough,
        can_restore=saves or by_states,
        follows_slopes=updates or not steps or (not third and ability.canInterpolateInputs),
        # an execution tool may care about the thread that calls it
        steps_in_threads=not ability.needsExecutionTool,
        can_serialize=saves and ability.canSerializeFMUstate and not (clocks and events),
        settable=frozenset(name for v in shown if _takes_start(v, first) for name in names[v.name]),
        tunable=frozenset(
            n
            for v in shown
            if steps and not events and v.causality == "parameter" and v.variability == "tunable"
            for n in names[v.name]
        ),
        discrete=frozenset(n for v in shown if v.variability == "discrete" for n in names[v.name]),
        unit_definitions={u.name: _base_unit(u.baseUnit) for u in read.unitDefinitions if u.baseUnit},
        assumed_feedthrough=assumed,
        possible_feedthrough=frozenset(n for n, needs in (feedthrough or {}).items() if needs) - assumed,
        initial_feedthrough=_known(read.initialUnknowns, inputs, names),
        variable_step=not steps or ability.canHandleVariableCommunicationStepSize,
        only_once=read.guid if ability.canBeInstantiatedOnlyOncePerProcess else "",
        arrays={name: (shape, tuple(names[name])) for name, shape in shapes.items() if shape},
        enumerations=_enumerations(shown, names),
        calculated=frozenset(n for v in shown if v.causality == "calculatedParameter" for n in names[v.name]),
        clocks_without_interval={
            name: clock.refusal for name, clock in clocks.items() if events and clock.refusal
        },
        structural=frozenset(v.name for v in shown if v.causality == "structuralParameter"),
        refused={name: reason for name, clock in clocks.items() if (reason := _refusal(clock, events))},
        readable=frozenset(name for name, clock in clocks.items() if events and clock.ticks_by_time),
        default_experiment=_experiment(read.defaultExperiment),
        has_derivatives=ability.providesDirectionalDerivative,
    )
    step = description.default_experiment.step if steps else None
    return FmuInterface(
        description=description,
        elements={
            name: Element(*(v.valueReference, v.type, i, len(names[v.name])), -1 if v.name in negated else 1)
            for v in shown
            for i, name in enumerate(names[v.name])
        },
        guid=(read.instantiationToken if third else read.guid) or "",
        identifier=ability.modelIdentifier,
        log_categories=tuple(category.name for category in read.logCategories),
        version="3.0" if third else read.fmiVersion,
        event_mode=events and steps,
        model_exchange=not steps,
        restores_by_states=by_states,
        states=int(read.numberOfContinuousStates) if third or first else len(read.derivatives),
        indicators=int(read.numberOfEventIndicators or 0),
        wants_steps=not steps and ability.needsCompletedIntegratorStep,
        offers=archive.interfaces,
        clocks=clocks if events else {},
        clocked={
            name: tuple(clock.name for clock in v.clocks)
            for v in shown
            if third and v.clocks and v.type != "Clock" and events
            for name in names[v.name]
        },
        intermediate=intermediate & inputs if updates else frozenset(),
        shown_inside=intermediate - inputs if tells else frozenset(),
        inner_step=step if step and adds_inner_steps(read.generationTool or "") else None,
    )


def _refusal(clock: FmuClock, events: bool) -> str:
    """Why a clock cannot be connected."""
    if not events:
        return "clocks tick in event mode, which this FMU does not have"
    if clock.ticks_by_time:
        return f"this clock ticks by itself (its interval is {clock.variability})"
    return ""


def _enumerations(shown: Sequence[Any], names: Mapping[str, list[str]]) -> dict[str, tuple[Any, ...]]:
    """The items of enumerations by variable."""
    return {
        name: tuple((item.name, int(item.value)) for item in v.declaredType.items)
        for v in shown
        if v.type == "Enumeration" and v.declaredType is not None and v.declaredType.items
        for name in names[v.name]
    }


def _shape(read: Any, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Sizes of the dimensions; some are values of structural parameters."""
    return tuple(
        int(
            dimension.start
            if dimension.variable is None
            else sizes.get(dimension.variable.name, dimension.variable.start)
        )
        for dimension in getattr(read, "dimensions", ())
    )


def _names(name: str, shape: tuple[int, ...]) -> list[str]:
    """The variable itself, or the elements of an array."""
    if not shape:
        return [name]
    places = product(*(range(1, size + 1) for size in shape))
    return [f"{name}[{','.join(map(str, place))}]" for place in places]


def _variable(read: Any, name: str, index: int, start: Any) -> ParticipantVariable:
    declared = read.declaredType
    unit = read.unit or (declared.unit if declared is not None else None) or "1"
    kind = TYPES[read.type]
    causality = "parameter" if read.causality == "structuralParameter" else read.causality
    return ParticipantVariable(
        name=name,
        causality=causality if causality in CAUSALITIES else "local",
        type=kind,
        unit=unit,
        start=_start(kind, start, index),
        description=read.description or "",
    )


def _start(kind: str, text: Any, index: int) -> Any:
    """The start value of one element; a lone value holds for all of them."""
    if text is None or kind == "clock":
        return None
    if kind in ("string", "binary"):
        parts = list(text) if isinstance(text, (list, tuple)) else [text]
    else:
        parts = str(text).split()
    if not parts or 1 < len(parts) <= index:
        return None
    part = parts[index if len(parts) > 1 else 0]
    if kind == "real":
        return float(part)
    if kind == "integer":
        return _whole(part)
    if kind == "boolean":
        return part in ("true", "1")
    return part if kind == "string" else bytes.fromhex(part) if isinstance(part, str) else part


def _whole(text: str) -> int:
    """A whole number, which some tools write like a real one (``20.0``)."""
    try:
        return int(text)
    except ValueError:
        if (found := float(text)).is_integer():
            return int(found)
        raise


def _changes_at_events(read: Any) -> bool:
    """Whether a variable of a Model Exchange FMU is part of a state that is not continuous."""
    if read.causality in ("parameter", "calculatedParameter", "structuralParameter", "independent"):
        return False
    if read.variability in ("constant", "fixed", "tunable"):
        return False
    return read.variability == "discrete" or TYPES[read.type] != "real"


def _takes_start(read: Any, first: bool) -> bool:
    if read.variability == "constant" or read.type == "Clock":
        return False
    if first and read.start is not None:  # FMI 1.0: what has a start value
        return True
    if read.causality in ("calculatedParameter", "independent"):
        return False
    return read.causality in ("input", "parameter") or read.initial in ("exact", "approx")


def _base_unit(base: Any) -> UnitDefinition:
    return UnitDefinition(tuple(getattr(base, name) for name in EXPONENTS), base.factor, base.offset)


def _experiment(read: Any) -> DefaultExperiment:
    """What it says that makes sense: an odd number says nothing."""
    if read is None:
        return DefaultExperiment()
    start, stop, tolerance, step = (
        _number(text) for text in (read.startTime, read.stopTime, read.tolerance, read.stepSize)
    )
    return DefaultExperiment(
        start,
        stop if stop is not None and stop > (start or 0.0) else None,
        tolerance if tolerance is not None and 0.0 < tolerance < 1.0 else None,
        step if step is not None and step > 0.0 else None,
    )


def _number(text: Any) -> float | None:
    try:
        found = float(text)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None


def _feedthrough(
    read: Any,
    inputs: frozenset[str],
    names: Mapping[str, list[str]],
    direct: Mapping[str, frozenset[str]],
) -> tuple[dict[str, frozenset[str]] | None, frozenset[str]]:
    """For each output its inputs, and the outputs for which that is only assumed."""
    known = _known(read.outputs, inputs, names) | dict(direct)
    outputs = [n for v in read.modelVariables if v.causality == "output" for n in names.get(v.name, ())]
    assumed = frozenset(outputs) - known.keys()
    if not known:
        return None, assumed
    return {name: known.get(name, inputs) for name in outputs}, assumed


def _known(
    unknowns: Sequence[Any], inputs: frozenset[str], names: Mapping[str, list[str]]
) -> dict[str, frozenset[str]]:
    """The inputs that each of these variables is said to depend on."""
    known: dict[str, frozenset[str]] = {}
    for unknown in unknowns:
        if unknown.dependencies is not None:
            needed = {element for v in unknown.dependencies for element in names.get(v.name, ())}
            known.update(dict.fromkeys(names.get(unknown.variable.name, ()), inputs & needed))
    return known

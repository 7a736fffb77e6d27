"""What an FMU declares, read from its model description."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, product
from typing import Any

import cosim
from cosim.kit import DefaultExperiment, ParticipantDescription, ParticipantVariable, UnitDefinition
from cosim_fmi.archive import FmuArchive, collection_paused
from cosim_fmi.description.model_description import (
    DeclaredExperiment,
    DeclaredVariable,
    FmuClock,
    ModelDescription,
    Unknown,
)
from cosim_fmi.description.read_model_description import read_model_description
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
NO_NAMES: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
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


def grouped(elements: Sequence[tuple[int, Element]]) -> tuple[list[int], list[tuple[int, int, int]], int]:
    """Value references of one call for variables of one type, and where each one is.

    Parameters
    ----------
    elements : sequence of (int, Element)
        Each with its place among all.

    Returns
    -------
    references : list of int
        Arrays whole, once; scalars one by one, so that aliases are written one after the other.
    places : list of (int, int, int)
        Of each: its place among all, that among the values of the call, its sign.
    size : int
        Of the values of the call.
    """
    if all(element.size == 1 for _, element in elements):
        references = [element.reference for _, element in elements]
        places = [(place, i, element.sign) for i, (place, element) in enumerate(elements)]
        return references, places, len(places)
    starts, size = dict[int, int](), 0
    for _, element in elements:
        if element.reference not in starts:
            starts[element.reference] = size
            size += element.size
    return list(starts), [(place, starts[e.reference] + e.index, e.sign) for place, e in elements], size


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
    tool : str
        That generated it, as it says.
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
    tool: str = ""


def read_interface(
    archive: FmuArchive, interface: str, sizes: Mapping[str, int] | None = None
) -> FmuInterface:
    """Read the model description of a checked archive.

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
        with collection_paused():
            read = read_model_description(archive.take_description())
            return _interface(read, archive, interface, sizes or {})
    except (ValueError, TypeError) as error:  # numbers that are none
        raise cosim.FmuError(
            str(archive.path), f"modelDescription.xml cannot be understood: {error}"
        ) from error


def _check_names(shown: Sequence[DeclaredVariable], names: Mapping[str, Sequence[str]]) -> None:
    """Raise `ValueError` where two variables, or elements of arrays, have one name."""
    has_arrays = any(v.dimensions for v in shown)
    listed = [name for v in shown for name in names[v.name]] if has_arrays else [v.name for v in shown]
    if len(set(listed)) == len(listed):
        return
    owners: dict[str, DeclaredVariable] = {}
    for variable in shown:
        for name in names[variable.name]:
            other = owners.setdefault(name, variable)
            if other is not variable or len(names[variable.name]) != len(set(names[variable.name])):
                both = " and ".join(
                    f"{v.causality} {v.name!r} (value reference {v.reference})" for v in (other, variable)
                )
                raise ValueError(f"two variables have the name {name!r}: {both}")


def _interface(
    read: ModelDescription, archive: FmuArchive, interface: str, sizes: Mapping[str, int]
) -> FmuInterface:
    steps = interface == "CoSimulation"
    ability = read.abilities(interface)
    first, third = read.version == "1.0", read.version == "3.0"
    events = third and (not steps or ability.event_mode)
    shown = [v for v in read.variables if v.causality != "independent"]
    names = {v.name: _names(v.name, v.sizes(sizes)) if v.dimensions else (v.name,) for v in shown}
    _check_names(shown, names)
    variables = {name: _variable(v, name, i) for v in shown for i, name in enumerate(names[v.name])}

    alike = _alike(shown)

    def select(condition: Callable[[DeclaredVariable], bool]) -> frozenset[str]:
        chosen = chain.from_iterable(group for group in alike if condition(group[0]))
        return frozenset(name for v in chosen for name in names[v.name])

    clocks = {v.name: FmuClock.of(v.clock) for group in alike if group[0].type == "Clock" for v in group}
    inputs = select(lambda v: v.causality == "input")
    intermediate = select(lambda v: v.updates_inside)
    direct = {
        name: inputs & {*v.direct_dependencies}
        for v in shown
        if v.direct_dependencies is not None
        for name in names[v.name]
    }
    feedthrough, assumed = _feedthrough(read, inputs, names, direct)
    by_states = (
        not steps
        and not ability.saves
        and not clocks
        and not any(_changes_at_events(group[0]) for group in alike)
    )
    tells = third and steps and ability.intermediate_update
    updates = tells and bool(intermediate & inputs)
    description = ParticipantDescription(
        kind=f"FMI {archive.version} {'Co-Simulation' if steps else 'Model Exchange'}",
        variables=variables,
        feedthrough=feedthrough,
        can_restore=ability.saves or by_states,
        follows_slopes=updates or not steps or (not third and ability.interpolates_inputs),
        # an execution tool may care about the thread that calls it
        steps_in_threads=not ability.needs_tool,
        can_serialize=ability.saves and ability.serializes and not (clocks and events),
        settable=select(lambda v: _takes_start(v, first)),
        tunable=select(
            lambda v: steps and not events and v.causality == "parameter" and v.variability == "tunable"
        ),
        discrete=select(lambda v: v.variability == "discrete"),
        unit_definitions={
            name: UnitDefinition(base.exponents, base.factor, base.offset)
            for name, base in read.base_units.items()
        },
        assumed_feedthrough=assumed,
        possible_feedthrough=frozenset(n for n, needs in (feedthrough or {}).items() if needs) - assumed,
        initial_feedthrough=_known(read.initial_unknowns, inputs, names),
        variable_step=not steps or ability.variable_step,
        only_once=read.token if ability.only_once else "",
        arrays={v.name: (v.sizes(sizes), names[v.name]) for v in shown if v.dimensions},
        enumerations=_enumerations(shown, names),
        calculated=select(lambda v: v.causality == "calculatedParameter"),
        clocks_without_interval={
            name: clock.refusal for name, clock in clocks.items() if events and clock.refusal
        },
        structural=frozenset(v.name for v in shown if v.causality == "structuralParameter"),
        refused={name: reason for name, clock in clocks.items() if (reason := _refusal(clock, events))},
        readable=frozenset(name for name, clock in clocks.items() if events and clock.ticks_by_time),
        default_experiment=_experiment(read.experiment),
        has_derivatives=ability.directional_derivatives,
        states=tuple(
            name
            for v in read.state_variables
            for name in names.get(v.name, ())
            if variables[name].type == "real"
        ),
    )
    step = description.default_experiment.step if steps else None
    return FmuInterface(
        description=description,
        elements={
            name: Element(v.reference, v.type, i, len(names[v.name]), -1 if v.is_negated else 1)
            for v in shown
            for i, name in enumerate(names[v.name])
        },
        guid=read.token,
        identifier=ability.identifier,
        log_categories=read.log_categories,
        version=read.version,
        event_mode=events and steps,
        model_exchange=not steps,
        restores_by_states=by_states,
        states=read.states,
        indicators=read.indicators,
        wants_steps=not steps and ability.wants_steps,
        offers=archive.interfaces,
        clocks=clocks if events else {},
        clocked={
            name: tuple(clock.name for clock in v.clocks)
            for v in shown
            if v.clocks and v.type != "Clock" and events
            for name in names[v.name]
        },
        intermediate=intermediate & inputs if updates else frozenset(),
        shown_inside=intermediate - inputs if tells else frozenset(),
        inner_step=step if step and adds_inner_steps(read.tool) else None,
        tool=read.tool,
    )


def _alike(shown: Sequence[DeclaredVariable]) -> list[list[DeclaredVariable]]:
    """Variables of one kind, of which the same is asked: very many of them have a few kinds."""
    groups: dict[tuple[Any, ...], list[DeclaredVariable]] = {}
    for v in shown:
        kind = v.type, v.causality, v.variability, v.initial, v.updates_inside, v.start is None
        if kind in groups:
            groups[kind].append(v)
        else:
            groups[kind] = [v]
    return list(groups.values())


def _refusal(clock: FmuClock, events: bool) -> str:
    """Why a clock cannot be connected."""
    if not events:
        return "clocks tick in event mode, which this FMU does not have"
    if clock.ticks_by_time:
        return f"this clock ticks by itself (its interval is {clock.variability})"
    return ""


def _enumerations(
    shown: Sequence[DeclaredVariable], names: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    """The items of enumerations by variable."""
    return {
        name: tuple((item, int(value)) for item, value in v.declared_type.items)
        for v in shown
        if v.type == "Enumeration" and v.declared_type is not None and v.declared_type.items
        for name in names[v.name]
    }


def _names(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The elements of an array."""
    places = product(*(range(1, size + 1) for size in shape))
    return tuple(f"{name}[{','.join(map(str, place))}]" for place in places)


def _variable(read: DeclaredVariable, name: str, index: int) -> ParticipantVariable:
    declared = read.declared_type
    kind = TYPES[read.type]
    causality = "parameter" if read.causality == "structuralParameter" else read.causality
    return ParticipantVariable(
        name,
        causality if causality in CAUSALITIES else "local",
        kind,
        read.unit or (declared.unit if declared is not None else None) or "1",
        None if read.start is None else _start(kind, read.start, index),
        read.description or "",
    )


def _start(kind: str, text: str | tuple[str, ...], index: int) -> Any:
    """The start value of one element; a lone value holds for all of them."""
    if kind == "clock":
        return None
    if isinstance(text, str):
        parts = [text] if kind in ("string", "binary") else text.split()
    else:
        parts = [*text] if kind in ("string", "binary") else " ".join(text).split()
    if not parts or 1 < len(parts) <= index:
        return None
    part = parts[index if len(parts) > 1 else 0]
    if kind == "real":
        return float(part)
    if kind == "integer":
        return _whole(part)
    if kind == "boolean":
        return part in ("true", "1")
    return part if kind == "string" else bytes.fromhex(part)


def _whole(text: str) -> int:
    """A whole number, which some tools write like a real one (``20.0``)."""
    try:
        return int(text)
    except ValueError:
        if (number := float(text)).is_integer():
            return int(number)
        raise


def _changes_at_events(read: DeclaredVariable) -> bool:
    """Whether a variable of a Model Exchange FMU is part of a state that is not continuous."""
    if read.causality in ("parameter", "calculatedParameter", "structuralParameter", "independent"):
        return False
    if read.variability in ("constant", "fixed", "tunable"):
        return False
    return read.variability == "discrete" or TYPES[read.type] != "real"


def _takes_start(read: DeclaredVariable, first: bool) -> bool:
    if read.variability == "constant" or read.type == "Clock":
        return False
    if first and read.start is not None:  # FMI 1.0: what has a start value
        return True
    if read.causality in ("calculatedParameter", "independent"):
        return False
    return read.causality in ("input", "parameter") or read.initial in ("exact", "approx")


def _experiment(read: DeclaredExperiment | None) -> DefaultExperiment:
    """What it says that makes sense: an odd number says nothing."""
    if read is None:
        return DefaultExperiment()
    start, stop, tolerance, step = (
        _number(text) for text in (read.start, read.stop, read.tolerance, read.step)
    )
    return DefaultExperiment(
        start,
        stop if stop is not None and stop > (start or 0.0) else None,
        tolerance if tolerance is not None and 0.0 < tolerance < 1.0 else None,
        step if step is not None and step > 0.0 else None,
    )


def _number(text: Any) -> float | None:
    try:
        number = float(text)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _feedthrough(
    read: ModelDescription,
    inputs: frozenset[str],
    names: Mapping[str, tuple[str, ...]],
    direct: Mapping[str, frozenset[str]],
) -> tuple[dict[str, frozenset[str]] | None, frozenset[str]]:
    """For each output its inputs, and the outputs for which that is only assumed."""
    known = _known(read.outputs, inputs, names) | dict(direct)
    outputs = [n for v in read.variables if v.causality == "output" for n in names[v.name]]
    assumed = frozenset(outputs) - known.keys()
    if not known:
        return None, assumed
    return {name: known.get(name, inputs) for name in outputs}, assumed


def _known(
    unknowns: Sequence[Unknown], inputs: frozenset[str], names: Mapping[str, tuple[str, ...]]
) -> dict[str, frozenset[str]]:
    """The inputs that each of these variables is said to depend on."""

    @cache
    def needed(dependencies: tuple[DeclaredVariable, ...]) -> frozenset[str]:
        return inputs.intersection(name for v in dependencies for name in names.get(v.name, NO_NAMES))

    return {
        name: needed(unknown.dependencies)
        for unknown in unknowns
        if unknown.dependencies is not None
        for name in names.get(unknown.variable.name, NO_NAMES)
    }

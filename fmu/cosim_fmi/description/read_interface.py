"""Makes the interface of an FMU from its model description."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import Any

import cosim
from cosim.kit import (
    DefaultExperiment,
    ParticipantDescription,
    ParticipantVariable,
    UnitDefinition,
    without_collection,
)
from cosim_fmi.description.fmu_interface import Element, FmuInterface
from cosim_fmi.description.model_description import (
    DeclaredExperiment,
    DeclaredVariable,
    FmuClock,
    ModelDescription,
    Unknown,
)
from cosim_fmi.description.read_model_description import read_model_description
from cosim_fmi.fmu_archive import FmuArchive
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
"""Causalities that a participant has; all others are local there."""
NO_ELEMENTS: tuple[str, ...] = ()


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
        The model description cannot be understood. Harmless offences against the standard (undefined units,
        missing InitialUnknowns, odd variability) are accepted.
    """
    try:
        with without_collection():
            description = read_model_description(archive.pop_description())
            return _InterfaceReader(description, archive, interface, sizes or {}).interface()
    except (ValueError, TypeError) as error:  # texts in place of numbers
        raise cosim.FmuError(
            str(archive.path), f"modelDescription.xml cannot be understood: {error}"
        ) from error


class _InterfaceReader:
    """Makes the interface of an FMU as Co-Simulation or Model Exchange, with sizes of arrays.

    Parameters
    ----------
    declared : ModelDescription
    archive : FmuArchive
    interface : str
        "CoSimulation" or "ModelExchange".
    sizes : mapping of str to int
        Values of structural parameters instead of their start values.
    """

    def __init__(
        self, declared: ModelDescription, archive: FmuArchive, interface: str, sizes: Mapping[str, int]
    ) -> None:
        self.declared, self.archive, self.sizes = declared, archive, sizes
        self.has_solver = interface == "CoSimulation"
        if interface not in declared.interfaces:
            raise ValueError(f"it does not describe {interface}")
        self.abilities = declared.interfaces[interface]
        self.is_fmi3 = declared.version == "3.0"
        self.has_events = self.is_fmi3 and (not self.has_solver or self.abilities.event_mode)
        self.variables = [v for v in declared.variables if v.causality != "independent"]
        self.names = {
            v.name: _element_names(v.name, v.sizes(sizes)) if v.dimensions else (v.name,)
            for v in self.variables
        }
        _check_names(self.variables, self.names)
        self.by_kind = _grouped_by_kind(self.variables)
        self.clocks = {
            v.name: FmuClock.of(v.clock) for group in self.by_kind if group[0].type == "Clock" for v in group
        }
        self.inputs = self.select(lambda v: v.causality == "input")
        intermediate = self.select(lambda v: v.updates_inside)
        updates_inside = self.is_fmi3 and self.has_solver and self.abilities.intermediate_update
        self.intermediate_inputs = intermediate & self.inputs if updates_inside else frozenset[str]()
        self.readable_inside = intermediate - self.inputs if updates_inside else frozenset[str]()
        self.restores_by_states = (
            not self.has_solver
            and not self.abilities.saves
            and not self.clocks
            and not any(_changes_at_events(group[0]) for group in self.by_kind)
        )

    def select(self, condition: Callable[[DeclaredVariable], bool]) -> frozenset[str]:
        """Names of variables, and of elements of arrays, that meet a condition on their kind."""
        chosen = chain.from_iterable(group for group in self.by_kind if condition(group[0]))
        return frozenset(name for v in chosen for name in self.names[v.name])

    def interface(self) -> FmuInterface:
        """The complete interface."""
        declared, has_solver = self.declared, self.has_solver
        description = self._description()
        step = description.default_experiment.step if has_solver else None
        return FmuInterface(
            description=description,
            elements={
                name: Element(v.reference, v.type, i, len(self.names[v.name]), -1 if v.is_negated else 1)
                for v in self.variables
                for i, name in enumerate(self.names[v.name])
            },
            guid=declared.token,
            identifier=self.abilities.identifier,
            log_categories=declared.log_categories,
            version=declared.version,
            has_event_mode=self.has_events and has_solver,
            is_model_exchange=not has_solver,
            is_restored_by_states=self.restores_by_states,
            states=declared.states,
            indicators=declared.indicators,
            needs_completed_steps=not has_solver and self.abilities.wants_steps,
            interfaces=self.archive.interfaces,
            clocks=self.clocks if self.has_events else {},
            clocks_of=self._clocked(),
            settable_inside=self.intermediate_inputs,
            readable_inside=self.readable_inside,
            inner_step=step if step and adds_inner_steps(declared.tool) else None,
            tool=declared.tool,
            state_derivatives=self._state_derivatives(),
        )

    def _state_derivatives(self) -> tuple[Element, ...]:
        """The derivatives of the continuous states; none where some are arrays."""
        variables = self.declared.rate_variables
        if any(v.dimensions for v in variables):
            return ()
        return tuple(Element(v.reference, v.type) for v in variables)

    def _description(self) -> ParticipantDescription:
        """The facts that every kind of participant describes."""
        declared, abilities, has_solver = self.declared, self.abilities, self.has_solver
        feedthrough, assumed = self._feedthrough()
        clocks, names = self.clocks, self.names
        return ParticipantDescription(
            kind=f"FMI {self.archive.version} {'Co-Simulation' if has_solver else 'Model Exchange'}",
            variables=self._variables(),
            feedthrough=feedthrough,
            can_restore=abilities.saves or self.restores_by_states,
            follows_slopes=self._follows_slopes(),
            # an execution tool may care about the thread that calls it
            steps_in_threads=not abilities.needs_tool,
            can_serialize=abilities.saves and abilities.serializes and not (clocks and self.has_events),
            settable=self.select(lambda v: _takes_start(v, declared.version)),
            tunable=self.select(self._is_tunable),
            discrete=self.select(lambda v: v.variability == "discrete"),
            unit_definitions={
                name: UnitDefinition(base.exponents, base.factor, base.offset)
                for name, base in declared.base_units.items()
            },
            assumed_feedthrough=assumed,
            possible_feedthrough=frozenset(n for n, needs in (feedthrough or {}).items() if needs) - assumed,
            initial_feedthrough=_dependencies(declared.initial_unknowns, self.inputs, names),
            variable_step=not has_solver or abilities.variable_step,
            only_once=declared.token if abilities.only_once else "",
            arrays={v.name: (v.sizes(self.sizes), names[v.name]) for v in self.variables if v.dimensions},
            enumerations=_enumerations(self.variables, names),
            calculated=self.select(lambda v: v.causality == "calculatedParameter"),
            clocks_without_interval={
                name: clock.refusal for name, clock in clocks.items() if self.has_events and clock.refusal
            },
            structural=frozenset(v.name for v in self.variables if v.causality == "structuralParameter"),
            refused={
                name: reason for name, clock in clocks.items() if (reason := _refusal(clock, self.has_events))
            },
            readable=frozenset(
                name for name, clock in clocks.items() if self.has_events and clock.ticks_by_time
            ),
            default_experiment=_experiment(declared.experiment),
            has_derivatives=abilities.directional_derivatives,
            states=tuple(
                name
                for v in declared.state_variables
                if TYPES[v.type] == "real"
                for name in names.get(v.name, ())
            ),
        )

    def _variables(self) -> dict[str, ParticipantVariable]:
        return {
            name: _variable(v, name, i) for v in self.variables for i, name in enumerate(self.names[v.name])
        }

    def _follows_slopes(self) -> bool:
        """Whether inputs can run along lines over a step."""
        interpolates = not self.is_fmi3 and self.abilities.interpolates_inputs
        return bool(self.intermediate_inputs) or not self.has_solver or interpolates

    def _is_tunable(self, variable: DeclaredVariable) -> bool:
        """Whether a parameter can be set between steps."""
        is_declared = variable.causality == "parameter" and variable.variability == "tunable"
        return self.has_solver and not self.has_events and is_declared

    def _clocked(self) -> dict[str, tuple[str, ...]]:
        """The clocks of each variable that has some."""
        if not self.has_events:
            return {}
        return {
            name: tuple(clock.name for clock in v.clocks)
            for v in self.variables
            if v.clocks and v.type != "Clock"
            for name in self.names[v.name]
        }

    def _feedthrough(self) -> tuple[dict[str, frozenset[str]] | None, frozenset[str]]:
        """The inputs that each output depends on (None: none declared), and outputs that declare none."""
        dependencies = _dependencies(self.declared.outputs, self.inputs, self.names)
        dependencies |= {
            name: self.inputs & {*v.direct_dependencies}
            for v in self.variables
            if v.direct_dependencies is not None
            for name in self.names[v.name]
        }
        outputs = [n for v in self.declared.variables if v.causality == "output" for n in self.names[v.name]]
        assumed = frozenset(outputs) - dependencies.keys()
        if not dependencies:
            return None, assumed
        return {name: dependencies.get(name, self.inputs) for name in outputs}, assumed


def _check_names(variables: Sequence[DeclaredVariable], names: Mapping[str, Sequence[str]]) -> None:
    """Raise `ValueError` where two variables, or elements of arrays, have one name."""
    has_arrays = any(v.dimensions for v in variables)
    listed = (
        [name for v in variables for name in names[v.name]] if has_arrays else [v.name for v in variables]
    )
    if len(set(listed)) == len(listed):
        return
    owners: dict[str, DeclaredVariable] = {}
    for variable in variables:
        for name in names[variable.name]:
            owner = owners.setdefault(name, variable)
            if owner is not variable or len(names[variable.name]) != len(set(names[variable.name])):
                both = " and ".join(
                    f"{v.causality} {v.name!r} (value reference {v.reference})" for v in (owner, variable)
                )
                raise ValueError(f"two variables have the name {name!r}: {both}")


def _grouped_by_kind(variables: Sequence[DeclaredVariable]) -> list[list[DeclaredVariable]]:
    """Variables grouped by kind, so that a condition is checked once for each of the few kinds."""
    groups: dict[tuple[Any, ...], list[DeclaredVariable]] = {}
    for v in variables:
        kind = v.type, v.causality, v.variability, v.initial, v.updates_inside, v.start is None
        if kind in groups:
            groups[kind].append(v)
        else:
            groups[kind] = [v]
    return list(groups.values())


def _refusal(clock: FmuClock, has_events: bool) -> str:
    """Why a clock cannot be connected."""
    if not has_events:
        return "clocks tick in event mode, which this FMU does not have"
    if clock.ticks_by_time:
        return f"this clock ticks by itself (its interval is {clock.variability})"
    return ""


def _enumerations(
    variables: Sequence[DeclaredVariable], names: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Any, ...]]:
    """The items of enumerations by variable."""
    return {
        name: tuple((item, int(value)) for item, value in v.declared_type.items)
        for v in variables
        if v.type == "Enumeration" and v.declared_type is not None and v.declared_type.items
        for name in names[v.name]
    }


def _element_names(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """The elements of an array, ``a[1,2]``, row by row."""
    places = product(*(range(1, size + 1) for size in shape))
    return tuple(f"{name}[{','.join(map(str, place))}]" for place in places)


def _variable(variable: DeclaredVariable, name: str, index: int) -> ParticipantVariable:
    """A scalar variable, or the element of an array at a place in it."""
    declared_type = variable.declared_type
    kind = TYPES[variable.type]
    causality = "parameter" if variable.causality == "structuralParameter" else variable.causality
    return ParticipantVariable(
        name,
        causality if causality in CAUSALITIES else "local",
        kind,
        variable.unit or (declared_type.unit if declared_type is not None else None) or "1",
        None if variable.start is None else _start_value(kind, variable.start, index),
        variable.description or "",
        _nominal_size(variable.nominal) if kind == "real" and variable.nominal else None,
    )


def _nominal_size(text: str) -> float | None:
    """A nominal value, positive; None if the text is no such number."""
    try:
        size = abs(float(text))
    except ValueError:
        return None
    return size if 0.0 < size < math.inf else None


def _start_value(kind: str, text: str | tuple[str, ...], index: int) -> Any:
    """The start value of one element; a single value holds for all elements."""
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
        return _integer(part)
    if kind == "boolean":
        return part in ("true", "1")
    return part if kind == "string" else bytes.fromhex(part)


def _integer(text: str) -> int:
    """A whole number; some tools write it like a real one (``20.0``)."""
    try:
        return int(text)
    except ValueError:
        if (number := float(text)).is_integer():
            return int(number)
        raise


def _changes_at_events(variable: DeclaredVariable) -> bool:
    """Whether a variable of a Model Exchange FMU may change at events alone, and so be part of its state."""
    if variable.causality in ("parameter", "calculatedParameter", "structuralParameter", "independent"):
        return False
    if variable.variability in ("constant", "fixed", "tunable"):
        return False
    return variable.variability == "discrete" or TYPES[variable.type] != "real"


def _takes_start(variable: DeclaredVariable, version: str) -> bool:
    """Whether a variable takes a start value."""
    if variable.variability == "constant" or variable.type == "Clock":
        return False
    if version == "1.0" and variable.start is not None:  # FMI 1.0 allows it of all that have a start value
        return True
    if variable.causality in ("calculatedParameter", "independent"):
        return False
    return variable.causality in ("input", "parameter") or variable.initial in ("exact", "approx")


def _experiment(declared: DeclaredExperiment | None) -> DefaultExperiment:
    """The default experiment without invalid numbers."""
    if declared is None:
        return DefaultExperiment()
    start, stop = _number(declared.start), _number(declared.stop)
    tolerance, step = _number(declared.tolerance), _number(declared.step)
    return DefaultExperiment(
        start,
        stop if stop is not None and stop > (start or 0.0) else None,
        tolerance if tolerance is not None and 0.0 < tolerance < 1.0 else None,
        step if step is not None and step > 0.0 else None,
    )


def _number(text: str | None) -> float | None:
    """The number of a text; None if it is not a finite number."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _dependencies(
    unknowns: Sequence[Unknown], inputs: frozenset[str], names: Mapping[str, tuple[str, ...]]
) -> dict[str, frozenset[str]]:
    """The inputs that each of these variables depends on, as declared."""

    @cache
    def needed(dependencies: tuple[DeclaredVariable, ...]) -> frozenset[str]:
        return inputs.intersection(name for v in dependencies for name in names.get(v.name, NO_ELEMENTS))

    return {
        name: needed(unknown.dependencies)
        for unknown in unknowns
        if unknown.dependencies is not None
        for name in names.get(unknown.variable.name, NO_ELEMENTS)
    }

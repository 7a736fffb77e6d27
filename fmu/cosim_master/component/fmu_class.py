"""The class that a Model Exchange FMU becomes: names, declarations and dependencies of its variables."""

from __future__ import annotations

import functools
import itertools
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantVariable, parse_unit, text
from cosim_fmi.description.fmu_interface import Element, FmuInterface
from cosim_fmi.instances import identity, read_fmu
from cosim_master.component.fmu_component import ModelExchangeFmu
from cosim_master.component.fmu_kernels import FmuPorts, OutputGroup, make_kernels

TAKEN = (
    {"t", "name", "values", "side", "state", "next_state", "self", "declarations", "kernels", "handlers"}
    | {"z", "scale", "epoch", "block_address", "indicators", "next_event", "fmu", "feedthrough", "tolerance"}
    | {"kept_events", "wanted", "received_inputs", "event_outputs"}
    | {"derivatives", "bind", "arguments", "signals", "switch", "conditions", "smoothness"}
    | {"running", "undeclared_starts", "block", "fails_to_save", "show", "step_ended", "step_event"}
    | {"inputs_changed"}
    | {"has_instance", "move_to", "write_input", "read_outputs", "read_rates", "output", "completed_step"}
    | {*dir(ModelExchangeFmu)}
)
"""Names that the class of an FMU, its objects and its kernel functions use for other things."""
NUMBERED = re.compile(r"(outputs|indicator|state_event)_\d+$")
"""Further such names."""
DERIVED = re.compile(r"_(dot\d?|next|ring|state|rate)$")
"""Endings by which kernel functions request something else than a variable."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """A Python identifier for each name of a variable: ``mass1.L`` becomes ``mass1_L``.

    Examples
    --------
    >>> identifiers(["mass1.L", "mass1_L", "v[2]", "t", "1st"])
    {'mass1.L': 'mass1_L_', 'mass1_L': 'mass1_L', 'v[2]': 'v_2', 't': 't_', '1st': 'v_1st'}
    """
    variables = list(names)
    used = {name for name in variables if _is_free(name)}
    names_in_python = {}
    for variable in variables:
        identifier = variable
        if not _is_free(variable):
            identifier = re.sub(r"\W+", "_", variable).strip("_") or "v"
            identifier = f"v_{identifier}" if identifier[0].isdigit() else identifier
            while identifier in used or not _is_free(identifier):
                identifier += "_"
            used.add(identifier)
        names_in_python[variable] = identifier
    return names_in_python


def _is_free(name: str) -> bool:
    """Whether a name is an identifier that nothing else in the class has."""
    is_word = name.isidentifier() and name.isascii() and not name.startswith("_")
    is_taken = keyword.iskeyword(name) or name in TAKEN or NUMBERED.match(name) or DERIVED.search(name)
    return is_word and not is_taken


DOUBLE = ("Real", "Float64")
NUMBERS = ("real", "integer", "boolean")
OPTION_TYPES: dict[str, type] = {"integer": int, "boolean": bool, "string": str}
LARGEST = 64
"""The largest number of elements of an array that become inputs or outputs."""


def class_for(fmu: Any, feedthrough: Any) -> type[ModelExchangeFmu]:
    """The class of an FMU; the same for the same file and feedthrough.

    Raises
    ------
    ModelError
        No file is given, or `feedthrough` names an unknown variable.
    FmuError
        The file cannot be used.
    """
    if not isinstance(fmu, (str, Path)):
        raise cosim.ModelError.of("fmu", f"is {fmu!r}, needs the path of an FMU")
    if not (feedthrough is None or feedthrough == "all" or isinstance(feedthrough, Mapping)):
        raise cosim.ModelError.of(
            "feedthrough", f'is {feedthrough!r}, needs "all", or the inputs of outputs: {{ y = ["u"] }}'
        )
    return _class(identity(Path(fmu)), json.dumps(feedthrough, sort_keys=True, default=list))


class _Variables(NamedTuple):
    """The variables of an FMU that its component has, in the order of the FMU.

    Attributes
    ----------
    parameters : list of ParticipantVariable
        Real ones.
    options : list of ParticipantVariable
        Parameters of other types: chosen before a run.
    ports : list of ParticipantVariable
        Inputs and outputs.
    discrete : frozenset of str
        Names of ports that change at events alone.
    """

    parameters: list[ParticipantVariable]
    options: list[ParticipantVariable]
    ports: list[ParticipantVariable]
    discrete: frozenset[str]

    @classmethod
    def of(cls, interface: FmuInterface) -> _Variables:
        """The variables that a component can have; long arrays and clocked variables are left out."""
        description, elements = interface.description, interface.elements
        settable = description.settable or frozenset()
        parameters, options, ports = [], [], []
        for variable in description.variables.values():
            element = elements[variable.name]
            if variable.causality == "parameter" and variable.name in settable:
                if _is_plain(element, 1):
                    parameters.append(variable)
                if variable.type in OPTION_TYPES and element.size == 1:
                    options.append(variable)
            elif (
                variable.causality in ("input", "output")
                and variable.type in NUMBERS
                and variable.name not in interface.clocks_of
                and element.size <= LARGEST
            ):
                ports.append(variable)
        discrete = frozenset(v.name for v in ports if v.type != "real" or v.name in description.discrete)
        return cls(parameters, options, ports, discrete)

    def names(self, causality: str, *, discrete: bool) -> list[str]:
        """The names of discrete, or of continuous, inputs or outputs."""
        return [
            v.name for v in self.ports if v.causality == causality and (v.name in self.discrete) == discrete
        ]


@functools.lru_cache(maxsize=64)
def _class(file: Any, feedthrough: str) -> type[ModelExchangeFmu]:
    """The class of a file (`identity`), with its feedthrough as JSON."""
    interface = read_fmu(file[0], "ModelExchange")[1]
    description = interface.description
    variables = _Variables.of(interface)
    python_names = identifiers(
        [v.name for v in (*variables.ports, *variables.parameters, *variables.options)]
    )
    inputs = variables.names("input", discrete=False)
    outputs = variables.names("output", discrete=False)
    discrete_inputs = variables.names("input", discrete=True)
    discrete_outputs = variables.names("output", discrete=True)
    direct_inputs = _direct_inputs(inputs, outputs, description.feedthrough, json.loads(feedthrough))

    def reading(name: str) -> tuple[list[str], bool]:
        """Outputs that are read together depend on the same inputs, and need the same conversion."""
        return direct_inputs[name], not _is_plain(interface.elements[name])

    outputs.sort(key=reading)
    output_groups = tuple(tuple(names) for _, names in itertools.groupby(outputs, key=reading))
    declared = {v.name for v in (*variables.parameters, *variables.options)} | {*inputs, *discrete_inputs}
    body: dict[str, Any] = {
        "__module__": ModelExchangeFmu.__module__,
        "__doc__": f"{description.kind} '{file[0].stem}'.",
        "variables": python_names,
        "made_by": ModelExchangeFmu,
        "goes_back": description.can_restore
        and not (interface.is_restored_by_states and interface.indicators),
        "inputs": tuple(inputs),
        "output_groups": output_groups,
        "discrete_inputs": tuple(discrete_inputs),
        "discrete_outputs": tuple(discrete_outputs),
        "direct_inputs": direct_inputs,
        "other_starts": (description.settable or frozenset()) - declared,
        "option_variables": {python_names[v.name]: v.name for v in variables.options},
        "enumeration_items": {
            python_names[name]: dict(items)
            for name, items in description.enumerations.items()
            if name in python_names
        },
    }
    body |= _memory(interface, len(discrete_inputs), len(discrete_outputs))
    body |= _declarations(variables, python_names, body["enumeration_items"])
    body |= make_kernels(_ports_in_python(body, interface), f"{__name__}.kernels")
    return type("ModelExchangeFmu", (ModelExchangeFmu,), body)


def _ports_in_python(body: Mapping[str, Any], interface: FmuInterface) -> FmuPorts:
    """The ports of a class with this body, by their names in Python."""

    def in_python(names: Iterable[str]) -> list[str]:
        return [body["variables"][name] for name in names]

    return FmuPorts(
        inputs=in_python(body["inputs"]),
        groups=[
            OutputGroup(in_python(names), in_python(body["direct_inputs"][names[0]]))
            for names in body["output_groups"]
        ],
        discrete_inputs=in_python(body["discrete_inputs"]),
        discrete_outputs=in_python(body["discrete_outputs"]),
        indicators=interface.indicators,
        wants_steps=interface.needs_completed_steps,
    )


def _memory(interface: FmuInterface, discrete_inputs: int, discrete_outputs: int) -> dict[str, Any]:
    """The states of the FMU, and what its class remembers between kernel functions."""
    size = max(1, interface.states)
    return {
        "z": cosim.auxiliary_state(shape=size, start=(0.0,) * size, description="states over `scale`"),
        "scale": _discrete(size, 1.0),
        "received_inputs": _discrete(max(1, discrete_inputs), 0.0),
        "event_outputs": _discrete(max(1, discrete_outputs), 0.0),
        "indicators": cosim.cache_slot(shape=max(1, interface.indicators)),
    }


def _discrete(size: int, start: float) -> Any:
    return cosim.discrete(shape=size, start=(start,) * size, invalidates=cosim.Stage.TIME, internal=True)


def _declarations(
    variables: _Variables, python_names: Mapping[str, str], enumerations: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Inputs, outputs, parameters and options, by their names in Python."""
    declarations: dict[str, Any] = {}
    for v in variables.ports:
        about: dict[str, Any] = {"unit": _unit(v.unit), "description": _described(v, python_names)}
        if v.causality == "input":
            declarations[python_names[v.name]] = cosim.input(start=float(v.start or 0.0), **about)
        else:
            declarations[python_names[v.name]] = cosim.output(**about)
    for v in variables.parameters:
        declarations[python_names[v.name]] = cosim.parameter(
            unit=_unit(v.unit), default=v.start or 0.0, description=_described(v, python_names)
        )
    for v in variables.options:
        name = python_names[v.name]
        declarations[name] = _option(v.type, v.start, enumerations.get(name), _described(v, python_names))
    return declarations


def _direct_inputs(
    inputs: Sequence[str],
    outputs: Sequence[str],
    declared: Mapping[str, frozenset[str]] | None,
    override: Any,
) -> dict[str, list[str]]:
    """For each output the inputs before it in the order of evaluation."""
    direct_inputs: dict[str, Any] = dict.fromkeys(outputs, inputs) if declared is None else dict(declared)
    if override == "all":
        direct_inputs = dict.fromkeys(outputs, inputs)
    elif override is not None:
        for output, needs in override.items():
            _check_ports([output], outputs, "outputs")
            _check_ports(needs, inputs, "inputs")
        direct_inputs |= override
    return {name: [i for i in inputs if i in direct_inputs.get(name, inputs)] for name in outputs}


def _check_ports(names: Iterable[str], ports: Sequence[str], role: str) -> None:
    """Refuse names of `feedthrough` that are no ports of the FMU."""
    for name in names:
        if name not in ports:
            text = f"'{name}' is not one of its {role}: {', '.join(ports) or 'it has none'}"
            raise cosim.ModelError.of("feedthrough", text)


def _option(kind: str, start: Any, items: Mapping[str, int] | None, about: str) -> Any:
    """The option for a parameter that is not real; an enumeration offers the names of its items."""
    names = {value: name for name, value in (items or {}).items()}
    if len(names) == len(items or {}) and start in names:
        return cosim.option(names[start], choices=tuple(names.values()), description=about)
    if kind == "string":
        return replace(text(about), start=start or "")
    return cosim.option(OPTION_TYPES[kind](start or 0), description=about)


def _unit(unit: str) -> str | None:
    """The unit if it can be read; None lets it follow from the connected variables."""
    if unit in ("", "1"):
        return None
    try:
        parse_unit(unit)
    except cosim.UnitError:
        return None
    return unit


def _described(variable: ParticipantVariable, python_names: Mapping[str, str]) -> str:
    """The description, after the name in the FMU if that differs from the name in Python."""
    name = variable.name if python_names[variable.name] != variable.name else ""
    return ": ".join(filter(None, (name, variable.description)))


def _is_plain(element: Element, largest: int = LARGEST) -> bool:
    """Whether a scalar is a double without a change of sign, or an element of an array of doubles."""
    return element.type in DOUBLE and element.sign > 0 and element.size <= largest

"""The class that a Model Exchange FMU becomes: what it declares, and its kernel functions."""

from __future__ import annotations

import functools
import itertools
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import parse_unit, run_source, text
from cosim_fmi.description.fmu_interface import Element
from cosim_fmi.instances import identity, read_fmu
from cosim_master.component.fmu_component import ModelExchangeFmu

TAKEN = (
    {"t", "name", "values", "side", "state", "next_state", "self", "declarations", "kernels", "handlers"}
    | {"z", "scale", "epoch", "live", "indicators", "next_event", "fmu", "feedthrough", "tolerance"}
    | {"kept_events", "wanted", "given", "shown"}
    | {"derivatives", "bind", "arguments", "signals", "switch", "conditions", "smoothness"}
    | {"running", "others", "block", "keeps_nothing", "show", "step_ended", "step_event", "inputs_changed"}
    | {"has_instance", "move_to", "write_input", "read_outputs", "read_rates", "output", "completed_step"}
    | {*dir(ModelExchangeFmu)}
)
"""What the class of an FMU, its objects and its kernel functions use themselves."""
NUMBERED = re.compile(r"(outputs|indicator|state_event)_\d+$")
"""Likewise."""
DERIVED = re.compile(r"_(dot\d?|next|ring|state|rate)$")
"""Endings by which a component asks for something else than a variable of its own."""


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """For each name of a variable one that Python takes: ``mass1.L`` becomes ``mass1_L``.

    Examples
    --------
    >>> identifiers(["mass1.L", "mass1_L", "v[2]", "t", "1st"])
    {'mass1.L': 'mass1_L_', 'mass1_L': 'mass1_L', 'v[2]': 'v_2', 't': 't_', '1st': 'v_1st'}
    """
    listed = list(names)
    used = {name for name in listed if _is_good(name)}
    names_in_python = {}
    for name in listed:
        made = name
        if not _is_good(name):
            made = re.sub(r"\W+", "_", name).strip("_") or "v"
            made = f"v_{made}" if made[0].isdigit() else made
            while made in used or not _is_good(made):
                made += "_"
            used.add(made)
        names_in_python[name] = made
    return names_in_python


def _is_good(name: str) -> bool:
    is_word = name.isidentifier() and name.isascii() and not name.startswith("_")
    is_taken = keyword.iskeyword(name) or name in TAKEN or NUMBERED.match(name) or DERIVED.search(name)
    return is_word and not is_taken


DOUBLE = ("Real", "Float64")
NUMBERS = ("real", "integer", "boolean")
OF_OPTIONS: dict[str, type] = {"integer": int, "boolean": bool, "string": str}
LARGEST = 64
"""Elements of an array, each of which is an input or output of its own."""
WANT = ("        wanted_next[0] = 1", "        return 1")
POINT = ("t", "z", "scale", "epoch", "live")
"""What kernel functions move the FMU to."""


def class_for(fmu: Any, feedthrough: Any) -> type[ModelExchangeFmu]:
    """The class of an FMU; the same for the same file and feedthrough.

    Raises
    ------
    ModelError
        No file is given, or `feedthrough` names what is not there.
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


@functools.lru_cache(maxsize=64)
def _class(file: Any, feedthrough: str) -> type[ModelExchangeFmu]:
    interface = read_fmu(file[0], "ModelExchange")[1]
    description = interface.description
    settable = description.settable or frozenset()
    elements, listed = interface.elements, description.variables.values()
    parameters = [
        v
        for v in listed
        if v.causality == "parameter" and v.name in settable and _is_plain(elements[v.name], 1)
    ]
    chosen = [
        v
        for v in listed
        if v.causality == "parameter"
        and v.name in settable
        and v.type in OF_OPTIONS
        and elements[v.name].size == 1
    ]
    ports = [
        v
        for v in listed
        if v.causality in ("input", "output")
        and v.type in NUMBERS
        and v.name not in interface.clocked
        and elements[v.name].size <= LARGEST
    ]
    own = identifiers([v.name for v in (*ports, *parameters, *chosen)])
    discrete = [v.name for v in ports if v.type != "real" or v.name in description.discrete]
    inputs, outputs, discrete_inputs, discrete_outputs = (
        [v.name for v in ports if v.causality == side and (v.name in discrete) == is_discrete]
        for is_discrete in (False, True)
        for side in ("input", "output")
    )
    follows = _follows(inputs, outputs, description.feedthrough, json.loads(feedthrough))

    def group(name: str) -> tuple[list[str], bool]:
        """What is alike of outputs that are read at once."""
        return follows[name], not _is_plain(elements[name])

    outputs.sort(key=group)
    groups = tuple(tuple(names) for _, names in itertools.groupby(outputs, key=group))
    size, count = max(1, interface.states), interface.indicators
    body: dict[str, Any] = {
        "__doc__": f"{description.kind} '{file[0].stem}'.",
        "variables": own,
        "made_by": ModelExchangeFmu,
        "goes_back": description.can_restore and not (interface.restores_by_states and count),
        "inputs": tuple(inputs),
        "groups": groups,
        "discrete_inputs": tuple(discrete_inputs),
        "discrete_outputs": tuple(discrete_outputs),
        "follows": follows,
        "other_starts": frozenset(settable)
        - {*inputs, *discrete_inputs, *(v.name for v in (*parameters, *chosen))},
        "chosen": {own[v.name]: v.name for v in chosen},
        "items": {own[name]: dict(items) for name, items in description.enumerations.items() if name in own},
        "z": cosim.auxiliary_state(shape=size, start=(0.0,) * size, description="states over `scale`"),
        "scale": cosim.discrete(shape=size, start=(1.0,) * size, invalidates=cosim.Stage.TIME, internal=True),
        "given": _kept(len(discrete_inputs)),
        "shown": _kept(len(discrete_outputs)),
        "indicators": cosim.cache_slot(shape=max(1, count)),
    }
    for v in ports:
        about: dict[str, Any] = {"unit": _unit(v.unit), "description": _described(v, own)}
        if v.causality == "input":
            body[own[v.name]] = cosim.input(start=float(v.start or 0.0), **about)
        else:
            body[own[v.name]] = cosim.output(**about)
    for v in parameters:
        body[own[v.name]] = cosim.parameter(
            unit=_unit(v.unit), default=v.start or 0.0, description=_described(v, own)
        )
    for v in chosen:
        body[own[v.name]] = _option(v.type, v.start, body["items"].get(own[v.name]), _described(v, own))
    body |= _kernels(
        [own[n] for n in inputs],
        [([own[n] for n in group], [own[n] for n in follows[group[0]]]) for group in groups],
        [own[n] for n in discrete_inputs],
        [own[n] for n in discrete_outputs],
        count,
        interface.wants_steps,
    )
    return type("ModelExchangeFmu", (ModelExchangeFmu,), body | {"__module__": ModelExchangeFmu.__module__})


def _follows(
    inputs: Sequence[str],
    outputs: Sequence[str],
    declared: Mapping[str, frozenset[str]] | None,
    override: Any,
) -> dict[str, list[str]]:
    """For each output the inputs that it is evaluated after, in order."""
    known: dict[str, Any] = dict.fromkeys(outputs, inputs) if declared is None else dict(declared)
    if override == "all":
        known = dict.fromkeys(outputs, inputs)
    elif override is not None:
        for output, needs in override.items():
            for name, among in ((output, outputs), *((need, inputs) for need in needs)):
                if name not in among:
                    raise cosim.ModelError.of(
                        "feedthrough",
                        f"'{name}' is not one of its {'out' if among is outputs else 'in'}puts: "
                        f"{', '.join(among) or 'it has none'}",
                    )
        known |= override
    return {name: [i for i in inputs if i in known.get(name, inputs)] for name in outputs}


def _option(kind: str, start: Any, items: Mapping[str, int] | None, about: str) -> Any:
    """Of a parameter that is not a real number; an enumeration is one of the names of its items."""
    names = {value: name for name, value in (items or {}).items()}
    if len(names) == len(items or {}) and start in names:
        return cosim.option(names[start], choices=tuple(names.values()), description=about)
    if kind == "string":
        return replace(text(about), start=start or "")
    return cosim.option(OF_OPTIONS[kind](start or 0), description=about)


def _unit(unit: str) -> str | None:
    """The unit where we know it; None lets it follow from what is connected."""
    if unit in ("", "1"):
        return None
    try:
        parse_unit(unit)
    except cosim.UnitError:
        return None
    return unit


def _described(variable: Any, own: Mapping[str, str]) -> str:
    name = variable.name if own[variable.name] != variable.name else ""
    return ": ".join(filter(None, (name, variable.description)))


def _is_plain(element: Element, largest: int = LARGEST) -> bool:
    """Whether it is a double with its own sign, or one of an array of doubles."""
    return element.type in DOUBLE and element.sign > 0 and element.size <= largest


def _kept(count: int) -> Any:
    return cosim.discrete(
        shape=max(1, count), start=(0.0,) * max(1, count), invalidates=cosim.Stage.TIME, internal=True
    )


def _kernels(
    inputs: Sequence[str],
    groups: Sequence[tuple[Sequence[str], Sequence[str]]],
    discrete_inputs: Sequence[str],
    discrete_outputs: Sequence[str],
    indicators: int,
    wants_steps: bool,
) -> dict[str, Any]:
    """Functions for outputs that follow the same inputs, derivatives, witnesses and ends of steps."""
    text = [
        "import cosim",
        "from cosim_master.component.calls import *",
        "class Kernels:",
        *_outputs(inputs, groups),
        *_function("derivatives", inputs, ["z_dot", "indicators"]),
        *_written(inputs),
        "        read_rates(live, t, scale, z_dot, indicators)",
    ]
    for i in range(indicators):
        text += [
            "    @cosim.witness",
            f"    def indicator_{i}(indicators):",
            f"        return indicators[{i}]",
            f"    @cosim.on(indicator_{i}, does='unrestricted')",
            f"    def state_event_{i}(self, state, next_state):",
            "        return self._handle(state, next_state)",
        ]
    if discrete_outputs:
        text += ["    @cosim.kernel", f"    def show(shown, {', '.join(discrete_outputs)}):"]
        text += [f"        {name}[0] = shown[{i}]" for i, name in enumerate(discrete_outputs)]
    if wants_steps:
        text += [
            "    @cosim.on(cosim.EventCause.TIME_ADVANCED, does='unrestricted')",
            f"    def step_ended({', '.join((*POINT, *inputs, 'wanted_next'))}):",
            "        if not has_instance(live, epoch):",
            "            return 0",
            "        move_to(live, t, z, scale, epoch)",
            *_written(inputs),
            "        if not completed_step(live):",
            "            return 0",
            *WANT,
        ]
    if discrete_inputs:  # after all updates of the instant that may change them
        same = " and ".join(f"given[{i}] == {name}" for i, name in enumerate(discrete_inputs))
        text += [
            "    @cosim.on(cosim.EventCause.TIME_ADVANCED, does='discrete')",
            f"    def inputs_changed(epoch, live, {', '.join(discrete_inputs)}, given, wanted_next):",
            f"        if not has_instance(live, epoch) or ({same}):",
            "            return 0",
            *WANT,
        ]
    if wants_steps or discrete_inputs:
        text += [
            "    wanted = cosim.signal()",
            "    @cosim.on(wanted, does='unrestricted')",
            "    def step_event(self, state, next_state):",
            "        return self._at_wish(state, next_state)",
        ]
    made = run_source("\n".join(text) + "\n", {"__name__": f"{__name__}.kernels"})["Kernels"]
    return {name: value for name, value in vars(made).items() if not name.startswith("__")}


def _written(inputs: Sequence[str]) -> list[str]:
    return [f"        write_input(live, {i}, {name})" for i, name in enumerate(inputs)]


def _outputs(inputs: Sequence[str], groups: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[str]:
    text, first = [], 0
    for place, (group, follows) in enumerate(groups):
        text += _function(f"outputs_{place}", follows, group)
        text += [f"        write_input(live, {inputs.index(name)}, {name})" for name in follows]
        text += [f"        read_outputs(live, {place})"]
        text += [f"        {name}[0] = output(live, {i})" for i, name in enumerate(group, first)]
        first += len(group)
    return text


def _function(name: str, reads: Sequence[str], writes: Sequence[str]) -> list[str]:
    arguments = ", ".join((*POINT, *reads, *writes))
    vectors = [one for one in writes if one in ("z_dot", "indicators")]
    zero = [f"        {one}[0] = 0.0" for one in writes if one not in vectors]
    zero += [f"        for i in range(len({one})):\n            {one}[i] = 0.0" for one in vectors]
    return [
        "    @cosim.kernel",
        f"    def {name}({arguments}):",
        *zero,
        "        if not has_instance(live, epoch):",
        "            return",
        "        move_to(live, t, z, scale, epoch)",
    ]

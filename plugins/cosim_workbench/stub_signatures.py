"""Signatures of the functions that take registered parts, methods and options, for stubs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cosim
from cosim.kit import RegisteredClass
from cosim_workbench.stub_types import (
    PART,
    keyword_arguments,
    kind_literal,
    stub_name,
    typed_arguments,
    typed_options,
)
from cosim_workbench.studies import Study

OWN_ARGUMENTS = ("kind", "name", "self")
"""Arguments that methods of a model have themselves."""
OF_CLASSES = (
    "def add(self, kind: Callable[P, Part], name: str, *no: P.args, **values: P.kwargs) -> Part: ...",
    "def add(self, kind: Part, name: str) -> Part: ...",
)
"""`Model.add` of a class, and of a part."""


def add_signature(entry: RegisteredClass, parts: Iterable[RegisteredClass], method: str = "add") -> str:
    """A method of a model that adds this part, with its parameters."""
    values = keyword_arguments(entry.cls, ", *", OWN_ARGUMENTS)
    kind, part = kind_literal(entry, parts), stub_name(entry.cls)
    return f"def {method}(self, kind: {kind}, name: str{values}) -> {part}: ..."


def joint_signature(entry: RegisteredClass, parts: Iterable[RegisteredClass]) -> str:
    """`Multibody.joint` for this joint, with its parameters."""
    ends = f"child: {PART}, parent: {PART} = ..., name: str | None = ..."
    values = keyword_arguments(entry.cls, ", *", (*OWN_ARGUMENTS, "parent", "child"))
    kind, joint = kind_literal(entry, parts), stub_name(entry.cls)
    return f"def joint(self, kind: {kind}, {ends}{values}) -> {joint}: ..."


def export_signature(exporters: Iterable[RegisteredClass], methods: Mapping[str, Mapping[str, str]]) -> str:
    """An export with all options of exporters and of integrators."""
    named = ("path", "native", "exporter")
    names = dict.fromkeys([n for entry in exporters for n in entry.cls().option_names() if n not in named])
    names |= dict.fromkeys(n for options in methods.values() for n in options if n not in named)
    listed = "".join(f", {name}: Any = ..." for name in names)
    first = "path: str | Path, *, native: bool | None = ..., exporter: str | None = ..."
    return f"def export_fmu(self, {first}{listed}) -> Any: ..."


def simulate_signature(
    first: str, methods: Mapping[str, Mapping[str, str]], name: str = "simulate", returned: str = "Result"
) -> str:
    """A run with all options of runs, of simulators and of integrators."""
    options = typed_options(cosim.Simulator) | typed_options(cosim.simulate)
    return f"def {name}({first}{typed_arguments(options, methods)}) -> {returned}: ..."


def simulator_signature(methods: Mapping[str, Mapping[str, str]]) -> str:
    """A Simulator, with all options of its own and of integrators."""
    options = typed_options(cosim.Simulator)
    return f"def __init__(self, system: System, {typed_arguments(options, methods)}) -> None: ..."


def ensemble_signature(methods: Mapping[str, Mapping[str, str]]) -> str:
    """Many runs, with all options of them and of integrators."""
    options = typed_options(cosim.Ensemble.__new__)
    return f"def __new__(cls, system: cosim.System, {typed_arguments(options, methods)}) -> Ensemble: ..."


def study_signature(methods: Mapping[str, Mapping[str, str]]) -> str:
    """A study, with all options of its own, of ensembles and of integrators."""
    first = "model: Any, vary: Mapping[str, Any], objectives: Sequence[Any] | Mapping[str, Any] | None = ..."
    options = typed_options(Study) | {"run_in": "Any"} | typed_options(cosim.Ensemble.__new__)
    settings = {n: options[n] for n in options if n not in ("model", "vary", "objectives", "reduce")}
    return f"def __init__(self, {first}, *, {typed_arguments(settings, methods)}) -> None: ..."

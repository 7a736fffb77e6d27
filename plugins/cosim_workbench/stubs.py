"""Stubs of what is registered, so that editors and type checkers know parts, parameters and options.

There is one for each module with registered components (`stub_of_parts`), and one for each module whose
functions take them (`stub_of_source`, with the signatures of `stub_signatures`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import cosim
from cosim.kit import RegisteredClass
from cosim_workbench.stub_of_parts import stub_of_parts
from cosim_workbench.stub_of_source import stub_of_source
from cosim_workbench.stub_signatures import (
    OF_CLASSES,
    add_signature,
    ensemble_signature,
    export_signature,
    joint_signature,
    simulate_signature,
    simulator_signature,
    study_signature,
)
from cosim_workbench.stub_types import keyword_arguments, stub_name, typed_options

HEADER = "# Made by `cosim new --stubs` from what is installed. Make it again after a plugin has changed.\n"
Signatures = dict[str, dict[str, list[str]]]
"""By module and by function: the signatures that its stub has."""


def stub_files() -> dict[Path, str]:
    """The text of each stub by its path."""
    parts = [entry for entry in cosim.registry().entries("component") if not entry.cls.takes_more]
    files: dict[Path, str] = {}
    for module in sorted({entry.cls.__module__ for entry in parts}):
        classes = {entry.cls.__qualname__: entry.cls for entry in parts if entry.cls.__module__ == module}
        files |= _files_of(module, stub_of_parts(module, classes))
    settings = "".join(f", {name}: str = ..." for name in cosim.Model.setting_names() if name != "name")
    signatures = _kernel_signatures(parts, settings) | _mechanics_signatures(parts, settings)
    for module, replaced in signatures.items():
        files |= _files_of(module, stub_of_source(module, replaced, [entry.cls for entry in parts]))
    return files


def _kernel_signatures(parts: list[RegisteredClass], settings: str) -> Signatures:
    """Signatures of models, runs, ensembles and studies; `settings` are arguments of every model."""
    plugins = cosim.registry()
    methods = {entry.id: typed_options(entry.cls) for entry in plugins.entries("integrator")}
    return {
        "cosim.model.model": {
            "__init__": [f"def __init__(self, name: str{settings}) -> None: ..."],
            "export_fmu": [export_signature(plugins.entries("exporter"), methods)],
            "add": [*(add_signature(entry, parts) for entry in parts), *OF_CLASSES],
            "connect": [
                "def connect(self, source: str | Component, target: str, factor: float | str = ..., "
                "offset: float | str = ...) -> None: ..."
            ],
            "measure": [
                add_signature(entry, parts, "measure") for entry in parts if "measure" in entry.kinds
            ],
            "simulate": [simulate_signature("self, ", methods)],
            "verify": [simulate_signature("self, ", methods, "verify", "Verification")],
        },
        "cosim.simulation.simulate": {"simulate": [simulate_signature("system: System, ", methods)]},
        "cosim.simulation.simulator": {"__init__": [simulator_signature(methods)]},
        "cosim.contracts.ensemble": {"__new__": [ensemble_signature(methods)]},
        "cosim_workbench.studies.study": {"__init__": [study_signature(methods)]},
    }


def _mechanics_signatures(parts: list[RegisteredClass], settings: str) -> Signatures:
    """Signatures of `Multibody`; none without the plugin of bodies."""
    body = next((entry.cls for entry in parts if entry.id == "mechanics.rigid_body"), None)
    if body is None:
        return {}
    constraints = [entry for entry in parts if "constraint" in entry.kinds]
    return {
        "cosim_mechanics.multibody": {
            "__init__": [f"def __init__(self, name: str, gravity: Any = ...{settings}) -> None: ..."],
            "body": [f"def body(self, name: str, *{keyword_arguments(body)}) -> {stub_name(body)}: ..."],
            "joint": [joint_signature(entry, parts) for entry in parts if "joint" in entry.kinds],
            "constraint": [add_signature(entry, parts, "constraint") for entry in constraints],
        }
    }


def _files_of(module: str, text: str) -> dict[Path, str]:
    """A stub, and those of the packages that it lies in."""
    path = Path(*module.split("."))
    source = sys.modules[module].__file__ or ""
    is_package = Path(source).name == "__init__.py"
    files = {path / "__init__.pyi" if is_package else path.with_suffix(".pyi"): HEADER + text}
    package = module if is_package else module.rpartition(".")[0]
    while package:
        place = Path(*package.split(".")) / "__init__.pyi"
        if place not in files:
            files[place] = HEADER + stub_of_source(package, {}, [])
        package = package.rpartition(".")[0]
    return files

"""The names that others may import: the modules of the reference, and what each of them exports."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from typing import Any

PACKAGES = (
    "cosim",
    "cosim.kit",
    "cosim.testing",
    "cosim_mechanics",
    "cosim_mechanics.contracts",
    "cosim_mechanics.spatial",
    "cosim_mechanics.testing",
    "cosim_dynamics",
    "cosim_integrators.kit",
    "cosim_measures.histories",
    "cosim_ensembles.kit",
    "cosim_signals.series",
    "cosim_workbench",
    "cosim_workbench.arguments",
    "cosim_workbench.contracts",
    "cosim_workbench.reports",
    "cosim_workbench.studies",
    "cosim_fmu",
    "cosim_fmu.abilities",
    "cosim_fmu.testing",
    "cosim_toml",
)
"""Modules that others may import, as CONTRIBUTING.md says."""


def public_names(package: str) -> list[tuple[str, Any]]:
    """The names that a module exports, in order: its definitions, and names that it imports as themselves."""
    module = importlib.import_module(package)
    syntax = ast.parse(inspect.getsource(module))
    imports = [node for node in ast.walk(syntax) if isinstance(node, ast.ImportFrom)]
    names = {alias.name for node in imports for alias in node.names if alias.asname == alias.name}
    own = [node.name for node in syntax.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    names.update(name for name in own if not name.startswith("_"))
    return [(name, getattr(module, name)) for name in sorted(names)]


@functools.cache
def import_names() -> dict[Any, str]:
    """The name under which each public class is imported."""
    objects = [(thing, f"{package}.{name}") for package in PACKAGES for name, thing in public_names(package)]
    return {thing: name for thing, name in reversed(objects) if inspect.isclass(thing)}


def has_definition(thing: Any) -> bool:
    """Whether a class or function is defined in its module under its name, not returned by a call."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing is Any:
        return False
    definition: Any = importlib.import_module(thing.__module__)
    for name in thing.__qualname__.split("."):
        definition = getattr(definition, name, None)
    return definition is not None and not inspect.ismodule(definition)

"""Contract kits that are loaded when they are asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def on_demand(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package of contract kits.

    pytest has to rewrite the asserts of its modules before they are imported: then bare asserts of a kit say
    what they compared, as those of tests do.

    Parameters
    ----------
    package : str
        The name of the package.
    modules : mapping of str to str
        For each public name the module of the package that has it.
    """

    def load(name: str) -> Any:
        if name not in modules:
            known = ", ".join(sorted(modules))
            raise AttributeError(f"module '{package}' has no attribute '{name}'; it has {known}")
        import pkgutil

        import pytest

        inside = pkgutil.iter_modules(sys.modules[package].__path__, f"{package}.")
        pytest.register_assert_rewrite(*(m.name for m in inside if m.name not in sys.modules))
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return load

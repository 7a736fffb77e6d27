"""Public names of a package, imported when they are first used."""

from __future__ import annotations

import functools
import importlib
import sys

from cosim.registration.missing_name import missing_name

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def late_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose imports stand under ``if TYPE_CHECKING:``.

    Whoever imports one module of the package does not wait for all others.

    Parameters
    ----------
    package : str
        ``__name__``.

    Notes
    -----
    In the ``__init__.py`` of a package::

        if TYPE_CHECKING:
            from cosim_lamps.lamp import Lamp as Lamp
        else:
            __getattr__, __dir__ = late_names(__name__)
    """

    @functools.cache
    def places() -> dict[str, tuple[str, str]]:
        import ast  # not before a name is used: these two take longest
        import inspect

        origins = {}
        for branch in ast.parse(inspect.getsource(sys.modules[package])).body:
            if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test):
                for node in branch.body:
                    if isinstance(node, ast.ImportFrom) and node.module:
                        origins.update({a.asname or a.name: (node.module, a.name) for a in node.names})
                    elif isinstance(node, ast.Assign):  # another name for one of them
                        origins[ast.unparse(node.targets[0])] = origins[ast.unparse(node.value)]
        return origins

    def of_package(name: str) -> Any:
        if name == "__all__":  # `from package import *`
            return sorted(places())
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name not in places():
            raise missing_name(package, name, places(), sys._getframe(1))
        module, original = places()[name]
        if module == package:  # a module of the package itself
            return importlib.import_module(f"{package}.{original}")
        imported = importlib.import_module(module)
        if not hasattr(imported, original):  # a module of a package
            importlib.import_module(f"{module}.{original}")
        value = getattr(imported, original)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places()})

    return of_package, names

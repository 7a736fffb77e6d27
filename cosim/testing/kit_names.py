"""Names of a package of contract kits, loaded on demand."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable
from typing import Any

import pytest

from cosim.registration.late_names import late_names


def kit_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__``, as `cosim.kit.late_names` makes them, of a package of kits.

    Bare asserts of the kits say what they compared, as those of tests do: pytest has to rewrite them before
    their modules are imported.
    """
    of_package, names = late_names(package)

    def of_kits(name: str) -> Any:
        if not name.startswith("__"):
            modules = pkgutil.iter_modules(sys.modules[package].__path__, f"{package}.")
            pytest.register_assert_rewrite(*(m.name for m in modules if m.name not in sys.modules))
        return of_package(name)

    return of_kits, names

"""The contract kit: checks that plugin authors run on their own components.

A test file begins with a subclass that says how the component is made; pytest runs all checks of its
kind on it::

    from cosim.testing import MeasureContract

    class TestSmoothed(MeasureContract):
        make = staticmethod(lambda: Smoothed(window=0.1))

The kits of a field stand with its contracts: `cosim_mechanics.testing`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim.testing.adjoint_check import check_adjoints as check_adjoints
    from cosim.testing.component_contract import ComponentContract as ComponentContract
    from cosim.testing.described import KitWarning as KitWarning
    from cosim.testing.integrator_contract import IntegratorContract as IntegratorContract
    from cosim.testing.measure_contract import MeasureContract as MeasureContract
    from cosim.testing.tangent_check import check_tangents as check_tangents

# Loaded on demand: pytest imports this package in every run, and has to rewrite the asserts of its modules.
_MODULES = {
    "ComponentContract": "component_contract",
    "KitWarning": "described",
    "IntegratorContract": "integrator_contract",
    "MeasureContract": "measure_contract",
    "check_adjoints": "adjoint_check",
    "check_tangents": "tangent_check",
}

__all__ = [
    "ComponentContract",
    "IntegratorContract",
    "KitWarning",
    "MeasureContract",
    "check_adjoints",
    "check_tangents",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'cosim.testing' has no attribute '{name}'; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"cosim.testing.{_MODULES[name]}"), name)

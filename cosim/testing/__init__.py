"""The contract kit: checks that plugin authors run on their own components.

A test file begins with a subclass that says how the component is made; pytest runs all checks of its
kind on it::

    from cosim.testing import ForceElementContract

    class TestQuadraticDamper(ForceElementContract):
        make = staticmethod(lambda: QuadraticDamper(damping=40.0))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim.testing.constraint_contract import ConstraintContract as ConstraintContract
    from cosim.testing.force_element_contract import ForceElementContract as ForceElementContract
    from cosim.testing.integrator_contract import IntegratorContract as IntegratorContract
    from cosim.testing.joint_contract import JointContract as JointContract
    from cosim.testing.measure_contract import MeasureContract as MeasureContract

# Loaded on demand: pytest imports this package in every run, and has to rewrite the asserts of its modules.
_MODULES = {
    "ConstraintContract": "constraint_contract",
    "ForceElementContract": "force_element_contract",
    "IntegratorContract": "integrator_contract",
    "JointContract": "joint_contract",
    "MeasureContract": "measure_contract",
}

__all__ = [
    "ConstraintContract",
    "ForceElementContract",
    "IntegratorContract",
    "JointContract",
    "MeasureContract",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'cosim.testing' has no attribute '{name}'; it has {', '.join(__all__)}")
    return getattr(importlib.import_module(f"cosim.testing.{_MODULES[name]}"), name)

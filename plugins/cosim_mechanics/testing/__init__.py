"""The contract kit of mechanics: checks that plugin authors run on their own force elements and joints.

A test file begins with a subclass that says how the component is made; pytest runs all checks of its
kind on it::

    from cosim_mechanics.testing import ForceElementContract

    class TestQuadraticDamper(ForceElementContract):
        make = staticmethod(lambda: QuadraticDamper(damping=40.0))
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim_mechanics.testing.constraint_contract import ConstraintContract as ConstraintContract
    from cosim_mechanics.testing.force_element_contract import ForceElementContract as ForceElementContract
    from cosim_mechanics.testing.joint_contract import JointContract as JointContract

# Loaded on demand: pytest has to rewrite the asserts of these modules before they are imported.
_MODULES = {
    "ConstraintContract": "constraint_contract",
    "ForceElementContract": "force_element_contract",
    "JointContract": "joint_contract",
}

__all__ = ["ConstraintContract", "ForceElementContract", "JointContract"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(
            f"module 'cosim_mechanics.testing' has no attribute '{name}'; it has {', '.join(__all__)}"
        )
    _explain_asserts()
    return getattr(importlib.import_module(f"cosim_mechanics.testing.{_MODULES[name]}"), name)


def _explain_asserts() -> None:
    """Let bare asserts of the kit say what they compared, as those of tests do."""
    import pytest

    modules = (m.name for m in pkgutil.iter_modules(__path__, "cosim_mechanics.testing."))
    pytest.register_assert_rewrite(*(name for name in modules if name not in sys.modules))

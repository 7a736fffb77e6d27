"""The contract kit of co-simulation: checks for authors of participants and master algorithms.

A test file begins with a subclass that says how the thing is made; pytest runs all checks of its kind on it::

    from cosim_fmu.testing import ParticipantContract

    class TestHeater(ParticipantContract):
        make = staticmethod(lambda: Heater(power=2000.0))
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim_fmu.testing.linear_participant import LinearParticipant as LinearParticipant
    from cosim_fmu.testing.master_algorithm_contract import MasterAlgorithmContract as MasterAlgorithmContract
    from cosim_fmu.testing.participant_contract import ParticipantContract as ParticipantContract

# Loaded on demand: pytest has to rewrite the asserts of these modules before they are imported.
_MODULES = {
    "LinearParticipant": "linear_participant",
    "MasterAlgorithmContract": "master_algorithm_contract",
    "ParticipantContract": "participant_contract",
}

__all__ = ["LinearParticipant", "MasterAlgorithmContract", "ParticipantContract"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(
            f"module 'cosim_fmu.testing' has no attribute '{name}'; it has {', '.join(__all__)}"
        )
    _explain_asserts()
    return getattr(importlib.import_module(f"cosim_fmu.testing.{_MODULES[name]}"), name)


def _explain_asserts() -> None:
    """Let bare asserts of the kit say what they compared, as those of tests do."""
    import pytest

    modules = (m.name for m in pkgutil.iter_modules(__path__, "cosim_fmu.testing."))
    pytest.register_assert_rewrite(*(name for name in modules if name not in sys.modules))

"""Settings of the tests of contract kits; toys are modules beside this file, where other processes look."""

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from cosim_mechanics.testing import force_laws, joint_contract

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def without_shrinking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find faults of toys without the smallest example, which a test with a file of a third party covers."""
    for module in (force_laws, joint_contract):
        monkeypatch.setattr(
            module, "CHECKED", settings(module.CHECKED, phases=(Phase.explicit, Phase.generate))
        )

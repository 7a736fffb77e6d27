"""What tests of the kits share; the toys stand in modules beside this file: another process finds them."""

import sys
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from cosim_mechanics.testing import force_laws, joint_contract

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def faults_are_not_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a toy it counts that the fault is found; that it is made small is seen in a stranger's test file."""
    for module in (force_laws, joint_contract):
        monkeypatch.setattr(
            module, "CHECKED", settings(module.CHECKED, phases=(Phase.explicit, Phase.generate))
        )

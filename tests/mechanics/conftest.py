"""What tests of mechanics share."""

import pytest
from how_many import many
from hypothesis import settings

from cosim_mechanics.testing import force_laws, joint_contract


@pytest.fixture(autouse=True)
def fewer_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a short run, fewer than the kits draw for a class that is new."""
    for module in (force_laws, joint_contract):
        drawn = settings(module.CHECKED, max_examples=min(many(6), module.CHECKED.max_examples))
        monkeypatch.setattr(module, "CHECKED", drawn)

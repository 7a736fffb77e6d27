"""Fixtures of the tests of mechanics."""

import pytest
from how_many import many
from hypothesis import settings

from cosim_mechanics.testing import force_laws, joint_contract


@pytest.fixture(autouse=True)
def fewer_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let contract kits draw fewer examples in a short run than for a new class of an author."""
    for module in (force_laws, joint_contract):
        fewer = settings(module.CHECKED, max_examples=min(many(6), module.CHECKED.max_examples))
        monkeypatch.setattr(module, "CHECKED", fewer)

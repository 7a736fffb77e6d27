"""What a run will need is looked for once."""

import pytest

from cosim_compiler import ahead, native, units


@pytest.fixture
def looked_for(monkeypatch):
    """What was looked for among the functions at hand; all of them are."""
    found = []
    monkeypatch.setattr(native, "is_plain", lambda: False)
    monkeypatch.setattr(units, "is_at_hand", lambda *item: found.append(item) or True)
    return found


def test_functions_are_looked_for_once(looked_for) -> None:
    """Looking takes a millisecond and more for each Simulator that is made."""

    def first(x):
        return x

    def second(x):
        return x

    ahead.compile_ahead([(first, "d>d")])
    ahead.compile_ahead([(first, "d>d"), (second, "d>d"), (first, "i>i")])
    assert looked_for == [(first, "d>d"), (second, "d>d"), (first, "i>i")]

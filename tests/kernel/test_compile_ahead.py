"""Functions that a run will need are searched for once in each process."""

import pytest

from cosim_compiler import ahead, native, units


@pytest.fixture
def searched_functions(monkeypatch):
    """The functions that are searched for; all of them are found."""
    functions = []
    monkeypatch.setattr(native, "is_plain", lambda: False)
    monkeypatch.setattr(units, "is_at_hand", lambda *item: functions.append(item) or True)
    return functions


def test_each_function_is_searched_for_once(searched_functions) -> None:
    """A search takes more than a millisecond, for each new Simulator."""

    def first(x):
        return x

    def second(x):
        return x

    ahead.compile_ahead([(first, "d>d")])
    ahead.compile_ahead([(first, "d>d"), (second, "d>d"), (first, "i>i")])
    assert searched_functions == [(first, "d>d"), (second, "d>d"), (first, "i>i")]

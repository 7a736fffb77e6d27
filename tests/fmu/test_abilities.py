"""Abilities of participants: an object is asked, whatever its class."""

from types import SimpleNamespace
from typing import Any

import pytest

from cosim_master import abilities
from cosim_master.ability import Ability

ABILITIES = [
    each
    for each in vars(abilities).values()
    if isinstance(each, type) and issubclass(type(each), type(Ability)) and each is not Ability
]


class Delegates:
    """Hands on to another object."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)


def members(ability: type) -> list[str]:
    return [
        name
        for base in ability.__mro__
        if base.__module__ == abilities.__name__
        for name in vars(base)
        if not name.startswith("_")
    ]


def test_there_are_abilities() -> None:
    assert len(ABILITIES) >= 20 and abilities.Repeats in ABILITIES


@pytest.mark.parametrize("ability", ABILITIES)
def test_what_hands_on_has_the_abilities_of_the_other(ability: type) -> None:
    names = members(ability)
    whole = SimpleNamespace(**dict.fromkeys(names, print))
    assert isinstance(whole, ability) and isinstance(Delegates(whole), ability)
    for name in names:
        lacks = SimpleNamespace(**{other: print for other in names if other != name})
        assert not isinstance(lacks, ability) and not isinstance(Delegates(lacks), ability)
        if callable(vars(ability).get(name)):  # a method that is switched off
            off = SimpleNamespace(**{**vars(lacks), name: None})
            assert not isinstance(Delegates(off), ability)
    assert not isinstance(None, ability)

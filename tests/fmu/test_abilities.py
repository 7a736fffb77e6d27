"""An object has an ability of participants if it has all of its members, whatever its class."""

from types import SimpleNamespace
from typing import Any

import pytest

from cosim_master import abilities
from cosim_master.ability import Ability

ABILITIES = [
    member
    for member in vars(abilities).values()
    if isinstance(member, type) and issubclass(type(member), type(Ability)) and member is not Ability
]


class Delegate:
    """Takes its attributes from another object."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)


def members(ability: type) -> list[str]:
    """Names of the public members of an ability, also of those that it extends."""
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
def test_delegates_have_the_abilities_of_their_target(ability: type) -> None:
    names = members(ability)
    complete = SimpleNamespace(**dict.fromkeys(names, print))
    assert isinstance(complete, ability) and isinstance(Delegate(complete), ability)
    for name in names:
        incomplete = SimpleNamespace(**{other: print for other in names if other != name})
        assert not isinstance(incomplete, ability) and not isinstance(Delegate(incomplete), ability)
        if callable(vars(ability).get(name)):  # None instead of a method switches the ability off
            switched_off = SimpleNamespace(**{**vars(incomplete), name: None})
            assert not isinstance(Delegate(switched_off), ability)
    assert not isinstance(None, ability)

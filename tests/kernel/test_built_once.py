"""A model is built again if anything in it has changed, and only then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cosim


class Decay(cosim.Component):
    """Law: level' = -rate (level - target), where the rate is a product of two weights."""

    level = cosim.auxiliary_state(start=1.0)
    weights = cosim.parameter(shape=2, default=(1.0, 1.0))
    target = cosim.input()

    @cosim.kernel
    def derivatives(level, weights, target, level_dot):
        level_dot[0] = -weights[0] * (level - target) * weights[1]


@pytest.fixture
def model() -> cosim.Model:
    model = cosim.Model("decay")
    model.add(Decay, "first", weights=np.array([1.0, 2.0]))
    model.add(Decay, "second")
    model.set_start("second.target", 0.0)
    return model


@pytest.fixture
def built_systems(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The systems that were built."""
    systems: list[Any] = []
    build = cosim.Model.build

    def build_and_list(model: cosim.Model) -> Any:
        systems.append(build(model))
        return systems[-1]

    monkeypatch.setattr(cosim.Model, "build", build_and_list)
    return systems


def test_an_unchanged_model_is_built_once(model: cosim.Model, built_systems: list[Any]) -> None:
    model.simulate(until=0.1)
    model.simulate(until=0.2)
    assert len(built_systems) == 1


CHANGES: dict[str, Callable[[cosim.Model], Any]] = {
    "part": lambda model: model.add(Decay, "third"),
    "connection": lambda model: model.connect("second.level", "first.target"),
    "start": lambda model: model.set_start("first.level", 2.0),
    "setting": lambda model: model.settings.update(description="another"),
    "number in place": lambda model: model.parts["first"].values.numbers["weights"].__setitem__(1, 3.0),
    "sign of zero": lambda model: model.set_start("second.target", -0.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_model_is_built_again(change: str, model: cosim.Model, built_systems: list[Any]) -> None:
    model.simulate(until=0.1)
    CHANGES[change](model)
    model.simulate(until=0.1)
    assert len(built_systems) == 2


class Table(np.ndarray):
    """An array with rows that are tables, like `numpy.matrix`."""

    def __getitem__(self, at: Any) -> Any:
        return np.atleast_2d(super().__getitem__(at))


@pytest.mark.parametrize(
    "array",
    [
        np.ones((1, 2)).view(Table),
        np.ma.array([1.0, 2.0], mask=[False, True]),
        np.array([[1.0, "text"]], dtype=object),
        np.array(1.0, dtype=object),
    ],
    ids=["rows are tables", "masked", "objects", "one object"],
)
def test_a_change_in_an_array_of_any_kind_is_noticed(
    array: Any, model: cosim.Model, built_systems: list[Any]
) -> None:
    model.parts["first"].__dict__["_note"] = array.copy()
    model.simulate(until=0.1)
    model.simulate(until=0.1)
    assert len(built_systems) == 1
    np.asarray(vars(model.parts["first"])["_note"])[...] = 3.0
    model.simulate(until=0.1)
    assert len(built_systems) == 2


class Note:
    """An attribute with a number, a list and a dictionary."""

    def __init__(self, number: float) -> None:
        self.number, self.texts, self.numbers = number, ["a"], {"b": [1.0, 2.0]}


@pytest.fixture
def many_parts() -> cosim.Model:
    """So many parts of one class that they are compared together."""
    model = cosim.Model("many")
    for i in range(40):
        part = model.add(Decay, f"part{i}", weights=np.array([1.0, 0.0]))
        part.__dict__["_note"] = Note(float(i))
    return model


def _note(model: cosim.Model, i: int = 17) -> Any:
    return vars(model.parts[f"part{i}"])["_note"]


CHANGES_OF_ONE_PART: dict[str, Callable[[cosim.Model], Any]] = {
    "number in place": lambda model: model.parts["part17"].values.numbers["weights"].__setitem__(0, 3.0),
    "sign of zero": lambda model: model.parts["part17"].values.numbers["weights"].__setitem__(1, -0.0),
    "number": lambda model: setattr(_note(model), "number", 18.0),
    "kind of a number": lambda model: setattr(_note(model), "number", 17),
    "text in a list": lambda model: _note(model).texts.append("b"),
    "number in a dictionary": lambda model: _note(model).numbers["b"].__setitem__(1, 3.0),
    "another attribute": lambda model: setattr(_note(model), "last", 1.0),
    "an attribute less": lambda model: delattr(_note(model), "texts"),
    "an attribute of another part": lambda model: model.parts["part17"].__dict__.update(
        _note=_note(model, 18)
    ),
    "an attribute that contains itself": lambda model: setattr(_note(model), "numbers", _note(model)),
    "order": lambda model: model.parts.update(part0=model.parts.pop("part0")),
}


@pytest.mark.parametrize("change", CHANGES_OF_ONE_PART)
def test_a_change_in_one_of_many_parts_is_noticed(
    change: str, many_parts: cosim.Model, built_systems: list[Any]
) -> None:
    many_parts.simulate(until=0.1)
    many_parts.simulate(until=0.1)
    assert len(built_systems) == 1
    CHANGES_OF_ONE_PART[change](many_parts)
    many_parts.simulate(until=0.1)
    assert len(built_systems) == 2
    many_parts.simulate(until=0.1)
    assert len(built_systems) == 2

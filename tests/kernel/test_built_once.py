"""A model that has not changed is not built again; any change is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cosim


class Decay(cosim.Component):
    """Falls at a rate; what it falls to is an input."""

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
def built(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was built."""
    systems: list[Any] = []
    build = cosim.Model.build

    def kept(model: cosim.Model) -> Any:
        systems.append(build(model))
        return systems[-1]

    monkeypatch.setattr(cosim.Model, "build", kept)
    return systems


def test_an_unchanged_model_is_built_once(model: cosim.Model, built: list[Any]) -> None:
    model.simulate(until=0.1)
    model.simulate(until=0.2)
    assert len(built) == 1


CHANGES: dict[str, Callable[[cosim.Model], Any]] = {
    "part": lambda model: model.add(Decay, "third"),
    "connection": lambda model: model.connect("second.level", "first.target"),
    "start": lambda model: model.set_start("first.level", 2.0),
    "setting": lambda model: model.settings.update(description="another"),
    "number in place": lambda model: model.parts["first"].values.numbers["weights"].__setitem__(1, 3.0),
    "sign of zero": lambda model: model.set_start("second.target", -0.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change: str, model: cosim.Model, built: list[Any]) -> None:
    model.simulate(until=0.1)
    CHANGES[change](model)
    model.simulate(until=0.1)
    assert len(built) == 2


class Table(np.ndarray):
    """Its rows are tables again, as those of `numpy.matrix`."""

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
def test_arrays_of_any_kind_are_looked_into(array: Any, model: cosim.Model, built: list[Any]) -> None:
    model.parts["first"].__dict__["_note"] = array.copy()
    model.simulate(until=0.1)
    model.simulate(until=0.1)
    assert len(built) == 1
    np.asarray(vars(model.parts["first"])["_note"])[...] = 3.0
    model.simulate(until=0.1)
    assert len(built) == 2

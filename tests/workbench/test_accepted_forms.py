"""Values, paths and ids may be given in several forms, which mean the same."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from cart_models import cart_model

import cosim
import cosim_fmu
from cosim.kit import run_source


def test_columns_of_tables_are_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    model = cart_model()
    body = model.body("b", mass=pandas.Series([3.0])[0], inertia=pandas.Series([1.0, 2.0, 2.5]))
    assert body.inertia.tolist()[:3] == [1.0, 2.0, 2.5]  # type: ignore[attr-defined]
    model.joint("free", child=body)
    model.set_start("cart_joint.q", pandas.Series([0.5]))
    assert model.build().default_state()["cart_joint.q"] == 0.5
    with pytest.raises(cosim.ModelError) as raised:
        model.body("c", mass=1.0, inertia=pandas.Series(["a", "b", "c"]))
    assert len(str(raised.value).splitlines()) == 1


def test_fields_of_a_dataclass_may_be_values() -> None:
    @dataclasses.dataclass
    class Chosen:
        mass: float = 2.5

    assert cart_model().body("b", inertia=np.ones(3), **vars(Chosen())).mass == 2.5  # type: ignore[attr-defined]


def test_signals_may_come_from_an_iterator() -> None:
    result = cart_model().simulate(until=0.1, signals=(path for path in ["cart.z"]))
    assert list(result.signals) == ["cart.z"]


def test_the_last_word_of_an_id_is_enough() -> None:
    model = cart_model()
    model.add("actuator", "push", coordinate="cart_joint", effort=1.0)
    result = model.simulate(until=0.1, integrator="dormand_prince")
    assert result["cart.x"][-1] == pytest.approx(0.5 * 0.5 * 0.01)
    assert model.to_dict()["parts"][-1]["type"] == "mechanics.actuator"


def test_the_end_of_many_runs_is_text_as_that_of_one() -> None:
    runs = cart_model().simulate_many({"cart.mass": [1.0, 2.0]}, until="20 ms", threads=1)
    assert runs.time[-1] == 0.02
    with pytest.raises(cosim.ModelError, match="until: is missing"):
        cart_model().simulate_many({"cart.mass": [1.0, 2.0]}, threads=1)


def test_a_checkpoint_is_given_as_its_path(tmp_path: Path) -> None:
    system = cart_model().build()
    path = str(tmp_path / "c.state")
    cosim.simulate(system, until="20 ms", checkpoint=path)
    assert cosim.read_checkpoint(system, path).time == 0.02
    assert cosim.Checkpoint(path, "2 min").every == 120.0
    with pytest.raises(cosim.ModelError, match="'soon', needs a time"):
        cosim.Checkpoint(path, "soon")


def test_the_value_of_a_measure_is_found_by_both_of_its_names() -> None:
    short, full = cosim.Result([0.0], {"felt": [2.0]}), cosim.Result([0.0], {"felt.value": [2.0]})
    for result in (short, full):
        assert [result[name].tolist() for name in ("felt", "felt.value")] == [[2.0], [2.0]]
    assert "other.value" not in short


def test_the_kit_is_an_attribute_of_the_package() -> None:
    run_source("import cosim\ncosim.kit.quote")
    assert "kit" in dir(cosim)


def test_a_co_simulation_says_what_it_is_and_its_result_is_pickled() -> None:
    loop = cosim_fmu.CoSimulation({"cart": cart_model().build()}, [], step="1 ms")
    assert repr(loop) == "<CoSimulation: cart; 0 connections, GaussSeidel, steps of 0.001 s>"
    with pytest.raises(AttributeError, match="CoSimulation.*'run': call simulate"):
        loop.run()  # type: ignore[attr-defined]
    result = loop.simulate("2 ms")
    loaded = pickle.loads(pickle.dumps(result))
    assert type(loaded) is type(result) and loaded.time.tolist() == result.time.tolist()

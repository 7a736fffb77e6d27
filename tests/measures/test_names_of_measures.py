"""A measure `d` and its value `d.value` are one signal under two names, everywhere."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import cosim
from cosim_dynamics import linearize
from cosim_export.interface.select_variables import select_variables

NAMES = ("d", "d.value")


class Plant(cosim.Component):
    """A state that decays, with an input. Law: x' = u - rate x."""

    x = cosim.auxiliary_state(start=1.0)
    rate = cosim.parameter(default=1.0)
    u = cosim.input()

    @cosim.kernel
    def flow(x, u, rate, x_dot):
        x_dot[0] = u - rate * x


def model(source: str = "d") -> cosim.Model:
    """Return a plant, a measure d of it, and a measure e of a source."""
    plant = cosim.Model("m")
    plant.add(Plant, "p")
    plant.measure("measures.scale", "d", source="p.x", factor=2.0)
    plant.measure("measures.scale", "e", source=source, factor=2.0)
    return plant


@pytest.mark.parametrize("name", NAMES)
def test_names_in_runs_and_states(name: str) -> None:
    result = model(name).simulate(1.0, signals=[name, "e"])
    assert result[name] == pytest.approx(result["d"])
    assert 2.0 * result[name] == pytest.approx(result["e"])
    state = model().build().default_state()
    state.realize(cosim.Stage.REPORT)
    assert state[name] == 2.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recorded", NAMES)
def test_names_in_derivatives_and_gradients(name: str, recorded: str, tmp_path: Path) -> None:
    result = model().simulate(1.0, signals=[recorded], derivatives=["p.rate"])
    assert result.derivative(name, "p.rate")[-1] == pytest.approx(-2.0 * math.exp(-1.0), rel=1e-5)
    result.to_csv(tmp_path / "run.csv")
    result_of_file = cosim.read_result(tmp_path / "run.csv")
    assert result_of_file.derivative(name, "p.rate")[-1] == pytest.approx(-2.0 * math.exp(-1.0), rel=1e-5)
    run = model().simulate(1.0, signals=[recorded], gradient=["p.rate"])
    assert run.gradient(name).vector == pytest.approx([-2.0 * math.exp(-1.0)], rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_names_in_linear_models(name: str) -> None:
    assert linearize(model().build(), outputs=[name], inputs=["p.u"]).C[0, 0] == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_names_in_variables_of_an_fmu(name: str) -> None:
    for option in ("outputs", "expose"):
        variables = select_variables(model().build(), **{option: [name]})
        assert [v.name for v in variables if v.path == "d"] == ["d"]


def test_a_state_has_no_second_name() -> None:
    result = model().simulate(1.0, derivatives=["p.rate"])
    with pytest.raises(cosim.LookUpError, match=r"p\.x\.values"):
        result.derivative("p.x.values", "p.rate")

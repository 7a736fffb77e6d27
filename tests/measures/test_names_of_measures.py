"""The name of a measure and that of its value mean one signal, wherever a signal is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim
from cosim_dynamics import linearize

NAMES = ("d", "d.value")


class Plant(cosim.Component):
    """A state that fades, and an input."""

    x = cosim.auxiliary_state(start=1.0)
    rate = cosim.parameter(default=1.0)
    u = cosim.input()

    @cosim.kernel
    def flow(x, u, rate, x_dot):
        x_dot[0] = u - rate * x


def model(source: str = "d") -> cosim.Model:
    """A measure of a plant, and a measure of that."""
    made = cosim.Model("m")
    made.add(Plant, "p")
    made.measure("measures.scale", "d", source="p.x", factor=2.0)
    made.measure("measures.scale", "e", source=source, factor=2.0)
    return made


@pytest.mark.parametrize("name", NAMES)
def test_in_runs_and_states(name: str) -> None:
    result = model(name).simulate(1.0, signals=[name, "e"])
    assert result[name] == pytest.approx(result["d"])
    assert 2.0 * result[name] == pytest.approx(result["e"])
    state = model().build().default_state()
    state.realize(cosim.Stage.REPORT)
    assert state[name] == 2.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("recorded", NAMES)
def test_in_derivatives(name: str, recorded: str, tmp_path: Path) -> None:
    result = model().simulate(1.0, signals=[recorded], derivatives=["p.rate"])
    assert result.derivative(name, "p.rate")[-1] == pytest.approx(-2.0 * 0.36787944, rel=1e-5)
    result.to_csv(tmp_path / "run.csv")
    read = cosim.read_result(tmp_path / "run.csv")
    assert read.derivative(name, "p.rate")[-1] == pytest.approx(-2.0 * 0.36787944, rel=1e-5)
    run = model().simulate(1.0, signals=[recorded], gradient=["p.rate"])
    assert run.gradient(name).vector == pytest.approx([-2.0 * 0.36787944], rel=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_in_linear_models(name: str) -> None:
    assert linearize(model().build(), outputs=[name], inputs=["p.u"]).C[0, 0] == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_among_variables_of_an_fmu(name: str) -> None:
    from cosim_export.interface.select_variables import select_variables

    for what in ("outputs", "expose"):
        chosen = select_variables(model().build(), **{what: [name]})
        assert [v.name for v in chosen if v.path == "d"] == ["d"]


def test_what_is_no_measure_has_no_value() -> None:
    result = model().simulate(1.0, derivatives=["p.rate"])
    with pytest.raises(cosim.LookUpError, match=r"p\.x\.values"):
        result.derivative("p.x.values", "p.rate")

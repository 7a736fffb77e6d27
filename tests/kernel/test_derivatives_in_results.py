"""How derivatives are asked for, and how results hold and save them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from derivative_parts import Ball, Relay, differentiated

import cosim


def test_methods_in_python_and_unknown_names_are_refused() -> None:
    model = cosim.Model("m")
    model.add(Relay(), "x")
    with pytest.raises(cosim.ModelError, match="integrator.*in Python"):
        differentiated(Relay(), 1.0, ["x.a"], integrator="integrators.scipy_radau")
    with pytest.raises(cosim.LookUpError, match=r"x\.a"):
        model.simulate(until=1.0, derivatives=["x.aa"])
    result = differentiated(Relay(), 0.5, ["x.a"])
    with pytest.raises(cosim.LookUpError, match=r"x\.a"):
        result.derivative("x.y", "x.b")
    with pytest.raises(cosim.LookUpError, match=r"x\.y"):
        result.derivative("x.yy", "x.a")


def test_a_run_that_records_nothing_has_no_derivatives_either() -> None:
    """A run without signals, and a system without states and outputs."""
    model = cosim.Model("m")
    model.add(Ball, "x")
    assert model.simulate(until=0.1, derivatives=["x.g"], signals=[]).derivatives == {}

    class Bare(cosim.Component):
        """A number."""

        a = cosim.parameter(default=1.0)

    model = cosim.Model("m")
    model.add(Bare, "x")
    assert model.simulate(until=0.1, derivatives=["x.a"]).derivatives == {}


def test_a_run_whose_tape_is_read_in_pieces_has_the_same_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = differentiated(Relay(), 1.5, ["x.a", "x.j"])
    monkeypatch.setattr("cosim.simulation.carried_tangents.TAPE_LENGTH", 1)
    pieces = differentiated(Relay(), 1.5, ["x.a", "x.j"])
    for by in ("x.a", "x.j"):
        assert np.array_equal(pieces.derivative("x.y", by), expected.derivative("x.y", by))
    assert list(pieces.events) == list(expected.events)


def test_a_run_does_not_depend_on_what_the_run_before_it_asked_for() -> None:
    model = cosim.Model("m")
    model.add(Ball(), "x")
    options = {"until": 2.0, "output_interval": 0.5}
    with_both = model.simulate(derivatives=["x.e", "x.g"], **options)
    plain = model.simulate(**options)
    repeated = model.simulate(derivatives=["x.g"], **options)
    assert not plain.derivatives
    assert np.array_equal(repeated.derivative("x.height", "x.g"), with_both.derivative("x.height", "x.g"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_derivatives_are_saved_with_a_result(tmp_path: Path, ending: str) -> None:
    result = differentiated(Ball(), 1.0, ["x.e", "x.g"])
    path = tmp_path / f"run.{ending}"
    getattr(result, f"to_{ending}")(path)
    loaded = cosim.read_result(path)
    units = {"x.height": "m/(m/s2)", "x.speed": "(m/s)/(m/s2)", "x.bounces": "1/(m/s2)"}
    for of, unit in units.items():
        name = f"d({of})/d(x.g)"
        assert np.array_equal(loaded.derivative(of, "x.g"), result.derivative(of, "x.g"), equal_nan=True)
        assert loaded.unit(name) == ("1" if ending == "csv" else unit)  # CSV has no units of derivatives
        assert result.with_derivatives().unit(f"d({of})/d(x.e)") == result.unit(of)
        assert name not in result.signals
    assert np.array_equal(loaded["x.height"], result["x.height"])
    with pytest.raises(cosim.LookUpError):
        loaded.derivative("x.height", "x.h0")

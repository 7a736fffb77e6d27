"""A participant passes the directional derivatives of an FMU on, and `interface_newton` uses them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loop_fmus import make_loop

from cosim_fmu import CoSimulation
from cosim_master.participants.create_participants import open_fmu


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_directional_derivatives_are_declared_computed_and_used(
    version: str, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    fmu = make_loop(tmp_path, compiled, version)
    part = open_fmu(fmu, "part")
    assert part.describe().has_derivatives
    part.initialize(0.0, 1.0, {"u": 1.0})
    part.exit_initialization()
    # y = x + gain u with a gain of -0.5
    assert list(part.directional_derivative(["y", "x"], ["u"], [2.0])) == [-1.0, 0.0]
    part.close()

    links = ["one.y -> two.u", "two.y -> one.u"]
    result = CoSimulation({"one": fmu, "two": fmu}, links, "interface_newton", 0.1).simulate(1.0)
    # y = x - y / 2 in both, by symmetry.
    assert result["one.y"] == pytest.approx(result["one.x"] / 1.5, rel=1e-9)
    assert result["one.y"][0] == pytest.approx(2.0 / 3.0, rel=1e-9)

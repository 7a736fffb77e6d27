"""`cosim profile`: the time of a run by stage and by component, and what is not compiled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import cosim
from cosim.cli import main
from cosim_workbench.run_profile import profile

IS_PLAIN = os.environ.get("COSIM_PLAIN", "0") != "0"
MODEL = """
[bodies.cart]
mass = 2.0
inertia = [0.1, 0.1, 0.1]
joint = "slider"
[elements.spring]
type = "coordinate_spring"
coordinate = "cart_joint"
stiffness = 200.0
[simulation]
until = 0.1
"""


class Slow(cosim.Component):
    """Decays. Law: x' = -x, in plain Python."""

    x = cosim.auxiliary_state(start=1.0)

    def derivatives(self, x, x_dot):
        x_dot[0] = -x


def test_times_of_parts_and_of_stages_have_one_sum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cart.toml"
    file.write_text(MODEL)
    assert main(["profile", str(file), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["result"]
    assert answer["run"] > 0.0 and answer["evaluations"] > 0
    assert {"position", "velocity", "acceleration"} <= set(answer["stages"])
    assert {"cart", "spring"} <= set(answer["parts"])
    assert sum(answer["parts"].values()) == pytest.approx(sum(answer["stages"].values()))
    assert main(["profile", str(file), "--until", "20 ms"]) == 0
    assert "by component" in capsys.readouterr().out
    assert main(["profile", str(file), "--until", "20 m"]) == 2


def test_functions_in_plain_python_are_named() -> None:
    model = cosim.Model("slow")
    model.add(Slow, "slow")
    profiled = profile(model, {"until": 0.1})
    if IS_PLAIN:
        assert "everything" in profiled.in_python
    else:
        assert "kernel function" in profiled.in_python["slow.derivatives()"]
    assert model.build().default_state()["slow.x"] == 1.0, "a profile changes nothing of the model"

"""Parameters with which an objective is least, or greatest."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_ensembles.kit import OwnProcesses
from cosim_fmu import CoSimulation
from cosim_workbench.studies import Optimization

PARTS = '''\
import cosim


class Valley(cosim.Component):
    """A banana-shaped valley, least at (1, 1), and what grows along it."""

    p = cosim.parameter(default=-1.0)
    q = cosim.parameter(default=2.0)
    height = cosim.output()

    @cosim.kernel
    def law(p, q, height):
        height[0] = (1.0 - p) * (1.0 - p) + 5.0 * (q - p * p) * (q - p * p)
'''
SCENARIO = '[participants.valley]\ntype = "parts:Valley"\n[master]\nstep = 0.5\nuntil = 0.5\n'
RANGES = {"valley.p": "-2..2", "valley.q": (-1.0, 3.0)}


def write(folder: Path) -> Path:
    (folder / "parts.py").write_text(PARTS, "utf-8")
    (folder / "valley.toml").write_text(SCENARIO, "utf-8")
    return folder / "valley.toml"


def ramp() -> cosim.Model:
    model = cosim.Model("ramp")
    model.add("signals.ramp", "ramp", height="1 m")
    return model


@pytest.mark.thorough
def test_of_a_co_simulation(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write(tmp_path))
    told: list[tuple[int, int, int]] = []
    found = Optimization(loop, RANGES, "last(valley.height)", threads=1).run(
        250, lambda *counts: told.append(counts)
    )
    assert found.values == pytest.approx({"valley.p": 1.0, "valley.q": 1.0}, abs=0.02)
    assert found.best == pytest.approx(0.0, abs=1e-4)
    assert len(found.points) == len(found.objectives) == told[-1][0] <= 250
    assert found.best == found.objectives.min()
    p, q = found.points.T
    assert found.objectives == pytest.approx((1 - p) ** 2 + 5 * (q - p**2) ** 2, rel=1e-12)
    assert p.min() >= -2.0 and p.max() <= 2.0 and q.min() >= -1.0 and q.max() <= 3.0
    found.apply()
    assert loop.start_values["valley"] == {"p": found.values["valley.p"], "q": found.values["valley.q"]}


@pytest.mark.few(2)
@pytest.mark.parametrize("runs", [1, 2, 5, 40])
def test_so_many_runs_at_most_and_the_same_again(runs: int) -> None:
    one, other = (
        Optimization(ramp(), {"ramp.height": "1 m..3 m"}, "last(ramp)", until=1.0, seed=3).run(runs)
        for _ in range(2)
    )
    assert 1 <= len(one.points) <= runs
    assert one.points.tobytes() == other.points.tobytes()
    assert one.best == np.nanmin(one.objectives)


def test_the_greatest_at_an_end_of_its_range() -> None:
    found = Optimization(ramp(), {"ramp.height": "1 m..3 m"}, maximize="last(ramp)", until=1.0).run(60)
    assert found.best == pytest.approx(3.0, abs=1e-3)
    assert found.at_bounds == ["ramp.height"]
    with pytest.raises(cosim.CosimError, match=r"runs\.xlsx: this writes files that end in \.csv"):
        found.to_csv("runs.xlsx")
    assert "3 m   at an end of its range" in str(found)
    assert "converged" in found.message
    assert found.no_gradient == ""


class Hill(cosim.Component):
    """Law: v' = a sin(b) - g v, for two angles and a drag."""

    a = cosim.parameter(shape=3, default=(0.5, 0.2, 0.9))
    g = cosim.parameter(default=0.5, minimum=0.0)
    v = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(a, g, v, v_dot):
        v_dot[0] = math.sin(a[0]) * math.cos(a[1] - 0.3) + a[2] * (1.0 - a[2]) - g * v


def hill() -> cosim.Model:
    model = cosim.Model("hill")
    model.add(Hill(), "h")
    return model


def of_the_end(result: cosim.Result) -> float:
    """A number alone."""
    return float(result["h.v"][-1])


def final(times, values):
    return values[len(values) - 1]


ROOT = Path(__file__).parents[2]
HILL = {"h.a[0]": (0.0, 2.0), "h.a[1]": (-1.0, 1.0), "h.a[2]": (0.0, 1.0), "h.g": (0.2, 1.0)}
TOP = {"h.a[0]": math.pi / 2, "h.a[1]": 0.3, "h.a[2]": 0.5, "h.g": 0.2}
HEIGHT = 1.25 * (1.0 - math.exp(-0.2)) / 0.2


@pytest.mark.parametrize(
    "objective",
    ["last(h.v)", (final, "h.v"), cosim.objectives.end_value("h.v")],
    ids=["reduction", "kernel function", "objective"],
)
def test_along_gradients_from_the_models_own_values(objective: Any) -> None:
    options = {"until": 1.0, "output_interval": 0.25, "accuracy": 1e-9}
    found = Optimization(hill(), HILL, maximize=objective, **options).run(40, local=True)
    assert found.values == pytest.approx(TOP, abs=1e-5)
    assert found.best == pytest.approx(HEIGHT, rel=1e-8)
    assert len(found.points) < 25
    assert found.at_bounds == ["h.g"]
    assert found.no_gradient == ""
    assert "along gradients" in str(found)
    assert found.points[0] == pytest.approx([0.5, 0.2, 0.9, 0.5])


@pytest.mark.thorough
def test_where_runs_have_no_gradients_a_simplex_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # the process of the runs finds the hill there
    started: list[OwnProcesses] = []
    new_process = OwnProcesses._new_process

    def count_process(pool: OwnProcesses) -> Any:
        started.append(pool)
        return new_process(pool)

    monkeypatch.setattr(OwnProcesses, "_new_process", count_process)
    few = {path: HILL[path] for path in ("h.a[0]", "h.a[2]")}
    for objective, options, reason in (
        (of_the_end, {}, "cotangents"),
        ("last(h.v)", {"integrator": "integrators.scipy_radau"}, "its steps in Python"),
    ):
        search = Optimization(hill(), few, maximize=objective, until=1.0, output_interval=0.25, **options)
        found = search.run(8, local=True)
        assert reason in found.no_gradient
        assert len(found.points) == 8
        assert found.best > found.objectives[0]
        assert "without gradients" in str(found)
    assert len(started) == 1  # for all runs in Python


def test_a_gradient_search_takes_no_more_runs_than_it_may(tmp_path: Path) -> None:
    for most in (1, 2, 3):
        found = Optimization(hill(), HILL, maximize="last(h.v)", until=1.0).run(most, local=True)
        assert len(found.points) == most
    with pytest.raises(cosim.ModelError, match="local.*works for models only"):
        Optimization(CoSimulation.from_file(write(tmp_path)), RANGES, "last(valley.height)", threads=1).run(
            3, local=True
        )


def picky(result: cosim.Result) -> float:
    """Fails for half of the points."""
    height = float(result["ramp"][-1])
    if height < 0.0:
        raise ValueError("below the ground")
    return (height - 0.5) ** 2


def test_runs_that_fail_are_the_worst() -> None:
    found = Optimization(ramp(), {"ramp.height": (-2.0, 2.0)}, picky, until=1.0).run(60)
    assert found.values["ramp.height"] == pytest.approx(0.5, abs=0.01)
    assert 0 < found.failed == int(np.isnan(found.objectives).sum()) < 60
    with pytest.raises(cosim.SimulationError, match="every run failed.*below"):
        Optimization(ramp(), {"ramp.height": (-2.0, -1.0)}, picky, until=1.0).run(10)


def test_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["optimize", "valley.toml", "--vary", "valley.p=-2..2", "--minimize", "last(valley.height)"]
    assert main([*words, "--runs", "25", "--threads", "1", "-o", "tried.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["result"]
    rows = (tmp_path / "tried.csv").read_text("utf-8").splitlines()
    assert rows[0] == '"valley.p","last(valley.height)"'
    assert len(rows) == told["runs"] + 1 <= 26
    assert told["best"] == min(float(row.split(",")[1]) for row in rows[1:])
    assert main([*words, "--runs", "0"]) != 0
    assert "whole number from 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("vary", "goals", "says"),
    [
        ({"ramp.hight": "1..2"}, {"minimize": "last(ramp)"}, "Nearest: .*height"),
        ({"ramp.height": "1 m, 2 m"}, {"minimize": "last(ramp)"}, "needs a range"),
        ({"ramp.height": "normal(1, 2)"}, {"minimize": "last(ramp)"}, "a range that has two ends"),
        ({"ramp.height": "2..2"}, {"minimize": "last(ramp)"}, "ramp.height"),
        ({}, {"minimize": "last(ramp)"}, "needs a variable at least"),
        ({"ramp.height": "1..2"}, {}, "needs one: minimize="),
        (
            {"ramp.height": "1..2"},
            {"minimize": "last(ramp)", "maximize": "last(ramp)"},
            "needs one: minimize=",
        ),
    ],
)
def test_what_is_wrong(vary: Any, goals: Any, says: str) -> None:
    with pytest.raises(cosim.ModelError, match=says):
        Optimization(ramp(), vary, until=1.0, **goals)

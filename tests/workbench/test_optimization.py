"""Optimizations find the parameters with which an objective is least or greatest."""

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
    """The height of a banana-shaped valley, least at (1, 1)."""

    p = cosim.parameter(default=-1.0)
    q = cosim.parameter(default=2.0)
    height = cosim.output()

    @cosim.kernel
    def law(p, q, height):
        height[0] = (1.0 - p) * (1.0 - p) + 5.0 * (q - p * p) * (q - p * p)
'''
SCENARIO = '[participants.valley]\ntype = "parts:Valley"\n[master]\nstep = 0.5\nuntil = 0.5\n'
RANGES = {"valley.p": "-2..2", "valley.q": (-1.0, 3.0)}


def write_scenario(folder: Path) -> Path:
    """The scenario of a valley, and the module with its class."""
    (folder / "parts.py").write_text(PARTS, "utf-8")
    (folder / "valley.toml").write_text(SCENARIO, "utf-8")
    return folder / "valley.toml"


def ramp() -> cosim.Model:
    model = cosim.Model("ramp")
    model.add("signals.ramp", "ramp", height="1 m")
    return model


@pytest.mark.thorough
def test_the_lowest_point_of_a_valley_in_a_co_simulation(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_scenario(tmp_path))
    reports: list[tuple[int, int, int]] = []
    optimum = Optimization(loop, RANGES, "last(valley.height)", threads=1).run(
        250, lambda *counts: reports.append(counts)
    )
    assert optimum.values == pytest.approx({"valley.p": 1.0, "valley.q": 1.0}, abs=0.02)
    assert optimum.best == pytest.approx(0.0, abs=1e-4)
    assert len(optimum.points) == len(optimum.objectives) == reports[-1][0] <= 250
    assert optimum.best == optimum.objectives.min()
    p, q = optimum.points.T
    assert optimum.objectives == pytest.approx((1 - p) ** 2 + 5 * (q - p**2) ** 2, rel=1e-12)
    assert p.min() >= -2.0 and p.max() <= 2.0 and q.min() >= -1.0 and q.max() <= 3.0
    optimum.apply()
    assert loop.start_values["valley"] == {"p": optimum.values["valley.p"], "q": optimum.values["valley.q"]}


@pytest.mark.few(2)
@pytest.mark.parametrize("runs", [1, 2, 5, 40])
def test_a_search_takes_its_number_of_runs_at_most_and_is_repeatable(runs: int) -> None:
    optimum, repeated = (
        Optimization(ramp(), {"ramp.height": "1 m..3 m"}, "last(ramp)", until=1.0, seed=3).run(runs)
        for _ in range(2)
    )
    assert 1 <= len(optimum.points) <= runs
    assert optimum.points.tobytes() == repeated.points.tobytes()
    assert optimum.best == np.nanmin(optimum.objectives)


def test_the_greatest_value_at_an_end_of_a_range() -> None:
    optimum = Optimization(ramp(), {"ramp.height": "1 m..3 m"}, maximize="last(ramp)", until=1.0).run(60)
    assert optimum.best == pytest.approx(3.0, abs=1e-3)
    assert optimum.at_bounds == ["ramp.height"]
    with pytest.raises(cosim.CosimError, match=r"runs\.xlsx: this writes files that end in \.csv"):
        optimum.to_csv("runs.xlsx")
    assert "3 m   at an end of its range" in str(optimum)
    assert "converged" in optimum.message
    assert optimum.no_gradient == ""


class Hill(cosim.Component):
    """Law: v' = sin(a0) cos(a1 - 0.3) + a2 (1 - a2) - g v, for angles, a share and a drag."""

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


def last_speed(result: cosim.Result) -> float:
    """A plain function of a result, which has no derivatives."""
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
    optimum = Optimization(hill(), HILL, maximize=objective, **options).run(40, local=True)
    assert optimum.values == pytest.approx(TOP, abs=1e-5)
    assert optimum.best == pytest.approx(HEIGHT, rel=1e-8)
    assert len(optimum.points) < 25
    assert optimum.at_bounds == ["h.g"]
    assert optimum.no_gradient == ""
    assert "along gradients" in str(optimum)
    assert optimum.points[0] == pytest.approx([0.5, 0.2, 0.9, 0.5])


@pytest.mark.thorough
def test_without_gradients_a_local_search_is_a_simplex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))  # the process of the runs finds the hill there
    pools: list[OwnProcesses] = []
    new_process = OwnProcesses._new_process

    def count_process(pool: OwnProcesses) -> Any:
        pools.append(pool)
        return new_process(pool)

    monkeypatch.setattr(OwnProcesses, "_new_process", count_process)
    ranges = {path: HILL[path] for path in ("h.a[0]", "h.a[2]")}
    for objective, options, reason in (
        (last_speed, {}, "cotangents"),
        ("last(h.v)", {"integrator": "integrators.scipy_radau"}, "its steps in Python"),
    ):
        search = Optimization(hill(), ranges, maximize=objective, until=1.0, output_interval=0.25, **options)
        optimum = search.run(8, local=True)
        assert reason in optimum.no_gradient
        assert len(optimum.points) == 8
        assert optimum.best > optimum.objectives[0]
        assert "without gradients" in str(optimum)
    assert len(pools) == 1  # for all runs in Python


def test_a_gradient_search_takes_no_more_runs_than_it_may() -> None:
    for most in (1, 2, 3):
        optimum = Optimization(hill(), HILL, maximize="last(h.v)", until=1.0).run(most, local=True)
        assert len(optimum.points) == most


def test_a_local_search_needs_a_model(tmp_path: Path) -> None:
    loop = CoSimulation.from_file(write_scenario(tmp_path))
    search = Optimization(loop, RANGES, "last(valley.height)", threads=1)
    with pytest.raises(cosim.ModelError, match="local.*works for models only"):
        search.run(3, local=True)


def picky(result: cosim.Result) -> float:
    """Fails for half of the points."""
    height = float(result["ramp"][-1])
    if height < 0.0:
        raise ValueError("below the ground")
    return (height - 0.5) ** 2


def test_failed_runs_are_worse_than_all_others() -> None:
    optimum = Optimization(ramp(), {"ramp.height": (-2.0, 2.0)}, picky, until=1.0).run(60)
    assert optimum.values["ramp.height"] == pytest.approx(0.5, abs=0.01)
    assert 0 < optimum.failed == int(np.isnan(optimum.objectives).sum()) < 60
    with pytest.raises(cosim.SimulationError, match="every run failed.*below"):
        Optimization(ramp(), {"ramp.height": (-2.0, -1.0)}, picky, until=1.0).run(10)


def test_the_command_writes_all_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scenario(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["optimize", "valley.toml", "--vary", "valley.p=-2..2", "--minimize", "last(valley.height)"]
    assert main([*words, "--runs", "25", "--threads", "1", "-o", "tried.csv", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["result"]
    rows = (tmp_path / "tried.csv").read_text("utf-8").splitlines()
    assert rows[0] == '"valley.p","last(valley.height)"'
    assert len(rows) == answer["runs"] + 1 <= 26
    assert answer["best"] == min(float(row.split(",")[1]) for row in rows[1:])
    assert main([*words, "--runs", "0"]) != 0
    assert "whole number from 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("vary", "goals", "message"),
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
def test_wrong_arguments(vary: Any, goals: Any, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        Optimization(ramp(), vary, until=1.0, **goals)

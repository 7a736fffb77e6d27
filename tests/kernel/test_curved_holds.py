"""Held witnesses that are nonlinear in the states: their rates come from tangents, without noise."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from curved_parts import BumpyFloor, SquareFloor, height_of
from gradient_checks import check_against_tangents, model_of
from kernel_parts import system_of

import cosim
from cosim.kit import tangent_of
from cosim.preparation import held_tables, witness_rates
from cosim.walker import BLOCK_SIGNATURE

MOST_STEPS = {  # for two seconds at an accuracy of 1e-6, by the order of the method
    **dict.fromkeys(("dormand_prince", "dormand_prince_853", "runge_kutta_merson", "tsitouras"), 100),
    **dict.fromkeys(("bogacki_shampine", "esdirk43", "radau3", "radau5", "runge_kutta_3"), 150),
    **dict.fromkeys(("bdf", "trapezoid"), 500),
}


def run(part, height, method="runge_kutta_merson", accuracy=1e-6, until=2.0):
    """A simulator of a body that has fallen from a height."""
    system = system_of(part=part)
    state = system.default_state()
    state["part.h"] = height
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=accuracy)
    simulator.advance_to(until)
    return simulator


@pytest.mark.by_turns
@pytest.mark.parametrize("height", [1.0, 3.3, 40.0])
@pytest.mark.parametrize("method", MOST_STEPS)
def test_a_ball_at_rest_needs_few_steps_at_any_height(method, height):
    simulator = run(SquareFloor(floor_height=height), height + 0.01, method)
    assert simulator.state["part.h"] == pytest.approx(height, abs=1e-9)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]
    assert simulator.statistics.steps < MOST_STEPS[method]


@pytest.mark.parametrize("start", [height_of(0.3), 3.4])
@pytest.mark.parametrize("method", ["runge_kutta_merson", "radau5", "bdf"])
def test_a_body_follows_a_floor_with_bumps(method, start):
    """It starts on the floor exactly, or falls onto it."""
    simulator = run(BumpyFloor(), start, method)
    assert simulator.state["part.h"] == pytest.approx(height_of(0.3 * math.cos(2.0)), abs=1e-6)
    assert [finding.kind for finding in simulator.findings] == ["zeno", "held"]
    assert simulator.statistics.steps < 250


def test_differences_in_place_of_tangents_give_the_same_height(monkeypatch):
    """Their noise costs hundreds of steps more."""
    by_tangents = run(SquareFloor(), 3.31)
    monkeypatch.setattr(held_tables, "rates_of_block", lambda function: None)
    by_differences = run(SquareFloor(), 3.31)
    assert by_tangents.state["part.h"] == pytest.approx(by_differences.state["part.h"], abs=1e-9)
    assert by_tangents.statistics.steps < by_differences.statistics.steps - 300


def test_derivatives_of_a_run_through_curved_holds():
    """The body stays on its floor: h = floor + 0.1 sin(3 x0 cos t)."""
    model = model_of(BumpyFloor(h=height_of(0.3) + 0.01))
    by = ["x.floor_height", "x.x", "x.h"]
    result = model.simulate(until=2.0, derivatives=by, output_interval=1.0, accuracy=1e-8)
    slope = 0.3 * math.cos(3.0 * 0.3 * math.cos(2.0)) * math.cos(2.0)
    slopes = [result.derivative("x.h", path)[-1] for path in by]
    assert slopes == pytest.approx([1.0, slope, 0.0], abs=1e-6)
    assert not [each for each in result.findings if each.kind == "no derivative"]
    check_against_tangents(model, by, until=2.0, output_interval=0.5, close=1e-8)


def square(x):
    """A function with a tangent of its author."""
    return x * x


@tangent_of(square)
def square_tangent(x, x_dot):
    """Twice x, times its tangent."""
    return 2.0 * x * x_dot


class AuthorsTangent(SquareFloor):
    """A square floor whose witness calls a function with a tangent of its author."""

    @cosim.witness(direction="falling")
    def floor(h, floor_height):
        return square(h) - floor_height * floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, v_next):
        v_next[0] = -0.5 * v


def test_the_tangent_of_an_author_gives_the_rate_of_a_witness():
    simulator = run(AuthorsTangent(), 3.31)
    assert simulator.state["part.h"] == pytest.approx(3.3, abs=1e-9)
    assert simulator.statistics.steps < 150


def test_the_rates_of_the_witnesses_of_a_block():
    """Two witnesses of one block; their rates are written behind the values of the cache."""
    system = system_of(a=SquareFloor(), b=SquareFloor(floor_height=-2.0))
    state = system.default_state()
    state["a.h"], state["a.v"], state["b.h"], state["b.v"] = 3.0, 0.25, -2.0, 1.5
    state.realize(cosim.Stage.ACCELERATION)
    place = system.assembly.layout.slots["a"]["floor"].offset
    (row,) = system.needed_blocks([place])
    rates = witness_rates.rates_of_block(system.blocks[row].function)
    assert rates is witness_rates.rates_of_block(system.blocks[row].function)
    arrays = state.arrays
    cache_and_rates = np.concatenate([arrays["c"], np.zeros(arrays["c"].size)])
    values = (
        0.0,
        arrays["y"],
        arrays["p"],
        arrays["d"],
        arrays["k"],
        arrays["h"],
        cache_and_rates,
        system.ints,
    )
    rates(*values, *map(int, system.table[row, 1:]))
    slots = system.assembly.layout.slots
    witness_speeds = [cache_and_rates[arrays["c"].size + slots[name]["floor"].offset] for name in "ab"]
    assert witness_speeds == [2.0 * 3.0 * 0.25, 2.0 * -2.0 * 1.5]  # 2 h v
    assert len(BLOCK_SIGNATURE) == len(values) + 2 + len(">v")


def test_only_nonlinear_witnesses_need_tangents():
    """Not those that are linear in the states, declare their rate, or have no handler that pushes."""
    from zero_parts import FloorBall, Tank

    system = system_of(a=FloorBall(), tank=Tank(), b=SquareFloor())
    simulator = cosim.Simulator(system, accuracy=1e-6)
    held = simulator._step.tables.held
    assert [witness.path for witness in held.witnesses] == ["a.floor", "tank.full", "b.floor"]
    assert len(held.rates) == 1


@pytest.mark.thorough
def test_the_same_bytes_compiled_and_in_plain_python():
    folder = Path(__file__).parent
    outputs = []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-P", str(folder / "curved_holds_run.py")],
            env={**os.environ, "COSIM_PLAIN": plain, "PYTHONPATH": f"{folder}{os.pathsep}{folder.parent}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0].count("held") == 4
    assert outputs[0] == outputs[1]

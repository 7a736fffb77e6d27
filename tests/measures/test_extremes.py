"""Extremes of a signal: located inside steps, at the ends of steps, without a derivative."""

import json
import math
from pathlib import Path

import pytest
from waves import Square, add_wave, simulated

import cosim
from cosim import Stage

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delay_linear.json").read_text())


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("kind", "exact", "time"),
    [("maximum", 1.5, 0.25 - 0.3 / (2.0 * math.pi)), ("minimum", -1.5, 0.75 - 0.3 / (2.0 * math.pi)),
     ("max_abs", 1.5, 0.25 - 0.3 / (2.0 * math.pi)), ("min_abs", 0.0, 0.5 - 0.3 / (2.0 * math.pi))],
)  # fmt: skip
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince"])
def test_extremes_are_located_inside_steps(kind, exact, time, integrator) -> None:
    """Steps of 0.04 s do not end at the extremes."""
    model = cosim.Model("extreme")
    add_wave(model)
    model.add(f"measures.{kind}", "best", source="wave")
    model.add(f"measures.{kind}", "at_steps", source="wave", located=False)
    simulator = simulated(model, 0.95, integrator=f"integrators.{integrator}", fixed_step=0.04, accuracy=None)
    state = simulator.state
    assert state["best"] == pytest.approx(exact, abs=2e-8)
    assert state["best.time"] == pytest.approx(time, abs=1e-5)
    assert abs(state["at_steps"] - exact) > 1e-5
    assert state["best.value_dot"] == 0.0
    restored = simulator.system.state_from_bytes(state.to_bytes()).realize(Stage.REPORT)
    assert restored["best"] == state["best"]


def test_an_extreme_of_a_source_without_a_derivative() -> None:
    model = cosim.Model("extreme")
    add_wave(model)
    model.add(Square, "square", source="wave")
    model.add("measures.maximum", "best", source="square")
    simulator = simulated(model, 0.5, accuracy=1e-9, maximum_step=0.02)
    assert simulator.state["best"] == pytest.approx(2.25, abs=1e-4)


def test_extremes_at_steps_agree_with_simbody() -> None:
    reference = REFERENCE["sibling_measures"]
    model = cosim.Model("extremes")
    add_wave(model)
    for name, kind in (("min", "minimum"), ("max", "maximum"), ("minabs", "min_abs"), ("maxabs", "max_abs")):
        model.add(f"measures.{kind}", name, source="wave", located=False)
    simulator = cosim.Simulator(model.build(), fixed_step=0.04)
    simulator.initialize()
    for row in reference["rows"]:
        simulator.advance_to(row["t"])
        state = simulator.state.realize(Stage.REPORT)
        for name in ("min", "max", "minabs", "maxabs"):
            assert state[name] == pytest.approx(row[name], abs=1e-12)
            assert state[f"{name}.time"] == pytest.approx(row[f"t_{name}"], abs=1e-12)

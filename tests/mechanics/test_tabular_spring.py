"""Springs with a table: interpolation, corners, values beyond the table, tables as parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from carts import cart, state_at
from scipy.integrate import quad
from scipy.interpolate import PchipInterpolator

import cosim
from cosim_mechanics import TabularSpring

LENGTHS = np.array([0.2, 0.3, 0.55, 0.6, 1.0, 1.1])
TENSIONS = np.array([-8.0, -8.0, 1.0, 3.0, 2.0, 40.0])


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
def test_tensions_and_energies_are_those_of_scipys_interpolation(interpolation: str) -> None:
    model = cart()
    values = {"lengths": LENGTHS, "tensions": TENSIONS, "interpolation": interpolation}
    model.add("mechanics.tabular_spring", "spring", body1="ground", body2="cart", **values)
    system = model.build()
    state = system.default_state()
    curve = PchipInterpolator(LENGTHS, TENSIONS)
    for length in (0.2, 0.21, 0.4, 0.55, 0.58, 0.7, 1.0, 1.05, 1.1):
        state["rail.q"] = length
        state.realize(cosim.Stage.REPORT)
        is_linear = interpolation == "linear"
        expected = np.interp(length, LENGTHS, TENSIONS) if is_linear else float(curve(length))
        assert state["spring.tension"] == pytest.approx(expected, rel=1e-13, abs=1e-13)
        knots = [x for x in LENGTHS if 0.2 < x < length]
        area = sum(
            quad((lambda x: np.interp(x, LENGTHS, TENSIONS)) if is_linear else curve, a, b)[0]
            for a, b in zip([0.2, *knots], [*knots, length], strict=True)
        )
        assert state["spring.potential_energy"] == pytest.approx(area, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
@pytest.mark.parametrize("extrapolation", ["tangent", "kept"])
def test_steps_end_at_the_corners_of_a_table(extrapolation: str, interpolation: str) -> None:
    """A run with long steps agrees with one of short steps, for which corners do not matter."""
    ends = {}
    for method, options in (
        ("dormand_prince", {"accuracy": 1e-7}),
        ("dormand_prince_853", {"accuracy": 1e-13, "maximum_step": 1e-3}),
    ):
        model = cart(q=1.3)
        model.add(
            "mechanics.tabular_spring", "spring", body1="ground", body2="cart",
            lengths=[0.4, 0.8, 1.0, 1.2], tensions=[-90.0, -10.0, 0.0, 60.0],
            interpolation=interpolation, extrapolation=extrapolation,
        )  # fmt: skip
        simulator = cosim.Simulator(model.build(), integrator=f"integrators.{method}", **options)
        simulator.advance_to(2.0)
        ends[method] = simulator.state.y.copy()
    assert np.abs(ends["dormand_prince"] - ends["dormand_prince_853"]).max() < 2e-6


def test_beyond_the_table_tension_follows_the_tangent() -> None:
    model = cart(q=1.5)
    model.add(
        "mechanics.tabular_spring", "s", body1="ground", body2="cart", lengths=[0.5, 1.0], tensions=[1, 3]
    )
    assert state_at(model)["s.tension"] == pytest.approx(5.0)
    assert state_at(model, q=0.25)["s.tension"] == pytest.approx(0.0)
    assert state_at(model, q=1.5)["s.potential_energy"] == pytest.approx(1.0 + 0.5 * (3.0 + 5.0) * 0.5)


@pytest.mark.parametrize("interpolation", ["monotone", "linear"])
@pytest.mark.parametrize(
    ("length", "tension", "energy"),
    [(0.25, 1.0, -0.25), (0.5, 1.0, 0.0), (1.0, 3.0, 1.0), (1.5, 3.0, 2.5), (2.0, 3.0, 4.0)],
)
def test_beyond_the_table_tension_can_stay_constant(interpolation, length, tension, energy) -> None:
    model = cart(q=1.5)
    values = {"lengths": [0.5, 1.0], "tensions": [1, 3], "interpolation": interpolation}
    model.add("mechanics.tabular_spring", "s", body1="ground", body2="cart", extrapolation="kept", **values)
    assert state_at(model, q=length)["s.tension"] == pytest.approx(tension, rel=1e-15)
    assert state_at(model, q=length)["s.potential_energy"] == pytest.approx(energy, rel=1e-15)


@pytest.mark.parametrize(
    ("length", "is_inside"), [(0.5, True), (1.0, True), (0.4999, False), (1.0001, False)]
)
def test_beyond_the_table_can_be_an_error(length: float, is_inside: bool) -> None:
    model = cart(q=0.75)
    values = {"lengths": [0.5, 1.0], "tensions": [1, 3], "extrapolation": "error"}
    model.add("mechanics.tabular_spring", "s", body1="ground", body2="cart", **values)
    if is_inside:
        assert state_at(model, q=length)["s.tension"] == (1.0 if length == 0.5 else 3.0)
        return
    with pytest.raises(cosim.SimulationError, match="the table does not cover"):
        state_at(model, q=length)


def test_tables_of_two_springs_differ_in_length_and_between_states() -> None:
    model = cart()
    for name, count in (("short", 2), ("long", 6)):
        values = {"lengths": LENGTHS[:count], "tensions": TENSIONS[:count]}
        model.add("mechanics.tabular_spring", name, body1="ground", body2="cart", **values)
    system = model.build()
    state, changed_state = system.default_state(), system.default_state()
    assert state["short.lengths"].shape == (2,) and state["long.lengths"].shape == (6,)
    changed_state["long.tensions"] = 2.0 * TENSIONS
    changed_state["short.tensions[1]"] = "1 kN"
    for each in (state, changed_state):
        each.realize(cosim.Stage.DYNAMICS)
    assert changed_state["long.tension"] == 2.0 * state["long.tension"]
    assert state["short.tension"] == -8.0 and changed_state["short.tension"] > 1000.0
    restored = system.state_from_bytes(changed_state.to_bytes()).realize(cosim.Stage.DYNAMICS)
    assert restored["short.tension"] == changed_state["short.tension"]
    with pytest.raises(cosim.StateError, match=r"long.tensions.*needs \(6,\)"):
        changed_state["long.tensions"] = [1.0, 2.0]
    changed_state["long.lengths[2]"] = 0.1
    with pytest.raises(cosim.SimulationError, match="long: table"):
        changed_state.realize(cosim.Stage.DYNAMICS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lengths": [1, 2, 3], "tensions": [1, 2]}, "tensions has 2 elements, lengths has 3"),
        ({"lengths": [1], "tensions": [1]}, "at least two"),
        ({"lengths": ["1 m", "20 cm"], "tensions": [1, 2]}, "do not increase"),
        ({"lengths": 3.0, "tensions": [1, 2]}, "lengths.*needs a list of numbers"),
        ({"tensions": [1, 2]}, "lengths is missing"),
        ({"lengths": [1, 2], "tensions": [1, math.nan]}, r"tensions\[1\] is nan"),
    ],
)
def test_wrong_tables_are_refused(values, message) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        TabularSpring(**values)

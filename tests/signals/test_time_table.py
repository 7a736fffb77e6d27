"""Time tables: every interpolation compared with SciPy, jumps as events, and the ends of a table."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator
from time_tables import SAMPLES, TIMES, simulator_of_table, values_at

import cosim
from cosim.testing import MeasureContract
from cosim_signals.time_table import TimeTable


class TestTimeTable(MeasureContract):
    make = staticmethod(lambda: TimeTable(times=TIMES, samples=SAMPLES, interpolation="cubic"))


class TestRepeatedTable(MeasureContract):
    make = staticmethod(
        lambda: TimeTable(
            times=[0.0, 0.1, 0.1, 0.2], samples=SAMPLES[:4], interpolation="linear", extrapolation="periodic"
        )
    )


class TestHeldTable(MeasureContract):
    make = staticmethod(lambda: TimeTable(times=TIMES, samples=SAMPLES, interpolation="held", offset=2.0))


@pytest.mark.parametrize(
    ("interpolation", "curve"),
    [
        ("linear", lambda t: np.interp(t, TIMES, SAMPLES)),
        ("held", lambda t: np.array(SAMPLES)[np.searchsorted(TIMES, t, "right") - 1]),
        ("cubic", CubicSpline(TIMES, SAMPLES)),
        ("monotone", PchipInterpolator(TIMES, SAMPLES)),
    ],
)
def test_values_agree_with_scipy(interpolation: str, curve: object) -> None:
    t = [0.0, 0.04, 0.11, 0.17, 0.29, 0.32, 0.5, 0.79, 0.999]
    simulator = simulator_of_table(interpolation=interpolation)
    assert values_at(simulator, t) == pytest.approx([float(curve(x)) for x in t], abs=1e-13)
    simulator.advance_to(1.0)
    fine = (np.arange(400_000) + 0.5) / 400_000
    assert simulator.state["area"] == pytest.approx(np.mean(curve(fine)), abs=1e-8)
    simulator.advance_pending_events()
    assert simulator.state.realize()["table"] == SAMPLES[-1]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("interpolation", "curve"), [("cubic", CubicSpline), ("monotone", PchipInterpolator)]
)
def test_derivatives_agree_with_scipy(interpolation: str, curve: type, order: int) -> None:
    name = "table.value_dot" + (str(order) if order > 1 else "")
    t = [0.04, 0.17, 0.32, 0.5, 0.9]
    expected = curve(TIMES, SAMPLES)(np.array(t), order)
    assert values_at(simulator_of_table(interpolation=interpolation), t, name) == pytest.approx(
        expected, rel=1e-10
    )


@pytest.mark.parametrize(
    ("extrapolation", "after", "slope"), [("kept", 4.0, 0.0), ("tangent", 4.0 + 0.25 * 17.5, 17.5)]
)
def test_values_after_the_last_time(extrapolation: str, after: float, slope: float) -> None:
    simulator = simulator_of_table(extrapolation=extrapolation)
    assert values_at(simulator, [1.25]) == pytest.approx([after])
    assert simulator.state["table.value_dot"] == pytest.approx(slope)


def test_a_jump_is_an_event() -> None:
    simulator = simulator_of_table(times=[0.0, 0.5, 0.5, 1.0], samples=[0.0, 1.0, 3.0, 3.0])
    assert values_at(simulator, [0.25, 0.5, 0.51, 0.75]) == pytest.approx([0.5, 1.0, 3.0, 3.0], abs=1e-14)
    assert simulator.state["area"] == pytest.approx(0.25 + 0.75, rel=1e-13)
    scheduled = [event.time for event in simulator.events if event.cause == cosim.EventCause.SCHEDULED]
    assert scheduled == [0.5]


def test_of_several_values_at_one_time_the_first_and_the_last_count() -> None:
    simulator = simulator_of_table(times=[0.0, 0.5, 0.5, 0.5, 1.0], samples=[0.0, 1.0, 99.0, 3.0, 3.0])
    assert values_at(simulator, [0.4, 0.75]) == pytest.approx([0.8, 3.0])
    assert simulator.state["area"] == pytest.approx(0.25 + 0.75, rel=1e-13)


@pytest.mark.parametrize("shift", [0.1, 0.3, 0.7, 1.1, -0.3])
def test_a_shifted_table_covers_its_first_and_its_last_time(shift: float) -> None:
    """There is an error just outside them, but not at them."""
    values = {"times": [0.1, 0.2, 0.6], "samples": [1.0, 2.0, 4.0], "extrapolation": "error"}
    model = cosim.Model("ends")
    model.add("signals.time_table", "table", **values, shift_time=shift)
    begin, end = (float(Fraction(repr(shift)) + Fraction(time)) for time in ("0.1", "0.6"))
    state = model.build().default_state()
    for t, value in ((begin, 1.0), (end, 4.0)):
        state.set_time(t)
        assert state.realize()["table"] == pytest.approx(value, abs=1e-13)
    for t in (math.nextafter(begin, -9.0), math.nextafter(end, 9.0)):
        state.set_time(t)
        with pytest.raises(cosim.CosimError, match="table does not cover"):
            state.realize()


def test_times_have_their_own_unit_and_so_have_samples() -> None:
    model = cosim.Model("units")
    model.add("signals.time_table", "table", times=["0 ms", "500 ms"], samples=["0 N", "3 kN"])
    system = model.build()
    state = system.default_state()
    state.set_time(0.25)
    assert state.realize()["table"] == 1500.0 and system.signal("table").units == ("N",)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"times": [0.0, 1.0], "samples": [1.0]}, "they go together"),
        ({"times": [1.0, 0.0], "samples": [1.0, 2.0]}, "times decrease: 0 s comes after 1 s"),
        ({"times": [], "samples": []}, "needs a list of numbers"),
        ({"column": "force"}, "there is no file"),
        ({"times": [0.0, float("nan")], "samples": [1.0, 2.0]}, "finite"),
    ],
)
def test_impossible_tables_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        TimeTable(**parameters)


def test_one_point_is_a_constant() -> None:
    assert values_at(simulator_of_table(times=[0.3], samples=[7.0]), [0.1, 0.5]) == [7.0, 7.0]


@pytest.mark.parametrize("interpolation", ["linear", "held", "cubic", "monotone"])
def test_times_outside_the_table_may_be_an_error(interpolation: str) -> None:
    simulator = simulator_of_table(interpolation=interpolation, extrapolation="error")
    last = SAMPLES[-2] if interpolation == "held" else SAMPLES[-1]  # before the jump at 1 s
    assert values_at(simulator, [0.0, 1.0]) == [SAMPLES[0], last]
    with pytest.raises(cosim.SimulationError, match="the table does not cover"):
        simulator.advance_to(1.5)
    late = simulator_of_table(interpolation=interpolation, extrapolation="error", shift_time=0.5)
    with pytest.raises(cosim.SimulationError, match="table does not cover"):
        late.initialize()

"""Tables over time: every interpolation against SciPy, jumps as events, files with units."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from how_many import many
from scipy.interpolate import CubicSpline, PchipInterpolator

import cosim
from cosim.testing import MeasureContract
from cosim_signals.time_table import HELD, PERIODIC, TimeTable, piece_at, point_time

TIMES = [0.0, 0.1, 0.3, 0.35, 0.8, 1.0]
SAMPLES = [1.0, 3.0, 2.0, -1.0, 0.5, 4.0]


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


def simulator(**values: object) -> cosim.Simulator:
    model = cosim.Model("table")
    model.add("signals.time_table", "table", **{"times": TIMES, "samples": SAMPLES, **values})
    model.add("measures.integrate", "area", source="table")
    return cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=1e-9)


def values_at(found: cosim.Simulator, times: list[float], name: str = "table") -> list[float]:
    values = []
    for t in times:
        found.advance_to(t)
        values.append(found.state.realize()[name])
    return values


@pytest.mark.parametrize(
    ("interpolation", "curve"),
    [
        ("linear", lambda t: np.interp(t, TIMES, SAMPLES)),
        ("held", lambda t: np.array(SAMPLES)[np.searchsorted(TIMES, t, "right") - 1]),
        ("cubic", CubicSpline(TIMES, SAMPLES)),
        ("monotone", PchipInterpolator(TIMES, SAMPLES)),
    ],
)
def test_the_curve_is_that_of_scipy(interpolation: str, curve: object) -> None:
    t = [0.0, 0.04, 0.11, 0.17, 0.29, 0.32, 0.5, 0.79, 0.999]
    found = simulator(interpolation=interpolation)
    assert values_at(found, t) == pytest.approx([float(curve(x)) for x in t], abs=1e-13)
    found.advance_to(1.0)
    dense = (np.arange(400_000) + 0.5) / 400_000
    assert found.state["area"] == pytest.approx(np.mean(curve(dense)), abs=1e-8)
    found.advance_pending_events()
    assert found.state.realize()["table"] == SAMPLES[-1]


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("interpolation", "curve"), [("cubic", CubicSpline), ("monotone", PchipInterpolator)]
)
def test_derivatives_are_those_of_scipy(interpolation: str, curve: type, order: int) -> None:
    name = "table.value_dot" + (str(order) if order > 1 else "")
    t = [0.04, 0.17, 0.32, 0.5, 0.9]
    expected = curve(TIMES, SAMPLES)(np.array(t), order)
    assert values_at(simulator(interpolation=interpolation), t, name) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("extrapolation", "after", "slope"), [("kept", 4.0, 0.0), ("tangent", 4.0 + 0.25 * 17.5, 17.5)]
)
def test_after_the_last_time(extrapolation: str, after: float, slope: float) -> None:
    found = simulator(extrapolation=extrapolation)
    assert values_at(found, [1.25]) == pytest.approx([after])
    assert found.state["table.value_dot"] == pytest.approx(slope)


def test_a_jump_is_an_event_between_two_curves() -> None:
    found = simulator(times=[0.0, 0.5, 0.5, 1.0], samples=[0.0, 1.0, 3.0, 3.0])
    assert values_at(found, [0.25, 0.5, 0.51, 0.75]) == pytest.approx([0.5, 1.0, 3.0, 3.0], abs=1e-14)
    assert found.state["area"] == pytest.approx(0.25 + 0.75, rel=1e-13)
    scheduled = [event.time for event in found.events if event.cause == cosim.EventCause.SCHEDULED]
    assert scheduled == [0.5]


def test_values_that_share_a_time_count_first_and_last() -> None:
    found = simulator(times=[0.0, 0.5, 0.5, 0.5, 1.0], samples=[0.0, 1.0, 99.0, 3.0, 3.0])
    assert values_at(found, [0.4, 0.75]) == pytest.approx([0.8, 3.0])
    assert found.state["area"] == pytest.approx(0.25 + 0.75, rel=1e-13)


@pytest.mark.few(5)
@pytest.mark.parametrize("interpolation", ["linear", "held", "cubic", "monotone"])
@pytest.mark.parametrize("begin", [-2.3, 0.0, 0.35, 5.999])
def test_a_table_begins_again(interpolation: str, begin: float) -> None:
    once = simulator(interpolation=interpolation)
    model = cosim.Model("periodic")
    values = {"times": TIMES, "samples": SAMPLES, "interpolation": interpolation}
    model.add("signals.time_table", "table", **values, extrapolation="periodic", shift_time="100 ms")
    state = model.build().default_state()
    state.set_time(begin)
    found = cosim.Simulator(state.system, state, accuracy=1e-6)
    places = [0.01, 0.2, 0.33, 0.81]
    times = [k + 0.1 + place for k in (6, 7, 8) for place in places]
    assert values_at(found, times) == pytest.approx(values_at(once, places) * 3, abs=1e-11)


REPEATED = [
    ([0.0, 0.1, 0.3], 0.0, ("0", "0.1", "0.3")),
    ([0.1, 0.4], 0.2, ("0.1", "0.4")),
    ([0.0, 1 / 3], 0.0, ("0", "1/3")),
    ([0.0, 0.05, 0.9], -0.7, ("0", "0.05", "0.9")),
]


@pytest.mark.parametrize(("times", "shift_time", "on_paper"), REPEATED)
def test_points_come_when_they_do_on_paper(
    times: list[float], shift_time: float, on_paper: tuple[str, ...]
) -> None:
    """In each of a million repetitions, on both sides of the first; the piece that follows begins there."""
    exact = [Fraction(each) for each in on_paper]
    draw, last, missed = random.Random(7), len(times) - 1, 0
    for _ in range(many(120)):
        cycle, point = draw.randint(-(10**6), 10**6), draw.randint(0, last)
        right = float(Fraction(repr(shift_time)) + exact[point] + cycle * (exact[-1] - exact[0]))
        assert point_time(times, point, shift_time, cycle) == right
        missed += shift_time + cycle * (times[-1] - times[0]) + times[point] != right
        begins = (point, cycle) if point < last else (0, cycle + 1)
        ends = (point - 1, cycle) if point > 0 else (last - 1, cycle - 1)
        before = math.nextafter(right, -math.inf)
        for t, (first, repeated) in ((right, begins), (before, ends)):
            assert piece_at(t, times, HELD, PERIODIC, shift_time)[::2] == (first, repeated)
    assert missed > many(25), "products of doubles are as good: nothing was tried"


def test_times_that_cannot_be_counted_are_products_of_doubles() -> None:
    times = [0.0, 1e-30, 0.3]
    assert point_time(times, 1, 0.1, 3) == 0.1 + 3 * 0.3 + 1e-30
    assert point_time(times, 2, 0.1, 3) == 1.3, "its own time can be counted"


@pytest.mark.parametrize("interpolation", ["held", "linear"])
def test_jumps_meet_the_ticks_of_a_period(interpolation: str) -> None:
    """Jumps every 100 ms, edges every 150 ms and ticks every 300 ms: as many instants as on paper."""

    class Ticking(cosim.Component):
        """Ticks every 300 ms."""

        ticks = cosim.discrete(dtype=int)

        @cosim.every("300 ms", does="discrete")
        def tick(ticks, ticks_next):
            ticks_next[0] = ticks + 1

    model = cosim.Model("meet")
    model.add(Ticking, "clock")
    times = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3] if interpolation == "linear" else [0.0, 0.1, 0.2, 0.3]
    model.add(
        "signals.time_table",
        "table",
        times=times,
        samples=list(range(len(times))),
        interpolation=interpolation,
        extrapolation="periodic",
        shift_time=0.7,
    )
    model.add("signals.pulse", "pulse", period=0.3, width=0.5)
    simulator = cosim.Simulator(model.build(), integrator="integrators.heun", accuracy=1e-2)
    simulator.advance_to(120.0)
    simulator.advance_pending_events()
    instants = sorted({event.time for event in simulator.events if event.time > 0.0})
    on_paper = sorted(
        {*(Fraction(k, 10) for k in range(1, 1201)), *(Fraction(3 * k, 20) for k in range(1, 801))}
    )
    assert instants == [float(each) for each in on_paper]


def test_the_slope_at_a_jump_is_that_of_the_piece_before_it() -> None:
    """Whatever rounding does to the time in the table: 0.7 + 0.1 - 0.7 is more than 0.1."""
    found = simulator(
        times=[0.0, 0.1, 0.1, 0.3], samples=[0.0, 1.0, 5.0, 7.0], extrapolation="periodic", shift_time=0.7
    )
    for cycle in range(1, 40):
        for at, value, slope in ((0.1, 1.0, 10.0), (0.3, 7.0, 10.0)):
            found.advance_to(float(Fraction("0.7") + cycle * Fraction("0.3") + Fraction(repr(at))))
            state = found.state.realize()
            assert state["table"] == pytest.approx(value, abs=1e-12), cycle
            assert state["table.value_dot"] == pytest.approx(slope), cycle


@pytest.mark.parametrize("shift", [0.1, 0.3, 0.7, 1.1, -0.3])
def test_a_shifted_table_has_its_first_and_its_last_value(shift: float) -> None:
    """An error comes beyond them, not at them."""
    values = {"times": [0.1, 0.2, 0.6], "samples": [1.0, 2.0, 4.0], "extrapolation": "error"}
    model = cosim.Model("ends")
    model.add("signals.time_table", "table", **values, shift_time=shift)
    begin, end = (float(Fraction(repr(shift)) + Fraction(each)) for each in ("0.1", "0.6"))
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


CSV = "time [ms],force [kN],gear\n0,1,1\n500,3,2\n1000,3,2\n"
TOML = """
[measures.drive]
type = "signals.time_table"
file = "drive.csv"
column = "force"
"""


def test_a_file_has_its_units_in_the_header(tmp_path: Path) -> None:
    (tmp_path / "drive.csv").write_text(CSV, "utf-8")
    (tmp_path / "model.toml").write_text(TOML, "utf-8")
    model = cosim.Model.from_file(tmp_path / "model.toml")
    system = model.build()
    state = system.default_state()
    state.set_time(0.25)
    assert state.realize()["drive"] == 2.0 and system.signal("drive").units == ("kN",)
    again = cosim.Model.from_dict(model.to_dict()).build().default_state()  # needs no file any more
    again.set_time(0.25)
    assert again.realize()["drive"] == 2.0


def test_a_column_without_a_unit_takes_the_one_that_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "drive.csv"
    path.write_text("time,force\n0,1\n1,3\n", "utf-8")
    assert TimeTable(file=str(path)).unit == ""
    assert TimeTable(file=str(path), unit="kN").unit == "kN"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"column": "forse"}, r"no signal 'forse'.*force"),
        ({}, "give column, one of force, gear"),
        ({"column": "force", "times": [0.0, 1.0]}, "so times must be omitted"),
    ],
)
def test_files_that_do_not_say_what_is_meant(tmp_path: Path, wrong: dict[str, object], text: str) -> None:
    path = tmp_path / "drive.csv"
    path.write_text(CSV, "utf-8")
    with pytest.raises(cosim.ModelError, match=text):
        TimeTable(file=str(path), **wrong)


def test_a_file_that_is_not_there_has_a_line(tmp_path: Path) -> None:
    (tmp_path / "model.toml").write_text(TOML, "utf-8")
    with pytest.raises(cosim.CosimError, match=r"model.toml:\d+.*drive.csv"):
        cosim.Model.from_file(tmp_path / "model.toml")


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"times": [0.0, 1.0], "samples": [1.0]}, "they go together"),
        ({"times": [1.0, 0.0], "samples": [1.0, 2.0]}, "times decrease: 0 s comes after 1 s"),
        ({"times": [], "samples": []}, "needs a list of numbers"),
        ({"column": "force"}, "there is no file"),
        ({"times": [0.0, float("nan")], "samples": [1.0, 2.0]}, "finite"),
    ],
)
def test_tables_that_are_none(wrong: dict[str, object], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        TimeTable(**wrong)


def test_one_point_is_a_constant() -> None:
    assert values_at(simulator(times=[0.3], samples=[7.0]), [0.1, 0.5]) == [7.0, 7.0]


@pytest.mark.parametrize("interpolation", ["linear", "held", "cubic", "monotone"])
def test_a_table_that_may_not_be_left(interpolation: str) -> None:
    found = simulator(interpolation=interpolation, extrapolation="error")
    last = SAMPLES[-2] if interpolation == "held" else SAMPLES[-1]  # before the jump at 1 s
    assert values_at(found, [0.0, 1.0]) == [SAMPLES[0], last]
    with pytest.raises(cosim.SimulationError, match="the table does not cover"):
        found.advance_to(1.5)
    late = simulator(interpolation=interpolation, extrapolation="error", shift_time=0.5)
    with pytest.raises(cosim.SimulationError, match="table does not cover"):
        late.initialize()

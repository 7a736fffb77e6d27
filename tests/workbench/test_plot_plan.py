"""What a picture shows if no signals are named, and what its notes say about the others."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_workbench.plot_plan import PlotPlan, plot_plan

T = np.linspace(0.0, 1.0, 11)
METRES = dict.fromkeys(("real", "seen", "far", "flat", "large", "small", "smaller"), "m")
ENERGIES = {
    "energy.kinetic": T,
    "energy.potential": 1.0 - T,
    "energy.total": 1.0 + 1e-9 * T,
    "energy.residual": -2e-9 * T,
    "bob.kinetic_energy": T,
}


def plan(signals: dict[str, object], *names: str, **units: str) -> PlotPlan:
    """The plan for some signals, or for those that are named; energies are in J."""
    all_units = {**units, **{name: "J" for name in signals if "energy" in name}}
    return plot_plan(cosim.Result(T, signals, all_units), names)  # type: ignore[arg-type]


def labels(picture: PlotPlan) -> list[list[str]]:
    """The labels of the lines of each panel."""
    return [[line.label for line in panel.lines] for panel in picture.panels]


def test_at_most_four_panels_with_the_energies_as_the_last() -> None:
    signals = {f"s{i}": (i + 1) * T for i in range(5)} | ENERGIES
    picture = plan(signals, s0="m", s1="s", s2="N", s3="V", s4="A")
    assert [panel.label for panel in picture.panels] == ["s0 in m", "s1 in s", "s2 in N", "energy in J"]
    assert any("1 in V, 1 in A" in note for note in picture.notes)


def test_named_signals_are_all_drawn() -> None:
    signals = {f"s{i}": (i + 1) * T for i in range(20)}
    units = {f"s{i}": "mNVAsKJ"[i % 7] for i in range(20)}
    picture = plan(signals, "*", **units)
    assert len(picture.panels) == 7
    assert sum(len(panel.lines) for panel in picture.panels) == 20
    assert picture.notes == ()


def test_energies_are_a_balance_with_its_residual() -> None:
    picture = plan(ENERGIES)
    assert labels(picture) == [
        ["energy.kinetic", "energy.potential", "energy.total", "energy.residual (at most 2e-09 J)"]
    ]
    assert picture.notes == ("energies of parts, together in the balance: bob.kinetic_energy",)
    from_csv = plot_plan(cosim.Result(T, ENERGIES, {}))  # type: ignore[arg-type]
    assert (labels(from_csv), from_csv.notes) == (labels(picture), picture.notes)
    assert labels(plan(ENERGIES, "bob.kinetic_energy", "energy.kinetic")) == [
        ["bob.kinetic_energy = energy.kinetic"]
    ]


def test_energies_far_from_zero_are_seen_from_their_start() -> None:
    heavy = {
        name: values + (5e3 if name in ("energy.potential", "energy.total") else 0.0)
        for name, values in ENERGIES.items()
    }
    lines = plan(heavy).panels[0].lines
    assert [line.label for line in lines[1:]] == [
        "energy.potential − 5001 J",
        "energy.total − 5001 J",
        "energy.residual (at most 2e-09 J) ≈ total",
    ]
    assert [line.dashed for line in lines] == [False, False, False, True]
    assert lines[1].values == pytest.approx(-T)


def test_constant_signals_are_in_a_note_unless_they_are_named() -> None:
    signals = {"a": T, "b": np.full(11, 2.5), "c": np.zeros(11)}
    picture = plan(signals, a="m", b="m/s2")
    assert labels(picture) == [["a"]]
    assert picture.notes == ("constant: b = 2.5 m/s², c = 0",)
    assert labels(plan(signals, "b", "c", b="m", c="m")) == [["b", "c"]]
    assert labels(plan({"b": signals["b"]})) == [["b"]]


def test_signals_that_are_the_same_share_a_line() -> None:
    picture = plan({"q": T, "x": T + 1e-13, "y": -T, "z": T, "w": T})
    assert labels(picture) == [["q = x = z = …", "y"]]


def test_a_line_on_another_is_dashed_and_says_so() -> None:
    picture = plan(
        {"real": T, "seen": T + 0.004 * (-1.0) ** np.arange(11), "far": 0.5 * T, "flat": 1e-3 * T}, **METRES
    )
    assert labels(picture) == [["real", "seen ≈ real", "far", "flat"]]
    assert [line.dashed for line in picture.panels[0].lines] == [False, True, False, False]


def test_flat_lines_beside_a_large_one_are_not_called_the_same() -> None:
    picture = plan({"large": T, "small": 1e-3 * T, "smaller": -1e-3 * T}, **METRES)
    assert labels(picture) == [["large", "small", "smaller"]]


def test_more_lines_than_a_panel_has_room_for_are_noted() -> None:
    picture = plan({f"s{i}": (i + 1.0) * T for i in range(14)}, **{f"s{i}": "m" for i in range(14)})
    assert len(picture.panels[0].lines) == 8
    assert picture.notes == ("not drawn in m: s8, s9, s10, s11 and 2 more",)


def test_values_that_are_no_numbers_are_left_out() -> None:
    broken = np.where(T > 0.5, np.nan, T)
    picture = plan({"a": T, "b": broken, "c": np.full(11, np.nan)})
    assert labels(picture) == [["a", "b", "c"]]


class Ticking(cosim.Component):
    """Law: x' = 1; it counts its ticks, and the crossing of x = 0.5."""

    count = cosim.discrete(dtype=int)
    x = cosim.position(unit="m")

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = 1.0

    @cosim.witness
    def middle(x):
        return x - 0.5

    @cosim.on(middle, does="unrestricted")
    def pass_middle(count, count_next):
        count_next[0] = count + 1

    @cosim.every(1e-3, does="discrete")
    def tick(count, count_next):
        count_next[0] = count + 1


@pytest.fixture(scope="module")
def ticking_result() -> cosim.Result:
    model = cosim.Model("clock")
    model.add(Ticking, "clock")
    return model.simulate(until=1.0)


def test_few_events_are_marked_and_many_are_noted(ticking_result: cosim.Result) -> None:
    picture = plot_plan(ticking_result)
    assert {name: times.tolist() for name, times in picture.marks.items()} == {
        "1 × clock.pass_middle": pytest.approx([0.5])
    }
    assert picture.notes[-1] in [f"events, not marked: {n} × clock.tick" for n in (1000, 1001)]


def test_marks_are_a_row_below_the_panels(ticking_result: cosim.Result) -> None:
    pytest.importorskip("matplotlib")
    figure = ticking_result.plot("clock.x")
    panel, strip = figure.axes
    assert [text.get_text() for text in strip.get_yticklabels()] == ["1 × clock.pass_middle"]
    assert panel.lines[1].get_xdata()[0] == pytest.approx(0.5)
    assert strip.get_xlabel() == "time in s"
    assert "not marked" in figure.texts[-1].get_text()


def test_measures_come_first_in_a_result() -> None:
    model = cosim.Model("clock")
    model.add(Ticking, "clock")
    model.measure("measures.scale", "twice", source="clock.x", factor=2.0)
    assert model.simulate(until=0.1).names == ["twice", "clock.count", "clock.x"]


def test_signals_without_a_unit_share_a_panel_with_those_of_their_size() -> None:
    picture = plan({"a": T, "force": 2000.0 * T, "b": -3.0 * T, "other": -900.0 * T})
    assert labels(picture) == [["a", "b"], ["force", "other"]]

"""`cosim compare`: the band in value and time, files of other tools, the first difference."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cosim
from cosim.cli import main
from cosim_workbench.result_comparison import band, compare_results

T = np.linspace(0.0, 1.0, 11)


def result(values: object, times: object = T, unit: str = "1") -> cosim.Result:
    """A result with one signal, ``x``."""
    return cosim.Result(times, {"x": values}, {"x": unit})  # type: ignore[arg-type]


def test_equal_results_agree() -> None:
    differences = compare_results(result(T), result(T), 0.0)
    assert [(d.is_within, d.largest) for d in differences] == [(True, 0.0)]


def test_the_tolerance_is_relative_to_the_largest_magnitude() -> None:
    reference = result(1000.0 * T)
    assert compare_results(reference, result(1000.0 * T + 0.9), 1e-3)[0].is_within
    difference = compare_results(reference, result(1000.0 * T + 1.1 * (T > 0.45)), 1e-3)[0]
    assert not difference.is_within
    assert (difference.time, difference.expected, difference.found) == (0.5, 500.0, pytest.approx(501.1))
    assert (difference.largest, difference.allowed) == (pytest.approx(1.1), 1.0)
    assert compare_results(reference, result(1000.0 * T + 1.1), 1e-3, absolute=0.2)[0].is_within


def test_a_jump_may_come_a_little_later() -> None:
    reference = result([0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0])
    later = result([0.0, 0.0, 1.0, 1.0], [0.0, 0.51, 0.51, 1.0])
    assert not compare_results(reference, later)[0].is_within
    assert compare_results(reference, later, time_tolerance=0.011)[0].is_within
    assert not compare_results(reference, later, time_tolerance=0.009)[0].is_within


def test_other_points_of_the_same_line_agree_and_a_peak_between_them_is_seen() -> None:
    fine = np.linspace(0.0, 1.0, 1001)
    assert compare_results(result(T), result(fine, fine), 1e-12)[0].is_within
    peak = np.where(fine == 0.55, 2.0, fine)
    assert not compare_results(result(peak, fine), result(T), 1e-6)[0].is_within
    assert not compare_results(result(T), result(peak, fine), 1e-6)[0].is_within


def test_units_are_converted() -> None:
    assert compare_results(result(T, unit="m"), result(1000.0 * T, unit="mm"), 1e-12)[0].is_within
    assert compare_results(result(T, unit="m"), result(T), 1e-12)[0].is_within
    assert "cannot be converted" in compare_results(result(T, unit="m"), result(T, unit="s"))[0].text


def test_not_a_number_is_a_difference_unless_both_are_none() -> None:
    holes = np.where(T == 0.5, math.nan, T)
    assert compare_results(result(holes), result(holes))[0].is_within
    assert not compare_results(result(T), result(holes))[0].is_within
    assert not compare_results(result(holes), result(T))[0].is_within


def test_text_is_held_from_point_to_point() -> None:
    reference = result(["a", "a", "b"], [0.0, 0.5, 1.0])
    assert compare_results(reference, reference)[0].is_within
    assert compare_results(reference, result(["a", "b"], [0.0, 1.0]))[0].is_within
    later = result(["a", "a", "a", "b"], [0.0, 0.5, 1.0, 1.0])
    assert compare_results(reference, later)[0].text == "differs from t = 1 s on: 'a' instead of 'b'"
    difference = compare_results(reference, result(["a", "c", "b"], [0.0, 0.7, 1.0]))[0]
    assert (difference.time, difference.text) == (0.7, "differs from t = 0.7 s on: 'c' instead of 'a'")
    early = result(["a", "b", "b"], [0.0, 0.9, 1.0])
    assert compare_results(reference, early)[0].time == 0.9
    assert compare_results(reference, early, time_tolerance=0.1)[0].is_within
    assert compare_results(reference, result([1.0, 2.0], [0.0, 1.0]))[0].text.startswith(
        "is text in the first"
    )


def test_booleans_agree_with_their_numbers() -> None:
    on = np.array([False, True, True])
    assert compare_results(result(on, [0, 1, 2]), result([0.0, 1.0, 1.0], [0, 1, 2]))[0].is_within
    assert compare_results(result(on, [0, 1, 2]), result(~on, [0, 1, 2]))[0].time == 0.0


def test_a_missing_signal_is_a_difference() -> None:
    of_another_signal = cosim.Result(T, {"y": T})
    assert compare_results(result(T), of_another_signal)[0].text == "is missing in the second"


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 20), min_size=2, max_size=12),
    st.lists(st.floats(-5, 5), min_size=12, max_size=12),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_the_band_is_the_range_of_the_line_in_the_window(
    steps: list[int], numbers: list[float], window: float, share: float
) -> None:
    times = np.cumsum(np.array(steps, dtype=float)) / 10.0
    values = np.array(numbers[: times.size])
    centre = times[0] + share * (times[-1] - times[0])
    low, high = band(times, values, np.array([centre]), window)
    values_in_window = [v for t, v in zip(times, values, strict=True) if abs(t - centre) <= window]
    for edge in (max(times[0], centre - window), min(times[-1], centre + window)):
        for (t0, v0), (t1, v1) in itertools.pairwise(zip(times, values, strict=True)):
            if t0 < t1 and t0 <= edge <= t1:
                values_in_window.append(v0 + (edge - t0) / (t1 - t0) * (v1 - v0))
    if values_in_window:
        assert low[0] == pytest.approx(min(values_in_window), abs=1e-9)
        assert high[0] == pytest.approx(max(values_in_window), abs=1e-9)


def test_the_command_compares_files_of_two_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, of_another_tool = tmp_path / "a.csv", tmp_path / "b.csv"
    cosim.Result(T, {"x": T, "y": -T}).to_csv(ours)
    rows = "\n".join(f"{1000 * t:g};{1000 * t:g};{-t:g}".replace(".", ",") for t in T)
    of_another_tool.write_text(f"Time [ms];x [mm];y\n{rows}\n", "utf-8")
    assert main(["compare", str(ours), str(of_another_tool), "--signals", "y"]) == 0
    assert capsys.readouterr().out == "1 signal agrees; the farthest is y, 1.11e-16 off of 1e-06 allowed\n"
    assert main(["compare", str(ours), str(of_another_tool), "--plot", str(tmp_path / "d.png")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "x: differs from t = 0.1 s on: 100 instead of 0.1; at most 999 off, 1e-06 allowed"
    assert lines[1:] == ["1 of 2 signals differs", f"plot → {tmp_path / 'd.png'}"]
    assert (tmp_path / "d.png").stat().st_size > 10_000


def test_a_run_that_ends_early_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result(T).to_csv(tmp_path / "a.csv")
    result(T[:5], T[:5]).to_csv(tmp_path / "b.csv")
    assert main(["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]) == 1
    assert "second 0 s to 0.4" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.csv", "none.csv"], "none.csv: no such file"),
        (["a.csv", "a.xyz"], "no plugin reads results that end in '.xyz'"),
        (["a.csv", "a.csv", "--tol", "x"], "--tol: 'x' is not a quantity"),
        (["a.csv", "a.csv", "--tol", "-1"], "--tol: is -1, needs a number from 0 on"),
        (["a.csv", "a.csv", "--time-tol", "1 m"], "--time-tol: "),
        (["a.csv", "a.csv", "--signals", "z"], "no signal in this result 'z'"),
        (["a.csv", "a.csv", "--plot", "x.doc"], "the name of a picture ends in"),
        (["a.csv", "empty.csv"], "the second result has no points"),
    ],
)
def test_wrong_arguments_and_files(
    tmp_path: Path,
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result(T).to_csv("a.csv")
    Path("empty.csv").write_text('"time","x"\n', "utf-8")
    assert main(["compare", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_not_finite_differs_from_a_finite_one(value: float) -> None:
    """A warning of numpy would be an error here."""
    broken = np.where(T == 0.5, value, T)
    assert compare_results(result(broken), result(broken))[0].is_within
    for expected, values in ((T, broken), (broken, T)):
        (difference,) = compare_results(result(expected), result(values))
        assert not difference.is_within and difference.time == 0.5
        assert str((difference.expected, difference.found)) == str((float(expected[5]), float(values[5])))


def test_nothing_to_compare_is_no_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, later = tmp_path / "one.csv", tmp_path / "two.csv"
    empty.write_text("time\n0\n1\n")
    assert main(["compare", str(empty), str(empty)]) == 2
    assert "one.csv: has no signals" in capsys.readouterr().err
    empty.write_text("time,x\n0,1\n1,1\n")
    later.write_text("time,x\n5,1\n6,1\n")
    assert main(["compare", str(empty), str(later)]) == 1
    output = capsys.readouterr().out
    assert "1 s, the second 5" in output and "agree" not in output

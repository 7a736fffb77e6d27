"""What a Result holds: signals by name, selections, text, tables and the summary."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cosim import CosimError, EventCause, EventRecord, LookUpError, ModelError, Result, registry
from cosim_workbench.summary import summary

BANG = EventRecord(1.0, EventCause.TRIGGERED, "unrestricted", "engine.bang", (1.0, 1.0))


@pytest.fixture
def result() -> Result:
    signals = {
        "engine.z": [1.0, 2.0, 3.0],
        "felt.value": [0.0, 0.5, 0.5],
        "energy.kinetic": [4.0, 5.0, 6.0],
        "energy.total": [9.0, 9.0, 9.0],
        "mount.force": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    }
    units = {"engine.z": "m", "energy.kinetic": "J", "energy.total": "J", "mount.force": "N"}
    return Result([0.0, 1.0, 1.0], signals, units, [BANG], {"steps": 2}, "stopped")


def test_signals_and_their_elements_have_names(result: Result) -> None:
    assert len(result) == 3
    assert result.names == ["engine.z", "felt.value", "energy.kinetic", "energy.total", "mount.force"]
    assert result["time"].tolist() == [0.0, 1.0, 1.0]
    assert result["engine.z"].tolist() == [1.0, 2.0, 3.0]
    assert result["felt"].tolist() == [0.0, 0.5, 0.5]
    assert result["mount.force"].shape == (3, 2)
    assert result["mount.force[1]"].tolist() == [2.0, 4.0, 6.0]
    assert "felt" in result and "time" in result and "engine.x" not in result and 3 not in result


def test_units_events_statistics_and_message(result: Result) -> None:
    names = ("time", "engine.z", "felt", "mount.force[0]", "x")
    assert [result.unit(name) for name in names] == ["s", "m", "1", "N", "1"]
    assert (result.events, result.statistics, result.message) == ([BANG], {"steps": 2}, "stopped")
    assert repr(result) == "<Result: 5 signals, 3 points, 0 s to 1 s>"


@pytest.mark.parametrize("name", ["engin.z", "mount.force[2]", "engine.z[0]", "mount.force[0][0]"])
def test_an_unknown_signal_is_answered_with_the_nearest_ones(result: Result, name: str) -> None:
    with pytest.raises(LookUpError, match=r"no signal in this result .*(Nearest|There are)"):
        result[name]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ("energy.*", ["energy.kinetic", "energy.total"]),
        (["energy.total", "e*.?"], ["energy.total", "engine.z"]),
        (
            ["mount.force[0]", "*"],
            ["mount.force[0]", "engine.z", "felt.value", "energy.kinetic", "energy.total", "mount.force"],
        ),
        (["felt"], ["felt"]),
        ([], []),
    ],
)
def test_a_selection_shares_the_values_of_its_result(
    result: Result, patterns: object, names: list[str]
) -> None:
    chosen = result.select(patterns)  # type: ignore[arg-type]
    assert chosen.names == names
    assert all(np.shares_memory(chosen[name], result[name]) for name in names)
    assert [chosen.unit(name) for name in names] == [result.unit(name) for name in names]
    assert chosen.message == "stopped"


def test_a_pattern_without_a_match_is_refused(result: Result) -> None:
    with pytest.raises(LookUpError, match=r"'enrgy\.\*'. Nearest: energy\."):
        result.select("enrgy.*")


def test_text_and_booleans_keep_their_types() -> None:
    signals = {"mode": ["off", "on"], "on": np.array([False, True]), "gear": [1, 2]}
    result = Result([0.0, 1.0], signals)
    assert [result[name].dtype for name in result.names] == [object, np.bool_, np.float64]
    assert all(type(text) is str for text in result["mode"])
    assert list(result.numbers()) == ["on", "gear"]
    assert result.numbers()["on"].tolist() == [0.0, 1.0] and result.numbers()["on"].dtype == np.float64
    assert result[0.5:]["mode"].tolist() == ["on"]
    assert result.to_numpy()["mode"].tolist() == ["off", "on"]
    assert "2 texts" in result._repr_html_()


def test_a_signal_of_text_and_numbers_is_refused() -> None:
    for values in (["on", 1.0], np.array(["on", 1.0], dtype=object)):
        with pytest.raises(ModelError, match="neither all numbers"):
            Result([0.0, 1.0], {"mixed": values})


def test_all_wrong_shapes_are_reported_together() -> None:
    with pytest.raises(ModelError) as raised:
        Result([0.0, 1.0], {"a": [1.0], "b": [[1.0], [2.0]], "c": 3.0})
    assert [problem.where for problem in raised.value.problems] == ["a", "c"]


def test_times_that_decrease_or_are_no_vector_are_refused() -> None:
    with pytest.raises(ModelError, match="time: decreases"):
        Result([1.0, 0.0], {})
    with pytest.raises(ModelError, match="one dimension"):
        Result([[1.0]], {})


def test_to_numpy_has_the_fields_of_fmpy(result: Result) -> None:
    table = result.to_numpy()
    assert table.dtype.names == ("time", *result.names)
    assert table["mount.force"].shape == (3, 2)
    assert all(np.array_equal(table[name], result[name]) for name in ("time", *result.names))


def test_a_table_of_pandas_has_columns_for_elements(result: Result) -> None:
    frame = result.to_pandas()
    assert list(frame.columns) == [*result.names[:4], "mount.force[0]", "mount.force[1]"]
    assert frame.index.name == "time"
    assert frame["mount.force[1]"].tolist() == [2.0, 4.0, 6.0]
    assert frame.attrs["units"]["energy.total"] == "J"


def test_a_table_in_a_file_has_the_units(result: Result, tmp_path: Path) -> None:
    sink = registry().get("result_sink", "workbench.table")()
    path = sink.write(result.select(["engine.z", "felt", "mount.force"]), tmp_path / "r.tsv")
    lines = path.read_text().split("\n")
    assert lines[0] == "time [s]\tengine.z [m]\tfelt\tmount.force[0] [N]\tmount.force[1] [N]"
    assert lines[2] == "1.0\t2.0\t0.5\t3.0\t4.0"
    assert len(lines) == 5


def test_without_pandas_the_extra_to_install_is_named(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CosimError, match=r"pip install 'cosim-framework\[table\]'"):
        result.to_pandas()


def test_reading_and_drawing_change_nothing(result: Result) -> None:
    before = {name: values.copy() for name, values in result.signals.items()}
    result.to_numpy()["engine.z"][:] = 0.0
    result.to_pandas()
    result.plot("energy.*")
    assert all(np.array_equal(before[name], result[name]) for name in before)


@pytest.mark.parametrize("text", ["estimated", "not estimated: the steps are fixed"])
def test_the_summary_says_whether_errors_of_derivatives_are_estimated(text: str) -> None:
    run = Result([0.0, 1.0], {"x": [1.0, 2.0]}, statistics={"steps": 2, "derivative_errors": text})
    (line,) = [line for line in summary("m", run).splitlines() if line.startswith("derivatives")]
    assert line.split(maxsplit=1)[1] == f"errors {text}"
    without = Result([0.0, 1.0], {"x": [1.0, 2.0]}, statistics={"steps": 2})
    assert "derivatives" not in summary("m", without)

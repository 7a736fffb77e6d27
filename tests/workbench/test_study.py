"""A study runs its points and computes its objectives; wrong variables and objectives are refused."""

import numpy as np
import pytest
from workbench_tools import MASS, STIFFNESS, write_model

import cosim
from cosim_workbench.studies import Study


@pytest.fixture
def model(tmp_path):
    return cosim.Model.from_file(write_model(tmp_path))


def test_a_study_is_its_runs(model):
    objectives = ["peak=max(engine.z)", "study_objectives:sinks(engine.z)", "study_objectives:largest"]
    study = Study(model, {MASS: "100 kg..140 kg:3", STIFFNESS: [1e5, 2e5]}, objectives, until=0.2)
    table = study.run()
    assert len(table) == 6 and table.is_complete and table.failed == 0
    assert table[MASS].tolist() == [100, 100, 120, 120, 140, 140]
    system = model.build()
    for point in (0, 5):
        state = system.default_state()
        state[MASS], state[STIFFNESS] = table[MASS][point], table[STIFFNESS][point]
        run = cosim.simulate(system, **{**model.simulation, "until": 0.2}, state=state)
        assert table["sinks"][point] == run["engine.z"][0] - run["engine.z"].min()
        assert table["peak"][point] == table["largest"][point] == run["engine.z"].max()
    assert table.units["peak"] == "m" and table.units[MASS] == "kg"


def test_objectives_that_fail_are_failed_points(model):
    table = Study(model, {MASS: [1.0, 120.0]}, ["study_objectives:broken"], until=0.05).run()
    assert table["status"].tolist() == ["ok", "failed"]
    assert table["reason"][1] == "objective broken: ValueError: too heavy" and np.isnan(table["broken"][1])


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("nowhere:f", "cannot be imported"),
        ("study_objectives:larger", "no function larger"),
        ("max(engine.zz)", "engine.z"),
        ("maxi(engine.z)", "Nearest: max"),
        ("end=last(engine.z)", "'end' is another column of the table"),
    ],
)
def test_wrong_objectives(model, objective, message):
    with pytest.raises(cosim.CosimError, match=message):
        Study(model, {MASS: "1, 2"}, [objective])


def test_all_variables_that_cannot_be_varied_are_named(model):
    with pytest.raises(cosim.CosimError) as caught:
        wrong = {"engine.mas": "1, 2", "engine.inertia": "1, 2", STIFFNESS: "1 kg, 2"}
        Study(model, wrong, ["max(engine.z)"])
    text = str(caught.value)
    assert "engine.mass" in text and "engine.inertia[0]" in text and "kg" in text


def test_a_value_that_a_parameter_cannot_take_names_its_point(model):
    with pytest.raises(cosim.ModelError, match=r"engine.mass: run 1: .*more than 0"):
        Study(model, {MASS: [100, -1]}, ["max(engine.z)"]).run()


def test_settings_of_runs_belong_to_the_subject_where_there_is_one():
    from cosim_workbench.contracts import StudySubject

    class Nothing(StudySubject):
        """Runs nothing."""

        def __init__(self, path, settings):
            self.settings = settings

        reads = unit = signals = description = run = None

    with pytest.raises(cosim.ModelError, match="until: cannot be set here: pass it to the constructor"):
        Study(Nothing(None, {}), {}, ["max(x)"], until=2.0)


def test_series_and_tables_are_parquet(model, tmp_path):
    pandas, parquet = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.parquet")
    study = Study(
        model, {MASS: [100.0, 120.0]}, ["max(engine.z)"], folder=tmp_path / "s", keep_series=True, until=0.02
    )
    table = study.run()
    series = pandas.read_parquet(tmp_path / "s" / "series")
    assert set(series["point"]) == {0, 1} and len(series) == 2 * 21
    assert {"time", "engine.z", "engine_joint.q[0]"} <= set(series.columns)
    assert table["max(engine.z)"][1] == series["engine.z"][series["point"] == 1].max()
    file = table.to_parquet(tmp_path / "t.parquet")
    assert parquet.read_schema(file).field(MASS).metadata == {b"unit": b"kg"}
    frame = table.to_pandas()
    pandas.testing.assert_frame_equal(frame, pandas.read_parquet(file).set_index("point"), check_dtype=False)


def test_pictures_of_studies_and_of_many_runs(model, tmp_path):
    pytest.importorskip("matplotlib")
    vary, last = {MASS: "100..140", STIFFNESS: "1e5..3e5:log"}, "last(vertical_speed)"
    table = Study(model, vary, [last], sample="sobol:8", until=0.02).run()
    figure = table.plot()
    names = [axes.get_xlabel() for axes in figure.axes]
    assert "engine.mass\nin kg" in names
    assert table.plot(MASS, last, path=tmp_path / "m.png").stat().st_size > 5000
    runs = model.simulate_many({MASS: np.linspace(100, 140, 8)}, until=0.02)
    assert runs.plot("engine.z", path=tmp_path / "f.png").stat().st_size > 5000
    with pytest.raises(cosim.LookUpError, match=r"engine\.z"):
        runs.plot("engine.zz")
    labels = [axes.get_ylabel() for axes in runs.plot().axes]
    assert labels[:2] == ["engine.z in m", "vertical_speed in m/s"] and len(labels) == 6
    assert not any("q[1]" in label for label in labels)  # a constant signal
    with pytest.raises(cosim.CosimError, match="nothing to draw"):
        model.simulate_many({MASS: [100.0]}, until=0.02, reduce=["max(engine.z)"], signals=None).plot()


def test_a_scatter_matrix_leaves_out_what_does_not_vary_and_counts_failures():
    from ensemble_parts import Blowup

    pytest.importorskip("matplotlib")
    model = cosim.Model("blowup")
    model.add(Blowup, "b")
    vary = {"b.size": [0.1, 0.5, 2.0, 4.0]}
    figure = Study(model, vary, ["last(b.size)", "first(b.size)", "same=min(b.size)"], until=0.9).run().plot()
    assert "4 points; 2 failed" in figure.get_suptitle()
    assert {axes.get_xlabel() for axes in figure.axes} >= {"b.size", "last(b.size)"}
    rows = {axes.get_ylabel() for axes in figure.axes} - {""}
    assert len(rows) == 4  # what varies
    table = Study(model, {"b.size": [0.1, 0.2]}, ["span(b.size)", "n=quantile(b.size, 0)"], until=0.1).run()
    assert table.plot("b.size").axes[0].get_xlabel() == "b.size"

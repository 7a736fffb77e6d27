"""Studies: points, objectives, the folder, and going on after a kill."""

import csv
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from how_many import many
from workbench_tools import write_model

import cosim
from cosim_workbench.studies import Study
from cosim_workbench.studies.points import points_of
from cosim_workbench.studies.study_folder import StudyFolder
from cosim_workbench.studies.variation import read_variation

MASS = "engine.mass"
STIFFNESS = "mount_left.stiffness[5]"


@pytest.fixture
def model(tmp_path):
    return cosim.Model.from_file(write_model(tmp_path))


def shares(count=1000):
    return (np.arange(count) + 0.5) / count


@pytest.mark.parametrize(
    ("text", "unit", "levels"),
    [
        ("1..3:3", "1", [1, 2, 3]),
        ("1..100:3:log", "1", [1, 10, 100]),
        ("1 cm .. 3 cm : 3", "m", [0.01, 0.02, 0.03]),
        ("1, 2, 5", "1", [1, 2, 5]),
        ("100 N/mm, 2e5", "N/m", [1e5, 2e5]),
        ("-1e-3..1e-3:2", "1", [-1e-3, 1e-3]),
        ([1, "2 km"], "m", [1, 2000]),
        (np.array([0.5, 1.5]), "m", [0.5, 1.5]),
    ],
)
def test_grids_and_lists(text, unit, levels):
    np.testing.assert_allclose(read_variation("a", text, unit).levels, levels, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "mean", "deviation"),
    [
        ("0..6", 3.0, 6 / 12**0.5),
        ("uniform(0, 6)", 3.0, 6 / 12**0.5),
        ("normal(5, 2)", 5.0, 2.0),
        ("triangular(0, 3, 6)", 3.0, 1.5**0.5),
        ("gamma(4, scale=0.5)", 2.0, 1.0),
        ("norm(5, 2)", 5.0, 2.0),
    ],
)
def test_distributions(text, mean, deviation):
    drawn = read_variation("a", text, "1").drawn(shares())
    assert drawn.mean() == pytest.approx(mean, rel=1e-3) and drawn.std() == pytest.approx(deviation, rel=0.01)


def test_deviations_have_no_offset_of_a_unit():
    drawn = read_variation("a", "normal(20 degC, 5 degC)", "K").drawn(shares())
    assert drawn.mean() == pytest.approx(293.15) and drawn.std() == pytest.approx(5.0, rel=0.01)


def test_settings_of_runs_are_not_for_subjects():
    from cosim_workbench.contracts import StudySubject

    class Nothing(StudySubject):
        """Runs nothing."""

        def __init__(self, path, settings):
            self.settings = settings

        reads = unit = signals = description = run = None

    with pytest.raises(cosim.ModelError, match="until.*where.*subject is made"):
        Study(Nothing(None, {}), {}, ["max(x)"], until=2.0)


def test_distributions_by_factors():
    logs = np.log(read_variation("a", "1..100:log", "1").drawn(shares()))
    assert logs.min() >= 0.0 and logs.max() <= np.log(100) and logs.mean() == pytest.approx(np.log(10))
    logs = np.log(read_variation("a", "lognormal(2 km, 0.3)", "m").drawn(shares()))
    assert logs.mean() == pytest.approx(np.log(2000)) and logs.std() == pytest.approx(0.3, rel=0.01)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3..1:3", "larger one"),
        ("1..3:1", "from 2"),
        ("1..3:x", "invalid literal"),
        ("-1..3:5:log", "greater than 0"),
        ("normal(1)", "needs 2"),
        ("normal(1, 0)", "greater than 0"),
        ("narmal(1, 2)", "Nearest"),
        ("1 kg..2 kg:3", "kg"),
        ("nan", "not a quantity"),
        ("1e999, 2", "finite"),
        ("", "Write"),
    ],
)
def test_what_is_no_variation(text, says):
    with pytest.raises(cosim.ModelError, match=says):
        read_variation("a", text, "m")


def test_points_are_every_combination_or_a_sample():
    grid = [read_variation("a", "1, 2", "1"), read_variation("b", "10..30:3", "1")]
    points, seeds = points_of(grid, None, 0)
    assert points["a"].tolist() == [1, 1, 1, 2, 2, 2] and points["b"].tolist() == [10, 20, 30] * 2
    assert len(set(seeds.tolist())) == 6
    mixed = [read_variation("a", "0..1", "1"), grid[1], read_variation("s", "seed", "1")]
    for sample in ("latin:30", "sobol:30", "halton:30", "random:30"):
        points, seeds = points_of(mixed, sample, 7)
        again, _ = points_of(mixed, sample, 7)
        other, _ = points_of(mixed, sample, 8)
        assert points["a"].tolist() == again["a"].tolist() != other["a"].tolist()
        assert set(points["b"].tolist()) <= {10.0, 20.0, 30.0} and len(points["a"]) == 30
        assert points["s"].tolist() == seeds.tolist()
    latin, _ = points_of(mixed, "latin:30", 7)
    assert sorted((latin["a"] * 30).astype(int).tolist()) == list(range(30))
    with pytest.raises(cosim.ModelError, match="no count"):
        points_of(mixed, None, 0)
    with pytest.raises(cosim.LookUpError, match="latin"):
        points_of(mixed, "lattin:30", 0)
    with pytest.raises(cosim.ModelError, match="needs a count"):
        points_of(mixed, "latin", 0)


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
        one = cosim.simulate(system, **{**model.simulation, "until": 0.2}, state=state)
        assert table["sinks"][point] == one["engine.z"][0] - one["engine.z"].min()
        assert table["peak"][point] == table["largest"][point] == one["engine.z"].max()
    assert table.units["peak"] == "m" and table.units[MASS] == "kg"


def test_objectives_that_fail_are_failed_points(model):
    table = Study(model, {MASS: [1.0, 120.0]}, ["study_objectives:broken"], until=0.05).run()
    assert table["status"].tolist() == ["ok", "failed"]
    assert table["reason"][1] == "objective broken: ValueError: too heavy" and np.isnan(table["broken"][1])


@pytest.mark.parametrize(
    ("objective", "says"),
    [
        ("nowhere:f", "cannot be imported"),
        ("study_objectives:larger", "no function larger"),
        ("max(engine.zz)", "engine.z"),
        ("maxi(engine.z)", "Nearest: max"),
        ("end=last(engine.z)", "'end' is another column of the table"),
    ],
)
def test_objectives_that_are_none(model, objective, says):
    with pytest.raises(cosim.CosimError, match=says):
        Study(model, {MASS: "1, 2"}, [objective])


def test_variables_that_cannot_be_varied_are_told_together(model):
    with pytest.raises(cosim.CosimError) as caught:
        wrong = {"engine.mas": "1, 2", "engine.inertia": "1, 2", STIFFNESS: "1 kg, 2"}
        Study(model, wrong, ["max(engine.z)"])
    text = str(caught.value)
    assert "engine.mass" in text and "engine.inertia[0]" in text and "kg" in text


def test_a_value_that_a_parameter_cannot_take_names_its_point(model):
    with pytest.raises(cosim.ModelError, match=r"engine.mass: run 1: .*more than 0"):
        Study(model, {MASS: [100, -1]}, ["max(engine.z)"]).run()


def test_what_is_done_is_not_done_again(model, tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_workbench.studies.written_rows.PART_TIME", 0.0)

    def study(**more):
        settings = {"folder": tmp_path / "s", "seed": 3, "sample": "latin:40", "until": 0.05, **more}
        return Study(model, {MASS: "100..140"}, ["max(engine.vz)"], **settings)

    first = study().run()
    parts = {part.name: part.stat().st_mtime_ns for part in (tmp_path / "s").glob("part-*")}
    calls = []
    again = study().run(progress=lambda *seen: calls.append(seen))
    assert calls == [(40, 40, 0)] and again.rows == first.rows
    assert parts == {part.name: part.stat().st_mtime_ns for part in (tmp_path / "s").glob("part-*")}
    lost = sorted(parts)[1]
    (tmp_path / "s" / lost).unlink()
    without_times = [row[:-1] for row in study().run().rows]
    assert without_times == [row[:-1] for row in first.rows]
    with pytest.raises(cosim.CosimError, match="another study.*seed"):
        study(seed=4).run()
    with pytest.raises(cosim.CosimError, match="another study.*settings"):
        study(until=0.06).run()


def test_a_folder_with_something_else_is_refused(model, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(cosim.CosimError, match=r"letter\.txt|mount\.toml"):
        Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path).run()


SAMPLE = ("--vary", f"{MASS}=100 kg..140 kg", "--sample", "latin:60", "--seed", "5")
GRID = ("--vary", f"{MASS}=100 kg..140 kg:60")  # which needs no SciPy


def command(folder, *more, points=SAMPLE):
    words = ["sweep", "mount.toml", *points, "--until", "2 ms", "--threads", "1"]
    words += ["--objective", "study_objectives:slow", "--objective", "max(engine.vz)", "-o", folder, *more]
    return [sys.executable, "-m", "cosim", *words]


def environment():
    here = str(Path(__file__).parent)
    path = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


def rows_of(folder):
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        return [row[:-1] for row in csv.reader(stream)]  # without the seconds


@pytest.mark.thorough
def test_a_study_that_is_killed_goes_on(tmp_path):
    write_model(tmp_path)
    run = {"cwd": tmp_path, "env": environment()}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # beside the others: it sleeps mostly; all may have to compile first
    whole = subprocess.Popen(command("whole"), **run, **pipes)
    chance, kills = random.Random(1), 0
    for _ in range(many(1)):
        begun = subprocess.Popen(command("killed", "-q"), **run, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 600.0
        seen = len(list((tmp_path / "killed").glob("part-*")))
        # until some more parts are written, then at a random moment
        while begun.poll() is None and len(list((tmp_path / "killed").glob("part-*"))) <= seen:
            assert time.monotonic() < limit
            time.sleep(0.01)
        time.sleep(chance.random() * 0.1)
        if begun.poll() is not None:
            break
        begun.send_signal(signal.SIGKILL)
        begun.wait()
        kills += 1
    done = subprocess.run(command("killed"), **run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert kills >= 1
    said, complaint = whole.communicate(timeout=600)
    assert whole.returncode == 0, complaint
    assert "60 points" in said and "table → whole/table.csv" in said
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    parts = [part.read_text("utf-8").splitlines()[1:-1] for part in (tmp_path / "killed").glob("part-*.csv")]
    points = [row.partition(",")[0] for part in parts for row in part]
    assert sorted(map(int, points)) == list(range(60))


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
def test_ctrl_c_and_sigterm_say_how_to_go_on(tmp_path):
    """Of two studies side by side: both sleep mostly."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    begun = []
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        folder = tmp_path / number.name
        folder.mkdir()
        write_model(folder)
        process = subprocess.Popen(command("s", points=GRID), cwd=folder, env=environment(), **pipes)
        begun.append((process, folder, number, status))
    waiting = list(begun)
    while waiting:
        assert all(process.poll() is None for process, *_ in waiting)
        ready = [entry for entry in waiting if list((entry[1] / "s").glob("part-*"))]
        for entry in ready:
            process, _, number, _ = entry
            process.send_signal(number)
            waiting.remove(entry)
        time.sleep(0.01)
    for process, _, _, status in begun:
        _, said = process.communicate(timeout=60)
        assert process.returncode == status and "same command continues" in said
        assert "Traceback" not in said


def test_two_processes_do_not_work_on_one_study(model, tmp_path):
    study = Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01)
    twin = Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01)

    def begin(done, of, failed):
        with pytest.raises(cosim.CosimError, match="another process"):
            twin.run()

    study.run(progress=begin)


def test_hidden_files_of_the_user_stay_and_drafts_of_killed_processes_go(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / ".gitignore").write_text("*")
    draft = folder / ".part-00000003-draft-a1b2c3d4.csv"
    draft.write_text("half a")
    with StudyFolder(folder, {"what": "a test"}).locked():
        assert not draft.exists()
    assert (folder / ".gitignore").read_text() == "*"


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


@pytest.mark.parametrize("objective", ["max(engine.z)", "study_objectives:largest"])
def test_series_without_rows_are_removed_and_written_again(model, tmp_path, monkeypatch, objective):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim_workbench.studies.written_rows.PART_TIME", 0.0)

    def study():
        settings = {"folder": tmp_path / "s", "until": 0.01, "keep_series": True, "threads": 1}
        return Study(model, {MASS: "100..140:20"}, [objective], **settings)

    first = study().run()
    whole = pandas.read_parquet(tmp_path / "s" / "series").sort_values(["point", "time"])
    assert whole.groupby("point").size().tolist() == [11] * 20
    parts = sorted((tmp_path / "s").glob("part-*.csv"))
    assert len(parts) > 1
    parts[0].unlink()  # as if it had been killed between the values over time and the rows
    (tmp_path / "s" / "series" / "part-00000002-00000003.parquet").write_bytes(b"what a lost worker wrote")
    again = study().run()
    assert [row[:-1] for row in again.rows] == [row[:-1] for row in first.rows]
    series = pandas.read_parquet(tmp_path / "s" / "series").sort_values(["point", "time"])
    pandas.testing.assert_frame_equal(series.reset_index(drop=True), whole.reset_index(drop=True))


@pytest.mark.few(2)
@pytest.mark.parametrize("file", ["part-*.csv", "points.csv"])
@pytest.mark.parametrize("damage", ["a digit", "the last line", "a row", "all"])
def test_a_damaged_file_of_a_study_is_named_and_not_believed(model, tmp_path, damage, file):
    def study():
        return Study(
            model, {MASS: "100..140:3"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01, threads=1
        )

    first = study().run()
    part = sorted((tmp_path / "s").glob(file))[0]
    lines = part.read_text().splitlines(keepends=True)
    assert lines[-1].startswith("# sha256 ") and len(lines) > 2
    digit = lines[1].replace("100", "101", 1)
    changed = {
        "a digit": [lines[0], digit, *lines[2:]],
        "the last line": lines[:-1],
        "a row": [lines[0], *lines[2:]],
    }
    part.write_text("".join(changed.get(damage, [])))
    with pytest.raises(cosim.CosimError, match=rf"{part.name}.*damaged: its checksum"):
        study().run()
    part.unlink()
    assert [row[:-1] for row in study().run().rows] == [row[:-1] for row in first.rows]


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_in_place_of_the_lock_of_a_study_is_not_followed(model, tmp_path):
    (tmp_path / "other").write_text("mine")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "study.lock").symlink_to(tmp_path / "other")
    study = Study(
        model, {MASS: "100..140:3"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01, threads=1
    )
    with pytest.raises(cosim.CosimError, match=r"study\.lock: cannot be opened"):
        study.run()
    assert (tmp_path / "other").read_text() == "mine"


def test_pictures(model, tmp_path):
    pytest.importorskip("matplotlib")
    vary, last = {MASS: "100..140", STIFFNESS: "1e5..3e5:log"}, "last(vertical_speed)"
    table = Study(model, vary, [last], sample="sobol:8", until=0.02).run()
    figure = table.plot()
    names = [axes.get_xlabel() for axes in figure.axes]
    assert "engine.mass\nin kg" in names
    assert table.plot(MASS, last, path=tmp_path / "m.png").stat().st_size > 5000
    found = model.simulate_many({MASS: np.linspace(100, 140, 8)}, until=0.02)
    assert found.plot("engine.z", path=tmp_path / "f.png").stat().st_size > 5000
    with pytest.raises(cosim.LookUpError, match=r"engine\.z"):
        found.plot("engine.zz")
    labels = [axes.get_ylabel() for axes in found.plot().axes]
    assert labels[:2] == ["engine.z in m", "vertical_speed in m/s"] and len(labels) == 6
    assert not any("q[1]" in label for label in labels)  # which stays where it is
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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--vary", "engine.mass"], "PATH=VALUES"),
        (["--vary", "engine.mass=1", "--vary", "engine.mass=2"], "there twice"),
        (["--vary", "engine.mass=1..2"], "no count"),
        (["--vary", "engine.mas=1"], "engine.mass"),
        (["--vary", "engine.mass=1", "--threads", "0"], "threads"),
        (["--vary", "engine.mass=1", "--plot", "a.txt"], "picture"),
    ],
)
def test_faults_of_the_command_have_no_traceback(words, says, tmp_path, capsys, monkeypatch):
    from cosim.cli import main

    write_model(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", "mount.toml", *words]) == 2
    said = capsys.readouterr().err
    assert says in said and "Traceback" not in said


def test_the_command_guesses_no_end_of_the_runs(tmp_path, capsys, monkeypatch):
    from cosim.cli import main

    write_model(tmp_path, ('until = "50 ms"\n', ""))
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "mount.toml", "--vary", "engine.mass=100, 140", "--objective", "max(engine.z)", "-q"]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "until = … into [simulation], or --until" in said
    assert not (tmp_path / "mount-study").exists()
    assert main([*words, "--until", "2 ms"]) == 0

"""The folder of a study: what is done is not done again; damaged files and those of others are refused."""

import os

import pytest
from workbench_tools import MASS, write_model

import cosim
from cosim_workbench.studies import Study
from cosim_workbench.studies.study_folder import StudyFolder


@pytest.fixture
def model(tmp_path):
    return cosim.Model.from_file(write_model(tmp_path))


def test_points_that_are_done_are_not_run_again(model, tmp_path, monkeypatch):
    monkeypatch.setattr("cosim_workbench.studies.written_rows.PART_TIME", 0.0)

    def study(**changes):
        settings = {"folder": tmp_path / "s", "seed": 3, "sample": "latin:40", "until": 0.05, **changes}
        return Study(model, {MASS: "100..140"}, ["max(engine.vz)"], **settings)

    table = study().run()
    parts = {part.name: part.stat().st_mtime_ns for part in (tmp_path / "s").glob("part-*")}
    calls = []
    repeated = study().run(progress=lambda *counts: calls.append(counts))
    assert calls == [(40, 40, 0)] and repeated.rows == table.rows
    assert parts == {part.name: part.stat().st_mtime_ns for part in (tmp_path / "s").glob("part-*")}
    lost_part = sorted(parts)[1]
    (tmp_path / "s" / lost_part).unlink()
    without_times = [row[:-1] for row in study().run().rows]
    assert without_times == [row[:-1] for row in table.rows]
    with pytest.raises(cosim.CosimError, match="another study.*seed"):
        study(seed=4).run()
    with pytest.raises(cosim.CosimError, match="another study.*settings"):
        study(until=0.06).run()


def test_a_folder_with_something_else_is_refused(model, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(cosim.CosimError, match=r"letter\.txt|mount\.toml"):
        Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path).run()


def test_a_study_is_locked_while_it_runs(model, tmp_path):
    study = Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01)
    same_study = Study(model, {MASS: "1, 2"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01)

    def run_same_study(done, of, failed):
        with pytest.raises(cosim.CosimError, match="another process"):
            same_study.run()

    study.run(progress=run_same_study)


def test_hidden_files_of_the_user_stay_and_drafts_of_killed_processes_go(tmp_path):
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / ".gitignore").write_text("*")
    draft = folder / ".part-00000003-draft-a1b2c3d4.csv"
    draft.write_text("half a")
    with StudyFolder(folder, {"what": "a test"}).locked():
        assert not draft.exists()
    assert (folder / ".gitignore").read_text() == "*"


@pytest.mark.parametrize("objective", ["max(engine.z)", "study_objectives:largest"])
def test_series_without_rows_are_removed_and_written_again(model, tmp_path, monkeypatch, objective):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr("cosim_workbench.studies.written_rows.PART_TIME", 0.0)

    def study():
        settings = {"folder": tmp_path / "s", "until": 0.01, "keep_series": True, "threads": 1}
        return Study(model, {MASS: "100..140:20"}, [objective], **settings)

    table = study().run()
    expected = pandas.read_parquet(tmp_path / "s" / "series").sort_values(["point", "time"])
    assert expected.groupby("point").size().tolist() == [11] * 20
    parts = sorted((tmp_path / "s").glob("part-*.csv"))
    assert len(parts) > 1
    parts[0].unlink()  # as if it had been killed between the values over time and the rows
    (tmp_path / "s" / "series" / "part-00000002-00000003.parquet").write_bytes(b"what a lost worker wrote")
    continued = study().run()
    assert [row[:-1] for row in continued.rows] == [row[:-1] for row in table.rows]
    series = pandas.read_parquet(tmp_path / "s" / "series").sort_values(["point", "time"])
    pandas.testing.assert_frame_equal(series.reset_index(drop=True), expected.reset_index(drop=True))


@pytest.mark.few(2)
@pytest.mark.parametrize("file", ["part-*.csv", "points.csv"])
@pytest.mark.parametrize("damage", ["a digit", "the last line", "a row", "all"])
def test_a_damaged_file_of_a_study_is_refused_by_name(model, tmp_path, damage, file):
    def study():
        return Study(
            model, {MASS: "100..140:3"}, ["max(engine.z)"], folder=tmp_path / "s", until=0.01, threads=1
        )

    table = study().run()
    part = sorted((tmp_path / "s").glob(file))[0]
    lines = part.read_text().splitlines(keepends=True)
    assert lines[-1].startswith("# sha256 ") and len(lines) > 2
    digit = lines[1].replace("100", "101", 1)
    damaged_lines = {
        "a digit": [lines[0], digit, *lines[2:]],
        "the last line": lines[:-1],
        "a row": [lines[0], *lines[2:]],
        "all": [],
    }
    part.write_text("".join(damaged_lines[damage]))
    with pytest.raises(cosim.CosimError, match=rf"{part.name}.*damaged: its checksum"):
        study().run()
    part.unlink()
    assert [row[:-1] for row in study().run().rows] == [row[:-1] for row in table.rows]


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

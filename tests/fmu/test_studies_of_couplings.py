"""Studies of co-simulations, from files and from objects: the values, series and times of single runs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from scenario_files import LOOP, write_loop

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs
from cosim_workbench.studies import Study

MakeFmu = Callable[..., Path]
GAINS = {"controller.gain": "100 W/K..300 W/K:3"}


def fmu_and_force(fmu: Path, **options: dict[str, float]) -> CoSimulation:
    parts = {"a": fmu, "b": TimedInputs({"u": [[0.0, 1.0]]})}
    return CoSimulation(parts, ["b.u -> a.f"], step=0.01, **options)


@pytest.mark.thorough
def test_studies_of_a_file_and_of_an_object_equal_single_runs(tmp_path: Path) -> None:
    path = write_loop(tmp_path)
    objectives = ["last(room.temperature)", "max(controller.heat)"]
    of_file = Study(path, GAINS, objectives, until="300 s", threads=1).run()
    loop = CoSimulation.from_file(path)
    of_object = Study(loop, GAINS, objectives, until=300.0, threads=1).run()
    for i, gain in enumerate((100.0, 200.0, 300.0)):
        result = CoSimulation.from_file(path, starts={"controller.gain": gain}).simulate(300.0)
        for table in (of_file, of_object):
            assert table[objectives[0]][i] == result["room.temperature"][-1]
            assert table[objectives[1]][i] == result["controller.heat"].max()
    assert loop.start_values["controller"]["gain"] == 200.0


@pytest.mark.thorough
def test_a_study_stores_series_and_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    write_loop(tmp_path, f'{LOOP}[output]\ninterval = "1 min"\n')
    monkeypatch.chdir(tmp_path)
    command = ["sweep", "loop.toml", "--vary", "controller.gain=100 W/K..300 W/K:3", "--series"]
    command += ["--objective", "mean(room.temperature)"]
    command += ["--until", "5 min", "-o", "study", "--threads", "1"]
    assert main(command) == 0
    table = pyarrow.dataset.dataset("study/series").to_table().to_pandas()
    assert sorted(set(table["point"])) == [0, 1, 2]
    result = CoSimulation.from_file("loop.toml", starts={"controller.gain": 300.0}).simulate("5 min")
    rows_of_last_point = table[table["point"] == 2]
    assert (
        rows_of_last_point["time"].tolist() == result.time.tolist() == [0.0, 60.0, 120.0, 180.0, 240.0, 300.0]
    )
    assert rows_of_last_point["room.temperature"].tolist() == result["room.temperature"].tolist()

    # the time of each run
    rows = (tmp_path / "study" / "table.csv").read_text("utf-8").splitlines()
    names = rows[0].split(",")
    seconds = [float(row.split(",")[names.index("seconds")]) for row in rows[1:]]
    assert all(value > 0.0 for value in seconds)

    # a second call changes nothing
    table_before = (tmp_path / "study" / "table.csv").read_bytes()
    capsys.readouterr()
    assert main(command) == 0  # all points are done
    assert (tmp_path / "study" / "table.csv").read_bytes() == table_before


@pytest.mark.thorough
def test_the_time_of_a_run_is_its_own(tmp_path: Path) -> None:
    """The first run sleeps 0.1 s in each of at least ten calls; the second one does not."""
    room = tmp_path / "room.py"
    code = (write_loop(tmp_path).parent / "room.py").read_text("utf-8")
    set_values, start = "        self.values.update", '        self.values = {"power"'
    code = code.replace(set_values, f"        time.sleep(0.1 if self.is_slow else 0.0)\n{set_values}")
    code = code.replace(start, f'        self.is_slow = values.get("temperature") == 1.0\n{start}')
    room.write_text(
        "import time\n" + code.replace("    def describe", "    is_slow = False\n\n    def describe", 1)
    )
    study = Study(
        tmp_path / "loop.toml",
        {"room.temperature": "1, 2"},
        until=100.0,
        threads=1,
        folder=tmp_path / "study",
    )
    assert len(study.run()) == 2
    rows = [line.split(",") for line in (tmp_path / "study" / "table.csv").read_text("utf-8").splitlines()]
    slow, fast = (float(row[rows[0].index("seconds")]) for row in rows[1:])
    assert slow > 1.0 and fast < slow


def test_only_models_and_co_simulations_can_be_studied() -> None:
    with pytest.raises(cosim.ModelError, match="needs a model.*co-simulation"):
        Study(3, {"a.b": "1, 2"})


@pytest.mark.thorough
def test_a_study_of_a_co_simulation_of_fmus(make_fmu: MakeFmu) -> None:
    loop = fmu_and_force(make_fmu("mass"))
    table = Study(loop, {"a.m": "1, 2, 4"}, ["last(a.x)"], until=0.5, threads=1).run()
    for mass, position in zip((1.0, 2.0, 4.0), table["last(a.x)"], strict=True):
        assert position == fmu_and_force(make_fmu("mass"), starts={"a.m": mass}).simulate(0.5)["a.x"][-1]

"""What a scenario says of its runs, and what runs of scenarios are made of: files, objects, studies."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from falling_ball import FallingBall
from scenario_files import LOOP, WEATHER, write_loop

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs
from cosim_workbench.studies import Study

MakeFmu = Callable[..., Path]


class TestIntervals:
    """``[output] interval`` and ``decimation``."""

    @pytest.mark.few(1)
    @pytest.mark.parametrize("output", ['interval = "1 min"', "interval = 60.0", "decimation = 6"])
    def test_each_so_many_points_are_kept(self, tmp_path: Path, output: str) -> None:
        whole = CoSimulation.from_file(write_loop(tmp_path)).simulate("1250 s")
        path = write_loop(tmp_path, f"{LOOP}[output]\n{output}\n")
        found = CoSimulation.from_file(path).simulate("1250 s")
        kept = [*range(0, 121, 6), 125]  # and the end
        assert found.time.tolist() == whole.time[kept].tolist()
        for name in whole.names:
            assert found[name].tobytes() == whole[name][kept].tobytes()
        assert found.coupling.figures() == whole.coupling.figures()

    def test_what_is_given_counts_more(self, tmp_path: Path) -> None:
        loop = CoSimulation.from_file(write_loop(tmp_path, f"{LOOP}[output]\ndecimation = 6\n"))
        assert len(loop.simulate("120 s", interval="20 s")) == 7
        assert len(loop.simulate("120 s", interval="10 s")) == 13
        assert len(loop.simulate("120 s")) == 3

    @pytest.mark.parametrize(
        ("output", "says"),
        [
            ("interval = 15.0", "is 15 s, needs a multiple of the communication step, 10 s"),
            ("interval = 0.0", "is 0 s, needs a multiple"),
            ('interval = "1 kg"', "needs a time"),
            ("decimation = 0", "needs a whole number from 1 on"),
            ("decimation = 2.5", "needs a whole number from 1 on"),
            ("decimation = 2\ninterval = 20.0", "says the same as interval"),
        ],
    )
    def test_what_is_wrong(self, tmp_path: Path, output: str, says: str) -> None:
        with pytest.raises(cosim.ModelError, match=rf"loop\.toml:1\d: output\..*{says}"):
            CoSimulation.from_file(write_loop(tmp_path, f"{LOOP}[output]\n{output}\n"))

    def test_files_and_streams_have_the_same_rows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_loop(tmp_path, f'{LOOP}[output]\ninterval = "1 min"\n')
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("cosim_master.recording.recorder.NUMBERS_IN_PIECE", 64)  # several pieces
        for name in ("x.csv", "x.parquet"):
            assert main(["cosimulate", "loop.toml", "-o", name, "-q"]) == 0
        one, other = cosim.read_result("x.csv"), cosim.read_result("x.parquet")
        assert one.time.tolist() == [60.0 * i for i in range(21)] == other.time.tolist()
        assert one["room.temperature"].tobytes() == other["room.temperature"].tobytes()

    def test_events_stay(self) -> None:
        class Ball(FallingBall):
            """It falls, and jumps back."""

            @cosim.on(FallingBall.floor, does="unrestricted")
            def bounce(speed, speed_next):
                speed_next[0] = -speed

        model = cosim.Model("ball")
        model.add(Ball, "b")
        loop = CoSimulation({"ball": model}, step=0.05)
        whole = loop.simulate(1.0, record="ball.b.*")
        found = loop.simulate(1.0, record="ball.b.*", interval=0.5)
        jumps = np.flatnonzero(np.diff(whole.time) == 0.0)
        assert len(jumps) == 1
        assert found.time.tolist() == [0.0, *whole.time[[jumps[0]] * 2].tolist(), 0.5, 1.0]


class TestTextOverTime:
    """Text columns of series."""

    def test_text_of_files_and_tables(self, tmp_path: Path) -> None:
        (tmp_path / "modes.csv").write_text("time,mode,u\n0,idle,1\n2,heat pump,2\n4,idle,3\n", "utf-8")
        tables = {"mode": [[0.0, "idle"], [2.0, "heat pump"], [4.0, "idle"]], "u": [[0.0, 1.0], [2.0, 2.0]]}
        for given in (TimedInputs(tmp_path / "modes.csv"), TimedInputs(tables)):
            variables = given.describe().variables
            assert (variables["mode"].type, variables["u"].type) == ("string", "real")
            found = []
            for time in (0.0, 1.999, 2.0, 3.9, 4.0, 9.0):
                given.restore(time)
                found += given.get(["mode"])
            assert found == ["idle", "idle", "heat pump", "heat pump", "idle", "idle"]
        result = CoSimulation({"w": TimedInputs(tables)}, step=1.0).simulate(2.0)
        assert result["w.mode"].tolist() == ["idle", "idle", "heat pump"]

    def test_types_that_do_not_fit(self) -> None:
        with pytest.raises(cosim.ModelError, match="'string'.*numbers"):
            TimedInputs({"u": [[0.0, 1.0]]}, types={"u": "string"})
        with pytest.raises(cosim.ModelError, match="'integer'.*text"):
            TimedInputs({"u": [[0.0, "a"]]}, types={"u": "integer"})
        with pytest.raises(cosim.ModelError, match="text and numbers"):
            TimedInputs({"u": [[0.0, "a"], [1.0, 2.0]]})


class TestInputs:
    """Values over time beside a scenario."""

    FREE = LOOP.replace('    "weather.outside -> room.outside",\n', "").replace(
        '[participants.weather]\nseries = "weather.csv"\n', ""
    )

    def test_they_feed_what_nothing_feeds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = CoSimulation.from_file(write_loop(tmp_path)).simulate()
        write_loop(tmp_path, self.FREE)
        (tmp_path / "cold.csv").write_text(WEATHER.replace("outside", "room.outside"), "utf-8")
        monkeypatch.chdir(tmp_path)
        assert main(["cosimulate", "loop.toml", "--inputs", "cold.csv", "-q"]) == 0
        found = cosim.read_result("loop.csv")
        assert found["room.temperature"].tobytes() == whole["room.temperature"].tobytes()

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("outside", "no participant 'outside'"),
            ("room.outsid", "no input of room 'outsid'. Nearest: outside"),
            ("room.temperature", "room.temperature is an output, needs an input"),
            ("room.power", "room.power has a source already"),
        ],
    )
    def test_columns_that_lead_nowhere(self, tmp_path: Path, name: str, says: str) -> None:
        with pytest.raises(cosim.ModelError, match=says):
            CoSimulation.from_file(write_loop(tmp_path, self.FREE), inputs={name: [[0.0, 1.0]]})


class TestFiles:
    """Where results go."""

    @pytest.mark.thorough
    def test_a_folder_gives_its_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        package = tmp_path / "pump.v2"
        package.mkdir()
        model = cosim.Model("pump")
        model.add("signals.ramp", "ramp", height=1.0)
        CoSimulation({"pump": model}, step=0.1).to_ssp(tmp_path / "pump.ssp", 0.2)
        with zipfile.ZipFile(tmp_path / "pump.ssp") as archive:
            archive.extractall(package)
        monkeypatch.chdir(package)
        assert main(["cosimulate", ".", "-q"]) == 0
        assert [path.name for path in package.glob("*.csv")] == ["pump.v2.csv"]
        assert not list(package.glob(".*"))

    def test_parquet_again_and_with_a_picture(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("pyarrow")
        write_loop(tmp_path)
        monkeypatch.chdir(tmp_path)
        words = ["cosimulate", "loop.toml", "--until", "100", "-q", "-o", "x.parquet"]
        for more in ([], ["--plot", "x.svg"], ["--plot", "x.svg"], []):
            assert main([*words, *more]) == 0
            assert len(cosim.read_result("x.parquet")) == 11
        (tmp_path / "x.parquet" / "notes.txt").write_text("mine", "utf-8")
        capsys.readouterr()
        for more in ([], ["--plot", "x.svg"]):
            assert main([*words, *more]) != 0
            assert "notes.txt" in capsys.readouterr().err

    def test_times_are_those_of_participants_that_python_calls(self, tmp_path: Path) -> None:
        statistics = CoSimulation.from_file(write_loop(tmp_path)).simulate().statistics
        assert statistics["participant_time"].keys() == statistics["in_python"].keys()
        assert all(time > 0.0 for time in statistics["participant_time"].values())


class TestStudies:
    """Studies of co-simulations."""

    GAINS = {"controller.gain": "100 W/K..300 W/K:3"}

    @pytest.mark.thorough
    def test_of_a_file_an_object_and_by_hand(self, tmp_path: Path) -> None:
        path = write_loop(tmp_path)
        wanted = ["last(room.temperature)", "max(controller.heat)"]
        of_file = Study(path, self.GAINS, wanted, until="300 s", threads=1).run()
        loop = CoSimulation.from_file(path)
        of_object = Study(loop, self.GAINS, wanted, until=300.0, threads=1).run()
        for i, gain in enumerate((100.0, 200.0, 300.0)):
            one = CoSimulation.from_file(path, starts={"controller.gain": gain}).simulate(300.0)
            for table in (of_file, of_object):
                assert table[wanted[0]][i] == one["room.temperature"][-1]
                assert table[wanted[1]][i] == one["controller.heat"].max()
        assert loop.start_values["controller"]["gain"] == 200.0

    @pytest.mark.thorough
    def test_values_over_time_are_kept(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("pyarrow")
        import pyarrow.dataset

        write_loop(tmp_path, f'{LOOP}[output]\ninterval = "1 min"\n')
        monkeypatch.chdir(tmp_path)
        words = ["sweep", "loop.toml", "--vary", "controller.gain=100 W/K..300 W/K:3", "--series"]
        words += [
            "--objective",
            "mean(room.temperature)",
            "--until",
            "5 min",
            "-o",
            "study",
            "--threads",
            "1",
        ]
        assert main(words) == 0
        table = pyarrow.dataset.dataset("study/series").to_table().to_pandas()
        assert sorted(set(table["point"])) == [0, 1, 2]
        one = CoSimulation.from_file("loop.toml", starts={"controller.gain": 300.0}).simulate("5 min")
        last = table[table["point"] == 2]
        assert last["time"].tolist() == one.time.tolist() == [0.0, 60.0, 120.0, 180.0, 240.0, 300.0]
        assert last["room.temperature"].tolist() == one["room.temperature"].tolist()
        rows = (tmp_path / "study" / "table.csv").read_text("utf-8").splitlines()
        names = rows[0].split(",")
        seconds = [float(row.split(",")[names.index("seconds")]) for row in rows[1:]]
        assert all(value > 0.0 for value in seconds)
        before = (tmp_path / "study" / "table.csv").read_bytes()
        capsys.readouterr()
        assert main(words) == 0  # nothing is left
        assert (tmp_path / "study" / "table.csv").read_bytes() == before

    @pytest.mark.thorough
    def test_seconds_are_those_of_each_run(self, tmp_path: Path) -> None:
        code = "import time\n" + (write_loop(tmp_path).parent / "room.py").read_text("utf-8").replace(
            "        self.values.update",
            "        time.sleep(0.02 if self.capacity_of_one else 0.0)\n        self.values.update",
        ).replace("    def describe", "    capacity_of_one = False\n\n    def describe", 1).replace(
            'self.values = {"power"',
            'self.capacity_of_one = values.get("temperature") == 1.0\n        self.values = {"power"',
        )
        (tmp_path / "room.py").write_text(code, "utf-8")
        table = Study(
            tmp_path / "loop.toml",
            {"room.temperature": "1, 2"},
            until=100.0,
            threads=1,
            folder=tmp_path / "s",
        ).run()
        assert len(table) == 2
        rows = [line.split(",") for line in (tmp_path / "s" / "table.csv").read_text("utf-8").splitlines()]
        slow, fast = (float(row[rows[0].index("seconds")]) for row in rows[1:])
        assert slow > 0.2 > 0.0
        assert fast < slow + 5.0

    def test_what_is_no_subject(self) -> None:
        with pytest.raises(cosim.ModelError, match="needs a model.*co-simulation"):
            Study(3, {"a.b": "1, 2"})


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
class TestFmus:
    """With FMUs of C."""

    def coupled(self, fmu: Path, **more: Any) -> CoSimulation:
        return CoSimulation(
            {"a": fmu, "b": TimedInputs({"u": [[0.0, 1.0]]})}, ["b.u -> a.f"], step=0.01, **more
        )

    def test_compiled_participants_have_no_time(self, make_fmu: MakeFmu) -> None:
        statistics = self.coupled(make_fmu("mass")).simulate(0.5).statistics
        assert list(statistics["participant_time"]) == ["b"] == list(statistics["in_python"])

    def test_messages_name_the_fmu_inside_an_ssp(self, make_fmu: MakeFmu, tmp_path: Path) -> None:
        starts = {"plant.fail_at": 0.25, "plant.fail_status": 3}
        loop = CoSimulation({"plant": make_fmu("failing")}, step=0.1, starts=starts)
        loop.to_ssp(tmp_path / "plant.ssp", 1.0)
        with pytest.raises(cosim.SimulationError, match=r"plant\.ssp: resources/failing\.fmu") as caught:
            CoSimulation.from_ssp(tmp_path / "plant.ssp").simulate()
        assert "cosim" not in str(caught.value).replace("cosimulate", "")

    @pytest.mark.thorough
    def test_a_study_of_objects(self, make_fmu: MakeFmu) -> None:
        loop = self.coupled(make_fmu("mass"))
        table = Study(loop, {"a.m": "1, 2, 4"}, ["last(a.x)"], until=0.5, threads=1).run()
        for mass, found in zip((1.0, 2.0, 4.0), table["last(a.x)"], strict=True):
            assert found == self.coupled(make_fmu("mass"), starts={"a.m": mass}).simulate(0.5)["a.x"][-1]

    def test_a_mended_fmu_goes_on(
        self,
        make_fmu: MakeFmu,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        make_fmu("mass")
        text = '[participants.plant]\nfmu = "mass.fmu"\n[master]\nstep = 0.01\nuntil = 0.4\n'
        (tmp_path / "one.toml").write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)
        assert main(["cosimulate", "one.toml", "-q", "-o", "whole.csv"]) == 0
        assert main(["cosimulate", "one.toml", "-q", "--until", "0.2", "--checkpoint", "kept"]) == 0
        with zipfile.ZipFile("mass.fmu", "a") as archive:
            archive.writestr("documentation/index.html", "mended")
        capsys.readouterr()
        assert main(["cosimulate", "one.toml", "-q", "--resume", "kept"]) != 0
        said = capsys.readouterr().err
        assert "participants.plant: mass.fmu (sha256 " in said
        assert "--accept-changed plant" in said
        assert said.count("\n") <= 2
        assert main(["cosimulate", "one.toml", "-q", "--resume", "kept", "--accept-changed", "plant"]) == 0
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        assert main(["cosimulate", "one.toml", "-q", "--resume", "kept", "--accept-changed", "plnt"]) != 0
        assert "participant 'plnt'. Nearest: plant" in capsys.readouterr().err
        assert main(["cosimulate", "one.toml", "-q", "--accept-changed", "plant"]) != 0
        assert "--accept-changed needs --resume" in capsys.readouterr().err

    def test_a_scenario_is_exported_as_an_ssp(
        self,
        make_fmu: MakeFmu,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        make_fmu("mass")
        links = ["left.force -> right.f", "right.x -> left.x_other"]
        parts = "".join(f'[participants.{name}]\nfmu = "mass.fmu"\n' for name in ("left", "right"))
        master = '[master]\nalgorithm = "jacobi"\nstep = 0.01\nuntil = 0.3\n'
        text = f"connections = {json.dumps(links)}\n{parts}{master}"
        (tmp_path / "loop.toml").write_text(text, "utf-8")
        monkeypatch.chdir(tmp_path)
        assert main(["export", "loop.toml", "-o", "loop.ssp"]) == 0
        assert "loop.toml → loop.ssp" in capsys.readouterr().out
        found = CoSimulation.from_ssp("loop.ssp").simulate()
        whole = CoSimulation.from_file("loop.toml").simulate()
        assert found.time[-1] == 0.3
        assert found["right.x"].tobytes() == whole["right.x"].tobytes()
        assert main(["export", "loop.toml", "-o", "loop.txt"]) != 0
        assert "FMU) or .ssp" in capsys.readouterr().err
        assert main(["export", "loop.toml", "--outputs", "left.x"]) != 0
        assert "--outputs: applies only to models" in capsys.readouterr().err

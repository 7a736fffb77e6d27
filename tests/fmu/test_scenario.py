"""A co-simulation as a file, and the command that runs it."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.command.run_summary import header
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.algorithms.gauss_seidel import GaussSeidel

MakeFmu = Callable[..., Path]
GOOD = """\
# two masses
[participants.left]
fmu = "mass.fmu"
[participants.right]
fmu = "mass.fmu"
[participants.left.parameters]
kc = 2.0
cc = "0.1 N.s/m"

[[connections]]
from = "left.force"
to = "right.f"
[[connections]]
from = "right.x"
to = "left.x_other"
[[connections]]
from = "right.v"
to = "left.v_other"

[master]
algorithm = "gauss_seidel"
step = "1 ms"
until = 0.5

[output]
signals = ["*.x", "left.force"]
file = "out.csv"
"""


def scenario(folder: Path, text: str, name: str = "loop.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_scenario_is_read(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    read = Scenario.read(scenario(tmp_path, GOOD))
    assert (read.step, read.until, read.start, read.tolerance) == (1e-3, 0.5, 0.0, None)
    assert read.starts == {"left.kc": 2.0, "left.cc": "0.1 N.s/m"}
    assert read.file == tmp_path / "out.csv"
    loop = read.couple(CoSimulation)
    assert isinstance(loop.algorithm, GaussSeidel)
    assert loop.order == ("left", "right")
    result = loop.simulate(read.until, record=read.signals)
    assert result.names == ["left.x", "right.x", "left.force"]
    assert header(loop).splitlines() == [
        "left   mass.fmu  FMI 2.0 Co-Simulation, state saved and restored",
        "right  mass.fmu  FMI 2.0 Co-Simulation, state saved and restored",
        "order  left → right   (right.x, right.v have no direct feedthrough)",
    ]


def test_all_faults_of_a_file_with_their_lines(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    text = """\
[participants.left]
fmu = "mass.fmu"
parameters = { kc = 2.0, kk = 3.0 }
[participants.right]
fmu = "mas.fmu"
[participants.third]
modell = "x.toml"

[[connections]]
from = "left.force"
too = "right.f"
[[connections]]
from = "left.forse"
to = "left.f"

[master]
algorithm = "newton"
step = "0.1 m"
untill = 2.0
"""
    path = scenario(tmp_path, text)
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    given = [str(fault).removeprefix(f"{path}:") for fault in caught.value.problems]
    expected = [
        "3: participants.left.parameters.kk: no variable of left 'kk'. Nearest: k",
        f"4: participants.right: {tmp_path / 'mas.fmu'}: no such file",
        "6: participants.third: has none of fmu, model, type, series",
        "7: participants.third.modell: no key 'modell'. Nearest: model.",
        '9: connections[0]: has no "to": it needs from = "plant.felt" and to = "controller.speed"',
        "11: connections[0].too: no key 'too'.",
        "13: connections[1].from: no output of left 'forse'. Nearest: force.",
        "16: master: until is missing",
        "17: master.algorithm: no master algorithm 'fmu.newton'.",
        "18: master.step: ",
        "19: master.untill: no key 'untill'. Nearest: until.",
    ]
    assert len(given) == len(expected), given
    for line, start in zip(given, expected, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are none: write \\[participants.NAME\\]"),
        ("participants = 3\n", "participants: is 3, needs a table"),
        ("[participants]\na = 3\n", "2: participants.a: is 3, needs a table"),
        ('[participants.a]\nfmu = "a.fmu"\nmodel = "b.toml"\n', "has fmu and model, needs one of them"),
        ("[participants.a]\nfmu = 3\n", "2: participants.a.fmu: is 3, needs text"),
        ('[participants.a]\ntype = "acme.thing"\n', "2: participants.a.type: no participant 'acme.thing'"),
        (
            "[participants.a]\nparameters = 3\nfmu = 'a'\n",
            "2: participants.a.parameters: is 3, needs a table",
        ),
        ("connections = 3\n", "1: connections: needs a list: connections = "),
        ("connections = [3]\n", "connections\\[0\\]: is 3, needs two names"),
        ("[master]\nstep = -1\nuntil = 1\n", "2: master.step: is -1 s, needs more than 0"),
        ("[master]\nstep = true\nuntil = 1\n", "2: master.step: is True, needs a number of seconds"),
        ("[master]\nstep = 1\nuntil = nan\n", "3: master.until: is nan, needs a number"),
        (
            "[master]\nstep = 1\nuntil = 1\nstart = 2\n",
            "3: master.until: is 1 s, needs at least the start, 2 s",
        ),
        ("[master]\nstep = 1\nuntil = 1\ntolerance = 0.0\n", "4: master.tolerance: is 0.0"),
        ("[output]\nsignals = 'a'\n", "2: output.signals: needs a list"),
        ("[output]\nfile = 3\n", "2: output.file: is 3"),
    ],
)
def test_single_faults(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        Scenario.read(scenario(tmp_path, text)).couple(CoSimulation)


def test_what_follows_from_another_fault_is_not_said(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    path = scenario(tmp_path, GOOD.replace('[participants.right]\nfmu = "mass.fmu"', "[participants.right]"))
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    assert [fault.where for fault in caught.value.problems] == [f"{path}:4: participants.right"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("left.force", "left.forse", "26: output.signals"),
        ('"1 ms"', "1e-300", "22: master.step"),
        ("until = 0.5", "until = 0.5\ntolerance = nan", "24: master.tolerance"),
    ],
)
def test_faults_of_a_run_have_their_line(
    make_fmu: MakeFmu, tmp_path: Path, old: str, new: str, place: str
) -> None:
    make_fmu("mass")
    head, master = GOOD.split("[master]")
    path = scenario(tmp_path, head + "[master]" + master.replace(old, new))
    with pytest.raises(cosim.ModelError, match=re.escape(f"{path}:{place}")):
        Scenario.read(path).couple(CoSimulation)


def test_a_file_may_begin_with_a_mark_and_a_tolerance_is_at_most_a_tenth(
    make_fmu: MakeFmu, tmp_path: Path
) -> None:
    make_fmu("mass")
    path = scenario(tmp_path, "\ufeff" + GOOD.replace("until = 0.5", "until = 0.5\ntolerance = 0.1"))
    assert Scenario.read(path).couple(CoSimulation).tolerance == 0.1
    path = scenario(tmp_path, GOOD.replace("until = 0.5", "until = 0.5\ntolerance = 1"))
    with pytest.raises(cosim.ModelError, match=r"master\.tolerance.*1.*number above 0.*0\.1"):
        Scenario.read(path).couple(CoSimulation)


def test_one_damaged_fmu_is_named_though_the_path_is_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.fmu").write_bytes(b"")
    scenario(Path(), '[participants.a]\nfmu = "bad.fmu"\n[master]\nstep = 1\nuntil = 1\n')
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:1: participants\.a: .*bad\.fmu: is not an FMU"):
        Scenario.read("loop.toml").couple(CoSimulation)


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("push.toml").write_text(
        "[participants.push]\nseries = { force = [[0.0, 0.0], [1.0, 5.0]] }\n"
        '[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 1.0\n',
        "utf-8",
    )
    for picture, why in (("push.gif", "the name of a picture ends in .png"), ("none/push.png", "folder")):
        assert main(["cosimulate", "push.toml", "--plot", picture]) == 2
        assert why in capsys.readouterr().err and not Path("push.csv").exists()


def test_an_fmu_is_no_scenario_and_the_answer_says_where_it_goes(
    make_fmu: MakeFmu, capsys: pytest.CaptureFixture[str]
) -> None:
    fmu = make_fmu("mass")
    assert main(["cosimulate", str(fmu)]) == 2
    assert f'name an FMU in a scenario: [participants.x] fmu = "{fmu.name}"' in capsys.readouterr().err


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="missing.toml: no such file"):
        Scenario.read(tmp_path / "missing.toml")
    with pytest.raises(cosim.ModelError, match="loop.toml:1: no valid TOML"):
        Scenario.read(scenario(tmp_path, "[a\n"))
    with pytest.raises(cosim.ModelError, match="nested too deeply"):
        Scenario.read(scenario(tmp_path, "a = " + "[" * 100_000))
    path = tmp_path / "latin.toml"
    path.write_bytes(b'a = "\xe4"\n')
    with pytest.raises(cosim.ModelError, match="latin.toml:1: is not UTF-8 text"):
        Scenario.read(path)


def test_command(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    monkeypatch.chdir(tmp_path)
    path = scenario(tmp_path, GOOD)
    assert main(["cosimulate", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("left   mass.fmu  FMI 2.0 Co-Simulation, state saved and restored\n")
    assert "order  left → right" in out
    assert "500 steps, 0 events, 0 retries" in out
    assert out.endswith("results → out.csv\n") or out.endswith(f"results → {tmp_path / 'out.csv'}\n")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].replace('"', "").split(",") == ["time", "left.x", "right.x", "left.force"]
    assert len(lines) == 502

    assert main(["cosimulate", str(path), "--quiet", "-o", "other.csv", "--until", "10 ms"]) == 0
    assert capsys.readouterr().out == ""
    assert len((tmp_path / "other.csv").read_text().splitlines()) == 12


def test_command_with_a_bad_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario(tmp_path, '[participants.a]\nfmu = "a.fmu"\n[master]\nstep = 1\n')
    assert main(["cosimulate", str(path)]) == 2
    err = capsys.readouterr().err
    assert f"{path}:1: participants.a: {tmp_path / 'a.fmu'}: no such file" in err
    assert err.endswith("2 problems, nothing was run.\n")


def test_command_keeps_results_of_a_run_that_fails(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("failing")
    monkeypatch.chdir(tmp_path)
    text = """\
[participants.pump]
fmu = "failing.fmu"
parameters = { fail_at = 0.55, fail_status = 3 }
[master]
algorithm = "jacobi"
step = 0.1
until = 1.0
"""
    path = scenario(tmp_path, text, "pump.toml")
    assert main(["cosimulate", str(path)]) == 1
    err = capsys.readouterr().err
    assert "t = 0.5 s → pump.csv" in err
    assert "t = 0.5 s: pump" in err and "ran dry" in err
    lines = (tmp_path / "pump.csv").read_text().splitlines()
    assert len(lines) == 8 and lines[-1].startswith("# not whole: at t = 0.5 s: pump: ")


def test_folder_for_the_results_has_to_exist(
    make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    path = scenario(tmp_path, GOOD)
    assert main(["cosimulate", str(path), "-o", str(tmp_path / "none" / "out.csv")]) == 2
    assert "the folder for the results does not exist" in capsys.readouterr().err
    assert main(["cosimulate", str(path), "-o", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert "folder, needs" in err and not out  # it has not run


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a disk that is always full")
def test_results_that_cannot_be_written_are_kept_elsewhere(
    make_fmu: MakeFmu,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_fmu("mass")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["cosimulate", str(scenario(tmp_path, GOOD)), "-o", "/dev/full"]) != 0
    err = capsys.readouterr().err
    assert "/dev/full: cannot be written" in err and "results are in" in err
    assert len(next(tmp_path.glob("cosim-results-*/full.csv")).read_text().splitlines()) == 502
    assert Path("/dev/full").is_char_device()  # it was not replaced by a file


def test_registered_kinds_take_part(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("gain")
    text = """\
[participants.first]
fmu = "gain.fmu"
[participants.second]
type = "fmu.co_simulation"
options = { path = "PATH" }
parameters = { gain = 2.0, "bias" = 1.0 }
[[connections]]
from = "first.y"
to = "second.u"
[master]
algorithm = "fmu.jacobi"
step = 0.5
until = 1
""".replace("PATH", str(tmp_path / "gain.fmu"))
    read = Scenario.read(scenario(tmp_path, text))
    assert read.couple(CoSimulation).simulate(read.until)["second.y"].tolist() == [1.0, 1.0, 1.0]


PLANT = """\
[model]
name = "plant"
[bodies.block]
mass = "2 kg"
inertia = [1, 1, 1]
joint = "slider"
[components.push]
type = "mechanics.actuator"
coordinate = "block_joint"
[components.spring]
type = "mechanics.coordinate_spring"
coordinate = "block_joint"
stiffness = 50
[simulation]
accuracy = 1e-8
"""
MODELS = """\
[participants.plant]
model = "plant.toml"
[participants.plant.parameters]
"spring.stiffness" = 200
"block_joint.q[0]" = 0.1
[participants.copy]
model = "plant.toml"
[master]
step = "10 ms"
until = 0.5
[output]
signals = ["*.block_joint.q*"]
"""


def test_models_take_part_without_an_fmu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Paths start from the scenario, and the model file says how accurately."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "plant.toml").write_text(PLANT, encoding="utf-8")
    path = scenario(folder, MODELS)
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", str(path), "-o", "out.csv"]) == 0
    assert "50 steps" in capsys.readouterr().out
    result = cosim.registry().get("result_sink", "workbench.csv")().read(tmp_path / "out.csv")
    swing = 0.1 * np.cos(10.0 * result.time)
    assert np.allclose(result["plant.block_joint.q[0]"], swing, rtol=0.0, atol=1e-6)
    assert np.all(result["copy.block_joint.q[0]"] == 0.0)


def test_info_of_an_fmu_that_cannot_run_here(
    make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(make_fmu("mass")) as source, zipfile.ZipFile(tmp_path / "far.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", source.read("modelDescription.xml"))
        archive.writestr("binaries/sparc64/mass.so", b"")
    assert main(["info", str(tmp_path / "far.fmu")]) == 0
    head, remark, *rest = capsys.readouterr().out.splitlines()
    assert head.startswith("far.fmu   FMI 2.0 Co-Simulation")
    assert remark.startswith("  cannot run here: has no binary for this platform") and "sparc64" in remark
    assert any(line.split()[:2] == ["x", "real"] for line in rest)


def test_options_that_nobody_takes_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "plant.toml").write_text(PLANT, encoding="utf-8")
    text = MODELS.replace(
        "[participants.copy]", '[participants.copy]\noptions = { kind = "me", fixed_stp = 1 }'
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(scenario(tmp_path, text)).couple(CoSimulation)
    told = str(caught.value).splitlines()
    assert len(told) == 2
    assert "7: participants.copy.options.kind: no option 'kind'" in told[0]
    assert "options.fixed_stp: no option 'fixed_stp'. Nearest: fixed_step." in told[1]


def test_faults_of_a_model_have_both_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that are found when it is built."""
    faulty = PLANT.replace("mass", "mas").replace('"2 kg"', "2")
    (tmp_path / "plant.toml").write_text(faulty, encoding="utf-8")
    wrong = PLANT + '[[connections]]\nfrom = "block_joint.q"\nto = "push.effort"\n'
    (tmp_path / "wired.toml").write_text(wrong, encoding="utf-8")
    path = scenario(
        tmp_path, MODELS.replace('[participants.copy]\nmodel = "plant', '[participants.copy]\nmodel = "wired')
    )
    assert main(["cosimulate", str(path)]) == 2
    err = capsys.readouterr().err
    assert f"{path}:2: participants.plant.model: {tmp_path / 'plant.toml'}:4: bodies.block: " in err
    assert f"{path}:7: participants.copy.model: {tmp_path / 'wired.toml'}:16: connections[0] " in err
    assert "converted to N" in err


def test_a_model_file_of_a_kind_that_nobody_reads(tmp_path: Path) -> None:
    path = scenario(tmp_path, MODELS.replace('"plant.toml"', '"plant.mo"', 1))
    with pytest.raises(
        cosim.ModelError,
        match=r"plant\.mo.*plugin reads models.*'\.mo'..*\.xml, \.urdf, \.toml",
    ):
        Scenario.read(path).couple(CoSimulation)


def test_a_dotted_parameter_that_is_not_there_has_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "plant.toml").write_text(PLANT, encoding="utf-8")
    path = scenario(
        tmp_path,
        MODELS.replace("spring.stiffness", "spring.stifness").replace('"block_joint.q[0]"', "block_joint.w"),
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    lines = [str(fault).removeprefix(f"{path}:").partition(":")[0] for fault in caught.value.problems]
    assert lines == ["4", "5"]

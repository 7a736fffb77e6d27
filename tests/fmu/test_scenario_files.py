"""Short forms of scenarios: connections in one line, files of parameters, variants."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ssp_files import DECLARED, parameter_set

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario.scenario_variant import read_parameters

MakeFmu = Callable[..., Path]
RING = """\
connections = ["left.force -> right.f", { from = "right.x", to = "left.x_other", factor = 2.0 }]
parameter_files = "over.csv"
[participants.left]
fmu = "mass.fmu"
parameter_files = ["base.toml", "set.ssv"]
parameters.kc = 7.0
[participants.right]
fmu = "mass.fmu"
[master]
algorithm = "jacobi"
step = 0.1
until = 0.2
[variants.heavy]
connections = ["right.force -> left.f"]
[variants.heavy.participants.left]
parameters.m = "5 kg"
[variants.heavy.master]
until = 0.5
"""
UNITS = (
    '<ssv:Units><ssc:Unit name="t"><ssc:BaseUnit kg="1" factor="1000"/></ssc:Unit>'
    '<ssc:Unit name="lb/s2"><ssc:BaseUnit kg="1" s="-2" factor="0.5"/></ssc:Unit></ssv:Units>'
)


@pytest.fixture
def folder(tmp_path: Path, make_fmu: MakeFmu) -> Path:
    make_fmu("mass")
    (tmp_path / "base.toml").write_text('m = "2000 g"\nk = 3.0\nc = 1.5\n', "utf-8")
    values = parameter_set(
        ("k", '<ssv:Real value="8" unit="lb/s2"/>'), ("cc", 0.25), units=UNITS, declared=DECLARED
    )
    (tmp_path / "set.ssv").write_text(values, "utf-8")
    (tmp_path / "over.csv").write_text("name,value,unit\nleft.c,9\nright.m,0.5,t\n# why\n\n", "utf-8")
    (tmp_path / "ring.toml").write_text(RING, "utf-8")
    return tmp_path


def test_values_of_later_files_and_of_tables_take_precedence(folder: Path) -> None:
    scenario = Scenario.read(folder / "ring.toml")
    loop = scenario.couple(CoSimulation)
    assert loop.start_values == {
        "left": {"m": 2.0, "k": 4.0, "c": 9.0, "cc": 0.25, "kc": 7.0},
        "right": {"m": 500.0},
    }
    assert [str(link) for link in loop.links] == ["left.force → right.f", "right.x → left.x_other"]
    assert loop.links[1].factor == 2.0


def test_a_variant_changes_connections_parameters_and_settings(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cosim.cli import main

    scenario = Scenario.read(folder / "ring.toml", "heavy")
    loop = scenario.couple(CoSimulation)
    assert loop.start_values["left"]["m"] == 5.0
    assert loop.start_values["left"]["kc"] == 7.0
    assert ([str(link) for link in loop.links], scenario.until) == (["right.force → left.f"], 0.5)
    target = folder / "out.csv"
    assert main(["cosimulate", str(folder / "ring.toml"), "--variant", "heavy", "-q", "-o", str(target)]) == 0
    assert target.read_text("utf-8").splitlines()[-1].startswith("0.5,")
    assert main(["cosimulate", str(folder / "ring.toml"), "--variant", "heavi"]) == 2
    assert "variant 'heavi'. Nearest: heavy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("over.csv", "left.cx,9\n", "over.csv:1: no variable of left 'cx'."),
        ("over.csv", "left.c\n", "over.csv:1: needs a name, a value and, optionally, a unit"),
        ("over.csv", "left.c,x,N\n", "over.csv:1: the value is 'x', needs a number [N]"),
        ("over.csv", "left.c,1\nleft.c,2\n", "over.csv:2: left.c has a value already"),
        ("over.csv", "left.c,2,m\n", "over.csv:1: left.c "),
        ("base.toml", "[a\n", "base.toml:1: no valid TOML"),
        ("base.toml", 'm = "2 m"\n', "base.toml:1: left.m "),
        ("set.ssv", "<a/>", "set.ssv:1: its root is <a>, not <ParameterSet>"),
        ("set.ssv", "<a", "set.ssv:1: is not well-formed XML"),
    ],
)
def test_faults_of_parameter_files_are_named_with_file_and_line(
    folder: Path, file: str, text: str, message: str
) -> None:
    (folder / file).write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as failure:
        Scenario.read(folder / "ring.toml").couple(CoSimulation)
    assert f"{folder}/{message}" in str(failure.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"left.force -> right.f"',
            '"left.force right.f"',
            '1: connections[0]: is "left.force right.f", needs two',
        ),
        (
            '"left.force -> right.f"',
            '"left.forse -> right.f"',
            "1: connections[0].from: no output of left 'forse'",
        ),
        (
            '["right.force -> left.f"]',
            '["right.forse -> left.f"]',
            "14: connections[0].from: no output of right",
        ),
        (
            "parameters.m = ",
            "parameters.mm = ",
            "16: participants.left.parameters.mm: no variable of left 'mm'",
        ),
        ("[master]", "[master]\nconnections = []", "10: master.connections: no key 'connections'."),
        (
            '"over.csv"',
            '"over.json"',
            "over.json: no file of parameters: its name has to end in .toml, .csv, .ssv",
        ),
        ('"over.csv"', '"none.csv"', "none.csv: no such file or directory"),
        ('"over.csv"', "3", "2: parameter_files: is 3, needs names of files"),
    ],
)
def test_faults_of_short_forms_are_named_with_their_line(
    folder: Path, old: str, new: str, message: str
) -> None:
    text = RING.replace(old, new)
    assert text != RING
    (folder / "ring.toml").write_text(text, "utf-8")
    variant = "heavy" if "right.forse" in new or "mm" in new else None
    with pytest.raises(cosim.ModelError) as failure:
        Scenario.read(folder / "ring.toml", variant).couple(CoSimulation)
    assert message in str(failure.value)


def test_top_level_parameters_take_precedence(folder: Path) -> None:
    text = RING + "[parameters]\nleft.kc = 1.0\nright.kk = 2.0\n"
    (folder / "ring.toml").write_text(text, "utf-8")
    with pytest.raises(
        cosim.ModelError, match=r"ring.toml:21: participants.right.parameters.kk: no variable"
    ):
        Scenario.read(folder / "ring.toml").couple(CoSimulation)
    (folder / "ring.toml").write_text(text.replace("kk", "k"), "utf-8")
    loop = Scenario.read(folder / "ring.toml").couple(CoSimulation)
    assert (loop.start_values["left"]["kc"], loop.start_values["right"]["k"]) == (1.0, 2.0)


def test_short_forms_in_python(folder: Path) -> None:
    starts = {
        f"left.{name}": parameter.value for name, parameter in read_parameters(folder / "set.ssv").items()
    }
    parts = {"left": folder / "mass.fmu", "right": folder / "mass.fmu"}
    loop = CoSimulation(
        parts, ["left.force -> right.f", "right.x → left.x_other"], "jacobi", 0.1, starts=starts
    )
    assert len(loop.links) == 2
    assert loop.start_values["left"] == {"k": 4.0, "cc": 0.25}

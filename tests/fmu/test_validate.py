"""`cosim validate` accepts correct FMUs, finds each defect of faulty ones, and refuses hostile files."""

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bouncing_ball_fmu import DESCRIPTION
from box3_fmu import make_box3
from export_tools import ball, export, oscillator
from fmi1_fmu import make_fmi1
from model3_fmu import make_model3

from cosim.cli import main
from cosim_fmi.validate.finding import Finding
from cosim_fmi.validate.validate_command import check_file, check_run
from cosim_fmi.validate.variable_names import name_fault

MakeFmu = Callable[..., Path]
XML = "modelDescription.xml"
DEFECTS = {
    "HIDES": ("error", "rollback", "hidden state: after restoring once the same steps differ: y is"),
    "COUNTS": ("error", "repetition", "a second instance does not repeat the first: y is"),
    "CRASHES": ("error", "repetition", "the process was killed by SIGSEGV"),
    "WAITS": ("error", "simulation", "no end within 1 s"),
    "SAMPLES": ("warning", "step sizes", "y depends on the communication step: with half of 0.01 s"),
    "DIVIDES": ("error", "bounds", "with u at its max 10.0, y is not finite"),
    "BLOWS_UP": ("error", "simulation", "output y is inf after 4 steps"),
    "ANY_STEP": ("warning", "wrong steps", "communication steps of 0 and -0.01 s are answered by OK"),
    "ONLY_NEEDED": (
        "error",
        "functions",
        "does not export fmi2GetFMUstate, though the capability is declared",
    ),
}
STRUCTURED = ("a", "_1", "a.b[1,2].c", "der(a.b)", "der(a[1],2)", "'any thing: 1.'.x", r"'it\'s'[3]", "der")
NOT_STRUCTURED = (
    "",
    "1a",
    "a b",
    "a..b",
    "a.",
    "a[]",
    "a[1,]",
    "der(der(a))",
    "der(a,b)",
    "''",
    "a'b'",
    "é",
    "a\n",
)


def validate(path: Path, timeout: float = 20.0) -> list[Finding]:
    """The findings in the file and in a run."""
    return [*check_file(path), *check_run(path, timeout)]


def add_file(path: Path, name: str, content: bytes = b"x", mode: int = 0o644) -> Path:
    """Add a file of any name and mode to an archive."""
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.create_system, info.external_attr = 3, mode << 16
        archive.writestr(info, content)
    return path


@pytest.mark.parametrize("make", [ball, pytest.param(oscillator, marks=pytest.mark.thorough)])
def test_fmus_of_cosim_have_no_findings(make: Callable[..., object], tmp_path: Path) -> None:
    assert validate(export(make(), tmp_path / "x.fmu", step_size=0.01, stop_time=1.0)) == []


def test_a_correct_fmu_of_another_tool_has_warnings_only(make_fmu: MakeFmu) -> None:
    findings = validate(make_fmu("naughty"))  # without one of the macros that make it naughty
    assert {(f.severity, f.where) for f in findings} == {
        ("warning", "functions"),
        ("warning", "wrong values"),
    }
    assert "does not export fmi2SetDebugLogging, fmi2GetDirectionalDerivative," in findings[0].text


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_is_found(defect: str, make_fmu: MakeFmu) -> None:
    severity, where, text = DEFECTS[defect]
    seconds = 1.0 if defect == "WAITS" else 20.0
    findings = validate(make_fmu("naughty", macros=(defect,)), timeout=seconds)
    assert any((f.severity, f.where) == (severity, where) and text in f.text for f in findings), findings


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", ["BALL", "STAIR", "TURN"])
def test_model_exchange_of_fmi_3_is_run(kind: str, tmp_path: Path, compiled: MakeFmu) -> None:
    findings = validate(make_model3(tmp_path, compiled, kind))
    assert [str(f) for f in findings if f.severity == "error" and f.where != XML] == []
    assert any("does not export fmi3SetDebugLogging" in f.text for f in findings)


@pytest.mark.few(1)
@pytest.mark.parametrize("interface", ["CoSimulation", "ModelExchange"])
def test_fmi_1_is_run(interface: str, tmp_path: Path, compiled: MakeFmu) -> None:
    findings = validate(make_fmi1(tmp_path, compiled, interface))
    assert [str(f) for f in findings if f.severity == "error"] == []
    if interface == "CoSimulation":
        assert any("declares no canGetAndSetFMUstate" in f.text for f in findings)
    refused = validate(make_fmi1(tmp_path, compiled, interface, guid="other"))
    assert any("needs {one}" in f.text for f in refused if f.severity == "error")


def test_derivatives_that_depend_on_their_past_are_found(tmp_path: Path, compiled: MakeFmu) -> None:
    findings = validate(make_model3(tmp_path, compiled, "VDP", "HIDES"))
    text = "derivatives or event indicators differ after an evaluation elsewhere and back"
    assert Finding("error", "evaluation", text) in findings


@pytest.mark.few(1)
@pytest.mark.parametrize("events", [True, False])
def test_co_simulation_of_fmi_3_is_run(events: bool, tmp_path: Path, compiled: MakeFmu) -> None:
    findings = validate(make_box3(tmp_path, compiled, events=events))
    errors = {f.where: f.text for f in findings if f.severity == "error" and f.where != XML}
    assert errors.keys() == {"reset"} and "repeat itself: x" in errors["reset"]


def test_model_exchange_of_fmi_2_is_run(tmp_path: Path, compiled: MakeFmu) -> None:
    from fmpy import platform, sharedLibraryExtension

    path = tmp_path / "ball.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        text = DESCRIPTION.replace('der(v)" valueReference="4"', 'der(v)" valueReference="2"')
        archive.writestr("modelDescription.xml", text % "false")
        archive.write(compiled("ball_me"), f"binaries/{platform}/ball_me{sharedLibraryExtension}")
    errors = {f.where: f.text for f in validate(path) if f.severity == "error" and f.where != XML}
    assert errors.keys() == {"reset"}, errors


def test_an_instance_that_is_refused_says_why(make_fmu: MakeFmu) -> None:
    findings = validate(make_fmu("gain", macros=("REFUSES",)))
    assert any("instantiated. It logged" in f.text for f in findings)


def test_semantics_beyond_the_schema(make_fmu: MakeFmu) -> None:
    change = {"u": {"start": "20", "min": "5", "max": "-5"}, "gain": {"start": "NaN"}}
    path = make_fmu(
        "gain", change=lambda name, attributes: {**attributes, **change.get(name, {})}, dependencies=False,
        abilities='canSerializeFMUstate="true" needsExecutionTool="true"',
    )  # fmt: skip
    lines = [f"{f.severity} {f.text}" for f in check_file(path)]
    for line in (
        "error variable u: min 5 is above max -5",
        "error variable u: start value 20 is outside of 5 … -5",
        "warning variable gain: its start value is nan",
        "warning dependencies of outputs are not given (y): masters see algebraic loops",
        "error canSerializeFMUstate without canGetAndSetFMUstate",
        "warning needsExecutionTool is true: some tools refuse such FMUs",
    ):
        assert line in lines


def test_names_are_checked_by_the_declared_convention(make_fmu: MakeFmu) -> None:
    assert [name for name in STRUCTURED if name_fault(name, "structured")] == []
    assert [name for name in NOT_STRUCTURED if not name_fault(name, "structured")] == []
    assert [name for name in (*STRUCTURED, *NOT_STRUCTURED) if name_fault(name, "flat")] == ["a\n"]
    path = make_fmu("gain", name="convention")
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = files[XML].decode()
    for convention, is_fault in (("flat", False), ("structured", True)):
        head = f'variableNamingConvention="{convention}" guid="'
        changed = text.replace('guid="', head, 1).replace('name="gain"', 'name="the gain"', 1)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in {**files, XML: changed.encode()}.items():
                archive.writestr(name, content)
            archive.writestr("resources\\x", b"x")
        texts = [finding.text for finding in check_file(path)]
        assert any("'the gain' is not a legal name" in message for message in texts) == is_fault, texts
        assert any("a backslash" in message for message in texts)


def test_hostile_archives_are_refused_with_the_reason(make_fmu: MakeFmu, tmp_path: Path) -> None:
    cases = {
        "would leave the folder": add_file(make_fmu("gain", name="slip"), "../../evil"),
        "symbolic link": add_file(
            make_fmu("gain", name="link"), "resources/l", b"/etc", stat.S_IFLNK | 0o777
        ),
        "not a ZIP archive": tmp_path / "text.fmu",
        "declares a document type": tmp_path / "entities.fmu",
        "not well-formed": tmp_path / "broken.fmu",
        "no modelDescription.xml": tmp_path / "empty.fmu",
        "no such file": tmp_path / "nowhere.fmu",
    }
    cases["not a ZIP archive"].write_text("no archive")
    add_file(
        cases["declares a document type"], "modelDescription.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    )
    add_file(cases["not well-formed"], "modelDescription.xml", b"<fmiModelDescription")
    add_file(cases["no modelDescription.xml"], "readme.txt")
    for reason, path in cases.items():
        findings = validate(path)
        assert [f.severity for f in findings] == ["error"] and reason in findings[0].text, (reason, findings)


def test_an_archive_that_grows_too_much_is_not_unpacked(make_fmu: MakeFmu, tmp_path: Path) -> None:
    path = make_fmu("gain")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("resources/zeros", bytes(130 * 2**20))
    findings = validate(path)
    assert [f.severity for f in findings] == ["error"] and "much: refused" in findings[0].text


def test_the_command_prints_findings_of_each_file(
    make_fmu: MakeFmu, capsys: pytest.CaptureFixture[str]
) -> None:
    crashing, good = make_fmu("naughty", name="bad", macros=("CRASHES",)), make_fmu("gain", name="good")

    def run_command(*arguments: str) -> tuple[int, str, str]:
        return main(["validate", *arguments]), *capsys.readouterr()

    status, output, errors = run_command(str(crashing), str(good))
    assert status == 1, errors
    assert "repetition: the process" in output
    assert str(good) in output
    status, output, _ = run_command("--static", str(crashing))
    assert (status, output.splitlines()) == (0, [str(crashing), "  no findings"]), output
    status, _, errors = run_command(str(good), "--timeout", "0 s")
    assert status == 2 and "needs more than 0" in errors

"""Which kind of FMU an export writes, and its errors: one line for each problem, with the remedy."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from export_parts import Ball
from native_tools import needs_compiler, own_platform

import cosim
from cosim.cli import main
from cosim_export.native.compilers import available_compilers

pytestmark = needs_compiler


@pytest.fixture
def swing(tmp_path: Path) -> Path:
    path = tmp_path / "swing.toml"
    path.write_text('[model]\nname = "swing"\n[measures.wave]\ntype = "measures.sinusoid"\n', "utf-8")
    return path


@pytest.fixture
def no_zig(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "ziglang", None)
    available_compilers.cache_clear()
    yield
    available_compilers.cache_clear()


@pytest.fixture
def no_compiler(no_zig: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    available_compilers.cache_clear()


def files_of(fmu: Path) -> list[str]:
    with zipfile.ZipFile(fmu) as archive:
        return archive.namelist()


def refused_export(swing: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """The lines on stderr of an export that is refused, and leaves nothing behind."""
    target = swing.parent / "swing.fmu"
    assert main(["export", str(swing), "-o", str(target), "--native", *options]) != 0
    assert [p.name for p in swing.parent.iterdir()] == ["swing.toml"]
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("compiling")]  # on a machine's first run


@pytest.mark.thorough
def test_python_exports_a_native_fmu_unless_native_is_false(
    swing: Path, no_zig: None, caplog: pytest.LogCaptureFixture
) -> None:
    native = cosim.Model.from_file(swing).export_fmu(swing.parent / "swing.fmu")
    assert not [name for name in files_of(native) if name.endswith(".py")] and not caplog.records
    python = cosim.Model.from_file(swing).export_fmu(swing.parent / "python.fmu", native=False)
    assert [name for name in files_of(python) if name.endswith(".py")] and not caplog.records


def test_without_a_compiler_the_fmu_runs_python_and_a_warning_says_so(
    swing: Path, no_compiler: None, caplog: pytest.LogCaptureFixture
) -> None:
    fmu = cosim.Model.from_file(swing).build().export_fmu(swing.parent / "swing.fmu")
    assert [name for name in files_of(fmu) if name.endswith(".py")]
    (warning,) = caplog.messages
    assert warning.startswith(f"{fmu}: FMU that runs Python") and "C compiler" in warning


def test_without_any_compiler_a_native_fmu_is_refused(
    swing: Path, no_compiler: None, capsys: pytest.CaptureFixture[str]
) -> None:
    install = "Install one for all platforms: pip install 'cosim-framework[native]'"
    remedy = f"there is no C compiler here. {install}"
    assert refused_export(swing, capsys) == [f"native: {remedy}"]
    lines = refused_export(swing, capsys, "--platforms", "linux64,win64")
    assert lines == [f"platform linux64: {remedy}", f"platform win64: {remedy}"]
    with pytest.raises(cosim.ModelError, match="C compiler"):
        cosim.Model.from_file(swing).export_fmu(swing.parent / "swing.fmu", native=True)


def test_another_platform_needs_ziglang(
    swing: Path, no_zig: None, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "darwin64" if own_platform() != "darwin64" else "win64"
    (line,) = refused_export(swing, capsys, "--platforms", other)
    assert line.startswith(f"platform {other}: ") and f"the machine's own does for {own_platform()}." in line
    assert "pip install 'cosim-framework[native]'" in line


def test_all_wrong_options_are_named_at_once(swing: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused_export(swing, capsys, "--fmi", "1", "--kind", "cs,se", "--platforms", "mac,linux64") == [
        "fmi: is '1', needs 2 or 3",
        "kind: is se, needs cs, me or both",
        "platforms: 'mac' is none; there are linux64, aarch64-linux, win64, darwin64, or all of them: all",
    ]
    assert "none is named" in refused_export(swing, capsys, "--platforms", ",")[0]
    model = cosim.Model.from_file(swing)
    with pytest.raises(cosim.ModelError, match="^platforms: 'mac' is none; there are [^\n]*$"):
        model.export_fmu(swing.parent / "swing.fmu", native=True, platforms="mac, linux64")


def test_a_target_that_cannot_be_written_is_refused_before_the_export(swing: Path) -> None:
    model = cosim.Model.from_file(swing)
    for native in (True, False):
        with pytest.raises(cosim.CosimError, match=r"toml.x\.fmu.*\(.*choose another folder"):
            model.export_fmu(swing / "x.fmu", native=native)
        with pytest.raises(cosim.CosimError, match="this is a folder"):
            model.export_fmu(swing.parent, native=native)


def test_all_platforms_need_zig_and_this_platform_does_not(
    swing: Path, no_zig: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """This machine's own compiler builds for its platform only, which is the default."""
    lines = refused_export(swing, capsys, "--platforms", "all")
    others = [name for name in ("linux64", "aarch64-linux", "win64", "darwin64") if name != own_platform()]
    assert [line.partition(":")[0] for line in lines] == [f"platform {name}" for name in others]


def test_by_default_the_command_exports_a_native_fmu(
    swing: Path, no_zig: None, capsys: pytest.CaptureFixture[str]
) -> None:
    target = swing.parent / "swing.fmu"
    assert main(["export", str(swing), "-o", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = "FMI 2.0 Co-Simulation and Model Exchange, without Python"
    assert lines[1] == f"native FMU ({kinds}; {own_platform()})"
    with zipfile.ZipFile(target) as archive:
        assert [n for n in archive.namelist() if n.startswith("binaries/")] == [
            f"binaries/{own_platform()}/swing.so"
        ]


@pytest.mark.thorough
def test_without_a_compiler_the_command_exports_an_fmu_that_runs_python(
    swing: Path, no_compiler: None, capsys: pytest.CaptureFixture[str]
) -> None:
    target = swing.parent / "swing.fmu"
    assert main(["export", str(swing), "-o", str(target)]) == 0
    summary = capsys.readouterr().out.splitlines()[1]
    assert summary.startswith(
        "FMU that runs Python (FMI 2.0 Co-Simulation); not a native one: native: there is no C compiler"
    )
    assert main(["export", str(swing), "-o", str(target), "--fmi", "3"]) != 0  # Python FMUs are FMI 2.0
    assert "C compiler" in capsys.readouterr().err
    assert main(["export", str(swing), "-o", str(target), "--python", "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_the_report_names_the_method_for_which_the_fmu_runs_python(swing: Path) -> None:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    report = model.exporter(None).export(model, swing.parent / "ball.fmu")
    assert report.path == swing.parent / "ball.fmu"
    assert report.summary.startswith("FMU that runs Python")
    assert report.fallback in report.summary.splitlines()[0]
    assert "event handler give_up" in report.fallback

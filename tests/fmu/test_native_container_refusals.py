"""Co-simulations that cannot be exported without Python, options that do not apply, and shared records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from native_container_runs import export, ring
from native_tools import needs_compiler
from scenario_files import write_loop
from scenario_fmus import closed_loop

import cosim
from cosim.cli import main
from cosim_export.native.native_sources import SHELL
from cosim_fmu import CoSimulation
from cosim_fmu.container.container_arrays import records_header

pytestmark = needs_compiler
MakeFmu = Callable[..., Path]


@pytest.mark.thorough
def test_a_scenario_with_python_code_is_exported_with_python_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_loop(tmp_path)
    target = tmp_path / "loop.fmu"
    assert main(["export", str(path), "-o", str(target), "--no-experiment"]) == 0
    summary = capsys.readouterr().out
    assert "runs Python (FMI 2.0 Co-Simulation)" in summary
    assert main(["export", str(path), "-o", str(target), "--native"]) == 2
    assert "participants.controller" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "me"], "kind: is not cs"),
        (["--history", "9"], "history: applies to sources only"),
        (["--no-clocks"], "--clocks: does not apply to the FMU of a scenario"),
    ],
)
def test_options_that_do_not_apply_are_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.toml").write_text(
        '[model]\nname = "a"\n[components.c]\ntype = "measures.sinusoid"\n', "utf-8"
    )
    path = tmp_path / "loop.toml"
    path.write_text('[participants.a]\nmodel = "a.toml"\n[master]\nstep = 0.1\nuntil = 1\n', "utf-8")
    assert main(["export", str(path), "-o", str(tmp_path / "a.fmu"), *options]) == 2
    assert message in capsys.readouterr().err


def test_an_algebraic_loop_without_convergence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="one.part.out.*found.*Newton's method"):
        export(ring(-1.5), tmp_path)


def test_fmus_with_directional_derivatives_in_a_loop_are_refused(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("gain", abilities='providesDirectionalDerivative="true"')
    path = closed_loop(tmp_path, lambda kind: tmp_path / f"{kind}.fmu", None)
    with pytest.raises(cosim.ModelError, match="directional derivatives"):
        export(CoSimulation.from_file(path), tmp_path)


def test_the_header_in_c_has_the_records_of_python() -> None:
    assert (SHELL / "exchange_records.h").read_text("utf-8") == records_header()

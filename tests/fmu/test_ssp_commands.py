"""The commands `cosimulate` and `info` of SSPs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from gain_ssp import EXPERIMENT, gain_ssp
from ssp_files import bindings, component, connectors, ssd, system, wire

from cosim.cli import main

assert gain_ssp  # a fixture
WITH_VENDOR_STEP = (
    '<ssd:DefaultExperiment stopTime="1"><ssd:Annotations><ssc:Annotation type="com.opensimulationplatform">'
    '<osp:Algorithm><osp:FixedStepAlgorithm baseStepSize="0.02"/></osp:Algorithm></ssc:Annotation>'
    "</ssd:Annotations></ssd:DefaultExperiment>"
)


def test_cosimulate_runs_an_ssp_with_a_step_and_a_variant(
    gain_ssp: Callable[..., Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = gain_ssp(ssd(system(component("a", inner=bindings(("bias", 3.0)))), EXPERIMENT))
    target = tmp_path / "out.csv"
    assert main(["cosimulate", str(path), "--step", "0.1", "-o", str(target)]) == 0
    assert target.read_text("utf-8").splitlines()[-1].endswith(",3.0")
    assert main(["cosimulate", str(path), "--step", "0 s", "-q"]) == 2
    assert main(["cosimulate", str(path), "--variant", "x", "-q"]) == 2
    assert "no variant 'x'" in capsys.readouterr().err
    (tmp_path / "s.toml").write_text("", "utf-8")
    assert main(["cosimulate", str(tmp_path / "s.toml"), "--step", "1 s"]) == 2
    assert "--step: for an SSP" in capsys.readouterr().err


def test_info_lists_elements_connections_and_findings(
    gain_ssp: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    inner = system(component("b"), wire("in", "b.u"), connectors(**{"in": "input"}), "s")
    text = ssd(system(component("a") + inner, wire("s.in", "a.y")), WITH_VENDOR_STEP)
    assert main(["info", str(gain_ssp(text, Loud__ssd=ssd(system())))]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "test.ssp   SSP 1.0, top, 2 components",
        "  variants   Loud.ssd",
        "  run        stop 1 s, step 0.02 s",
        "",
        "elements",
        "  a   resources/gain.fmu, 3 connectors",
        "  s   system, 1 connector",
        "    b   resources/gain.fmu, 3 connectors",
        "",
        "connections",
        "  s.in → s.b.u",
        "  a.y → s.in",
        "",
        "noticed",
        "  SystemStructure.ssd:17: the prefix osp: is not declared; taken for "
        "http://opensimulationplatform.com/SSP/OSPAnnotations",
        "  SystemStructure.ssd:15: start and end are exchanged: the value flows from 'a.y' to 's.in'",
    ]

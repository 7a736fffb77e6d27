"""Participants without derivatives, FMUs and objects in Python, are differentiated by differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import (
    ALGORITHMS,
    STEP,
    Oscillator,
    system_of,
)
from coupling_differences import UNTIL, check

import cosim
from cosim.cli import main
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu import CoSimulation, ProcessParticipant, TimedInputs

MakeFmu = Callable[..., Path]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel along lines", "interface_newton"])
def test_an_fmu_is_differentiated_by_differences(make_fmu: MakeFmu, algorithm: str) -> None:
    """The FMU is coupled to a system, which has derivatives of its own."""
    fmu = make_fmu("mass")

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return CoSimulation(
            {"one": fmu, "two": system_of("two", Oscillator())},
            [
                ("one.force", "two.m.force"),
                {"from": "two.m.x", "to": "one.x_other", "convert": False},
                {"from": "two.m.v", "to": "one.v_other", "convert": False},
            ],
            algorithm.split()[0],
            STEP,
            options=ALGORITHMS[algorithm],
            tolerance=1e-12,
            starts={"two.m.x": 0.5, **starts},
        )

    starts = {"one.k": 2.0, "one.kc": 0.7, "one.cc": 0.2, "two.m.k": 3.0}
    result = check(make, starts, ["one.x", "one.force", "two.m.x"], 1e-9)
    (finding,) = result.findings
    assert finding.kind == "derivatives by differences" and "one" in str(finding)


def test_an_fmu_without_saved_states_is_differentiated_by_further_instances(make_fmu: MakeFmu) -> None:
    """An algorithm that repeats exchanges refuses such an FMU."""
    fmu = make_fmu("mass", abilities='canHandleVariableCommunicationStepSize="true"')

    def make(algorithm: str) -> CoSimulation:
        connections = ["one.x -> two.x_other", "two.x -> one.x_other"]
        return CoSimulation({"one": fmu, "two": fmu}, connections, algorithm, STEP, starts={"two.kc": 0.5})

    result = make("jacobi").simulate(STEP, derivatives=["one.k"])
    assert result.derivative("one.x", "one.k")[0] == 0.0 and result.derivative("one.x", "one.k")[1] < 0.0
    with pytest.raises(cosim.CosimError, match="one"):
        make("interface_newton").simulate(STEP, derivatives=["one.k"])


@pytest.mark.thorough
def test_an_fmu_in_a_process_has_the_same_derivatives(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass")

    def derivative(one: Any) -> list[float]:
        two = system_of("two", Oscillator())
        link = {"from": "one.x", "to": "two.m.force", "convert": False}
        loop = CoSimulation({"one": one, "two": two}, [link], "jacobi", STEP, tolerance=1e-9)
        result = loop.simulate(4 * STEP, record=["two.m.x"], derivatives=["one.k"])
        values: list[float] = result.derivative("two.m.x", "one.k").tolist()
        return values

    values = derivative(ProcessParticipant(fmu))
    assert values == derivative(fmu)
    assert values[-1] != 0.0


class CubeSum(cosim.Participant):
    """A participant in Python that sums the cube of its input by Euler's method: y' = gain u^3."""

    def describe(self) -> ParticipantDescription:
        variables = {
            name: ParticipantVariable(name, causality, "real", "1", start)
            for name, causality, start in (
                ("gain", "parameter", 2.0),
                ("u", "input", 0.0),
                ("y", "output", None),
            )
        }
        return ParticipantDescription("python", variables, {"y": frozenset()}, can_restore=False)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        self.gain, self.u, self.y = float(values.get("gain", 2.0)), 0.0, 0.0

    def set(self, names: Sequence[str], values: Any) -> None:
        (self.u,) = values

    def step(self, time: float, size: float) -> float:
        self.y += size * self.gain * self.u**3
        return time + size

    def get(self, names: Sequence[str]) -> Any:
        return [self.y for _ in names]

    def close(self) -> None:
        pass


def test_an_object_in_python_is_differentiated_by_differences() -> None:
    """One sums the cubes of an oscillator's position; one whose input is a series has the derivative 0."""
    source = TimedInputs({"u": ([0.0, 1.0], [1.0, 3.0])})
    loop = CoSimulation(
        {"one": system_of("one", Oscillator()), "sum": CubeSum(), "values": source, "other": CubeSum()},
        [{"from": "one.m.x", "to": "sum.u", "convert": False}, "values.u -> other.u"],
        "jacobi",
        STEP,
        tolerance=1e-10,
    )
    result = loop.simulate(UNTIL, record=["one.m.x", "sum.y", "other.y"], derivatives=["one.m.k", "sum.gain"])
    x, by_k = result["one.m.x"], result.derivative("one.m.x", "one.m.k")
    steps = np.diff(result.time)
    assert result.derivative("sum.y", "sum.gain") == pytest.approx(result["sum.y"] / 2.0, rel=1e-9)
    expected = np.concatenate([[0.0], np.cumsum(steps * 6.0 * x[:-1] ** 2 * by_k[:-1])])
    assert result.derivative("sum.y", "one.m.k") == pytest.approx(expected, abs=1e-9)
    for by in ("one.m.k", "sum.gain"):
        assert set(result.derivative("other.y", by).tolist()) == {0.0}


class SineOfTinyGain(CubeSum):
    """A participant with a parameter whose typical size is 1e-6: y' = sin(gain / 1e-6)."""

    def __init__(self, nominal: float | None) -> None:
        self.nominal = nominal

    def describe(self) -> ParticipantDescription:
        gain = ParticipantVariable("gain", "parameter", start=0.0, nominal=self.nominal)
        variables = {"gain": gain, "y": ParticipantVariable("y", "output")}
        return ParticipantDescription("python", variables, {"y": frozenset()}, can_restore=False)

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        self.gain, self.y = float(values.get("gain", 0.0)), 0.0

    def step(self, time: float, size: float) -> float:
        self.y += size * math.sin(self.gain / 1e-6)
        return time + size


@pytest.mark.parametrize(
    ("nominal", "gain", "is_exact"), [(1e-6, 0.0, True), (None, 0.0, False), (1e9, 2e-6, True)]
)
def test_a_parameter_of_zero_varies_by_its_nominal_value(
    nominal: float | None, gain: float, is_exact: bool
) -> None:
    """A value that is not 0 varies by its own size; without either scale the finding warns."""
    loop = CoSimulation({"tiny": SineOfTinyGain(nominal)}, [], "jacobi", STEP, starts={"tiny.gain": gain})
    result = loop.simulate(UNTIL, record=["tiny.y"], derivatives=["tiny.gain"])
    expected = 1e6 * math.cos(gain / 1e-6) * result.time
    (finding,) = [f for f in result.findings if f.kind == "derivatives by differences"]
    if is_exact:
        assert result.derivative("tiny.y", "tiny.gain") == pytest.approx(expected, rel=1e-9)
        assert "relative error below" in finding.message
    else:
        assert result.derivative("tiny.y", "tiny.gain")[-1] != pytest.approx(expected[-1], rel=0.1)
        assert "no digit is certain" in finding.message


def test_the_command_writes_derivatives(
    tmp_path: Path, make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.toml").write_text(
        'connections = ["one.x -> two.x_other", "two.x -> one.x_other"]\n'
        '[participants.one]\nfmu = "mass.fmu"\n[participants.two]\nfmu = "mass.fmu"\n'
        'parameters = { kc = 0.5 }\n[master]\nalgorithm = "jacobi"\nstep = 0.05\nuntil = 0.5\n'
    )
    assert main(["cosimulate", "loop.toml", "-q", "--derivatives", "two.kc, one.k"]) == 0
    written = cosim.read_result(tmp_path / "loop.csv")
    loop = CoSimulation.from_file(tmp_path / "loop.toml")
    result = loop.simulate(derivatives=["two.kc", "one.k"])
    for by in ("two.kc", "one.k"):
        derivative = written.derivative("two.x", by)
        assert derivative.tolist() == result.derivative("two.x", by).tolist()
        assert abs(derivative[-1]) > 1e-4
    assert main(["cosimulate", "loop.toml", "-q", "--derivatives", "two.weight"]) == 2
    assert "two.weight" in capsys.readouterr().err

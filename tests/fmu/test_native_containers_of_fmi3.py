"""Native FMUs of co-simulations of FMI 3.0: event mode, early returns, inputs that change within steps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ball_and_clockwork import CROSSED_WIRES, Ball, Clockwork, model_of
from clocks3_fmu import make_clocks3
from kinds3_fmu import make_kinds3
from native_container_runs import ALGORITHMS, ball_and_clockwork, check_bits, export, record_all, running
from native_tools import COMPILER, needs_compiler

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.native_container import NativeContainer

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def fmi3_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the ball and the clockwork as FMUs of FMI 3.0, which have event mode."""
    folder = tmp_path_factory.mktemp("fmi3")
    options = {"native": True, "fmi": 3, "kind": "cs", "compiler": COMPILER}
    model_of(Ball, "ball").export_fmu(folder / "ball.fmu", outputs=["part.height"], **options)
    model_of(Clockwork, "clock").export_fmu(folder / "clock.fmu", **options)
    return folder


def coupled_fmus(folder: Path, algorithm: str) -> CoSimulation:
    """The FMUs of the folder, coupled as in `ball_and_clockwork`."""
    name, options = algorithm.partition(" ")[0], ALGORITHMS.get(algorithm, {})
    parts = {name: str(folder / f"{name}.fmu") for name in ("ball", "clock")}
    return record_all(CoSimulation(parts, CROSSED_WIRES, name, 1e-2, options=options))


@pytest.mark.thorough
def test_events_with_extrapolated_inputs_in_python(fmi3_folder: Path) -> None:
    """Python sets the slopes of the inputs, and participants still stop at their events."""
    result = coupled_fmus(fmi3_folder, "gauss_seidel").simulate(0.5, inside="nothing")
    assert {event.time for event in result.events} >= {0.05, 0.13, 0.39}
    assert (np.diff(result["clock.part.z"]) != 0.0).all()
    expected = ball_and_clockwork("gauss_seidel").simulate(0.5, inside="nothing")
    assert result["clock.part.z"] == pytest.approx(expected["clock.part.z"], abs=0.04)


def test_the_bits_of_fmus_of_fmi_3(fmi3_folder: Path, tmp_path: Path) -> None:
    fmu = export(coupled_fmus(fmi3_folder, "gauss_seidel"), tmp_path)
    assert check_bits(coupled_fmus(fmi3_folder, "gauss_seidel"), fmu, 1.5) > 8


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["jacobi", "adaptive", "waveform_iteration"])
def test_the_bits_of_fmus_of_fmi_3_with_other_algorithms(
    algorithm: str, fmi3_folder: Path, tmp_path: Path
) -> None:
    fmu = export(coupled_fmus(fmi3_folder, algorithm), tmp_path)
    assert check_bits(coupled_fmus(fmi3_folder, algorithm), fmu, 1.5) > 8


def test_rollback_over_an_event(fmi3_folder: Path, tmp_path: Path) -> None:
    fmu = export(coupled_fmus(fmi3_folder, "jacobi"), tmp_path)
    with running(fmu) as instance:
        time = instance.step(0.0, 0.11)
        saved, ends = instance.slave.getFMUstate(), set[float]()
        for _ in range(2):
            instance.step(instance.step(time, 0.05), 0.3)
            ends.add(instance["clock.part.z"])
            instance.slave.setFMUstate(saved)
        assert len(ends) == 1
        run = coupled_fmus(fmi3_folder, "jacobi").led_run()
        run.initialize()
        for target, size in ((0.11, 0.11), (0.16, 0.05), (0.46, 0.3)):
            run.advance(target, size)
        assert ends == {run.read("clock", ["part.z"])[0]}
        run.close()


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "waveform_iteration"])
def test_the_bits_of_all_types(algorithm: str, tmp_path: Path, compiled: Callable[..., Path]) -> None:
    make_kinds3(tmp_path, compiled)
    parts = {name: str(tmp_path / "kinds3.fmu") for name in ("one", "two")}
    kinds = ("float64", "float32", "int8", "uint16", "int64", "boolean")
    wires = [(f"one.{kind}_out", f"two.{kind}_in") for kind in kinds]
    wires += [(f"two.{kind}_out", f"one.{kind}_in") for kind in ("float64", "int64", "int8")]
    options = {"starts": {"one.float64_in": 0.1, "one.int8_in": -7, "one.boolean_in": True}}

    def loop() -> CoSimulation:
        return record_all(CoSimulation(parts, wires, algorithm, 0.1, **options))

    assert check_bits(loop(), export(loop(), tmp_path), 2.0) >= 8


def test_discrete_inputs_have_the_order_of_the_settings(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """The order of a set of text differs between processes, and so would the bytes of the export."""
    make_kinds3(tmp_path, compiled)
    loop = record_all(CoSimulation({"one": str(tmp_path / "kinds3.fmu")}, [], "jacobi", 0.1))
    interface, _ = container_interface(loop, tmp_path / "whole.toml")
    text = NativeContainer(loop, interface, 3, has_library=False).generated["model.c"]
    settings, discretes = (
        re.search(rf"{name}\[\] = {{(.*?)}};", text, re.DOTALL) for name in ("settings", "discretes_0")
    )
    assert settings is not None and discretes is not None
    references = re.findall(r"{\d+, (\d+), ", settings[1])
    discrete_references = re.findall(r"\d+", discretes[1])
    assert len(discrete_references) > 8
    assert discrete_references == [r for r in references if r in discrete_references]


def test_clocks_with_intervals_need_python(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    path = make_clocks3(tmp_path, compiled)
    with pytest.raises(cosim.ModelError, match="clocks of an interval, which Python lets tick"):
        export(CoSimulation({"a": str(path)}, [], "jacobi", 0.1), tmp_path)

"""Native FMUs of co-simulations of FMUs: these are in the resources, and are loaded from there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fmpy
import pytest
from controlled_spring import plant
from export_tools import unpack
from native_container_runs import check_bits, export, record_all, running
from native_tools import WARNINGS, needs_compiler
from scenario_fmus import MASSES, MASTERS, SPRING, masses, scenario

from cosim.cli import main
from cosim_export.native.native_sources import SHELL
from cosim_fmu import CoSimulation, SystemParticipant

pytestmark = needs_compiler
MakeFmu = Callable[..., Path]


def export_scenario(path: Path, *options: str) -> Path:
    """``whole.fmu`` of a scenario, without Python."""
    fmu = path.parent / "whole.fmu"
    assert main(["export", str(path), "-o", str(fmu), "-q", "--native", *options]) == 0
    return fmu


def export_masses(folder: Path, make_fmu: MakeFmu, master: str) -> Path:
    """``whole.fmu`` of ``loop.toml``, a scenario of two FMUs ``mass``."""
    return export_scenario(masses(folder, make_fmu, master))


@pytest.mark.thorough
@pytest.mark.parametrize("master", MASTERS)
def test_the_bits_of_two_fmus(master: str, tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = export_masses(tmp_path, make_fmu, master)
    loop = CoSimulation.from_file(tmp_path / "loop.toml")
    assert check_bits(loop, fmu, 0.3) >= 5


def test_an_fmu_and_a_system(tmp_path: Path, make_fmu: MakeFmu) -> None:
    wires = [("body.body.position", "fmu.x_other"), ("fmu.force", "body.body.force")]
    parts = {"body": SystemParticipant(plant()), "fmu": str(make_fmu("mass"))}
    starts = {"fmu.kc": 0.7, "fmu.v": -0.25, "body.body.position": 0.5}
    loop = record_all(CoSimulation(parts, wires, "interface_newton", 1e-2, starts=starts))
    fmu = export(loop, tmp_path)
    loop = CoSimulation(parts, wires, "interface_newton", 1e-2, starts=starts)
    assert check_bits(record_all(loop), fmu, 0.2) == 7
    description = fmpy.read_model_description(str(fmu)).coSimulation
    assert description.canGetAndSetFMUstate and not description.canSerializeFMUstate

    # a parameter that the host sets
    with running(fmu, fmu__kc=0.9) as instance:
        run = CoSimulation(parts, wires, "interface_newton", 1e-2, starts={**starts, "fmu.kc": 0.9}).led_run()
        run.initialize()
        run.advance(0.053, 0.053)
        time = instance.step(0.0, 0.053)
        assert instance["fmu.x"] == run.read("fmu", ["x"])[0]
        run.close()

        # rollback without serialization
        saved, before = instance.slave.getFMUstate(), instance["fmu.x"]
        ends = set[float]()
        for _ in range(3):
            ends.add(instance.step(time, 0.1) and instance["fmu.x"])
            instance.slave.setFMUstate(saved)
            assert instance["fmu.x"] == before
        assert len(ends) == 1
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.slave.serializeFMUstate(saved)
        assert instance.log[-1].endswith("states of the FMUs inside cannot be serialized")
        instance.slave.freeFMUstate(saved)
        instance.slave.terminate()
        assert instance["fmu.x"] == before


def test_integers_and_booleans_of_fmus(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("types")
    parts = dict.fromkeys(("one", "two"), 'fmu = "types.fmu"')
    kinds = ("real", "integer", "boolean")
    links = [f"one.{kind}_out -> two.{kind}_in" for kind in kinds]
    starts = {"one.real_in": 1.5, "one.integer_in": 7, "one.boolean_in": True}
    signals = json.dumps([f"{name}.{kind}_out" for name in parts for kind in kinds])
    path = scenario(tmp_path, parts, links, starts=starts, more=f"[output]\nsignals = {signals}")
    export_scenario(path)
    loop = CoSimulation.from_file(path)
    assert check_bits(loop, tmp_path / "whole.fmu", 0.3) == 5  # the boolean of one is constant
    with running(tmp_path / "whole.fmu") as instance:
        instance.step(0.0, 0.02)
        assert instance["two.real_out"] == loop.simulate(0.02)["two.real_out"][-1]
        read = instance.slave.getInteger([instance.references["two.integer_out"]])[0]
        assert read == loop.simulate(0.02)["two.integer_out"][-1] != 0


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("starts", "status", "message"),
    [
        ({"part.fail_at": 0.05, "part.fail_status": 3}, 3, "part: "),
        ({"part.fail_at": 0.05, "part.fail_status": 2}, 3, "its step was discarded"),
        ({"part.fail_at": 0.05, "part.fail_status": 2, "part.asks_to_stop": True}, 2, ""),
    ],
)
def test_failed_and_discarded_steps(
    starts: dict[str, Any], status: int, message: str, tmp_path: Path, make_fmu: MakeFmu
) -> None:
    make_fmu("failing")
    path = scenario(tmp_path, {"part": 'fmu = "failing.fmu"'}, [], starts=starts)
    export_scenario(path, "--no-experiment")
    with running(tmp_path / "whole.fmu") as instance:
        instance.step(0.0, 0.03)
        with pytest.raises(fmpy.fmi1.FMICallException) as caught:
            instance.slave.doStep(0.03, 0.1)
        assert caught.value.status == status
        assert (message in instance.log[-1]) if message else not instance.log


def test_a_partly_discarded_step_is_completed(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("failing", macros=("FAIL_SIZE=0.008",))
    starts = {"part.fail_at": 0.05, "part.fail_status": 2, "part.reached": 0.053}

    def loop() -> CoSimulation:
        return record_all(
            CoSimulation({"part": str(tmp_path / "failing.fmu")}, [], "jacobi", 0.01, starts=starts)
        )

    fmu, run = export(loop(), tmp_path), loop().led_run()
    run.initialize()
    with running(fmu) as instance:
        run.advance(0.06, 0.06)
        instance.step(0.0, 0.06)
        assert instance["part.y"] == run.read("part", ["y"])[0]
        assert instance["part.size"] == run.read("part", ["size"])[0] < 0.0075  # the rest of the step
    run.close()


@pytest.mark.thorough
def test_an_ssp_is_exported(tmp_path: Path, make_fmu: MakeFmu) -> None:
    CoSimulation.from_file(masses(tmp_path, make_fmu, "")).to_ssp(tmp_path / "loop.ssp", 0.3)
    fmu = tmp_path / "whole.fmu"
    assert main(["export", str(tmp_path / "loop.ssp"), "-o", str(fmu), "-q", "--native"]) == 0
    assert check_bits(CoSimulation.from_ssp(tmp_path / "loop.ssp"), fmu, 0.3) == 5


@pytest.mark.thorough
def test_a_native_container_in_a_native_container(tmp_path: Path, make_fmu: MakeFmu) -> None:
    export_masses(tmp_path, make_fmu, 'algorithm = "interface_newton"').rename(tmp_path / "two.fmu")
    parts = {"two": 'fmu = "two.fmu"', "third": 'fmu = "mass.fmu"'}
    master = 'algorithm = "waveform_iteration"\nstep = 0.01\nuntil = 0.3'
    path = scenario(tmp_path, parts, ["two.right.x -> third.x_other"], master, {"third.kc": 3.0})
    export_scenario(path)
    # the coupling error of the inner container is an output of the outer one, too
    assert check_bits(CoSimulation.from_file(path), tmp_path / "whole.fmu", 0.3) == 10


@pytest.mark.thorough
@pytest.mark.parametrize("target", ["x86_64-windows-gnu", "aarch64-macos", "aarch64-linux-gnu.2.17"])
def test_the_code_that_loads_libraries_compiles_for_all_platforms(target: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, *WARNINGS, "-c"]
    command += ["-o", str(tmp_path / "foreign_library.o"), str(SHELL / "foreign_library.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]


def test_an_instance_without_the_library_of_an_fmu_is_refused(tmp_path: Path, make_fmu: MakeFmu) -> None:
    fmu = export_masses(tmp_path, make_fmu, 'algorithm = "jacobi"')
    with running(fmu):
        pass
    folder = Path(unpack(fmu, fmu.stat().st_mtime_ns))
    (library,) = (folder / "resources" / "members" / "1" / "binaries").rglob("mass.*")
    library.unlink()
    with pytest.raises(Exception, match="instantiate"), running(fmu):
        pass


def test_participants_with_longer_steps(tmp_path: Path, make_fmu: MakeFmu) -> None:
    make_fmu("mass")
    parts = {"left": 'fmu = "mass.fmu"', "right": 'fmu = "mass.fmu"\nstep = 0.03'}
    path = scenario(tmp_path, parts, SPRING, starts=MASSES)
    fmu = tmp_path / "whole.fmu"
    export_scenario(path, "--no-experiment")
    assert check_bits(CoSimulation.from_file(path), fmu, 0.3) == 5
    with running(fmu) as instance:
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.step(0.0, 0.005)
        assert "take multiples" in instance.log[-1]
        assert instance.step(0.0, 0.02) == 0.02  # the refused step has changed nothing


def test_an_fmu_cannot_be_exported_as_sources(
    tmp_path: Path, make_fmu: MakeFmu, capsys: pytest.CaptureFixture[str]
) -> None:
    path = masses(tmp_path, make_fmu, 'algorithm = "jacobi"')
    assert main(["export", str(path), "-o", str(tmp_path / "a.fmu"), "--sources"]) == 2
    assert "participants.left: an FMU" in capsys.readouterr().err

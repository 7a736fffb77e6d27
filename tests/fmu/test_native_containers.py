"""A scenario of systems as an FMU without Python: the bits of the co-simulation, as C and as machine code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from clocks3_fmu import make_clocks3
from compiled_sources import CLEAN, compile_sources
from export_tools import unpack
from kinds3_fmu import make_kinds3
from native_tools import COMPILER, WARNINGS, needs_compiler
from scenario_files import write_loop
from scenario_fmus import MASSES, MASTERS, SPRING, closed_loop, masses, scenario
from test_systems_in_the_loop import CROSSED, LAW_WIRES, METHOD, Fragile, model

import cosim
from cosim.cli import main
from cosim_export.native.native_exporter import NativeFmuOptions
from cosim_export.native.native_sources import SHELL
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_fmu.container.container_arrays import (
    records_header,
)
from cosim_fmu.container.container_interface import container_interface
from cosim_fmu.container.native_container import NativeContainer
from cosim_fmu.container.write_container import write_native_container
from cosim_fmu.scenario.scenario_changes import make_changes
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.run_settings import RunOptions
from cosim_master.participants.timed_changes import Changes
from cosim_master.participants.timed_inputs import TimedInputs
from cosim_master.trust.assess_coupling import EXACT_INPUTS
from cosim_master.trust.verdict import VERDICTS

sys.path.append(str(Path(__file__).parents[1] / "lowering"))
from event_parts import Ball, Clockwork  # noqa: E402
from test_master_system import controller, plant  # noqa: E402

pytestmark = needs_compiler
MakeFmu = Callable[..., Path]
ALGORITHMS: dict[str, dict[str, Any]] = {
    "jacobi": {},
    "gauss_seidel": {"extrapolation": 1},
    "jacobi along parabolas": {"extrapolation": 2},
    "adaptive": {"tolerance": 1e-3},
    "interface_newton": {},
    "waveform_iteration": {},
}


class Through(cosim.Component):
    """What goes in comes out at once."""

    seen = cosim.input()
    gain = cosim.parameter(default=0.5)
    slow = cosim.auxiliary_state()
    out = cosim.output()

    @cosim.kernel
    def pass_on(seen, gain, slow, slow_dot, out):
        out[0] = gain * seen + 1.0 + slow
        slow_dot[0] = 1.0 - slow


def ring(gain: float) -> CoSimulation:
    """Two of them in a closed loop, iterated in each step."""
    parts = {name: SystemParticipant(model(Through)) for name in ("one", "two")}
    wires = [("one.part.out", "two.part.seen"), ("two.part.out", "one.part.seen")]
    starts = {"one.part.gain": gain, "two.part.gain": gain}
    return recorded(CoSimulation(parts, wires, "gauss_seidel", 0.1, starts=starts))


def crossed(algorithm: str = "gauss_seidel", **more: Any) -> CoSimulation:
    """A bouncing ball that remembers, and events of every kind; each feeds the other."""
    made = model(Ball)
    made.add("measures.delay", "late", source="part.speed", delay=0.15)
    parts = {
        "ball": SystemParticipant(made, METHOD, accuracy=1e-6, maximum_step=5e-3),
        "clock": SystemParticipant(model(Clockwork), METHOD),
    }
    name, options = algorithm.partition(" ")[0], ALGORITHMS.get(algorithm, {})
    return recorded(CoSimulation(parts, CROSSED, name, 1e-2, options=options, **more))


def law_parts() -> tuple[dict[str, Any], list[Any]]:
    """A plant, and a controller without memory; their connections."""
    return {"plant": SystemParticipant(plant()), "law": SystemParticipant(controller())}, LAW_WIRES


def law() -> CoSimulation:
    return recorded(CoSimulation(*law_parts(), "gauss_seidel", 0.1))


def recorded(loop: CoSimulation) -> CoSimulation:
    """With more variables than outputs."""
    names = [
        f"{n}.{v}" for n, d in loop.descriptions.items() for v, x in d.variables.items() if x.type != "string"
    ]
    loop._set(run_options=RunOptions(record=[name for name in names if ".late." not in name]))
    return loop


def exported(loop: CoSimulation, folder: Path, **options: Any) -> Path:
    interface, _ = container_interface(loop, folder / "whole.toml")
    target = folder / "whole.fmu"
    given = options if "sources" in options else {"compiler": COMPILER, **options}
    write_native_container(loop, interface, target, NativeFmuOptions.of(given))
    return target


def same_bits(loop: CoSimulation, fmu: Path, until: float) -> int:
    """What the FMU shows in fmpy are the bits of the co-simulation; the number of values that change."""
    whole = loop.simulate(until, inside="nothing", record=loop.run_options.record)
    description = fmpy.read_model_description(str(fmu), validate=True)
    names = [
        v.name
        for v in description.modelVariables
        if v.causality in ("output", "local") and not v.name.startswith("coupling.")
    ]
    given = {"stop_time": until, "output_interval": loop.step, "output": names}
    found = fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **given)
    assert len(found) == round(until / loop.step) + 1
    for name in names:
        assert found[name].astype(float).tolist() == whole[name].astype(float).tolist(), name
    return sum(len(set(found[name])) > 1 for name in names)


@contextmanager
def running(fmu: Path, start: float = 0.0, **starts: float) -> Iterator[Instance]:
    """An instance that has been initialized."""
    description = fmpy.read_model_description(str(fmu))
    log: list[str] = []
    slave = fmpy.fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=str(unpack(fmu, fmu.stat().st_mtime_ns)),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="whole",
    )
    callbacks = fmpy.fmi2.fmi2CallbackFunctions()
    callbacks.logger = fmpy.fmi2.fmi2CallbackLoggerTYPE(lambda *words: log.append(words[4].decode()))
    callbacks.allocateMemory = fmpy.fmi2.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
    callbacks.freeMemory = fmpy.fmi2.fmi2CallbackFreeMemoryTYPE(fmpy.free)
    slave.instantiate(callbacks=callbacks)
    instance = Instance(slave, {v.name: v.valueReference for v in description.modelVariables}, log)
    try:
        slave.setupExperiment(startTime=start)
        for name, value in starts.items():
            instance[name] = value
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        yield instance
    finally:
        slave.freeInstance()


class Instance:
    """An FMU with its real variables by name, dots as two underscores."""

    def __init__(self, slave: Any, references: Mapping[str, int], log: list[str]) -> None:
        self.slave, self.references, self.log = slave, references, log

    def __setitem__(self, name: str, value: float) -> None:
        self.slave.setReal([self.references[name.replace("__", ".")]], [value])

    def __getitem__(self, name: str) -> float:
        value: float = self.slave.getReal([self.references[name]])[0]
        return value

    def step(self, time: float, size: float) -> float:
        self.slave.doStep(time, size)
        return time + size


class TestTheBits:
    """Against ``cosim cosimulate``."""

    def test_of_a_library(self, whole: Path) -> None:
        assert same_bits(crossed("interface_newton"), whole, 0.5) > 8

    @pytest.mark.thorough
    @pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "interface_newton"])
    def test_of(self, algorithm: str, tmp_path: Path) -> None:
        assert same_bits(crossed(algorithm), exported(crossed(algorithm), tmp_path), 1.5) > 8

    @pytest.mark.thorough
    @pytest.mark.parametrize("algorithm", ["jacobi along parabolas", "waveform_iteration"])
    def test_of_fmi_3(self, algorithm: str, tmp_path: Path) -> None:
        assert same_bits(crossed(algorithm), exported(crossed(algorithm), tmp_path, fmi=3), 0.5) > 8

    @pytest.mark.thorough
    @pytest.mark.parametrize(("algorithm", "fmi"), [("gauss_seidel", 2), ("interface_newton", 3)])
    def test_of_sources(self, algorithm: str, fmi: int, tmp_path: Path) -> None:
        made = exported(crossed(algorithm), tmp_path, sources=True, fmi=fmi)
        assert same_bits(crossed(algorithm), compile_sources(made, *CLEAN, "-O3"), 0.5) > 8

    @pytest.mark.thorough
    def test_of_an_algorithm_without_memory(self, controlled: Path) -> None:
        assert same_bits(law(), controlled, 0.3) == 5

    @pytest.mark.thorough
    def test_of_a_closed_loop(self, tmp_path: Path) -> None:
        assert len(ring(-0.7).loops) == 1
        fmu = exported(ring(-0.7), tmp_path)
        assert same_bits(ring(-0.7), fmu, 0.5) == 4
        with running(fmu) as found:
            found.slave.reset()
            found.slave.setupExperiment(startTime=0.0)
            found["one.part.gain"] = -5.0  # which substitution does not settle
            found.slave.enterInitializationMode()
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.slave.exitInitializationMode()
            assert "exchange did" in found.log[-1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(crossed("interface_newton"), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(law(), tmp_path_factory.mktemp("controlled"))


def test_the_same_bytes_again(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    two = [exported(crossed("interface_newton"), tmp_path).read_bytes() for _ in range(2)]
    assert two[0] == two[1]


class TestTheHost:
    """What a host may do with it, against a run that Python leads."""

    def test_steps_of_any_length(self, whole: Path) -> None:
        run = crossed("interface_newton").led_run()
        run.initialize()
        with running(whole) as found:
            time = 0.0
            for size in (0.01, 0.07, 0.013, 0.0005, 0.0065, 0.01, 0.11, 1e-3, 0.3):
                run.advance(time + size, size)
                time = found.step(time, size)
                assert found["ball.part.height"] == run.read("ball", ["part.height"])[0]
                assert found["clock.part.z"] == run.read("clock", ["part.z"])[0]
        run.close()

    @pytest.mark.parametrize("sizes", [(0.2, 0.05), (0.213, 0.0122)])
    def test_rollback(self, whole: Path, sizes: tuple[float, float]) -> None:
        with running(whole) as found, running(whole) as other:
            time = found.step(0.0, sizes[0])
            saved = found.slave.getFMUstate()
            data = found.slave.serializeFMUstate(saved)
            before, ends = found["ball.late"], set[float]()
            for _ in range(2):
                ends.add(found.step(found.step(time, sizes[1]), 0.1) and found["ball.part.height"])
                found.slave.setFMUstate(saved)
                assert found["ball.late"] == before
                assert found.slave.serializeFMUstate(found.slave.getFMUstate()) == data
            other.slave.setFMUstate(other.slave.deSerializeFMUstate(data))
            ends.add(other.step(other.step(time, sizes[1]), 0.1) and other["ball.part.height"])
            assert len(ends) == 1

    def test_a_start_value_of_the_host(self, whole: Path) -> None:
        loop = crossed("interface_newton", starts={"ball.part.restitution": 0.5})
        with running(whole, ball__part__restitution=0.5) as found:
            found.step(0.0, 0.7)
            assert found["ball.part.height"] == loop.simulate(0.7)["ball.part.height"][-1]
            assert found["ball.part.restitution"] == 0.5

    def test_a_tolerance_is_for_participants_without_accuracy(self, controlled: Path) -> None:
        places = []
        for tolerance in (1e-3, 1e-9):
            given = {"relative_tolerance": tolerance, "output": ["plant.body.position"]}
            found = fmpy.simulate_fmu(str(controlled), stop_time=0.3, output_interval=0.1, **given)
            loop = CoSimulation(*law_parts(), "gauss_seidel", 0.1, tolerance=tolerance)
            places.append(found["plant.body.position"].tolist())
            assert (
                places[-1]
                == loop.simulate(0.3, record=["plant.body.position"])["plant.body.position"].tolist()
            )
        assert places[0] != places[1]

    def test_an_input_of_the_host_is_held(self, tmp_path: Path) -> None:
        parts, wires = law_parts()
        loop = recorded(CoSimulation(parts, wires[1:], "jacobi", 1e-2))
        fmu, run = exported(loop, tmp_path), loop.led_run()
        run.initialize()
        with running(fmu) as found:
            for i, seen in enumerate((0.25, -1.5, -1.5)):
                found["law.law.seen"] = seen
                assert found["law.law.push"] == -3.0 * seen  # at once, before the step
                run.write({"law": {"law.seen": seen}})
                run.advance(0.1 * (i + 1), 0.1)
                found.step(0.1 * i, 0.1)
                assert found["law.law.push"] == run.read("law", ["law.push"])[0]
                assert found["plant.body.position"] == run.read("plant", ["body.position"])[0]
        run.close()

    def test_a_request_to_stop(self, tmp_path: Path) -> None:
        loop = crossed(starts={"clock.part.stop_at": 0.123})
        wanted = loop.simulate(0.5, inside="nothing")
        assert wanted.time[-1] == 0.13
        with running(exported(loop, tmp_path)) as found:
            found.step(0.0, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException) as caught:
                found.slave.doStep(0.1, 0.1)
            assert caught.value.status == 2
            assert found["ball.part.height"] == wanted["ball.part.height"][-1]
            assert found.slave.getRealStatus(fmpy.fmi2.fmi2LastSuccessfulTime) == 0.13

    def test_a_failure_names_the_participant_and_the_reason(self, tmp_path: Path) -> None:
        parts = {"weak": SystemParticipant(model(Fragile), METHOD)}
        starts = {"weak.part.rate": -0.05}
        loop = recorded(CoSimulation(parts, [], "jacobi", 1e-2, starts=starts))
        with running(exported(loop, tmp_path)) as found:
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.0, 2.0)
            (text,) = found.log
            assert text.startswith("fmi2DoStep: weak: step: t = 0.42") and "not a number" in text
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.0, 2.0)
            found.slave.reset()
            found.slave.setupExperiment(startTime=0.0)
            found["weak.part.rate"] = 0.0
            found.slave.enterInitializationMode()
            found.slave.exitInitializationMode()
            found.step(0.0, 2.0)
            assert found["weak.part.level"] == 0.1

    def test_another_start(self, whole: Path) -> None:
        run = crossed("interface_newton").led_run(1.25)
        run.initialize()
        with running(whole, start=1.25) as found:
            time = 1.25
            for size in (0.01, 0.2, 0.013):
                run.advance(time + size, size)
                time = found.step(time, size)
                assert found["ball.part.height"] == run.read("ball", ["part.height"])[0]
                assert found["clock.part.z"] == run.read("clock", ["part.z"])[0]
        run.close()

    def test_a_start_that_no_points_are_counted_from(self, whole: Path) -> None:
        with pytest.raises(fmpy.fmi1.FMICallException), running(whole, start=1e300):
            pass


def of_masses(folder: Path, make_fmu: MakeFmu, master: str) -> Path:
    """A scenario of two FMUs as a native one, with the scenario."""
    path = masses(folder, make_fmu, master)
    assert main(["export", str(path), "-o", str(folder / "whole.fmu"), "-q", "--native"]) == 0
    return folder / "whole.fmu"


class TestFmusOfOthers:
    """They travel in the resources, and are loaded from there."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("master", MASTERS)
    def test_the_bits(self, master: str, tmp_path: Path, make_fmu: MakeFmu) -> None:
        fmu = of_masses(tmp_path, make_fmu, master)
        loop = CoSimulation.from_file(tmp_path / "loop.toml")
        assert same_bits(loop, fmu, 0.3) >= 5

    def test_beside_a_system(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        wires = [("body.body.position", "fmu.x_other"), ("fmu.force", "body.body.force")]
        parts = {"body": SystemParticipant(plant()), "fmu": str(make_fmu("mass"))}
        starts = {"fmu.kc": 0.7, "fmu.v": -0.25, "body.body.position": 0.5}
        loop = recorded(CoSimulation(parts, wires, "interface_newton", 1e-2, starts=starts))
        fmu = exported(loop, tmp_path)
        loop = CoSimulation(parts, wires, "interface_newton", 1e-2, starts=starts)
        assert same_bits(recorded(loop), fmu, 0.2) == 7
        description = fmpy.read_model_description(str(fmu)).coSimulation
        assert description.canGetAndSetFMUstate and not description.canSerializeFMUstate
        with running(fmu, fmu__kc=0.9) as found:
            run = CoSimulation(
                parts, wires, "interface_newton", 1e-2, starts={**starts, "fmu.kc": 0.9}
            ).led_run()
            run.initialize()
            run.advance(0.053, 0.053)
            time = found.step(0.0, 0.053)
            assert found["fmu.x"] == run.read("fmu", ["x"])[0]
            run.close()
            saved, before = found.slave.getFMUstate(), found["fmu.x"]
            ends = set[float]()
            for _ in range(3):
                ends.add(found.step(time, 0.1) and found["fmu.x"])
                found.slave.setFMUstate(saved)
                assert found["fmu.x"] == before
            assert len(ends) == 1
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.slave.serializeFMUstate(saved)
            assert found.log[-1].endswith("states of the FMUs inside cannot be serialized")
            found.slave.freeFMUstate(saved)
            found.slave.terminate()
            assert found["fmu.x"] == before

    def test_integers_and_booleans(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("types")
        parts = dict.fromkeys(("one", "two"), 'fmu = "types.fmu"')
        kinds = ("real", "integer", "boolean")
        links = [f"one.{kind}_out -> two.{kind}_in" for kind in kinds]
        starts = {"one.real_in": 1.5, "one.integer_in": 7, "one.boolean_in": True}
        signals = json.dumps([f"{name}.{kind}_out" for name in parts for kind in kinds])
        path = scenario(tmp_path, parts, links, starts=starts, more=f"[output]\nsignals = {signals}")
        assert main(["export", str(path), "-o", str(tmp_path / "whole.fmu"), "-q", "--native"]) == 0
        loop = CoSimulation.from_file(path)
        assert same_bits(loop, tmp_path / "whole.fmu", 0.3) >= 0
        with running(tmp_path / "whole.fmu") as found:
            found.step(0.0, 0.02)
            assert found["two.real_out"] == loop.simulate(0.02)["two.real_out"][-1]
            read = found.slave.getInteger([found.references["two.integer_out"]])[0]
            assert read == loop.simulate(0.02)["two.integer_out"][-1] != 0

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        ("starts", "status", "text"),
        [
            ({"part.fail_at": 0.05, "part.fail_status": 3}, 3, "part: "),
            ({"part.fail_at": 0.05, "part.fail_status": 2}, 3, "its step was discarded"),
            ({"part.fail_at": 0.05, "part.fail_status": 2, "part.asks_to_stop": True}, 2, ""),
        ],
    )
    def test_a_step_that_is_not_made(
        self, starts: dict[str, Any], status: int, text: str, tmp_path: Path, make_fmu: MakeFmu
    ) -> None:
        make_fmu("failing")
        path = scenario(tmp_path, {"part": 'fmu = "failing.fmu"'}, [], starts=starts)
        assert (
            main(
                ["export", str(path), "-o", str(tmp_path / "whole.fmu"), "-q", "--native", "--no-experiment"]
            )
            == 0
        )
        with running(tmp_path / "whole.fmu") as found:
            found.step(0.0, 0.03)
            with pytest.raises(fmpy.fmi1.FMICallException) as caught:
                found.slave.doStep(0.03, 0.1)
            assert caught.value.status == status
            assert (text in found.log[-1]) if text else not found.log

    def test_a_step_that_is_discarded_after_a_part_of_it(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("failing", macros=("FAIL_SIZE=0.008",))
        starts = {"part.fail_at": 0.05, "part.fail_status": 2, "part.reached": 0.053}

        def loop() -> CoSimulation:
            return recorded(
                CoSimulation({"part": str(tmp_path / "failing.fmu")}, [], "jacobi", 0.01, starts=starts)
            )

        fmu, run = exported(loop(), tmp_path), loop().led_run()
        run.initialize()
        with running(fmu) as found:
            run.advance(0.06, 0.06)
            found.step(0.0, 0.06)
            assert found["part.y"] == run.read("part", ["y"])[0]
            assert found["part.size"] == run.read("part", ["size"])[0] < 0.0075  # the rest of the step
        run.close()

    @pytest.mark.thorough
    def test_an_ssp(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        CoSimulation.from_file(masses(tmp_path, make_fmu, "")).to_ssp(tmp_path / "loop.ssp", 0.3)
        fmu = tmp_path / "whole.fmu"
        assert main(["export", str(tmp_path / "loop.ssp"), "-o", str(fmu), "-q", "--native"]) == 0
        assert same_bits(CoSimulation.from_ssp(tmp_path / "loop.ssp"), fmu, 0.3) == 5

    @pytest.mark.thorough
    def test_one_inside_another(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        of_masses(tmp_path, make_fmu, 'algorithm = "interface_newton"').rename(tmp_path / "two.fmu")
        parts = {"two": 'fmu = "two.fmu"', "third": 'fmu = "mass.fmu"'}
        master = 'algorithm = "waveform_iteration"\nstep = 0.01\nuntil = 0.3'
        path = scenario(tmp_path, parts, ["two.right.x -> third.x_other"], master, {"third.kc": 3.0})
        assert main(["export", str(path), "-o", str(tmp_path / "whole.fmu"), "-q", "--native"]) == 0
        # the error of the coupling inside is an output of the one outside, too
        assert same_bits(CoSimulation.from_file(path), tmp_path / "whole.fmu", 0.3) == 10

    @pytest.mark.thorough
    @pytest.mark.parametrize("target", ["x86_64-windows-gnu", "aarch64-macos", "aarch64-linux-gnu.2.17"])
    def test_what_loads_them_compiles_for_all_platforms(self, target: str, tmp_path: Path) -> None:
        pytest.importorskip("ziglang")
        words = [sys.executable, "-m", "ziglang", "cc", "-target", target, *WARNINGS, "-c"]
        made = [*words, "-o", str(tmp_path / "foreign_library.o"), str(SHELL / "foreign_library.c")]
        done = subprocess.run(made, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]

    def test_a_missing_library(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        fmu = of_masses(tmp_path, make_fmu, 'algorithm = "jacobi"')
        with running(fmu):
            pass
        folder = Path(unpack(fmu, fmu.stat().st_mtime_ns))
        (library,) = (folder / "resources" / "members" / "1" / "binaries").rglob("mass.*")
        library.unlink()
        with pytest.raises(Exception, match="instantiate"), running(fmu):
            pass

    def test_slow_participants(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("mass")
        parts = {"left": 'fmu = "mass.fmu"', "right": 'fmu = "mass.fmu"\nstep = 0.03'}
        path = scenario(tmp_path, parts, SPRING, starts=MASSES)
        fmu = tmp_path / "whole.fmu"
        assert main(["export", str(path), "-o", str(fmu), "-q", "--native", "--no-experiment"]) == 0
        assert same_bits(CoSimulation.from_file(path), fmu, 0.3) == 5
        with running(fmu) as found:
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.0, 0.005)
            assert "take multiples" in found.log[-1]
            assert found.step(0.0, 0.02) == 0.02  # nothing has changed

    def test_no_sources(self, tmp_path: Path, make_fmu: MakeFmu, capsys: pytest.CaptureFixture[str]) -> None:
        path = masses(tmp_path, make_fmu, 'algorithm = "jacobi"')
        assert main(["export", str(path), "-o", str(tmp_path / "a.fmu"), "--sources"]) == 2
        assert "participants.left: an FMU" in capsys.readouterr().err


@pytest.fixture(scope="module")
def of_fmi_3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the ball and the clockwork as FMUs of FMI 3.0: they have events and inner updates."""
    folder = tmp_path_factory.mktemp("fmi3")
    for name, part, more in (("ball", Ball, {"outputs": ["part.height"]}), ("clock", Clockwork, {})):
        made = cosim.Model(name)
        made.add(part, "part")
        made.export_fmu(folder / f"{name}.fmu", native=True, fmi=3, kind="cs", compiler=COMPILER, **more)
    return folder


def crossed_fmus(folder: Path, algorithm: str) -> CoSimulation:
    name, options = algorithm.partition(" ")[0], ALGORITHMS.get(algorithm, {})
    parts = {name: str(folder / f"{name}.fmu") for name in ("ball", "clock")}
    return recorded(CoSimulation(parts, CROSSED, name, 1e-2, options=options))


class TestFmi3:
    """FMUs of FMI 3.0: event mode, early returns, inputs that run along lines inside a step."""

    @pytest.mark.thorough
    def test_events_along_lines_in_python(self, of_fmi_3: Path) -> None:
        """A participant that Python leads for its slopes steps to its events, too."""
        run = crossed_fmus(of_fmi_3, "gauss_seidel").simulate(0.5, inside="nothing")
        assert {event.time for event in run.events} >= {0.05, 0.13, 0.39}
        assert (np.diff(run["clock.part.z"]) != 0.0).all()
        wanted = crossed("gauss_seidel").simulate(0.5, inside="nothing")
        assert run["clock.part.z"] == pytest.approx(wanted["clock.part.z"], abs=0.04)

    def test_the_bits(self, of_fmi_3: Path, tmp_path: Path) -> None:
        fmu = exported(crossed_fmus(of_fmi_3, "gauss_seidel"), tmp_path)
        assert same_bits(crossed_fmus(of_fmi_3, "gauss_seidel"), fmu, 1.5) > 8

    @pytest.mark.thorough
    @pytest.mark.parametrize("algorithm", ["jacobi", "adaptive", "waveform_iteration"])
    def test_the_bits_of(self, algorithm: str, of_fmi_3: Path, tmp_path: Path) -> None:
        fmu = exported(crossed_fmus(of_fmi_3, algorithm), tmp_path)
        assert same_bits(crossed_fmus(of_fmi_3, algorithm), fmu, 1.5) > 8

    def test_rollback_over_an_event(self, of_fmi_3: Path, tmp_path: Path) -> None:
        fmu = exported(crossed_fmus(of_fmi_3, "jacobi"), tmp_path)
        with running(fmu) as found:
            time = found.step(0.0, 0.11)
            saved, ends = found.slave.getFMUstate(), set[float]()
            for _ in range(2):
                found.step(found.step(time, 0.05), 0.3)
                ends.add(found["clock.part.z"])
                found.slave.setFMUstate(saved)
            assert len(ends) == 1
            run = crossed_fmus(of_fmi_3, "jacobi").led_run()
            run.initialize()
            for target, size in ((0.11, 0.11), (0.16, 0.05), (0.46, 0.3)):
                run.advance(target, size)
            assert ends == {run.read("clock", ["part.z"])[0]}
            run.close()

    @pytest.mark.few(1)
    @pytest.mark.parametrize("algorithm", ["jacobi", "waveform_iteration"])
    def test_discrete_inputs_and_other_types(
        self, algorithm: str, tmp_path: Path, compiled: Callable[..., Path]
    ) -> None:
        make_kinds3(tmp_path, compiled)
        parts = {name: str(tmp_path / "kinds3.fmu") for name in ("one", "two")}
        kinds = ("float64", "float32", "int8", "uint16", "int64", "boolean")
        wires = [(f"one.{kind}_out", f"two.{kind}_in") for kind in kinds]
        wires += [(f"two.{kind}_out", f"one.{kind}_in") for kind in ("float64", "int64", "int8")]
        given = {"starts": {"one.float64_in": 0.1, "one.int8_in": -7, "one.boolean_in": True}}

        def loop() -> CoSimulation:
            return recorded(CoSimulation(parts, wires, algorithm, 0.1, **given))

        assert same_bits(loop(), exported(loop(), tmp_path), 2.0) >= 8

    def test_discrete_inputs_stand_in_the_order_of_the_settings(
        self, tmp_path: Path, compiled: Callable[..., Path]
    ) -> None:
        """Otherwise each process would export other bytes: hashes of text differ between processes."""
        make_kinds3(tmp_path, compiled)
        loop = recorded(CoSimulation({"one": str(tmp_path / "kinds3.fmu")}, [], "jacobi", 0.1))
        interface, _ = container_interface(loop, tmp_path / "whole.toml")
        text = NativeContainer(loop, interface, 3, has_library=False).generated["model.c"]
        settings, discretes = (
            re.search(rf"{name}\[\] = {{(.*?)}};", text, re.DOTALL) for name in ("settings", "discretes_0")
        )
        assert settings is not None and discretes is not None
        references = re.findall(r"{\d+, (\d+), ", settings[1])
        given = re.findall(r"\d+", discretes[1])
        assert len(given) > 8
        assert given == [reference for reference in references if reference in given]

    def test_what_stays_with_python(self, tmp_path: Path, compiled: Callable[..., Path]) -> None:
        path = make_clocks3(tmp_path, compiled)
        with pytest.raises(cosim.ModelError, match="clocks of an interval, which Python lets tick"):
            exported(CoSimulation({"a": str(path)}, [], "jacobi", 0.1), tmp_path)


COURSE: list[list[Any]] = [[0.1, 1.0], ["150 ms", -2.0], [0.15, 3.0], [0.4, 0.5]]
"""Begins after the run, jumps, and ends before it."""
CHANGED: dict[str, list[list[float]]] = {"one.part.gain": [[0.2, 0.75], [0.33, -0.5]]}


def driven(interpolation: str, extrapolation: str, algorithm: str, start: float = 0.0) -> CoSimulation:
    """A plant that values over time push, and a part whose parameter they change."""
    parts = {"plant": SystemParticipant(plant()), "one": SystemParticipant(model(Through))}
    parts["timed"] = TimedInputs({"u": COURSE}, interpolation, extrapolation=extrapolation)
    parts["changes"] = Changes(CHANGED, {}, {})
    wires = [
        *(("timed.u", "plant.body.force"), ("plant.body.position", "one.part.seen")),
        Connection("changes.one.part.gain", "one.part.gain", reads_any=True),
    ]
    return recorded(CoSimulation(parts, wires, algorithm, 0.01, start=start))


def conditional(algorithm: str) -> CoSimulation:
    """Conditions that become true while the plant swings, one of them twice, and a change at a time."""
    parts: dict[str, Any] = {"plant": SystemParticipant(plant()), "one": SystemParticipant(model(Through))}
    entries = [
        {
            "when": "one.part.out > one.part.seen and plant.body.position > 0.5 m or one.part.out == 0",
            "set": {"one.part.gain": 0.75},
        },
        {"at": "250 ms", "set": {"one.part.gain": -0.5}},
        {"when": "plant.body.position < 0.9 m", "set": {"one.part.gain": 0.1, "plant.body.force": 2.0}},
    ]
    changes, links = make_changes(entries, parts, {}, lambda *words: pytest.fail(str(words)))
    assert changes is not None
    wires = [("plant.body.position", "one.part.seen"), *links]
    return CoSimulation({**parts, "changes": changes}, wires, algorithm, 0.01)


class TestValuesOverTime:
    """Series, and changes at times."""

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "given",
        [
            ("linear", "kept", "jacobi"),
            ("held", "tangent", "interface_newton"),
            ("linear", "tangent", "adaptive"),
        ],
    )
    def test_the_bits(self, given: tuple[str, str, str], tmp_path: Path) -> None:
        assert same_bits(driven(*given), exported(driven(*given), tmp_path), 0.6) == 6

    def test_rollback_and_bytes(self, tmp_path: Path) -> None:
        fmu = exported(driven("linear", "kept", "jacobi"), tmp_path)
        with running(fmu) as found, running(fmu) as other:
            time = found.step(0.0, 0.122)
            data = found.slave.serializeFMUstate(saved := found.slave.getFMUstate())
            ends = {found.step(time, 0.1) and found["plant.body.position"]}
            found.slave.setFMUstate(saved)
            other.slave.setFMUstate(other.slave.deSerializeFMUstate(data))
            ends |= {each.step(time, 0.1) and each["plant.body.position"] for each in (found, other)}
            assert len(ends) == 1

    def test_beyond_is_an_error(self, tmp_path: Path) -> None:
        fmu = exported(driven("linear", "error", "jacobi", start=0.2), tmp_path)
        with running(fmu, start=0.2) as found:
            found.step(0.2, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException):
                found.step(0.3, 0.2)
            assert "timed: has values from 0.1 s to 0.4 s" in found.log[-1]

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        "algorithm",
        ["jacobi", pytest.param("gauss_seidel", marks=pytest.mark.thorough), "waveform_iteration"],
    )
    def test_conditions(self, algorithm: str, tmp_path: Path) -> None:
        loop = conditional(algorithm)
        result = loop.simulate(0.6, inside="nothing")
        assert len(result.events) >= 3 and len(set(result["one.part.gain"])) == 4
        assert same_bits(recorded(conditional(algorithm)), exported(recorded(loop), tmp_path), 0.6) >= 6

    @pytest.mark.thorough
    def test_sources(self, tmp_path: Path) -> None:
        given = "linear", "tangent", "gauss_seidel"
        made = exported(driven(*given), tmp_path, sources=True)
        assert same_bits(driven(*given), compile_sources(made, *CLEAN, "-O3"), 0.6) == 6


class TestTheCouplingError:
    """Estimated in the FMU, by the functions of `assess_samples`."""

    @pytest.mark.few(1)
    @pytest.mark.parametrize("algorithm", ["jacobi", "adaptive"])
    def test_that_of_the_co_simulation(self, algorithm: str, tmp_path: Path) -> None:
        def loop() -> CoSimulation:
            return CoSimulation(*law_parts(), algorithm, 0.02)

        report, found = loop().simulate(2.0).coupling, outputs_of(exported(loop(), tmp_path), 0.02, 2.0)
        assert report.how == "estimated" and report.worst is not None
        assert found["coupling.error"][-1] == pytest.approx(report.worst.relative, rel=1e-6)
        assert VERDICTS[int(found["coupling.verdict"][-1]) - 1] == report.verdict
        assert len(report.signals) == 3
        for each in report.signals:
            assert found[f"coupling.{each.name}"][-1] == pytest.approx(each.error, rel=1e-6)
        assert (
            found["coupling.error"][0] == -1.0
            and VERDICTS[int(found["coupling.verdict"][0]) - 1] == "unknown"
        )

    def test_in_between_as_a_run_that_is_led(self, tmp_path: Path) -> None:
        fmu, run = exported(law(), tmp_path), law().led_run()
        run.initialize()
        run.advance(3.13, 3.13)
        with running(fmu) as found:
            found.step(0.0, 3.13)
            report = run.assess()
            assert report.worst is not None
            assert found["coupling.error"] == pytest.approx(report.worst.relative, rel=1e-6)
            saved, before = found.slave.getFMUstate(), found["coupling.error"]
            found.step(3.13, 10.0)  # there are more than twice as many steps
            assert found["coupling.error"] != before
            after = found["coupling.error"]
            found.slave.setFMUstate(saved)
            assert found["coupling.error"] == before
            found.step(3.13, 10.0)
            assert found["coupling.error"] == after
        run.close()

    def test_without_connections(self, tmp_path: Path) -> None:
        loop = recorded(CoSimulation({"a": SystemParticipant(model(Through))}, [], "jacobi", 0.1))
        with running(exported(loop, tmp_path)) as found:
            found.step(0.0, 1.0)
            assert found["coupling.error"] == 0.0

    @pytest.mark.few(1)
    @pytest.mark.parametrize(("time", "is_exact"), [(5.0, True), (0.3, False), (0.32, False)])
    def test_values_over_time_that_change_at_exchanges_are_exact(
        self, time: float, is_exact: bool, tmp_path: Path
    ) -> None:
        """The reaction of the plant follows its force at once: a jump at an exchange reaches it one late."""
        parts = {
            "timed": TimedInputs({"u": [[0.0, 1.0], [time, -2.0]]}, "held"),
            "plant": SystemParticipant(plant()),
        }
        loop = CoSimulation(parts, [("timed.u", "plant.body.force")], "jacobi", 0.05)
        report, found = loop.simulate(2.0).coupling, outputs_of(exported(loop, tmp_path), 0.05, 2.0)
        assert (report.how == EXACT_INPUTS) == is_exact
        assert (found["coupling.error"][-1] == 0.0) == is_exact
        assert (VERDICTS[int(found["coupling.verdict"][-1]) - 1] == "fine") == is_exact

    def test_a_run_that_equations_do_not_explain(self, whole: Path) -> None:
        with running(whole) as found:
            found.step(0.0, 0.5)
            assert found["coupling.error"] == -1.0

    def test_an_unstable_exchange(self, tmp_path: Path) -> None:
        def loop() -> CoSimulation:
            parts, wires = law_parts()
            return CoSimulation(parts, wires, "jacobi", 0.5, starts={"law.law.gain": 1e4})

        report, found = loop().simulate(60.0).coupling, outputs_of(exported(loop(), tmp_path), 0.5, 60.0)
        assert report.verdict == "unstable"
        assert VERDICTS[int(found["coupling.verdict"][-1]) - 1] == "unstable"


def outputs_of(fmu: Path, step: float, until: float) -> Any:
    names = [
        v.name for v in fmpy.read_model_description(str(fmu)).modelVariables if v.causality != "parameter"
    ]
    given = {"stop_time": until, "output_interval": step, "output": names}
    return fmpy.simulate_fmu(str(fmu), fmi_type="CoSimulation", **given)


class TestWhatIsNotNative:
    """An FMU that runs Python, and why."""

    @pytest.mark.thorough
    def test_python_participants(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = write_loop(tmp_path)
        target = tmp_path / "loop.fmu"
        assert main(["export", str(path), "-o", str(target), "--no-experiment"]) == 0
        text = capsys.readouterr().out
        assert "runs Python (FMI 2.0 Co-Simulation)" in text
        assert main(["export", str(path), "-o", str(target), "--native"]) == 2
        assert "participants.controller" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("words", "text"),
        [
            (["--kind", "me"], "kind: is not cs"),
            (["--history", "9"], "history: applies to sources only"),
            (["--no-clocks"], "--clocks: does not apply to the FMU of a scenario"),
        ],
    )
    def test_options(
        self, words: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "a.toml").write_text(
            '[model]\nname = "a"\n[components.c]\ntype = "measures.sinusoid"\n', "utf-8"
        )
        path = tmp_path / "loop.toml"
        path.write_text('[participants.a]\nmodel = "a.toml"\n[master]\nstep = 0.1\nuntil = 1\n', "utf-8")
        assert main(["export", str(path), "-o", str(tmp_path / "a.fmu"), *words]) == 2
        assert text in capsys.readouterr().err

    def test_a_closed_loop_that_substitution_does_not_settle(self, tmp_path: Path) -> None:
        with pytest.raises(cosim.ModelError, match="one.part.out.*found.*Newton's method"):
            exported(ring(-1.5), tmp_path)

    def test_derivatives_of_fmus(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("gain", abilities='providesDirectionalDerivative="true"')
        path = closed_loop(tmp_path, lambda kind: tmp_path / f"{kind}.fmu", None)
        with pytest.raises(cosim.ModelError, match="directional derivatives"):
            exported(CoSimulation.from_file(path), tmp_path)


def test_c_and_python_mean_the_same_records() -> None:
    assert (SHELL / "exchange_records.h").read_text("utf-8") == records_header()

"""Hosts drive the FMU of a scenario: steps of any size, start values, inputs, rollback, states, reset."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import fmpy
import pytest
from scenario_files import write_loop
from scenario_fmus import MASSES, SLOW, SPRING, MakeFmu, exported, masses, running, scenario
from small_fmus import write_fmu

from cosim_fmu import CoSimulation


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory, compiled: Callable[..., Path]) -> Path:
    """The FMU of a scenario of two masses; ``loop.toml`` is beside it."""
    folder = tmp_path_factory.mktemp("container")

    def make(kind: str) -> Path:
        return write_fmu(folder / f"{kind}.fmu", kind, compiled(kind))

    return exported(masses(folder, make, 'algorithm = "gauss_seidel"'))


class TestHost:
    """Steps, values and states that a host sets."""

    def test_steps_of_several_communication_steps(self, container: Path) -> None:
        result = CoSimulation.from_file(container.parent / "loop.toml").simulate()
        with running(container) as fmu:
            time = 0.0
            for steps in (3, 1, 7, 19):
                time = fmu.step(time, 0.01 * steps)
                assert fmu["right.x"] == result["right.x"][round(time / 0.01)]

    def test_steps_that_end_inside_a_communication_step(self, container: Path) -> None:
        shorter = CoSimulation.from_file(container.parent / "loop.toml", step=0.0025).simulate()
        with running(container) as fmu:
            time = 0.0
            for i in range(1, 121):
                time = fmu.step(time, 0.0025)
                assert fmu["right.x"] == pytest.approx(shorter["right.x"][i], rel=1e-12)

    def test_a_cut_step_continues_to_its_communication_point(self, container: Path) -> None:
        """The first step ends at 7 ms, inside a communication step of 10 ms; the next one completes it."""
        with running(container) as longer, running(container) as shorter:
            for sizes, fmu in (((0.007, 0.013, 0.01), longer), ((0.007, 0.003, 0.02), shorter)):
                time = 0.0
                for size in sizes:
                    time = fmu.step(time, size)
            assert longer["right.x"] == shorter["right.x"]

    def test_a_start_value_of_the_host(self, container: Path) -> None:
        starts = {"left.k": 55.0, "right.f": 0.0}
        result = CoSimulation.from_file(container.parent / "loop.toml", starts=starts).simulate()
        with running(container, left__k=55.0) as fmu:
            fmu.step(0.0, 0.3)
            assert fmu["right.x"] == result["right.x"][-1]
            assert fmu["left.k"] == 55.0

    def test_an_input_is_held_over_a_step(self, container: Path) -> None:
        series = {"left.f": [[0.0, 0.0], [0.1, 8.0], [0.2, -3.0]]}
        result = CoSimulation.from_file(container.parent / "loop.toml", inputs=series).simulate()
        with running(container) as fmu:
            for i, force in enumerate((0.0, 8.0, -3.0)):
                fmu.set(left__f=force)
                fmu.step(0.1 * i, 0.1)
                assert fmu["left.f"] == force
                assert fmu["right.x"] == result["right.x"][10 * (i + 1)]

    def test_the_error_of_the_coupling(self, container: Path) -> None:
        report = CoSimulation.from_file(container.parent / "loop.toml").simulate().coupling
        with running(container, stop=0.3) as fmu:
            assert (fmu["coupling.error"], fmu["coupling.verdict"]) == (
                -1.0,
                5,
            )  # -1 and the verdict 5 mean: not known yet
            fmu.step(0.0, 0.3)
            assert report.worst is not None and report.verdict == "other algorithm"
            assert fmu["coupling.error"] == report.worst.relative > 0.0
            assert fmu["coupling.verdict"] == 4
            assert fmu["coupling.right.x"] == report["right.x"].error

    @pytest.mark.parametrize("sizes", [(0.05, 0.05), (0.053, 0.0122)])
    def test_steps_after_rollback_have_the_same_results(
        self, container: Path, sizes: tuple[float, float]
    ) -> None:
        with running(container) as fmu:
            time = fmu.step(0.0, sizes[0])
            saved = fmu.slave.getFMUstate()
            before = fmu["right.x"]
            ends = []
            for _ in range(3):
                fmu.set(left__f=9.0)
                middle = fmu.step(time, sizes[1])
                fmu.step(middle, 0.1)
                ends.append(fmu["right.x"])
                fmu.slave.setFMUstate(saved)
                assert fmu["right.x"] == before and fmu["left.f"] == 0.0
            assert len(set(ends)) == 1 and ends[0] != before
            fmu.slave.freeFMUstate(saved)

    def test_another_instance_continues_from_a_serialized_state(self, container: Path) -> None:
        with running(container) as source, running(container) as target:
            source.step(0.0, 0.12)
            target.step(0.0, 0.3)
            data = source.slave.serializeFMUstate(source.slave.getFMUstate())
            target.slave.setFMUstate(target.slave.deSerializeFMUstate(data))
            assert target["right.x"] == source["right.x"]
            for fmu in (source, target):
                fmu.step(0.12, 0.1)
            assert target["right.x"] == source["right.x"]

    def test_values_can_be_read_after_the_end(self, container: Path) -> None:
        with running(container) as fmu:
            fmu.step(0.0, 0.1)
            before = fmu["right.x"]
            fmu.slave.terminate()
            assert fmu["right.x"] == before

    def test_a_run_after_reset_is_the_same(self, container: Path) -> None:
        with running(container) as fmu:
            ends = []
            for _ in range(2):
                fmu.step(0.0, 0.1)
                ends.append(fmu["right.x"])
                fmu.slave.terminate()
                fmu.slave.reset()
                fmu.slave.setupExperiment(startTime=0.0)
                fmu.slave.enterInitializationMode()
                fmu.slave.exitInitializationMode()
            assert ends[0] == ends[1]

    def test_in_initialization_mode_outputs_follow_values_that_are_set(self, container: Path) -> None:
        with running(container) as fmu:
            fmu.slave.terminate()
            fmu.slave.reset()
            fmu.slave.setupExperiment(startTime=0.0)
            fmu.slave.enterInitializationMode()
            before = fmu["left.force"]
            fmu.set(left__kc=80.0)
            assert fmu["left.force"] == 2.0 * before != 0.0
            fmu.slave.exitInitializationMode()
            assert fmu["left.force"] == 2.0 * before

    def test_a_fixed_parameter_is_refused_between_steps(self, container: Path) -> None:
        with running(container) as fmu:
            with pytest.raises(fmpy.fmi1.FMICallException):
                fmu.set(left__k=55.0)
            fmu.set(left__k=30.0)  # the value that it has

    def test_a_container_with_longer_steps_of_a_participant_has_fixed_steps(self, tmp_path: Path) -> None:
        path = exported(write_loop(tmp_path, SLOW))
        description = fmpy.read_model_description(str(path))
        assert not description.coSimulation.canHandleVariableCommunicationStepSize
        with running(path) as fmu:
            with pytest.raises(fmpy.fmi1.FMICallException):
                fmu.step(0.0, 15.0)
            assert fmu.step(0.0, 20.0) == 20.0

    def test_a_container_serializes_states_only_if_all_participants_do(
        self, tmp_path: Path, make_fmu: MakeFmu
    ) -> None:
        abilities = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
        make_fmu("mass", abilities=abilities)
        parts = dict.fromkeys(("left", "right"), 'fmu = "mass.fmu"')
        path = exported(scenario(tmp_path, parts, SPRING, starts=MASSES))
        description = fmpy.read_model_description(str(path))
        assert description.coSimulation.canGetAndSetFMUstate
        assert not description.coSimulation.canSerializeFMUstate
        with running(path) as fmu:
            fmu.step(0.0, 0.05)
            saved = fmu.slave.getFMUstate()
            fmu.step(0.05, 0.1)
            end = fmu["right.x"]
            fmu.slave.setFMUstate(saved)
            fmu.step(0.05, 0.1)
            assert fmu["right.x"] == end
            fmu.slave.freeFMUstate(saved)

    def test_a_step_fails_if_that_of_a_participant_fails(self, tmp_path: Path, make_fmu: MakeFmu) -> None:
        make_fmu("failing")
        starts = {"one.fail_at": 0.105, "one.fail_status": 3}
        path = exported(scenario(tmp_path, {"one": 'fmu = "failing.fmu"'}, [], starts=starts))
        with running(path) as fmu:
            fmu.step(0.0, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException):
                fmu.step(0.1, 0.1)

    def test_a_step_is_discarded_if_a_participant_asks_to_stop(
        self, tmp_path: Path, make_fmu: MakeFmu
    ) -> None:
        make_fmu("failing")
        starts = {"one.fail_at": 0.105, "one.fail_status": 2, "one.asks_to_stop": True}
        path = exported(scenario(tmp_path, {"one": 'fmu = "failing.fmu"'}, [], starts=starts))
        with running(path) as fmu:
            fmu.step(0.0, 0.1)
            with pytest.raises(fmpy.fmi1.FMICallException, match="discard"):
                fmu.step(0.1, 0.1)
            assert math.isfinite(fmu["one.y"])  # outputs can still be read

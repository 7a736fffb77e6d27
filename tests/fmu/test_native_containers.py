"""Native FMUs of co-simulations of systems: the bits of the co-simulation, and all that a host may do."""

from __future__ import annotations

from pathlib import Path

import fmpy
import pytest
from ball_and_clockwork import METHOD, Fragile, model_of
from compiled_sources import CLEAN, compile_sources
from native_container_runs import (
    ALGORITHMS,
    ball_and_clockwork,
    check_bits,
    coupled_spring,
    export,
    record_all,
    ring,
    running,
    spring_and_controller,
)
from native_tools import needs_compiler

from cosim_fmu import CoSimulation, SystemParticipant

pytestmark = needs_compiler


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The FMU of `ball_and_clockwork` with Newton's method."""
    return export(ball_and_clockwork("interface_newton"), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def controlled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The FMU of `coupled_spring`."""
    return export(coupled_spring(), tmp_path_factory.mktemp("controlled"))


def test_the_bits_of_the_co_simulation(whole: Path) -> None:
    assert check_bits(ball_and_clockwork("interface_newton"), whole, 0.5) > 8


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "interface_newton"])
def test_the_bits_of_each_algorithm(algorithm: str, tmp_path: Path) -> None:
    assert check_bits(ball_and_clockwork(algorithm), export(ball_and_clockwork(algorithm), tmp_path), 1.5) > 8


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["jacobi along parabolas", "waveform_iteration"])
def test_the_bits_in_fmi_3(algorithm: str, tmp_path: Path) -> None:
    assert (
        check_bits(ball_and_clockwork(algorithm), export(ball_and_clockwork(algorithm), tmp_path, fmi=3), 0.5)
        > 8
    )


@pytest.mark.thorough
@pytest.mark.parametrize(("algorithm", "fmi"), [("gauss_seidel", 2), ("interface_newton", 3)])
def test_the_bits_of_compiled_sources(algorithm: str, fmi: int, tmp_path: Path) -> None:
    sources = export(ball_and_clockwork(algorithm), tmp_path, sources=True, fmi=fmi)
    assert check_bits(ball_and_clockwork(algorithm), compile_sources(sources, *CLEAN, "-O3"), 0.5) > 8


@pytest.mark.thorough
def test_the_bits_of_a_controller_without_states(controlled: Path) -> None:
    assert check_bits(coupled_spring(), controlled, 0.3) == 5


@pytest.mark.thorough
def test_the_bits_of_an_algebraic_loop(tmp_path: Path) -> None:
    assert len(ring(-0.7).loops) == 1
    fmu = export(ring(-0.7), tmp_path)
    assert check_bits(ring(-0.7), fmu, 0.5) == 4
    with running(fmu) as instance:
        instance.slave.reset()
        instance.slave.setupExperiment(startTime=0.0)
        instance["one.part.gain"] = -5.0  # substitution does not converge
        instance.slave.enterInitializationMode()
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.slave.exitInitializationMode()
        assert "exchange did" in instance.log[-1]


def test_two_exports_have_the_same_bytes(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    exports = [export(ball_and_clockwork("interface_newton"), tmp_path).read_bytes() for _ in range(2)]
    assert exports[0] == exports[1]


def test_steps_of_any_size(whole: Path) -> None:
    run = ball_and_clockwork("interface_newton").led_run()
    run.initialize()
    with running(whole) as instance:
        time = 0.0
        for size in (0.01, 0.07, 0.013, 0.0005, 0.0065, 0.01, 0.11, 1e-3, 0.3):
            run.advance(time + size, size)
            time = instance.step(time, size)
            assert instance["ball.part.height"] == run.read("ball", ["part.height"])[0]
            assert instance["clock.part.z"] == run.read("clock", ["part.z"])[0]
    run.close()


@pytest.mark.parametrize("sizes", [(0.2, 0.05), (0.213, 0.0122)])
def test_rollback(whole: Path, sizes: tuple[float, float]) -> None:
    with running(whole) as instance, running(whole) as second:
        time = instance.step(0.0, sizes[0])
        saved = instance.slave.getFMUstate()
        data = instance.slave.serializeFMUstate(saved)
        delayed_speed, heights = instance["ball.late"], set[float]()

        # the same steps from the restored state, in this instance and in another one
        for _ in range(2):
            heights.add(instance.step(instance.step(time, sizes[1]), 0.1) and instance["ball.part.height"])
            instance.slave.setFMUstate(saved)
            assert instance["ball.late"] == delayed_speed
            assert instance.slave.serializeFMUstate(instance.slave.getFMUstate()) == data
        second.slave.setFMUstate(second.slave.deSerializeFMUstate(data))
        heights.add(second.step(second.step(time, sizes[1]), 0.1) and second["ball.part.height"])
        assert len(heights) == 1


def test_a_start_value_that_the_host_sets(whole: Path) -> None:
    loop = ball_and_clockwork("interface_newton", starts={"ball.part.restitution": 0.5})
    with running(whole, ball__part__restitution=0.5) as instance:
        instance.step(0.0, 0.7)
        assert instance["ball.part.height"] == loop.simulate(0.7)["ball.part.height"][-1]
        assert instance["ball.part.restitution"] == 0.5


def test_the_tolerance_of_the_host_is_that_of_participants_without_accuracy(controlled: Path) -> None:
    positions = []
    for tolerance in (1e-3, 1e-9):
        options = {"relative_tolerance": tolerance, "output": ["plant.body.position"]}
        result = fmpy.simulate_fmu(str(controlled), stop_time=0.3, output_interval=0.1, **options)
        loop = CoSimulation(*spring_and_controller(), "gauss_seidel", 0.1, tolerance=tolerance)
        positions.append(result["plant.body.position"].tolist())
        expected = loop.simulate(0.3, record=["plant.body.position"])["plant.body.position"]
        assert positions[-1] == expected.tolist()
    assert positions[0] != positions[1]


def test_an_input_that_the_host_sets_is_held(tmp_path: Path) -> None:
    parts, wires = spring_and_controller()
    loop = record_all(CoSimulation(parts, wires[1:], "jacobi", 1e-2))
    fmu, run = export(loop, tmp_path), loop.led_run()
    run.initialize()
    with running(fmu) as instance:
        for i, value in enumerate((0.25, -1.5, -1.5)):
            instance["controller.law.seen"] = value
            assert instance["controller.law.push"] == -3.0 * value  # at once, before the step
            run.write({"controller": {"law.seen": value}})
            run.advance(0.1 * (i + 1), 0.1)
            instance.step(0.1 * i, 0.1)
            assert instance["controller.law.push"] == run.read("controller", ["law.push"])[0]
            assert instance["plant.body.position"] == run.read("plant", ["body.position"])[0]
    run.close()


def test_a_request_to_stop(tmp_path: Path) -> None:
    loop = ball_and_clockwork(starts={"clock.part.stop_at": 0.123})
    expected = loop.simulate(0.5, inside="nothing")
    assert expected.time[-1] == 0.13
    with running(export(loop, tmp_path)) as instance:
        instance.step(0.0, 0.1)
        with pytest.raises(fmpy.fmi1.FMICallException) as caught:
            instance.slave.doStep(0.1, 0.1)
        assert caught.value.status == 2
        assert instance["ball.part.height"] == expected["ball.part.height"][-1]
        assert instance.slave.getRealStatus(fmpy.fmi2.fmi2LastSuccessfulTime) == 0.13


def test_a_failure_names_the_participant_and_the_reason(tmp_path: Path) -> None:
    parts = {"weak": SystemParticipant(model_of(Fragile), METHOD)}
    starts = {"weak.part.rate": -0.05}
    loop = record_all(CoSimulation(parts, [], "jacobi", 1e-2, starts=starts))
    with running(export(loop, tmp_path)) as instance:
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.step(0.0, 2.0)
        (message,) = instance.log
        assert message.startswith("fmi2DoStep: weak: step: t = 0.42") and "not a number" in message

        # until it is reset, steps fail; then it runs with another parameter
        with pytest.raises(fmpy.fmi1.FMICallException):
            instance.step(0.0, 2.0)
        instance.slave.reset()
        instance.slave.setupExperiment(startTime=0.0)
        instance["weak.part.rate"] = 0.0
        instance.slave.enterInitializationMode()
        instance.slave.exitInitializationMode()
        instance.step(0.0, 2.0)
        assert instance["weak.part.level"] == 0.1


def test_a_start_time_other_than_zero(whole: Path) -> None:
    run = ball_and_clockwork("interface_newton").led_run(1.25)
    run.initialize()
    with running(whole, start=1.25) as instance:
        time = 1.25
        for size in (0.01, 0.2, 0.013):
            run.advance(time + size, size)
            time = instance.step(time, size)
            assert instance["ball.part.height"] == run.read("ball", ["part.height"])[0]
            assert instance["clock.part.z"] == run.read("clock", ["part.z"])[0]
    run.close()


def test_a_start_time_too_large_for_communication_points(whole: Path) -> None:
    with pytest.raises(fmpy.fmi1.FMICallException), running(whole, start=1e300):
        pass


def test_the_coupling_error_is_minus_1_if_equations_do_not_explain_the_run(whole: Path) -> None:
    with running(whole) as instance:
        instance.step(0.0, 0.5)
        assert instance["coupling.error"] == -1.0

"""Failures, interrupts and requests to stop: the results are kept, and all participants are closed."""

import _thread
from collections.abc import Callable
from pathlib import Path

import pytest
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, StopRequested
from cosim_master.algorithms.jacobi import Jacobi

MakeFmu = Callable[..., Path]


def test_failing_participant_keeps_the_results_and_frees_all(make_fmu: MakeFmu, tmp_path: Path) -> None:
    markers = {name: tmp_path / name for name in ("good", "bad")}
    starts = {f"{name}.marker": str(path) for name, path in markers.items()}
    starts |= {"bad.fail_at": 0.35, "bad.fail_status": 3}  # type: ignore[dict-item]
    loop = CoSimulation(
        {"good": make_fmu("gain"), "bad": make_fmu("failing")}, (), Jacobi, 0.1, starts=starts
    )
    with pytest.raises(CoSimulationError, match=r"= 0\.3 s: bad: .*fmi2DoStep: failed.*ran") as caught:
        loop.simulate(1.0)
    assert caught.value.participant == "bad"
    assert isinstance(caught.value.__cause__, cosim.FmuError)
    result = caught.value.result
    assert result is loop.result
    assert result["bad.y"] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert "ran dry" in result.message
    assert markers["good"].read_text() == "terminated\nfreed\n"
    assert markers["bad"].read_text() == "freed\n"


def test_failing_instantiation_frees_the_other_participants(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    refusing = make_fmu("gain", name="refusing", macros=("REFUSES",))
    fmus = {"good": make_fmu("gain"), "bad": refusing}
    loop = CoSimulation(fmus, (), Jacobi, 0.1, starts={"good.marker": str(marker)})
    with pytest.raises(CoSimulationError, match="no licence.*7"):
        loop.simulate(1.0)
    assert marker.read_text() == "freed\n"
    assert loop.result is not None and loop.result.time.size == 0


def test_interrupt_frees_all_and_keeps_the_results(make_fmu: MakeFmu, tmp_path: Path) -> None:
    marker = tmp_path / "marker"

    class Impatient(Block):
        def step(self, time: float, size: float) -> float:
            if time > 0.25:
                _thread.interrupt_main()
            return super().step(time, size)

    impatient = Impatient({"y": lambda time: time})
    starts = {"good.marker": str(marker)}
    loop = CoSimulation({"good": make_fmu("gain"), "impatient": impatient}, (), Jacobi, 0.1, starts=starts)
    with pytest.raises(KeyboardInterrupt):
        loop.simulate(100.0)
    assert marker.read_text() == "terminated\nfreed\n"
    assert impatient.calls[-1][0] == "close"
    assert loop.result is not None and loop.result.message == "interrupted"
    assert 3 <= loop.result.time.size <= 5


def test_error_of_a_python_participant_names_it() -> None:
    class Broken(Block):
        def step(self, time: float, size: float) -> float:
            raise ZeroDivisionError("by zero")

    with pytest.raises(CoSimulationError, match="= 0.*ZeroDivisionError.*zero"):
        CoSimulation({"a": Broken({})}, (), Jacobi, 0.1).simulate(1.0)


def test_nan_is_not_passed_to_connected_inputs() -> None:
    source = Block(
        {"y": lambda time: float("nan") if time > 0.15 else 1.0, "free": lambda time: float("inf")}
    )
    loop = CoSimulation({"a": source, "b": Block({}, ["u"])}, [("a.y", "b.u")], Jacobi, 0.1)
    with pytest.raises(CoSimulationError, match=r"= 0\.2.*nan: not passed.*b\.u"):
        loop.simulate(1.0)


def test_after_an_early_return_the_step_is_completed(make_fmu: MakeFmu) -> None:
    starts = {"a.fail_at": 0.25, "a.fail_status": 2, "a.reached": 0.24}
    result = CoSimulation({"a": make_fmu("failing")}, (), Jacobi, 0.1, starts=starts).simulate(0.5)
    assert result["a.y"] == pytest.approx([0.0, 0.1, 0.2, 0.24, 0.3, 0.4, 0.5])
    counts = {name: result.statistics[name] for name in ("events", "retries", "steps")}
    assert counts == {"events": 1, "retries": 1, "steps": 5}
    (event,) = result.events
    assert (event.cause, event.time, event.handler) == (cosim.EventCause.TRIGGERED, 0.24, "a")


def test_a_request_to_stop_ends_the_run_after_the_step() -> None:
    class Stopping(Block):
        def step(self, time: float, size: float) -> float:
            if time + size > 0.5:
                raise StopRequested(0.52, "tank full")
            return super().step(time, size)

    block = Block({"y": lambda time: time})
    result = CoSimulation({"a": Stopping({}), "b": block}, (), Jacobi, 0.1).simulate(2.0)
    assert result.message == "a asked to stop at 0.52 s: tank full"
    assert result["b.y"][-1] == pytest.approx(0.6)
    assert result.events[0].cause is cosim.EventCause.TERMINATION
    assert block.calls[-1][0] == "close"


def test_a_participant_that_does_not_advance_is_an_error() -> None:
    class Stuck(Block):
        def step(self, time: float, size: float) -> float:
            return time

    with pytest.raises(CoSimulationError, match="came.*0.*0.*0.1"):
        CoSimulation({"a": Stuck({})}, (), Jacobi, 0.1).simulate(1.0)


def test_progress_is_reported_and_may_stop_the_run() -> None:
    times: list[float] = []
    loop = CoSimulation({"a": Block({})}, (), Jacobi, 0.1)
    loop.simulate(1.0, progress=times.append)
    assert times[-1] == 1.0

    def stop(time: float) -> bool:
        return False

    loop = CoSimulation({"a": Block({})}, (), Jacobi, "1 us")
    assert loop.simulate(100.0, progress=stop).message.startswith("stopped at t = ")

"""If a host's time misses a tick by rounding only, the tick is at the end of the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from export_parts import SampledTwice
from export_tools import export, running
from native_tools import export_native, needs_compiler

import cosim
from cosim_export.python_fmu.exported_system import ExportedSystem
from cosim_fmu import CoSimulation

STEPS = 400
HOSTS: dict[str, Callable[[float, float, int], float]] = {
    "sums": lambda time, step, i: time + step,
    "products": lambda time, step, i: (i + 1) * step,
    "early": lambda time, step, i: (i + 1) * step - 4e-10 * step,
    "late": lambda time, step, i: (i + 1) * step + 4e-10 * step,
}
"""The time that each kind of host has after a step."""


def sampled_model() -> cosim.Model:
    model = cosim.Model("sampled")
    model.add(SampledTwice, "s")
    return model


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The resources of an FMU with Python inside."""
    from fmpy import extract

    folder = tmp_path_factory.mktemp("sampled")
    path = export(sampled_model(), folder / "sampled.fmu")
    return Path(extract(str(path), str(folder / "fmu"))) / "resources"


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Native FMUs, by the version of FMI."""
    folder = tmp_path_factory.mktemp("native")
    return {fmi: export_native(sampled_model(), folder / f"sampled{fmi}.fmu", fmi=fmi) for fmi in (2, 3)}


def run(step_to: Callable[[float, float], Any], read: Callable[[], int], host: str, step: float) -> list[int]:
    """The counter at the communication points of a host."""
    time, counts = 0.0, [read()]
    for i in range(STEPS):
        next_time = HOSTS[host](time, step, i)
        step_to(time, next_time - time)
        time = next_time
        counts.append(read())
    return counts


@pytest.mark.by_turns
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("step", [0.1, 0.05, 0.3])
def test_an_fmu_with_python_shows_the_ticks_before_the_end_of_a_step(
    host: str, step: float, unpacked: Path
) -> None:
    instance = ExportedSystem(unpacked)
    instance.setup(0.0, None, None)
    instance.enter_initialization()
    instance.exit_initialization()
    place = next(i for i, v in enumerate(instance.interface.variables) if v.path == "s.fast")

    def step_to(time: float, size: float) -> None:
        assert not instance.step(time, size)

    counts = run(step_to, lambda: instance.get("Integer", [place])[0], host, step)
    # the tick at the end of a step is handled in the next one, so ceil(i step / 0.1 s) ticks are seen
    half_ticks = round(step * 20)
    assert counts == [0] + [-(-i * half_ticks // 2) for i in range(1, STEPS + 1)]
    assert instance.state["s.together"] == instance.state["s.slow"]


@needs_compiler
@pytest.mark.parametrize("host", HOSTS)
def test_a_native_fmu_shows_the_ticks_before_the_end_of_a_step(host: str, native: dict[int, Path]) -> None:
    with running(native[2]) as fmu:
        fmu.start()
        counts = run(fmu.slave.doStep, lambda: int(fmu["s.fast"]), host, 0.1)
    assert counts == list(range(STEPS + 1))


@contextmanager
def running_fmi3(path: Path, folder: Path, **options: Any) -> Iterator[Any]:
    """A context with an initialized instance of an FMU of FMI 3.0; `options` are for its instantiation."""
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Slave

    description = read_model_description(str(path))
    fmu = FMU3Slave(
        guid=description.guid,
        unzipDirectory=extract(str(path), str(folder)),
        modelIdentifier="sampled",
        instanceName="one",
    )
    fmu.references = {v.name: v.valueReference for v in description.modelVariables}
    fmu.instantiate(**options)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    yield fmu
    fmu.terminate()
    fmu.freeInstance()


@pytest.mark.by_turns
@needs_compiler
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_in_event_mode_a_step_ends_before_its_tick_which_the_event_handles(
    host: str, early: bool, native: dict[int, Path], tmp_path: Path
) -> None:
    with running_fmi3(native[3], tmp_path, eventModeUsed=True, earlyReturnAllowed=early) as fmu:
        names = ("s.sample", "s.sample_slowly")

        def count() -> int:
            return int(fmu.getInt64([fmu.references["s.fast"]])[0])

        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        assert count() == 1
        time = 0.0
        for i in range(STEPS):
            next_time = HOSTS[host](time, 0.1, i)
            needs_events, _, is_early, last_time = fmu.doStep(time, next_time - time)
            assert needs_events and not is_early and last_time == time + (next_time - time)
            assert count() == i + 1
            fmu.enterEventMode()
            ticks = [bool(t) for t in fmu.getClock([fmu.references[name] for name in names])]
            assert ticks == [True, (i + 1) % 3 == 0]
            fmu.updateDiscreteStates()
            fmu.enterStepMode()
            assert count() == i + 2
            time = next_time


@pytest.mark.thorough
@pytest.mark.parametrize("compiled", [True, False])
def test_in_a_co_simulation_communication_points_and_ticks_coincide_exactly(compiled: bool) -> None:
    """The points are multiples of 0.1 s without an accumulated error, in compiled code and in Python."""
    observe = None if compiled else (lambda time, values: None)
    loop = CoSimulation(
        {"a": sampled_model(), "b": sampled_model()}, [], "jacobi", "100 ms", steps={"b": "300 ms"}
    )
    names = ["a.s.height", "b.s.height"]
    result = loop.simulate(900.0 if compiled else 21.0, record=names, observe=observe, inside="nothing")
    count = result.time.size
    assert list(result.statistics["in_python"]) == ([] if compiled else ["a", "b"])
    assert result.time.tolist() == [i / 10 for i in range(count)]
    assert result["a.s.height"].tolist() == list(range(count))
    assert result["b.s.height"].tolist()[::3] == list(range(0, count, 3))

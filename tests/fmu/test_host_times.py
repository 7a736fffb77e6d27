"""Hosts that add up their time: a tick that their step misses by rounding is at its end."""

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


def model() -> cosim.Model:
    made = cosim.Model("sampled")
    made.add(SampledTwice, "s")
    return made


STEPS = 400
HOSTS: dict[str, Callable[[float, float, int], float]] = {
    "sums": lambda time, step, i: time + step,
    "products": lambda time, step, i: (i + 1) * step,
    "early": lambda time, step, i: (i + 1) * step - 4e-10 * step,
    "late": lambda time, step, i: (i + 1) * step + 4e-10 * step,
}
"""The time that a host has after a step."""


def run(step_to: Callable[[float, float], Any], read: Callable[[], int], host: str, step: float) -> list[int]:
    """The counter at the communication points of a host."""
    time, seen = 0.0, [read()]
    for i in range(STEPS):
        following = HOSTS[host](time, step, i)
        step_to(time, following - time)
        time = following
        seen.append(read())
    return seen


@pytest.mark.by_turns
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("step", [0.1, 0.05, 0.3])
def test_outputs_are_those_of_the_step_that_ends_at_the_tick(host: str, step: float, unpacked: Path) -> None:
    instance = ExportedSystem(unpacked)
    instance.setup(0.0, None, None)
    instance.enter_initialization()
    instance.exit_initialization()
    place = next(i for i, v in enumerate(instance.interface.variables) if v.path == "s.fast")

    def step_to(time: float, size: float) -> None:
        assert not instance.step(time, size)

    seen = run(step_to, lambda: instance.get("Integer", [place])[0], host, step)
    per_step = round(step * 20)  # half ticks
    assert seen == [0] + [-(-i * per_step // 2) for i in range(1, STEPS + 1)]
    assert instance.state["s.together"] == instance.state["s.slow"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from fmpy import extract

    folder = tmp_path_factory.mktemp("sampled")
    return Path(extract(str(export(model(), folder / "sampled.fmu")), str(folder / "fmu"))) / "resources"


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("native")
    return {fmi: export_native(model(), folder / f"sampled{fmi}.fmu", fmi=fmi) for fmi in (2, 3)}


@needs_compiler
@pytest.mark.parametrize("host", HOSTS)
def test_native_fmus_of_fmi_2(host: str, native: dict[int, Path]) -> None:
    with running(native[2]) as fmu:
        fmu.start()
        seen = run(fmu.slave.doStep, lambda: int(fmu["s.fast"]), host, 0.1)
    assert seen == list(range(STEPS + 1))


@contextmanager
def running3(path: Path, folder: Path, **options: Any) -> Iterator[Any]:
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
def test_event_mode_has_the_values_before_then_the_event(
    host: str, early: bool, native: dict[int, Path], tmp_path: Path
) -> None:
    with running3(native[3], tmp_path, eventModeUsed=True, earlyReturnAllowed=early) as fmu:
        names = ("s.sample", "s.sample_slowly")

        def count() -> int:
            return int(fmu.getInt64([fmu.references["s.fast"]])[0])

        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        assert count() == 1
        time = 0.0
        for i in range(STEPS):
            following = HOSTS[host](time, 0.1, i)
            needed, _, returned, last = fmu.doStep(time, following - time)
            assert needed and not returned and last == time + (following - time)
            assert count() == i + 1
            fmu.enterEventMode()
            ticks = [bool(t) for t in fmu.getClock([fmu.references[name] for name in names])]
            assert ticks == [True, (i + 1) % 3 == 0]
            fmu.updateDiscreteStates()
            fmu.enterStepMode()
            assert count() == i + 2
            time = following


@pytest.mark.thorough
@pytest.mark.parametrize("compiled", [True, False])
def test_systems_in_a_co_simulation(compiled: bool) -> None:
    """Points that meet on paper meet in the run, however the participants are stepped."""
    observe = None if compiled else (lambda time, values: None)
    loop = CoSimulation({"a": model(), "b": model()}, [], "jacobi", "100 ms", steps={"b": "300 ms"})
    names = ["a.s.height", "b.s.height"]
    found = loop.simulate(900.0 if compiled else 21.0, record=names, observe=observe, inside="nothing")
    count = found.time.size
    assert list(found.statistics["in_python"]) == ([] if compiled else ["a", "b"])
    assert found.time.tolist() == [i / 10 for i in range(count)]
    assert found["a.s.height"].tolist() == list(range(count))
    assert found["b.s.height"].tolist()[::3] == list(range(0, count, 3))

"""A host of Model Exchange whose time misses a tick by rounding (< 1e-9 steps) is at that tick."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from export_parts import SampledTwice
from native_tools import export_native, needs_compiler

import cosim

STEPS = 200
STEP = 0.1
OFFSET = 4e-10
"""How far a time is from a tick, in steps: less than the 1e-9 within which it counts as that tick."""
HOSTS: dict[str, Callable[[float, int], float]] = {
    "sums": lambda time, i: time + STEP,
    "products": lambda time, i: (i + 1) * STEP,
    "early": lambda time, i: (i + 1) * STEP - OFFSET * STEP,
    "late": lambda time, i: (i + 1) * STEP + OFFSET * STEP,
    "either": lambda time, i: (i + 1) * STEP + (OFFSET if i % 2 else -OFFSET) * STEP,
}
"""The time that a host has after a step."""


def sampled_model() -> cosim.Model:
    sampled = cosim.Model("sampled")
    sampled.add(SampledTwice, "s")
    return sampled


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("native")
    return {fmi: export_native(sampled_model(), folder / f"sampled{fmi}.fmu", fmi=fmi) for fmi in (2, 3)}


class Host:
    """A host that integrates one FMU of either version with one state, and asks for its events."""

    def __init__(self, fmu: Any, version: int, references: dict[str, int]) -> None:
        self.fmu, self.version, self.references = fmu, version, references
        self.state = (ctypes.c_double * 1)()
        self.next_event = float("inf")

    def count(self, name: str) -> int:
        get = self.fmu.getInteger if self.version == 2 else self.fmu.getInt64
        return int(get([self.references[name]])[0])

    def level(self) -> float:
        get = self.fmu.getReal if self.version == 2 else self.fmu.getFloat64
        return float(get([self.references["s.level"]])[0])

    def update(self) -> None:
        """Update discrete states until none needs an update; store the time of the next time event."""
        update = self.fmu.newDiscreteStates if self.version == 2 else self.fmu.updateDiscreteStates
        needed = True
        while needed:
            needed, ends, _, _, is_defined, time = update()
            assert not ends
        self.next_event = time if is_defined else float("inf")
        self.fmu.enterContinuousTimeMode()

    def go_to(self, time: float, completes: bool = True) -> bool:
        """Set the time and the state at that time; True if the FMU requests event mode."""
        self.fmu.setTime(time)
        self.state[0] = time
        self.fmu.setContinuousStates(self.state, 1)
        return bool(completes and self.fmu.completedIntegratorStep()[0])

    def handle_events(self) -> None:
        self.fmu.enterEventMode()
        self.update()


@contextmanager
def hosted(version: int, path: Path, folder: Path) -> Iterator[Host]:
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Model
    from fmpy.fmi3 import FMU3Model

    description = read_model_description(str(path))
    fmu = (FMU2Model if version == 2 else FMU3Model)(
        guid=description.guid,
        unzipDirectory=extract(str(path), str(folder)),
        modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="sampled",
    )
    fmu.instantiate()
    if version == 2:
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    host = Host(fmu, version, {v.name: v.valueReference for v in description.modelVariables})
    host.update()
    try:
        yield host
    finally:
        fmu.terminate()
        fmu.freeInstance()


@pytest.mark.few(2)
@needs_compiler
@pytest.mark.parametrize("completes", [True, False])
@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("version", [2, 3])
def test_an_event_within_rounding_of_a_tick_is_that_tick(
    version: int, name: str, completes: bool, native: dict[int, Path], tmp_path: Path
) -> None:
    """Until the host handles the event, outputs have their old values; the next event is the next tick."""
    with hosted(version, native[version], tmp_path) as host:
        assert (host.count("s.fast"), host.next_event) == (1, 0.1)
        time = 0.0
        for i in range(STEPS):
            time = HOSTS[name](time, i)
            assert abs(time - host.next_event) < 1e-9 * STEP
            assert not host.go_to(time, completes)
            assert host.count("s.fast") == i + 1
            host.handle_events()
            assert host.count("s.fast") == i + 2
            assert host.next_event == (i + 2) / 10
            assert host.level() == pytest.approx(time, abs=1e-9)
        assert host.count("s.slow") == STEPS // 3 + 1
        assert host.count("s.together") == host.count("s.slow")


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_a_time_before_a_tick_by_more_than_rounding_is_not_that_tick(
    version: int, native: dict[int, Path], tmp_path: Path
) -> None:
    with hosted(version, native[version], tmp_path) as host:
        host.go_to(0.1 - 10 * OFFSET * STEP)
        host.handle_events()
        assert (host.count("s.fast"), host.next_event) == (1, 0.1)
        host.go_to(0.1)
        host.handle_events()
        assert (host.count("s.fast"), host.next_event) == (2, 0.2)


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_ends_of_steps_between_ticks_are_no_ticks(
    version: int, native: dict[int, Path], tmp_path: Path
) -> None:
    """Steps of any length, some of them tiny."""
    with hosted(version, native[version], tmp_path) as host:
        for i in range(30):
            tick = host.next_event
            for share in (0.3, 0.3 + 1e-12, 0.999999999):
                host.go_to(i / 10 + share * (tick - i / 10))
                assert host.count("s.fast") == i + 1
            host.go_to(tick)
            host.handle_events()
            assert (host.count("s.fast"), host.next_event) == (i + 2, (i + 2) / 10)

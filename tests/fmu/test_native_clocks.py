"""Clocks of native FMUs for FMI 3.0: periodic events tick output clocks, which hosts may read or ignore."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from native_tools import export_native, needs_compiler

import cosim

pytestmark = needs_compiler
PERIOD, OFFSET = 0.1, 0.05


class Ramp(cosim.Component):
    """Rises, falls back to 0 at 1 and is sampled twice, once with a period that is a parameter."""

    period = cosim.parameter(unit="s", default=0.25, minimum=0.01)
    level = cosim.auxiliary_state()
    amplitude = cosim.discrete(start=2.0)
    wave = cosim.output()
    samples = cosim.discrete(dtype=int)
    slow_samples = cosim.discrete(dtype=int)

    @cosim.kernel
    def rise(level_dot):
        level_dot[0] = 3.0

    @cosim.kernel
    def swing(t, amplitude, wave):
        wave[0] = amplitude * math.sin(t)

    @cosim.every(PERIOD, offset=OFFSET, does="discrete")
    def sample(samples, samples_next):
        samples_next[0] = samples + 1

    @cosim.every("period", offset=0.25, does="discrete")
    def sample_slowly(slow_samples, slow_samples_next):
        slow_samples_next[0] = slow_samples + 1

    @cosim.witness(direction="rising")
    def top(level):
        return level - 1.0

    @cosim.on(top, does="unrestricted")
    def fall(level_next):
        level_next[0] = 0.0


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = cosim.Model("ramp")
    model.add(Ramp, "ramp")
    return export_native(model, tmp_path_factory.mktemp("clocks") / "ramp.fmu", fmi=3)


@pytest.fixture
def instantiate(path: Path, tmp_path: Path) -> Callable[..., Any]:
    """A context with an instance of FMU3Slave or FMU3Model, initialized and in event mode."""
    from fmpy import extract, read_model_description

    description = read_model_description(str(path))
    folder = extract(str(path), str(tmp_path / "fmu"))

    @contextmanager
    def instantiate(kind: Any, **options: Any) -> Iterator[Any]:
        fmu = kind(guid=description.guid, unzipDirectory=folder, modelIdentifier="ramp", instanceName="ramp")
        fmu.references = {v.name: v.valueReference for v in description.modelVariables}
        fmu.instantiate(**options)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        yield fmu
        fmu.terminate()
        fmu.freeInstance()

    return instantiate


def ticks(fmu: Any) -> list[bool]:
    """Whether the fast clock and the slow clock tick."""
    clocks = fmu.getClock([fmu.references[name] for name in ("ramp.sample", "ramp.sample_slowly")])
    return [bool(tick) for tick in clocks]


@pytest.mark.thorough
def test_the_description_lists_the_clocks(path: Path) -> None:
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    with ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    clocks = {v.attrib["name"]: v.attrib for v in root.iter("Clock")}
    assert set(clocks) == {"ramp.sample", "ramp.sample_slowly"}
    assert {(v["causality"], v["intervalVariability"]) for v in clocks.values()} == {("output", "triggered")}
    assert clocks["ramp.sample"]["description"] == "ticks every 0.1 s"
    output_references = {v.get("valueReference") for v in root.iter("Output")}
    assert {v["valueReference"] for v in clocks.values()} <= output_references
    references = [v.get("valueReference") for v in root.iter() if v.get("valueReference") and v.get("name")]
    assert len(set(references)) == len(references)


@pytest.mark.parametrize("h", [0.03, 0.05, 1.0])
def test_co_simulation_clocks_tick_at_their_instants_only(instantiate: Callable[..., Any], h: float) -> None:
    from fmpy.fmi3 import FMU3Slave

    with instantiate(FMU3Slave, eventModeUsed=True, earlyReturnAllowed=True) as fmu:
        assert ticks(fmu) == [False, False]
        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        time, count, fast_ticks, slow_ticks, other_events = 0.0, 0, [], [], []
        while count * h < 1.0 - 1e-9:
            target = min((count + 1) * h, 1.0)
            needed, _, _, time = fmu.doStep(time, target - time)
            count += time >= target
            if needed:
                fmu.enterEventMode()
                ticking = ticks(fmu)
                assert ticks(fmu) == ticking  # reading changes nothing
                fmu.updateDiscreteStates()
                assert ticks(fmu) == [False, False]
                fmu.enterStepMode()
                fast_ticks += [time] * ticking[0]
                slow_ticks += [time] * ticking[1]
                other_events += [time] * (not any(ticking))
        with pytest.raises(Exception, match="failed with status 3"):
            ticks(fmu)  # between steps
    assert fast_ticks == pytest.approx([(5 + 10 * i) / 100 for i in range(10)], abs=1e-15)
    assert slow_ticks[:3] == [0.25, 0.5, 0.75]
    # the level, 3 t, falls back to 0 at each third of a second; the last one may come after the run
    assert len(other_events) >= 2 and other_events == pytest.approx([1 / 3, 2 / 3, 1.0][: len(other_events)])


def test_a_period_may_be_changed_before_the_first_step(instantiate: Callable[..., Any]) -> None:
    from fmpy.fmi3 import FMU3Slave

    with instantiate(FMU3Slave, eventModeUsed=True, earlyReturnAllowed=True) as fmu:
        fmu.setFloat64([fmu.references["ramp.period"]], [0.05])
        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        time, slow_ticks = 0.0, []
        while time < 0.5:
            needed, _, _, time = fmu.doStep(time, 0.5 - time)
            if needed:
                fmu.enterEventMode()
                slow_ticks += [time] * ticks(fmu)[1]
                fmu.updateDiscreteStates()
                fmu.enterStepMode()
    assert slow_ticks == pytest.approx([0.25, 0.3, 0.35, 0.4, 0.45, 0.5])


def test_model_exchange_clocks_tick_in_event_mode(instantiate: Callable[..., Any]) -> None:
    from fmpy.fmi3 import FMU3Model

    with instantiate(FMU3Model) as fmu:
        *_, is_defined, next_event = fmu.updateDiscreteStates()
        events = []
        while is_defined and next_event < 0.3:
            time = next_event * (1 - 2e-16)  # a solver may end just before
            fmu.enterContinuousTimeMode()
            fmu.setTime(time)
            fmu.completedIntegratorStep()
            fmu.enterEventMode()
            events.append((pytest.approx(time), *ticks(fmu)))
            *_, is_defined, next_event = fmu.updateDiscreteStates()
            assert ticks(fmu) == [False, False]
    assert events == [(0.05, True, False), (0.15, True, False), (0.25, True, True)]


def test_hosts_may_ignore_the_clocks(path: Path) -> None:
    """fmpy ignores them; cosim records after each event and each step whether a clock ticks."""
    from fmpy import simulate_fmu

    from cosim_fmu import CoSimulation

    for kind in ("CoSimulation", "ModelExchange"):
        rows = simulate_fmu(str(path), fmi_type=kind, stop_time=0.5, output=["ramp.samples", "ramp.sample"])
        assert rows["ramp.samples"][-1] == 5
    result = CoSimulation({"ramp": str(path)}, step=0.02).simulate(until=0.3, record=["ramp.ramp.sample"])
    tick_times = [
        time for time, ticks_now in zip(result.time, result["ramp.ramp.sample"], strict=True) if ticks_now
    ]
    # after each event, and at the end of its step of 0.02 s
    assert tick_times == pytest.approx([0.05, 0.06, 0.15, 0.16, 0.25, 0.26])


def test_derivatives_by_time_and_by_a_discrete_state(instantiate: Callable[..., Any], path: Path) -> None:
    """All dependencies in the description are knowns of directional derivatives."""
    from fmpy import read_model_description
    from fmpy.fmi3 import FMU3Slave

    outputs = {u.variable.name: u for u in read_model_description(str(path)).outputs}
    assert {v.name for v in outputs["ramp.wave"].dependencies} == {"ramp.amplitude", "time"}
    with instantiate(FMU3Slave) as fmu:
        fmu.doStep(0.0, 0.7)
        references = fmu.references
        wave, before = (
            references["ramp.wave"],
            fmu.getFloat64([references["ramp.wave"], references["time"], references["ramp.level"]]),
        )
        by_time = fmu.getDirectionalDerivative([wave], [references["time"]], [1.0])
        assert by_time == pytest.approx([2.0 * math.cos(0.7)], rel=1e-8)
        by_both = fmu.getDirectionalDerivative(
            [wave], [references["time"], references["ramp.amplitude"]], [1.0, -3.0]
        )
        assert by_both == pytest.approx([2.0 * math.cos(0.7) - 3.0 * math.sin(0.7)], rel=1e-8)
        assert fmu.getFloat64([wave, references["time"], references["ramp.level"]]) == before
        with pytest.raises(Exception, match="fmi3GetDirectionalDerivative"):
            fmu.getDirectionalDerivative([references["ramp.level"]], [wave], [1.0])


@pytest.mark.parametrize("h", [0.25, 0.35])
def test_without_early_return_discrete_outputs_change_in_event_mode_only(
    instantiate: Callable[..., Any], h: float
) -> None:
    """Ticks inside a step are handled there; their effect is shown after the host has entered event mode."""
    from fmpy.fmi3 import FMU3Slave

    with instantiate(FMU3Slave, eventModeUsed=True, earlyReturnAllowed=False) as fmu:
        samples, level = fmu.references["ramp.samples"], fmu.references["ramp.level"]
        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        counts, shown_count = [], fmu.getInt64([samples])
        for i in range(6):
            count_before = fmu.getInt64([samples])
            needed, _, returned_early, time = fmu.doStep(i * h, h)
            assert not returned_early and time == pytest.approx((i + 1) * h, abs=1e-12)
            assert fmu.getInt64([samples]) == count_before  # in step mode nothing discrete changes
            assert 0.0 <= fmu.getFloat64([level])[0] <= 1.0  # continuous variables do
            if needed:
                fmu.enterEventMode()
                while fmu.updateDiscreteStates()[0]:
                    pass
                shown_count = fmu.getInt64([samples])
                fmu.enterStepMode()
            assert fmu.getInt64([samples]) == shown_count
            counts.append(shown_count[0])
        offset, period = float(OFFSET), float(PERIOD)
        expected = [1 + math.floor(((i + 1) * h - offset) / period + 1e-9) for i in range(6)]
        assert counts == expected


def test_a_step_without_events_requests_no_event_mode(instantiate: Callable[..., Any]) -> None:
    from fmpy.fmi3 import FMU3Slave

    with instantiate(FMU3Slave, eventModeUsed=True, earlyReturnAllowed=False) as fmu:
        fmu.updateDiscreteStates()
        fmu.enterStepMode()
        assert fmu.doStep(0.0, 0.01)[0] is False


def test_clocks_can_be_left_out(tmp_path: Path) -> None:
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    model = cosim.Model("ramp")
    model.add(Ramp, "ramp")
    path = export_native(model, tmp_path / "ramp.fmu", fmi=3, clocks=False)
    assert validate_fmu(str(path)) == []
    assert "Clock" not in {v.type for v in read_model_description(str(path)).modelVariables}

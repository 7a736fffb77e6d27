"""Intermediate updates of native FMUs for FMI 3.0: early returns, inputs that are set inside a step."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

from native_slave import MERSON, path, slave
from native_tools import InProcess, needs_compiler, oscillator

assert path and slave  # fixtures
pytestmark = needs_compiler


def test_a_host_returns_early_from_an_intermediate_update(slave: Any) -> None:
    from fmpy.fmi3 import fmi3IntermediateUpdateCallback

    updates: list[tuple[float, bool]] = []

    def update(
        environment: Any,
        time: float,
        may_set: bool,
        may_get: bool,
        step_finished: bool,
        can_return: bool,
        returns_early: Any,
        return_time: Any,
    ) -> None:
        updates.append((time, can_return))
        if can_return and time >= 0.05:
            returns_early[0] = True
            return_time[0] = time

    callback = fmi3IntermediateUpdateCallback(update)
    slave.instantiate(eventModeUsed=True, earlyReturnAllowed=True, intermediateUpdate=callback)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    assert slave.updateDiscreteStates()[:2] == (False, False)
    slave.enterStepMode()
    _, _, returned_early, time = slave.doStep(0.0, 0.5)
    assert updates and time == updates[-1][0] and returned_early == (time < 0.5)
    slave.enterEventMode()
    slave.enterStepMode()


def test_inputs_are_set_and_other_calls_refused_in_an_intermediate_update(slave: Any, path: Path) -> None:
    from fmpy.fmi3 import fmi3IntermediateUpdateCallback

    with ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    updatable = {v.get("name") for v in root.iter("Float64") if v.get("intermediateUpdate") == "true"}
    assert {"osc.force", "osc.position"} <= updatable and "osc.mass" not in updatable

    # in the first update, try calls that are not allowed there
    force, update_times = slave.references["osc.force"], []
    mass, refused = slave.references["osc.mass"], []

    def update(
        environment: Any,
        time: float,
        may_set: bool,
        may_get: bool,
        step_finished: bool,
        can_return: bool,
        returns_early: Any,
        return_time: Any,
    ) -> None:
        assert may_set and may_get and step_finished
        slave.setFloat64([force], [math.sin(40.0 * time)])
        if not update_times:
            for call in (
                slave.reset,
                slave.getFMUState,
                slave.terminate,
                lambda: slave.doStep(time, 0.1),
                lambda: slave.setFloat64([mass], [3.0]),
            ):
                try:
                    call()
                except Exception:
                    refused.append(call)
        update_times.append(time)

    slave.instantiate(intermediateUpdate=fmi3IntermediateUpdateCallback(update))
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)

    # the same inputs after each integrator step of the run in Python
    in_python = InProcess(oscillator(), MERSON, 1e-6).start()
    assert in_python.simulator is not None
    times = []
    while in_python.state.time < 0.5:
        in_python.simulator.step(0.5)
        in_python["osc.force"] = math.sin(40.0 * in_python.state.time)
        times.append(in_python.state.time)
    assert update_times == times and len(times) > 5 and len(refused) == 5
    assert slave.all() == in_python.all()

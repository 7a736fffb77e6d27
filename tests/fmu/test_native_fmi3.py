"""Native FMUs for FMI 3.0: steps, requests to stop, arrays, errors, Model Exchange."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from native_slave import MERSON, path, slave
from native_tools import InProcess, export_native, needs_compiler, oscillator

import cosim

assert path and slave  # fixtures
pytestmark = needs_compiler


class Stopper(cosim.Component):
    """Requests to stop at its initialization."""

    level = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(level, level_dot):
        level_dot[0] = -level

    @cosim.on(cosim.EventCause.INITIALIZATION, does="publish")
    def stop():
        return 2


class Numbers(cosim.Component):
    """Parameters and nothing else."""

    weights = cosim.parameter(shape=(3,), default=(1.0, 2.0, 3.0))


def test_co_simulation_equals_the_run_in_python(slave: Any) -> None:
    slave.instantiate()
    force, x = slave.references["osc.force"], slave.references["osc.x"]
    slave.setFloat64([x], [0.25])
    slave.enterInitializationMode(startTime=0.0)
    slave.exitInitializationMode()
    in_python = InProcess(oscillator(), MERSON, 1e-6).start(**{"osc.x": 0.25})
    for i in range(40):
        in_python["osc.force"] = math.sin(0.3 * i)
        slave.setFloat64([force], [math.sin(0.3 * i)])
        needs_events, terminates, returned_early, time = slave.doStep(i * 0.01, 0.01)
        in_python.advance(i * 0.01 + 0.01)
        assert (needs_events, terminates, returned_early) == (
            False,
            False,
            False,
        ) and time == in_python.state.time
        assert slave.all() == in_python.all()

    # the same step again from a serialized state
    data = slave.serializeFMUState(slave.getFMUState())
    slave.doStep(0.4, 0.01)
    expected = slave.all()
    slave.setFMUState(slave.deserializeFMUState(data))
    slave.doStep(0.4, 0.01)
    assert slave.all() == expected


@pytest.mark.thorough
def test_a_request_to_stop_at_the_start_is_reported_by_the_first_call_that_can(tmp_path: Path) -> None:
    """``updateDiscreteStates`` in event mode; without event mode the first step."""
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Model, FMU3Slave

    model = cosim.Model("stopper")
    model.add(Stopper, "stopper")
    path = export_native(model, tmp_path / "stopper.fmu", fmi=3)
    folder, description = extract(str(path), str(tmp_path / "fmu")), read_model_description(str(path))

    def started(kind: Any, **options: Any) -> Any:
        fmu = kind(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="model",
        )
        fmu.instantiate(**options)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        return fmu

    assert started(FMU3Model).updateDiscreteStates()[:2] == (False, True)
    assert started(FMU3Slave, eventModeUsed=True).updateDiscreteStates()[:2] == (False, True)
    slave = started(FMU3Slave)
    assert slave.doStep(0.0, 0.1) == (False, True, False, 0.0)  # the host allows no early return
    slave.terminate()
    assert started(FMU3Slave, earlyReturnAllowed=True).doStep(0.0, 0.1) == (False, True, True, 0.0)


@pytest.mark.thorough
def test_a_model_of_parameters_only(tmp_path: Path) -> None:
    from fmpy import simulate_fmu

    model = cosim.Model("numbers")
    model.add(Numbers, "numbers")
    path = export_native(model, tmp_path / "numbers.fmu", fmi=3)
    for kind in ("CoSimulation", "ModelExchange"):
        rows = simulate_fmu(str(path), fmi_type=kind, stop_time=1.0, output=["numbers.weights"])
        assert rows["time"][-1] == 1.0 and rows["numbers.weights"][-1].tolist() == [1.0, 2.0, 3.0]


def test_unsupported_types_modes_and_wrong_sizes_are_errors(slave: Any) -> None:
    slave.instantiate(loggingOn=True)
    library, instance = ctypes.CDLL(slave.dll._name), ctypes.c_void_p(slave.component)
    numbers = (ctypes.c_double * 2)()
    references = (ctypes.c_uint32 * 2)(slave.references["osc.force"], slave.references["osc.mass"])
    two = ctypes.c_size_t(2)
    assert library.fmi3GetFloat64(instance, references, two, numbers, ctypes.c_size_t(1)) == 3
    assert library.fmi3GetFloat64(instance, references, two, numbers, two) == 0
    assert library.fmi3GetFloat64(instance, None, two, None, two) == 3
    for name in ("fmi3GetInt8", "fmi3SetBoolean", "fmi3GetString", "fmi3SetUInt64"):
        assert getattr(library, name)(instance, references, two, numbers, two) == 3
    for mode in ("Configuration", "Event", "ContinuousTime", "Step"):
        assert getattr(library, f"fmi3Enter{mode}Mode")(instance) == 3
    assert library.fmi3SetFMUState(instance, None) == 3
    adjoint = (references, two, references, two, numbers, two, numbers, two)
    assert library.fmi3GetAdjointDerivative(instance, *adjoint) == 3
    assert library.fmi3GetFloat64(None, references, two, numbers, two) == 3


def test_model_exchange_in_fmpy(path: Path) -> None:
    from fmpy import simulate_fmu
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    rows = simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=1.0, relative_tolerance=1e-9, output=["osc.position"]
    )
    in_python = InProcess(oscillator(), MERSON, 1e-10).start()
    in_python.advance(1.0)
    assert rows["osc.position"][-1] == pytest.approx(in_python["osc.position"], rel=1e-6)


def test_arrays_are_described_read_and_set_as_one_variable(slave: Any, path: Path) -> None:
    # in the description
    with ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    shapes = {
        v.get("name"): ([d.get("start") for d in v.iter("Dimension")], v.get("start"))
        for v in root.iter("Float64")
        if v.find("Dimension") is not None
    }
    assert shapes == {
        "osc.wind": (["2"], "0.0 0.0"),
        "osc.places": (["3"], f"0.1 0.2 {0.1 + 0.2!r}"),
        "osc.turn": (["2", "2"], "1.0 2.0 3.0 4.0"),
    }

    # set and read before initialization; a call that is refused sets nothing
    places, wind, mass = (slave.references[f"osc.{name}"] for name in ("places", "wind", "mass"))
    slave.instantiate(loggingOn=True)
    slave.setFloat64([mass, places], [3.0, 7.0, 8.0, 9.0])
    assert slave.getFloat64([places, mass, wind], 6) == [7.0, 8.0, 9.0, 3.0, 0.0, 0.0]
    for references, values in (
        ([places, mass], [1.0, 2.0, math.nan, 4.0]),  # one bad value
        ([places, mass], [1.0, 2.0, 3.0, 0.0]),  # below its minimum
        ([places], [1.0, 2.0]),
        ([places + 1], [1.0]),  # an element has no reference
    ):
        with pytest.raises(Exception, match="fmi3SetFloat64 failed with status 3"):
            slave.setFloat64(references, values)
    assert slave.getFloat64([places, mass], 4) == [7.0, 8.0, 9.0, 3.0]

    # in a step, compared with the run in Python
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.setFloat64([wind], [1.5, -0.25])
    slave.doStep(0.0, 0.1)
    in_python = InProcess(oscillator(), MERSON, 1e-6)
    for i, value in enumerate((7.0, 8.0, 9.0), start=1):
        in_python[f"osc.places[{i}]"] = value
    in_python.start(**{"osc.mass": 3.0})
    in_python["osc.wind[1]"], in_python["osc.wind[2]"] = 1.5, -0.25
    in_python.advance(0.1)
    assert slave.all() == in_python.all()

    # directional derivatives: the acceleration is (wind[1] - wind[2] + …) / mass
    acceleration = slave.references["osc.acceleration"]
    slave.setFloat64([wind], [0.0, 0.0])
    derivative = slave.getDirectionalDerivative([acceleration], [wind], [1.0, 1.0])
    assert derivative == pytest.approx([0.0], abs=1e-9)
    derivative = slave.getDirectionalDerivative([acceleration], [wind], [1.0, -1.0])
    assert derivative == pytest.approx([2.0 / 3.0])

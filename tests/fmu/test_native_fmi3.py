"""Native FMUs for FMI 3.0: steps, intermediate update, derivatives, arrays, errors, Model Exchange."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import ZipFile

import fmpy
import numpy as np
import pytest
from native_tools import InProcess, export_native, needs_compiler, oscillator

import cosim

pytestmark = needs_compiler
MERSON = "integrators.runge_kutta_merson"


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


class Ring(cosim.Component):
    """Law: y_i' = -k_i y_i^3 + k_(i+1) sin t, of a hundred states."""

    k = cosim.parameter(shape=100, default=1.0 + 0.01 * np.arange(100.0))
    y = cosim.auxiliary_state(shape=100, start=np.full(100, 0.3))

    @cosim.kernel
    def derivatives(t, k, y, y_dot):
        for i in range(100):
            y_dot[i] = -k[i] * y[i] * y[i] * y[i] + k[(i + 1) % 100] * math.sin(t)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_native(
        oscillator(), tmp_path_factory.mktemp("native3") / "oscillator.fmu", fmi=3, exact_derivatives=True
    )


@pytest.fixture
def slave(path: Path, tmp_path: Path) -> Iterator[Any]:
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Slave

    description = read_model_description(str(path))
    fmu = FMU3Slave(
        guid=description.guid,
        unzipDirectory=extract(str(path), str(tmp_path / "fmu")),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="model",
    )
    # two attributes more: value references by name, and the values of all variables of type Float64
    fmu.references = {v.name: v.valueReference for v in description.modelVariables}
    floats = [v for v in description.modelVariables if v.type == "Float64" and v.causality != "independent"]
    sizes = [math.prod(int(d.start) for d in v.dimensions) for v in floats]
    fmu.all = lambda: fmu.getFloat64([v.valueReference for v in floats], sum(sizes))
    yield fmu
    fmu.freeInstance()


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
    in_python = InProcess(oscillator(), MERSON, 1e-6).start()
    assert in_python.simulator is not None
    times = []
    while in_python.state.time < 0.5:
        in_python.simulator.step(0.5)
        in_python["osc.force"] = math.sin(40.0 * in_python.state.time)
        times.append(in_python.state.time)
    assert update_times == times and len(times) > 5 and len(refused) == 5
    assert slave.all() == in_python.all()


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


def test_adjoint_derivatives_are_the_transposed_directional_ones(slave: Any) -> None:
    slave.instantiate()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    library, instance = ctypes.CDLL(slave.dll._name), ctypes.c_void_p(slave.component)
    unknowns = [slave.references[name] for name in ("der(osc.v)", "osc.position")]
    knowns = [slave.references[name] for name in ("osc.x", "osc.v", "osc.force")]

    def derivative(name: str, seed: list[float], size: int) -> list[float]:
        values = (ctypes.c_double * size)()
        status = getattr(library, name)(
            instance,
            *((ctypes.c_uint32 * 2)(*unknowns), ctypes.c_size_t(2)),
            *((ctypes.c_uint32 * 3)(*knowns), ctypes.c_size_t(3)),
            *(
                (ctypes.c_double * len(seed))(*seed),
                ctypes.c_size_t(len(seed)),
                values,
                ctypes.c_size_t(size),
            ),
        )
        assert status == 0
        return list(values)

    columns = [derivative("fmi3GetDirectionalDerivative", unit, 2) for unit in np.eye(3).tolist()]
    assert columns == [[-25.0, 1.0], [-0.2, 0.0], [0.5, 0.0]]
    rows = derivative("fmi3GetAdjointDerivative", [2.0, -3.0], 3)
    assert rows == pytest.approx([2.0 * a - 3.0 * b for a, b in columns], rel=1e-15)


def test_an_adjoint_derivative_costs_a_few_directional_ones(tmp_path: Path) -> None:
    """By a hundred parameters far less than a hundred directional ones; the bound of 20 is generous."""
    model = cosim.Model("ring")
    model.add(Ring(), "x")
    selection = {"all": False, "outputs": ["x.y"], "expose": ["x.y"], "parameters": ["x.k"]}
    path = export_native(model, tmp_path / "ring.fmu", fmi=3, exact_derivatives=True, **selection)
    description = fmpy.read_model_description(str(path))
    references = {v.name: v.valueReference for v in description.modelVariables}
    slave = fmpy.instantiate_fmu(fmpy.extract(str(path)), description, "CoSimulation")
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.5)
    library, instance = ctypes.CDLL(slave.dll._name), ctypes.c_void_p(slave.component)
    unknowns, knowns = ((ctypes.c_uint32 * 1)(references[name]) for name in ("der(x.y)", "x.k"))
    one, hundred = ctypes.c_size_t(1), ctypes.c_size_t(100)

    def derivative(name: str, seed: np.ndarray) -> list[float]:
        values, seed_values = (ctypes.c_double * 100)(), (ctypes.c_double * 100)(*seed)
        assert (
            getattr(library, name)(
                instance, unknowns, one, knowns, one, seed_values, hundred, values, hundred
            )
            == 0
        )
        return list(values)

    weights = np.linspace(-1.0, 1.0, 100)
    columns = [derivative("fmi3GetDirectionalDerivative", unit) for unit in np.eye(100)]
    expected = [float(np.dot(column, weights)) for column in columns]
    assert derivative("fmi3GetAdjointDerivative", weights) == pytest.approx(expected, rel=1e-13, abs=1e-15)
    seconds = {}
    for name in ("fmi3GetDirectionalDerivative", "fmi3GetAdjointDerivative"):
        start = time.process_time()
        for _ in range(200):
            derivative(name, weights)
        seconds[name] = time.process_time() - start
    assert seconds["fmi3GetAdjointDerivative"] < 20 * seconds["fmi3GetDirectionalDerivative"]
    slave.terminate()
    slave.freeInstance()


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

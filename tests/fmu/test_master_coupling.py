"""Participants together: exactness, order, checks, failures."""

import _thread
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, CoSimulationError, StopRequested
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.coupling.unit_conversion import conversion_of

MakeFmu = Callable[..., Path]
ALGORITHMS = [Jacobi, GaussSeidel]
TWO_MASSES = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "right.k": 3.0}


class Block(cosim.Participant):
    """A Python object as a participant: outputs are functions of time, inputs and a state."""

    def __init__(
        self,
        outputs: Mapping[str, Callable[..., Any]],
        inputs: Sequence[str] = (),
        *,
        units: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
        feedthrough: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.outputs, self.feedthrough = outputs, feedthrough
        self.values: dict[str, Any] = dict.fromkeys(inputs, 0.0)
        self.units, self.types = units or {}, types or {}
        self.calls: list[tuple[str, Any]] = []
        self.time = 0.0

    def describe(self) -> kit.ParticipantDescription:
        names = {**dict.fromkeys(self.outputs, "output"), **dict.fromkeys(self.values, "input")}
        variables = {
            n: kit.ParticipantVariable(n, c, self.types.get(n, "real"), self.units.get(n, "1"))
            for n, c in names.items()
        }
        return kit.ParticipantDescription("Python object", variables, self.feedthrough)

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        self.time = start
        self.values.update(values)
        self.calls.append(("initialize", start))

    def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self.values.update(zip(names, values, strict=True))

    def get(self, names: Sequence[str]) -> list[Any]:
        return [self.outputs[name](self.time, **self.values) for name in names]

    def step(self, time: float, size: float) -> float:
        self.calls.append(("step", time))
        self.time = time + size
        return self.time

    def close(self) -> None:
        self.calls.append(("close", self.time))


def two_masses(make_fmu: MakeFmu, algorithm: Any, step: float, **more: Any) -> CoSimulation:
    path = make_fmu("mass")
    return CoSimulation({"left": path, "right": path}, TWO_MASSES, algorithm, step, starts=SPRINGS, **more)


def exact(time: float) -> np.ndarray:
    a = np.array([[0, 1, 0, 0], [-3, -0.1, 2, 0.1], [0, 0, 0, 1], [2, 0.1, -5, -0.1]])
    return expm(a * time) @ np.array([1.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_two_masses_converge_to_the_exact_solution_in_first_order(make_fmu: MakeFmu, algorithm: Any) -> None:
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        result = two_masses(make_fmu, algorithm, step).simulate(2.0)
        reached = [result[name][-1] for name in ("left.x", "left.v", "right.x", "right.v")]
        errors.append(np.max(np.abs(reached - exact(2.0))))
    assert errors[-1] < 5e-3
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(1.0, abs=0.05)


def test_jacobi_does_not_depend_on_the_order_of_participants(make_fmu: MakeFmu) -> None:
    path = make_fmu("mass")
    results = [
        CoSimulation(dict.fromkeys(names, path), TWO_MASSES, Jacobi, 1e-2, starts=SPRINGS).simulate(0.5)
        for names in (["left", "right"], ["right", "left"])
    ]
    for name in results[0].names:
        assert np.array_equal(results[0][name], results[1][name])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_two_runs_are_identical(make_fmu: MakeFmu, algorithm: Any) -> None:
    loop = two_masses(make_fmu, algorithm, 1e-2)
    first, second = loop.simulate(0.5), loop.simulate(0.5)
    assert all(np.array_equal(first[name], second[name]) for name in first.names)
    assert np.array_equal(first.time, second.time)


@pytest.mark.parametrize(("start", "until", "step"), [(0.0, 1.0, 0.1), (0.3, 1.0, 0.07), (-1.0, 2.0, 1e-3)])
def test_communication_points_are_products_on_paper(start: float, until: float, step: float) -> None:
    block = Block({"y": lambda time: time})
    result = CoSimulation({"a": block}, step=step, algorithm=Jacobi, start=start).simulate(until)
    count = len(result.time) - 1
    first, more = Fraction(repr(start)), Fraction(repr(step))
    assert result.time[:-1].tolist() == [float(first + i * more) for i in range(count)]
    assert result.time[-1] == until
    assert [t for name, t in block.calls if name == "step"] == result.time[:-1].tolist()
    # adding time and size leads a participant to that very point; sums of the step would drift from it
    assert result["a.y"].tolist() == result.time.tolist()


@pytest.mark.parametrize(
    ("until", "step", "count"),
    [
        (0.3, 0.1, 3),
        (0.7, 0.1, 7),
        (1.1, 0.1, 11),
        (1.0, 0.3, 4),
        (0.0, 0.1, 0),
        (2.0, 1e-4, 20_000),
        (1e-3, 1e9, 1),
    ],
)
def test_number_of_steps(until: float, step: float, count: int) -> None:
    points = CommunicationPoints(0.0, until, step)
    assert points.count == count
    assert points.time(count) == until


def test_times_that_make_no_sense() -> None:
    with pytest.raises(cosim.ModelError, match=r"step.*-1\.0 s.*\nuntil"):
        CommunicationPoints(0.0, float("nan"), -1.0)
    with pytest.raises(cosim.ModelError, match="too small"):
        CommunicationPoints(0.0, 1.0, 1e-300)


def test_values_at_the_start_pass_through_a_chain_in_one_go() -> None:
    direct = {"y": frozenset({"u"})}
    chain = {f"b{i}": Block({"y": lambda time, u: u + 1.0}, ["u"], feedthrough=direct) for i in (3, 1, 2)}
    chain["b0"] = Block({"y": lambda time: 10.0}, feedthrough={"y": frozenset()})
    wires = [("b0.y", "b1.u"), ("b1.y", "b2.u"), ("b2.y", "b3.u")]
    for algorithm in ALGORITHMS:
        loop = CoSimulation(chain, wires, algorithm, 0.1)
        result = loop.simulate(0.2)
        assert [result[f"b{i}.y"][0] for i in range(4)] == [10.0, 11.0, 12.0, 13.0]
    assert loop.order == ("b0", "b1", "b2", "b3")


def test_order_follows_direct_feedthrough() -> None:
    """The controller depends directly on what it reads; the plant does not: its output is known already."""
    plant = Block({"felt": lambda time, force: time}, ["force"], feedthrough={"felt": frozenset()})
    control = Block(
        {"force": lambda time, speed: -speed}, ["speed"], feedthrough={"force": frozenset({"speed"})}
    )
    wires = [("plant.felt", "controller.speed"), ("controller.force", "plant.force")]
    loop = CoSimulation({"plant": plant, "controller": control}, wires, GaussSeidel, 0.1)
    assert loop.order == ("controller", "plant")
    assert CoSimulation({"plant": plant, "controller": control}, wires, Jacobi, 0.1).order == (
        "plant",
        "controller",
    )


def loop_of_gains(
    make_fmu: MakeFmu, algorithm: Any, gain: float, *, dependencies: bool = True
) -> CoSimulation:
    path = make_fmu("gain", dependencies=dependencies)
    wires = [("a.y", "b.u"), ("b.y", "a.u")]
    starts = {"a.gain": gain, "b.gain": 1.0, "b.bias": 1.0}
    return CoSimulation({"a": path, "b": path}, wires, algorithm, 0.1, starts=starts)


@pytest.mark.parametrize("gain", [0.5, -0.9, -3.0, 7.0])
def test_loop_of_direct_feedthrough_is_solved_at_the_start(make_fmu: MakeFmu, gain: float) -> None:
    result = loop_of_gains(make_fmu, Jacobi, gain).simulate(0.0)
    assert result["a.y"][0] == pytest.approx(gain / (1.0 - gain), rel=1e-9)
    assert result["b.y"][0] == pytest.approx(1.0 / (1.0 - gain), rel=1e-9)


def test_loop_without_solution_is_reported_with_path_and_residuals(make_fmu: MakeFmu) -> None:
    with pytest.raises(
        CoSimulationError,
        match=r"a\.y → b\.u → b\.y → a\.u → a\.y.*40 substitutions.*1",
    ):
        loop_of_gains(make_fmu, Jacobi, 1.0).simulate(1.0)


def test_sequential_master_refuses_a_loop_that_is_declared(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.ModelError, match=r"closes a loop.*a\.y → b\.u → b\.y → a\.u → a\.y"):
        loop_of_gains(make_fmu, GaussSeidel(1), 0.5).order_participants()
    assumed = loop_of_gains(make_fmu, GaussSeidel, 0.5, dependencies=False)
    assert assumed.simulate(0.0)["a.y"][0] == pytest.approx(1.0, rel=1e-9)


def test_units_are_converted() -> None:
    source = Block({"x": lambda time: 2.0, "n": lambda time: 3}, units={"x": "km/h"}, types={"n": "integer"})
    sink = Block({}, ["v", "number"], units={"v": "m/s"})
    wires = [("source.x", "sink.v"), ("source.n", "sink.number")]
    result = CoSimulation({"source": source, "sink": sink}, wires, Jacobi, 0.5).simulate(1.0)
    assert result["sink.v"] == pytest.approx(2.0 / 3.6)
    assert result["sink.number"].tolist() == [3.0, 3.0, 3.0]
    assert result.units["sink.v"] == "m/s"


def test_units_that_an_fmu_defines(make_fmu: MakeFmu) -> None:
    units = '<Unit name="slug"><BaseUnit kg="1" m="1" s="-2" factor="10"/></Unit>'

    def odd(name: str, attributes: dict[str, str]) -> dict[str, str]:
        return {**attributes, "unit": "slug"} if name == "force" else attributes

    left = make_fmu("mass", name="odd", units=units, change=odd)
    wires = [("left.force", "right.f")]
    result = CoSimulation(
        {"left": left, "right": make_fmu("mass")}, wires, Jacobi, 0.1, starts={"left.kc": 2.0}
    ).simulate(0.1)
    assert result["left.force"][0] == 2.0
    assert result["right.f"][0] == 20.0
    with pytest.raises(cosim.ModelError, match=r"left\.force \[slug\] cannot feed right\.x_other \[m\]"):
        CoSimulation(
            {"left": left, "right": make_fmu("mass")}, [("left.force", "right.x_other")], Jacobi, 0.1
        )


def described(**units: tuple[tuple[int, ...], float, float]) -> kit.ParticipantDescription:
    return kit.ParticipantDescription("test", {}, unit_definitions=units)


PER_SECOND, RADIAN_PER_SECOND = (0, 0, -1, 0, 0, 0, 0, 0), (0, 0, -1, 0, 0, 0, 0, 1)
NEWTON = (1, 1, -2, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("given", "giver", "wanted", "taker", "factor"),
    [
        ("N", described(), "N", described(), 1.0),
        ("kN", described(), "N", described(), 1000.0),
        ("kN", described(kN=(NEWTON, 1000.0, 0.0)), "N", described(N=(NEWTON, 1.0, 0.0)), 1000.0),
        ("odd", described(odd=(NEWTON, 4.0, 0.0)), "odd", described(odd=(NEWTON, 2.0, 0.0)), 2.0),
        ("odd", described(), "odd", described(), 1.0),
        ("1", described(), "kN", described(), 1.0),
        ("turns", described(turns=(PER_SECOND, 2.0, 0.0)), "1/s", described(), 2.0),
    ],
)
def test_conversion_of_units(
    given: str,
    giver: kit.ParticipantDescription,
    wanted: str,
    taker: kit.ParticipantDescription,
    factor: float,
) -> None:
    assert conversion_of(given, giver, wanted, taker) == pytest.approx((factor, 0.0))


@pytest.mark.parametrize(
    ("given", "giver", "wanted"),
    [
        ("N", described(), "m"),
        ("turns", described(turns=(PER_SECOND, 1.0, 0.0)), "rad/s"),
        ("turns", described(turns=(RADIAN_PER_SECOND, 1.0, 0.0)), "Hz"),
        ("zero", described(zero=(NEWTON, 0.0, 0.0)), "N"),
        ("unknown", described(), "N"),
    ],
)
def test_units_that_do_not_go_together(given: str, giver: kit.ParticipantDescription, wanted: str) -> None:
    with pytest.raises(cosim.UnitError):
        conversion_of(given, giver, wanted, described())


def test_an_object_that_only_has_the_methods() -> None:
    class Own:
        def __init__(self) -> None:
            block = Block({"y": lambda time: time})
            for name in ("describe", "initialize", "set", "step", "get", "close"):
                setattr(self, name, getattr(block, name))

    result = CoSimulation({"a": Own()}, (), Jacobi, 0.5).simulate(1.0)
    assert result["a.y"].tolist() == [0.0, 0.5, 1.0]


def test_all_faults_of_the_wiring_at_once(make_fmu: MakeFmu) -> None:
    types = make_fmu("types")
    wires: list[Any] = [
        ("left.forse", "right.f"),
        ("left.f", "right.f"),
        ("left.x", "right.f"),
        ("left.force", "right.f"),
        ("lefd.force", "right.x_other"),
        ("left.force", "right.force"),
        ("types.real_out", "types.integer_in"),
        ("types.string_out", "left.f"),
        ("left",),
        ("left", "right.v_other"),
    ]
    path = make_fmu("mass")
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(
            {"left": path, "right": path, "types": types, "none": "missing.fmu", "odd": 3},  # type: ignore[dict-item]
            wires,
            "jacoby",
            "3 m",
            starts={"left.kx": 1.0, "right.k": "3 kg", "types.integer_in": 1.5, "left.force": 0.0},
        )
    text = str(caught.value)
    for part in [
        "connections[0].from: no output of left 'forse'. Nearest: force.",
        "connections[1].from: left.f is an input, needs an output. Outputs of left: x, v, force.",
        "connections[2]: left.x [m] cannot feed right.f [N]",
        "connections[3].to: right.f has a source already, connections[0]: an input has one source",
        "connections[4].from: no participant 'lefd'. Nearest: left.",
        "connections[5].to: right.force is an output, needs an input. Inputs of right: f, x_other, v_other.",
        "connections[6]: types.real_out is real, types.integer_in is integer: the types have to agree",
        "connections[7]: types.string_out is string, left.f is real",
        "connections[8]: is ('left',), needs two names",
        "connections[9].from: is 'left', needs participant.variable",
        "participants.left.parameters.kx: no variable of left 'kx'.",
        "participants.right.parameters.k: right.k ",
        "types.integer_in is 1.5, needs a value of type integer",
        "left.force is an output, which takes no start value",
        "participants.none: missing.fmu: no such file",
        "participants.odd: is a int, needs the path of an FMU",
        "master.step: ",
        "master.algorithm: no master algorithm 'fmu.jacoby'. Nearest: fmu.jacobi.",
    ]:
        assert part in text, f"{part}\n---\n{text}"


def test_a_single_bad_fmu_is_its_own_error() -> None:
    with pytest.raises(cosim.FmuError, match=r"^missing\.fmu: no such file$"):
        CoSimulation({"a": "missing.fmu"}, [("a.x", "a.y")])


def test_values_of_all_types_are_exchanged(make_fmu: MakeFmu) -> None:
    path = make_fmu("types")
    kinds = ("real", "integer", "boolean", "string")
    wires = [(f"a.{kind}_out", f"b.{kind}_in") for kind in kinds]
    texts: list[str] = []
    listener = Block({}, ["text"], types={"text": "string"})
    listener.set = lambda names, values: texts.append(values[0])  # type: ignore[method-assign]
    fmus: dict[str, Any] = {"a": path, "b": path, "listener": listener}
    starts = {"a.real_in": 1.5, "a.integer_in": 7, "a.boolean_in": True, "a.string_in": "über"}
    loop = CoSimulation(fmus, [*wires, ("b.string_out", "listener.text")], Jacobi, 0.1, starts=starts)
    result = loop.simulate(0.3)
    assert result["b.real_out"].tolist() == [0.0, 0.0, 1.5, 1.5]
    assert result["b.integer_out"].tolist() == [0, 1, 9, 9]
    assert result["b.boolean_out"].tolist() == [False, True, True, True]
    assert texts[-2:] == ["start", "über"]


def test_one_output_feeds_many_inputs() -> None:
    source = Block({"y": lambda time: time})
    sinks = {f"sink{i}": Block({}, ["u"]) for i in range(3)}
    wires = [("source.y", f"{name}.u") for name in sinks]
    result = CoSimulation({"source": source, **sinks}, wires, GaussSeidel, 0.25).simulate(1.0)
    for name in sinks:
        assert result[f"{name}.u"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_what_is_recorded(make_fmu: MakeFmu) -> None:
    loop = two_masses(make_fmu, Jacobi, 0.1)
    assert loop.simulate(0.1, record=["left.x", "*.k"]).names == ["left.x", "left.k", "right.k"]
    with pytest.raises(cosim.LookUpError, match="Nearest: left.x"):
        loop.simulate(0.1, record=["left.xx"])
    block = Block({"i": lambda time: 3, "b": lambda time: True}, types={"i": "integer", "b": "boolean"})
    result = CoSimulation({"a": block}, (), Jacobi, 0.5).simulate(0.5)
    assert (result["a.i"][-1], result["a.b"][-1]) == (3.0, 1.0)


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


def test_failing_constructor_frees_those_before(make_fmu: MakeFmu, tmp_path: Path) -> None:
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


def test_what_is_not_finite_is_not_passed_on() -> None:
    source = Block(
        {"y": lambda time: float("nan") if time > 0.15 else 1.0, "free": lambda time: float("inf")}
    )
    loop = CoSimulation({"a": source, "b": Block({}, ["u"])}, [("a.y", "b.u")], Jacobi, 0.1)
    with pytest.raises(CoSimulationError, match=r"= 0\.2.*nan: not passed.*b\.u"):
        loop.simulate(1.0)


def test_early_return_goes_on_to_the_communication_point(make_fmu: MakeFmu) -> None:
    starts = {"a.fail_at": 0.25, "a.fail_status": 2, "a.reached": 0.24}
    result = CoSimulation({"a": make_fmu("failing")}, (), Jacobi, 0.1, starts=starts).simulate(0.5)
    assert result["a.y"] == pytest.approx([0.0, 0.1, 0.2, 0.24, 0.3, 0.4, 0.5])
    assert (result.statistics["events"], result.statistics["retries"], result.statistics["steps"]) == (
        1,
        1,
        5,
    )
    (event,) = result.events
    assert (event.cause, event.time, event.handler) == (cosim.EventCause.TRIGGERED, 0.24, "a")


def test_request_to_stop_ends_in_good_order() -> None:
    class Stopping(Block):
        def step(self, time: float, size: float) -> float:
            if time + size > 0.5:
                raise StopRequested(0.52, "tank full")
            return super().step(time, size)

    other = Block({"y": lambda time: time})
    result = CoSimulation({"a": Stopping({}), "b": other}, (), Jacobi, 0.1).simulate(2.0)
    assert result.message == "a asked to stop at 0.52 s: tank full"
    assert result["b.y"][-1] == pytest.approx(0.6)
    assert result.events[0].cause is cosim.EventCause.TERMINATION
    assert other.calls[-1][0] == "close"


def test_participant_that_does_not_advance() -> None:
    class Stuck(Block):
        def step(self, time: float, size: float) -> float:
            return time

    with pytest.raises(CoSimulationError, match="came.*0.*0.*0.1"):
        CoSimulation({"a": Stuck({})}, (), Jacobi, 0.1).simulate(1.0)


def test_progress_is_told_and_may_stop() -> None:
    told: list[float] = []
    loop = CoSimulation({"a": Block({})}, (), Jacobi, 0.1)
    loop.simulate(1.0, progress=told.append)
    assert told[-1] == 1.0

    def stop(time: float) -> bool:
        return False

    loop = CoSimulation({"a": Block({})}, (), Jacobi, "1 us")
    assert loop.simulate(100.0, progress=stop).message.startswith("stopped at t = ")


def test_an_fmu_for_one_instance_is_not_used_twice(make_fmu: MakeFmu) -> None:
    path = make_fmu("gain", abilities='canBeInstantiatedOnlyOncePerProcess="true"')
    with pytest.raises(cosim.ModelError, match=r"participants\.b.*same FMU"):
        CoSimulation({"a": path, "b": path})

"""The compiled loop gives what the loop in Python gives, to the last bit."""

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from loop_in_python import loop_in_python

import cosim
from cosim import kit
from cosim_fmu.abilities import InnerPoint
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.adaptive import Adaptive
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.algorithms.waveform_iteration import WaveformIteration
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange import compiled_loop

MakeFmu = Callable[..., Path]
ABILITIES = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
SPRING = {"a.k": 3.0, "b.k": 2.0, "a.kc": 5.0, "b.cc": 0.5}
CROSSED = [("a.x", "b.x_other"), ("b.x", "a.x_other"), ("a.v", "b.v_other"), ("b.force", "a.f")]


class InPython:
    """An algorithm whose step is its own runs in the loop in Python."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)  # type: ignore[misc]


class PythonJacobi(InPython, Jacobi):
    pass


class PythonGaussSeidel(InPython, GaussSeidel):
    pass


def masses(fmu: Path, algorithm: Any, until: float = 0.7, **more: Any) -> cosim.Result:
    loop = CoSimulation({"a": fmu, "b": fmu}, CROSSED, algorithm, step=1e-3, starts=SPRING)
    return loop.simulate(until, **more)


@pytest.mark.parametrize(("fast", "slow"), [(Jacobi, PythonJacobi), (GaussSeidel, PythonGaussSeidel)])
def test_same_bytes_as_the_loop_in_python(make_fmu: MakeFmu, fast: Any, slow: Any) -> None:
    fmu = make_fmu("mass")
    one, other = masses(fmu, fast), masses(fmu, slow)
    assert one.statistics["loop"] == "compiled"
    assert other.statistics["loop"] == f"compiled ({slow.__name__} decides in Python)"
    assert one.time.tobytes() == other.time.tobytes()
    assert len(one) == 701
    for name in other.names:
        assert one[name].tobytes() == other[name].tobytes(), name
        assert np.ptp(one[name]) > 0.0


def same(one: cosim.Result, other: cosim.Result) -> None:
    """What was recorded, what happened, and what is said of the coupling."""
    assert one.time.tobytes() == other.time.tobytes()
    for name in other.names:
        if one[name].dtype == object:  # text
            assert one[name].tolist() == other[name].tolist(), name
        else:
            assert one[name].tobytes() == other[name].tobytes(), name
    assert [(e.time, e.cause, e.handler, e.message) for e in one.events] == [
        (e.time, e.cause, e.handler, e.message) for e in other.events
    ]
    assert one.statistics.get("algorithm") == other.statistics.get("algorithm")
    assert one.coupling.figures() == other.coupling.figures()  # type: ignore[attr-defined]


@pytest.mark.by_turns
@pytest.mark.parametrize("extrapolation", [1, 2])
@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize(("fast", "slow"), [(Jacobi, PythonJacobi), (GaussSeidel, PythonGaussSeidel)])
def test_extrapolation_gives_the_same_bytes(
    make_fmu: MakeFmu, fast: Any, slow: Any, follows: bool, extrapolation: int
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES + ' canInterpolateInputs="true"' * follows)
    one, other = (masses(fmu, kind(extrapolation=extrapolation)) for kind in (fast, slow))
    assert one.statistics["loop"] == "compiled"
    assert other.statistics["loop"].endswith("decides in Python)")
    same(one, other)


@pytest.mark.parametrize("extrapolation", [0, 1])
def test_corrected_bonds_give_the_same_bytes(make_fmu: MakeFmu, extrapolation: int) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    results = []
    for kind in (Jacobi, PythonJacobi):
        loop = CoSimulation(
            {"a": fmu, "b": fmu},
            CROSSED,
            kind(extrapolation=extrapolation, correction="bonds"),
            step=1e-2,
            starts=SPRING,
            bonds=[["a.v", "b.force"]],
        )
        results.append(loop.simulate(0.5))
    assert results[0].statistics["loop"] == "compiled"
    same(*results)


def in_python(kind: type, **options: Any) -> Any:
    """The same algorithm with a step of its own."""
    return type(kind.__name__, (InPython, kind), {})(**options)


def both(
    kind: type, options: dict[str, Any], make: Callable[[Any], CoSimulation], until: float, **more: Any
) -> cosim.Result:
    """Decided in compiled code, in Python, and all in Python: the same values, events, figures, errors."""
    found, errors = [], []
    for made, everything in (
        (kind(**options), False),
        (in_python(kind, **options), False),
        (kind(**options), True),
    ):
        loop, error = make(made), ""
        with loop_in_python() if everything else nullcontext():
            try:
                loop.simulate(until, **more)
            except cosim.SimulationError as failed:
                error = str(failed)
        assert loop.result is not None
        found.append(loop.result)
        errors.append(error)
    assert errors[0] == errors[1] == errors[2]
    assert found[0].statistics["loop"] == "compiled", errors
    assert found[1].statistics["loop"] == f"compiled ({kind.__name__} decides in Python)"
    same(found[0], found[2])
    same(found[1], found[2])
    return found[0]


GOING_BACK = [
    (WaveformIteration, {}),
    (WaveformIteration, {"hold": "mean"}),
    (WaveformIteration, {"hold": "end", "relaxation": 0.7}),
    (InterfaceNewton, {}),
    (Adaptive, {"tolerance": 1e-5}),
    (Adaptive, {"iterations": 2}),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), GOING_BACK)
@pytest.mark.parametrize("follows", [False, True])
def test_algorithms_that_go_back_give_the_same_bytes(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any], follows: bool
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES + ' canInterpolateInputs="true"' * follows)
    make = partial(CoSimulation, {"a": fmu, "b": fmu}, CROSSED, step=1e-2, starts=SPRING)
    result = both(kind, options, lambda algorithm: make(algorithm=algorithm), 0.3)
    assert len(result) == 31
    assert np.ptp(result["a.x"]) > 0.0


@pytest.mark.parametrize("kind", [WaveformIteration, InterfaceNewton])
def test_what_does_not_settle_is_named(make_fmu: MakeFmu, kind: type) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    make = partial(CoSimulation, {"a": fmu, "b": fmu}, CROSSED, step=1e-2, starts=SPRING)
    result = both(kind, {"iterations": 2, "tolerance": 1e-15}, lambda a: make(algorithm=a), 0.3)
    assert result.time[-1] < 0.3


# The size of the step is a value that it couples: a tolerance below it would let it fall and fall.
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kind", "options"), [(WaveformIteration, {}), (Adaptive, {"absolute_tolerance": 1e-3})]
)
def test_early_returns_in_what_is_taken_back(make_fmu: MakeFmu, kind: type, options: dict[str, Any]) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}

    def make(algorithm: Any) -> CoSimulation:
        parts = {"p": make_fmu("failing"), "a": make_fmu("mass"), "b": make_fmu("mass")}
        wires = [wire for wire in CROSSED if wire != ("a.v", "b.v_other")] + [("p.size", "b.v_other")]
        return CoSimulation(parts, wires, algorithm, step=1e-2, starts={**starts, **SPRING})

    result = both(kind, options, make, 0.1)
    assert [event.time for event in result.events] == [0.0255]


def test_discarded_steps_are_tried_shorter(make_fmu: MakeFmu) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0}
    fmu = make_fmu("failing", macros=("FAIL_SIZE=0.003",))
    make = partial(CoSimulation, {"p": fmu}, [], step=1e-2, starts=starts)
    result = both(Adaptive, {}, lambda algorithm: make(algorithm=algorithm), 0.1)
    assert result.statistics["algorithm"]["rejected"] > 0
    assert result.time[-1] == 0.1


def test_early_returns_on_lines(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("failing")
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}
    results = []
    for kind in (GaussSeidel, PythonGaussSeidel):
        parts = {"p": fmu, "m": make_fmu("mass", abilities=ABILITIES)}
        loop = CoSimulation(parts, [("p.size", "m.f")], kind(extrapolation=1), step=1e-2, starts=starts)
        results.append(loop.simulate(0.1))
    assert results[0].statistics["loop"] == "compiled"
    assert [event.time for event in results[0].events] == [0.0255]
    same(*results)


def test_what_is_not_finite_is_not_extrapolated(make_fmu: MakeFmu) -> None:
    messages = []
    for kind in (Jacobi, PythonJacobi):
        parts = {"a": make_fmu("mass"), "b": make_fmu("mass")}
        loop = CoSimulation(parts, CROSSED, kind(extrapolation=1), step=1.0, starts={"a.k": 1e40})
        with pytest.raises(cosim.SimulationError, match=r"not passed on to") as caught:
            loop.simulate(100.0)
        assert loop.result is not None
        messages.append((str(caught.value), len(loop.result)))
    assert messages[0] == messages[1]


def test_units_are_converted_on_the_way(make_fmu: MakeFmu) -> None:
    units = '<Unit name="mm"><BaseUnit m="1" factor="1e-3"/></Unit><Unit name="m"><BaseUnit m="1"/></Unit>'

    def in_millimetres(name: str, attributes: dict[str, str]) -> dict[str, str]:
        return {**attributes, "unit": "mm"} if name == "x_other" else attributes

    metres = make_fmu("mass", units=units)
    other = make_fmu("mass", name="mm", units=units, change=in_millimetres)
    for algorithm in (Jacobi, PythonJacobi):
        loop = CoSimulation({"a": metres, "b": other}, [("a.x", "b.x_other")], algorithm, step=1e-2)
        result = loop.simulate(0.1)
        assert result["b.x_other"][1:].tolist() == (1000.0 * result["a.x"][:-1]).tolist()


def test_who_is_called_in_python_is_named(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"kinds": make_fmu("types")}, [("kinds.integer_out", "kinds.integer_in")], step=0.1)
    statistics = loop.simulate(0.2).statistics
    assert statistics["loop"] == "compiled"
    assert statistics["in_python"] == {}  # only its text is read there
    model = cosim.Model("still")
    model.add("measures.constant", "one", value=1.0)
    loop = CoSimulation({"still": model}, [], step=0.1)
    text = "to load its compiled code takes longer than these few steps"
    assert loop.simulate(0.2).statistics["in_python"] == {"still": text}


def test_early_return_is_continued_and_compiled_steps_go_on(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("failing")
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}
    results = []
    for algorithm in (Jacobi, PythonJacobi):
        result = CoSimulation({"p": fmu}, [], algorithm, step=1e-2, starts=starts).simulate(0.1)
        assert [event.time for event in result.events] == [0.0255]
        assert result.statistics["retries"] == 1
        assert result.statistics["steps"] == 10
        results.append(result)
    assert results[0]["p.size"].tobytes() == results[1]["p.size"].tobytes()


@pytest.mark.parametrize("status", [3, 4])
def test_failure_keeps_the_results_up_to_it(make_fmu: MakeFmu, status: int) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": status}
    messages = []
    for algorithm in (Jacobi, PythonJacobi):
        loop = CoSimulation({"p": make_fmu("failing")}, [], algorithm, step=1e-2, starts=starts)
        with pytest.raises(
            CoSimulationError, match=f"fmi2DoStep.*{'error' if status == 3 else 'fatal'}"
        ) as caught:
            loop.simulate(0.1)
        assert loop.result is not None
        assert loop.result.time.tolist() == [0.0, 0.01, 0.02]
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_what_is_not_finite_is_not_passed_on(make_fmu: MakeFmu) -> None:
    lengths = []
    for algorithm in (Jacobi, PythonJacobi):
        parts = {"a": make_fmu("mass"), "b": make_fmu("mass")}
        loop = CoSimulation(parts, CROSSED, algorithm, step=1.0, starts={"a.k": 1e40})
        with pytest.raises(cosim.SimulationError, match=r"a.*x is -?(inf|nan): not passed on to b\.x_other"):
            loop.simulate(100.0)
        assert loop.result is not None
        lengths.append(len(loop.result))
    assert lengths[0] == lengths[1] > 1


def test_progress_may_stop_it(make_fmu: MakeFmu) -> None:
    seen: list[float] = []

    def stop(time: float) -> bool:
        seen.append(time)
        return time < 50.0

    result = masses(make_fmu("mass"), "jacobi", until=5000.0, progress=stop)
    assert result.statistics["loop"] == "compiled"
    assert 50.0 <= result.time[-1] == seen[-1] < 5000.0
    assert result.message.startswith("stopped at t = ")


@pytest.mark.parametrize("points", [CommunicationPoints(0.1, 1.0, 0.3), CommunicationPoints(0.0, 1.0, 0.1)])
def test_many_points_are_the_single_ones(points: CommunicationPoints) -> None:
    assert points.times(0, points.count + 1).tolist() == [points.time(i) for i in range(points.count + 1)]
    assert points.times(1, 3).tolist() == [points.time(1), points.time(2)]


def spring(follows: bool = False) -> LinearParticipant:
    """A damped spring of Python: its force depends directly on its inputs."""
    nothing = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))
    return LinearParticipant((*nothing, [[-4.0, -0.4]]), ["x", "v"], ["f"], [], follows)


ALL = [
    *((Jacobi, {"extrapolation": order}) for order in (0, 1)),
    *((GaussSeidel, {"extrapolation": order}) for order in (0, 2)),
    *GOING_BACK,
]
ONE_OF_EACH_KIND = [
    pytest.param(*each, marks=[pytest.mark.thorough] * (each[0] in [kind for kind, _ in ALL[:i]]))
    for i, each in enumerate(ALL)
]
"""In a short run."""


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ALL)
@pytest.mark.parametrize("follows", [False, True])
def test_participants_of_python_are_called_at_their_place(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any], follows: bool
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    wires = ["mass.x -> spring.x", "mass.v -> spring.v", "spring.f -> mass.f"]

    def make(algorithm: Any) -> CoSimulation:
        return CoSimulation({"mass": fmu, "spring": spring(follows)}, wires, algorithm, step=1e-2)

    result = both(kind, options, make, 0.3)
    assert np.ptp(result["mass.x"]) > 0.0


class Told(LinearParticipant):
    """Gives its directional derivatives."""

    def describe(self) -> kit.ParticipantDescription:
        return dataclasses.replace(super().describe(), has_derivatives=True)

    def directional_derivative(self, outputs: Any, inputs: Any, seed: Any) -> Any:
        assert list(outputs) == ["f"]
        return (self.d[:, [self.inputs.index(name) for name in inputs]] @ np.array(seed)).tolist()


def test_newton_asks_for_derivatives_once(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    nothing = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0))

    def make(algorithm: Any) -> CoSimulation:
        told = Told((*nothing, [[-4.0, -0.4]]), ["x", "v"], ["f"], [])
        wires = ["mass.x -> spring.x", "mass.v -> spring.v", "spring.f -> mass.f"]
        return CoSimulation({"mass": fmu, "spring": told}, wires, algorithm, step=1e-2)

    figures = both(InterfaceNewton, {}, make, 0.3).statistics["algorithm"]
    assert (figures["derivatives"], figures["jacobians"]) == (1, 0)


class Counter(LinearParticipant):
    """Counts its steps; an event in every third one, an early return in every fourth."""

    def describe(self) -> kit.ParticipantDescription:
        whole = kit.ParticipantVariable("count", "output", type="integer")
        odd = kit.ParticipantVariable("odd", "output", type="boolean")
        limit = kit.ParticipantVariable("limit", "input", type="integer")
        told = super().describe()
        return dataclasses.replace(
            told, variables={**told.variables, "count": whole, "odd": odd, "limit": limit}
        )

    def _begin(self, values: Any) -> None:
        super()._begin(values)
        self.count, self.limit, self._inside = 0, 0, list[InnerPoint]()

    def set(self, names: Any, values: Any) -> None:
        given = dict(zip(names, values, strict=True))
        if "limit" in given:
            self.limit = given.pop("limit")
            assert type(self.limit) is int
        super().set(list(given), list(given.values()))

    def step(self, time: float, size: float) -> float:
        if self.count % 4 == 3:
            self.count += 1
            return super().step(time, 0.5 * size)
        if self.count % 3 == 2:
            self._inside.append(InnerPoint(time + 0.25 * size, ("y", "count"), [7.0, self.count]))
        self.count += 1
        return super().step(time, size)

    def inside(self) -> list[InnerPoint]:
        found, self._inside = self._inside, []
        return found

    def get(self, names: Any) -> list[Any]:
        known = {"count": self.count, "odd": bool(self.count % 2)}
        return [known[name] if name in known else super(Counter, self).get([name])[0] for name in names]

    def save(self) -> Any:
        return super().save(), self.count, self.limit

    def restore(self, token: Any) -> None:
        linear, self.count, self.limit = token
        super().restore(linear)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ONE_OF_EACH_KIND)
def test_integers_events_and_early_returns_of_python(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any]
) -> None:
    wires = [
        ("mass.x", "it.u"),
        ("it.y", "mass.f"),
        ("kinds.integer_out", "it.limit"),
        ("it.count", "kinds.integer_in"),
    ]
    wires += [("it.odd", "kinds.boolean_in")]

    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        kinds = make_fmu("types", abilities=ABILITIES)
        return CoSimulation({"mass": make_fmu("mass"), "it": it, "kinds": kinds}, wires, algorithm, step=1e-2)

    record = ["mass.x", "mass.f", "it.*", "kinds.integer_*", "kinds.boolean_*"]
    result = both(kind, options, make, 0.2, record=record)
    assert result["it.count"][-1] > 20
    assert any("returned early" in event.message for event in result.events)
    assert (np.diff(result.time) == 0.0).any() or 7.0 in result["it.y"]


def test_an_error_of_python_keeps_what_was_before(make_fmu: MakeFmu) -> None:
    class Fails(LinearParticipant):
        def step(self, time: float, size: float) -> float:
            if time > 0.05:
                raise RuntimeError("no more")
            return super().step(time, size)

    def make(algorithm: Any) -> CoSimulation:
        it = Fails(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        wires = [("mass.x", "it.u"), ("it.y", "mass.f")]
        return CoSimulation({"mass": make_fmu("mass"), "it": it}, wires, algorithm, step=1e-2)

    result = both(Jacobi, {}, make, 0.2)
    assert result.time[-1] < 0.07


@pytest.mark.parametrize(("kind", "options"), ONE_OF_EACH_KIND)
def test_integers_and_booleans_of_fmus(make_fmu: MakeFmu, kind: type, options: dict[str, Any]) -> None:
    wires = [("one.integer_out", "two.integer_in"), ("two.boolean_out", "one.boolean_in")]
    wires += [("one.real_out", "two.real_in"), ("two.real_out", "one.real_in")]
    starts = {"one.integer_in": -7, "two.boolean_in": True, "one.real_in": 0.5}

    def make(algorithm: Any) -> CoSimulation:
        fmu = make_fmu("types", abilities=ABILITIES)
        return CoSimulation({"one": fmu, "two": fmu}, wires, algorithm, step=1e-2, starts=starts)

    record = [
        f"{part}.{name}_{way}"
        for part in ("one", "two")
        for name in ("integer", "boolean", "real")
        for way in ("in", "out")
        if (part, name, way) not in {("one", "integer", "in"), ("two", "boolean", "in")}
    ]
    result = both(kind, options, make, 0.1, record=record)
    assert result["two.integer_in"].tolist()[-1] == result["one.integer_out"][-1]
    assert result["one.boolean_in"].dtype == bool


def test_an_integer_that_is_none_is_named(make_fmu: MakeFmu) -> None:
    class Halves(Counter):
        def get(self, names: Any) -> list[Any]:
            return [
                2.5 if name == "count" and self.count > 4 else super(Halves, self).get([name])[0]
                for name in names
            ]

    def make(algorithm: Any) -> CoSimulation:
        it = Halves(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        parts = {"it": it, "kinds": make_fmu("types")}
        return CoSimulation(parts, [("it.count", "kinds.integer_in")], algorithm, step=1e-2)

    result = both(Jacobi, {}, make, 0.2, record=["it.y", "kinds.integer_in"])
    assert 0.0 < result.time[-1] < 0.1


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "options"), ALL)
@pytest.mark.parametrize("events", [False, True])
def test_fmi3_with_event_mode_and_small_types(
    tmp_path: Path, compiled: Any, kind: type, options: dict[str, Any], events: bool
) -> None:
    path = make_box3(tmp_path, compiled, events=events)
    wires = [("one.x", "two.u"), ("two.x", "one.u")]
    if not events:  # discrete inputs are written in event mode, which Python does
        wires += [("one.byte_out", "two.byte_in"), ("two.flag_out", "one.flag_in")]
    starts = {"one.ring_at": 0.053, "one.byte_in": -5, "two.flag_in": True}

    def make(algorithm: Any) -> CoSimulation:
        return CoSimulation({"one": path, "two": path}, wires, algorithm, step=1e-2, starts=starts)

    record = [f"{part}.{name}" for part in ("one", "two") for name in ("x", "u", "rings")]
    result = both(kind, options, make, 0.1, record=record + ["two.byte_in", "one.flag_in"] * (not events))
    if events:
        assert result["one.rings"][-1] > 0
    else:
        assert result["two.byte_in"][-1] == -5
        assert result["one.flag_in"][-1]


def test_few_rows_at_once(make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = masses(make_fmu("mass"), "jacobi", until=2.0)
    monkeypatch.setattr(compiled_loop, "MOST_VALUES_AT_ONCE", 1)
    same(masses(make_fmu("mass"), "jacobi", until=2.0), whole)


MAPS: list[dict[str, Any]] = [
    {"from": "it.count", "to": "kinds.integer_in", "map": {0: 7, 1: 0, 2: -2, 3: 3}},
    {"from": "it.count", "to": "it.u", "map": {0: 0.5, 3: -1}, "factor": 2.0, "offset": 1.0},
    {"from": "it.odd", "to": "kinds.boolean_in", "map": {"true": False, "false": True}},
    {"from": "kinds.boolean_out", "to": "it.limit", "map": {"true": 5, "false": 5}},
    {"from": "it.odd", "to": "it.limit", "map": {}},
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ALL)
@pytest.mark.parametrize("given", MAPS, ids=lambda given: f"{given['from']} {given['to']}")
def test_mapped_connections(
    make_fmu: MakeFmu, given: dict[str, Any], kind: type, options: dict[str, Any]
) -> None:
    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        parts = {"it": it, "kinds": make_fmu("types", abilities=ABILITIES), "mass": make_fmu("mass")}
        wires = [given, ("mass.x", "kinds.real_in"), *[("mass.x", "it.u")] * (given["to"] != "it.u")]
        return CoSimulation(parts, wires, algorithm, step=1e-2)

    result = both(kind, options, make, 0.1, record=["it.y", "it.count", given["to"], "kinds.real_in"])
    assert given["to"] == "it.limit" or np.unique(result[given["to"]]).size > 1


def test_what_is_no_boolean_is_named_where_it_comes(make_fmu: MakeFmu) -> None:
    def make(algorithm: Any) -> CoSimulation:
        it = Counter(([[-1.0]], [[-3.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        wires = [
            {"from": "it.count", "to": "kinds.boolean_in", "map": {2: True, 3: False}},
            ("it.y", "kinds.real_in"),
            ("kinds.real_out", "it.u"),
        ]
        return CoSimulation({"it": it, "kinds": make_fmu("types")}, wires, algorithm, step=1e-2)

    result = both(Jacobi, {}, make, 0.2, record=["kinds.boolean_in", "it.count"])
    assert result.time[-1] == 0.04
    assert result["it.count"][-1] == 5  # the fourth step returned early

"""Coupled participants: convergence, order of steps, start values, exchange, checks of connections."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_block import Block
from scipy.linalg import expm

import cosim
from cosim_fmu import CoSimulation, CoSimulationError
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.coupling.run_settings import CommunicationPoints

MakeFmu = Callable[..., Path]
ALGORITHMS = [Jacobi, GaussSeidel]
TWO_MASSES = [("left.force", "right.f"), ("right.x", "left.x_other"), ("right.v", "left.v_other")]
SPRINGS = {"left.kc": 2.0, "left.cc": 0.1, "right.k": 3.0}


def two_masses(make_fmu: MakeFmu, algorithm: Any, step: float) -> CoSimulation:
    path = make_fmu("mass")
    return CoSimulation({"left": path, "right": path}, TWO_MASSES, algorithm, step, starts=SPRINGS)


def exact(time: float) -> np.ndarray:
    """Position and speed of the left mass, then of the right one, of `two_masses`."""
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
def test_two_runs_of_one_co_simulation_are_identical(make_fmu: MakeFmu, algorithm: Any) -> None:
    loop = two_masses(make_fmu, algorithm, 1e-2)
    first_run, second_run = loop.simulate(0.5), loop.simulate(0.5)
    assert all(np.array_equal(first_run[name], second_run[name]) for name in first_run.names)
    assert np.array_equal(first_run.time, second_run.time)


@pytest.mark.parametrize(("start", "until", "step"), [(0.0, 1.0, 0.1), (0.3, 1.0, 0.07), (-1.0, 2.0, 1e-3)])
def test_communication_points_are_multiplied_exactly_and_rounded_once(
    start: float, until: float, step: float
) -> None:
    block = Block({"y": lambda time: time})
    result = CoSimulation({"a": block}, step=step, algorithm=Jacobi, start=start).simulate(until)
    count = len(result.time) - 1
    exact_start, exact_step = Fraction(repr(start)), Fraction(repr(step))
    assert result.time[:-1].tolist() == [float(exact_start + i * exact_step) for i in range(count)]
    assert result.time[-1] == until
    assert [t for name, t in block.calls if name == "step"] == result.time[:-1].tolist()
    # time + size is that very point; summed steps would drift from it
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


def test_impossible_times_are_all_named() -> None:
    with pytest.raises(cosim.ModelError, match=r"step.*-1\.0 s.*\nuntil"):
        CommunicationPoints(0.0, float("nan"), -1.0)
    with pytest.raises(cosim.ModelError, match="too small"):
        CommunicationPoints(0.0, 1.0, 1e-300)


def test_start_values_pass_through_a_whole_chain() -> None:
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
    """The controller's output depends on its input of the same instant, the plant's does not."""
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


def test_gauss_seidel_with_extrapolation_refuses_declared_algebraic_loops(make_fmu: MakeFmu) -> None:
    with pytest.raises(cosim.ModelError, match=r"closes a loop.*a\.y → b\.u → b\.y → a\.u → a\.y"):
        loop_of_gains(make_fmu, GaussSeidel(1), 0.5).order_participants()
    undeclared = loop_of_gains(make_fmu, GaussSeidel, 0.5, dependencies=False)
    assert undeclared.simulate(0.0)["a.y"][0] == pytest.approx(1.0, rel=1e-9)


def test_an_object_with_the_methods_of_a_participant_needs_no_base_class() -> None:
    class PlainObject:
        def __init__(self) -> None:
            block = Block({"y": lambda time: time})
            for name in ("describe", "initialize", "set", "step", "get", "close"):
                setattr(self, name, getattr(block, name))

    result = CoSimulation({"a": PlainObject()}, (), Jacobi, 0.5).simulate(1.0)
    assert result["a.y"].tolist() == [0.0, 0.5, 1.0]


def test_all_wrong_connections_and_settings_are_named_at_once(make_fmu: MakeFmu) -> None:
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
    message = str(caught.value)
    for problem in [
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
        assert problem in message, f"{problem}\n---\n{message}"


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


def test_recorded_signals_are_selected_by_patterns(make_fmu: MakeFmu) -> None:
    loop = two_masses(make_fmu, Jacobi, 0.1)
    assert loop.simulate(0.1, record=["left.x", "*.k"]).names == ["left.x", "left.k", "right.k"]
    with pytest.raises(cosim.LookUpError, match="Nearest: left.x"):
        loop.simulate(0.1, record=["left.xx"])
    block = Block({"i": lambda time: 3, "b": lambda time: True}, types={"i": "integer", "b": "boolean"})
    result = CoSimulation({"a": block}, (), Jacobi, 0.5).simulate(0.5)
    assert (result["a.i"][-1], result["a.b"][-1]) == (3.0, 1.0)


def test_an_fmu_for_one_instance_is_not_used_twice(make_fmu: MakeFmu) -> None:
    path = make_fmu("gain", abilities='canBeInstantiatedOnlyOncePerProcess="true"')
    with pytest.raises(cosim.ModelError, match=r"participants\.b.*same FMU"):
        CoSimulation({"a": path, "b": path})

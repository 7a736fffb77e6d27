"""The interpreter of exchanges gives the bytes of the loop in Python, compiled and in plain Python."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from clocks3_fmu import make_clocks3
from compared_loops import assert_same_runs, in_python
from joint_systems import mixed
from loop_in_python import loop_in_python
from part_fmu import make_part
from python_block import Block
from talker import TYPES, talker

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.exchange import compiled_loop

Compiled = Callable[..., Path]
LEAST_STEPS = {"compiled": 0, "plain": 10**9}
"""From how many steps on the interpreter is compiled."""
PRINT_RESULT = """
import sys
from cosim_fmu import CoSimulation
wires = ["one.integer_out -> two.integer_in", "two.boolean_out -> one.boolean_in"]
loop = CoSimulation({"one": sys.argv[1], "two": sys.argv[1]}, wires, "jacobi", 0.01,
                    starts={"one.integer_in": -7, "two.boolean_in": True})
result = loop.simulate(0.05, record=["*.integer_*", "*.boolean_*", "*.string_out"])
print(result.statistics["loop"], sorted(result.statistics["in_python"]),
      {name: result[name].tolist() for name in result.names})
"""


def compare_loops(
    make: Callable[[], CoSimulation],
    until: float,
    monkeypatch: pytest.MonkeyPatch,
    **options: Any,
) -> cosim.Result:
    """The result of the compiled interpreter; plain, and by the loop in Python, it is the same."""
    results = []
    for least_steps in LEAST_STEPS.values():
        monkeypatch.setattr(compiled_loop, "FEW", least_steps)
        results.append(make().simulate(until, **options))
    with loop_in_python():
        expected = make().simulate(until, **options)
    for result in results:
        assert result.statistics["loop"].startswith("compiled")
        assert_same_runs(result, expected)
    return results[0]


def lag(gain: float, start: float) -> LinearParticipant:
    """A first-order lag; a gain other than 0 adds direct feedthrough."""
    return LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[gain]]], ["u"], ["y"], [start])


class BecomesRelay(LinearParticipant):
    """After 0.29 s its output y is that of a relay."""

    # an algebraic loop through the relay has no solution

    relay = False

    def step(self, time: float, size: float) -> float:
        self.relay = self.relay or time > 0.29
        return super().step(time, size)

    def get(self, names: Any) -> list[float]:
        values = dict(zip(names, super().get(names), strict=True))
        if self.relay:
            values["y"] = -1.0 if self.u[0] > 0.0 else 1.0
        return [values[name] for name in names]


class RepeatsSteps(cosim.MasterAlgorithm):
    """Takes each step twice from a saved state."""

    restores = True

    def step(self, exchange: Any, time: float, size: float) -> None:
        saved = exchange.save()
        for _ in range(2):
            exchange.restore(saved)
            for name in exchange.order:
                exchange.set_inputs(name)
            exchange.advance_all(time, size)
            for name in exchange.order:
                exchange.read_outputs(name)


class RestorableBlock(Block):
    """A block whose state can be saved and restored."""

    def describe(self) -> Any:
        return dataclasses.replace(super().describe(), can_restore=True)

    def save(self) -> Any:
        return self.time, dict(self.values)

    def restore(self, token: Any) -> None:
        self.time, values = token
        self.values.update(values)


class StoresExchange(cosim.MasterAlgorithm):
    """Uses the exchange of `initialize` in its steps."""

    def initialize(self, exchange: Any, time: float) -> None:
        self.exchange = exchange
        exchange.restore(exchange.save())
        exchange.put(exchange.interface())
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.read_outputs(name)

    def step(self, exchange: Any, time: float, size: float) -> None:
        assert exchange is self.exchange
        for name in exchange.order:
            self.exchange.set_inputs(name)
            self.exchange.advance(name, time, size)
            self.exchange.read_outputs(name)


@pytest.mark.parametrize("gains", [(0.5, 0.5), (-3.0, 2.0), (0.0, 4.0)])
def test_an_algebraic_loop_under_gauss_seidel(
    gains: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> CoSimulation:
        parts = {"a": lag(gains[0], 1.0), "b": lag(gains[1], -0.5), "c": lag(0.0, 0.0)}
        links = [("a.y", "b.u"), ("b.y", "a.u"), ("b.y", "c.u")]
        return CoSimulation(parts, links, "gauss_seidel", 0.05)

    result = compare_loops(make, 1.0, monkeypatch)
    assert np.ptp(result["a.y"]) > 0.1
    assert (result.statistics["algorithm"].get("iterations", 0) > 20) == (gains[0] != 0.0)


def test_an_algebraic_loop_that_loses_its_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loop, "FEW", 0)
    messages, times = [], []
    for loop_of_run in (nullcontext, loop_in_python):
        relay = BecomesRelay([[[-1.0]], [[1.0]], [[1.0]], [[0.5]]], ["u"], ["y"], [1.0])
        links = [("a.y", "b.u"), ("b.y", "a.u")]
        loop = CoSimulation({"a": relay, "b": lag(1.0, -0.5)}, links, "gauss_seidel", 0.05)
        with loop_of_run(), pytest.raises(cosim.SimulationError) as caught:
            loop.simulate(1.0)
        assert loop.result is not None
        messages.append(str(caught.value))
        times.append(loop.result.time.tolist())
    assert messages[0] == messages[1] and times[0] == times[1]
    assert "did not settle" in messages[0]
    assert times[0][-1] == pytest.approx(0.3)


@pytest.mark.parametrize("kind", ["jacobi", "gauss_seidel"])
def test_slow_participants(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> CoSimulation:
        parts = {name: lag(0.0, start) for name, start in (("a", 1.0), ("b", -0.5), ("c", 0.0))}
        links = [("a.y", "b.u"), ("b.y", "c.u"), ("c.y", "a.u")]
        return CoSimulation(parts, links, kind, 0.05, steps={"b": 0.15})

    compare_loops(make, 1.0, monkeypatch)


@pytest.mark.few(1)
@pytest.mark.parametrize("others", ["jacobi", "gauss_seidel", "waveform_iteration"])
def test_a_joint_system_beside_others(
    tmp_path: Path, compiled: Compiled, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = make_part(tmp_path, compiled)
    result = compare_loops(lambda: mixed(part, others=others), 0.5, monkeypatch)
    assert len(result) > 3


@pytest.mark.by_turns
@pytest.mark.parametrize("algorithm_in", ["compiled code", "python"])
@pytest.mark.parametrize("inside", ["events", "nothing"])
def test_clocks_that_divide_steps(
    tmp_path: Path, compiled: Compiled, algorithm_in: str, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = make_clocks3(tmp_path, compiled)

    def make() -> CoSimulation:
        algorithm = Jacobi() if algorithm_in == "compiled code" else in_python(Jacobi)
        return CoSimulation(
            {"a": fmu, "b": fmu}, [("a.x", "b.u"), ("b.x", "a.u")], algorithm, 0.2, starts={"a.u": 0.5}
        )

    compare_loops(make, 1.2, monkeypatch, inside=inside)


@pytest.mark.parametrize("kind", [Jacobi, GaussSeidel])
def test_text_and_large_numbers(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> CoSimulation:
        listener = Block(
            {"echo": lambda t, heard, on, gear: f"{heard} {on} {gear}"},
            ["heard", "on", "gear"],
            types={**TYPES, "heard": "string", "echo": "string"},
        )
        part = talker(big=lambda time: 2**60 + round(10 * time))
        part.types = {**TYPES, "big": "integer"}
        links = ["a.said -> b.heard", "a.on -> b.on", "a.gear -> b.gear"]
        return CoSimulation({"a": part, "b": listener}, links, kind(), 0.1)

    result = compare_loops(make, 2.0, monkeypatch)
    assert len(set(result["b.echo"])) > 5
    assert result["a.big"][0] == 2.0**60


@pytest.mark.by_turns
@pytest.mark.parametrize(
    "algorithm", ["jacobi", "gauss_seidel", "adaptive", "waveform_iteration", "interface_newton"]
)
@pytest.mark.parametrize("until", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("count", [0, 1])
def test_no_participant_and_one_without_connections(
    algorithm: str, until: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> CoSimulation:
        return CoSimulation(dict.fromkeys(["a"][:count], lag(0.0, 1.0)), [], algorithm, 0.1)

    result = compare_loops(make, until, monkeypatch)
    assert result.time.tolist() == [t for t in (0.0, 0.1, 0.2, 0.3) if t < until] + [until]


def test_a_number_too_large_for_an_input_is_named(tmp_path: Path, compiled: Compiled) -> None:
    """An array element is among the inputs, so Python writes them, also the integer that is too large."""
    path, messages = make_box3(tmp_path, compiled, events=False), []
    for loop_of_run in (nullcontext, loop_in_python):
        source = Block({"big": lambda t: 100 * round(10 * t), "y": lambda t: t}, types={"big": "integer"})
        wires = [("a.big", "box.byte_in"), ("a.y", "box.matrix[1,2]"), ("a.y", "box.small_in")]
        loop = CoSimulation({"a": source, "box": path}, wires, "jacobi", 0.1)
        with loop_of_run(), pytest.raises(cosim.SimulationError) as caught:
            loop.simulate(1.0)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "byte_in is 200, needs" in messages[0]


def test_texts_of_saved_states_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text changes in each step, and the table of texts is small: it is cleared several times."""
    monkeypatch.setattr("cosim_master.recording.recorder.CHARACTERS_IN_PIECE", 20)
    parts = {
        "a": RestorableBlock({"said": lambda t: f"at {round(10 * t)}"}, types={"said": "string"}),
        "b": RestorableBlock(
            {"echo": lambda t, heard: f"{heard}!"}, ["heard"], types={"heard": "string", "echo": "string"}
        ),
    }
    result = CoSimulation(parts, ["a.said -> b.heard"], RepeatsSteps(), 0.1).simulate(1.0)
    assert result["a.said"].tolist() == [f"at {i}" for i in range(11)]
    assert result["b.echo"].tolist() == ["at 0!"] + [f"at {i}!" for i in range(10)]


def test_an_algorithm_may_store_its_exchange() -> None:
    outputs = []
    for algorithm in (StoresExchange(), "gauss_seidel"):
        parts = {"a": lag(0.0, 1.0), "b": lag(0.0, -0.5)}
        loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.05)
        outputs.append(loop.simulate(1.0)["b.y"])
    assert outputs[0].tolist() == outputs[1].tolist()


def test_an_algorithm_must_not_step_participants_in_initialize() -> None:
    class Early(StoresExchange):
        def initialize(self, exchange: Any, time: float) -> None:
            exchange.advance("a", time, 0.1)

    loop = CoSimulation({"a": lag(0.0, 1.0)}, [], Early(), 0.05)
    with pytest.raises(cosim.SimulationError, match="steps participants.*`step`.*`initialize`"):
        loop.simulate(1.0)


@pytest.mark.thorough
def test_integers_and_text_of_fmus_without_a_compiler(make_fmu: Callable[..., Path]) -> None:
    """Functions in C that need compiled code around them are not called in plain Python."""
    fmu, outputs = make_fmu("types"), []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", PRINT_RESULT, str(fmu)],
            env={**os.environ, "COSIM_PLAIN": plain},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout)
    assert outputs[0].startswith("compiled []")
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("all_elements", [True, False])
def test_arrays_of_fmus_are_read_by_address(
    tmp_path: Path, compiled: Compiled, all_elements: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Complete arrays by one call, single elements in Python; C takes the steps."""
    path = make_box3(tmp_path, compiled, events=False)
    elements = [f"[{i},{j}]" for i in (1, 2) for j in (1, 2)][: 4 if all_elements else 1]

    def make() -> CoSimulation:
        wires = [(f"one.doubled{element}", f"two.matrix{element}") for element in elements]
        wires += [("one.small_out", "two.small_in"), ("one.byte_out", "two.byte_in")]
        starts: dict[str, Any] = {f"one.matrix{element}": 0.5 + i for i, element in enumerate(elements)}
        starts |= {"one.small_in": 0.1, "one.byte_in": -3}
        return CoSimulation({"one": path, "two": path}, wires, "jacobi", 0.05, starts=starts)

    record = [f"two.doubled{element}" for element in elements]
    result = compare_loops(make, 0.5, monkeypatch, record=[*record, "two.small_out", "two.byte_out"])
    assert result.statistics["in_python"] == {}
    assert [result[name][-1] for name in record] == [4.0 * (0.5 + i) for i in range(len(elements))]
    assert result["two.byte_out"][-1] == -3.0

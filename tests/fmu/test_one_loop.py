"""The interpreter of exchanges, in machine code and plain, gives what the loop in Python gives."""

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
from compared_loops import assert_same_runs as same
from compared_loops import in_python
from joint_systems import mixed
from loop_in_python import loop_in_python
from part_fmu import make_part
from test_master_coupling import Block
from test_recorded_types import TYPES, talker

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.exchange import compiled_loop

Compiled = Callable[..., Path]
FEW = {"compiled": 0, "plain": 10**9}


def agree(
    make: Callable[[], CoSimulation], until: float, monkeypatch: pytest.MonkeyPatch, **more: Any
) -> cosim.Result:
    """In machine code, in plain Python, and by the loop in Python."""
    found = []
    for few in FEW.values():
        monkeypatch.setattr(compiled_loop, "FEW", few)
        found.append(make().simulate(until, **more))
    with loop_in_python():
        oracle = make().simulate(until, **more)
    for each in found:
        assert each.statistics["loop"].startswith("compiled")
        same(each, oracle)
    return found[0]


def through(gain: float, start: float) -> LinearParticipant:
    """A lag whose output depends on its input at once."""
    return LinearParticipant([[[-1.0]], [[1.0]], [[1.0]], [[gain]]], ["u"], ["y"], [start])


@pytest.mark.parametrize("gains", [(0.5, 0.5), (-3.0, 2.0), (0.0, 4.0)])
def test_a_closed_loop_under_gauss_seidel(
    gains: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> CoSimulation:
        parts = {"a": through(gains[0], 1.0), "b": through(gains[1], -0.5), "c": through(0.0, 0.0)}
        links = [("a.y", "b.u"), ("b.y", "a.u"), ("b.y", "c.u")]
        return CoSimulation(parts, links, "gauss_seidel", 0.05)

    result = agree(make, 1.0, monkeypatch)
    assert np.ptp(result["a.y"]) > 0.1
    assert (result.statistics["algorithm"].get("iterations", 0) > 20) == (gains[0] != 0.0)


class Switches(LinearParticipant):
    """Its output becomes that of a relay on the way."""

    relay = False

    def step(self, time: float, size: float) -> float:
        self.relay = self.relay or time > 0.29
        return super().step(time, size)

    def get(self, names: Any) -> list[float]:
        relay = -1.0 if self.u[0] > 0.0 else 1.0
        return [
            relay if self.relay and n == "y" else v for n, v in zip(names, super().get(names), strict=True)
        ]


def test_a_closed_loop_that_loses_its_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for everything in (False, True):
        turning = Switches([[[-1.0]], [[1.0]], [[1.0]], [[0.5]]], ["u"], ["y"], [1.0])
        loop = CoSimulation(
            {"a": turning, "b": through(1.0, -0.5)}, [("a.y", "b.u"), ("b.y", "a.u")], "gauss_seidel", 0.05
        )
        monkeypatch.setattr(compiled_loop, "FEW", 0)
        with (
            loop_in_python() if everything else nullcontext(),
            pytest.raises(cosim.SimulationError) as caught,
        ):
            loop.simulate(1.0)
        assert loop.result is not None
        said.append((str(caught.value), loop.result.time.tolist()))
    assert said[0] == said[1]
    assert "did not settle" in said[0][0]
    assert said[0][1][-1] == pytest.approx(0.3)


@pytest.mark.parametrize("kind", ["jacobi", "gauss_seidel"])
def test_slow_participants(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> CoSimulation:
        parts = {name: through(0.0, start) for name, start in (("a", 1.0), ("b", -0.5), ("c", 0.0))}
        links = [("a.y", "b.u"), ("b.y", "c.u"), ("c.y", "a.u")]
        return CoSimulation(parts, links, kind, 0.05, steps={"b": 0.15})

    agree(make, 1.0, monkeypatch)


@pytest.mark.few(1)
@pytest.mark.parametrize("others", ["jacobi", "gauss_seidel", "waveform_iteration"])
def test_a_joint_system_beside_others(
    tmp_path: Path, compiled: Compiled, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = make_part(tmp_path, compiled)
    result = agree(lambda: mixed(part, others=others), 0.5, monkeypatch)
    assert len(result) > 3


@pytest.mark.by_turns
@pytest.mark.parametrize("decides", ["compiled", "python"])
@pytest.mark.parametrize("inside", ["events", "nothing"])
def test_clocks_that_cut_the_steps(
    tmp_path: Path, compiled: Compiled, decides: str, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fmu = make_clocks3(tmp_path, compiled)

    def make() -> CoSimulation:
        algorithm = Jacobi() if decides == "compiled" else in_python(Jacobi)
        return CoSimulation(
            {"a": fmu, "b": fmu}, [("a.x", "b.u"), ("b.x", "a.u")], algorithm, 0.2, starts={"a.u": 0.5}
        )

    agree(make, 1.2, monkeypatch, inside=inside)


@pytest.mark.parametrize("kind", [Jacobi, GaussSeidel])
def test_text_and_large_numbers(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> CoSimulation:
        listener = Block({"echo": lambda t, heard, on, gear: f"{heard} {on} {gear}"}, ["heard", "on", "gear"],
                         types={**TYPES, "heard": "string", "echo": "string"})  # fmt: skip
        big = {"big": lambda time: 2**60 + round(10 * time)}
        part = talker(**big)
        part.types = {**TYPES, "big": "integer"}
        links = ["a.said -> b.heard", "a.on -> b.on", "a.gear -> b.gear"]
        return CoSimulation({"a": part, "b": listener}, links, kind(), 0.1)

    result = agree(make, 2.0, monkeypatch)
    assert len(set(result["b.echo"])) > 5
    assert result["a.big"][0] == 2.0**60


@pytest.mark.by_turns
@pytest.mark.parametrize(
    "algorithm", ["jacobi", "gauss_seidel", "adaptive", "waveform_iteration", "interface_newton"]
)
@pytest.mark.parametrize("until", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("count", [0, 1])
def test_nobody_and_nothing_to_exchange(
    algorithm: str, until: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make() -> CoSimulation:
        return CoSimulation(dict.fromkeys(["a"][:count], through(0.0, 1.0)), [], algorithm, 0.1)

    result = agree(make, until, monkeypatch)
    assert result.time.tolist() == [t for t in (0.0, 0.1, 0.2, 0.3) if t < until] + [until]


def test_a_number_too_large_for_an_element_is_named(tmp_path: Path, compiled: Compiled) -> None:
    """It is written in Python there, as it is beside integers that are written by address."""
    path, said = make_box3(tmp_path, compiled, events=False), []
    for everything in (False, True):
        source = Block({"big": lambda t: 100 * round(10 * t), "y": lambda t: t}, types={"big": "integer"})
        wires = [("a.big", "box.byte_in"), ("a.y", "box.matrix[1,2]"), ("a.y", "box.small_in")]
        loop = CoSimulation({"a": source, "box": path}, wires, "jacobi", 0.1)
        with (
            loop_in_python() if everything else nullcontext(),
            pytest.raises(cosim.SimulationError) as caught,
        ):
            loop.simulate(1.0)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "byte_in is 200, needs" in said[0]


class Twice(cosim.MasterAlgorithm):
    """Takes each step twice, from a state that it saved."""

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


class Remembers(Block):
    """May go back."""

    def describe(self) -> Any:
        return dataclasses.replace(super().describe(), can_restore=True)

    def save(self) -> Any:
        return self.time, dict(self.values)

    def restore(self, token: Any) -> None:
        self.time, values = token
        self.values.update(values)


def test_texts_of_saved_states_are_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is another one, and the table of the loop holds few of them."""
    monkeypatch.setattr("cosim_master.recording.recorder.CHARACTERS_IN_PIECE", 20)
    parts = {
        "a": Remembers({"said": lambda t: f"at {round(10 * t)}"}, types={"said": "string"}),
        "b": Remembers(
            {"echo": lambda t, heard: f"{heard}!"}, ["heard"], types={"heard": "string", "echo": "string"}
        ),
    }
    result = CoSimulation(parts, ["a.said -> b.heard"], Twice(), 0.1).simulate(1.0)
    assert result["a.said"].tolist() == [f"at {i}" for i in range(11)]
    assert result["b.echo"].tolist() == ["at 0!"] + [f"at {i}!" for i in range(10)]


class Keeps(cosim.MasterAlgorithm):
    """Keeps the exchange that it is initialized with, reads and sets there."""

    def initialize(self, exchange: Any, time: float) -> None:
        self.exchange, self.first = exchange, exchange.interface()
        exchange.restore(exchange.save())
        exchange.put(self.first)
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.read_outputs(name)

    def step(self, exchange: Any, time: float, size: float) -> None:
        assert exchange is self.exchange
        for name in exchange.order:
            self.exchange.set_inputs(name)
            self.exchange.advance(name, time, size)
            self.exchange.read_outputs(name)


def test_an_algorithm_may_keep_its_exchange() -> None:
    found = []
    for algorithm in (Keeps(), "gauss_seidel"):
        parts = {"a": through(0.0, 1.0), "b": through(0.0, -0.5)}
        loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.05)
        found.append(loop.simulate(1.0)["b.y"])
    assert found[0].tolist() == found[1].tolist()


def test_an_algorithm_steps_nothing_in_initialize() -> None:
    class Early(Keeps):
        def initialize(self, exchange: Any, time: float) -> None:
            exchange.advance("a", time, 0.1)

    loop = CoSimulation({"a": through(0.0, 1.0)}, [], Early(), 0.05)
    with pytest.raises(cosim.SimulationError, match="steps participants.*`step`.*`initialize`"):
        loop.simulate(1.0)


WITHOUT_COMPILER = """
import sys
from cosim_fmu import CoSimulation
wires = ["one.integer_out -> two.integer_in", "two.boolean_out -> one.boolean_in"]
loop = CoSimulation({"one": sys.argv[1], "two": sys.argv[1]}, wires, "jacobi", 0.01,
                    starts={"one.integer_in": -7, "two.boolean_in": True})
result = loop.simulate(0.05, record=["*.integer_*", "*.boolean_*", "*.string_out"])
print(result.statistics["loop"], sorted(result.statistics["in_python"]),
      {name: result[name].tolist() for name in result.names})
"""


@pytest.mark.thorough
def test_integers_and_text_of_fmus_where_nothing_is_compiled(make_fmu: Callable[..., Path]) -> None:
    """Functions of C that need compiled code beside them are not called then."""
    fmu, found = make_fmu("types"), []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_COMPILER, str(fmu)],
            env={**os.environ, "COSIM_PLAIN": plain},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout)
    assert found[0].startswith("compiled []")
    assert found[0] == found[1]


@pytest.mark.parametrize("whole", [True, False])
def test_arrays_of_fmus_are_read_by_address(
    tmp_path: Path, compiled: Compiled, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole ones by one call, single elements in Python; the steps are those of C."""
    path = make_box3(tmp_path, compiled, events=False)
    elements = [f"[{i},{j}]" for i in (1, 2) for j in (1, 2)][: 4 if whole else 1]

    def make() -> CoSimulation:
        wires = [(f"one.doubled{e}", f"two.matrix{e}") for e in elements]
        wires += [("one.small_out", "two.small_in"), ("one.byte_out", "two.byte_in")]
        starts: dict[str, Any] = {f"one.matrix{e}": 0.5 + i for i, e in enumerate(elements)}
        starts |= {"one.small_in": 0.1, "one.byte_in": -3}
        return CoSimulation({"one": path, "two": path}, wires, "jacobi", 0.05, starts=starts)

    record = [f"two.doubled{e}" for e in elements]
    result = agree(make, 0.5, monkeypatch, record=[*record, "two.small_out", "two.byte_out"])
    assert result.statistics["in_python"] == {}
    assert [result[name][-1] for name in record] == [4.0 * (0.5 + i) for i in range(len(elements))]
    assert result["two.byte_out"][-1] == -3.0

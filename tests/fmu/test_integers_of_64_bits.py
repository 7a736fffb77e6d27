"""Integers of 64 bits pass a co-simulation as far as real numbers hold them exactly."""

from collections.abc import Callable
from pathlib import Path

import pytest
from box3_fmu import make_box3
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, CoSimulationError


def test_integers_of_64_bits_are_passed_on_by_compiled_code(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """From 2**53 on a connection refuses an integer, while a record holds the nearest real number."""
    box = make_box3(tmp_path, compiled, events=False)

    def run(number: int) -> cosim.Result:
        parts, starts = {"a": box, "b": box}, {"a.big_in": number}
        loop = CoSimulation(parts, [("a.big_out", "b.big_in")], "jacobi", 0.1, starts=starts)
        return loop.simulate(0.3, record=["a.big_out", "b.big_out"])

    for number in (0, 1, 2**53 - 1):
        result = run(number)
        assert result.statistics["in_python"] == {}
        assert result["b.big_out"][-1] == number
    for number in (2**53, 2**53 + 1, 2**64 - 1):
        with pytest.raises(cosim.SimulationError, match=r"big_out becomes \d+: from 2\*\*53 on"):
            run(number)
        alone = CoSimulation({"a": box}, [], "jacobi", 0.1, starts={"a.big_in": number})
        assert alone.simulate(0.3, record=["a.big_out"])["a.big_out"][-1] == float(number)


def test_an_integer_that_grows_too_large_ends_the_run(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    counter = Block({"n": lambda t: 2**53 - 3 + round(10.0 * t)}, types={"n": "integer"})
    parts = {"a": counter, "b": make_box3(tmp_path, compiled, events=False)}
    loop = CoSimulation(parts, [("a.n", "b.big_in")], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match=f"n becomes {2**53}: from ") as caught:
        loop.simulate(1.0)
    assert caught.value.time == pytest.approx(0.3)
    assert caught.value.result["b.big_in"][-1] == 2**53 - 1

"""Participants with longer communication steps, and the explanation of the delays between participants."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from loop_in_python import loop_in_python
from python_block import Block

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
LINKS = [("slow.x", "fast.x_other"), ("fast.x", "slow.x_other"), ("fast.v", "slow.v_other")]
SPRINGS = {"slow.kc": 0.5, "fast.kc": 2.0, "slow.m": 50.0}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_compiled_and_python_agree(make_fmu: MakeFmu, algorithm: str) -> None:
    fmu = make_fmu("mass")
    results = []
    for in_python in (False, True):
        loop = CoSimulation(
            {"fast": fmu, "slow": fmu}, LINKS, algorithm, "1 ms", starts=SPRINGS, steps={"slow": "7 ms"}
        )
        with loop_in_python() if in_python else nullcontext():
            results.append(loop.simulate(0.1))
    assert [result.statistics["loop"] for result in results] == ["compiled", "Python"]
    assert results[0].coupling.figures() == results[1].coupling.figures()
    for name in results[0].names:
        assert results[0][name].tobytes() == results[1][name].tobytes()
    # new values every seventh step, and at the end, which is not a multiple of seven
    changes = np.flatnonzero(np.diff(results[0]["slow.x"])) + 1
    assert changes.tolist() == [*range(7, 100, 7), 100]


def test_a_slow_participant_takes_longer_steps_and_ends_at_the_end() -> None:
    slow, fast = Block({"y": lambda t: t}), Block({"y": lambda t, u: t}, ["u"])
    loop = CoSimulation(
        {"slow": slow, "fast": fast}, [("slow.y", "fast.u")], "jacobi", 0.1, steps={"slow": 0.3}
    )
    result = loop.simulate(1.0)
    assert [time for call, time in slow.calls if call == "step"] == pytest.approx([0.0, 0.3, 0.6, 0.9])
    assert slow.time == pytest.approx(1.0)
    assert result["slow.y"] == pytest.approx([0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9, 1.0])
    assert result["fast.u"] == pytest.approx([0, 0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9])


def test_steps_that_are_no_multiples_are_all_named(make_fmu: MakeFmu) -> None:
    parts = dict.fromkeys(["a", "b", "d"], make_fmu("mass"))
    steps = {"a": 1.5e-3, "b": "3 m", "c": 1e-3, "d": 1e308}
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(parts, [], "jacobi", 1e-3, steps=steps)
    problems = {problem.where: problem.text for problem in caught.value.problems}
    assert "communication step, 0.001 s" in problems["participants.a.step"]
    assert "1e+308 s, needs" in problems["participants.d.step"]
    assert "3 m" in problems["participants.b.step"]
    assert "no participant 'c'" in problems["participants.c"]
    with pytest.raises(cosim.ModelError, match="WaveformIteration does not support"):
        CoSimulation(parts, [], "waveform_iteration", 1e-3, steps={"a": 2e-3})


def test_the_explanation_names_late_inputs_and_held_values(make_fmu: MakeFmu) -> None:
    parts = dict.fromkeys(["left", "right"], make_fmu("mass"))
    links = [("left.force", "right.f"), ("right.x", "left.x_other")]
    explanation = CoSimulation(parts, links, "gauss_seidel", 1e-3).explain()
    first, second = sorted(parts, key=lambda name: explanation.index(f"{name} steps"))
    assert explanation.splitlines()[:5] == [
        "GaussSeidel, from t = i * 0.001 s to t + 0.001 s:",
        f"  inputs of {first} are set",
        f"  {first} steps",
        f"  outputs of {first} are read",
        f"  inputs of {second} are set",
    ]
    assert explanation.count("late by 0.001 s") == 1
    assert explanation.count("not late") == 1
    explanation = CoSimulation(parts, links, "jacobi", 1e-3, steps={"right": 1e-2}).explain()
    assert explanation.count("late by 0.001 s") == 2
    assert "steps (every 10 steps, 0.01" in explanation
    assert "every 10 steps only, 0.01" in explanation
    assert "10 steps, 0.01 s" in explanation
    explanation = CoSimulation(parts, links, "waveform_iteration", 1e-3).explain()
    assert "linearly" in explanation
    assert "t_i to that at t_{i+1}" in explanation


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_the_explanation_of_extrapolated_inputs(algorithm: str) -> None:
    """Each output is its participant's time, so an input shows the time from which its value comes."""

    class RecordsInput(Block):
        def step(self, time: float, size: float) -> float:
            self.last_input = self.values["u"]
            return super().step(time, size)

    parts = {
        n: RecordsInput({"y": lambda t, u: t}, ["u"], feedthrough={"y": frozenset()}) for n in ("a", "b")
    }
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1, options={"extrapolation": 1})
    explanation = loop.explain()
    assert "held" not in explanation and "second order" in explanation
    assert "b.y → a.u: a holds" in explanation
    sentence_of_gauss_seidel = "b holds the mean of the line from its value at t_i to that at t_{i+1}"
    assert (sentence_of_gauss_seidel in explanation) == (algorithm == "gauss_seidel")
    loop.simulate(0.5)
    assert [part.last_input for part in parts.values()] == pytest.approx([0.45, 0.45])

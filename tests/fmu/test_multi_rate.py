"""Participants with a communication step of their own, and the explanation of who sees what."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from loop_in_python import loop_in_python
from test_master_coupling import Block

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
LINKS = [("slow.x", "fast.x_other"), ("fast.x", "slow.x_other"), ("fast.v", "slow.v_other")]
SPRINGS = {"slow.kc": 0.5, "fast.kc": 2.0, "slow.m": 50.0}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_compiled_and_python_agree(make_fmu: MakeFmu, algorithm: str) -> None:
    fmu = make_fmu("mass")
    results = []
    for everything in (False, True):
        loop = CoSimulation(
            {"fast": fmu, "slow": fmu}, LINKS, algorithm, "1 ms", starts=SPRINGS, steps={"slow": "7 ms"}
        )
        with loop_in_python() if everything else nullcontext():
            results.append(loop.simulate(0.1))
    assert [result.statistics["loop"] for result in results] == ["compiled", "Python"]
    assert results[0].coupling.figures() == results[1].coupling.figures()
    for name in results[0].names:
        assert results[0][name].tobytes() == results[1][name].tobytes()
    # new values every seventh step, and at the end, which is not a multiple of seven
    changes = np.flatnonzero(np.diff(results[0]["slow.x"])) + 1
    assert changes.tolist() == [*range(7, 100, 7), 100]


def test_slow_participant_goes_far_in_one_step_and_ends_at_the_end() -> None:
    slow, fast = Block({"y": lambda t: t}), Block({"y": lambda t, u: t}, ["u"])
    loop = CoSimulation(
        {"slow": slow, "fast": fast}, [("slow.y", "fast.u")], "jacobi", 0.1, steps={"slow": 0.3}
    )
    result = loop.simulate(1.0)
    assert [time for call, time in slow.calls if call == "step"] == pytest.approx([0.0, 0.3, 0.6, 0.9])
    assert slow.time == pytest.approx(1.0)
    assert result["slow.y"] == pytest.approx([0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9, 1.0])
    assert result["fast.u"] == pytest.approx([0, 0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9])


def test_steps_that_do_not_fit_are_all_named(make_fmu: MakeFmu) -> None:
    parts = dict.fromkeys(["a", "b", "d"], make_fmu("mass"))
    steps = {"a": 1.5e-3, "b": "3 m", "c": 1e-3, "d": 1e308}
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation(parts, [], "jacobi", 1e-3, steps=steps)
    said = {problem.where: problem.text for problem in caught.value.problems}
    assert "communication step, 0.001 s" in said["participants.a.step"]
    assert "1e+308 s, needs" in said["participants.d.step"]
    assert "3 m" in said["participants.b.step"]
    assert "no participant 'c'" in said["participants.c"]
    with pytest.raises(cosim.ModelError, match="WaveformIteration does not support"):
        CoSimulation(parts, [], "waveform_iteration", 1e-3, steps={"a": 2e-3})


def test_explanation_says_who_is_late_and_why(make_fmu: MakeFmu) -> None:
    parts = dict.fromkeys(["left", "right"], make_fmu("mass"))
    links = [("left.force", "right.f"), ("right.x", "left.x_other")]
    said = CoSimulation(parts, links, "gauss_seidel", 1e-3).explain()
    first, second = sorted(parts, key=lambda name: said.index(f"{name} steps"))
    assert said.splitlines()[:5] == [
        "GaussSeidel, from t = i * 0.001 s to t + 0.001 s:",
        f"  inputs of {first} are set",
        f"  {first} steps",
        f"  outputs of {first} are read",
        f"  inputs of {second} are set",
    ]
    assert said.count("late by 0.001 s") == 1
    assert said.count("not late") == 1
    said = CoSimulation(parts, links, "jacobi", 1e-3, steps={"right": 1e-2}).explain()
    assert said.count("late by 0.001 s") == 2
    assert "steps (every 10 steps, 0.01" in said
    assert "every 10 steps only, 0.01" in said
    assert "10 steps, 0.01 s" in said
    said = CoSimulation(parts, links, "waveform_iteration", 1e-3).explain()
    assert "linearly" in said
    assert "t_i to that at t_{i+1}" in said


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_explanation_of_extrapolated_inputs_is_what_they_get(algorithm: str) -> None:
    """Each output is its participant's time: what the others see says where it comes from."""

    class Seeing(Block):
        def step(self, time: float, size: float) -> float:
            self.seen = self.values["u"]
            return super().step(time, size)

    parts = {n: Seeing({"y": lambda t, u: t}, ["u"], feedthrough={"y": frozenset()}) for n in ("a", "b")}
    loop = CoSimulation(parts, [("a.y", "b.u"), ("b.y", "a.u")], algorithm, 0.1, options={"extrapolation": 1})
    said = loop.explain()
    assert "held" not in said and "second order" in said
    assert "b.y → a.u: a holds" in said
    fresh = "b holds the mean of the line from its value at t_i to that at t_{i+1}"
    assert (fresh in said) == (algorithm == "gauss_seidel")
    loop.simulate(0.5)
    assert [part.seen for part in parts.values()] == pytest.approx([0.45, 0.45])

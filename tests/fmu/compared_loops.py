"""Runs of one co-simulation in the compiled loop and in Python, and the check that they are the same."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
from loop_in_python import loop_in_python

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.algorithms.adaptive import Adaptive
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.algorithms.waveform_iteration import WaveformIteration

ABILITIES = 'canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"'
SPRING = {"a.k": 3.0, "b.k": 2.0, "a.kc": 5.0, "b.cc": 0.5}
CROSSED_LINKS = [("a.x", "b.x_other"), ("b.x", "a.x_other"), ("a.v", "b.v_other"), ("b.force", "a.f")]


class InPython:
    """A base for algorithms: one with a method ``step`` of its own is not compiled."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.fixed_sequence = False

    def step(self, exchange: Any, time: float, size: float) -> None:
        super().step(exchange, time, size)  # type: ignore[misc]


class PythonJacobi(InPython, Jacobi):
    """`jacobi`, decided in Python."""


class PythonGaussSeidel(InPython, GaussSeidel):
    """`gauss_seidel`, decided in Python."""


def assert_same_runs(result: cosim.Result, expected: cosim.Result) -> None:
    """Both results have the same times, values, events, figures of the algorithm and of the coupling."""
    assert result.time.tobytes() == expected.time.tobytes()
    for name in expected.names:
        if result[name].dtype == object:  # text
            assert result[name].tolist() == expected[name].tolist(), name
        else:
            assert result[name].tobytes() == expected[name].tobytes(), name
    assert [(e.time, e.cause, e.handler, e.message) for e in result.events] == [
        (e.time, e.cause, e.handler, e.message) for e in expected.events
    ]
    assert result.statistics.get("algorithm") == expected.statistics.get("algorithm")
    assert result.coupling.figures() == expected.coupling.figures()  # type: ignore[attr-defined]


def in_python(kind: type, **options: Any) -> Any:
    """An algorithm of this kind that decides in Python."""
    return type(kind.__name__, (InPython, kind), {})(**options)


def run_in_all_loops(
    kind: type, options: dict[str, Any], make: Callable[[Any], CoSimulation], until: float, **more: Any
) -> cosim.Result:
    """Run a compiled algorithm, one in Python, and the whole loop in Python; return the first result.

    All have the same values, events, figures and errors.
    """
    results, errors = [], []
    for algorithm, whole_loop_in_python in (
        (kind(**options), False),
        (in_python(kind, **options), False),
        (kind(**options), True),
    ):
        loop, error = make(algorithm), ""
        with loop_in_python() if whole_loop_in_python else nullcontext():
            try:
                loop.simulate(until, **more)
            except cosim.SimulationError as failed:
                error = str(failed)
        assert loop.result is not None
        results.append(loop.result)
        errors.append(error)
    assert errors[0] == errors[1] == errors[2]
    assert results[0].statistics["loop"] == "compiled", errors
    assert results[1].statistics["loop"] == f"compiled ({kind.__name__} decides in Python)"
    assert_same_runs(results[0], results[2])
    assert_same_runs(results[1], results[2])
    return results[0]


ITERATIVE = [
    (WaveformIteration, {}),
    (WaveformIteration, {"hold": "mean"}),
    (WaveformIteration, {"hold": "end", "relaxation": 0.7}),
    (InterfaceNewton, {}),
    (Adaptive, {"tolerance": 1e-5}),
    (Adaptive, {"iterations": 2}),
]
ALGORITHMS = [
    *((Jacobi, {"extrapolation": order}) for order in (0, 1)),
    *((GaussSeidel, {"extrapolation": order}) for order in (0, 2)),
    *ITERATIVE,
]
ONE_OF_EACH_KIND = [
    pytest.param(kind, options, marks=[pytest.mark.thorough] * (kind in [k for k, _ in ALGORITHMS[:i]]))
    for i, (kind, options) in enumerate(ALGORITHMS)
]
"""A short run of the tests has the first of each kind only."""

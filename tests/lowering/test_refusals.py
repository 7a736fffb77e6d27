"""Systems that cannot be lowered are refused with the place, the reason and the remedy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from event_parts import Ball

import cosim
from cosim.cli import main
from cosim.step.witnesses import spacing_of
from cosim.testing.known_solution import known_system
from cosim_lowering.program import Program
from cosim_lowering.refusals import component_refusals


class WithPython(cosim.Component):
    """A component with a method and a handler in Python."""

    x = cosim.auxiliary_state(start=1.0)

    def derivatives(self, x, x_dot):
        x_dot[0] = -x

    @cosim.every(0.1, does="publish")
    def tell(self, state):
        pass


def test_methods_and_handlers_in_python_are_refused() -> None:
    model = cosim.Model("noisy")
    model.add(WithPython, "noisy")
    refusals = Program(model.build()).refusals
    assert [problem.where for problem in refusals] == ["noisy", "noisy"]
    assert all("kernel function" in problem.text for problem in refusals)
    assert len(component_refusals(WithPython)) == 2
    with pytest.raises(cosim.ModelError, match="Python method"):
        Program(model.build()).require()


def test_an_integrator_of_a_library_and_a_missing_accuracy_are_refused() -> None:
    (refusal,) = Program(known_system(), "integrators.scipy_lsoda").refusals
    assert "integrators.dormand_prince" in refusal.text
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    (refusal,) = Program(model.build(), "integrators.dormand_prince").refusals
    assert "accuracy" in refusal.text


def test_describe_shows_whether_an_integrator_can_be_lowered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "integrators.radau5"]) == 0
    assert "native FMU): yes" in capsys.readouterr().out
    assert main(["describe", "integrators.scipy_lsoda"]) == 0
    assert "native FMU): no" in capsys.readouterr().out
    assert main(["describe", "measures.dealy"]) == 2
    assert "measures.delay" in capsys.readouterr().err


def test_the_spacing_of_doubles_is_that_of_numpy() -> None:
    for x in [0.0, 1.0, math.nextafter(2.0, 0.0), 2.0, 1e-300, 3.7e17, *np.random.default_rng(1).random(50)]:
        assert spacing_of(float(x)) == np.spacing(float(x))

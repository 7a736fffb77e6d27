"""Steps of implicit methods that fail or are taken again: what they have written is undone to the byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from block_system import BlockState, BlockSystem
from stiff_problems import PROBLEMS

from cosim import kit
from cosim_integrators.bdf import Bdf
from cosim_integrators.esdirk43 import Esdirk43
from cosim_integrators.generalized_alpha import GeneralizedAlpha
from cosim_integrators.radau3 import Radau3
from cosim_integrators.radau5 import Radau5

ALL = [Bdf, Radau5, Esdirk43, Radau3, GeneralizedAlpha]
HIRES = PROBLEMS[3]


def exploding(t, y, p, d, k, h, c, ints, first, count):
    # the first one is 1 / (1 - t); the others are small, or leave 0
    c[0] = y[0] * y[0]
    c[1] = -2.0 * y[1] + 1e-7 * y[0]
    c[2] = t * t
    c[3] += 1.0


def without_solution(t, y, p, d, k, h, c, ints, first, count):
    # with a large p[0] no real number is the end of a step, and the Jacobian is another one
    c[0] = -y[0] - p[0] * y[1]
    c[1] = -y[1] + p[0] * (1.0 + y[1] * y[1])
    c[2] += 1.0


def stopping(t, y, p, d, k, h, c, ints, first, count):
    # nothing is defined where y is above p[0]
    c[0] = 1.0 - 0.5 * y[0] if y[0] <= p[0] else float("nan")
    c[1] = y[0] - 30.0 * y[1]
    c[2] += 1.0


def started(method: Any, system: BlockSystem, y: Any, parameters: Any = (0.0,), **options: Any) -> Any:
    """An integrator that has begun, and its State."""
    state = system.state(y, parameters=parameters)
    integrator = method(**options)
    integrator.initialize(system, state)
    return integrator, state


def bytes_of(state: BlockState) -> tuple[float, bytes, bytes]:
    """The time, the states and what the method remembers."""
    return state.time, state.y.tobytes(), state.integrator_memory.tobytes()


@pytest.mark.parametrize("method", ALL)
def test_a_step_that_fails_leaves_everything_as_it_was(method: Any) -> None:
    system = BlockSystem(exploding, 3)
    integrator, state = started(method, system, [1.0, 1e-6, 0.0], accuracy=1e-5)
    code, before = kit.StepCode.DONE, bytes_of(state)
    while code is kit.StepCode.DONE and state.time < 2.0:
        before = bytes_of(state)
        code = integrator.step(system, state, 2.0)
    assert code is not kit.StepCode.DONE
    assert bytes_of(state) == before


@pytest.mark.parametrize("method", ALL)
def test_a_step_that_fails_with_a_new_jacobian_leaves_the_old_one(method: Any) -> None:
    system = BlockSystem(without_solution, 2)
    integrator, state = started(method, system, [1.0, 2.0], fixed_step=0.125)
    for _ in range(3):
        assert integrator.step(system, state, 5.0) is kit.StepCode.DONE
    before, jacobians = bytes_of(state), integrator.statistics.jacobians
    state.p[0] = 1e3
    assert integrator.step(system, state, 5.0) is kit.StepCode.NO_CONVERGENCE
    assert integrator.statistics.jacobians == jacobians + 1  # the one that was there converged no better
    assert bytes_of(state) == before


@pytest.mark.parametrize("steps", [2, 7])
@pytest.mark.parametrize("method", ALL)
def test_a_step_taken_again_twice_is_that_taken_again_once(method: Any, steps: int) -> None:
    system = BlockSystem(HIRES.block, 8)
    ends = []
    for shares in ((0.7,), (0.3, 0.9, 0.7)):
        integrator, state = started(method, system, HIRES.start, accuracy=1e-4)
        for _ in range(steps):
            assert integrator.step(system, state, 300.0) is kit.StepCode.DONE
        start, step = integrator.previous_time, state.time - integrator.previous_time
        for share in shares:
            assert integrator.redo(system, state, start + share * step) is kit.StepCode.DONE
        for _ in range(3):
            assert integrator.step(system, state, 300.0) is kit.StepCode.DONE
        ends.append(bytes_of(state)[:2])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("method", ALL)
def test_a_step_taken_again_to_its_own_end_ends_there(method: Any) -> None:
    """To the last bit: Newton's method begins with the same guess, which the past gives."""
    system = BlockSystem(HIRES.block, 8)
    integrator, state = started(method, system, HIRES.start, accuracy=1e-4)
    for _ in range(7):
        assert integrator.step(system, state, 300.0) is kit.StepCode.DONE
    before = bytes_of(state)
    assert integrator.redo(system, state, state.time) is kit.StepCode.DONE
    assert bytes_of(state)[:2] == before[:2]


@pytest.mark.parametrize("method", ALL)
def test_dense_output_is_the_same_after_a_step_that_cannot_be_taken_again(method: Any) -> None:
    system = BlockSystem(stopping, 2)
    found = []
    for fails in (False, True):
        integrator, state = started(method, system, [0.0, 1.0], (10.0,), accuracy=1e-4)
        for _ in range(6):
            assert integrator.step(system, state, 5.0) is kit.StepCode.DONE
        start, end = integrator.previous_time, state.time
        before = bytes_of(state)
        if fails:
            state.p[0] = 0.0
            assert integrator.redo(system, state, 0.5 * (start + end)) is not kit.StepCode.DONE
            assert bytes_of(state) == before
        points = np.zeros((3, 2))
        for point, share in zip(points, (0.0, 0.4, 1.0), strict=True):
            integrator.interpolate(end if share == 1.0 else start + share * (end - start), point)
        found.append(points)
    assert found[0].tobytes() == found[1].tobytes()
    assert np.array_equal(found[0][2], state.y) and not np.array_equal(found[0][1], found[0][2])

"""Steps and answers with real values only are sent as plain numbers; all other ones are not."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cosim_master.processes.calls import (
    Call,
    answers_of_numbers,
    calls_of_numbers,
    numbers_of_answers,
    numbers_of_calls,
)
from cosim_master.processes.channel import MOST_NUMBERS, Numbers


def step_call(*values: Any, time: Any = 0.1, **fields: Any) -> Call:
    """The call of a step of participant 3, after two writes; `fields` are further ones of the call.

    The arguments of a step are its time, its size and the numbers of the outputs to return. A write has its
    method, the number of a group of names, and values.
    """
    size, outputs = 1e-3, [1, 0]
    writes = [["set_slopes", 7, []], ["set", 2, [*values]]]
    return Call(number=3, name="step", arguments=[time, size, outputs], pending=writes, **fields)


def answer(time: Any, values: list[Any], inner_points: list[Any] | None = None) -> list[Any]:
    """The answer to a step: the time that it reached, the points inside the step, the values by call."""
    return ["answer", [time, inner_points or [], values]]


def assert_wrong_lengths_fail(numbers: Numbers, read: Callable[[Numbers], Any]) -> None:
    """Reading fails if an integer or a real is missing or left over."""
    for integers, reals in (
        (numbers.integers[:-1], numbers.reals),
        ([*numbers.integers, 0], numbers.reals),
        (numbers.integers, numbers.reals[:-1]),
        (numbers.integers, [*numbers.reals, 0.0]),
    ):
        with pytest.raises((ValueError, IndexError)):
            read(Numbers(integers, reals))


@pytest.mark.parametrize(
    "calls",
    [[Call(1, "step", [0.0, 1.0, []])], [step_call()], [step_call(1.0), step_call(-0.0, 2.0), step_call()]],
    ids=["bare", "no value", "three"],
)
def test_steps_of_reals_survive_the_round_trip(calls: list[Call]) -> None:
    numbers = numbers_of_calls(calls)
    assert numbers is not None and calls_of_numbers(numbers) == calls
    assert_wrong_lengths_fail(numbers, calls_of_numbers)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([], id="no call"),
        pytest.param([Call(1, "get", [0])], id="no step"),
        pytest.param([step_call(), Call(1, "save", [])], id="one of two is no step"),
        pytest.param([step_call("text")], id="text"),
        pytest.param([step_call(1)], id="integer"),
        pytest.param([step_call(True)], id="boolean"),
        pytest.param([step_call(None)], id="no value"),
        pytest.param([step_call(b"")], id="bytes"),
        pytest.param([step_call(time=0)], id="integer time"),
        pytest.param([step_call(released=[1])], id="released"),
        pytest.param([step_call(names=[["a"]])], id="names"),
        pytest.param([Call(1, "step", [0.0, 1.0, []], [["set", 0, np.ones(20)]])], id="array"),
        pytest.param([step_call(*[0.5] * MOST_NUMBERS)], id="too many numbers"),
    ],
)
def test_other_calls_do_not_become_numbers(calls: list[Call]) -> None:
    assert numbers_of_calls(calls) is None


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([answer(0.1, [])], id="bare"),
        pytest.param([answer(0.1, [[]])], id="no value"),
        pytest.param([answer(0.1, [[1.0, -0.0], [2.0]]), answer(0.2, [[3.0]])], id="two"),
    ],
)
def test_answers_of_reals_survive_the_round_trip(answers: list[Any]) -> None:
    numbers = numbers_of_answers(answers)
    assert numbers is not None and answers_of_numbers(numbers) == answers
    assert_wrong_lengths_fail(numbers, answers_of_numbers)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(["error", ["other", "x"]], id="error"),
        pytest.param(answer(1, []), id="integer time"),
        pytest.param(answer(0.1, [], [[0.05, ["a"], [1.0]]]), id="inner point"),
        pytest.param(answer(0.1, [None]), id="unread"),
        pytest.param(answer(0.1, [["text"]]), id="text"),
        pytest.param(answer(0.1, [[1]]), id="integer"),
        pytest.param(answer(0.1, [np.ones(20)]), id="array"),
    ],
)
def test_other_answers_do_not_become_numbers(other: list[Any]) -> None:
    assert numbers_of_answers([answer(0.1, [[1.0]]), other]) is None


def test_wrong_integers_give_other_calls_or_errors() -> None:
    """Damaged integers raise ValueError or IndexError, or give other calls; never anything else.

    Each of the three happens in 2000 draws, so that none of them is left untested.
    """
    rng = random.Random(55)
    numbers = numbers_of_calls([step_call(1.0), step_call(2.0, 3.0)])
    assert numbers is not None
    outcomes: set[Any] = set()
    for _ in range(2000):
        integers = [*numbers.integers]
        integers[rng.randrange(len(integers))] = rng.choice([0, 1, 2, 3, 2**31, 2**32 - 1])
        for read in (calls_of_numbers, answers_of_numbers):
            try:
                read(Numbers(integers, numbers.reals))
            except (ValueError, IndexError) as error:
                outcomes.add(type(error))
            else:
                outcomes.add("other calls")
    assert outcomes == {ValueError, IndexError, "other calls"}

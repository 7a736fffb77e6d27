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
    """The call of a step after which `values` are set; `fields` are further ones of the call."""
    return Call(3, "step", [time, 1e-3, [1, 0]], [["set_slopes", 7, []], ["set", 2, [*values]]], **fields)


def check_other_lengths(numbers: Numbers, read: Callable[[Numbers], Any]) -> None:
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
def test_steps_of_reals_become_numbers_and_the_same_steps(calls: list[Call]) -> None:
    numbers = numbers_of_calls(calls)
    assert numbers is not None and calls_of_numbers(numbers) == calls
    check_other_lengths(numbers, calls_of_numbers)


@pytest.mark.parametrize(
    "calls",
    [
        *([], [Call(1, "get", [0])], [step_call(), Call(1, "save", [])], [step_call("text")], [step_call(1)]),
        *(
            [step_call(True)],
            [step_call(None)],
            [step_call(b"")],
            [step_call(time=0)],
            [step_call(released=[1])],
        ),
        *([step_call(names=[["a"]])], [Call(1, "step", [0.0, 1.0, []], [["set", 0, np.ones(20)]])]),
        [step_call(*[0.5] * MOST_NUMBERS)],
    ],
    ids=str,
)
def test_other_calls_do_not_become_numbers(calls: list[Call]) -> None:
    assert numbers_of_calls(calls) is None


@pytest.mark.parametrize(
    "answers",
    [
        [["answer", [0.1, [], []]]],
        [["answer", [0.1, [], [[]]]]],
        [["answer", [0.1, [], [[1.0, -0.0], [2.0]]]], ["answer", [0.2, [], [[3.0]]]]],
    ],
    ids=["bare", "no value", "two"],
)
def test_answers_of_reals_become_numbers_and_the_same_answers(answers: list[Any]) -> None:
    numbers = numbers_of_answers(answers)
    assert numbers is not None and answers_of_numbers(numbers) == answers
    check_other_lengths(numbers, answers_of_numbers)


@pytest.mark.parametrize(
    "answer",
    [
        *(["error", ["other", "x"]], ["answer", [1, [], []]], ["answer", [0.1, [[0.05, ["a"], [1.0]]], []]]),
        *(["answer", [0.1, [], [None]]], ["answer", [0.1, [], [["text"]]]], ["answer", [0.1, [], [[1]]]]),
        ["answer", [0.1, [], [np.ones(20)]]],
    ],
    ids=["error", "integer time", "inner point", "unread", "text", "integer", "array"],
)
def test_other_answers_do_not_become_numbers(answer: list[Any]) -> None:
    assert numbers_of_answers([["answer", [0.1, [], [[1.0]]]], answer]) is None


def test_wrong_integers_give_other_calls_or_errors() -> None:
    rng = random.Random(55)
    numbers = numbers_of_calls([step_call(1.0), step_call(2.0, 3.0)])
    assert numbers is not None
    outcomes = set()
    for _ in range(2000):
        integers = [*numbers.integers]
        integers[rng.randrange(len(integers))] = rng.choice([0, 1, 2, 3, 2**31, 2**32 - 1])
        for read in (calls_of_numbers, answers_of_numbers):
            try:
                read(Numbers(integers, numbers.reals))
            except (ValueError, IndexError) as error:
                outcomes.add(type(error))
            else:
                outcomes.add(type(None))
    assert outcomes == {ValueError, IndexError, type(None)}

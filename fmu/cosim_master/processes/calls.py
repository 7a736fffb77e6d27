"""Calls of participants in another process and their answers, as messages carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_master.processes.channel import MOST_NUMBERS, Numbers

OPEN, CLOSE, LOG = "open", "close", "write_log"
"""Calls that the process itself carries out, or prepares."""
ACTIONS = STEP, READ, SAVE, RESTORE = "step", "read", "save in place", "restore in place"
"""Calls whose arguments are a time (s), a size (s) and groups of names to read, and which are answered as a
step is. A message of numbers names them by their index here. "In place" is the one state of `NativeCalls`."""
WRITES = ("set", "set_slopes")
"""Calls that write inputs; a message of numbers names them by their index here."""
ANSWER, ERROR = "answer", "error"
"""The first word of the answer to a call."""


class Call(NamedTuple):
    """A call of a participant, as a message has it.

    Attributes
    ----------
    number : int
        The number of the participant in this process.
    name : str
        The method, or `OPEN`.
    arguments : list
    pending : list of [str, int, list]
        Writes to be carried out before it: method, number of the group of names, values.
    released : list of int
        Numbers of saved states that nothing refers to any more.
    names : list of list of str
        Groups of names that this call or a later one refers to, by their number; the first is 0.
    """

    number: int
    name: str
    arguments: list[Any]
    pending: list[Any] = []
    released: list[int] = []
    names: list[list[str]] = []


def numbers_of_calls(calls: Sequence[Call]) -> Numbers | None:
    """Calls as numbers; None unless all are `ACTIONS` with reals as values, and fit into one message."""
    integers: list[int] = []
    reals: list[Any] = []
    for call in calls:
        if call.name not in ACTIONS or call.released or call.names:
            return None
        time, size, reads = call.arguments
        integers += (call.number, ACTIONS.index(call.name), len(call.pending), len(reads), *reads)
        reals += (time, size)
        for write, names, values in call.pending:
            if type(values) is not list:
                return None
            integers += (WRITES.index(write), names, len(values))
            reals += values
    return _numbers(integers, reals)


def calls_of_numbers(numbers: Numbers) -> list[Call]:
    """The calls that `numbers_of_calls` wrote.

    Raises
    ------
    ValueError, IndexError
        The numbers are not those of calls.
    """
    integers, reals = numbers
    calls = []
    at = place = 0
    while at < len(integers):
        number, action, writes, count = integers[at : at + 4]
        at += 4 + count
        reads = [*integers[at - count : at]]
        time, size = reals[place : place + 2]
        place += 2
        pending = []
        for _ in range(writes):
            write, names, length = integers[at : at + 3]
            at, place = at + 3, place + length
            pending.append([WRITES[write], names, [*reals[place - length : place]]])
        calls.append(Call(number, ACTIONS[action], [time, size, reads], pending))
    _check_ends(numbers, at, place)
    return calls


def numbers_of_answers(answers: Sequence[Sequence[Any]]) -> Numbers | None:
    """Answers to `ACTIONS` as numbers; None if one is an error, or has inner points or other types."""
    integers: list[int] = []
    reals: list[Any] = []
    for kind, answer in answers:
        if kind != ANSWER or answer[1]:
            return None
        reached, _, values = answer
        integers.append(len(values))
        reals.append(reached)
        for read in values:
            if type(read) is not list:
                return None
            integers.append(len(read))
            reals += read
    return _numbers(integers, reals)


def answers_of_numbers(numbers: Numbers) -> list[list[Any]]:
    """The answers that `numbers_of_answers` wrote.

    Raises
    ------
    ValueError, IndexError
        The numbers are not those of answers.
    """
    integers, reals = numbers
    answers = []
    at = place = 0
    while at < len(integers):
        lengths = integers[at + 1 : at + 1 + integers[at]]
        at += 1 + integers[at]
        reached = reals[place]
        place += 1
        values = []
        for length in lengths:
            place += length
            values.append([*reals[place - length : place]])
        answers.append([ANSWER, [reached, [], values]])
    _check_ends(numbers, at, place)
    return answers


def _numbers(integers: list[int], reals: list[Any]) -> Numbers | None:
    if len(integers) + len(reals) > MOST_NUMBERS or set(map(type, reals)) != {float}:
        return None
    return Numbers(integers, reals)


def _check_ends(numbers: Numbers, integers: int, reals: int) -> None:
    if integers != len(numbers.integers) or reals != len(numbers.reals):
        raise ValueError("another number of values than expected")

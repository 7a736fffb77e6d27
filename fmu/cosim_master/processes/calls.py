"""Calls of participants in another process, as messages have them; those of reals alone as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_master.processes.channel import MOST_NUMBERS, Numbers

OPEN, CLOSE, LOG = "open", "close", "write_log"
"""Calls that mean something of their own in the process."""
ACTIONS = STEP, READ, SAVE, RESTORE = "step", "read", "save in place", "restore in place"
"""Calls with a time, a size (s) and groups that are read, and the answer of a step; among numbers their place
here stands for them. One state alone is kept in place: that of `NativeCalls`."""
WRITES = ("set", "set_slopes")
"""Calls that write inputs; among numbers, their index here stands for them."""
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
    given : list
        Its arguments.
    pending : list of [str, int, list]
        Writes that come before it: method, number of the names, values.
    released : list of int
        Numbers of saved states that nothing refers to any more.
    names : list of list of str
        Groups of names that this call or a later one refers to, by their number; the first is 0.
    """

    number: int
    name: str
    given: list[Any]
    pending: list[Any] = []
    released: list[int] = []
    names: list[list[str]] = []


def numbers_of_calls(calls: Sequence[Call]) -> Numbers | None:
    """Calls as numbers; None unless they are `ACTIONS` alone, and the values in them a few reals."""
    integers: list[int] = []
    reals: list[Any] = []
    for call in calls:
        if call.name not in ACTIONS or call.released or call.names:
            return None
        time, size, reads = call.given
        integers += (call.number, ACTIONS.index(call.name), len(call.pending), len(reads), *reads)
        reals += (time, size)
        for write, names, values in call.pending:
            if type(values) is not list:
                return None
            integers += (WRITES.index(write), names, len(values))
            reals += values
    return _numbers(integers, reals)


def calls_of_numbers(numbers: Numbers) -> list[Call]:
    """The calls again.

    Raises
    ------
    ValueError, IndexError
        The numbers are no such calls.
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
    """Answers to `ACTIONS` as numbers; None where there is an error, an inner point, or no few reals."""
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
    """The answers again.

    Raises
    ------
    ValueError, IndexError
        The numbers are no such answers.
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

"""Messages between processes: plain data as they were, and whatever else arrives is refused."""

import math
import os
import random
import socket
import struct
from collections.abc import Iterator
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
from cosim_master.processes.channel import HEAD, LARGEST, MOST_NUMBERS, Channel, MessageError, Numbers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sockets of POSIX")

Ends = tuple[Channel, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A channel, and the other end of its connection."""
    one, other = socket.socketpair()
    handle = one.detach()
    made = Channel(handle, handle)
    yield made, other
    made.close()
    other.close()


def sent(ends: Ends, value: Any) -> Any:
    """A message there and back."""
    channel, other = ends
    there = Channel(other.fileno(), other.fileno())
    channel.send(value)
    there.send(there.receive())
    return channel.receive()


PLAIN = [
    *(None, True, False, 0, -1, 2**53 + 1, -(2**70), 0.1, -0.0, 5e-324, 1.7976931348623157e308),
    *(math.inf, -math.inf, "", 'grün\0\n"\\', "\U0001f600", b"", b"\0\xff", bytes(range(256))),
    *([], {}, [[]], {"": [None, {"a": b"x"}]}, ["step", [1.0, b"1", "2"], b""]),
]


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_data_arrive_as_they_were(ends: Ends, value: Any) -> None:
    found = sent(ends, value)
    assert found == value and type(found) is type(value)
    if isinstance(value, float):
        assert struct.pack("d", found) == struct.pack("d", value)


def test_nan_tuples_and_numbers_of_numpy(ends: Ends) -> None:
    assert math.isnan(sent(ends, [math.nan])[0])
    assert sent(ends, (1, (2, "x"))) == [1, [2, "x"]]
    found = sent(ends, [np.float64(0.1), np.int64(-3), np.bool_(True), np.float32(0.5)])
    assert found == [0.1, -3, True, 0.5] and [type(x) for x in found] == [float, int, bool, float]


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4", "u1", "u8", "b1", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_arrays_arrive_as_they_were(ends: Ends, kind: str, shape: tuple[int, ...]) -> None:
    value = np.arange(math.prod(shape)).reshape(shape).astype(kind)
    found, other = sent(ends, [value, b"behind"])
    assert found.dtype == value.dtype and found.shape == shape and found.tobytes() == value.tobytes()
    assert other == b"behind"
    found[...] = 1  # it is the receiver's own


def test_a_large_message_and_two_at_once(ends: Ends) -> None:
    channel, other = ends
    there = Channel(other.fileno(), other.fileno())
    data = os.urandom(5_000_000)
    if (child := os.fork()) == 0:
        channel.send([data, "one"])
        channel.send("two")
        os._exit(0)
    assert there.receive() == [data, "one"] and there.wait(10.0) and there.receive() == "two"
    os.waitpid(child, 0)
    assert not there.wait(0.0)


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, 1j, np.array(["a"]), np.array([None]), lambda: 0],
    ids=["object", "set", "complex", "texts", "objects", "function"],
)
def test_what_is_no_plain_data_is_an_error_before_anything_is_sent(ends: Ends, value: Any) -> None:
    channel, other = ends
    with pytest.raises(TypeError, match="not plain data"):
        channel.send(["x", value])
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(TypeError):
        channel.send(circle)
    other.setblocking(False)
    with pytest.raises(BlockingIOError):
        other.recv(1)
    assert sent(ends, "still") == "still"


def frame(text: bytes, behind: bytes = b"", size: int | None = None, length: int | None = None) -> bytes:
    whole = len(text) + len(behind)
    return HEAD.pack(whole if size is None else size, len(text) if length is None else length) + text + behind


GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "zeros": bytes(64),
    "too large": HEAD.pack(LARGEST + 1, 0),
    "json longer than all": HEAD.pack(4, 5) + b"null",
    "no json": frame(b"nul"),
    "no text": frame(b"\xff\xfe"),
    "two values": frame(b"1 2"),
    "deep": frame(b"[" * 200_000),
    "long number": frame(b"1" * 100_000),
    "bytes beyond": frame(b'{"$":["bytes",0,2]}', b"x"),
    "bytes before": frame(b'{"$":["bytes",-1,1]}', b"xx"),
    "place of text": frame(b'{"$":["bytes","0",1]}', b"x"),
    "bool place": frame(b'{"$":["bytes",true,0]}', b"x"),
    "no list": frame(b'{"$":1}'),
    "short": frame(b'{"$":[]}'),
    "unknown": frame(b'{"$":["pickle",0,1]}', b"."),
    "objects": frame(b'{"$":["array",0,8,"|O8",[1]]}', bytes(8)),
    "fields": frame(b'{"$":["array",0,8,"i4,i4",[1]]}', bytes(8)),
    "shape": frame(b'{"$":["array",0,8,"<f8",[2]]}', bytes(8)),
    "negative": frame(b'{"$":["array",0,8,"<f8",[-1,-1]]}', bytes(8)),
    "no number": frame(b'{"$":["array",0,8,8,[1]]}', bytes(8)),
    "huge shape": frame(b'{"$":["array",0,8,"<f8",[%s]]}' % b",".join([b"0"] * 40), b""),
}


def numbers_frame(count: int, rest: bytes = b"", size: int | None = None) -> bytes:
    """`Numbers` that announce so many integers."""
    return HEAD.pack(4 + len(rest) if size is None else size, 0) + struct.pack("<I", count) + rest


FORGED = {
    **{f"{n} bytes": HEAD.pack(n, 0) + bytes(n) for n in range(4)},
    "an integer less": numbers_frame(1),
    "half an integer": numbers_frame(1, bytes(2)),
    "an integer more": numbers_frame(1, bytes(8)),
    "a real and an integer": numbers_frame(2, bytes(12)),
    "half a real": numbers_frame(0, bytes(4)),
    "a byte less than a real": numbers_frame(0, bytes(7)),
    "a byte more than a real": numbers_frame(0, bytes(9)),
    "most integers": numbers_frame(2**32 - 1, bytes(8)),
    "a real more than most": numbers_frame(0, bytes(8 * (MOST_NUMBERS + 1))),
    "a byte more than most": numbers_frame(0, bytes(8 * MOST_NUMBERS + 1)),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_numbers_are_an_error(ends: Ends, name: str) -> None:
    channel, other = ends
    other.sendall(FORGED[name])
    with pytest.raises(MessageError, match="not a message of this program"):
        channel.receive()


@pytest.mark.parametrize("data", [numbers_frame(1, bytes(12)), numbers_frame(0, b"", size=12)])
@pytest.mark.parametrize("lost", [1, 4])
def test_truncated_numbers_are_an_end(ends: Ends, data: bytes, lost: int) -> None:
    channel, other = ends
    other.sendall(data[:-lost])
    other.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        channel.receive()


NANS = struct.unpack("<2d", struct.pack("<2Q", 0x7FF8000000000001, 0xFFF800000000BEEF))


@pytest.mark.parametrize(
    "value",
    [
        *(Numbers([], []), Numbers([0], []), Numbers([], [-0.0]), Numbers([2**32 - 1], [5e-324, math.inf])),
        *(Numbers([1, 2, 3], NANS), Numbers([], [0.1] * MOST_NUMBERS)),
    ],
    ids=["none", "integer", "real", "extreme", "nan", "most"],
)
def test_numbers_arrive_with_their_bits_between_other_messages(ends: Ends, value: Numbers) -> None:
    channel, other = ends
    there = Channel(other.fileno(), other.fileno())
    channel.send("before")
    channel.send_numbers(value)
    channel.send(["after"])
    assert there.receive() == "before"
    found = there.receive()
    assert type(found) is Numbers and list(found.integers) == list(value.integers)
    assert struct.pack(f"{len(found.reals)}d", *found.reals) == struct.pack(
        f"{len(value.reals)}d", *value.reals
    )
    assert there.receive() == ["after"]


def a_step(*values: Any, time: Any = 0.1, **more: Any) -> Call:
    """A step with a write of these values behind it."""
    return Call(3, "step", [time, 1e-3, [1, 0]], [["set_slopes", 7, []], ["set", 2, [*values]]], **more)


@pytest.mark.parametrize(
    "calls",
    [[Call(1, "step", [0.0, 1.0, []])], [a_step()], [a_step(1.0), a_step(-0.0, 2.0), a_step()]],
    ids=["bare", "no value", "three"],
)
def test_steps_of_reals_are_numbers_and_steps_again(calls: list[Call]) -> None:
    found = numbers_of_calls(calls)
    assert found is not None and calls_of_numbers(found) == calls
    for integers, reals in (
        (found.integers[:-1], found.reals),
        ([*found.integers, 0], found.reals),
        (found.integers, found.reals[:-1]),
        (found.integers, [*found.reals, 0.0]),
    ):
        with pytest.raises((ValueError, IndexError)):
            calls_of_numbers(Numbers(integers, reals))


@pytest.mark.parametrize(
    "calls",
    [
        *([], [Call(1, "get", [0])], [a_step(), Call(1, "save", [])], [a_step("text")], [a_step(1)]),
        *([a_step(True)], [a_step(None)], [a_step(b"")], [a_step(time=0)], [a_step(released=[1])]),
        *([a_step(names=[["a"]])], [Call(1, "step", [0.0, 1.0, []], [["set", 0, np.ones(20)]])]),
        [a_step(*[0.5] * MOST_NUMBERS)],
    ],
    ids=str,
)
def test_other_calls_are_no_numbers(calls: list[Call]) -> None:
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
def test_answers_of_reals_are_numbers_and_answers_again(answers: list[Any]) -> None:
    found = numbers_of_answers(answers)
    assert found is not None and answers_of_numbers(found) == answers
    for integers, reals in (
        (found.integers[:-1], found.reals),
        ([*found.integers, 0], found.reals),
        (found.integers, found.reals[:-1]),
        (found.integers, [*found.reals, 0.0]),
    ):
        with pytest.raises((ValueError, IndexError)):
            answers_of_numbers(Numbers(integers, reals))


@pytest.mark.parametrize(
    "answer",
    [
        *(["error", ["other", "x"]], ["answer", [1, [], []]], ["answer", [0.1, [[0.05, ["a"], [1.0]]], []]]),
        *(["answer", [0.1, [], [None]]], ["answer", [0.1, [], [["text"]]]], ["answer", [0.1, [], [[1]]]]),
        ["answer", [0.1, [], [np.ones(20)]]],
    ],
    ids=["error", "integer time", "inner point", "unread", "text", "integer", "array"],
)
def test_other_answers_are_no_numbers(answer: list[Any]) -> None:
    assert numbers_of_answers([["answer", [0.1, [], [[1.0]]]], answer]) is None


def test_forged_integers_are_steps_or_errors() -> None:
    drawn = random.Random(55)
    found = numbers_of_calls([a_step(1.0), a_step(2.0, 3.0)])
    assert found is not None
    outcomes = set()
    for _ in range(2000):
        integers = [*found.integers]
        integers[drawn.randrange(len(integers))] = drawn.choice([0, 1, 2, 3, 2**31, 2**32 - 1])
        for again in (calls_of_numbers, answers_of_numbers):
            try:
                again(Numbers(integers, found.reals))
            except (ValueError, IndexError) as error:
                outcomes.add(type(error))
            else:
                outcomes.add(type(None))
    assert outcomes == {ValueError, IndexError, type(None)}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_is_an_error(ends: Ends, name: str) -> None:
    channel, other = ends
    other.sendall(GARBAGE[name])
    other.shutdown(socket.SHUT_WR)
    with pytest.raises((MessageError, EOFError)):
        channel.receive()


def test_damaged_messages_are_errors_or_other_messages() -> None:
    drawn = random.Random(54)
    one, other = socket.socketpair()
    writer = Channel(one.fileno(), one.fileno())
    writer.send([[3, "step", [0.1, 0.2, [0]], [["set", 1, np.arange(20.0)]], [], [["a", "b"]]], b"state"])
    whole = other.recv(1 << 16)
    one.close()
    other.close()
    outcomes = set()
    for _ in range(500):
        data = bytearray(whole[: drawn.randrange(len(whole) + 1)] if drawn.random() < 0.3 else whole)
        for _ in range(drawn.randrange(1, 4) if data else 0):
            data[drawn.randrange(len(data))] = drawn.randrange(256)
        one, other = socket.socketpair()
        other.sendall(bytes(data))
        other.shutdown(socket.SHUT_WR)
        try:
            Channel(one.fileno(), one.fileno()).receive()
        except (MessageError, EOFError) as error:
            outcomes.add(type(error))
        else:
            outcomes.add(type(None))
        one.close()
        other.close()
    assert outcomes == {MessageError, EOFError, type(None)}

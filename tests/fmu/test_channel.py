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

from cosim_master.processes.channel import HEAD, LARGEST, Channel, MessageError

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
    assert there.receive() == [data, "one"] and there.wait(0.0) and there.receive() == "two"
    os.waitpid(child, 0)
    assert not there.wait(0.0)


@pytest.mark.parametrize(
    "value", [object(), {1, 2}, 1j, np.array(["a"]), np.array([None]), lambda: 0], ids=repr
)
def test_what_is_no_plain_data_is_an_error_before_anything_is_sent(ends: Ends, value: Any) -> None:
    channel, other = ends
    with pytest.raises(TypeError, match="no plain data"):
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

"""A channel between processes passes plain data on unchanged and refuses other bytes that arrive."""

import math
import os
import random
import socket
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cosim_master.processes.channel import HEAD, LARGEST, MOST_NUMBERS, Channel, MessageError, Numbers

pytestmark = pytest.mark.skipif(os.name == "nt", reason="sockets of POSIX")

Ends = tuple[Channel, socket.socket]


PLAIN = [
    *(None, True, False, 0, -1, 2**53 + 1, -(2**70), 0.1, -0.0, 5e-324, 1.7976931348623157e308),
    *(math.inf, -math.inf, "", 'grün\0\n"\\', "\U0001f600", b"", b"\0\xff", bytes(range(256))),
    *([], {}, [[]], {"": [None, {"a": b"x"}]}, ["step", [1.0, b"1", "2"], b""]),
]


NANS = struct.unpack("<2d", struct.pack("<2Q", 0x7FF8000000000001, 0xFFF800000000BEEF))


def frame(text: bytes, data: bytes = b"", size: int | None = None, length: int | None = None) -> bytes:
    """A message of JSON and bytes; `size` and `length` replace the right ones in its head."""
    right_size = len(text) + len(data)
    head = HEAD.pack(right_size if size is None else size, len(text) if length is None else length)
    return head + text + data


def numbers_frame(count: int, rest: bytes = b"", size: int | None = None) -> bytes:
    """A message of `Numbers` that announces `count` integers."""
    return HEAD.pack(4 + len(rest) if size is None else size, 0) + struct.pack("<I", count) + rest


@pytest.fixture
def ends() -> Iterator[Ends]:
    """A channel, and the other end of its connection."""
    channel_end, remote_end = socket.socketpair()
    handle = channel_end.detach()
    channel = Channel(handle, handle)
    yield channel, remote_end
    channel.close()
    remote_end.close()


def echo(ends: Ends, value: Any) -> Any:
    """Send a message to the other end and return what comes back."""
    channel, remote_end = ends
    remote = Channel(remote_end.fileno(), remote_end.fileno())
    channel.send(value)
    remote.send(remote.receive())
    return channel.receive()


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_data_arrive_as_they_were(ends: Ends, value: Any) -> None:
    received = echo(ends, value)
    assert received == value and type(received) is type(value)
    if isinstance(value, float):
        assert struct.pack("d", received) == struct.pack("d", value)


def test_tuples_arrive_as_lists_and_numbers_of_numpy_as_those_of_python(ends: Ends) -> None:
    assert math.isnan(echo(ends, [math.nan])[0])
    assert echo(ends, (1, (2, "x"))) == [1, [2, "x"]]
    received = echo(ends, [np.float64(0.1), np.int64(-3), np.bool_(True), np.float32(0.5)])
    assert received == [0.1, -3, True, 0.5] and [type(x) for x in received] == [float, int, bool, float]


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4", "u1", "u8", "b1", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_arrays_arrive_as_they_were(ends: Ends, kind: str, shape: tuple[int, ...]) -> None:
    value = np.arange(math.prod(shape)).reshape(shape).astype(kind)
    array, data = echo(ends, [value, b"behind"])
    assert array.dtype == value.dtype and array.shape == shape and array.tobytes() == value.tobytes()
    assert data == b"behind"
    array[...] = 1  # the receiver may write into it


def test_a_large_message_and_two_at_once(ends: Ends) -> None:
    channel, remote_end = ends
    remote = Channel(remote_end.fileno(), remote_end.fileno())
    data = os.urandom(5_000_000)
    if (child := os.fork()) == 0:
        channel.send([data, "one"])
        channel.send("two")
        os._exit(0)
    assert remote.receive() == [data, "one"] and remote.wait(10.0) and remote.receive() == "two"
    os.waitpid(child, 0)
    assert not remote.wait(0.0)


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, 1j, np.array(["a"]), np.array([None]), lambda: 0],
    ids=["object", "set", "complex", "texts", "objects", "function"],
)
def test_a_message_of_other_data_is_refused_before_anything_is_sent(ends: Ends, value: Any) -> None:
    channel, remote_end = ends
    with pytest.raises(TypeError, match="not plain data"):
        channel.send(["x", value])
    cyclic_list: list[Any] = []
    cyclic_list.append(cyclic_list)
    with pytest.raises(TypeError):
        channel.send(cyclic_list)
    remote_end.setblocking(False)
    with pytest.raises(BlockingIOError):
        remote_end.recv(1)
    assert echo(ends, "still") == "still"


WRONG_MESSAGES = {
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


WRONG_NUMBERS = {
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


@pytest.mark.parametrize("name", WRONG_NUMBERS)
def test_numbers_of_a_wrong_length_are_refused(ends: Ends, name: str) -> None:
    channel, remote_end = ends
    remote_end.sendall(WRONG_NUMBERS[name])
    with pytest.raises(MessageError, match="not a message of this program"):
        channel.receive()


@pytest.mark.parametrize("data", [numbers_frame(1, bytes(12)), numbers_frame(0, b"", size=12)])
@pytest.mark.parametrize("missing_bytes", [1, 4])
def test_truncated_numbers_end_the_connection(ends: Ends, data: bytes, missing_bytes: int) -> None:
    channel, remote_end = ends
    remote_end.sendall(data[:-missing_bytes])
    remote_end.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        channel.receive()


@pytest.mark.parametrize(
    "value",
    [
        *(Numbers([], []), Numbers([0], []), Numbers([], [-0.0]), Numbers([2**32 - 1], [5e-324, math.inf])),
        *(Numbers([1, 2, 3], NANS), Numbers([], [0.1] * MOST_NUMBERS)),
    ],
    ids=["none", "integer", "real", "extreme", "nan", "most"],
)
def test_numbers_arrive_with_their_bits_between_other_messages(ends: Ends, value: Numbers) -> None:
    channel, remote_end = ends
    remote = Channel(remote_end.fileno(), remote_end.fileno())
    channel.send("before")
    channel.send_numbers(value)
    channel.send(["after"])
    assert remote.receive() == "before"
    received = remote.receive()
    assert type(received) is Numbers and list(received.integers) == list(value.integers)
    assert struct.pack(f"{len(received.reals)}d", *received.reals) == struct.pack(
        f"{len(value.reals)}d", *value.reals
    )
    assert remote.receive() == ["after"]


@pytest.mark.parametrize("name", WRONG_MESSAGES)
def test_wrong_messages_are_refused(ends: Ends, name: str) -> None:
    channel, remote_end = ends
    remote_end.sendall(WRONG_MESSAGES[name])
    remote_end.shutdown(socket.SHUT_WR)
    with pytest.raises((MessageError, EOFError)):
        channel.receive()


def test_damaged_messages_raise_errors_or_are_other_messages() -> None:
    rng = random.Random(54)
    receiving_end, sending_end = socket.socketpair()
    writer = Channel(receiving_end.fileno(), receiving_end.fileno())
    writer.send([[3, "step", [0.1, 0.2, [0]], [["set", 1, np.arange(20.0)]], [], [["a", "b"]]], b"state"])
    message = sending_end.recv(1 << 16)
    receiving_end.close()
    sending_end.close()
    outcomes = set()
    for _ in range(500):
        data = bytearray(message[: rng.randrange(len(message) + 1)] if rng.random() < 0.3 else message)
        for _ in range(rng.randrange(1, 4) if data else 0):
            data[rng.randrange(len(data))] = rng.randrange(256)
        receiving_end, sending_end = socket.socketpair()
        sending_end.sendall(bytes(data))
        sending_end.shutdown(socket.SHUT_WR)
        try:
            Channel(receiving_end.fileno(), receiving_end.fileno()).receive()
        except (MessageError, EOFError) as error:
            outcomes.add(type(error))
        else:
            outcomes.add(type(None))
        receiving_end.close()
        sending_end.close()
    assert outcomes == {MessageError, EOFError, type(None)}

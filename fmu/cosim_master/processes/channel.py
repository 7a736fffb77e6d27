"""Messages between a run and a process of participants: plain data, in frames."""

from __future__ import annotations

import json
import math
import os
import re
import select
import socket
import struct
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import cosim

HEAD = struct.Struct("<QI")
"""At the head of each message: the number of bytes that follow, and of those that are JSON (0: `Numbers`)."""
COUNT = struct.Struct("<I")
"""After the head of `Numbers`: how many of them are integers."""
MOST_NUMBERS = 4096
"""The largest count of numbers in `Numbers`."""
LARGEST = 1 << 32
"""The largest size of a message, bytes; a saved state may be large."""
PIECE = 1 << 16
"""Bytes that are read at once."""
LARGE_PIECE = 1 << 22
"""Bytes that are read at once of a message that is longer than `PIECE`."""
MARK = "$"
"""Key of the JSON objects that stand for bytes and arrays."""
BYTES, ARRAY = "bytes", "array"
KINDS = "fiub"
"""Kinds of the arrays that are sent: reals, integers, booleans."""
ELEMENTS = re.compile(r"[<>|][fiub][1-9][0-9]?")
"""Types of the elements of arrays, as numpy writes them."""


class MessageError(cosim.CosimError):
    """The received bytes are not a message."""


class Numbers(NamedTuple):
    """A message of numbers alone, which needs no JSON.

    Attributes
    ----------
    integers : sequence of int
        From 0 to 2**32 - 1.
    reals : sequence of float
        With `integers` no more than `MOST_NUMBERS`.
    """

    integers: Sequence[int]
    reals: Sequence[float]


@lru_cache(maxsize=100)
def layout(integers: int, reals: int) -> struct.Struct:
    """The layout of a message with these counts of numbers, with its head."""
    return struct.Struct(f"<QII{integers}I{reals}d")


class Channel:
    """Sends and receives messages over a socket or two pipes.

    A message is None, booleans, numbers, text, bytes, arrays of numbers, and lists and dicts (with text as
    keys) of these. It is written as JSON, with bytes and arrays behind it as they are in memory; tuples
    arrive as lists. `Numbers` go as they are in memory, and arrive as `Numbers`. Reading a message runs no
    code: whatever arrives is data, or a `MessageError`. NaN, infinities and both zeros arrive as they were.

    Parameters
    ----------
    reading, writing : int
        Handles of the operating system; the same one of a socket.

    Attributes
    ----------
    most_numbers : int
        The largest count in `Numbers` that are received.

    Raises
    ------
    EOFError
        From `receive`: the other end is closed.
    OSError
        From `send` and `receive`: the connection is broken.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self.most_numbers = MOST_NUMBERS
        self._blobs: list[bytes] = []
        self._attachments, self._unread = memoryview(b""), b""
        self._lock = threading.Lock()
        self._encode = json.JSONEncoder(
            separators=(",", ":"), default=self._attach, check_circular=False
        ).encode
        decoder: Any = json.JSONDecoder(object_hook=self._detach)
        self._scan = decoder.scan_once  # no white space is expected
        if os.name != "nt":
            self._poll = select.poll()
            self._poll.register(reading, select.POLLIN)

    def send(self, value: Any) -> None:
        """Send a message; threads may do so at any time.

        Raises
        ------
        TypeError
            Something in it is not plain data; nothing is sent.
        """
        with self._lock:
            self._blobs = []
            try:
                text = self._encode(value).encode("ascii")
            except RecursionError:
                raise TypeError("is nested without an end") from None
            size = len(text) + sum(map(len, self._blobs))
            self.write(b"".join((HEAD.pack(size, len(text)), text, *self._blobs)))

    def send_numbers(self, numbers: Numbers) -> None:
        """Send a message of numbers; threads may do so at any time."""
        data = message_of_numbers(numbers)
        with self._lock:
            self.write(data)

    def check(self, value: Any) -> None:
        """Raise `TypeError` if the value is not plain data."""
        with self._lock:
            self._blobs = []
            self._encode(value)

    def receive(self) -> Any:
        """Wait for the next message."""
        while len(self._unread) < HEAD.size:
            self._unread += self.read(PIECE)
        size, length = HEAD.unpack_from(self._unread)
        if length > size or size > (LARGEST if length else COUNT.size + 8 * self.most_numbers):
            raise MessageError(f"announces {size} bytes: not a message of this program")
        end = HEAD.size + size
        whole: bytes | bytearray = self._unread
        if len(whole) < end:
            whole = bytearray(whole)
            while len(whole) < end:
                whole += self.read(min(max(end - len(whole), PIECE), LARGE_PIECE))
        self._unread = bytes(whole[end:])
        if not length:
            return numbers_of_message(whole)
        text = bytes(whole[HEAD.size : HEAD.size + length])
        self._attachments = memoryview(whole)[HEAD.size + length : end]
        try:
            content, end = self._scan(text.decode("ascii"), 0)
            if end != length:
                raise ValueError("more than one value")
            return content
        except StopIteration:
            raise MessageError("is not a message of this program: it ends too soon") from None
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            raise MessageError(f"is not a message of this program: {error}") from None
        finally:
            self._attachments = memoryview(b"")

    @property
    def holds_bytes(self) -> bool:
        """Whether bytes of the next message have been read."""
        return bool(self._unread)

    def put_back(self, data: bytes) -> None:
        """Give back bytes that compiled code has read: `receive` begins with them."""
        self._unread = data + self._unread

    def wait(self, seconds: float) -> bool:
        """Whether something arrives within some seconds, or the other end is closed."""
        return len(self._unread) >= HEAD.size or bool(self._poll.poll(1e3 * seconds))

    def read(self, size: int) -> bytes:
        """Up to `size` bytes that have arrived; waits for some if there are none."""
        data = os.read(self.reading, size)
        if not data:
            raise EOFError
        return data

    def write(self, data: bytes) -> None:
        """Write all of them."""
        written = os.write(self.writing, data)
        while written < len(data):  # slices: a view that a traceback keeps can crash CPython 3.12.0
            data = data[written:]
            written = os.write(self.writing, data)

    def close(self) -> None:
        """Close both handles."""
        for handle in {self.reading, self.writing}:
            with suppress(OSError):
                os.close(handle)

    def _attach(self, value: Any) -> Any:
        """The JSON object that stands for a value of a type that JSON does not have."""
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, (bytes, bytearray)):
            return {MARK: [BYTES, *self._append(bytes(value))]}
        if isinstance(value, np.ndarray) and value.dtype.kind in KINDS:
            flat = np.ascontiguousarray(value)
            return {MARK: [ARRAY, *self._append(flat.tobytes()), flat.dtype.str, list(value.shape)]}
        raise TypeError(f"a {type(value).__name__} is not plain data")

    def _append(self, data: bytes) -> list[int]:
        """Append bytes to the message. Returns their place after the JSON, and their length."""
        place = sum(map(len, self._blobs))
        self._blobs.append(data)
        return [place, len(data)]

    def _detach(self, received: dict[str, Any]) -> Any:
        """The value that a JSON object stands for."""
        if len(received) != 1 or MARK not in received:
            return received
        kind, place, length, *array = received[MARK]
        if type(place) is not int or type(length) is not int:
            raise ValueError("bytes without a place")
        if not 0 <= place <= place + length <= len(self._attachments):
            raise ValueError("bytes beyond the end")
        data = bytes(self._attachments[place : place + length])
        if kind == BYTES and not array:
            return data
        elements, shape = array
        if kind != ARRAY or not ELEMENTS.fullmatch(elements) or not all(n >= 0 for n in shape):
            raise ValueError("an array of an unknown type or shape")
        dtype = np.dtype(elements)
        if math.prod(shape) * dtype.itemsize != length:
            raise ValueError("an array whose shape does not fit its bytes")
        return np.frombuffer(data, dtype).reshape(shape).copy()


def message_of_numbers(numbers: Numbers) -> bytes:
    """The bytes of a message."""
    integers, reals = numbers
    form = layout(len(integers), len(reals))
    return form.pack(form.size - HEAD.size, 0, len(integers), *integers, *reals)


def numbers_of_message(whole: bytes | bytearray) -> Numbers:
    """The numbers of the message with which these bytes begin."""
    size, _ = HEAD.unpack_from(whole)
    if size < COUNT.size:
        raise MessageError("is not a message of this program: it ends too soon")
    (count,) = COUNT.unpack_from(whole, HEAD.size)
    reals, remainder = divmod(size - COUNT.size * (1 + count), 8)
    if reals < 0 or remainder:
        raise MessageError("is not a message of this program: numbers of another count")
    numbers = layout(count, reals).unpack_from(whole)
    return Numbers(numbers[3 : 3 + count], numbers[3 + count :])


class SocketChannel(Channel):
    """A channel over a socket, on every operating system.

    Parameters
    ----------
    connection : socket
        A blocking one, which the caller closes.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        super().__init__(connection.fileno(), connection.fileno())

    def wait(self, seconds: float) -> bool:
        """Whether something arrives within some seconds, or the other end is closed."""
        if os.name != "nt":
            return super().wait(seconds)
        return len(self._unread) >= HEAD.size or bool(select.select([self._socket], [], [], seconds)[0])

    def read(self, size: int) -> bytes:
        """Up to `size` bytes that have arrived; waits for some if there are none."""
        data = self._socket.recv(size)
        if not data:
            raise EOFError
        return data

    def write(self, data: bytes) -> None:
        """Write all of them."""
        self._socket.sendall(data)


class PipeChannel(Channel):
    """A channel over a pipe of Windows.

    Parameters
    ----------
    pipe : multiprocessing.connection.PipeConnection
    """

    def __init__(self, pipe: Any) -> None:
        super().__init__(-1, -1)
        self._pipe = pipe

    def wait(self, seconds: float) -> bool:
        """Whether something arrives within some seconds, or the other end is closed."""
        return len(self._unread) >= HEAD.size or bool(self._pipe.poll(seconds))

    def read(self, size: int) -> bytes:
        """The next piece that was written."""
        data: bytes = self._pipe.recv_bytes()
        return data

    def write(self, data: bytes) -> None:
        """Write all of them."""
        self._pipe.send_bytes(data)

    def close(self) -> None:
        """Close the pipe."""
        with suppress(OSError):
            self._pipe.close()

"""A wire between two network namespaces that delays and loses packets as its input says.

Run as a program: two handles of TUN devices; each line of the standard input is a delay (s) and a
share of packets that are lost.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

SET_TUN, NO_HEADER_TUN = 0x400454CA, 0x1001
"""TUNSETIFF, and IFF_TUN | IFF_NO_PI, of linux/if_tun.h."""


def tun_device(name: str) -> int:
    """A handle that reads and writes the packets of a new device."""
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, SET_TUN, struct.pack("16sH22x", name.encode(), NO_HEADER_TUN))
    return handle


class WaitingPacket(NamedTuple):
    """A packet, ordered by the time at which it is due (s), then by its number."""

    due: float
    number: int
    handle: int
    data: bytes


class Wire:
    """The process that carries packets from one device to the other and back."""

    def __init__(self, left: int, right: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(left), str(right)], stdin=subprocess.PIPE, pass_fds=(left, right)
        )

    def tell(self, delay: float = 0.0, loss: float = 0.0) -> None:
        """Set the delay (s) and the share of lost packets."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{delay} {loss}\n".encode())
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


def main() -> None:
    left, right = int(sys.argv[1]), int(sys.argv[2])
    opposite = {left: right, right: left}
    delay, loss, random_numbers = 0.0, 0.0, random.Random(54)
    waiting: list[WaitingPacket] = []
    count = 0
    while True:
        pause = max(0.0, waiting[0].due - monotonic()) if waiting else None
        ready, _, _ = select.select([0, left, right], [], [], pause)
        if 0 in ready:
            line = os.read(0, 1000).decode().split("\n")[-2:]
            if line == [""]:
                return
            delay, loss = map(float, line[0].split())
        for handle in set(ready) - {0}:
            with suppress(OSError):
                data = os.read(handle, 1 << 16)
                if random_numbers.random() >= loss:
                    count += 1
                    packet = WaitingPacket(monotonic() + delay, count, opposite[handle], data)
                    heapq.heappush(waiting, packet)
        while waiting and waiting[0].due <= monotonic():
            packet = heapq.heappop(waiting)
            with suppress(OSError):  # the device is down
                os.write(packet.handle, packet.data)


if __name__ == "__main__":
    main()

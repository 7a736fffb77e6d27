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

SET_TUN, NO_HEADER_TUN = 0x400454CA, 0x1001
"""TUNSETIFF, and IFF_TUN | IFF_NO_PI, of linux/if_tun.h."""


def tun_device(name: str) -> int:
    """A handle that reads and writes the packets of a new device."""
    handle = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(handle, SET_TUN, struct.pack("16sH22x", name.encode(), NO_HEADER_TUN))
    return handle


class Wire:
    """The process that carries packets from one device to the other and back."""

    def __init__(self, one: int, other: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(one), str(other)], stdin=subprocess.PIPE, pass_fds=(one, other)
        )

    def tell(self, delay: float = 0.0, loss: float = 0.0) -> None:
        """From now on."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{delay} {loss}\n".encode())
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()


def main() -> None:
    one, other = int(sys.argv[1]), int(sys.argv[2])
    across = {one: other, other: one}
    delay, loss, drawn = 0.0, 0.0, random.Random(54)
    waiting: list[tuple[float, int, int, bytes]] = []
    count = 0
    while True:
        pause = max(0.0, waiting[0][0] - monotonic()) if waiting else None
        ready, _, _ = select.select([0, one, other], [], [], pause)
        if 0 in ready:
            line = os.read(0, 1000).decode().split("\n")[-2:]
            if line == [""]:
                return
            delay, loss = map(float, line[0].split())
        for handle in set(ready) - {0}:
            with suppress(OSError):
                packet = os.read(handle, 1 << 16)
                if drawn.random() >= loss:
                    count += 1
                    heapq.heappush(waiting, (monotonic() + delay, count, across[handle], packet))
        while waiting and waiting[0][0] <= monotonic():
            _, _, handle, packet = heapq.heappop(waiting)
            with suppress(OSError):  # the device is down
                os.write(handle, packet)


if __name__ == "__main__":
    main()

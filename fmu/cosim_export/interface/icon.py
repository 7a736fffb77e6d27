"""The icon of an FMU: a block with a curve that settles, as PNG."""

from __future__ import annotations

import functools
import math
import struct
import zlib

SIZE = 96
PAPER, INK, CURVE = (255, 255, 255), (43, 74, 120), (200, 80, 40)


@functools.cache
def icon() -> bytes:
    """A PNG of 96 x 96 pixels, the same each time."""
    rows = b"".join(b"\0" + bytes(c for x in range(SIZE) for c in _color(x, y)) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _color(x: int, y: int) -> tuple[int, int, int]:
    border = min(x, y, SIZE - 1 - x, SIZE - 1 - y)
    if 3 <= border < 6:
        return INK
    inside = (x - 14) / (SIZE - 28)
    if not 0.0 <= inside <= 1.0:
        return PAPER
    phase, decay = 5.0 * math.pi * inside, math.exp(-2.5 * inside)
    middle = SIZE / 2 - 28.0 * decay * math.cos(phase)
    slope = 28.0 * decay * (5.0 * math.pi * math.sin(phase) + 2.5 * math.cos(phase)) / (SIZE - 28)
    distance = abs(y - middle) / math.hypot(1.0, slope)
    if distance <= 2.0:
        return CURVE
    return INK if abs(y - SIZE / 2) < 1.0 else PAPER

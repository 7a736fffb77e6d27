"""The icon of an exported FMU."""

from __future__ import annotations

import functools
import math
import struct
import zlib

SIZE = 96
"""Pixels, each way."""
FRAME = range(3, 6)
"""Pixels from the edge, where a frame lies."""
MARGIN = 14
"""Pixels between the edge and the ends of the curve."""
HEIGHT, PERIODS, DECAY = 28.0, 2.5, 2.5
"""Of the curve: its first amplitude in pixels, how often it swings, and its decay over the whole width."""
PAPER, INK, CURVE = (255, 255, 255), (43, 74, 120), (200, 80, 40)


@functools.cache
def icon() -> bytes:
    """A PNG of 96 x 96 pixels, the same each time."""
    rows = b"".join(b"\0" + bytes(c for x in range(SIZE) for c in _color(x, y)) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG: length, kind, data, check sum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _color(x: int, y: int) -> tuple[int, int, int]:
    """A frame, an axis, and a damped oscillation, drawn equally thick where it is steep."""
    border = min(x, y, SIZE - 1 - x, SIZE - 1 - y)
    if border in FRAME:
        return INK
    width = SIZE - 2 * MARGIN
    share = (x - MARGIN) / width
    if not 0.0 <= share <= 1.0:
        return PAPER
    rate = 2.0 * math.pi * PERIODS
    phase, amplitude = rate * share, HEIGHT * math.exp(-DECAY * share)
    curve = SIZE / 2 - amplitude * math.cos(phase)
    slope = amplitude * (rate * math.sin(phase) + DECAY * math.cos(phase)) / width
    distance = abs(y - curve) / math.hypot(1.0, slope)
    if distance <= 2.0:
        return CURVE
    return INK if abs(y - SIZE / 2) < 1.0 else PAPER

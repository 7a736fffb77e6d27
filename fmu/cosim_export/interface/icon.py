"""The icon of an exported FMU."""

from __future__ import annotations

import functools
import math
import struct
import zlib

SIZE = 96
"""Pixels, each way."""
FRAME = range(3, 6)
"""The distances from the edge, in pixels, at which the frame is drawn."""
MARGIN = 14
"""Pixels between the edge and the ends of the curve."""
HEIGHT, PERIODS, DECAY = 28.0, 2.5, 2.5
"""The curve: its first amplitude in pixels, its number of periods, and its decay over the width."""
Color = tuple[int, int, int]
PAPER, INK, CURVE = (255, 255, 255), (43, 74, 120), (200, 80, 40)


@functools.cache
def icon() -> bytes:
    """A PNG of `SIZE` x `SIZE` pixels, the same each time."""
    columns = [_column(x) for x in range(SIZE)]
    rows = b"".join(b"\0" + bytes(c for column in columns for c in column[y]) for y in range(SIZE))
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG: length, kind, data, check sum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _column(x: int) -> list[Color]:
    """A frame, an axis, and a damped oscillation, drawn equally thick where it is steep."""
    side_distance = min(x, SIZE - 1 - x)
    borders = [min(side_distance, y, SIZE - 1 - y) for y in range(SIZE)]
    width = SIZE - 2 * MARGIN
    share = (x - MARGIN) / width
    if not 0.0 <= share <= 1.0:
        return [INK if border in FRAME else PAPER for border in borders]
    rate = 2.0 * math.pi * PERIODS
    phase, amplitude = rate * share, HEIGHT * math.exp(-DECAY * share)
    curve = SIZE / 2 - amplitude * math.cos(phase)
    slope = amplitude * (rate * math.sin(phase) + DECAY * math.cos(phase)) / width
    steepness = math.hypot(1.0, slope)
    colors = []
    for y, border in enumerate(borders):
        is_axis = abs(y - SIZE / 2) < 1.0
        is_curve = border not in FRAME and abs(y - curve) / steepness <= 2.0
        colors.append(CURVE if is_curve else INK if is_axis or border in FRAME else PAPER)
    return colors

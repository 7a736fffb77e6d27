"""The file of a shared library, looked at before the loader maps it."""

from __future__ import annotations

import struct
from pathlib import Path

LOAD = 1


def is_cut_off(path: Path) -> bool:
    """Whether an ELF file of 64 bit ends before its segments do.

    The loader maps such a file without looking, and the process dies at the first page that is not there. Of
    other files the loader says itself what is wrong. Source: System V ABI, generic part (gABI), chapter 5,
    "Program Header".
    """
    data = path.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        return False
    (table,) = struct.unpack_from("<Q", data, 32)
    width, count = struct.unpack_from("<HH", data, 54)
    for at in range(table, table + width * count, max(width, 1)):
        if at + 56 > len(data):
            return True
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, at)
        if kind == LOAD and offset + size > len(data):
            return True
    return False

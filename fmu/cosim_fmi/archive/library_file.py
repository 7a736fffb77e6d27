"""The file of a shared library, looked at before the loader maps it."""

from __future__ import annotations

import os
import struct
from pathlib import Path

LOAD = 1


def is_cut_off(path: Path) -> bool:
    """Whether an ELF file of 64 bit ends before its segments do.

    The loader maps such a file without looking, and the process dies at the first page that is not there. Of
    other files the loader says itself what is wrong. Source: System V ABI, generic part (gABI), chapter 5,
    "Program Header".
    """
    with path.open("rb") as file:
        head, length = file.read(64), os.fstat(file.fileno()).st_size
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return False
        (table,) = struct.unpack_from("<Q", head, 32)
        width, count = struct.unpack_from("<HH", head, 54)
        if table + width * count > length:
            return True
        file.seek(table)
        data = file.read(width * count)
    for at in range(0, width * count, max(width, 1)):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data.ljust(at + 56, b"\0"), at)
        if kind == LOAD and offset + size > length:
            return True
    return False

"""Universal libraries of macOS: one file for several processors."""

from __future__ import annotations

import struct
from collections.abc import Sequence

FAT_MAGIC = 0xCAFEBABE
ALIGNMENT = 14  # 2**14 bytes: pages of arm64
HEADER, ENTRY = struct.Struct(">II"), struct.Struct(">IIIII")


def universal_library(libraries: Sequence[bytes]) -> bytes:
    """A universal file of Mach-O libraries for different processors; a single one is returned as it is.

    Parameters
    ----------
    libraries : sequence of bytes
        64-bit Mach-O files; each begins with its magic number, its processor and the processor's variant.
    """
    if len(libraries) == 1:
        return libraries[0]
    page = 1 << ALIGNMENT
    entries, body = b"", b""
    at = page
    for library in libraries:
        processor, variant = struct.unpack_from("<II", library, 4)
        entries += ENTRY.pack(processor, variant, at, len(library), ALIGNMENT)
        padded = library + bytes(-len(library) % page)
        body += padded
        at += len(padded)
    head = HEADER.pack(FAT_MAGIC, len(libraries)) + entries
    return head + bytes(page - len(head)) + body

"""Which symbols, and which versions of them, a shared library of Linux needs from other libraries."""

from __future__ import annotations

import struct
from typing import NamedTuple

DYNSYM, GNU_VERSYM, GNU_VERNEED = 11, 0x6FFFFFFF, 0x6FFFFFFE  # kinds of sections, from elf.h


class Section(NamedTuple):
    kind: int
    data: bytes
    link: int
    count: int


def _sections(elf: bytes) -> list[Section]:
    assert elf[:6] == b"\x7fELF\x02\x01", "no little-endian ELF of 64 bits"
    (start,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = []
    for i in range(count):
        header = struct.unpack_from("<IIQQQQIIQQ", elf, start + i * size)
        _, kind, _, _, offset, length, link, info, _, _ = header
        sections.append(Section(kind, elf[offset : offset + length], link, info))
    return sections


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def needed_versions(elf: bytes) -> dict[str, str]:
    """The version of each symbol that the library needs from others, by its name; empty without a version."""
    sections = _sections(elf)
    by_kind = {section.kind: section for section in sections}
    versions = {0: "", 1: ""}
    need = by_kind.get(GNU_VERNEED)
    library = 0  # offset of the entry of a library, which is followed by its versions
    for _ in range(need.count if need else 0):
        assert need is not None
        _, count, _, first_version, next_library = struct.unpack_from("<HHIII", need.data, library)
        entry = library + first_version
        for _ in range(count):
            _, _, number, name, next_version = struct.unpack_from("<IHHII", need.data, entry)
            versions[number] = _text(sections[need.link].data, name)
            entry += next_version
        library += next_library
    symbols = by_kind[DYNSYM]
    numbers = by_kind[GNU_VERSYM].data if GNU_VERSYM in by_kind else bytes(len(symbols.data) // 12)
    needed = {}
    for i in range(1, len(symbols.data) // 24):
        name, _, _, section = struct.unpack_from("<IBBH", symbols.data, 24 * i)
        if section == 0:  # not defined in this library
            (number,) = struct.unpack_from("<H", numbers, 2 * i)
            needed[_text(sections[symbols.link].data, name)] = versions[number & 0x7FFF]
    return needed


def as_numbers(version: str) -> tuple[int, ...]:
    """``GLIBC_2.2.5`` as (2, 2, 5)."""
    return tuple(map(int, version.removeprefix("GLIBC_").split(".")))

"""What a shared library of Linux asks of other libraries: symbols, and the versions of them."""

from __future__ import annotations

import struct
from typing import NamedTuple

DYNSYM, GNU_VERSYM, GNU_VERNEED = 11, 0x6FFFFFFF, 0x6FFFFFFE


class Section(NamedTuple):
    kind: int
    data: bytes
    link: int
    count: int


def _sections(elf: bytes) -> list[Section]:
    assert elf[:6] == b"\x7fELF\x02\x01", "no little-endian ELF of 64 bits"
    (start,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    found = []
    for i in range(count):
        head = struct.unpack_from("<IIQQQQIIQQ", elf, start + i * size)
        _, kind, _, _, offset, length, link, info, _, _ = head
        found.append(Section(kind, elf[offset : offset + length], link, info))
    return found


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def needed_versions(elf: bytes) -> dict[str, str]:
    """By the name of each symbol that has to come from elsewhere: its version, empty for none."""
    sections = _sections(elf)
    by_kind = {section.kind: section for section in sections}
    versions = {0: "", 1: ""}
    need = by_kind.get(GNU_VERNEED)
    at = 0
    for _ in range(need.count if need else 0):
        assert need is not None
        _, count, _, first, following = struct.unpack_from("<HHIII", need.data, at)
        entry = at + first
        for _ in range(count):
            _, _, other, name, step = struct.unpack_from("<IHHII", need.data, entry)
            versions[other] = _text(sections[need.link].data, name)
            entry += step
        at += following
    symbols = by_kind[DYNSYM]
    numbers = by_kind[GNU_VERSYM].data if GNU_VERSYM in by_kind else bytes(len(symbols.data) // 12)
    found = {}
    for i in range(1, len(symbols.data) // 24):
        name, _, _, section = struct.unpack_from("<IBBH", symbols.data, 24 * i)
        if section == 0:
            (number,) = struct.unpack_from("<H", numbers, 2 * i)
            found[_text(sections[symbols.link].data, name)] = versions[number & 0x7FFF]
    return found


def as_numbers(version: str) -> tuple[int, ...]:
    """``GLIBC_2.2.5`` as (2, 2, 5)."""
    return tuple(map(int, version.removeprefix("GLIBC_").split(".")))

"""Object files for Linux on x86-64, loaded without LLVM, which takes a tenth of a short run to load.

What LLVM makes for this process has absolute addresses of 64 bits, so a section may lie anywhere, and there
is one kind of relocation. An object with anything else is left to LLVM (`machine.load`).
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# the names of ELF, the format of object files, are in brackets
ALLOCATED, WRITABLE = 0x2, 0x1  # flags of a section (SHF_ALLOC, SHF_WRITE)
SYMBOLS, RELOCATIONS, WITHOUT_CONTENT, SHORT_RELOCATIONS = 2, 4, 8, 9  # kinds of sections (SHT_SYMTAB, …)
ABSOLUTE_64 = 1  # kind of a relocation: the address itself, with 64 bits (R_X86_64_64)
GLOBAL = 1  # binding of a symbol that others may use (STB_GLOBAL)
UNDEFINED = 0  # "section" of a symbol that is defined elsewhere (SHN_UNDEF)
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
WORD = struct.Struct("<Q")
FOR_X86_64 = b"\x7fELF\x02\x01\x01"
HEADER = struct.Struct("<16x2xH20xQ12xH2x")  # machine, offset of the list of sections, number of sections
X86_64 = 62  # the machine (EM_X86_64)

_kept: list[mmap.mmap] = []
"""Loaded code, which stays as long as the process, since others have its addresses."""


class UnknownObjectError(Exception):
    """An object contains something that only LLVM can load."""


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int

    def content(self, code: bytes) -> bytes:
        return code[self.offset : self.offset + self.size]


@dataclass(frozen=True)
class _Symbol:
    name: str
    is_global: bool
    section: int
    value: int


@functools.cache
def can_load() -> bool:
    """Whether this process runs objects for Linux on x86-64."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32


def load(code: bytes, address_outside: Callable[[str], int]) -> dict[str, int]:
    """Load an object.

    Parameters
    ----------
    code : bytes
    address_outside : callable
        The address of a symbol that is not in it; 0 where there is none.

    Returns
    -------
    dict
        The addresses of what others may call, by symbols.

    Raises
    ------
    UnknownObjectError
        It contains something that only LLVM can load.
    """
    sections = _sections(code)
    places, size = _places(sections)
    memory = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for i, place in places.items():
        memory[place : place + sections[i].size] = sections[i].content(code)
    symbols = [
        symbol for table in sections if table.kind == SYMBOLS for symbol in _symbols(code, sections, table)
    ]

    def address(symbol: _Symbol) -> int:
        if symbol.section == UNDEFINED:
            outside = address_outside(symbol.name)
            if not outside:
                raise UnknownObjectError(f"{symbol.name} is not known")
            return outside
        if symbol.section not in places:
            raise UnknownObjectError("a symbol of another kind")
        return start + places[symbol.section] + symbol.value

    for place, number, addend in _absolute_addresses(code, sections, places):
        WORD.pack_into(memory, place, (address(symbols[number]) + addend) % (1 << 64))
    _make_executable(start, size)
    _kept.append(memory)
    return {s.name: address(s) for s in symbols if s.is_global and s.section in places}


def _absolute_addresses(
    code: bytes, sections: list[_Section], places: dict[int, int]
) -> Iterator[tuple[int, int, int]]:
    """The places that hold absolute addresses, with the number of the symbol and the addend of each."""
    for table in sections:
        if table.kind not in (RELOCATIONS, SHORT_RELOCATIONS) or table.info not in places:
            continue  # relocations for debuggers count for nothing
        for offset, info, addend in RELOCATION.iter_unpack(table.content(code)):
            if table.kind != RELOCATIONS or info & 0xFFFFFFFF != ABSOLUTE_64:
                raise UnknownObjectError("a relocation of another kind")
            yield places[table.info] + offset, info >> 32, addend


def _places(sections: list[_Section]) -> tuple[dict[int, int], int]:
    """The places of sections in memory, by their numbers, and the size of all."""
    places: dict[int, int] = {}
    size = 0
    for i, section in enumerate(sections):
        if section.flags & ALLOCATED and section.size:
            if section.flags & WRITABLE or section.kind == WITHOUT_CONTENT:
                raise UnknownObjectError("memory that is written")
            places[i] = -(-size // section.alignment) * section.alignment
            size = places[i] + section.size
    return places, max(size, 1)


def address_in_process(symbol: str) -> int:
    """The address of a function of this process's libraries; 0 if there is none."""
    function = getattr(_process(), symbol, None)
    return 0 if function is None else ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _make_executable(start: int, size: int) -> None:
    """Let memory be run, and no longer be written."""
    protect = _process().mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    if protect(start, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise UnknownObjectError("memory that must not be run")


def _sections(code: bytes) -> list[_Section]:
    if not code.startswith(FOR_X86_64) or len(code) < HEADER.size:
        raise UnknownObjectError("an object of another kind")
    machine, begin, count = HEADER.unpack_from(code)
    if machine != X86_64:
        raise UnknownObjectError("an object for another machine")
    return [_Section(*SECTION.unpack_from(code, begin + SECTION.size * i)) for i in range(count)]


def _symbols(code: bytes, sections: list[_Section], table: _Section) -> list[_Symbol]:
    names = sections[table.link].content(code)
    return [
        _Symbol(names[name : names.index(b"\0", name)].decode(), info >> 4 == GLOBAL, section, value)
        for name, info, _, section, value, _ in SYMBOL.iter_unpack(table.content(code))
    ]

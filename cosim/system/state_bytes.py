"""The bytes of a State: header, sections, checksum. They come from outside, so nothing is believed."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.component.history import FULL, LARGE, UNKNOWN, ZERO, Ring
from cosim.contracts.restored_memory import are_of_a_run
from cosim.errors import StateError
from cosim.run_data.run import AGENDA_WIDTH, ARRAYS, CLOCK_WIDTH, STATE
from cosim.stage import Stage
from cosim_compiler.record import rows_of

if TYPE_CHECKING:
    State = Any
    System = Any

MAGIC = b"COSIMST5"
SECTIONS = tuple((name, "<i8" if letter == "I" else "<f8") for name, letter, role in ARRAYS if role == STATE)
OWN_LENGTH = ("h", "memory", "indices", "times")
"""Sections whose lengths the system alone does not tell."""
LARGEST = 1 << 31
"""Numbers in a section."""
ACCURACY, LENGTH, CHECKSUM = "<d", "<q", "<I"
WORD = 8
"""Bytes of a number or a length."""


def pack(state: State) -> bytes:
    """Magic, digest of the system's layout, accuracy, sections with their lengths, tangents, CRC-32."""
    accuracy = float("nan") if state.accuracy is None else state.accuracy
    parts = [
        MAGIC,
        bytes.fromhex(state.system.digest),
        struct.pack(ACCURACY, accuracy),
    ]
    for name, kind in SECTIONS:
        data = np.ascontiguousarray(state._arrays[name], dtype=kind)
        parts += [struct.pack(LENGTH, data.size), data.tobytes()]
    if state.carried:
        parts += [struct.pack(LENGTH, len(state.carried)), state.carried]
    body = b"".join(parts)
    return body + struct.pack(CHECKSUM, zlib.crc32(body))


def unpack(system: System, data: bytes) -> State:
    """A State from its bytes.

    Raises
    ------
    StateError
        Not a State, damaged, or one of another system.
    """
    content = _checked_content(system, data)
    (accuracy,) = struct.unpack_from(ACCURACY, content)
    state = system.default_state()
    place = _read_sections(state, content, struct.calcsize(ACCURACY))
    if place + WORD < len(content):
        (size,) = struct.unpack_from(LENGTH, content, place)
        place += WORD
        state.carried = content[place : place + size] if 0 < size <= len(content) - place else b""
        place += len(state.carried)
    if place != len(content):
        raise _damaged("something follows its sections")
    _check_numbers(state)
    _check_rings(system, state)
    _check_parameters(system, state)
    state.accuracy = None if np.isnan(accuracy) else accuracy
    state.is_checked = False
    state.invalidate(Stage.INSTANCE, "from_bytes()")
    return state


def _damaged(reason: str) -> StateError:
    return StateError(f"the bytes of this State are damaged ({reason})")


def _checked_content(system: System, data: bytes) -> bytes:
    """The bytes between the header and the checksum, both of which were checked."""
    digest = bytes.fromhex(system.digest)
    start = len(MAGIC) + len(digest)
    least = start + struct.calcsize(ACCURACY) + struct.calcsize(CHECKSUM)
    if not isinstance(data, (bytes, bytearray, memoryview)) or len(data) < least:
        raise StateError("these are not the bytes of a State (too short)")
    data = bytes(data)
    if data[: len(MAGIC)] != MAGIC:
        is_older = data[: len(MAGIC) - 1] == MAGIC[:-1]
        older = " (they are of an older version: run the simulation again)" if is_older else ""
        raise StateError(f"these are not the bytes of a State of this version{older}")
    if data[len(MAGIC) : start] != digest:
        raise StateError("this State belongs to another system: its parts, connections or options differ")
    end = len(data) - struct.calcsize(CHECKSUM)
    if struct.unpack_from(CHECKSUM, data, end)[0] != zlib.crc32(data[:end]):
        raise _damaged("checksum")
    return data[start:end]


def _read_sections(state: State, content: bytes, place: int) -> int:
    """Read the arrays of a State; where they end."""
    for name, kind in SECTIONS:
        if place + WORD > len(content):
            raise _damaged(f"section {name} is missing")
        (size,) = struct.unpack_from(LENGTH, content, place)
        place += WORD
        if not 0 <= size < LARGEST or place + WORD * size > len(content):
            raise _damaged(f"section {name}")
        array = np.frombuffer(content, dtype=kind, count=size, offset=place).astype(kind[1:])
        place += WORD * size
        if name not in OWN_LENGTH and size != state._arrays[name].size:
            raise StateError(f"section {name} has {size} numbers, the system has {state._arrays[name].size}")
        if name == "p" and np.any(np.isnan(array) & ~np.isnan(state._arrays["p"])):
            raise _damaged("a parameter is not a number")
        state._arrays[name] = array
    return place


def _check_numbers(state: State) -> None:
    """The clock is whole, and time, states and memory are numbers that a run can have."""
    if state._arrays["times"].size < CLOCK_WIDTH or state._arrays["indices"].size < AGENDA_WIDTH:
        raise _damaged("its clock is too short")
    if not np.isfinite(state.time):
        raise _damaged(f"its time is {state.time}")
    with np.errstate(invalid="ignore"):
        is_of_a_run = are_of_a_run(state._arrays["y"], state._arrays["memory"])
    if not is_of_a_run:
        raise _damaged("a state or the integrator's memory is not a number that a run can have")


def _check_rings(system: System, state: State) -> None:
    """Histories index into h: compiled code believes their descriptors, so they are checked here."""
    for slot in system.rings:
        ring = rows_of(Ring, state._arrays["k"], slot.offset, 1)[0]
        is_inside = ring.start >= 0 and ring.capacity > 0 and ring.stop <= state._arrays["h"].size
        is_ring = 0 <= ring.oldest < ring.capacity and 0 <= ring.count <= ring.capacity
        last = max(ring.count, 1) - 1
        is_piece = -1 <= ring.piece_begin <= last and (ring.piece_end == -1 or 0 <= ring.piece_end < last)
        is_known = ring.flags in (0, FULL) and -1 <= ring.start_order <= 2
        has_size = ZERO <= ring.size_exponent <= LARGE and ZERO <= ring.rounding_exponent <= UNKNOWN
        if not (is_inside and is_ring and is_piece and is_known and has_size):
            raise _damaged("history")


def _check_parameters(system: System, state: State) -> None:
    """A parameter that is not what the system has as its start is held to its bounds, as when it is set."""
    values = state._arrays["p"]
    changed = np.flatnonzero(values != system.start_arrays()["p"])
    for path in system.paths_at("p", changed.tolist()) if changed.size else ():
        variable = system.variables.get(path)
        if variable is None:  # a number that has no name has no bounds
            continue
        least = -np.inf if variable.minimum is None else variable.minimum
        most = np.inf if variable.maximum is None else variable.maximum
        slot = variable.slot
        for i, value in enumerate(values[slot.offset : slot.offset + slot.size].tolist()):
            if value < least or value > most:
                at = f"{path}[{i}]" if slot.size > 1 else path
                raise _damaged(f"{at} is {value:g}, needs {least:g} to {most:g}")

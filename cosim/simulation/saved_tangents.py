"""The tangents of a run as bytes, which its State takes along, for a run that goes on with them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.history import Ring
from cosim.derivatives.carrier import CarryNotes
from cosim.errors import ModelError, StateError
from cosim.preparation.tangent_tables import SAVED
from cosim_compiler.record import place_in, rows_of

if TYPE_CHECKING:
    from cosim.system.state import State

    System = Any

OWN_LENGTH = "h", "h_dots"
WORD = 8
"""Bytes of a number or a length."""
SUBJECT = place_in(CarryNotes, "lost_subject")
OF_READING = tuple(
    place_in(CarryNotes, name) for name in ("rows_used", "log_used", "needs_room", "is_complete")
)
"""Notes about rows and a tape that have been read when tangents are saved."""


def mark_of(state: State) -> int:
    """A checksum of what tangents belong to: a State that was changed has another one."""
    mark = zlib.crc32(struct.pack("<d", state.time))
    for letter in "ypdk":
        mark = zlib.crc32(np.ascontiguousarray(state.arrays[letter]).tobytes(), mark)
    return mark


def pack(state: State, by: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The paths, the mark of the State, and the arrays with their lengths."""
    header = json.dumps({"by": list(by), "mark": mark_of(state)}).encode()
    parts = [struct.pack("<q", len(header)), header]
    for name in SAVED:
        values = np.ascontiguousarray(arrays[name])
        if name == "notes_numbers":
            values = values.copy()
            values[list(OF_READING)] = 0.0
        elif name == "c":
            values = without_constants(state.system, values)
        parts += [struct.pack("<q", values.size), values.tobytes()]
    return b"".join(parts)


def without_constants(system: System, cache: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy of a cache with 0 where plain Python computes constants, such as addresses of this process."""
    cleared = cache.copy()
    for slot in system.run_tangents.constants():
        cleared[slot.offset : slot.offset + slot.size] = 0.0
    return cleared


def restore(
    system: System,
    state: State,
    data: bytes,
    by: Sequence[str],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Fill arrays of tangents with those that `pack` has saved, at the same State.

    Raises
    ------
    ModelError
        They are derivatives by other variables, or the State was changed since.
    StateError
        They are damaged, or of another integrator.
    """
    saved_by, mark, at = _read_header(data)
    if saved_by != list(by):
        raise ModelError.of(
            "derivatives",
            f"the State has derivatives by {', '.join(saved_by)}: continue the run with the same ones",
        )
    if mark != mark_of(state):
        raise ModelError.of(
            "derivatives", "the State was changed since it was saved: its derivatives belong to another one"
        )
    restored = _read_arrays(data, at, arrays)
    if not _are_histories(system, restored) or not _is_subject(system, restored["notes_numbers"]):
        raise _damaged()
    arrays.update(restored)


def _damaged() -> StateError:
    return StateError("the derivatives in this State are damaged, or of a run with another integrator")


def _read_header(data: bytes) -> tuple[list[str], int, int]:
    """The paths by which there are derivatives, the mark of their State, and where the arrays begin."""
    try:
        (length,) = struct.unpack_from("<q", data)
        header = json.loads(data[WORD : WORD + length])
        return list(header["by"]), header["mark"], WORD + length
    except (struct.error, ValueError, TypeError, KeyError):
        raise _damaged() from None


def _read_arrays(data: bytes, at: int, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The saved arrays, which begin at a place and end with the data; each is as long as that of its name."""
    restored = {}
    for name in SAVED:
        if at + WORD > len(data):
            raise _damaged()
        (size,) = struct.unpack_from("<q", data, at)
        at += WORD
        fits = size == arrays[name].size or name in OWN_LENGTH
        if not fits or size < 0 or at + WORD * size > len(data):
            raise _damaged()
        restored[name] = np.frombuffer(data, dtype=arrays[name].dtype, count=size, offset=at).copy()
        at += WORD * size
    if at != len(data):
        raise _damaged()
    return restored


def _are_histories(system: System, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether the records of histories point into the arrays: compiled code believes them."""
    directions = arrays["time_dots"].size
    if arrays["h"].size != arrays["h_dots"].size or arrays["h"].size % directions:
        return False
    room = arrays["h"].size // directions
    k = arrays["k"].reshape(directions, -1)
    for slot in system.rings:
        for i in range(directions):
            ring = rows_of(Ring, k[i], slot.offset, 1)[0]
            if not ring.is_possible(room):
                return False
    return True


def _is_subject(system: System, notes: NDArray[np.float64]) -> bool:
    """Whether what has no derivatives is one of the system."""
    most = system.ny + len(system.table) + sum(array.size for array in system.start_arrays().values())
    return bool(0.0 <= notes[SUBJECT] <= most)

"""What objects remember, as trees of numbers, text and arrays, and as bytes."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

import cosim

MAGIC = b"cosim co-simulation\n"
VERSION = 5
DIGEST = 32
LARGEST = 1 << 34  # bytes
DEEPEST = 100
KEY = "$"
"""First letter of keys that say what a JSON object stands for."""


def to_bytes(tree: Any) -> bytes:
    """Magic, version, checksum, length of the JSON, the JSON, then bytes and arrays one after the other.

    Raises
    ------
    TypeError
        Something in it is neither None, a number, text, bytes, an array of numbers, nor a list, tuple or
        mapping of these.
    """
    blobs: list[bytes] = []
    text = json.dumps(_plain(tree, blobs, 0), allow_nan=True).encode()
    body = len(text).to_bytes(8, "little") + text + b"".join(blobs)
    return MAGIC + VERSION.to_bytes(4, "little") + hashlib.sha256(body).digest() + body


def from_bytes(data: bytes) -> Any:
    """The tree again.

    Raises
    ------
    CosimError
        These bytes are damaged, or of another version, or something else altogether.
    """
    start = len(MAGIC) + 4 + DIGEST
    if not data.startswith(MAGIC) or len(data) < start + 8:
        raise cosim.CosimError("is not a checkpoint of a co-simulation")
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if version != VERSION:
        raise cosim.CosimError(f"is a checkpoint of version {version}; this cosim reads version {VERSION}")
    body = memoryview(data)[start:]
    if hashlib.sha256(body).digest() != data[start - DIGEST : start]:
        raise cosim.CosimError("is damaged: its checksum does not match")
    end = 8 + int.from_bytes(body[:8], "little")
    try:
        return _tree(json.loads(bytes(body[8:end])), body[end:])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise cosim.CosimError(f"is not a checkpoint of a co-simulation: {error}") from None


def _plain(tree: Any, blobs: list[bytes], depth: int) -> Any:
    if depth > DEEPEST:
        raise TypeError("is nested without an end")
    if tree is None or isinstance(tree, (bool, str)):
        return tree
    if isinstance(tree, np.generic):
        tree = tree.item()
    if isinstance(tree, (int, float)):
        return int(tree) if isinstance(tree, int) else float(tree)
    if isinstance(tree, (bytes, bytearray)):
        return {"$bytes": _kept(bytes(tree), blobs)}
    if isinstance(tree, np.ndarray) and tree.dtype.kind in "fiub":
        flat = np.ascontiguousarray(tree)
        return {"$array": _kept(flat.tobytes(), blobs), "$type": flat.dtype.str, "$shape": list(tree.shape)}
    if isinstance(tree, dict):
        pairs = [[_plain(k, blobs, depth + 1), _plain(v, blobs, depth + 1)] for k, v in tree.items()]
        if all(isinstance(key, str) and not key.startswith(KEY) for key in tree):
            return dict(pairs)
        return {"$pairs": pairs}
    if isinstance(tree, (list, tuple)):
        items = [_plain(item, blobs, depth + 1) for item in tree]
        return items if isinstance(tree, list) else {"$tuple": items}
    raise TypeError(f"a {type(tree).__name__}")


def _kept(data: bytes, blobs: list[bytes]) -> list[int]:
    """Place and length of bytes among all."""
    place = sum(map(len, blobs))
    blobs.append(data)
    return [place, len(data)]


def _tree(plain: Any, blobs: memoryview) -> Any:
    if isinstance(plain, list):
        return [_tree(item, blobs) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "$bytes" in plain:
        return bytes(_blob(plain["$bytes"], blobs))
    if "$tuple" in plain:
        return tuple(_tree(item, blobs) for item in plain["$tuple"])
    if "$pairs" in plain:
        return {_tree(key, blobs): _tree(value, blobs) for key, value in plain["$pairs"]}
    if "$array" in plain:
        kind = np.dtype(plain["$type"])
        if kind.kind not in "fiub":
            raise ValueError(f"an array of {kind}")
        shape = [int(n) for n in plain["$shape"]]
        flat = np.frombuffer(_blob(plain["$array"], blobs), kind)
        if any(n < 0 for n in shape) or flat.size != math.prod(shape):
            raise ValueError(f"an array of another shape than {shape}")
        return flat.reshape(shape).copy()
    return {key: _tree(value, blobs) for key, value in plain.items()}


def _blob(where: list[int], blobs: memoryview) -> memoryview:
    place, size = where
    if not 0 <= place <= place + size <= len(blobs):
        raise ValueError("bytes beyond its end")
    return blobs[place : place + size]


def check_form(found: Any, expected: Any, where: str, growing: Collection[str] = ()) -> None:
    """Refuse a tree of another form than one that is known to be right: what came from outside may be forged.

    Mappings have at least its keys, lists its lengths unless they grow or it has none, arrays its kind, and
    at least its shape (those that grow: but for the first number), where `where` begins with "algorithm" just
    that; numbers are numbers. What is None
    there is not compared.

    Raises
    ------
    CosimError
        Naming the place, what is there, and what would be right.
    """

    def refuse(needed: str) -> None:
        raise cosim.CosimError(f"is damaged: its {where} is {_shortened(found)}, needs {needed}")

    if expected is None:
        return
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            refuse(f"a table of {', '.join(map(str, expected)) or 'names'}")
        for key, value in expected.items():
            if key not in found:
                refuse(f"an entry {key}")
            check_form(found[key], value, f"{where}.{key}", growing)
    elif isinstance(expected, (list, tuple)):
        is_free = where in growing or not expected
        if not isinstance(found, type(expected)) or (not is_free and len(found) != len(expected)):
            refuse("a list" if is_free else f"a list of {len(expected)}")
        for i, value in enumerate(() if is_free else expected):
            check_form(found[i], value, f"{where}[{i}]", growing)
    elif isinstance(expected, np.ndarray):
        fits = isinstance(found, np.ndarray) and (found.dtype.kind, found.ndim) == (
            expected.dtype.kind,
            expected.ndim,
        )
        if fits and where.startswith("algorithm"):
            fits = found.shape == expected.shape
        first = 1 if where in growing else 0
        if not fits or any(np.less(found.shape[first:], expected.shape[first:])):
            refuse(f"an array of {expected.dtype} of shape {expected.shape}")
    elif isinstance(expected, bool):
        if not isinstance(found, bool):
            refuse("true or false")
    elif isinstance(expected, (int, float, np.generic)):
        if not isinstance(found, (bool, int, float)):
            refuse("a number")
        if isinstance(expected, (int, np.integer)) and isinstance(found, float):
            refuse("a whole number")
    elif not isinstance(found, type(expected)):
        refuse("text" if isinstance(expected, str) else "bytes")


def _shortened(value: Any) -> str:
    text = "an array" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


OBJECT = "$object"
DEEPEST_OBJECT = 20


def memory_of(thing: Any, path: str = "", depth: int = 0) -> Any:
    """The attributes of an object, those of the objects in them likewise.

    Raises
    ------
    TypeError
        Naming the attribute that no checkpoint can hold.
    """
    if depth > DEEPEST_OBJECT:
        raise TypeError(f"{path} is nested without an end")
    if thing is None or isinstance(thing, (bool, int, float, str, bytes, np.generic)):
        return thing
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "fiub":
        return thing
    if isinstance(thing, Mapping):
        return {key: memory_of(value, f"{path}[{key!r}]", depth + 1) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        items = [memory_of(value, f"{path}[{i}]", depth + 1) for i, value in enumerate(thing)]
        return items if isinstance(thing, list) else tuple(items)
    if callable(thing) or not hasattr(thing, "__dict__"):
        raise TypeError(f"{path} is a {type(thing).__name__}")
    own = {
        name: memory_of(value, f"{path}.{name}".lstrip("."), depth + 1) for name, value in vars(thing).items()
    }
    return {OBJECT: type(thing).__name__, "attributes": own}


def put_back(thing: Any, memory: Any) -> Any:
    """`thing` with what `memory_of` found; what holds no objects is replaced, objects are changed.

    Raises
    ------
    CosimError
        The memory is that of something else.
    """
    if isinstance(memory, dict) and OBJECT in memory:
        if type(thing).__name__ != memory[OBJECT]:
            raise cosim.CosimError(
                f"has a {memory[OBJECT]} where this co-simulation has a {type(thing).__name__}"
            )
        for name, value in memory["attributes"].items():
            vars(thing)[name] = put_back(getattr(thing, name, None), value)
        return thing
    if isinstance(memory, dict) and isinstance(thing, dict) and list(thing) == list(memory):
        return {key: put_back(thing[key], value) for key, value in memory.items()}
    return memory

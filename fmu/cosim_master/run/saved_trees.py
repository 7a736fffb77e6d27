"""Trees of numbers, text and arrays as bytes."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

import cosim

MAGIC = b"cosim co-simulation\n"
VERSION = 6
DIGEST = 32
"""Bytes of a SHA-256."""
LARGEST = 1 << 34
"""The largest checkpoint that is read, bytes."""
DEEPEST = 100
"""Levels of a tree: more are a tree that contains itself."""
KEY = "$"
"""First letter of the keys of JSON objects that are not tables: they tell the kind."""


def to_bytes(tree: Any) -> bytes:
    """A tree as bytes: magic, version, checksum, length of the JSON, the JSON, then bytes and arrays.

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
    """The tree that `to_bytes` has written.

    Raises
    ------
    CosimError
        These bytes are damaged, of another version, or no checkpoint.
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
    """The tree as JSON; bytes and arrays are added to `blobs`, and referred to by place and length."""
    if depth > DEEPEST:
        raise TypeError("is nested without an end")
    if tree is None or isinstance(tree, (bool, str)):
        return tree
    if isinstance(tree, np.generic):
        tree = tree.item()
    if isinstance(tree, (int, float)):
        return int(tree) if isinstance(tree, int) else float(tree)
    if isinstance(tree, (bytes, bytearray)):
        return {"$bytes": _add_blob(bytes(tree), blobs)}
    if isinstance(tree, np.ndarray) and tree.dtype.kind in "fiub":
        flat = np.ascontiguousarray(tree)
        return {
            "$array": _add_blob(flat.tobytes(), blobs),
            "$type": flat.dtype.str,
            "$shape": list(tree.shape),
        }
    if isinstance(tree, dict):
        pairs = [[_plain(k, blobs, depth + 1), _plain(v, blobs, depth + 1)] for k, v in tree.items()]
        if all(isinstance(key, str) and not key.startswith(KEY) for key in tree):
            return dict(pairs)
        return {"$pairs": pairs}
    if isinstance(tree, (list, tuple)):
        items = [_plain(item, blobs, depth + 1) for item in tree]
        return items if isinstance(tree, list) else {"$tuple": items}
    raise TypeError(f"a {type(tree).__name__}")


def _add_blob(data: bytes, blobs: list[bytes]) -> list[int]:
    """Add bytes; their place and length among all."""
    place = sum(map(len, blobs))
    blobs.append(data)
    return [place, len(data)]


def _tree(plain: Any, blobs: memoryview) -> Any:
    """The tree that `_plain` has converted."""
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


def _blob(reference: list[int], blobs: memoryview) -> memoryview:
    place, size = reference
    if not 0 <= place <= place + size <= len(blobs):
        raise ValueError("bytes beyond its end")
    return blobs[place : place + size]

"""Named pieces of bytes, digested as one."""

from __future__ import annotations

import hashlib
from typing import Any


class DigestPieces:
    """Takes pieces one after the other, each with its kind and its length: none runs into the next."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def put(self, kind: str, data: bytes = b"") -> None:
        self._pieces += (f"{kind} {len(data)}:".encode(), data)

    @property
    def hash(self) -> Any:
        """Hash all pieces so far at once: most of the thousands have a few bytes each."""
        return hashlib.sha256(b"".join(self._pieces))

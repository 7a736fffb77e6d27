"""The digest of a system: equal for systems whose States are interchangeable."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    System = Any


def digest_of(system: System) -> str:
    """32 hexadecimal digits, of all variables, parts with their options, blocks and rows."""
    digest = hashlib.sha256()
    for v in system.variables.values():
        digest.update(f"{v.path} {v.kind} {v.slot} {v.shape}\n".encode())
    for name, part in system.parts.items():
        options = sorted(part.values.options.items())
        digest.update(f"{name} {type(part).__module__}.{type(part).__qualname__} {options}\n".encode())
    for block in system.blocks:
        digest.update(f"{block.label} {block.stage} {block.owners}\n".encode())
    digest.update(f"{sorted(system.assembly.layout.sizes.items())}\n".encode())
    digest.update(system.ints.tobytes())
    return digest.hexdigest()[:32]

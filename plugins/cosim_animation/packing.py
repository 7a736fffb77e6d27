"""Numbers as base64 text, which a page decodes into typed arrays."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def packed_integers(values: Any) -> str:
    """Whole numbers as base64 of little-endian unsigned words of four bytes (`Uint32Array`)."""
    return _packed(values, "<u4")


def packed(values: Any) -> str:
    """Numbers as base64 of little-endian floats of four bytes (`Float32Array`)."""
    return _packed(values, "<f4")


def _packed(values: Any, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()

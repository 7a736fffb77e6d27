"""Numbers as text in the data of a page: base64 of four bytes each, little-endian, for its script."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def packed(values: Any) -> str:
    """Numbers as floats, in the order of an array's elements.

    >>> packed([1.0])
    'AACAPw=='
    """
    return _text(values, "<f4")


def packed_integers(values: Any) -> str:
    """Whole numbers that are not negative.

    >>> packed_integers([1])
    'AQAAAA=='
    """
    return _text(values, "<u4")


def _text(values: Any, kind: str) -> str:
    """The bytes of an array of a kind."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()

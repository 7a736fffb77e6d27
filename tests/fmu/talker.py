"""A participant in Python with text, a boolean and an integer as outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from python_block import Block

TYPES = {"said": "string", "on": "boolean", "gear": "integer"}


def talker(**more: Callable[[float], Any]) -> Block:
    """Says something else every three tenths of a second."""
    outputs = {
        "said": lambda time: f"number {round(10 * time) // 3}",
        "on": lambda time: round(10 * time) % 2 == 0,
        "gear": lambda time: round(10 * time),
        **more,
    }
    return Block(outputs, types=TYPES)

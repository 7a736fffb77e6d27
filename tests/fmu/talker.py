"""A participant in Python with text, a boolean and an integer as outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from python_block import Block

TYPES = {"said": "string", "on": "boolean", "gear": "integer"}


def talker(**more_outputs: Callable[[float], Any]) -> Block:
    """Its text changes every 0.3 s, its boolean and its integer every 0.1 s."""
    outputs = {
        "said": lambda time: f"number {round(10 * time) // 3}",
        "on": lambda time: round(10 * time) % 2 == 0,
        "gear": lambda time: round(10 * time),
        **more_outputs,
    }
    return Block(outputs, types=TYPES)

"""What LLVM may do with loops, as its text says it."""

from __future__ import annotations

WRITTEN_OUT_IF_KNOWN = "llvm.loop.unroll.runtime.disable"
"""It may make a copy for each turn, where it knows how many there are."""
KEPT = "llvm.loop.unroll.disable"


def with_loops_kept(text: str) -> str:
    """The same functions, no loop of which is written out turn by turn: shorter, and seldom slower."""
    return text.replace(f'"{WRITTEN_OUT_IF_KNOWN}"', f'"{KEPT}"')

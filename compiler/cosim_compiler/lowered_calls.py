"""How lowered functions call each other: by numbers instead of addresses.

In this process a table holds addresses, and the walker calls what is there. A program that is lowered as a
whole knows its table: numbers of functions stand in place of addresses. The functions of these names are
written by whoever links the program (`cosim_fmu.lowering`).
"""

from __future__ import annotations

WALK = "cosim_walk"


def name_of(signature: str) -> str:
    """The function that calls one of this signature by its number."""
    return f"cosim_call_{signature.replace('>', '_')}"

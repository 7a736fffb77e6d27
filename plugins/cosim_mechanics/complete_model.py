"""The parts that every multibody model has, written in Python or in a file."""

from __future__ import annotations

from typing import Any

import cosim

GRAVITY = (0.0, 0.0, -9.81)


def complete_model(model: cosim.Model, gravity: Any) -> None:
    """Add ``ground``, ``gravity`` and ``energy`` to a model that does not have Ground yet."""
    if "ground" in model.parts:
        return
    model.add("mechanics.ground", "ground")
    try:
        model.add("mechanics.gravity", "gravity", gravity=gravity)
    finally:  # a wrong gravity is one fault: signals of the energies are no further ones
        model.add("mechanics.energy", "energy")


def mechanics_id(kind: str) -> str:
    """The whole id: one without a dot belongs to this plugin.

    >>> mechanics_id("pin"), mechanics_id("acme.helix")
    ('mechanics.pin', 'acme.helix')
    """
    return kind if "." in kind else f"mechanics.{kind}"

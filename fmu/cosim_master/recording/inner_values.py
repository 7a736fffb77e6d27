"""Values between two communication points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cosim_master.abilities import InnerPoint


class InnerValues(NamedTuple):
    """What is known of a participant at an instant between two communication points.

    Attributes
    ----------
    name : str
    point : InnerPoint
    inputs : sequence
        The connected inputs at that instant.
    """

    name: str
    point: InnerPoint
    inputs: Sequence[Any]

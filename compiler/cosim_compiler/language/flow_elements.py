"""Elements of the parameters of a kernel function, and what each result is computed from."""

from __future__ import annotations

from collections.abc import Mapping

ANY_INDEX = -1
"""In place of an index: the whole parameter, or an element whose index is not a constant."""
Element = tuple[str, int]
"""A parameter and an index into it, or `ANY_INDEX`."""
RETURNED = ""
"""In place of a parameter: what the function returns."""
Elements = frozenset[Element]
Flows = Mapping[Element, Elements]

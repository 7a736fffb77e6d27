"""Elements of the parameters of a kernel function, and what each result is computed from."""

from __future__ import annotations

from collections.abc import Mapping

WHOLE = -1
Element = tuple[str, int]
"""A parameter and an index into it, or `WHOLE`."""
RETURNED = ""
"""In place of a parameter: what the function returns."""
Elements = frozenset[Element]
Flows = Mapping[Element, Elements]

"""A model as data that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cosim.component.component import Component
from cosim.errors import CosimError
from cosim.value_text import quote


def model_data(model: Any, type_of: Callable[[Component], Any]) -> dict[str, Any]:
    """The name, settings, parts, connections and start values of a model; `type_of` gives a part's kind."""
    return {
        "name": model.name,
        "settings": dict(model.settings),
        "parts": [
            {"type": type_of(part), "name": name, "values": plain_data(part.values.given)}
            for name, part in model.parts.items()
        ],
        "connections": [list(c[:2] if c[2:] == (1.0, 0.0) else c) for c in model.connections],
        "starts": plain_data(model.starts),
        "simulation": plain_data(model.simulation),
    }


def plain_data(value: Any) -> Any:
    """Numbers, text, lists and dictionaries in place of arrays, tuples and parts, which become their names.

    Raises
    ------
    CosimError
        A component that is not part of a model.

    Examples
    --------
    >>> plain_data({"gains": np.array([1.0, 2.0]), 3: (4, "five")})
    {'gains': [1.0, 2.0], '3': [4, 'five']}
    """
    if isinstance(value, Component):
        if not value.name:
            raise CosimError(f"{quote(value)} is not part of a model")
        return value.name
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain_data(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(v) for v in value]
    return value

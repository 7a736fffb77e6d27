"""What every component owes its readers, whatever its kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cosim


def check_docstring(component: Any) -> None:
    """A docstring of its own that says the law."""
    own = vars(type(component)).get("__doc__") or ""
    assert own.strip(), f"{type(component).__name__} has no docstring"
    assert "law" in own.lower(), (
        f"the docstring of {type(component).__name__} has no law: write 'Law: f = …' with its symbols"
    )


def check_bounds(component: Any) -> None:
    """Parameters refuse what lies outside their bounds, and what is no number."""
    cls, given = type(component), component.values.given
    parameters = [d for d in component.declarations.values() if d.kind == "parameter"]
    if not parameters:
        pytest.skip(f"{cls.__name__} has no parameters")
    for declaration in parameters:
        bad = [float("nan"), float("inf")]
        if declaration.minimum is not None:
            bad.append(declaration.minimum - max(1.0, abs(declaration.minimum)))
        if declaration.maximum is not None:
            bad.append(declaration.maximum + max(1.0, abs(declaration.maximum)))
        for value in bad:
            array = np.full(declaration.shape, value) if declaration.shape else value
            try:
                cls(**{**given, declaration.name: array})
            except cosim.ModelError:
                continue
            pytest.fail(f"{cls.__name__} takes {declaration.name} = {value}, outside its bounds")

"""Checks of the documentation of a component, whatever its kind."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import cosim


class KitWarning(UserWarning):
    """Something that readers will miss, and that changes no number."""


def check_docstring(component: Any) -> None:
    """Warn, once, of all that the docstring does not say."""
    report_missing(component, missing_prose(component))


def report_missing(component: Any, missing: list[str]) -> None:
    """One warning that lists what is missing in the docstring of a class."""
    if missing:
        text = f"the docstring of {type(component).__name__} lacks {'; '.join(missing)}"
        warnings.warn(text, KitWarning, stacklevel=3)


def missing_prose(component: Any) -> list[str]:
    """The parts that are missing in a component's own docstring."""
    docstring = vars(type(component)).get("__doc__") or ""
    if not docstring.strip():
        return ["everything: say in a sentence what it is"]
    computes = getattr(component, "kernels", True) or component.handlers
    return (
        [] if "law" in docstring.lower() or not computes else ["its law: write 'Law: f = …' with its symbols"]
    )


def check_bounds(component: Any) -> None:
    """Parameters refuse what lies outside their bounds, and what is not a number."""
    cls, values = type(component), component.values.given
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
                cls(**{**values, declaration.name: array})
            except cosim.ModelError:
                continue
            pytest.fail(f"{cls.__name__} takes {declaration.name} = {value}, outside its bounds")

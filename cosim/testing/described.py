"""What every component owes its readers, whatever its kind."""

from __future__ import annotations

import itertools
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


def check_force_docstring(component: Any) -> None:
    """A docstring with all that a user of a force element has to know, section by section."""
    check_docstring(component)
    cls = type(component)
    own = vars(cls)["__doc__"]
    names = [
        n for n, d in cls.declarations.items() if d.kind in ("parameter", "input") and n not in ("enabled",)
    ]
    needed = ["Frames and signs", "Limits", "Examples"]
    needed += ["Parameters"] if names else []
    needed += ["Energy"] if any(n.endswith("_energy") for n in cls.declarations) else []
    lines = [line.strip() for line in own.splitlines()]
    missing = [s for s in needed if not any(a == s and set(b) == {"-"} for a, b in itertools.pairwise(lines))]
    assert not missing, (
        f"the docstring of {cls.__name__} has no section {', '.join(missing)} (underlined with ---)"
    )
    unsaid = [name for name in names if name not in own]
    assert not unsaid, f"the docstring of {cls.__name__} does not say what {', '.join(unsaid)} means"


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

"""Checks of the documentation of a force element."""

from __future__ import annotations

import itertools
from typing import Any

from cosim.testing.described import missing_prose, report_missing

SELF_EXPLAINING = ("enabled",)
"""Inputs that all force elements have: they need no description."""


def check_force_docstring(component: Any) -> None:
    """Warn, once, of everything that the docstring of a force element has to explain and does not."""
    missing = missing_prose(component)
    sections = missing_sections(component)
    if sections:
        missing.append(f"the sections {', '.join(sections)} (underlined with ---)")
    names = undescribed_inputs(component)
    if names:
        missing.append(f"what {', '.join(names)} means (description=…)")
    report_missing(component, missing)


def missing_sections(component: Any) -> list[str]:
    """The sections that the docstring needs and does not have; an element with energies needs one more."""
    cls = type(component)
    stores_energy = any(name.endswith("_energy") for name in cls.declarations)
    required = ["Frames and signs", "Limits", "Examples", *(["Energy"] if stores_energy else [])]
    lines = [line.strip() for line in _docstring(cls).splitlines()]
    sections = {title for title, line in itertools.pairwise(lines) if set(line) == {"-"}}
    return [section for section in required if section not in sections]


def undescribed_inputs(component: Any) -> list[str]:
    """The parameters and inputs that neither the docstring nor a description mentions."""
    cls = type(component)
    docstring = _docstring(cls)
    return [
        name
        for name, declaration in cls.declarations.items()
        if declaration.kind in ("parameter", "input")
        and name not in SELF_EXPLAINING
        and name not in docstring
        and not declaration.description
    ]


def _docstring(cls: type[Any]) -> str:
    """The docstring of a class itself, not of one that it inherits from."""
    return vars(cls).get("__doc__") or ""

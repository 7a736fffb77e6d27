"""Checks of the documentation of a force element."""

from __future__ import annotations

import itertools
from typing import Any

from cosim.testing.described import missing_prose, report_missing


def check_force_docstring(component: Any) -> None:
    """Warn, once, of all that a user of a force element has to know and does not find."""
    cls, missing = type(component), missing_prose(component)
    docstring = vars(cls).get("__doc__") or ""
    names = [
        n for n, d in cls.declarations.items() if d.kind in ("parameter", "input") and n not in ("enabled",)
    ]
    required = ["Frames and signs", "Limits", "Examples"]
    required += ["Energy"] if any(n.endswith("_energy") for n in cls.declarations) else []
    lines = [line.strip() for line in docstring.splitlines()]
    sections = [
        s for s in required if not any(a == s and set(b) == {"-"} for a, b in itertools.pairwise(lines))
    ]
    unsaid = [n for n in names if n not in docstring and not cls.declarations[n].description]
    missing += [f"the sections {', '.join(sections)} (underlined with ---)"] if sections else []
    missing += [f"what {', '.join(unsaid)} means (description=…)"] if unsaid else []
    report_missing(component, missing)

"""What a force element owes its readers."""

from __future__ import annotations

import itertools
from typing import Any

from cosim.testing.described import check_docstring


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

"""The parts of a system in Python, which cannot run in threads."""

from __future__ import annotations

from cosim import Integrator, System
from cosim.kit import EventEntries, prepared


def python_parts(system: System, integrator: Integrator) -> list[str]:
    """Paths of elements and handlers in Python, and the integrator where its steps are."""
    names = [
        f"{block.owners[0] if block.owners else ''} {block.label}".strip()
        for block in system.blocks
        if block.is_python
    ]
    names += [entry.path for entry in EventEntries(system).entries if entry.handler.function.is_python]
    if not prepared(integrator, system).functions:
        names.append(f"integrator {type(integrator).__name__}")
    return list(dict.fromkeys(names))

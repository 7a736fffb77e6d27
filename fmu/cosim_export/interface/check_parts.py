"""Parts that no FMU can bring along."""

from __future__ import annotations

import cosim


def check_parts(model: cosim.Model) -> None:
    """Refuse a model with parts that cannot be exported; `ModelError` names all."""
    problems = [
        cosim.Problem(name, f"this part cannot be exported: {part.not_exported}")
        for name, part in model.parts.items()
        if part.not_exported
    ]
    if problems:
        raise cosim.ModelError(problems)

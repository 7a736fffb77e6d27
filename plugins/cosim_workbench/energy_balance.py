"""The energy balance of a run, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import cosim

KINDS = ("kinetic", "potential", "dissipated", "supplied")
MOST_PARTS = 12
"""Number of shown parts, those with the largest changes."""

Changes = dict[str, dict[str, float]]


def energy_balance(result: cosim.Result) -> list[str]:
    """A table: what became of each energy from the start to the end of a run, by part and in total, J.

    Empty where no energies were recorded.

    Parameters
    ----------
    result : Result
        With signals ``<part>.kinetic_energy`` … of parts, and ``energy.kinetic`` … of the whole.
    """
    columns = result.columns() if len(result) else {}
    parts = changes_by_part(columns)
    if not parts:
        return []
    shown = sorted(parts, key=lambda part: -max(map(abs, parts[part].values())))[:MOST_PARTS]
    width = max(map(len, (*shown, "residual")))
    lines = [" " * width + "".join(f"{kind:>13}" for kind in KINDS)]
    lines += [_line(part, parts[part], width) for part in parts if part in shown]
    if len(parts) > len(shown):
        lines.append(f"… and {len(parts) - len(shown)} parts that change less")
    total = {kind: _change(columns[f"energy.{kind}"]) for kind in KINDS if f"energy.{kind}" in columns}
    if total:
        lines.append(_line("total", total, width))
    if "energy.residual" in columns:
        residual = np.abs(columns["energy.residual"])
        lines.append(f"{'residual':<{width}}  {residual.max():.3g} J at most")
    return lines


def changes_by_part(columns: Mapping[str, Any]) -> Changes:
    """Change of each energy from the first value to the last, by part, J.

    >>> changes_by_part({"mount.dissipated_energy": [0.0, 2.0], "x": [1.0]})
    {'mount': {'dissipated': 2.0}}
    """
    changes: Changes = {}
    for name, values in columns.items():
        part, _, quantity = name.rpartition(".")
        kind = quantity.removesuffix("_energy")
        if kind in KINDS and kind != quantity:
            changes.setdefault(part, {})[kind] = _change(values)
    return changes


def _change(values: Any) -> float:
    return float(values[-1]) - float(values[0])


def _line(name: str, changes: Mapping[str, float], width: int) -> str:
    cells = (f"{changes[kind]:>13.6g}" if kind in changes else " " * 13 for kind in KINDS)
    return f"{name:<{width}}{''.join(cells)}".rstrip()

"""Forces that jump or ramp."""

from __future__ import annotations

from typing import Any

from cosim_mechanics import Multibody


def push(model: Multibody, body: str, loads: list[tuple[float, float, float]], axis: Any = (1, 0, 0)) -> None:
    """Add forces; each has a start, a duration of its rise and a height, N."""
    for i, (start, duration, height) in enumerate(loads):
        values = {"start_time": start, "height": height}
        if duration > 0.0:
            model.add("signals.ramp", f"load{i}", duration=duration, **values)
        else:
            model.add("signals.step", f"load{i}", **values)
        model.add("mechanics.applied_force", f"push{i}", body=body, axis=axis)
        model.connect(f"load{i}", f"push{i}.force")

"""Models of a controller with variables of all types, and of a plan that feeds it."""

from __future__ import annotations

from typing import Any

from controlled import TEXTS, Controller, Plan

import cosim

INPUTS = ("enable", "mode", "order", "count", "place")
OUTPUTS = ("force", "is_active", "level", "shown_mode", "message")


def controller(**values: Any) -> cosim.Model:
    model = cosim.Model("controlled")
    model.add(Controller, "c", **values)
    return model


def plan() -> cosim.Model:
    model = cosim.Model("planned")
    model.add(Plan, "plan")
    return model


def planned_controller(*links: str) -> cosim.Model:
    """A controller and a plan, connected by `links`."""
    model = controller()
    model.add(Plan, "plan")
    for link in links:
        model.connect(*link.split(" -> "))
    return model


def outputs_in_process(**values: Any) -> dict[str, Any]:
    """The outputs of a controller in this process; a mode is its number, a message its text."""
    system = controller().build()
    state = system.default_state()
    for name, value in values.items():
        state[f"c.{name}"] = value
    state.realize()
    outputs = {name: float(state[f"c.{name}"]) for name in OUTPUTS}
    return {**outputs, "message": TEXTS[int(outputs["message"]) - 1]}

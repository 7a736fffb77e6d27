"""Booleans, integers, choices and strings in models: values, connections, declarations and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from controlled import Controller
from controlled_models import INPUTS, controller, outputs_in_process, planned_controller

import cosim
from cosim import kit


def test_values_in_a_model() -> None:
    assert outputs_in_process()["is_active"] == 0.0
    model = controller(enable=True, mode="gentle", order="go", place=0.5, surface="dry")
    system = model.build()
    state = system.default_state()
    state.realize()
    assert float(state["c.force"]) == -10.0 * 0.5 * 1.0 * 1.0 * 2.0
    for name, value, message in (
        ("enable", 2, "c.enable: 2 is not a switch"),
        ("mode", "fast", "c.mode: mode is 'fast', needs one of 'gentle', 'firm', 'off'"),
        ("mode", True, "c.mode: mode is True, needs one of"),
        ("order", "stop", "c.order: order is 'stop', needs one of 'hold', 'go'"),
        ("count", 1.5, "c.count: count is 1.5, needs an integer"),
    ):
        with pytest.raises(cosim.StateError) as caught:
            state[f"c.{name}"] = value
        assert str(caught.value).startswith(message)
    with pytest.raises(cosim.StateError, match="real number"):
        system.write_slope(state, "c.enable", 1.0)


def test_parts_are_connected_type_by_type() -> None:
    links = [f"plan.{name} -> c.{name}" for name in INPUTS]
    state = planned_controller(*links).build().default_state()
    state.realize()
    assert float(state["c.force"]) == -10.0 * 0.25 * 1.0 * 2.0 * 3.0
    planned_controller("plan.enable -> c.count").build()  # an integer accepts a boolean
    model = planned_controller("plan.enable -> c.count", "plan.mode -> c.place")
    with pytest.raises(cosim.ModelError, match="1, m is needed"):
        model.build()


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("plan.place -> c.enable", "'plan.place' is a number, a switch is needed here."),
        ("plan.count -> c.enable", "'plan.count' is a whole number, a switch is needed here."),
        ("plan.place -> c.count", "'plan.place' is a number, a whole number is needed here."),
        (
            "plan.other -> c.order",
            "'plan.other' is one of 'hold', 'go', 'stop', one of 'hold', 'go' is needed",
        ),
        ("plan.count -> c.mode", "'plan.count' is a whole number, one of 'gentle', 'firm', 'off' is needed"),
    ],
)
def test_connections_of_other_types_are_refused(link: str, sentence: str) -> None:
    with pytest.raises(cosim.ModelError) as caught:
        planned_controller(link).build()
    assert sentence in str(caught.value)


def test_a_connection_of_booleans_takes_no_factor() -> None:
    model = planned_controller()
    model.connect("plan.enable", "c.enable", factor=2.0)
    with pytest.raises(cosim.ModelError, match="takes neither factor"):
        model.build()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"dtype": str}, "dtype is str, needs float, int or bool, or str with choices"),
        ({"dtype": complex}, "dtype is complex, needs float, int or bool, or str with choices"),
        ({"choices": ("a", "a")}, "lists a choice twice"),
        ({"choices": ("a", "b"), "unit": "m"}, "no unit, bounds, dtype or convert"),
        ({"choices": ("a", "b"), "dtype": bool}, "no unit, bounds, dtype or convert"),
    ],
)
def test_wrong_declarations_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cosim.ContractError, match=sentence):
        cosim.input(**options)


def test_a_model_file_sets_values_of_all_types(tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text(
        '[model]\nname = "m"\n[components.hold]\ntype = "tests.controller"\nenable = true\nmode = "gentle"\n'
        'order = "go"\nplace = 0.5\nsurface = "dry"\n',
        "utf-8",
    )
    entry = kit.RegisteredClass("tests.controller", Controller, "tests", "tests", "1.0")
    tests = kit.PluginRecord("tests", "tests", "1.0", "tests", "loaded", None, (entry,))
    with kit.use_registry(kit.Registry([*cosim.registry().plugins, tests])):
        state = cosim.Model.from_file(file).build().default_state()
    state.realize()
    assert float(state["hold.force"]) == -10.0 * 0.5 * 1.0 * 1.0 * 2.0

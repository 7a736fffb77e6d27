"""Lowered delays and measures with histories against the Simulator, bit by bit."""

from __future__ import annotations

from typing import Any

import pytest
from delay_equations import Decay
from event_parts import Ball
from lowered_run import compare

import cosim

LONG = pytest.mark.thorough  # each method is compiled


def delayed(delay: float, **options: Any) -> cosim.System:
    model = cosim.Model("decay")
    model.add(Decay, "decay", felt="late")
    model.add("measures.delay", "late", source="decay.y", delay=delay, **options)
    return model.build()


@pytest.mark.parametrize(
    ("integrator", "options"),
    [
        ("dormand_prince_853", {"accuracy": 1e-8}),
        ("dormand_prince_853", {"fixed_step": 0.02}),
        pytest.param("radau5", {"accuracy": 1e-6}, marks=LONG),
        pytest.param("bdf", {"accuracy": 1e-5}, marks=LONG),
    ],
)
def test_delays(integrator: str, options: dict[str, float]) -> None:
    run = compare(delayed(0.4), f"integrators.{integrator}", [0.3, 1.0, 2.5], **options)
    assert run.program.system.rings


def test_a_history_that_grows() -> None:
    run = compare(delayed(0.4), "integrators.dormand_prince_853", [0.5, 1.5], fixed_step=0.004)
    assert run.grown > 1


def test_steps_longer_than_the_delay() -> None:
    compare(delayed(0.01), "integrators.dormand_prince_853", [0.5, 1.5], accuracy=1e-4)


def test_delays_and_extremes_across_events() -> None:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    model.add("measures.delay", "late", source="ball.speed", delay=0.15)
    model.add("measures.maximum", "highest", source="ball.height")
    model.add("measures.sliding_mean", "mean", source="late", window=0.3)
    writes = {0.5: [("ball.floor_height", 0.1)]}
    compare(model.build(), "integrators.dormand_prince_853", [0.3, 0.5, 0.9, 1.8], writes, accuracy=1e-6)

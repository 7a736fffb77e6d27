"""Derivatives of co-simulations with algorithms that a third party has written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from coupled_oscillators import STARTS, STEP, Oscillator, system_of
from coupling_differences import differences_by

import cosim
from cosim.kit import Exchange
from cosim_fmu import CoSimulation


class Backward(cosim.MasterAlgorithm):
    """The participants step one after the other, the last one first; `halves` makes two steps of each."""

    exchanges_within_step = True

    def __init__(self, halves: bool = False) -> None:
        self.halves = halves

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        for start in (0.0, 0.5) if self.halves else (0.0,):
            length = 0.5 * size if self.halves else size
            for name in reversed(exchange.order):
                exchange.set_inputs(name)
                exchange.advance(name, time + start * size, length)
                exchange.read_outputs(name)


class Corrected(cosim.MasterAlgorithm):
    """All participants step, are restored, and step again one after the other."""

    restores = True

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        token = exchange.save()
        for name in exchange.order:
            exchange.set_inputs(name)
        exchange.advance_all(time, size)
        for name in exchange.order:
            exchange.read_outputs(name)
        ends = exchange.interface()
        exchange.restore(token)
        exchange.put(exchange.interface())  # puts the values that are there
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)
        assert ends.shape == exchange.interface().shape


class Halved(cosim.MasterAlgorithm):
    """Puts half of each value, a number that no participant has computed."""

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        exchange.put(0.5 * exchange.interface())
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)


def coupled_oscillators(algorithm: Any, starts: Mapping[str, float], **options: Any) -> CoSimulation:
    systems = {name: system_of(name, Oscillator()) for name in ("one", "two")}
    return CoSimulation(
        systems,
        [
            {"from": "one.m.x", "to": "two.m.force", "factor": 0.7, "convert": False},
            {"from": "two.m.speed", "to": "one.m.force", "factor": 0.4, "convert": False},
        ],
        algorithm,
        STEP,
        tolerance=1e-12,
        starts={**STARTS, **starts},
        options=options,
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "options"), [(Backward, {}), (Backward, {"halves": True}), (Corrected, {})]
)
def test_algorithms_of_a_third_party_have_derivatives(algorithm: Any, options: dict[str, Any]) -> None:
    """They agree with differences, and a resumed run has the same bytes."""
    names = ["one.m.x", "two.m.v", "two.m.force"]

    def make(starts: Mapping[str, float]) -> CoSimulation:
        return coupled_oscillators(algorithm, starts, **options)

    saved: list[bytes] = []
    loop = make({})

    def observe(time: float, values: object) -> None:
        if time > 0.45 and not saved:
            saved.append(loop.save())

    result = loop.simulate(0.6, record=names, derivatives=list(STARTS), observe=observe)
    for by, start in STARTS.items():
        expected = differences_by(make, by, start, names, 0.6)
        derivatives = np.array([result.derivative(name, by) for name in names])
        assert np.abs(derivatives - expected).max() < 1e-9, by
        assert np.abs(derivatives[:, -1]).min() > 1e-6
    resumed_loop = make({})
    resumed_loop.restore(saved[0])
    resumed = resumed_loop.simulate(0.6, record=names, derivatives=list(STARTS))
    for name in names:
        for by in STARTS:
            assert resumed.derivative(name, by).tobytes() == result.derivative(name, by).tobytes()


def test_an_algorithm_that_puts_new_values_has_no_derivatives() -> None:
    assert len(coupled_oscillators(Halved, {}).simulate(STEP)) == 2
    with pytest.raises(cosim.ModelError, match="values of its own"):
        coupled_oscillators(Halved, {}).simulate(STEP, derivatives=["one.m.k"])

"""Jumps of the derivatives of states inside steps: along which steps the flow goes, and what it finds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.derivatives.carrier import CarryPlan
from cosim.simulation import carried_tangents
from cosim.simulation.carried_tangents import CarriedTangents
from cosim_compiler.record import rows_of
from cosim_integrators.kit import ButcherTableau

METHODS = "runge_kutta_merson", "dormand_prince", "dormand_prince_853", "bogacki_shampine"


class Jumping(cosim.Component):
    """Law: x'' = -x, and z' = -z, plus `size` where x is above c, by a branch that no event announces."""

    c = cosim.parameter(default=0.5)
    size = cosim.parameter(default=1.0)
    x = cosim.auxiliary_state(start=0.0)
    v = cosim.auxiliary_state(start=1.0)
    z = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(c, size, x, v, z, x_dot, v_dot, z_dot):
        x_dot[0] = v
        v_dot[0] = -x
        z_dot[0] = -z
        if x > c:
            z_dot[0] = -z + size


def run(part: cosim.Component, **options: Any) -> cosim.Result:
    """A run of a component, with the derivative by its parameter `c`."""
    model = cosim.Model("m")
    model.add(part, "b")
    return model.simulate(3.0, derivatives=["b.c"], **options)


def lost(result: cosim.Result) -> list[float]:
    """When derivatives were lost, s."""
    return [finding.time for finding in result.findings if finding.kind == "no derivative"]


@pytest.mark.parametrize("smooth_sum", [0.0, 1e9])  # the flow goes along all steps, or never
@pytest.mark.parametrize("method", METHODS)
def test_a_jump_inside_a_step_is_found(
    method: str, smooth_sum: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carried_tangents, "SMOOTH_SUM", smooth_sum)
    for accuracy, size, c in product((1e-8, 1e-4), (1.0, 1e-2), (0.123, 0.5, 0.87654)):
        times = lost(run(Jumping(c=c, size=size), integrator=method, accuracy=accuracy))
        assert len(times) == 1, (accuracy, size, c)
        assert times[0] <= np.arcsin(c) + accuracy
    assert lost(run(Jumping(c=0.5, size=0.0), integrator=method, accuracy=1e-8)) == []


@pytest.mark.parametrize("smooth_sum", [0.0, 1e9])
def test_both_ways_find_the_same_small_jumps(smooth_sum: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried_tangents, "SMOOTH_SUM", smooth_sum)
    found = [bool(lost(run(Jumping(size=size), accuracy=1e-8))) for size in (1e-3, 1e-4, 3e-7, 0.0)]
    assert found == [True, True, False, False]


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[CarriedTangents]:
    """The tangents of all runs."""
    kept: list[CarriedTangents] = []
    start = CarriedTangents.start
    monkeypatch.setattr(
        CarriedTangents, "start", lambda self, state: (kept.append(self), start(self, state))[1]
    )
    return kept


def first_direction(tangents: CarriedTangents) -> int:
    """The first direction that goes along all steps."""
    return int(rows_of(CarryPlan, tangents._arrays["numbers"], 0, 1)[0].first_direction)


def test_the_flow_goes_along_no_smooth_step(carried: list[CarriedTangents]) -> None:
    run(Jumping(size=0.0), accuracy=1e-8)
    assert first_direction(carried[-1]) == 1
    assert not carried[-1]._arrays["pace_before"].any()


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"accuracy": 1e-6}, 1),
        ({"accuracy": 1e-2}, 0),  # most steps would seem to have jumps
        ({"integrator": "bogacki_shampine", "accuracy": 1e-6}, 0),
        ({"integrator": "bogacki_shampine", "accuracy": 1e-10}, 1),
        ({"integrator": "radau5", "accuracy": 1e-8}, 0),  # its stages have no weights for that
        ({"integrator": "runge_kutta_4", "fixed_step": 0.01}, 0),  # nor have those of fixed steps
    ],
)
def test_where_the_flow_goes_along(options: Any, first: int, carried: list[CarriedTangents]) -> None:
    run(Jumping(size=0.0), **options)
    assert first_direction(carried[-1]) == first


@pytest.mark.parametrize("method", METHODS)
def test_jump_weights_show_each_jump(method: str) -> None:
    (tableau,) = (
        entry.cls.tableau
        for entry in cosim.registry().entries("integrator")
        if entry.id == f"integrators.{method}"
    )
    weights = tableau.jump_weights
    assert abs(weights.sum()) < 1e-9  # constant derivatives show none
    shown = [abs(weights @ (tableau.c > time)) for time in np.unique(tableau.c)[:-1]]
    assert min(shown) == pytest.approx(1.0, rel=1e-9)


def test_weights_that_add_up_to_nothing_show_no_jump() -> None:
    half_step = ButcherTableau(order=1, a=[[], [1 / 2]], b=[1, 0], c=[0, 1 / 2], error=[-1, 1])
    assert half_step.jump_weights.size == 0  # nothing stands behind its last stage
    plain = ButcherTableau(order=1, a=[[]], b=[1], c=[0])
    assert plain.jump_weights.size == 0

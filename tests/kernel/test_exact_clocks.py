"""Random systems whose witnesses reach zero exactly, at ticks and between: no event is missed or doubled."""

from __future__ import annotations

import pytest
from clocked_parts import UNTIL, random_plan
from how_many import many

import cosim

METHODS = {  # with their fixed steps, in ticks
    **{f"integrators.{name}": {} for name in ("heun", "bogacki_shampine", "runge_kutta_merson")},
    **{f"integrators.{name}": {} for name in ("dormand_prince", "tsitouras", "dormand_prince_853")},
    **{f"integrators.{name}": {} for name in ("radau3", "radau5", "esdirk43", "bdf", "generalized_alpha")},
    **{"integrators.explicit_euler": {"fixed_step": 0.01}, "integrators.runge_kutta_3": {"fixed_step": 0.05}},
    **{"integrators.runge_kutta_4": {"fixed_step": 0.07}, "integrators.trapezoid": {"fixed_step": 0.03}},
    "integrators.implicit_euler": {"fixed_step": 0.02},
}


@pytest.mark.parametrize("integrator", METHODS)
def test_events_are_those_in_exact_arithmetic(integrator: str) -> None:
    """A state that returns to zero is off by the rounding of the values between: that is not a crossing."""
    for seed in range(many(8)):
        plan = random_plan(seed)
        tick = float(plan.tick)
        options = {name: step * tick for name, step in METHODS[integrator].items()}
        result = plan.model().simulate(
            until=float(UNTIL) * tick, integrator=integrator, accuracy=10.0 ** -(3 + seed % 6), **options
        )
        times: dict[str, list[float]] = {}
        for event in result.events:
            if event.cause == cosim.EventCause.TRIGGERED:
                times.setdefault(event.witness, []).append(event.time)
        expected_times = plan.events()
        assert {name: len(listed) for name, listed in times.items()} == {
            name: len(listed) for name, listed in expected_times.items()
        }, seed
        for name, expected in expected_times.items():
            assert times[name] == pytest.approx(expected, abs=1e-4 * tick), (seed, name)

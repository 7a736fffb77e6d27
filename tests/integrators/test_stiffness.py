"""Explicit methods warn of a stiff system, and only of those."""

import math

import pytest
from block_system import BlockSystem, run
from started_blocks import oscillator

import cosim

METHODS = ["heun", "runge_kutta_3", "bogacki_shampine", "runge_kutta_merson"]
METHODS += ["dormand_prince", "tsitouras", "dormand_prince_853"]


def relaxing(t, y, p, d, k, h, c, ints, first, count):
    # Prothero and Robinson's problem: y follows cos t at the rate p[0]
    c[0] = -p[0] * (y[0] - math.cos(t)) - math.sin(t)
    c[1] += 1.0


def after_a_run(name, block, y, parameters, until, **options):
    """Return the integrator of a run."""
    integrator = cosim.registry().get("integrator", f"integrators.{name}")(**options)
    system = BlockSystem(block, len(y))
    state = system.state(y, parameters=parameters)
    integrator.initialize(system, state)
    run(integrator, system, state, until)
    return integrator


@pytest.mark.parametrize("name", METHODS)
def test_a_stiff_system_gives_one_warning(name) -> None:
    integrator = after_a_run(name, relaxing, [1.0], (1e4,), 1.0, accuracy=1e-4)
    assert len(integrator.warnings) == 1
    assert "noticed at t =" in integrator.warnings[0]
    assert "implicit method takes" in integrator.warnings[0]


@pytest.mark.by_turns
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-7])
def test_no_warning_where_accuracy_limits_the_step(name, accuracy) -> None:
    # the method of order 2 takes thousands of steps in a twentieth of the time
    shorter = 20.0 if (name, accuracy) == ("heun", 1e-7) else 1.0
    options = {"accuracy": accuracy}
    assert not after_a_run(name, oscillator, [1.0, 0.0], (0.0,), 100.0 / shorter, **options).warnings
    assert not after_a_run(name, relaxing, [0.0], (1.0,), 20.0 / shorter, **options).warnings

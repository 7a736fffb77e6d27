"""`cosim describe` says what happens at kinks of an integrator, of a component."""

import pytest

from cosim_workbench.describe_command import describe


@pytest.mark.parametrize("name", ["dormand_prince", "radau5", "bdf", "generalized_alpha"])
def test_steps_with_error_control_end_there(name: str) -> None:
    text = describe(f"integrators.{name}")
    assert "error control end" in text
    assert "a power below 2" in text


@pytest.mark.parametrize("name", ["velocity_verlet", "runge_kutta_4", "scipy_bdf", "cvode"])
def test_other_integrators_step_over_them(name: str) -> None:
    assert "kinks: stepped over" in describe(f"integrators.{name}")


def test_components() -> None:
    assert "kinks: announced" in describe("signals.limiter")
    assert "error control end" in describe("measures.rate_limiter")
    assert "kinks" not in describe("measures.integrate")

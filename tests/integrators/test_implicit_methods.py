"""Every implicit method keeps the contract of integrators."""

import numpy as np

from cosim.testing import IntegratorContract
from cosim.testing.integrator_contract import step_until
from cosim.testing.known_solution import power_system, powers
from cosim_integrators.bdf import Bdf
from cosim_integrators.esdirk43 import Esdirk43
from cosim_integrators.implicit_euler import ImplicitEuler
from cosim_integrators.radau3 import Radau3
from cosim_integrators.radau5 import Radau5
from cosim_integrators.trapezoid import Trapezoid


class TestImplicitEuler(IntegratorContract):
    make = ImplicitEuler


class TestTrapezoid(IntegratorContract):
    make = Trapezoid


class TestRadau3(IntegratorContract):
    make = Radau3


class TestRadau5(IntegratorContract):
    make = Radau5
    numbers = (4, 6, 9, 13, 16, 20, 25, 30)


class TestEsdirk43(IntegratorContract):
    make = Esdirk43


class TestBdf(IntegratorContract):
    make = Bdf

    def test_polynomials_are_exact(self) -> None:
        """Polynomials of degree 1 are exact: the first step has order 1."""
        system = power_system(1)
        integrator, state = self.started(system, fixed_step=0.3)
        step_until(integrator, system, state, 1.0)
        assert float(np.abs(state.y - powers(1.0, 1)).max()) <= 1e-12


def test_a_subclass_has_the_error_order_of_its_base() -> None:
    class LongerSteps(Trapezoid):
        """A trapezoidal rule with another share of the accuracy for a step."""

        step_share = (1.0, 1 / 2)

    assert LongerSteps().error_order == Trapezoid().error_order == 3

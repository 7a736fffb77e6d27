"""The contract kit on every implicit method."""

from cosim.testing import IntegratorContract
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

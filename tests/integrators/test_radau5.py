"""Radau IIA with three stages."""

from cosim.testing import IntegratorContract
from cosim_integrators.radau5 import Radau5


class TestRadau5(IntegratorContract):
    make = Radau5
    numbers = (13, 16, 20, 25, 30)
    rounding = 2e-10  # Newton's method stops there
    dense_gap = 2  # the collocation polynomial

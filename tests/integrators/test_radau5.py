"""Radau IIA with three stages."""

from cosim.testing import IntegratorContract
from cosim_integrators.radau5 import Radau5


class TestRadau5(IntegratorContract):
    make = Radau5

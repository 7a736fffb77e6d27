"""Registers the integrators."""

from __future__ import annotations

import cosim
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register_integrators(register: cosim.Register) -> None:
    """Explicit Runge–Kutta methods."""
    register("integrators.explicit_euler", ExplicitEuler)
    register("integrators.runge_kutta_merson", RungeKuttaMerson)
    register("integrators.dormand_prince", DormandPrince)

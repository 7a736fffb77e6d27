"""Registers the integrators."""

from __future__ import annotations

import cosim
from cosim_integrators.bdf import Bdf
from cosim_integrators.bogacki_shampine import BogackiShampine
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.dormand_prince_853 import DormandPrince853
from cosim_integrators.esdirk43 import Esdirk43
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.generalized_alpha import GeneralizedAlpha
from cosim_integrators.heun import Heun
from cosim_integrators.implicit_euler import ImplicitEuler
from cosim_integrators.library.cvode import Cvode
from cosim_integrators.library.scipy_bdf import ScipyBdf
from cosim_integrators.library.scipy_dop853 import ScipyDop853
from cosim_integrators.library.scipy_lsoda import ScipyLsoda
from cosim_integrators.library.scipy_radau import ScipyRadau
from cosim_integrators.radau3 import Radau3
from cosim_integrators.radau5 import Radau5
from cosim_integrators.runge_kutta_3 import RungeKutta3
from cosim_integrators.runge_kutta_4 import RungeKutta4
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson
from cosim_integrators.second_order.semi_implicit_euler import SemiImplicitEuler
from cosim_integrators.second_order.velocity_verlet import VelocityVerlet
from cosim_integrators.second_order.yoshida_4 import Yoshida4
from cosim_integrators.trapezoid import Trapezoid
from cosim_integrators.tsitouras import Tsitouras

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("integrators.explicit_euler", ExplicitEuler)
    register("integrators.heun", Heun)
    register("integrators.runge_kutta_3", RungeKutta3)
    register("integrators.runge_kutta_4", RungeKutta4)
    register("integrators.bogacki_shampine", BogackiShampine)
    register("integrators.runge_kutta_merson", RungeKuttaMerson)
    register("integrators.dormand_prince", DormandPrince)
    register("integrators.tsitouras", Tsitouras)
    register("integrators.dormand_prince_853", DormandPrince853)
    register("integrators.implicit_euler", ImplicitEuler)
    register("integrators.trapezoid", Trapezoid)
    register("integrators.radau3", Radau3)
    register("integrators.radau5", Radau5)
    register("integrators.esdirk43", Esdirk43)
    register("integrators.bdf", Bdf)
    register("integrators.generalized_alpha", GeneralizedAlpha)
    register("integrators.scipy_dop853", ScipyDop853)
    register("integrators.scipy_lsoda", ScipyLsoda)
    register("integrators.scipy_radau", ScipyRadau)
    register("integrators.scipy_bdf", ScipyBdf)
    register("integrators.cvode", Cvode)
    register("integrators.semi_implicit_euler", SemiImplicitEuler)
    register("integrators.velocity_verlet", VelocityVerlet)
    register("integrators.yoshida_4", Yoshida4)

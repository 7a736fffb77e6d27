"""The generalized-alpha method."""

from __future__ import annotations

from typing import Any

import numpy as np

import cosim
from cosim.kit import Capabilities
from cosim_integrators.implicit.generalized_alpha_step import (
    AlphaNumbers,
    GroupNumbers,
    alpha_step,
    begin_alpha_steps,
    followed_alpha_step,
    redo_alpha_step,
)
from cosim_integrators.implicit.integrator import ImplicitIntegrator, Vector


class GeneralizedAlpha(ImplicitIntegrator):
    """Generalized-alpha: order 2, with numerical damping of high frequencies by choice.

    Law: for q' = u and u' = f, with an acceleration a beside the derivative,
    (1 - alpha_m) a_1 + alpha_m a_0 = (1 - alpha_f) f_1 + alpha_f f_0,
    u_1 = u_0 + h ((1 - gamma) a_0 + gamma a_1),
    q_1 = q_0 + h u_0 + h^2 ((1/2 - beta) a_0 + beta a_1),
    alpha_m = (2 rho - 1) / (rho + 1), alpha_f = rho / (rho + 1), gamma = 1/2 - alpha_m + alpha_f,
    beta = (1 - alpha_m + alpha_f)^2 / 4. Very fast oscillations shrink by the factor rho in
    each step; slow ones keep their amplitude as well as this allows. States z follow the form for first
    order. If q' = N(q) u, the second derivative of q takes the place of a in the formula of q.

    When to use: structures and mechanisms with stiff springs, bushings or contacts whose fast vibrations are
    of no interest, at coarse accuracies, fixed steps above all. Smooth stiff motion: `Radau5`.

    With constraints f are the accelerations that meet them (index 1), and the end of each step is corrected
    so that positions and speeds meet them, too, before its error is estimated. The multipliers are those of f
    at the corrected end: they belong to its positions and speeds, and do not oscillate as those of index 3
    may.

    Parameters
    ----------
    rho_infinity : float, default 0.8
        The factor by which one step multiplies an infinitely fast oscillation: 1 no damping, 0 removes it.
    **options
        As `cosim.Integrator`.

    Raises
    ------
    ModelError
        `rho_infinity` is not in 0 … 1, and as `cosim.Integrator`.

    References
    ----------
    J. Chung, G. M. Hulbert (1993), and for first order K. E. Jansen, C. H. Whiting, G. M. Hulbert (2000), as
    PETSc states them: manual pages TSAlpha2SetRadius and TSAlphaSetRadius (there 1 - alpha_m, 1 - alpha_f),
    src/ts/impls/implicit/alpha/alpha2.c.

    Examples
    --------
    >>> GeneralizedAlpha(rho_infinity=0.5, fixed_step=0.01).order
    2
    """

    bibtex = """
@article{chung1993,
  author = {Chung, J. and Hulbert, G. M.},
  title = {A time integration algorithm for structural dynamics with improved numerical dissipation:
           the generalized-alpha method},
  journal = {Journal of Applied Mechanics},
  volume = {60},
  pages = {371--375},
  year = {1993}
}
"""

    order = 2
    error_order = 3  # the estimate is that of the solution itself
    capabilities = Capabilities(
        adaptive=True, implicit=True, dense_order=2, locates_kinks=True, supports_constraints=True
    )
    estimates_from_past = True
    step_share = (3.0, 1 / 2)
    step_function = alpha_step
    redo_function = redo_alpha_step
    followed_function = followed_alpha_step
    vectors = 4
    begin_function = begin_alpha_steps
    history = 4
    shifts = (1.0, 0.0, 0.0)

    def __init__(self, *, rho_infinity: float = 0.8, **options: Any) -> None:
        super().__init__(**options)
        if not 0.0 <= rho_infinity <= 1.0:
            raise cosim.ModelError.of(
                type(self).__name__, f"rho_infinity is {rho_infinity}, must be a number from 0 to 1."
            )
        self.rho_infinity = float(rho_infinity)

    def numbers(self, system: Any) -> Vector:
        """Sizes and the constants of the groups; see `generalized_alpha_step`."""
        rho = self.rho_infinity
        alpha_f = rho / (1.0 + rho)
        of_u = group((2.0 * rho - 1.0) / (1.0 + rho), alpha_f)
        of_z = group((3.0 * rho - 1.0) / (2.0 * (1.0 + rho)), alpha_f)
        beta = 1.0 / (1.0 + rho) ** 2
        numbers = AlphaNumbers(
            size_q=system.nq,
            size_u=system.nu,
            theta=beta / of_u.gamma,
            of_u=of_u,
            of_z=of_z,
            error_constant_of_q=0.5 * (of_u.alpha_m - alpha_f) + beta - 1.0 / 6.0,
        )
        return np.frombuffer(numbers)


def group(alpha_m: float, alpha_f: float) -> GroupNumbers:
    """The numbers of a group of states; the constant of the error is (u_1 - u(t_1)) / (h^3 u''')."""
    ahead = alpha_m - alpha_f  # in steps: a is the derivative at that much later a time
    curvature = 0.5 * (1.0 - alpha_f) - (1.0 - alpha_m) * (0.5 + ahead)
    return GroupNumbers(
        alpha_m=alpha_m,
        alpha_f=alpha_f,
        gamma=0.5 - ahead,
        error_constant=curvature + 1.0 / 12.0 - ahead * ahead,
    )

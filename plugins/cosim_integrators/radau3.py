"""Radau IIA of order 3."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.implicit.collocation import (
    collocation_step,
    followed_collocation_step,
    redo_collocation_step,
)
from cosim_integrators.implicit.integrator import ImplicitIntegrator
from cosim_integrators.implicit.radau_coefficients import collocation_coefficients
from cosim_integrators.implicit.tuning import tune_order_3

PAIR = complex(2, 2**0.5)
FILTER = 6**0.5  # the shift of the matrix that filters the error estimate: the absolute value of the pair


class Radau3(ImplicitIntegrator):
    """Radau IIA with two stages: implicit, order 3, stiffly accurate, damps what is stiff (L-stable).

    Law: y_next = y + z_2 with z_i = h sum_j a_ij f(t + c_j h, y + z_j), c = (1/3, 1).

    When to use: stiff systems at coarse accuracies, 1e-2 to 1e-4, and with fixed steps where `ImplicitEuler`
    is too inaccurate. `Radau5` needs fewer evaluations below.

    The error estimate has order 2; it is held to ``0.1 accuracy^(3/4)``, as `Radau5` does it. Dense
    output is the collocation polynomial with, where nothing is stiff, the derivative at the start: order 3.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", sections IV.5 and IV.8; coefficients
    follow from collocation at the points 1/3 and 1, the algorithm is that of RADAU5 (radau5.f).

    Examples
    --------
    >>> Radau3(fixed_step=1e-3).order
    3
    """

    order = 3
    error_order = 3  # one more than that of the estimate
    capabilities = Capabilities(
        adaptive=True, implicit=True, dense_order=3, locates_kinks=True, supports_constraints=True
    )
    step_share = (10.0, 1 / 3)
    step_function = collocation_step
    redo_function = redo_collocation_step
    followed_function = followed_collocation_step
    tune_function = tune_order_3
    vectors, history = 6, 2
    shifts = (FILTER, PAIR.real, PAIR.imag)
    # A^-1 = ((3/2, 1/2), (-9/2, 5/2)): its eigenvector (1, 2 (lambda - 3/2)), as columns Re and -Im
    method = collocation_coefficients([1 / 3, 1], 0.0, PAIR, [[1, 0], [1, -2 * 2**0.5]], FILTER)

"""Radau IIA of order 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cosim.kit import Capabilities
from cosim_integrators.implicit.collocation import (
    collocation_step,
    followed_collocation_step,
    redo_collocation_step,
)
from cosim_integrators.implicit.integrator import ImplicitIntegrator
from cosim_integrators.implicit.radau_coefficients import collocation_coefficients
from cosim_integrators.implicit.tuning import tune_order_5

ROOT = 6**0.5
REAL = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)
PAIR = complex(3 + 0.5 * (3 ** (1 / 3) - 3 ** (2 / 3)), -0.5 * (3 ** (5 / 6) + 3 ** (7 / 6)))


class Radau5(ImplicitIntegrator):
    """Radau IIA with three stages: implicit, order 5, stiffly accurate, damps what is stiff (L-stable).

    Law: y_next = y + z_3 with z_i = h sum_j a_ij f(t + c_j h, y + z_j), the c_j being Radau's points.

    When to use: stiff systems (contact, stiff bushings, chemistry, controllers much faster than what
    they control) at accuracies from 1e-4 to 1e-10. Not for smooth motion without stiffness: an
    explicit method is several times cheaper there.

    The error estimate has order 3; it is held to ``0.1 accuracy^(2/3)``, so that the solution, being of
    order 5, keeps the accuracy. Dense output is the collocation polynomial with, where nothing is
    stiff, the derivative at the start: order 4.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", section IV.8, as in their code
    RADAU5 (radau5.f): iteration, error estimate, step control; T as printed in SciPy,
    scipy/integrate/_ivp/radau.py.

    Examples
    --------
    >>> Radau5(accuracy=1e-8).order
    5
    """

    known_as = ("radauiia",)
    order = 5
    kit_values: ClassVar[Mapping[str, Any]] = {"rounding": 1e-8}  # what Newton's method leaves
    error_order = 4  # one more than that of the estimate
    capabilities = Capabilities(
        adaptive=True, implicit=True, dense_order=4, locates_kinks=True, supports_constraints=True
    )
    step_share = (0.2, 0.0)
    step_function = collocation_step
    redo_function = redo_collocation_step
    followed_function = followed_collocation_step
    tune_function = tune_order_5
    vectors, history = 9, 3
    shifts = (REAL, PAIR.real, PAIR.imag)
    method = collocation_coefficients(
        [(4 - ROOT) / 10, (4 + ROOT) / 10, 1],
        REAL,
        PAIR,
        [
            [0.09443876248897524, -0.14125529502095421, 0.03002919410514742],
            [0.25021312296533332, 0.20412935229379994, -0.38294211275726192],
            [1, 1, 0],
        ],
    )

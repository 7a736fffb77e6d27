"""SciPy's BDF."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.library.scipy_integrator import ScipyIntegrator


class ScipyBdf(ScipyIntegrator):
    """Backward differentiation of orders 1 to 5 as SciPy has it.

    When to use: to compare with `Bdf`. Options and limits are those of
    `ScipyIntegrator`.

    References
    ----------
    SciPy API documentation, class ``scipy.integrate.BDF``.

    Examples
    --------
    >>> ScipyBdf(accuracy=1e-6).order
    5
    """

    solver_name = "BDF"
    order = 5
    capabilities = Capabilities(
        adaptive=True, implicit=True, dense_order=1, restarts_cheaply=False, resumes_exactly=False
    )
    step_share = (0.25, 1 / 5)

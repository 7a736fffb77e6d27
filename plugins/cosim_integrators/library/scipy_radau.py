"""SciPy's Radau."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.library.scipy_integrator import ScipyIntegrator


class ScipyRadau(ScipyIntegrator):
    """Radau IIA of order 5 as SciPy has it.

    When to use: to compare with `Radau5`. Options and limits are those of
    `ScipyIntegrator`.

    References
    ----------
    SciPy API documentation, class ``scipy.integrate.Radau``.

    Examples
    --------
    >>> ScipyRadau(accuracy=1e-6).order
    5
    """

    solver_name = "Radau"
    order = 5
    capabilities = Capabilities(adaptive=True, implicit=True, dense_order=3, resumes_exactly=False)

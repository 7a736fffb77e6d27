"""SciPy's DOP853."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.library.scipy_integrator import ScipyIntegrator


class ScipyDop853(ScipyIntegrator):
    """Dormand–Prince 8(5,3) as SciPy has it.

    When to use: to compare with `DormandPrince853`. Options and limits are those of
    `ScipyIntegrator`.

    References
    ----------
    SciPy API documentation, class ``scipy.integrate.DOP853``.

    Examples
    --------
    >>> ScipyDop853(accuracy=1e-6).order
    8
    """

    solver_name = "DOP853"
    order = 8
    capabilities = Capabilities(adaptive=True, dense_order=7, resumes_exactly=False)
    step_share = (0.1, 0.0)

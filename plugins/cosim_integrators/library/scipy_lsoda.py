"""SciPy's LSODA."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.library.scipy_integrator import ScipyIntegrator


class ScipyLsoda(ScipyIntegrator):
    """LSODA of ODEPACK as SciPy has it: Adams or BDF, chosen during the run.

    When to use: smooth systems that are stiff now and then. Options and limits are those of
    `ScipyIntegrator`.

    References
    ----------
    SciPy API documentation, class ``scipy.integrate.LSODA``.

    Examples
    --------
    >>> ScipyLsoda(accuracy=1e-6).order
    1
    """

    solver_name = "LSODA"
    order = 1
    capabilities = Capabilities(
        adaptive=True, implicit=True, dense_order=1, restarts_cheaply=False, resumes_exactly=False
    )
    step_share = (0.05, 0.0)
    bound_is_fixed = True

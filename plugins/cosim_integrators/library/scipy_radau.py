"""SciPy's Radau."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.library.scipy_integrator import ScipyIntegrator


class ScipyRadau(ScipyIntegrator):
    """Radau IIA of order 5 as SciPy has it.

    When to use: to compare with `Radau5`. Slower than ours by the calls
    from Python, and not lowered.

    What every integrator of a library lacks is said in `LibraryIntegrator`.

    Parameters
    ----------
    **options
        As `cosim.Integrator`; `fixed_step` is refused.

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

"""Yoshida 4."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.second_order.fixed_steps import new_redo, new_step
from cosim_integrators.second_order.second_order_integrator import SecondOrderIntegrator
from cosim_integrators.second_order.verlet import verlet_substeps

OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))


class Yoshida4(SecondOrderIntegrator):
    """Yoshida's composition of three Verlet steps: order 4, symmetric, symplectic, fixed step only.

    Law: Verlet steps of lengths w h, (1 - 2 w) h, w h with w = 1 / (2 - 2^(1/3)); the middle one goes back.

    When to use: as `VelocityVerlet`, where more accuracy is wanted; six evaluations a step, more where forces
    depend on speeds. It evaluates the system up to 0.36 h after the end of a step and before its start, so it
    does not suit systems that change at given times.

    Parameters
    ----------
    **options
        `fixed_step` (s) is required; see `cosim.Integrator`.

    Examples
    --------
    >>> Yoshida4(fixed_step=1e-3).order
    4
    """

    bibtex = """
@article{yoshida1990,
  author = {Yoshida, Haruo},
  title = {Construction of higher order symplectic integrators},
  journal = {Physics Letters A},
  volume = {150},
  number = {5-7},
  pages = {262--268},
  year = {1990}
}
"""

    order = 4
    capabilities = Capabilities(
        symmetric=True, symplectic=True, needs_second_order_form=True, supports_constraints=True
    )
    step_function = new_step(verlet_substeps)
    redo_function = new_redo(verlet_substeps)
    method = (OUTER, 1.0 - 2.0 * OUTER, OUTER)  # parts of the substeps

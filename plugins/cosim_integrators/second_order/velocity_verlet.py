"""Velocity Verlet."""

from __future__ import annotations

from cosim.kit import Capabilities
from cosim_integrators.second_order.fixed_steps import new_redo, new_step
from cosim_integrators.second_order.second_order_integrator import SecondOrderIntegrator
from cosim_integrators.second_order.verlet import verlet_substeps


class VelocityVerlet(SecondOrderIntegrator):
    """Velocity Verlet (Störmer, leapfrog): order 2, symmetric, symplectic, fixed step only.

    Law: half a kick u' = u + h/2 f(t, q, u, z), a drift q_next = q + h/2 (N(q) + N(q_next)) u', half a kick
    u_next = u' + h/2 f(t + h, q_next, u_next, z_next); z is kicked like u. Forces that depend on speeds
    or z make the second kick an equation; it is solved by repeated evaluation, to the last digits.

    When to use: long runs of systems without damping, whose energy must not drift. Two evaluations a step,
    more where forces depend on speeds. The energy stays within bounds where the mass matrix is constant; for
    other systems the method is symmetric, not symplectic.

    Parameters
    ----------
    **options
        `fixed_step` (s) is required; see `cosim.Integrator`.

    Examples
    --------
    >>> VelocityVerlet(fixed_step=1e-3).capabilities.symmetric
    True
    """

    known_as = ("verlet", "leapfrog")
    bibtex = """
@article{swope1982,
  author = {Swope, William C. and Andersen, Hans C. and Berens, Peter H. and Wilson, Kent R.},
  title = {A computer simulation method for the calculation of equilibrium constants for the formation of
           physical clusters of molecules: Application to small water clusters},
  journal = {The Journal of Chemical Physics},
  volume = {76},
  number = {1},
  pages = {637--649},
  year = {1982}
}
"""

    order = 2
    capabilities = Capabilities(
        symmetric=True, symplectic=True, needs_second_order_form=True, supports_constraints=True
    )
    step_function = new_step(verlet_substeps)
    redo_function = new_redo(verlet_substeps)
    method = (1.0,)  # one substep: the whole step

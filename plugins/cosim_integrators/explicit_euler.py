"""Explicit Euler."""

from __future__ import annotations

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class ExplicitEuler(ExplicitRungeKutta):
    """Explicit Euler: order 1, one evaluation a step, fixed step only.

    Law: y_next = y + h f(t, y).

    When to use: to compare with programs that use it, or in real time with a small step. There is no
    error estimate, so `fixed_step` has to be given. Undamped oscillations grow at every step size.

    Parameters
    ----------
    **options
        `fixed_step` (s) is required; see `cosim.Integrator`.

    Examples
    --------
    >>> ExplicitEuler(fixed_step=1e-3).order
    1
    """

    known_as = ("euler", "forward_euler")

    bibtex = """
@book{euler1768,
  author = {Euler, Leonhard},
  title = {Institutionum calculi integralis volumen primum},
  publisher = {Academia Imperialis Scientiarum},
  address = {Petropoli},
  year = {1768}
}
"""

    tableau = ButcherTableau(order=1, a=[[]], b=[1], c=[0])

"""Kutta's 3/8 rule with an embedded method, as an author outside would write it: a tableau and a name."""

import cosim
from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta


class ThreeEighths(ExplicitRungeKutta):
    """Kutta's 3/8 rule: order 4 with an error estimate of order 2, four evaluations a step.

    When to use: as the classical Runge–Kutta method; its leading error is a little smaller.
    """

    bibtex = """
@article{kutta1901,
  author = {Kutta, Wilhelm},
  title = {Beitrag zur n{\\"a}herungsweisen {I}ntegration totaler {D}ifferentialgleichungen},
  journal = {Zeitschrift f{\\"u}r Mathematik und Physik},
  volume = {46},
  pages = {435--453},
  year = {1901}
}
"""

    tableau = ButcherTableau(
        order=4,
        c=[0, 1 / 3, 2 / 3, 1],
        a=[[], [1 / 3], [-1 / 3, 1], [1, -1, 1]],
        b=[1 / 8, 3 / 8, 3 / 8, 1 / 8],
        error=[1 / 8, -1 / 8, -1 / 8, 1 / 8],
    )


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    """The whole plugin."""
    register("acme.three_eighths", ThreeEighths)

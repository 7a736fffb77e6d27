"""A diagonally implicit pair of orders 4 and 3."""

from __future__ import annotations

from cosim_integrators.implicit.diagonal_tableau import DiagonalTableau
from cosim_integrators.implicit.diagonally_implicit_integrator import DiagonallyImplicitIntegrator


class Esdirk43(DiagonallyImplicitIntegrator):
    """ESDIRK 4(3): diagonally implicit, order 4 with an error estimate of order 3, L-stable.

    Law: six stages, the first one explicit, the others solved one after the other with one real matrix
    ``I - h/4 J``; the last stage is the end of the step.

    When to use: stiff systems at accuracies from 1e-2 to 1e-6, above all large ones: its matrix
    costs a fifth of those of `Radau5`. With very stiff parts its order drops to that of the stages, 2:
    at high accuracies `Radau5` is better.

    Dense output is the method's own, of order 3.

    Parameters
    ----------
    **options
        As `cosim.Integrator`.

    References
    ----------
    C. A. Kennedy, M. H. Carpenter, "Additive Runge-Kutta schemes for convection-diffusion-reaction
    equations", Applied Numerical Mathematics 44 (2003), implicit part of ARK4(3)6L[2]SA; coefficients,
    also those of the dense output, as printed in PETSc, src/ts/impls/arkimex/arkimex.c, TSARKIMEX4.

    Examples
    --------
    >>> Esdirk43.tableau.order, Esdirk43.tableau.error_order, Esdirk43.tableau.dense_order
    (4, 3, 3)
    """

    bibtex = """
@article{kennedy2003,
  author = {Kennedy, Christopher A. and Carpenter, Mark H.},
  title = {Additive {R}unge--{K}utta schemes for convection--diffusion--reaction equations},
  journal = {Applied Numerical Mathematics},
  volume = {44},
  pages = {139--181},
  year = {2003}
}
"""

    step_share = (0.2, 0.0)
    tableau = DiagonalTableau(
        order=4,
        a=[
            [0],
            [1 / 4, 1 / 4],
            [8611 / 62500, -1743 / 31250, 1 / 4],
            [5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4],
            [
                15267082809 / 155376265600,
                -71443401 / 120774400,
                730878875 / 902184768,
                2285395 / 8070912,
                1 / 4,
            ],
            [82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4],
        ],
        error=[
            82889 / 524892 - 4586570599 / 29645900160,
            0,
            15625 / 83664 - 178811875 / 945068544,
            69875 / 102672 - 814220225 / 1159782912,
            -2260 / 8211 + 3700637 / 11593932,
            1 / 4 - 61727 / 225920,
        ],
        dense=[
            [6943876665148 / 7220017795957, -54480133 / 30881146, 6818779379841 / 7100303317025],
            [0, 0, 0],
            [7640104374378 / 9702883013639, -11436875 / 14766696, 2173542590792 / 12501825683035],
            [-20649996744609 / 7521556579894, 174696575 / 18121608, -31592104683404 / 5083833661969],
            [8854892464581 / 2390941311638, -12120380 / 966161, 61146701046299 / 7138195549469],
            [-11397109935349 / 6675773540249, 3843 / 706, -17219254887155 / 4939391667607],
        ],
        dense_order=3,
    )

"""Tsitouras 5(4)."""

from __future__ import annotations

import numpy as np

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta

SOLUTION = [
    0.09646076681806522951816731316512876,
    1 / 100,
    0.4798896504144995747752495322905965,
    1.379008574103741893192274821856873,
    -3.290069515436080679901047585711364,
    2.324710524099773982415355918398766,
]
EMBEDDED = [
    0.09468075576583945807478876255758923,
    0.009183565540343253096776363936645314,
    0.4877705284247615707855642599631228,
    1.234297566930478985655109673884238,
    -2.707712349983525454881109975059322,
    1.866628418170587035753719399566211,
    1 / 66,
]
# The polynomials of the dense output as published: a factor and the roots or quadratics of each.
DENSE = [
    -1.0530884977290216
    * np.poly1d([1, 0])
    * np.poly1d([1, -1.3299890189751412])
    * np.poly1d([1, -1.4364028541716351, 0.7139816917074209]),
    0.1017 * np.poly1d([1, 0, 0]) * np.poly1d([1, -2.1966568338249754, 1.2949852507374631]),
    2.490627285651252793 * np.poly1d([1, 0, 0]) * np.poly1d([1, -2.38535645472061657, 1.57803468208092486]),
    -16.54810288924490272 * np.poly1d([0, 0, 1.21712927295533244, 0.61620406037800089], r=True),
    47.37952196281928122 * np.poly1d([0, 0, 1.203071208372362603, 0.658047292653547382], r=True),
    -34.87065786149660974 * np.poly1d([0, 0, 1.2, 0.666666666666666667], r=True),
    2.5 * np.poly1d([0, 0, 1, 0.6], r=True),
]


class Tsitouras(ExplicitRungeKutta):
    """Tsitouras 5(4): order 5 with an error estimate of order 4, six evaluations a step.

    Law: seven stages, the last one being the first one of the next step; the dense output is a continuous
    extension of order 4 that needs no further evaluation.

    When to use: as `DormandPrince`, from 1e-3 to 1e-9; its leading error is a little smaller.

    Parameters
    ----------
    **options
        `accuracy`, `fixed_step` …: see `cosim.Integrator`.

    References
    ----------
    Coefficients as printed in diffrax, diffrax/_solver/tsit5.py.

    Examples
    --------
    >>> Tsitouras.tableau.first_same_as_last, Tsitouras.tableau.dense_order
    (True, 4)
    """

    known_as = ("tsit5",)

    bibtex = """
@article{tsitouras2011,
  author = {Tsitouras, Ch.},
  title = {Runge--{K}utta pairs of order 5(4) satisfying only the first column simplifying assumption},
  journal = {Computers \\& Mathematics with Applications},
  volume = {62},
  number = {2},
  pages = {770--775},
  year = {2011}
}
"""

    tableau = ButcherTableau(
        order=5,
        c=[0, 161 / 1000, 327 / 1000, 9 / 10, 0.9800255409045096857298102862870245955, 1, 1],
        a=[
            [],
            [161 / 1000],
            [-0.008480655492356988544426874250230775, 0.3354806554923569885444268742502308],
            [
                2.897153057105493432130432594192939,
                -6.359448489975074843148159912383826,
                4.362295432869581411017727318190887,
            ],
            [
                5.325864828439256604428877920840511,
                -11.74888356406282787774717033978577,
                7.495539342889836208304604784564358,
                -0.09249506636175524925650207933207191,
            ],
            [
                5.861455442946420028659251486982648,
                -12.92096931784710929170611868178336,
                8.159367898576158643180400794539253,
                -0.07158497328140099722453054252582974,
                -0.02826905039406838290903057212712242,
            ],
            SOLUTION,
        ],
        b=[*SOLUTION, 0],
        error=[a - b for a, b in zip([*SOLUTION, 0], EMBEDDED, strict=True)],
        dense=[polynomial.coeffs[::-1][1:].tolist() for polynomial in DENSE],
    )

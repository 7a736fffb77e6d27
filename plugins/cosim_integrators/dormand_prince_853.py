"""Dormand–Prince 8(5,3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cosim_integrators.kit import ButcherTableau, ExplicitRungeKutta

# fmt: off
A = [
    [],
    [0.05260015195876773],
    [0.0197250569845379, 0.0591751709536137],
    [0.02958758547680685, 0, 0.08876275643042054],
    [0.2413651341592667, 0, -0.8845494793282861, 0.924834003261792],
    [0.037037037037037035, 0, 0, 0.17082860872947386, 0.12546768756682242],
    [0.037109375, 0, 0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
    [0.03709200011850479, 0, 0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023],
    [0.6241109587160757, 0, 0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
     20.154067550477894, -43.48988418106996],
    [0.47766253643826434, 0, 0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
     15.279233632882423, -33.28821096898486, -0.020331201708508627],
    [-0.9371424300859873, 0, 0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
     -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196],
    [2.273310147516538, 0, 0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636],
]
B = [0.054293734116568765, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
     0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259]
C = [0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333,
     0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0]
# The weights of the estimates of orders 5 and 3.
ERROR_5 = [0.01312004499419488, 0, 0, 0, 0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
           -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294]
ERROR_3 = [-0.18980075407240762, 0, 0, 0, 0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
           -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082]
EXTRA = [
    (0.1, [0.056167502283047954, 0, 0, 0, 0, 0, 0.25350021021662483, -0.2462390374708025,
           -0.12419142326381637, 0.15329179827876568, 0.00820105229563469, 0.007567897660545699, -0.008298]),
    (0.2, [0.03183464816350214, 0, 0, 0, 0, 0.028300909672366776, 0.053541988307438566, -0.05492374857139099,
           0, 0, -0.00010834732869724932, 0.0003825710908356584, -0.00034046500868740456,
           0.1413124436746325]),
    (0.7777777777777778, [-0.42889630158379194, 0, 0, 0, 0, -4.697621415361164, 7.683421196062599,
                          4.06898981839711, 0.3567271874552811, 0, 0, 0, -0.0013990241651590145,
                          2.9475147891527724, -9.15095847217987]),
]
# Weights of the last four of the eight terms of the dense output, for all sixteen stages.
DENSE_WEIGHTS = [
    [-8.428938276109013, 0, 0, 0, 0, 0.5667149535193777, -3.0689499459498917, 2.38466765651207,
     2.117034582445028, -0.871391583777973, 2.2404374302607883, 0.6315787787694688, -0.08899033645133331,
     18.148505520854727, -9.194632392478356, -4.436036387594894],
    [10.427508642579134, 0, 0, 0, 0, 242.28349177525817, 165.20045171727028, -374.5467547226902,
     -22.113666853125306, 7.733432668472264, -30.674084731089398, -9.332130526430229, 15.697238121770845,
     -31.139403219565178, -9.35292435884448, 35.81684148639408],
    [19.985053242002433, 0, 0, 0, 0, -387.0373087493518, -189.17813819516758, 527.8081592054236,
     -11.57390253995963, 6.8812326946963, -1.0006050966910838, 0.7777137798053443, -2.778205752353508,
     -60.19669523126412, 84.32040550667716, 11.99229113618279],
    [-25.69393346270375, 0, 0, 0, 0, -154.18974869023643, -231.5293791760455, 357.6391179106141,
     93.40532418362432, -37.45832313645163, 104.0996495089623, 29.8402934266605, -43.53345659001114,
     96.32455395918828, -39.17726167561544, -149.72683625798564],
]
# fmt: on


def dense_rows(b: Sequence[float], weights: Sequence[Sequence[float]]) -> list[list[float]]:
    """The polynomial of each stage, from the nested form in which the dense output is published.

    y(s) = y + s (F0 + r (F1 + s (F2 + r (F3 + s (F4 + r (F5 + s F6)))))) with r = 1 - s, F0 = h sum b k,
    F1 = h k_first - F0, F2 = 2 F0 - h (k_last + k_first), and F3 … F6 = h times the weights of all stages.
    """
    s, r = np.poly1d([1, 0]), np.poly1d([-1, 1])
    terms = [s]
    for factor in (r, s, r, s, r, s):
        terms.append(terms[-1] * factor)
    stages = len(b)
    rows = []
    for i in range(stages + 4):
        weight = b[i] if i < stages else 0.0
        row = weight * terms[0] + (float(i == 0) - weight) * terms[1]
        row += (2.0 * weight - float(i in (0, stages))) * terms[2]
        for j, stage_weights in enumerate(weights):
            row += stage_weights[i] * terms[3 + j]
        coefficients = np.zeros(7)
        coefficients[: row.order] = row.coeffs[::-1][1:]
        rows.append(coefficients.tolist())
    return rows


class DormandPrince853(ExplicitRungeKutta):
    """Dormand–Prince 8(5,3): order 8 with two error estimates, twelve evaluations a step.

    Law: twelve stages; an estimate of order 3 corrects that of order 5 where the latter is accidentally
    small. Dense output is of order 7; it needs three more evaluations, only in steps whose dense output is
    read.

    When to use: smooth systems at accuracies of 1e-8 and below, and long runs whose energy or phase must
    hold. Events and kinks make its long steps useless.

    Parameters
    ----------
    **options
        `accuracy`, `fixed_step` …: see `cosim.Integrator`.

    References
    ----------
    Coefficients of E. Hairer and G. Wanner's program dop853.f as printed in SciPy,
    scipy/integrate/_ivp/dop853_coefficients.py.

    Examples
    --------
    >>> DormandPrince853.tableau.order, DormandPrince853.tableau.dense_order
    (8, 7)
    """

    known_as = ("dop853",)

    bibtex = """
@book{hairer1993,
  author = {Hairer, E. and N{\\o}rsett, S. P. and Wanner, G.},
  title = {Solving Ordinary Differential Equations {I}: Nonstiff Problems},
  edition = {2},
  publisher = {Springer},
  year = {1993}
}
"""

    step_share = (0.2, 0.0)
    tableau = ButcherTableau(
        order=8,
        c=C,
        a=A,
        b=B,
        error=ERROR_5,
        second_error=ERROR_3,
        extra=EXTRA,
        dense=dense_rows(B, DENSE_WEIGHTS),
    )

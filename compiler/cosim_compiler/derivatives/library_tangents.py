"""Tangents of functions of the language that are not differentiated as they are written.

`gamma` and `log_of_gamma` have tangents of their own. `interp` compares by ``==`` to be exact at its nodes;
it is differentiated in a form without that branch.
"""

import math

from cosim_compiler import functions
from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.language import special


def digamma(x):
    """The derivative of the logarithm of the gamma function."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf or (x <= 0.0 and x == math.floor(x)):
        return math.nan
    y, value = x, 0.0
    if x < 0.5:
        y = 1.0 - x
        part = x - math.floor(x)
        value = -math.pi * math.cos(math.pi * part) / math.sin(math.pi * part)
    while y < 12.0:
        value -= 1.0 / y
        y += 1.0
    z = 1.0 / (y * y)
    series = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12)))))
    )
    return value + math.log(y) - 0.5 / y - series


@tangent_of(special.gamma)
def gamma_tangent(x, rate):
    """The tangent of the gamma function."""
    return 0.0 if rate == 0.0 else special.gamma(x) * digamma(x) * rate


@tangent_of(special.log_of_gamma)
def log_of_gamma_tangent(x, rate):
    """The tangent of the logarithm of the absolute value of the gamma function."""
    return 0.0 if rate == 0.0 else digamma(x) * rate


def interp_line(x, xp, fp):
    """Interpolate as `functions.interp`, at a node on the line behind it; at the last one before it."""
    count = len(xp)
    if x < xp[0] or count == 1:
        return fp[0] * 1.0
    if x > xp[count - 1]:
        return fp[count - 1] * 1.0
    i, end = 0, count - 1
    while end - i > 1:
        middle = (i + end) // 2
        if x < xp[middle]:
            end = middle
        else:
            i = middle
    return fp[i] + (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i])


FOLLOWED_AS = {functions.interp: interp_line}
"""By function: the function that is differentiated in its place."""

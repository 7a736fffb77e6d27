"""Functions of `math` that the C library has not, or computes otherwise, written in the language itself.

`gamma` and `log_of_gamma` are CPython's (Modules/mathmodule.c), operation by operation, so the bits are those
of `math.gamma` and `math.lgamma`; where these raise, they are NaN or infinite.
"""

import math

G = 6.024680040776729583740234375
G_MINUS_HALF = 5.524680040776729583740234375
LOG_PI = 1.144729885849400174143427351353058711647
NUMERATOR = (
    23531376880.410759688572007674451636754734846804940,
    42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843,
    17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708,
    1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801,
    31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768,
    186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024,
    210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
)
DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0,
    32670.0, 1925.0, 66.0, 1.0,
)  # fmt: skip
FACTORIALS = tuple(float(math.factorial(n)) for n in range(23))


def least(x):
    """The smallest element of a view: the first one than which no other is less."""
    if len(x) == 0:
        raise ValueError("min() of a view without elements")
    lowest = x[0]
    for i in range(1, len(x)):
        lowest = min(lowest, x[i])
    return lowest


def greatest(x):
    """The largest element of a view: the first one than which no other is greater."""
    if len(x) == 0:
        raise ValueError("max() of a view without elements")
    highest = x[0]
    for i in range(1, len(x)):
        highest = max(highest, x[i])
    return highest


def greatest_common_divisor(a, b):
    """The greatest common divisor of two whole numbers, not negative."""
    a, b = abs(a), abs(b)
    while b != 0:
        a, b = b, a % b
    return a


def _lanczos_sum(x):
    above = 0.0
    below = 0.0
    if x < 5.0:
        for i in range(12, -1, -1):
            above = above * x + NUMERATOR[i]
            below = below * x + DENOMINATOR[i]
    else:
        for i in range(13):
            above = above / x + NUMERATOR[i]
            below = below / x + DENOMINATOR[i]
    return above / below


def _sine_of_pi_times(x):
    y = math.fmod(abs(x), 2.0)
    n = math.floor(2.0 * y + 0.5)
    r = math.sin(math.pi * (y - 2.0))
    if n == 0:
        r = math.sin(math.pi * y)
    elif n == 1:
        r = math.cos(math.pi * (y - 0.5))
    elif n == 2:
        r = math.sin(math.pi * (1.0 - y))
    elif n == 3:
        r = -math.cos(math.pi * (y - 1.5))
    return math.copysign(1.0, x) * r


def gamma(x):
    """The gamma function."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf:
        return math.nan
    if x == 0.0:
        return math.copysign(math.inf, x)
    if x == math.floor(x):
        if x < 0.0:
            return math.nan
        if x <= 23.0:
            return FACTORIALS[int(x) - 1]
    size = abs(x)
    if size < 1e-20:
        return 1.0 / x
    if size > 200.0:
        return 0.0 / _sine_of_pi_times(x) if x < 0.0 else math.inf
    y = size + G_MINUS_HALF
    z = (y - size) - G_MINUS_HALF if size > G_MINUS_HALF else (y - G_MINUS_HALF) - size
    z = z * G / y
    if x < 0.0:
        r = -math.pi / _sine_of_pi_times(size) / size * math.exp(y) / _lanczos_sum(size)
        r -= z * r
        if size < 140.0:
            r /= math.pow(y, size - 0.5)
        else:
            root = math.pow(y, size / 2.0 - 0.25)
            r /= root
            r /= root
    else:
        r = _lanczos_sum(size) / math.exp(y)
        r += z * r
        if size < 140.0:
            r *= math.pow(y, size - 0.5)
        else:
            root = math.pow(y, size / 2.0 - 0.25)
            r *= root
            r *= root
    return r


def log_of_gamma(x):
    """The logarithm of the size of the gamma function."""
    if math.isnan(x):
        return x
    if math.isinf(x):
        return math.inf
    if x == math.floor(x) and x <= 2.0:
        return math.inf if x <= 0.0 else 0.0
    size = abs(x)
    if size < 1e-20:
        return -math.log(size)
    r = math.log(_lanczos_sum(size)) - G
    r += (size - 0.5) * (math.log(size + G - 0.5) - 1.0)
    if x < 0.0:
        r = LOG_PI - math.log(abs(_sine_of_pi_times(size))) - math.log(size) - r
    return r

"""A linear system as a quotient of polynomials."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import cosim


def first_rate(source, denominator, x):
    """The rate of the first state, 1/s of its unit: the source less the weighted states."""
    total = last_or_one(denominator) * source
    for i in range(len(x)):
        total -= denominator[i + 1] * x[i]
    return total / denominator[0]


def state_weight(numerator, denominator, order, i):
    """The coefficient of state i in the value, before it is scaled."""
    through = coefficient(numerator, order, 0) / denominator[0]
    return coefficient(numerator, order, i + 1) - through * denominator[i + 1]


def value_of_states(numerator, denominator, x):
    """The part of the value that the states make; the rest is the source's at once."""
    n = len(x)
    total = 0.0
    for i in range(n):
        total += state_weight(numerator, denominator, n, i) * x[i]
    return total / last_or_one(denominator)


def rate_of_states(numerator, denominator, x, source):
    """The rate of `value_of_states`: each state is the rate of the next one."""
    n = len(x)
    total = 0.0
    total += state_weight(numerator, denominator, n, 0) * first_rate(source, denominator, x)
    for i in range(1, n):
        total += state_weight(numerator, denominator, n, i) * x[i - 1]
    return total / last_or_one(denominator)


def first_is_not_zero(denominator: Any) -> Any:
    """The coefficients as they are; ``ValueError`` if they are of order 0 or begin with 0."""
    if isinstance(denominator, (list, tuple, np.ndarray)):
        if len(denominator) < 2:
            raise ValueError(f"denominator has {len(denominator)} elements, needs at least two (order 1)")
        if float(denominator[0]) == 0.0:
            raise ValueError("denominator begins with 0: leave the powers out that are not there")
    return denominator


def coefficient(numerator, order, i):
    """Coefficient i of the numerator, padded with leading zeros to the order of the denominator."""
    missing = order + 1 - len(numerator)
    return 0.0 if i < missing else numerator[i - missing]


def last_or_one(denominator):
    """The scale of the states: the last coefficient, so that the last state settles at the source; else 1."""
    last = denominator[len(denominator) - 1]
    return last if last != 0.0 else 1.0


def without_zeros(numerator: Any) -> Any:
    """The coefficients without leading zeros: with them the value would count as following at once."""
    if isinstance(numerator, (list, tuple, np.ndarray)):
        numerator = list(numerator)
        while len(numerator) > 1 and not isinstance(numerator[0], str) and float(numerator[0]) == 0.0:
            del numerator[0]
    return numerator


class TransferFunction(cosim.Measure):
    """A linear system as a quotient of polynomials of s.

    Law: value = numerator(s) / denominator(s) source, where ``[b0, b1, …, bm]`` stands for b0 s^m + … + bm,
    and m is not above the order n of the denominator. It is realized in controller canonical form, with
    states that are scaled by the last coefficient of the denominator where that is not 0: then the last
    state is the source in the steady state. The derivative is known where that of the source is, or m < n.

    Limits: the source is a number. Coefficients far apart from each other (orders above 10) lose digits:
    put several of them in a row. Only where m = n the value depends on the source at once; a loop through
    another one is not an algebraic loop.

    Parameters
    ----------
    source : measure or path of a signal
    numerator : array_like, shape (m+1,), in the unit of the value by that of the source
        Highest power of s first; s is in 1/s.
    denominator : array_like, shape (n+1,), n >= 1
        Likewise; the first one is not 0.
    starts_steady : bool
        Whether it begins in the steady state of the source's first value, where there is one; else with
        the states `x`.
    x : float or array_like, shape (n,)
        Start value of the states.

    Raises
    ------
    ModelError
        A numerator of a higher order than the denominator; a denominator that begins with 0.

    References
    ----------
    Modelica Standard Library, block ``Continuous.TransferFunction`` (b, a, x_start), for form and scaling.

    Examples
    --------
    >>> TransferFunction(source="force", numerator=["2 mm/N"], denominator=[1.0, 0.4, 4.0]).x.tolist()
    [0.0, 0.0]
    """

    elementwise = False
    conditions: ClassVar[dict[str, Any]] = {"feeds_through": lambda part: part.feeds_through}

    source = cosim.source(description="what goes in")
    numerator = cosim.parameter(
        shape="zeros", convert=without_zeros, description="coefficients, highest power first"
    )
    denominator = cosim.parameter(
        unit="1", shape="order+1", convert=first_is_not_zero, description="coefficients, highest power first"
    )
    starts_steady = cosim.option(False, description="whether it begins in the steady state")
    x = cosim.auxiliary_state(shape="order", description="states, the last one changes slowest")
    value = cosim.cache_slot(unit="{numerator}.{source}", description="what comes out")
    value_dot2 = None
    value_dot3 = None

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        above, order = self.values.numbers["numerator"].size - 1, self.values.numbers["x"].size
        if above > order:
            raise cosim.ModelError.of(
                "numerator",
                f"numerator is of order {above}, denominator of order {order}: that would differentiate the "
                "source; raise the order of the denominator",
            )

    @property
    def feeds_through(self) -> bool:
        """Whether the value depends on the source at once."""
        return self.values.numbers["numerator"].size == self.values.numbers["denominator"].size

    @cosim.kernel
    def derivatives(source, denominator, x, x_dot):
        x_dot[0] = first_rate(source, denominator, x)
        for i in range(1, len(x)):
            x_dot[i] = x[i - 1]

    @cosim.kernel(unless="feeds_through")
    def output(numerator, denominator, x, value):
        value[0] = value_of_states(numerator, denominator, x)

    @cosim.kernel(when="feeds_through")
    def output_at_once(source, numerator, denominator, x, value):
        through = numerator[0] / denominator[0]
        value[0] = value_of_states(numerator, denominator, x) + through * source

    @cosim.kernel(unless="feeds_through")
    def output_rate(source, numerator, denominator, x, value_dot):
        value_dot[0] = rate_of_states(numerator, denominator, x, source)

    @cosim.kernel(when="feeds_through")
    def output_rate_at_once(source, source_dot, numerator, denominator, x, value_dot):
        through = numerator[0] / denominator[0]
        value_dot[0] = rate_of_states(numerator, denominator, x, source) + through * source_dot

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(source, denominator, starts_steady, x, x_next):
        n = len(x)
        if starts_steady != 0.0 and denominator[n] != 0.0:
            for i in range(n):
                x_next[i] = 0.0
            x_next[n - 1] = source

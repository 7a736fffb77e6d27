"""Logic of two signals."""

from __future__ import annotations

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant
from cosim_signals.logic_level import TRUE_ABOVE, is_true, logic_level

AND, OR, XOR, NAND, NOR = 0.0, 1.0, 2.0, 3.0, 4.0


class Logic(PiecewiseConstant):
    """And, or, exclusive or, and their negations, of two signals that are true or false.

    Law: value = 1 or 0. A signal is true above one half; `signals.comparison` and `signals.hysteresis` give 1
    and 0. Where one becomes true or false is an event (Triggered), located in time. The negation of a
    single signal is "nand" or "nor" with itself.

    Limits: scalar signals only.

    Parameters
    ----------
    first, second : measure or path of a signal
    operator : "and", "or", "xor", "nand" or "nor"

    References
    ----------
    Modelica Standard Library, blocks ``Logical.And``, ``Or``, ``Xor``, ``Nand``, ``Nor`` and ``Not``.

    Examples
    --------
    >>> Logic(first="hot", second="on", operator="nand").operator
    'nand'
    """

    elementwise = False

    announces_kinks = True

    first = cosim.source(description="first operand")
    second = cosim.source(description="second operand")
    operator = cosim.option(
        "and", choices=("and", "or", "xor", "nand", "nor"), description="logical operator"
    )
    first_is_true = cosim.discrete(dtype=int, description="level of the first operand: 0 or 1")
    second_is_true = cosim.discrete(dtype=int, description="level of the second operand: 0 or 1")
    value = cosim.cache_slot(unit="1", description="result: 1 or 0")

    @cosim.kernel
    def join(first, second, first_is_true, second_is_true, operator, value):
        total = logic_level(first, first_is_true) + logic_level(second, second_is_true)
        if operator == AND:
            value[0] = 1.0 if total == 2 else 0.0
        elif operator == OR:
            value[0] = 1.0 if total > 0 else 0.0
        elif operator == XOR:
            value[0] = 1.0 if total == 1 else 0.0
        elif operator == NAND:
            value[0] = 1.0 if total < 2 else 0.0
        else:
            value[0] = 1.0 if total == 0 else 0.0

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(first, second, first_is_true_next, second_is_true_next):
        first_is_true_next[0] = is_true(first)
        second_is_true_next[0] = is_true(second)

    @cosim.witness(direction="rising")
    def first_rises(first):
        return first - TRUE_ABOVE

    @cosim.on(first_rises, does="discrete")
    def first_becomes_true(first_is_true_next):
        first_is_true_next[0] = 1

    @cosim.witness(direction="falling")
    def first_falls(first):
        return first - TRUE_ABOVE

    @cosim.on(first_falls, does="discrete")
    def first_becomes_false(first_is_true_next):
        first_is_true_next[0] = 0

    @cosim.witness(direction="rising")
    def second_rises(second):
        return second - TRUE_ABOVE

    @cosim.on(second_rises, does="discrete")
    def second_becomes_true(second_is_true_next):
        second_is_true_next[0] = 1

    @cosim.witness(direction="falling")
    def second_falls(second):
        return second - TRUE_ABOVE

    @cosim.on(second_falls, does="discrete")
    def second_becomes_false(second_is_true_next):
        second_is_true_next[0] = 0

"""Where runs of implicit methods begin and go on after a jump, as kernel functions."""

from __future__ import annotations

from cosim_integrators.implicit.layout import AGE, CONVERGENCE, LAST, METHOD_AT, ORDER, sizes_in
from cosim_integrators.kit.begin import begin_steps, restart_steps
from cosim_integrators.kit.state_sizes import begin_sizes


def begin_implicit_steps(
    table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
):
    """As `begin_steps`; nothing is known of Newton's convergence, nor of the sizes of the states."""
    code = begin_steps(table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots)
    memory[CONVERGENCE] = 1.0
    n = y.shape[0]
    begin_sizes(settings, sizes_in(memory, method, n), n)
    return code


def restart_implicit_steps(
    table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
):
    """As `restart_steps`: the past is forgotten, the length of the step and the Jacobian are not.

    If the step turns out to be too long, error control rejects it; if the Jacobian has become wrong, Newton's
    method converges slowly and has it made again.
    """
    code = restart_steps(table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots)
    memory[LAST] = 0.0
    memory[CONVERGENCE] = 1.0
    memory[AGE] = min(1.0, memory[AGE])
    return code


def begin_second_order_form(
    table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
):
    """As `begin_implicit_steps`, for a method whose numbers begin with the lengths of q and u.

    Whether q' = u has failed somewhere stands in place of the order; it cannot hold where the lengths differ.
    """
    code = begin_implicit_steps(
        table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots
    )
    memory[ORDER] = 1.0 if method[METHOD_AT] != method[METHOD_AT + 1] else 0.0
    return code

"""Copies of the variables, and going back to them."""

from __future__ import annotations

from cosim.run_data.records.handlers import IN_D, IN_K, IN_P, IN_Y
from cosim.run_data.run import Integers, Reals, Run, Variables
from cosim.step.block_calls import UNTOUCHED, follow_change, mark_change


def different(left: float, right: float) -> bool:
    """Whether two numbers differ; NaN is equal to NaN."""
    return left != right and (left == left or right == right)


def copy_reals(source: Reals, target: Reals) -> None:
    """Write numbers over others."""
    for m in range(source.shape[0]):
        target[m] = source[m]


def save_variables(run: Run, copy: Variables) -> None:
    """Write the present variables into a copy."""
    copy_reals(run.y, copy.y)
    copy_reals(run.p, copy.p)
    copy_reals(run.d, copy.d)
    for m in range(run.k.shape[0]):
        copy.k[m] = run.k[m]


def restore_variables(run: Run, copy: Variables) -> bool:
    """Make the variables those of a copy, and mark the rows that read them; whether one has changed."""
    lowest = restore_reals(run, IN_Y, copy.y, run.y)
    lowest = min(lowest, restore_reals(run, IN_P, copy.p, run.p))
    lowest = min(lowest, restore_reals(run, IN_D, copy.d, run.d))
    lowest = min(lowest, restore_integers(run, copy.k))
    if lowest != UNTOUCHED:
        follow_change(run, lowest)
    return lowest != UNTOUCHED


def restore_reals(run: Run, array: int, source: Reals, target: Reals) -> int:
    """Write numbers over variables; the lowest stage that this invalidates."""
    lowest = UNTOUCHED
    for m in range(target.shape[0]):
        if different(target[m], source[m]):
            target[m] = source[m]
            lowest = min(lowest, mark_change(run, array, m))
    return lowest


def restore_integers(run: Run, source: Integers) -> int:
    """Restore the integers of the saved variables."""
    lowest = UNTOUCHED
    for m in range(run.k.shape[0]):
        if run.k[m] != source[m]:
            run.k[m] = source[m]
            lowest = min(lowest, mark_change(run, IN_K, m))
    return lowest


def copied_value(copy: Variables, array: int, offset: int) -> float:
    """A variable in a copy."""
    if array == IN_K:
        return float(copy.k[offset])
    if array == IN_Y:
        return copy.y[offset]
    return copy.p[offset] if array == IN_P else copy.d[offset]


def set_copied(copy: Variables, array: int, offset: int, value: float) -> None:
    """Write a variable into a copy."""
    if array == IN_K:
        copy.k[offset] = int(value)
    elif array == IN_Y:
        copy.y[offset] = value
    elif array == IN_P:
        copy.p[offset] = value
    else:
        copy.d[offset] = value

"""The difference between courses of one signal: public, for all packages that compare runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Values = NDArray[Any]

MOST_DIGITS = 15.0
ALL_WHOLE = 2.0**53
"""From this size on every real is a whole number, so being whole does not mean being a count."""
PROMISED = 10.0
"""Accuracies: the largest error that the methods promise, over the largest value of a signal."""
LAST_PART = 0.05
"""Last part of a run, over which the size of a signal at the end is measured."""
DIGITS_AT_END = 2.0
"""Digits of the size at the end that have to agree."""
DIGITS_OF_NONZERO = 0.5
"""Digits to which a value below the promised error has to agree, else it may be zero."""
VISIBLE_MOVE = 1e-3
"""Part of a signal by which it may move because the method chooses other steps."""
GROSS = 0.01
"""Part of the largest value of a signal by which a decision changes it at least."""
ONE_SIDED = 0.5
"""Part of the larger change that remains in the sum of two changes, where they are not equal and opposite."""
LASTING = 3
"""Output points at which a decision shows, or a tenth of them where there are few."""
RESOLVED = 0.01
"""Accuracies, relative to the largest value of a signal: smaller values are not resolved, since the absolute
part of a tolerance is a thousandth of the relative one."""


class Difference(NamedTuple):
    """The difference between two courses of one signal.

    Attributes
    ----------
    largest : float
        In the unit of the signal; infinite where text or counts differ, or one alone is not a number.
    time : float
        The time of the difference, s; of counts or texts the first such time; NaN if there is none.
    at_end : float
        The largest one in the last twentieth of the run.
    """

    largest: float
    time: float
    at_end: float


def are_counted(courses: Sequence[Values]) -> bool:
    """Whether these are courses of counts, modes, truths or texts, which have to be equal."""
    for values in courses:
        if values.dtype == object or values.dtype == np.bool_:
            continue
        finite = values[np.isfinite(values)]
        if finite.size and (np.any(finite != np.rint(finite)) or np.abs(finite).max() >= ALL_WHOLE):
            return False
    return True


def size_of(values: Values) -> float:
    """The largest magnitude of a course; 0 of text."""
    if values.dtype == object:
        return 0.0
    numbers = values.astype(np.float64, copy=False)
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0))


def at_the_end(times: Reals) -> NDArray[np.bool_]:
    """Whether times lie in the last twentieth of a run."""
    if not times.size:
        return np.zeros(0, dtype=np.bool_)
    is_late: NDArray[np.bool_] = times >= times[-1] - LAST_PART * (times[-1] - times[0])
    return is_late


def difference_of(
    times: Reals, values: Values, other_values: Values, counted: bool, hidden: NDArray[np.bool_] | None = None
) -> Difference:
    """The difference between two courses.

    Parameters
    ----------
    times : ndarray, shape (n,), s
    values, other_values : ndarray, shape (n,)
    counted : bool
        Whether they have to be equal, as `are_counted` says.
    hidden : ndarray of bool, shape (n,), optional
        Where they are not compared: between the times at which the same event happens in the two runs.
    """
    if values.dtype == object or other_values.dtype == object:
        distance = np.where(values == other_values, 0.0, math.inf)
    else:
        a, b = values.astype(np.float64, copy=False), other_values.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
        distance[np.isnan(distance)] = math.inf
        if counted:
            distance[distance > 0.0] = math.inf
    if hidden is not None:
        distance[hidden] = 0.0
    if not distance.any():
        return Difference(0.0, math.nan, 0.0)
    worst = int(np.argmax(distance))  # the first one of equals
    return Difference(
        float(distance[worst]), float(times[worst]), float(distance[at_the_end(times)].max(initial=0.0))
    )


def decision_time(
    times: Reals, values: Values, moved: Sequence[Values], size: float, hidden: Sequence[NDArray[np.bool_]]
) -> float:
    """The time from which a signal differs because a decision was made differently; NaN if none was.

    A smooth signal answers two opposite moves of its start by opposite changes. After a decision, a moved
    start changes it by much, and the opposite move does not change it the other way.

    Parameters
    ----------
    times : ndarray, shape (n,), s
    values : ndarray, shape (n,)
        From the original start.
    moved : sequence of ndarray
        From the two starts that were moved up and down; one alone shows no decision.
    size : float
        The largest magnitude of the signal.
    hidden : sequence of ndarray of bool, shape (n,)
        Where each of them is not compared, as for `difference_of`.
    """
    if len(moved) != 2:
        return math.nan
    is_text = any(course.dtype == object for course in (values, *moved))
    if is_text:
        up, down = (np.where(course == values, 0.0, 1.0) for course in moved)
        size = 1.0
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            up, down = (course.astype(np.float64) - values for course in moved)
    up[hidden[0] | hidden[1]] = down[hidden[0] | hidden[1]] = 0.0
    larger = np.maximum(np.abs(up), np.abs(down))
    decided = (larger > GROSS * size) & (np.abs(up + down) > ONE_SIDED * larger)
    if np.count_nonzero(decided) < min(LASTING, times.size // 10 + 1):
        return math.nan
    return float(times[int(np.argmax(decided))])


def digits_of(difference: float, size: float) -> float:
    """Digits of a size that a difference leaves: ``-log10(difference / size)``, from 0 to 15."""
    if difference == 0.0:
        return MOST_DIGITS
    if not (size > 0.0 and math.isfinite(difference)):
        return 0.0
    return min(max(math.log10(size) - math.log10(difference), 0.0), MOST_DIGITS)


class Standing(StrEnum):
    """The verdict on the digits of a signal."""

    AGREES = "agrees"
    GROWS = "grows"
    """The signal agrees as far as the problem allows, which multiplies errors of the start."""
    ZERO_AT_END = "zero at the end"
    ROUNDING_LEVEL = "at rounding level"
    DIFFERS = "differs"
    DIFFERS_AT_END = "differs at the end"
    SENSITIVE = "sensitive"
    """The signal differs as much as after a change of the start by rounding, or by an accuracy."""

    @property
    def is_doubtful(self) -> bool:
        """Whether the runs agree less than the accuracy promises."""
        return self in (Standing.DIFFERS, Standing.DIFFERS_AT_END, Standing.SENSITIVE)


@dataclass(frozen=True)
class Agreement:
    """The agreement of all runs about one signal.

    Attributes
    ----------
    signal : str
        Path of the signal, or "time of" a handler of events.
    digits : float
        ``-log10`` of the largest difference of two runs at one time over the largest value of the signal
        in the run; 0 to 15. Counts, modes and texts agree to 15 digits or to 0.
    odd : str
        Name of the run without which the others agree to more digits; empty when there is none.
    digits_without : float
        To how many then.
    size : float
        The largest value of the signal, in its unit.
    time : float
        The time of the largest difference, s; NaN if there is none.
    digits_at_end : float
        The same in the last twentieth of the run, over the largest value that the signal has there.
    size_at_end : float
        That value.
    moved_by_rounding : float
        By how much the signal moves when its start is moved by rounding, over its largest value.
    growth : float
        How many times what a start is moved by shows in the signal; 1 unless it was tried.
    decided_at : float
        The time from which the signal is another one after a start moved by an accuracy, since a decision
        falls otherwise, s; NaN if none does.
    standing : Standing
        The verdict on the signal.
    """

    signal: str
    digits: float
    odd: str = ""
    digits_without: float = math.nan
    size: float = math.nan
    time: float = math.nan
    digits_at_end: float = MOST_DIGITS
    size_at_end: float = math.nan
    moved_by_rounding: float = 0.0
    growth: float = 1.0
    decided_at: float = math.nan
    standing: Standing = Standing.AGREES

    @property
    def is_doubtful(self) -> bool:
        """Whether the runs agree less about the signal than its accuracy promises."""
        return self.standing.is_doubtful


def standing_of(
    agreement: Agreement, accuracy: float, at_rounding_level: bool = False, states_stay: bool = False
) -> Standing:
    """The verdict on the digits of a signal, for a run with an accuracy; see `Standing`.

    Parameters
    ----------
    agreement : Agreement
    accuracy : float
    at_rounding_level : bool
        Whether the signal is nothing but rounding of others.
    states_stay : bool
        Whether no state of the run grows away when the start is moved by rounding: that a signal moves a
        little then comes from the method, which chooses other steps.
    """
    standing = _standing_by_digits(agreement, accuracy, states_stay)
    if at_rounding_level and standing.is_doubtful:
        return Standing.AGREES if agreement.digits == MOST_DIGITS else Standing.ROUNDING_LEVEL
    return standing


def _standing_by_digits(agreement: Agreement, accuracy: float, states_stay: bool) -> Standing:
    """The standing of a signal that is more than rounding, by its digits."""
    promised = promised_digits(accuracy)
    deviation = 10.0**-agreement.digits if agreement.digits < MOST_DIGITS else 0.0
    if agreement.moved_by_rounding > (max(VISIBLE_MOVE, 10.0**-promised) if states_stay else 10.0**-promised):
        return Standing.SENSITIVE
    if agreement.digits < promised:
        explained = agreement.growth * accuracy
        if deviation <= explained <= 10.0 ** -min(DIGITS_AT_END, promised):
            return Standing.GROWS
        grows = agreement.growth > PROMISED and deviation <= PROMISED * explained
        return Standing.SENSITIVE if grows else Standing.DIFFERS
    if agreement.digits_at_end < min(DIGITS_AT_END, promised):
        ratio = agreement.size_at_end / (accuracy * agreement.size)
        is_zero = ratio <= RESOLVED or (ratio <= PROMISED and agreement.digits_at_end < DIGITS_OF_NONZERO)
        return Standing.ZERO_AT_END if is_zero else Standing.DIFFERS_AT_END
    return Standing.AGREES if math.isnan(agreement.decided_at) else Standing.SENSITIVE


def promised_digits(accuracy: float) -> float:
    """Digits of its largest value to which a signal is promised at an accuracy; one at least."""
    return max(1.0, -math.log10(PROMISED * accuracy))

"""Compares results of a run with the references of an experiment.

Nothing but the standard library is used, as in `experiments`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from cosim_fmi.validate.experiments import Experiment


def at_time(series: Mapping[str, Sequence[float]], name: str, time: float, *, is_linear: bool) -> float:
    """The value of a signal at a time, s: on a straight line between rows, or that of the row before.

    Where two rows have this time (a jump), the second one counts.

    Examples
    --------
    >>> at_time({"time": [0.0, 1.0], "u": [0.0, 2.0]}, "u", 0.25, is_linear=True)
    0.5
    >>> at_time({"time": [0.0, 1.0], "u": [0.0, 2.0]}, "u", 0.25, is_linear=False)
    0.0
    """
    times, values = series["time"], series[name]
    small = 1e-9 * max(abs(time), 1e-9)
    after = bisect_right(times, time + small)
    if after == 0 or after == len(times) or not is_linear or times[after - 1] >= time - small:
        return values[max(after - 1, 0)]
    begin, end = times[after - 1], times[after]
    return values[after - 1] + (time - begin) / (end - begin) * (values[after] - values[after - 1])


def disagreements(
    experiment: Experiment, results: Mapping[str, Sequence[float]], reals: Sequence[str]
) -> Iterator[str]:
    """A sentence for each signal that differs from its reference in the experiment.

    Parameters
    ----------
    experiment : dict
    results : mapping of str to sequence of float
        By name, "time" among them.
    reals : sequence of str
        Signals that are compared with a tolerance; others have to be equal.
    """
    references = experiment["references"]
    for name, values in references.items():
        if name == "time":
            continue
        finite = [value for value in values if math.isfinite(value)]
        size = max(finite, default=0.0) - min(finite, default=0.0) or max(map(abs, finite), default=0.0)
        bound = experiment["relative"] * size if name in reals else 0.0
        worst, where = 0.0, 0.0
        for time, expected in zip(references["time"], values, strict=True):
            value = at_time(results, name, time, is_linear=name in reals)
            is_same = value == expected or (value != value and expected != expected)
            error = 0.0 if is_same else abs(value - expected)
            if not error <= worst:
                worst, where = error, time
        if not worst <= bound:
            allowed = f"{bound:.3g}" if name in reals else "nothing"
            yield f"{name} differs from its reference by {worst:.3g} at t = {where:.9g} s, allowed: {allowed}"

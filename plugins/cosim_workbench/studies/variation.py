"""The variation of a variable between the points of a study."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

CALL = re.compile(r"^\s*(\w+)\s*\((.*)\)\s*$", re.DOTALL)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
SEED = "seed"
FORMS = '"1e5..3e5:21", "1e5..3e5:log", "1, 2, 5", "normal(2e5, 1e4)"'
MOST_LEVELS = 10_000_000


@dataclass(frozen=True)
class Variation:
    """The values that a variable may take, in its unit.

    Attributes
    ----------
    path : str
    levels : tuple of float
        The levels of a grid or a list; empty for a distribution.
    distribution : object, optional
        Its ``ppf(share)`` gives a value: a frozen distribution of `scipy.stats`.
    is_seed : bool
        The value is the seed of the point.
    """

    path: str
    levels: tuple[float, ...] = ()
    distribution: Any = None
    is_seed: bool = False

    def drawn(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values for shares from 0 to 1: quantiles of the distribution, or one of the levels each."""
        if self.distribution is not None:
            return np.asarray(self.distribution.ppf(shares), dtype=np.float64)
        numbers = np.minimum((shares * len(self.levels)).astype(np.int64), len(self.levels) - 1)
        return np.array(self.levels)[numbers]


def read_variation(path: str, typed: Any, unit: str) -> Variation:
    """A variation as people write it.

    Parameters
    ----------
    path : str
    typed : str, sequence or distribution
        ``"1e5..3e5:21"`` (a grid of 21 values; with ``:log`` spaced by factors), ``"1e5..3e5"`` (anything
        between, for samples), ``"1, 2, 5"``, ``"normal(2e5, 1e4)"`` (mean and standard deviation; also
        uniform, loguniform, lognormal, triangular, and what `scipy.stats` has, with its own arguments),
        ``"seed"``. Numbers may have units. Or a list of values, or a frozen distribution of `scipy.stats`.
    unit : str
        The unit of the variable.

    Raises
    ------
    ModelError
        It is none of these.
    """
    try:
        if hasattr(typed, "ppf"):
            return Variation(path, distribution=typed)
        if isinstance(typed, str):
            return _of_text(path, typed.strip(), unit)
        values = [typed] if isinstance(typed, (int, float)) else list(typed)
        return Variation(path, levels=tuple(cosim.parse_quantity(_plain(v), unit) for v in values))
    except (cosim.UnitError, ValueError, TypeError) as error:
        raise cosim.ModelError.of(path, f"{typed!r}: {str(error).rstrip('.')}. Write {FORMS}") from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _of_text(path: str, text: str, unit: str) -> Variation:
    if text == SEED:
        return Variation(path, is_seed=True)
    call = CALL.match(text)
    if call is not None:
        arguments = [argument for argument in call[2].split(",") if argument.strip()]
        return Variation(path, distribution=_distribution(call[1], arguments, unit))
    if ".." in text:
        return _of_range(path, text, unit)
    values = tuple(cosim.parse_quantity(item.strip(), unit) for item in text.split(","))
    if not all(map(math.isfinite, values)):
        raise ValueError("needs finite numbers")
    return Variation(path, levels=values)


def _of_range(path: str, text: str, unit: str) -> Variation:
    ends, *options = text.split(":")
    low, high = (cosim.parse_quantity(end.strip(), unit) for end in ends.split("..", 1))
    is_log = "log" in (item.strip() for item in options)
    counts = [item for item in options if item.strip() != "log"]
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError("a range goes from a number to a larger one")
    if is_log and low <= 0.0:
        raise ValueError("a range that is spaced by factors needs numbers greater than 0")
    if len(counts) > 1:
        raise ValueError("there is one count behind a range")
    if not counts:
        return Variation(path, distribution=_between(low, high, is_log))
    count = int(counts[0])
    if not 2 <= count <= MOST_LEVELS:
        raise ValueError(f"a grid has from 2 to {MOST_LEVELS} values")
    spaced = np.geomspace(low, high, count) if is_log else np.linspace(low, high, count)
    return Variation(path, levels=tuple(spaced.tolist()))


def _between(low: float, high: float, is_log: bool) -> Any:
    from scipy import stats

    return stats.loguniform(low, high) if is_log else stats.uniform(low, high - low)


def _distribution(name: str, texts: Sequence[str], unit: str) -> Any:
    from scipy import stats

    counts = {"uniform": 2, "loguniform": 2, "normal": 2, "lognormal": 2, "triangular": 3}
    if name in counts:
        if len(texts) != counts[name]:
            raise ValueError(f"{name} has {len(texts)} numbers, needs {counts[name]}")
        return _usual_distribution(name, [text.strip() for text in texts], unit)
    distribution: Any = getattr(stats, name, None)
    if not hasattr(distribution, "ppf"):
        names = [*counts, *(n for n in dir(stats) if hasattr(getattr(stats, n), "ppf"))]
        raise cosim.ModelError.of("", str(cosim.LookUpError("distribution", name, names)))
    numbers = [text for text in texts if "=" not in text]
    named = dict(text.split("=", 1) for text in texts if "=" in text)
    return distribution(*map(float, numbers), **{key.strip(): float(value) for key, value in named.items()})


def _usual_distribution(name: str, texts: Sequence[str], unit: str) -> Any:
    """A distribution with numbers in the unit of the variable, as many as `_distribution` has counted."""
    from scipy import stats

    if name in ("normal", "lognormal"):
        middle = cosim.parse_quantity(texts[0], unit)
        is_log = name == "lognormal"
        deviation = cosim.parse_quantity(texts[1], "1") if is_log else parse_difference(texts[1], unit)
        if not deviation > 0.0 or (is_log and middle <= 0.0):
            raise ValueError(f"{name} needs a deviation greater than 0")
        return stats.lognorm(deviation, scale=middle) if is_log else stats.norm(middle, deviation)
    numbers = [cosim.parse_quantity(text, unit) for text in texts]
    if name == "triangular":
        low, peak, high = numbers
        if not low <= peak <= high or not low < high:
            raise ValueError("triangular has the least, the most frequent and the greatest value")
        return stats.triang((peak - low) / (high - low), low, high - low)
    low, high = numbers
    if not low < high or (name == "loguniform" and low <= 0.0):
        raise ValueError(f"{name} goes from a number to a larger one")
    return _between(low, high, name == "loguniform")


def parse_difference(difference: Any, unit: str) -> float:
    """A difference of two quantities, such as a deviation: without the offset that a unit may have.

    Examples
    --------
    >>> parse_difference("5 degC", "K"), parse_difference("2 mm", "m"), parse_difference(3.0, "m")
    (5.0, 0.002, 3.0)
    """
    if not isinstance(difference, str):
        return float(difference)
    nothing = NUMBER.sub("0", difference, count=1)
    return cosim.parse_quantity(difference.strip(), unit) - cosim.parse_quantity(nothing.strip(), unit)

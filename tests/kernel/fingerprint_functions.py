"""Functions whose digests tests compare: laws with a closure, and a function that reads a table."""

from __future__ import annotations

import types
from typing import NamedTuple

import numpy as np


class Pair(NamedTuple):
    """Two values of any kind."""

    first: object
    second: object


def law(stiffness):
    """A function; all of them have one name and one code."""

    def force(x):
        return stiffness * x

    return force


soft, stiff = law(1.0), law(2.0)


TABLES = (np.arange(2000.0), np.zeros(3))


def looked_up(x):
    return TABLES[0][1234] * x


def with_globals(function, **namespace):
    """The same function with other globals."""
    return types.FunctionType(function.__code__, {**function.__globals__, **namespace}, function.__name__)


def with_values(value):
    """The function that reads a table, with another value in place of its tables."""
    return with_globals(looked_up, TABLES=value)


active = soft


def chosen(x):
    return soft(x) * 0.0 + stiff(x) * 0.0 + active(x)

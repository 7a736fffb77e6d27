"""A process: writes digests of functions that reach sets, objects, closures and others without an order."""

import enum
import json
import math
import sys
import threading
from typing import NamedTuple

import numpy as np

LOCK = threading.Lock()


class Pair(NamedTuple):
    first: object
    second: object


class Mode(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


class Thing:
    """Its repr contains its address."""

    factor = 2.0

    def __init__(self):
        self.names = {"one", "two", "three"}


NAMES = frozenset({"alpha", "beta", "gamma", "delta"})
TABLES = {"names": NAMES, "pair": Pair(np.arange(3000.0), (1, [2.0, None])), "thing": Thing()}


def law(stiffness):
    def force(x):
        return stiffness * x if x not in {"a", "b", "c"} else 0.0

    return force


soft, stiff = law(1.0), law(2.0)


def user(x):
    return (
        soft(x)
        + stiff(x)
        + math.sin(x)
        + len(NAMES)
        + TABLES["thing"].factor
        + Mode.SLOW.value
        + Thing.factor
    )


def locked(x):
    return LOCK


if __name__ == "__main__":
    import fingerprint_run

    from cosim_compiler.fingerprint import fingerprint

    digests = {"user": fingerprint(fingerprint_run.user), "lock": fingerprint(fingerprint_run.locked)}
    sys.stdout.write(json.dumps(digests))

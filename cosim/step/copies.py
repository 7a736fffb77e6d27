"""Keeping y, p, d and k aside, and taking them over."""

from __future__ import annotations

from cosim.step.arrays import Arrays
from cosim.step.layout import CHANGED, IN_D, IN_K, IN_P, IN_Y
from cosim.step.touched import UNTOUCHED, follow_change, note_change


def keep(a: Arrays, at: int, at_k: int) -> None:
    """Copy y, p, d into `scratch` from `at` on, k into `places`."""
    for m in range(a.y.shape[0]):
        a.scratch[at + m] = a.y[m]
    at += a.y.shape[0]
    for m in range(a.p.shape[0]):
        a.scratch[at + m] = a.p[m]
    at += a.p.shape[0]
    for m in range(a.d.shape[0]):
        a.scratch[at + m] = a.d[m]
    for m in range(a.k.shape[0]):
        a.places[at_k + m] = a.k[m]


def different(one: float, other: float) -> bool:
    """Whether two numbers differ; NaN is equal to NaN."""
    return one != other and (one == one or other == other)


def take_over(a: Arrays, at: int, at_k: int) -> None:
    """Make the variables those that were kept or written there, and note what that changes."""
    lowest = UNTOUCHED
    for m in range(a.y.shape[0]):
        if different(a.y[m], a.scratch[at + m]):
            a.y[m] = a.scratch[at + m]
            lowest = min(lowest, note_change(a, IN_Y, m))
    at += a.y.shape[0]
    for m in range(a.p.shape[0]):
        if different(a.p[m], a.scratch[at + m]):
            a.p[m] = a.scratch[at + m]
            lowest = min(lowest, note_change(a, IN_P, m))
    at += a.p.shape[0]
    for m in range(a.d.shape[0]):
        if different(a.d[m], a.scratch[at + m]):
            a.d[m] = a.scratch[at + m]
            lowest = min(lowest, note_change(a, IN_D, m))
    for m in range(a.k.shape[0]):
        if a.k[m] != a.places[at_k + m]:
            a.k[m] = a.places[at_k + m]
            lowest = min(lowest, note_change(a, IN_K, m))
    if lowest != UNTOUCHED:
        follow_change(a, lowest)
        a.places[CHANGED] = 1

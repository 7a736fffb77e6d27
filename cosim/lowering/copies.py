"""Keeping y, p, d and k aside, and taking them over."""

from __future__ import annotations

from cosim.lowering.arrays import part
from cosim.lowering.layout import (
    CHANGED,
    INSTANCE,
    LOW_DISCRETE,
    NOTHING,
    STAGE,
)


@part("Aii>v")
def keep(a, at, at_k):
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


def different(one, other):
    """Whether two numbers differ; NaN is equal to NaN."""
    return one != other and (one == one or other == other)


@part("Aii>v")
def take_over(a, at, at_k):
    """Make the variables those that were kept or written there, and note what that changes."""
    stage = a.places[STAGE]
    changed = False
    for m in range(a.y.shape[0]):
        if different(a.y[m], a.scratch[at + m]):
            a.y[m] = a.scratch[at + m]
            stage = min(stage, INSTANCE)
            changed = True
    at += a.y.shape[0]
    for m in range(a.p.shape[0]):
        if different(a.p[m], a.scratch[at + m]):
            a.p[m] = a.scratch[at + m]
            stage = NOTHING
            changed = True
    at += a.p.shape[0]
    discrete = NOTHING if a.program[LOW_DISCRETE] != 0 else INSTANCE
    for m in range(a.d.shape[0]):
        if different(a.d[m], a.scratch[at + m]):
            a.d[m] = a.scratch[at + m]
            stage = min(stage, discrete)
            changed = True
    for m in range(a.k.shape[0]):
        if a.k[m] != a.places[at_k + m]:
            a.k[m] = a.places[at_k + m]
            stage = min(stage, discrete)
            changed = True
    a.places[STAGE] = stage
    if changed:
        a.places[CHANGED] = 1

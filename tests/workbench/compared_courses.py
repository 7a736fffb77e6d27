"""Runs with given courses and events, and what a second opinion says of them."""

from types import SimpleNamespace

import numpy as np

import cosim
from cosim import EventCause
from cosim_workbench.compared_runs import VerifiedRun
from cosim_workbench.second_opinion import SecondOpinion

TIMES = np.linspace(0.0, 1.0, 11)


def run_of(name, values, times=TIMES, events=(), moved=0.0, findings=(), **other_signals):
    """A run with a signal ``x`` and others, from a start that was moved by a share of the states."""
    signals = {"x": values, **other_signals}
    result = cosim.Result(times, signals, events=events, findings=findings)
    return VerifiedRun(name, "a method", result, start_moved_by=moved)


def compared(*runs, accuracy=1e-6, grid=TIMES, **options):
    """The second opinion of runs about the first one of them."""
    return SecondOpinion(runs, accuracy, grid, **options)


def call(time, handler="ball.bounce", cause=EventCause.TRIGGERED, does="discrete", **changes):
    """The call of a handler; `changes` has the values of each variable before and after it."""
    before = {path: values[0] for path, values in changes.items()}
    after = {path: values[1] for path, values in changes.items()}
    return SimpleNamespace(
        time=time,
        handler=handler,
        cause=cause,
        does=does,
        changed=tuple(changes),
        before=before,
        after=after,
    )

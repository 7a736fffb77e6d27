"""The common part of the work-precision scripts: the loop over problems, methods and accuracies.

A script is called with the accuracies (JSON) and the number of rounds, of which the fastest counts.
"""

import json
import sys
import time
from typing import NamedTuple

from laws import PROBLEMS, laws


class Work(NamedTuple):
    """Wall time of a run, s, the evaluations of its right-hand side, and the states at its end."""

    seconds: float
    evaluations: int
    end: list


def fastest(action, rounds):
    """The least wall time of an action, s, and its last result."""
    seconds = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        result = action()
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, result


def print_runs(program, np, methods, solve, tightest=None):
    """Run all problems with all methods at all accuracies, and print the runs.

    Parameters
    ----------
    program : str
        Name and version.
    np : module
        numpy, or one with the same functions: the right-hand sides are written with it.
    methods : sequence of str
    solve : callable
        ``solve(law, start, until, method, accuracy, rounds)`` returns a `Work`, or None where the run failed.
    tightest : dict of str to float, optional
        The tightest accuracy of a method that would take minutes beyond it.
    """
    accuracies, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
    runs = []
    for name, law in laws(np).items():
        start, until = PROBLEMS[name]
        for method in methods:
            for accuracy in accuracies:
                if accuracy < (tightest or {}).get(method, 0.0):
                    continue
                work = solve(law, start, until, method, accuracy, rounds)
                if work is not None:
                    run = {"problem": name, "method": method, "accuracy": accuracy}
                    runs.append({**run, **work._asdict()})
    print(json.dumps({"name": program, "runs": runs}))

"""Evaluations of the system that are counted in the statistics of the method."""

from __future__ import annotations


def evaluate(system, method, t):
    """Evaluate the system at a time; 0, or 1 + the index of the block that raised."""
    method.work.evaluations += 1.0
    return system.evaluate(t)


def evaluate_stage(system, method, t):
    """Evaluate the system at a time, and record the time if a block raises; returns as `evaluate`."""
    status = evaluate(system, method, t)
    if status != 0:
        method.work.failed_time = t
    return status

"""Objectives that studies name as ``study_objectives:…``."""

import time


def largest(result):
    """The largest height of a result."""
    return float(result["engine.z"].max())


def sinks(times, heights):
    """By how much a signal falls below its start value."""
    lowest = heights[0]
    for i in range(len(heights)):
        lowest = min(lowest, heights[i])
    return heights[0] - lowest


def slow(result):
    """Takes 50 ms, so that a study can be killed; 1."""
    time.sleep(0.05)
    return 1.0


def broken(result):
    """Fails where the engine is heavy."""
    if result["energy.kinetic"][-1] > 1.0:
        raise ValueError("too heavy")
    return 0.0

"""Figures of a co-simulation."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class CoSimulationStatistics:
    """What a co-simulation took.

    Attributes
    ----------
    steps : int
        Communication steps.
    events : int
        Early returns, requests to stop, and what participants that record their events report.
    retries : int
        Steps of single participants that were continued after an early return.
    wall_time : float
        s, from instantiation to the last step.
    stepping_time : float
        s, of it in the loop over the communication steps, recording included.
    participant_time : dict of str to float
        s, spent in the `step` of each participant that is called in Python (`in_python`); of those that
        compiled code calls no time is taken.
    overruns : int
        Communication points that were reached later than the real-time rate wanted.
    largest_lag : float
        By how much at most, s.
    algorithm : dict of str to float
        What the master algorithm counted: iterations, rejected steps.
    loop : str
        "compiled", and the algorithm, if it decides in Python.
    in_python : dict of str to str
        Participants that are called in Python at their place, and why.
    python_files : dict of str to str
        By participant: the Python file beside the scenario whose code it is.
    warnings : list of str
        What the user should know about the run, in sentences.
    """

    steps: int = 0
    events: int = 0
    retries: int = 0
    wall_time: float = 0.0
    stepping_time: float = 0.0
    participant_time: dict[str, float] = field(default_factory=dict)
    overruns: int = 0
    largest_lag: float = 0.0
    algorithm: dict[str, float] = field(default_factory=dict)
    loop: str = ""
    in_python: dict[str, str] = field(default_factory=dict)
    python_files: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

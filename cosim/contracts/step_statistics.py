"""Counts of what an integrator did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StepStatistics:
    """Counts of an integrator since it was made.

    Attributes
    ----------
    steps : int
        Accepted steps.
    rejections : int
        Attempts that were repeated with a smaller step.
    evaluations : int
        Evaluations of the derivative: those of the first step's choice included, and those of Jacobians.
    jacobians, factorizations, newton_failures : int
        Of implicit methods: Jacobians and factors made, attempts at which Newton's method did not converge.
    """

    steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorizations: int = 0
    newton_failures: int = 0

"""Newton's method on the interface of a co-simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Exchange
from cosim_fmu.master.algorithms.waveform_iteration import WaveformIteration

Vector = NDArray[np.float64]
SLOW = 0.2
"""A residual that shrinks less than to this part asks for new differences."""


class InterfaceNewton(WaveformIteration):
    """Implicit coupling as `WaveformIteration`, solved by Newton's method.

    The Jacobian of *what comes out minus what was put in* with respect to the interface at the end of the
    step is taken, at first, from the participants' directional derivatives, where all with direct feedthrough
    give them: it lacks what passes through states within the step. It is kept from step to step, corrected by
    Broyden's formula in each iteration, and made of differences (one more step of all participants, with
    rollback, for each value of the interface) when the residual shrinks slowly, or where derivatives are
    missing. It converges where fixed-point iteration does not: stiff springs between participants, loops of
    direct feedthrough with any gain but 1.

    Parameters
    ----------
    **options
        `tolerance`, `absolute_tolerance`, `iterations`, `hold`: see `WaveformIteration`.
    """

    def __init__(
        self,
        tolerance: float = 1e-8,
        absolute_tolerance: float = 1e-10,
        iterations: int = 20,
        hold: str = "line",
    ) -> None:
        super().__init__(tolerance, absolute_tolerance, iterations, hold=hold)
        self._jacobian: Vector | None = None
        self._size = 0.0
        self._last: tuple[Vector, Vector] | None = None
        self._differences = self._derivatives = 0

    @property
    def figures(self) -> dict[str, float]:
        """``iterations``, ``largest_iterations``; ``jacobians`` of differences, and of ``derivatives``."""
        derivatives = {"derivatives": self._derivatives} if self._derivatives else {}
        return {**super().figures, "jacobians": self._differences, **derivatives}

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        super().initialize(exchange, time)
        self._jacobian, self._last = None, None
        self._differences = self._derivatives = 0

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Iterate to agreement."""
        self._last = None
        if abs(size - self._size) > 1e-6 * size:
            self._jacobian, self._size = None, size
        super().step(exchange, time, size)

    def next_guess(
        self,
        exchange: Exchange,
        token: Any,
        interval: tuple[float, float],
        start: Vector,
        guess: Vector,
        found: Vector,
    ) -> Vector:
        """A Newton step."""
        residual = found - guess
        slow = False
        if self._last is not None and self._jacobian is not None:
            before, change = self._last
            slow = bool(np.linalg.norm(residual) > SLOW * np.linalg.norm(before))
            # Broyden's correction: the smallest one that explains what the last step did.
            explained = residual - before - self._jacobian @ change
            self._jacobian = self._jacobian + np.outer(explained, change) / (change @ change)
        if self._jacobian is None and self._last is None:
            self._jacobian = self._by_derivatives(exchange)
        if self._jacobian is None or slow:
            self._jacobian = self._by_differences(exchange, token, interval, start, guess, residual)
        change = np.asarray(np.linalg.lstsq(self._jacobian, -residual, rcond=None)[0], dtype=np.float64)
        if not np.any(change) or not np.all(np.isfinite(change)):
            change, self._jacobian = residual, None
        self._last = residual, change
        return guess + change

    def _by_derivatives(self, exchange: Exchange) -> Vector | None:
        """What passes through the participants directly."""
        through = exchange.derivatives()
        if through is None or not np.any(through):  # without feedthrough they say nothing of a step
            return None
        self._derivatives += 1
        return self.answer(through, exchange) - np.eye(len(through))

    def answer(self, through: Vector, exchange: Exchange) -> Vector:
        """Derivatives of what `evaluate` reads: one after the other, with what those before have told."""
        owners = np.array(exchange.interface_owners)
        found = np.eye(len(through))
        for name in exchange.order:
            found[owners == name] = through[owners == name] @ found
        return found

    def _by_differences(
        self,
        exchange: Exchange,
        token: Any,
        interval: tuple[float, float],
        start: Vector,
        guess: Vector,
        residual: Vector,
    ) -> Vector:
        jacobian = np.empty((guess.size, guess.size))
        self._differences += 1
        for column in range(guess.size):
            moved = guess.copy()
            # between rounding of the participants' answers and the bend of what they answer
            moved[column] += 1e-5 * max(abs(guess[column]), abs(start[column]), 1e-3)
            exchange.restore(token)
            found = self.evaluate(exchange, *interval, start, moved)
            jacobian[:, column] = (found - moved - residual) / (moved[column] - guess[column])
        return jacobian

"""Newton's method on the interface of a co-simulation."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Exchange
from cosim_fmu.master.algorithms import exchange_layout as layout
from cosim_fmu.master.algorithms.exchange_memory import ExchangeMemory
from cosim_fmu.master.algorithms.next_request import (
    AFTER_PASS,
    BEGIN,
    begin_iteration,
    follow_guess,
    is_settled,
)
from cosim_fmu.master.algorithms.waveform_iteration import WaveformIteration

Vector = NDArray[np.float64]
Requests = Generator[int, None, Vector]
"""What has to be done before the interface is looked at again; at last the next guess, or what was found."""
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
        self._under_way: Generator[int] | None = None

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

    def settle(self, memory: ExchangeMemory) -> None:
        """As waveform iteration, but for what is decided here."""
        super().settle(memory)
        memory.counts[layout.KIND] = layout.IN_PYTHON

    def next_request(self, exchange: Exchange, time: float, size: float) -> int:
        """Newton's method goes on with the interface that has come out."""
        counts = self.memory.counts
        if counts[layout.PHASE] == BEGIN:
            self._under_way = self._solve(exchange, time, size)
            counts[layout.PHASE] = AFTER_PASS
        assert self._under_way is not None
        request = next(self._under_way)
        if request in (layout.FINISHED, layout.FAILED):
            self._under_way = None
        return request

    def _solve(self, exchange: Exchange, time: float, size: float) -> Generator[int]:
        """Iterate to agreement."""
        memory = self.memory
        arrays = memory.counts, memory.numbers, memory.table
        self._last = None
        if abs(size - self._size) > 1e-6 * size:
            self._jacobian, self._size = None, size
        begin_iteration(*arrays, time, size)
        guess = memory.row(layout.GUESS).copy()
        found = yield from self._found(guess, layout.SAVE)
        while not is_settled(*arrays) and memory.counts[layout.COUNT] < self.most:
            guess = yield from self._next_guess(exchange, guess, found)
            memory.counts[layout.COUNT] += 1
            found = yield from self._found(guess)
        count = memory.counts[layout.COUNT]
        memory.counts[layout.TOTAL] += count
        memory.counts[layout.LARGEST] = max(memory.counts[layout.LARGEST], count)
        yield layout.FINISHED if is_settled(*arrays) else layout.FAILED

    def _found(self, guess: Vector, first: int = layout.RESTORE) -> Requests:
        """The interface at the end of a step over which it ran to a guess."""
        memory = self.memory
        memory.row(layout.GUESS)[:] = guess
        follow_guess(memory.counts, memory.numbers, memory.table)
        yield first | layout.PASS
        return memory.row(layout.NOW).copy()

    def _next_guess(self, exchange: Exchange, guess: Vector, found: Vector) -> Requests:
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
            self._jacobian = yield from self._by_differences(guess, residual)
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

    def _by_differences(self, guess: Vector, residual: Vector) -> Requests:
        """One more step of all participants for each value of the interface."""
        jacobian = np.empty((guess.size, guess.size))
        start = self.memory.row(layout.START).copy()
        self._differences += 1
        for column in range(guess.size):
            moved = guess.copy()
            # between rounding of the participants' answers and the bend of what they answer
            moved[column] += 1e-5 * max(abs(guess[column]), abs(start[column]), 1e-3)
            found = yield from self._found(moved)
            jacobian[:, column] = (found - moved - residual) / (moved[column] - guess[column])
        return jacobian

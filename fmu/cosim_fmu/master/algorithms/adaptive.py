"""Exchanges as often as the accuracy needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange
from cosim_fmu.master.algorithms.extrapolation import Extrapolation
from cosim_fmu.master.algorithms.step_control import SMALLEST_PART, StepControl
from cosim_fmu.master.step_discarded import StepDiscardedError

Vector = NDArray[np.float64]
FIRST_PART = 1e-2
"""Of the communication step: the first exchange at most, of which no error is known."""
STUBBORN = 3
"""So many exchanges in a row miss the tolerance: shorter ones do not help, a line runs across a jump. One is
enough where the line begins with held inputs."""
JUMP = 100.0
"""So many times the tolerance: at once."""
CONTROLS = ("values", "energy")
HELD_PART = 0.1
"""Of the communication step: so long inputs may be held with an error of the tolerance."""


class Adaptive(cosim.MasterAlgorithm):
    """Extrapolated inputs, and exchanges as often as the tolerance needs them; of second order.

    The communication points of the co-simulation stay as they are; between two of them the participants
    exchange as often as needed. Inputs run along the line through the last two exchanges (participants that
    do not follow slopes hold its mean). The error of an exchange is the difference between that line and the
    interface that comes out, so the error of the whole run falls with the tolerance. Where all participants
    can restore their state, an exchange that misses the tolerance, or that a participant discards, is taken
    back and a shorter one is tried; else it stands, is counted as ``missed``, and the next ones are shorter.
    At a jump inputs are held over an exchange so short that it does not matter, and the lines begin anew.

    Parameters
    ----------
    tolerance : float
        Of one exchange, relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float
        The error that is allowed however small a value is, > 0, in its unit; or one for each
        ``participant.output`` that is not to have 1e-6.
    iterations : int
        So many times at most an exchange is repeated along the line to what came out of it, until both agree
        to a tenth of the tolerance: some five times more accurate, and stiff couplings stay stable. It needs
        participants that restore their state.
    control : str
        What the length of exchanges follows: the "values" of the interface, or the "energy" that an exchange
        creates in the power bonds, over what flows in it (ECCO); tolerances are then those of energies.

    References
    ----------
    Energy conservation and power bonds in co-simulations: non-iterative adaptive step size control and error
    estimation (https://arxiv.org/abs/1602.06434); the relative measure is that of libcosim's
    ``ecco_algorithm.cpp``.
    """

    varies_step = True

    def __init__(
        self,
        tolerance: float = 1e-4,
        absolute_tolerance: float | Mapping[str, float] = 1e-6,
        iterations: int = 0,
        control: str = "values",
    ) -> None:
        if control not in CONTROLS:
            text = str(cosim.LookUpError("control", str(control), CONTROLS))
            raise cosim.ModelError.of("control", text)
        if control == "energy" and isinstance(absolute_tolerance, Mapping):
            raise cosim.ModelError.of("absolute_tolerance", "with control by energy: needs a number")
        self.controlled = control
        if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 0:
            raise cosim.ModelError.of("iterations", f"is {iterations!r}, needs a whole number, 0 or more")
        self.control = StepControl(tolerance, absolute_tolerance, order=2)
        self.iterations, self._absolute = iterations, absolute_tolerance
        self.restores = iterations > 0
        self._past = Extrapolation(1)
        self._repeated = self._in_a_row = 0
        self._goes_back, self._patience, self._size = False, STUBBORN, 0.0

    @property
    def figures(self) -> dict[str, float]:
        """``exchanges`` that were kept; ``missed`` or ``rejected`` ones; ``iterations`` beside the first."""
        bad = {"rejected" if self._goes_back else "missed": self.control.rejected}
        kept = self.control.taken if self._goes_back else self.control.taken + self.control.rejected
        return {"exchanges": kept, **bad, **({"iterations": self._repeated} if self.iterations else {})}

    def tightened(self) -> Adaptive:
        """With a tenth of both tolerances."""
        given = self._absolute
        tenth = {n: 0.1 * v for n, v in given.items()} if isinstance(given, Mapping) else 0.1 * given
        return Adaptive(0.1 * self.control.tolerance, tenth, self.iterations, self.controlled)

    def course_of_inputs(self, stepped: bool) -> str:
        """In words; `stepped` says whether the source steps before."""
        return self._past.words()

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        if self.controlled == "energy" and not exchange.bonds:
            text = 'is "energy", and there are no power bonds: bonds = [["plant.force", "plant.speed"]]'
            raise cosim.ModelError.of("master.options.control", text)
        self.control.begin(names=exchange.interface_names)
        self._goes_back = exchange.can_restore
        self._repeated = self._in_a_row = 0
        self._patience = STUBBORN
        self._past.forget()

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """As many exchanges as are needed."""
        if self.control.next == math.inf:
            # held inputs err by the first power of its length: once, so that the run's error is of the second
            self.control.next = FIRST_PART * min(1.0, 10.0 * math.sqrt(self.control.tolerance)) * size
        end, self._size = time + size, size
        while time < end:
            length = self.control.length(time, end)
            stop = end if length == end - time else time + length
            token = exchange.save() if self._goes_back else None
            discarded = None
            try:
                error = self._exchange(exchange, token, time, stop - time)
            except StepDiscardedError as complaint:  # too long for a participant
                if token is None:
                    raise
                error, discarded = math.inf, complaint
            self.control.adapt(length, error, at_end=stop == end)
            self._in_a_row = self._in_a_row + 1 if error > 1.0 else 0
            if self._past.is_line and (self._in_a_row >= self._patience or JUMP < error < math.inf):
                self._past.forget()
                self.control.next = length  # held, it may be short enough
            if error > 1.0 and token is not None:
                exchange.restore(token)
            else:
                time = stop
                self._patience = STUBBORN if self._past.is_line else 1
            if self.control.next < SMALLEST_PART * size:
                raise discarded or cosim.SimulationError(
                    time, self.control.complaint(exchange.interface_names)
                )

    def _exchange(self, exchange: Exchange, token: object, time: float, size: float) -> float:
        """Step all participants; the error over the tolerance."""
        start = exchange.interface()
        self._past.remember(time, start)
        expected = guess = self._past.value(time + size)
        found = self._pass(exchange, time, size, guess, start)
        for _ in range(self.iterations):
            if self.control.judge(guess, found) <= 0.1:
                break
            exchange.restore(token)
            self._repeated += 1
            guess = found
            found = self._pass(exchange, time, size, guess, start)
        error = self._error(exchange, expected, found, size)
        if self._past.is_line:
            return error
        # Held inputs err by what the interface moves, or jumps: what counts is for how long.
        return error * min(1.0, size / (HELD_PART * self._size))

    def _error(self, exchange: Exchange, given: Vector, found: Vector, size: float) -> float:
        """Of an exchange in which inputs came to `given` and outputs to `found`, over its tolerance."""
        if self.controlled == "values":
            return self.control.judge(given, found)
        one, other = np.array(exchange.bonds, dtype=np.intp).T
        taken, left = given[one] * found[other], found[one] * given[other]
        flow = np.maximum(np.abs(taken), np.abs(left))
        allowed = self.control.absolute + self.control.tolerance * size * flow
        ratios = size * np.abs(taken - left) / allowed
        return float(np.where(np.isfinite(ratios), ratios, np.inf).max())

    def _pass(self, exchange: Exchange, time: float, size: float, end: Vector, start: Vector) -> Vector:
        """What comes out where the interface runs from `start` to `end`."""
        course = Course(0.5 * (start + end), (end - start) / size, size)
        for name in exchange.order:
            exchange.set_inputs(name, course)
        exchange.advance_all(time, size)
        exchange.put(end)
        # twice: what passes directly through a participant sees the end of the others, not a guess
        for _ in range(2):
            for name in exchange.order:
                exchange.read_outputs(name, exchange.interface())
        return exchange.interface()

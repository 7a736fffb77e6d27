"""Exchanges as often as the accuracy needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import cosim
from cosim.kit import Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_tolerances import USUAL, absolute_tolerances, check_tolerances
from cosim_master.algorithms.next_request import SMALLEST_PART
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory, ProgrammedAlgorithm, continued

CONTROLS = ("values", "energy")


class Adaptive(ProgrammedAlgorithm):
    """Extrapolated inputs, and exchanges as often as the tolerance needs them; of second order.

    The communication points of the co-simulation stay as they are; between two of them the participants
    exchange as often as needed. Inputs run along the line through the last two exchanges; participants that
    do not follow slopes hold its mean. The error of an exchange is the difference between that line and the
    computed interface; for held means the error of the zero-order hold along a ramp is added. So the error of
    the run falls with the tolerance.

    If all participants can restore their state, an exchange that misses the tolerance, or that a participant
    discards, is repeated with a smaller length. Otherwise it is accepted, is counted as ``missed``, and the
    next exchanges are shorter. At a jump inputs are held over a very short exchange; new lines follow.

    Parameters
    ----------
    tolerance : float
        The tolerance of an exchange, relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float, optional
        The allowed error of small values, > 0, in the unit of the value; or a mapping with one for some
        ``participant.output``. The default is a hundredth of `tolerance`.
    iterations : int
        The largest number of repetitions of an exchange, each along the line to the values that the last one
        computed, until both agree to a tenth of the tolerance: errors are about five times smaller, and stiff
        couplings stay stable. It needs participants that restore their state.
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
    kit_values: ClassVar[Mapping[str, Any]] = {"order": 0.0}  # its error follows the tolerance

    def __init__(
        self,
        tolerance: float = 1e-4,
        absolute_tolerance: float | Mapping[str, float] | None = None,
        iterations: int = 0,
        control: str = "values",
    ) -> None:
        if control not in CONTROLS:
            text = str(cosim.LookUpError("control", str(control), CONTROLS))
            raise cosim.ModelError.of("control", text)
        if control == "energy" and isinstance(absolute_tolerance, Mapping):
            raise cosim.ModelError.of("absolute_tolerance", "with control by energy: needs a number")
        super().__init__()
        self.controlled = control
        if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 0:
            raise cosim.ModelError.of("iterations", f"is {iterations!r}, needs a whole number, 0 or more")
        check_tolerances(tolerance, absolute_tolerance)
        self.tolerance, self.iterations, self._absolute = float(tolerance), iterations, absolute_tolerance
        self.restores = iterations > 0

    @property
    def figures(self) -> dict[str, float]:
        """Counts: accepted ``exchanges``; ``missed`` or ``rejected`` ones; ``iterations`` after the first."""
        counts = self.memory.counts
        within_tolerance, beyond = int(counts[layout.TAKEN]), int(counts[layout.REJECTED])
        iterations = {"iterations": int(counts[layout.AGAIN])} if self.iterations else {}
        if counts[layout.GOES_BACK]:
            return {"exchanges": within_tolerance, "rejected": beyond, **iterations}
        return {"exchanges": within_tolerance + beyond, "missed": beyond, **iterations}

    def tightened(self) -> Adaptive:
        """The algorithm with a tenth of both tolerances."""
        tolerances = self._absolute
        tenth = (
            {n: 0.1 * v for n, v in tolerances.items()}
            if isinstance(tolerances, Mapping)
            else tolerances and 0.1 * tolerances
        )
        return Adaptive(0.1 * self.tolerance, tenth, self.iterations, self.controlled)

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs in words; `stepped` says whether the source steps before."""
        return continued(1)

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write that exchanges are made until the tolerance is met, and the limits of a step."""
        if self.controlled == "energy" and not memory.bonds.size:
            text = 'is "energy", and there are no power bonds: bonds = [["plant.force", "plant.speed"]]'
            raise cosim.ModelError.of("master.options.control", text)
        counts, numbers = memory.counts, memory.numbers
        counts[layout.KIND] = layout.ADAPTIVE
        counts[layout.ORDER] = counts[layout.ALONG] = 1
        counts[layout.REPEATS] = self.iterations
        counts[layout.BY_ENERGY] = self.controlled == "energy"
        numbers[layout.TOLERANCE] = self.tolerance
        numbers[layout.NEXT] = math.inf
        numbers[layout.ABSOLUTE] = USUAL * self.tolerance
        if isinstance(self._absolute, (int, float)):
            numbers[layout.ABSOLUTE] = self._absolute

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run.

        Raises
        ------
        ModelError
            There are no power bonds, or an absolute tolerance names no connected output.
        """
        super().initialize(exchange, time)
        self.memory.row(layout.ALLOWED)[:] = absolute_tolerances(
            self.tolerance, self._absolute, exchange.interface_names
        )
        self.memory.row(layout.HELD)[:] = exchange.interface_held

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all, step all, read all twice: then direct feedthrough uses computed values, not a guess."""
        sequence = [(layout.SET_ALONG, name) for name in order]
        sequence += [(layout.ADVANCE_ALL, ""), (layout.PUT_END, "")]
        for name in [*order, *order]:
            sequence += [(layout.READ_AT_END, name), (layout.TAKE_KNOWN, name)]
        return sequence

    def time_of_failure(self, time: float) -> float:
        """The begin of the exchange that would be too short, s."""
        return float(self.memory.numbers[layout.REACHED])

    def complaint(self, exchange: Exchange) -> str:
        """The values that make exchanges too short, in a sentence."""
        worst = int(self.memory.counts[layout.WORST])
        name = exchange.interface_names[worst] if worst >= 0 else "the interface"
        return (
            f"the tolerance of {self.tolerance:g} would need exchanges shorter than {SMALLEST_PART:g} of the "
            f"communication step, because of {name}: loosen it, or look for a jump there"
        )
